"""Votes: from several answers an item to labels, and how far annotators agree."""
