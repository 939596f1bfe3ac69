"""Random seeds by key: each cell of a grid has a different one, and adding a cell changes no other."""

import hashlib
import json
from typing import NamedTuple

import numpy as np


class Generators(NamedTuple):
    """Three independent generators; what one is asked for changes nothing that another draws.

    Attributes
    ----------
    coins
        Public coins, which a server tosses: phases, sizes of groups, a mechanism's own. They never depend on
        data: how many are tossed is public.
    noise
        Private coins of the users: perturbation.
    people
        Chance that nobody holds, where only counts are simulated: which users are in an arc or a group.
    """

    coins: np.random.Generator
    noise: np.random.Generator
    people: np.random.Generator


def generators(*key: object) -> Generators:
    """Make the generators of a key.

    Parameters
    ----------
    key
        Strings, integers and floats; the same key gives the same streams anywhere.
    """
    text = json.dumps([repr(part) if isinstance(part, float) else part for part in key])
    entropy = int.from_bytes(hashlib.sha256(text.encode()).digest())
    return Generators(*map(np.random.default_rng, np.random.SeedSequence(entropy).spawn(3)))
