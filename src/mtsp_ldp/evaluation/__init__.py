"""Evaluation of releases: workload, measures, statistics, recommendation. It computes and draws nothing."""
