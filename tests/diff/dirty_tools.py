"""Text files as statistics programs, databases and instruments write them, for dirty_csv.py: the bytes,
and the table that a person reads in them."""

CASES = {}
