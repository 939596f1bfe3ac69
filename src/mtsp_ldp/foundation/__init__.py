"""Foundation of every other package: arrays, files, seeds, and the geometry of cells. It knows no user."""
