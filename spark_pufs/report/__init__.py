"""A selection as something a person likes to read: one offline HTML file, or Markdown."""

from spark_pufs.report.render import to_html, to_markdown

__all__ = ["to_html", "to_markdown"]
