"""The server side: one file a mechanism. See `mtsp_ldp.mechanisms.base` for how to add one."""
