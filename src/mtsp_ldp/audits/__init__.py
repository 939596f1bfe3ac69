"""Audits: everything that doubts the guarantee. It believes neither ledgers nor mechanisms."""
