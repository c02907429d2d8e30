"""What goes in and out, as JSON: one file a noun."""
