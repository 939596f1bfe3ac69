"""From published files to rows: archives, text, times, cells, assembly. Nothing is lost unnamed."""
