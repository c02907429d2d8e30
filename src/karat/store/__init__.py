"""What the service remembers: every SQL statement of karat's labelling service lives here."""
