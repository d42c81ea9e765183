"""What several tests share: tables, pages, processes, messages."""
