"""What was published and what may be asked of it. Nothing here asks users."""
