"""The private side: who may touch data, and what it costs. Whoever reads it has read the whole argument."""
