"""Mechanisms by name, and which of them are floors and baselines.

Another package may add mechanisms: a module that registers them, named by an entry point of the group
``mtsp_ldp.mechanisms``.
"""

from collections.abc import Mapping

from mtsp_ldp.mechanisms.base import REGISTRY, Registration


def mechanisms() -> Mapping[str, Registration]:
    """List every registered mechanism by name."""
    return REGISTRY.known


def find(name: str) -> Registration:
    """Look up the mechanism of this name.

    Raises
    ------
    ValueError
        If there is none; the message lists the names.
    """
    return REGISTRY.find(name)


def base_of(name: str) -> str:
    """Strip the variant from the name of a mechanism in an experiment (``<mechanism>.<variant>``)."""
    return name.partition(".")[0]


def readers() -> list[str]:
    """Name the mechanisms that read data."""
    return [name for name, known in mechanisms().items() if known.cls.reads_data]


def floors() -> list[str]:
    """Name the trivial baselines, which read no data."""
    return [name for name, known in mechanisms().items() if not known.cls.reads_data]


def published() -> list[str]:
    """Name the mechanisms that stand in a paper."""
    return [name for name, known in mechanisms().items() if known.cls.published]


def baselines() -> list[str]:
    """Name the mechanisms that gains are counted against."""
    return [name for name, known in mechanisms().items() if known.cls.baseline]
