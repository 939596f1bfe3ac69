"""MTSP-LDP: dissimilarity (M1), optimal allocation (M2), adaptive tree (M3); queries (M4) are budget-free."""
