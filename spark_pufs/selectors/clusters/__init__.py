"""FSCPU: searches for masks whose clusters concentrate the labelled rows."""
