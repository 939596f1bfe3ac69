"""Runs a mechanism over a stream, and audits what its users spent."""

import inspect
import math
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, get_args

import numpy as np
import polars as pl

from mtsp_ldp.division import DIVISIONS
from mtsp_ldp.ledger import FULL, PrivacyError
from mtsp_ldp.mechanisms.base import Entry, Initial, Mechanism, Setting, Step, one_of
from mtsp_ldp.mechanisms.registry import find
from mtsp_ldp.oracle import FloatArray, OracleKind
from mtsp_ldp.population import Population, Witness
from mtsp_ldp.release import Release
from mtsp_ldp.seeds import generators
from mtsp_ldp.simulated import Presence, populate
from mtsp_ldp.spending import WindowSpend
from mtsp_ldp.stream import Stream
from mtsp_ldp.survey import NoiseKind
from mtsp_ldp.tree import BinaryTree, binary_tree

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
    steps, versions, variances = _played(server, population, active, mechanism, tree)
    return Release(
        versions=versions,
        which=np.cumsum([step.published is not None for step in steps]),
        active=np.array(active),
        trace=_traced(steps, active),
        tree=tree,
        variances=variances,
        of_all_users=options.get("presence") == "private",
    )


def _played(
    server: Mechanism, population: Population, active: Sequence[int], mechanism: str, tree: BinaryTree | None
) -> tuple[list[Step], FloatArray, FloatArray | None]:
    """Every step of a mechanism, checked; what it released, the initial release first; trees' variances.

    Releases are copied, for a mechanism may go on writing to its arrays.
    """
    shape = (population.d if tree is None else tree.size,)
    steps: list[Step] = []
    versions = [np.array(server.initial())]
    # before the first publication nothing is known: the cells count alike
    variances = [np.asarray(tree.cells, dtype=np.float64)] if tree is not None else []
    if versions[0].shape != shape:
        raise ValueError(f"{mechanism}: its initial release has shape {versions[0].shape}, not {shape}")
    before = 0
    for t, n in enumerate(active):
        try:
            step = server.step(t, n, partial(population.survey, t))
        except PrivacyError as error:
            raise PrivacyError(f"{mechanism}: {error}") from None
        if not isinstance(step, Step):
            raise ValueError(f"{mechanism}: t={t}: step returned {type(step).__name__}, no Step")
        spent = population.spent
        if step.share_1 + step.share_2 != spent - before:
            said, was = (step.share_1 + step.share_2) / FULL, (spent - before) / FULL
            told = f"its Step says that {said:.6g} of the window was spent, and {was:.6g} was"
            raise ValueError(f"{mechanism}: t={t}: {told}")
        before = spent
        steps.append(step)
        if step.published is not None:
            versions.append(np.array(step.published))
            if tree is not None:
                variances.append(np.array(step.variance))
            if versions[-1].shape != shape or (tree is not None and variances[-1].shape != shape):
                raise ValueError(f"{mechanism}: t={t}: published {_shapes(step)}, not of shape {shape}")
    found = [_finite(np.array(kept, dtype=np.float64), steps, mechanism) for kept in (versions, variances)]
    return steps, found[0], found[1] if server.tree else None


def _shapes(step: Step) -> str:
    return f"values of shape {np.shape(step.published)} and variances of shape {np.shape(step.variance)}"  # type: ignore[arg-type]


def _finite(values: FloatArray, steps: list[Step], mechanism: str) -> FloatArray:
    """What was published and its variances, if all of them are numbers."""
    wrong = ~np.isfinite(values)
    if wrong.any():
        version = int(wrong.any(axis=1).argmax())
        when = [t for t, step in enumerate(steps) if step.published is not None]
        at = f"t={when[version - 1]}" if version else "its initial release"
        many = f"{wrong[version].sum()} of {values.shape[1]}"
        raise ValueError(f"{mechanism}: {at}: {many} values, or their variances, are not finite")
    return values


def _traced(steps: list[Step], active: list[int]) -> pl.DataFrame:
    published, _, share_1, share_2, dissimilarity, k = zip(*steps, strict=True)
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
        if kinds and (not isinstance(value, kinds) or isinstance(value, bool) != (bool in kinds)):
            raise ValueError(f"{entry.name}.{name}={value!r}: {kinds[0].__name__}, as its default")
    if window is not None:
        division = DIVISIONS[entry.division](1.0)
        try:
            entry.kind(Setting(2, window, division, np.random.default_rng(0)), **own)
        except ValueError:
            raise
        except Exception as fault:  # whatever a mechanism of one's own makes of its options
            raise ValueError(f"{entry.name}: options {own}: {type(fault).__name__}: {fault}") from None
