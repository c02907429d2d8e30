"""Engines: they turn ranks into items and never see statistics."""
