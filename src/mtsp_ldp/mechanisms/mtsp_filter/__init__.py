"""MTSP-F [extension]: the reports of LPU through a bank of filters; all of it is post-processing."""
