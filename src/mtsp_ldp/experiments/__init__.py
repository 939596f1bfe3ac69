"""Grids of experiments: config, files, provenance, studies. It starts no job."""
