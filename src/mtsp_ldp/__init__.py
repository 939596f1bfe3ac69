"""MTSP-LDP and its field: location streams under w-event local differential privacy."""

from mtsp_ldp.release import Release
from mtsp_ldp.simulation import privacy_spend, simulate
from mtsp_ldp.stream import Stream

__all__ = ["Release", "Stream", "privacy_spend", "simulate"]
__version__ = "0.1.0"
