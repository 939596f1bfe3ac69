"""Releases and their queries. Nothing here asks users."""
