"""A result -> text, HTML page."""
