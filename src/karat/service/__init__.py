"""Use cases of the labelling service; no HTTP here."""
