"""The labelling service on HTTP: an API and the page that uses it."""
