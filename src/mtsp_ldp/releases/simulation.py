"""Simulation: a mechanism publishes a stream; the result is a release."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from mtsp_ldp.foundation.numbers import integer
from mtsp_ldp.foundation.seeds import generators
from mtsp_ldp.mechanisms.base import Step
from mtsp_ldp.mechanisms.options import check_terms
from mtsp_ldp.mechanisms.session import History, Session
from mtsp_ldp.privacy.population import Witness
from mtsp_ldp.privacy.stream_population import populate
from mtsp_ldp.privacy.units import FULL
from mtsp_ldp.releases.release import Release
from mtsp_ldp.streams.stream import Stream


def simulate(
    stream: Stream,
    mechanism: str,
    *,
    epsilon: float,
    window: int,
    seed: int = 0,
    replicate: int = 1,
    repetition: int = 0,
    witness: Witness | None = None,
    **options: Any,
) -> Release:
    """Publish a stream with a mechanism, reproducibly: who knows the seed can try who was where.

    So the release is for experiments, and not to be published.

    Parameters
    ----------
    stream
        Stream to publish.
    mechanism
        A registered name; it fixes the division.
    epsilon
        Budget of every window; finite and above 0.
    window
        w, in timestamps, from 1 to the stream's length.
    seed, repetition
        Parts of the key of every random number, with the stream's name, mechanism, epsilon and window.
    replicate
        Number of independent reporters that each user stands for.
    witness
        Function that is called with every survey's reporters, for audits.
    options
        Options of the mechanism, and ``initial`` (zero, uniform), ``noise`` (paper, exact) and ``oracle``
        (oue, grr, adaptive) of all that read data; ``presence`` (public, private) of those that release
        histograms.

    Raises
    ------
    ValueError
        Naming the parameter, its value and what is allowed.
    """
    epsilon, window = check_terms(epsilon, window, stream.length)
    seed, repetition = integer("seed", seed, least=0), integer("repetition", repetition, least=0)
    replicate = integer("replicate", replicate, least=1)
    if not isinstance(mechanism, str):
        raise ValueError(f"mechanism={mechanism!r}: must be the name of a mechanism")
    random = generators(seed, stream.key, mechanism, epsilon, window, repetition)
    session = Session(
        mechanism,
        stream.d,
        epsilon=epsilon,
        window=window,
        coins=random.coins,
        stream_period=stream.period,
        **options,
    )
    population = populate(
        stream,
        division=session.division,
        window=window,
        random=random,
        replicate=replicate,
        witness=witness,
        presence=session.presence,
    )
    return _release(session, session.run(population, stream.length))


def _release(session: Session, history: History) -> Release:
    release = Release(
        versions=history.versions,
        which=np.cumsum([step.published is not None for step in history.steps]),
        active=np.array(history.active),
        trace=_trace(history.steps, history.active),
        tree=session.tree,
        variances=history.variances,
        copied=history.copied,
        posterior=history.posterior,
        of_all_users=session.presence == "private",
    )
    return release.again() if session.mechanism.lag else release


def _trace(steps: Sequence[Step], active: Sequence[int]) -> pl.DataFrame:
    published, _, share_1, share_2, dissimilarity, k, *_ = zip(*steps, strict=True)
    return pl.DataFrame(
        {
            "t": np.arange(len(steps), dtype=np.int32),
            "active": active,
            "share_1": np.array(share_1) / FULL,
            "share_2": np.array(share_2) / FULL,
            "published": [release is not None for release in published],
            "dissimilarity": np.array(dissimilarity, dtype=np.float64),
            "k": np.array(k, dtype=np.int32),
        }
    )
