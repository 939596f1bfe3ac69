"""How good a release is: workload, measures, statistics, recommendation. It computes and draws nothing."""
