"""The protocol as phones would run it: clients that keep their own ledger, and a server over them."""

from mtsp_ldp.protocol.client import Client, Refusal
from mtsp_ldp.protocol.server import Server
from mtsp_ldp.protocol.wire import Report, Request, WireError

__all__ = ["Client", "Refusal", "Report", "Request", "Server", "WireError"]
