"""Random seeds by key: each cell of a grid has a different one, and adding a cell changes no other."""

import hashlib
import json

import numpy as np


def generators(*key: object) -> tuple[np.random.Generator, np.random.Generator]:
    """Make two independent generators for a key: public coins and private noise.

    Parameters
    ----------
    key
        Strings, whole numbers and floats; the same key gives the same streams anywhere.
    """
    text = json.dumps([repr(part) if isinstance(part, float) else part for part in key])
    entropy = int.from_bytes(hashlib.sha256(text.encode()).digest())
    coins, noise = np.random.SeedSequence(entropy).spawn(2)
    return np.random.default_rng(coins), np.random.default_rng(noise)
