"""The ground that every room stands on: arrays, files, seeds, and the shapes of cells. It knows no user."""
