"""Finds every mechanism: each module of this folder is imported once, and enters its own names."""

import importlib
import pkgutil
from functools import cache

import mtsp_ldp.mechanisms
from mtsp_ldp.mechanisms.base import REGISTRY, Registration


@cache
def mechanisms() -> dict[str, Registration]:
    """Every registered mechanism by name."""
    package = mtsp_ldp.mechanisms
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)
    return dict(sorted(REGISTRY.items()))


def find(name: str) -> Registration:
    """The mechanism of this name.

    Raises
    ------
    ValueError
        If there is none; the message lists the names.
    """
    known = mechanisms()
    if name not in known:
        raise ValueError(f"mechanism={name!r}: one of {', '.join(known)}")
    return known[name]
