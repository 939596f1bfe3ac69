"""One file a raw format; each registers its name."""
