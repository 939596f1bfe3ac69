"""Where streams come from: one module a raw format. See `mtsp_ldp.datasets.base` for how to add one."""
