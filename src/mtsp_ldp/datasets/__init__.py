"""Sources of streams: one module a raw format. See `mtsp_ldp.datasets.base` for how to add one."""
