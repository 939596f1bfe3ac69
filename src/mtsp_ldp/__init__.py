"""MTSP-LDP and its field: location streams under w-event local differential privacy."""

from mtsp_ldp.audits.odometer import privacy_spend
from mtsp_ldp.foundation.tree import BinaryTree
from mtsp_ldp.mechanisms.mtsp.allocation import optimal_allocation
from mtsp_ldp.mechanisms.mtsp.dissimilarity import dissimilarity
from mtsp_ldp.privacy.oracle import GRR, OUE
from mtsp_ldp.releases.release import Release
from mtsp_ldp.releases.simulation import simulate
from mtsp_ldp.streams.stream import Stream

__all__ = [
    "GRR",
    "OUE",
    "BinaryTree",
    "Release",
    "Stream",
    "dissimilarity",
    "optimal_allocation",
    "privacy_spend",
    "simulate",
]
__version__ = "0.1.0"
