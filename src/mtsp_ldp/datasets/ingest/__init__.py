"""Ingest of published files: archives, text, times, cells, assembly to rows. Every lost record is counted."""
