"""Summaries, tables, figures and the page."""
