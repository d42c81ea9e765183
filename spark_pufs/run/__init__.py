"""One selection from table to answer."""
