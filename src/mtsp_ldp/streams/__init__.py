"""Streams: who is where. Data, never a mechanism."""
