"""The one loop that drives every mechanism, whoever answers its surveys.

Simulations, audits and the server over clients all run a mechanism through a `Session`, so whatever is
checked for one of them is checked for all. It must never see a population's data: it is handed surveys.
"""

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from mtsp_ldp.foundation.arrays import BoolArray, FloatArray
from mtsp_ldp.foundation.numbers import plain
from mtsp_ldp.foundation.state import State, objects_in, restore
from mtsp_ldp.foundation.tree import binary_tree
from mtsp_ldp.mechanisms.base import Setting, Step
from mtsp_ldp.mechanisms.options import check_options, check_terms
from mtsp_ldp.mechanisms.posterior import Posterior
from mtsp_ldp.mechanisms.registry import find
from mtsp_ldp.privacy.division import DIVISIONS
from mtsp_ldp.privacy.ledger import PrivacyError
from mtsp_ldp.privacy.oracle import OracleKind
from mtsp_ldp.privacy.survey import Presence, Surveyed
from mtsp_ldp.privacy.units import FULL


class History(NamedTuple):
    """A whole run of a mechanism.

    Attributes
    ----------
    steps
        Steps, one a timestamp.
    active
        n_t, one a timestamp.
    versions
        Distinct releases, the initial one first, ``(V, d)`` or ``(V, size)``.
    variances
        Of released values, of the shape of the versions; None where the mechanism states none.
    copied
        Tree nodes that carry no information of their own, ``(V, size)``; None where releases are histograms.
    posterior
        What the mechanism believes of the whole stream; None where it is nothing beyond the releases.
    """

    steps: list[Step]
    active: list[int]
    versions: FloatArray
    variances: FloatArray | None
    copied: BoolArray | None
    posterior: Posterior | None = None


class Session:
    """A mechanism at work over one stream of timestamps.

    Parameters
    ----------
    mechanism
        A registered name; it fixes the division.
    d
        Number of cells.
    epsilon
        Budget of every window; finite and above 0.
    window
        w, in timestamps.
    coins
        Public coins; the mechanism gets a separate stream of them, so that it replays without users.
    stream_period
        Timestamps of the stream's period, for mechanisms that use one; 0 where there is none.
    options
        Options of the mechanism, and ``initial``, ``noise``, ``oracle``, ``presence``.

    Attributes
    ----------
    division
        Division of the window; the users behind the surveys must have the same.
    presence
        ``private`` if absent users are to report too, else ``public``.
    tree
        Geometry of the releases; None where they are histograms.
    release, variance
        Current release: ``(d,)`` frequencies or ``(size,)`` tree nodes, and the variances of their errors;
        None where a mechanism of histograms states none.

    Raises
    ------
    ValueError
        Naming the parameter or option, its value and what is allowed.
    """

    def __init__(
        self,
        mechanism: str,
        d: int,
        *,
        epsilon: float,
        window: int,
        coins: np.random.Generator,
        stream_period: int = 0,
        **options: Any,
    ) -> None:
        registration = find(mechanism)
        epsilon, window = check_terms(epsilon, window)
        options = {name: plain(value) for name, value in options.items()}
        check_options(registration, options)
        (own,) = coins.spawn(1)
        self.name = mechanism
        self.presence: Presence = options.pop("presence", "public")
        oracle: OracleKind = options.pop("oracle", "oue")
        self.division = DIVISIONS[registration.division](float(epsilon), oracle)
        common = {name: options.pop(name) for name in ("initial", "noise") if name in options}
        setting = Setting(
            d, window, self.division, own, presence=self.presence, period=stream_period, **common
        )
        self.mechanism = registration.cls(setting, **options)
        self.release: FloatArray = np.array(self.mechanism.initial(), dtype=np.float64)
        self.tree = binary_tree(d) if self.mechanism.tree else None
        self._shape = (d if self.tree is None else self.tree.size,)
        # before the first publication nothing is known: the cells count alike
        self.variance = None if self.tree is None else np.asarray(self.tree.cells, dtype=np.float64)
        if self.release.shape != self._shape:
            raise ValueError(
                f"{mechanism}: initial release: its shape {self.release.shape} must be {self._shape}"
            )
        self._require_finite("initial release", self.release)

    def step(self, t: int, users: Surveyed) -> Step:
        """Let the mechanism act at t; check its step, and copy what it publishes.

        Raises
        ------
        PrivacyError
            If the mechanism asks for more than the window has left.
        ValueError
            If it returns no `Step`, misstates what was spent, or publishes values of a wrong shape or values
            that are not finite.
        """
        step = self._act(t, users.active(t), users)
        if step.published is not None:
            release, variance = self._copy(t, step)
            for values in (release, variance):
                if values is not None:
                    self._require_finite(f"t={t}", values)
            self.release, self.variance = release, variance
        return step

    def run(self, users: Surveyed, length: int) -> History:
        """Let the mechanism act at t = 0, …, length - 1; raise as `step` does."""
        active = [users.active(t) for t in range(length)]
        steps, versions, variances, times = [], [self.release], [self.variance], [0]
        nothing = np.zeros(self._shape, dtype=bool)
        copied = [nothing]
        for t, n in enumerate(active):
            step = self._act(t, n, users)
            steps.append(step)
            if step.published is not None:
                self.release, self.variance = self._copy(t, step)
                times.append(t)
                versions.append(self.release)
                variances.append(self.variance)
                copied.append(nothing if step.copied is None else np.array(step.copied, dtype=bool))
        history = History(
            steps,
            active,
            np.array(versions),
            self._stack(variances),
            np.array(copied) if self.tree else None,
            self.mechanism.posterior([step.answer for step in steps], active),
        )
        for table in (history.versions, history.variances):
            # all at once: publication by publication would cost a tenth of a cheap loop
            if table is not None and not np.isfinite(table).all():
                version = int((~np.isfinite(table)).any(axis=1).argmax())
                self._require_finite(f"t={times[version]}", table[version])
        return history

    def _stack(self, variances: list[FloatArray | None]) -> FloatArray | None:
        """Stack the variances of all versions; before its first report a histogram knows nothing: 1."""
        if all(one is None for one in variances):
            return None
        return np.array([np.ones(self._shape) if one is None else one for one in variances])

    def made(self) -> Mapping[str, object]:
        """Find the objects that the mechanism is made of, before its first step."""
        return objects_in(self.mechanism, type(self.mechanism).__name__)

    def state(self, made: Mapping[str, object]) -> State:
        """Take the release and the state of the mechanism, as arrays and numbers; see `Mechanism.state`."""
        own = {"release": self.release, "variance": self.variance}
        return {
            "session": {name: {"array": value} for name, value in own.items() if value is not None},
            "mechanism": self.mechanism.state(made),
            "coins": self.mechanism.setting.coins.bit_generator.state,
        }

    def restore(self, state: State) -> None:
        """Go on where `state` was taken."""
        restore(self, state["session"])
        self.mechanism.restore(state["mechanism"])
        self.mechanism.setting.coins.bit_generator.state = state["coins"]

    def _act(self, t: int, n: int, users: Surveyed) -> Step:
        """Let the mechanism act once, and check what it states as spent."""
        before = users.spent
        try:
            step = self.mechanism.step(t, n, partial(users.survey, t))
        except PrivacyError as error:
            raise PrivacyError(f"{self.name}: {error}") from None
        if not isinstance(step, Step):
            raise ValueError(f"{self.name}: t={t}: step() returned {type(step).__name__}, expected a Step")
        spent = users.spent - before
        if step.share_1 + step.share_2 != spent:
            stated = (step.share_1 + step.share_2) / FULL
            raise ValueError(
                f"{self.name}: t={t}: its Step states {stated:.6g} of the window as spent; "
                f"must be {spent / FULL:.6g}"
            )
        return step

    def _copy(self, t: int, step: Step) -> tuple[FloatArray, FloatArray | None]:
        """Copy release and variance of a publication; a mechanism may go on writing to its arrays."""
        release = np.array(step.published, dtype=np.float64)
        self._require_shape(t, "values", release)
        if self.tree is None and step.variance is None:
            return release, None
        variance = np.array(step.variance, dtype=np.float64)
        self._require_shape(t, "variances", variance)
        if step.copied is not None:
            self._require_shape(t, "copied", np.asarray(step.copied))
        return release, variance

    def _require_shape(self, t: int, what: str, values: FloatArray | BoolArray) -> None:
        if values.shape != self._shape:
            raise ValueError(
                f"{self.name}: t={t}: published {what}: their shape {values.shape} must be {self._shape}"
            )

    def _require_finite(self, where: str, values: FloatArray) -> None:
        wrong = np.count_nonzero(~np.isfinite(values))
        if wrong:
            raise ValueError(
                f"{self.name}: {where}: {wrong} of {values.size} values or variances are NaN or infinite; "
                "must be finite"
            )

    @property
    def frequencies(self) -> FloatArray:
        """Frequencies of the cells in the current release, ``(d,)``."""
        return self.release if self.tree is None else self.release[self.tree.bottom]
