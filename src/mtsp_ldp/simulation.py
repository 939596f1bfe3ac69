"""Runs a mechanism over a stream, and audits what its users spent."""

import inspect
import math
from collections.abc import Mapping
from functools import partial
from typing import Any, get_args

import numpy as np
import polars as pl

from mtsp_ldp.division import DIVISIONS
from mtsp_ldp.ledger import FULL, PrivacyError
from mtsp_ldp.mechanisms.base import Entry, Initial, Setting, Step, one_of
from mtsp_ldp.mechanisms.registry import find
from mtsp_ldp.oracle import FloatArray, OracleKind
from mtsp_ldp.population import Witness
from mtsp_ldp.release import Release
from mtsp_ldp.seeds import generators
from mtsp_ldp.simulated import Presence, populate
from mtsp_ldp.spending import WindowSpend
from mtsp_ldp.stream import Stream
from mtsp_ldp.survey import NoiseKind
from mtsp_ldp.tree import binary_tree

COMMON = {
    "initial": get_args(Initial),
    "noise": get_args(NoiseKind),
    "oracle": get_args(OracleKind),
    "presence": get_args(Presence),
}
"""Options of every mechanism that reads data, and their values."""
_KINDS: dict[type, tuple[type, ...]] = {bool: (bool,), int: (int,), float: (float, int)}


def simulate(
    stream: Stream,
    mechanism: str,
    *,
    epsilon: float,
    window: int,
    seed: int = 0,
    replicate: int = 1,
    repetition: int = 0,
    **options: Any,
) -> Release:
    """Publish a stream with a mechanism.

    Parameters
    ----------
    stream
        Who is where.
    mechanism
        A registered name; it fixes the division.
    epsilon
        Budget of every window; finite and above 0.
    window
        w, in timestamps, from 1 to the stream's length.
    seed, repetition
        The random numbers are keyed by both, the stream's name, mechanism, epsilon and window.
    replicate
        How many independent reporters each user stands for.
    options
        Of the mechanism, and ``initial`` (zero, uniform), ``noise`` (paper, exact) and ``oracle`` (oue, grr,
        adaptive) of all that read data; ``presence`` (public, private) of those that release histograms.

    Raises
    ------
    ValueError
        Naming the parameter, its value and what is allowed.
    """
    return _run(stream, mechanism, epsilon, window, seed, replicate, repetition, options, None)


def _run(
    stream: Stream,
    mechanism: str,
    epsilon: float,
    window: int,
    seed: int,
    replicate: int,
    repetition: int,
    options: Mapping[str, Any],
    witness: Witness | None,
) -> Release:
    entry = find(mechanism)
    check_window(window, stream.length)
    check_epsilon(epsilon)
    check_options(entry, options)
    coins, noise = generators(seed, stream.key, mechanism, float(epsilon), window, repetition)
    common = {name: options[name] for name in COMMON if name in options}
    own = {name: value for name, value in options.items() if name not in COMMON}
    (own_coins,) = coins.spawn(1)  # so that a mechanism replays without a population
    division = DIVISIONS[entry.division](float(epsilon), common.pop("oracle", "oue"))
    population = populate(
        stream,
        division=division,
        window=window,
        coins=coins,
        noise=noise,
        replicate=replicate,
        witness=witness,
        presence=common.pop("presence", "public"),
    )
    server = entry.kind(Setting(stream.d, window, division, own_coins, **common), **own)
    active = [population.active(t) for t in range(stream.length)]
    tree = binary_tree(stream.d) if server.tree else None
    steps: list[Step] = []
    versions = [server.initial()]
    # before the first publication nothing is known: the cells count alike
    variances = [] if tree is None else [tree.cells]
    for t, n in enumerate(active):
        before = population.spent
        try:
            step = server.step(t, n, partial(population.survey, t))
        except PrivacyError as error:
            raise PrivacyError(f"{mechanism}: {error}") from None
        if fault := _fault(step, population.spent - before, versions[0].shape):
            raise ValueError(f"{mechanism}: t={t}: {fault}")
        steps.append(step)
        if step.published is not None:  # copied, for a mechanism may go on writing to its arrays
            versions.append(np.array(step.published))
        if step.variance is not None:
            variances.append(np.array(step.variance))
    return Release(
        versions=_finite(np.array(versions, dtype=np.float64), steps, mechanism),
        which=np.cumsum([step.published is not None for step in steps]),
        active=np.array(active),
        trace=_traced(steps, active),
        tree=tree,
        variances=None if tree is None else np.array(variances, dtype=np.float64),
        of_all_users=options.get("presence") == "private",
    )


def _fault(step: object, spent: int, shape: tuple[int, ...]) -> str | None:
    """What is wrong with a mechanism's word on one timestamp; None if nothing is."""
    if not isinstance(step, Step):
        return f"step returned {type(step).__name__}, no Step"
    if step.share_1 + step.share_2 != spent:
        said = (step.share_1 + step.share_2) / FULL
        return f"its Step says that {said:.6g} of the window was spent, and {spent / FULL:.6g} was"
    if step.published is not None and getattr(step.published, "shape", None) != shape:
        return f"published {np.shape(step.published)} values, not {shape}"
    return None


def _finite(versions: FloatArray, steps: list[Step], mechanism: str) -> FloatArray:
    """The versions, if all of them can be scored."""
    wrong = ~np.isfinite(versions)
    if wrong.any():
        version = int(wrong.any(axis=1).argmax())
        t = [t for t, step in enumerate(steps) if step.published is not None][version - 1]
        many = f"{wrong[version].sum()} of {versions.shape[1]}"
        raise ValueError(f"{mechanism}: t={t}: {many} published values are not finite")
    return versions


def _traced(steps: list[Step], active: list[int]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "t": np.arange(len(steps), dtype=np.int32),
            "active": active,
            "share_1": [step.share_1 / FULL for step in steps],
            "share_2": [step.share_2 / FULL for step in steps],
            "published": [step.published is not None for step in steps],
            "dissimilarity": [step.dissimilarity for step in steps],
            "k": pl.Series([step.k for step in steps], dtype=pl.Int32),
        }
    )


def privacy_spend(
    stream: Stream, mechanism: str, *, epsilon: float, window: int, seed: int = 0, **options: Any
) -> float:
    """The largest epsilon that any user spent in any window, replayed from who reported what.

    It does not believe the ledger: it is told of each report as it is made, and adds them up by user. In
    an exchangeable population everybody who is asked counts as reporting.
    """
    check_window(window, stream.length)
    spend = WindowSpend(stream.users, window)
    _run(stream, mechanism, epsilon, window, seed, 1, 0, options, spend)
    return spend.largest


def check_epsilon(epsilon: float) -> None:
    """Refuse what is no privacy budget."""
    wrong_type = isinstance(epsilon, bool) or not isinstance(epsilon, int | float)
    if wrong_type or not (math.isfinite(epsilon) and epsilon > 0):
        raise ValueError(f"epsilon={epsilon!r}: a finite number above 0")


def check_window(window: int, length: int | None = None) -> None:
    """Refuse what is no window, or one longer than the stream."""
    whole = isinstance(window, int) and not isinstance(window, bool)
    if not whole or window < 1 or (length is not None and window > length):
        most = f"1..{length} timestamps of this stream" if length else "a whole number, at least 1"
        raise ValueError(f"window={window!r}: {most}")


def check_options(entry: Entry, options: Mapping[str, Any], window: int | None = None) -> None:
    """Refuse an option that the mechanism does not have; with a window, also a value that is not its own."""
    parameters = inspect.signature(entry.kind).parameters
    allowed = [name for name in parameters if name != "setting"]
    allowed += [
        name for name in COMMON if entry.kind.reads_data and (name != "presence" or not entry.kind.tree)
    ]
    for name, value in options.items():
        if name not in allowed:
            have = ", ".join(allowed) or "no options"
            raise ValueError(f"{entry.name}.{name}: {entry.name} has {have}")
        if name in COMMON:
            one_of(f"{entry.name}.{name}", value, COMMON[name])
    own = {name: value for name, value in options.items() if name not in COMMON}
    for name, value in own.items():
        kinds = _KINDS.get(type(parameters[name].default))
        if kinds and type(value) not in kinds:
            raise ValueError(f"{entry.name}.{name}={value!r}: {kinds[0].__name__}, as its default")
    if window is not None:
        division = DIVISIONS[entry.division](1.0)
        try:
            entry.kind(Setting(2, window, division, np.random.default_rng(0)), **own)
        except ValueError:
            raise
        except Exception as fault:  # whatever a mechanism of one's own makes of its options
            raise ValueError(f"{entry.name}: options {own}: {type(fault).__name__}: {fault}") from None
