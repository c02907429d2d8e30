"""Arrays in, arrays out: no files, clock, globals or logging."""
