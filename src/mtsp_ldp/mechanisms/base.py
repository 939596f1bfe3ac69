"""Mechanisms: one small class each, with a ``step``. They meet users through a survey only.

A new mechanism is one file in this folder: a class with ``@register(name=division)``. It may import
neither streams nor populations; it is handed a survey (a queryable), which keeps the w-event guarantee.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, TypeVar

import numpy as np

from mtsp_ldp.foundation.arrays import BoolArray, FloatArray
from mtsp_ldp.foundation.registry import Registry
from mtsp_ldp.foundation.state import State, capture, restore
from mtsp_ldp.mechanisms.posterior import Posterior
from mtsp_ldp.privacy.division import DIVISIONS, Division
from mtsp_ldp.privacy.survey import Answer, NoiseKind, Presence, Survey
from mtsp_ldp.privacy.units import Units

Initial = Literal["zero", "uniform"]


@dataclass(frozen=True)
class Setting:
    """Parameters that a mechanism gets before the stream starts; all of them public.

    Attributes
    ----------
    d
        Number of cells.
    window
        w, in timestamps.
    division
        Division of the window, by budget or by population.
    coins
        Public coins.
    initial
        Release before the first publication: ``zero`` (LDP-IDS), or ``uniform`` [extension].
    noise
        Variance of an answer where a decision needs it: that of the ``paper``, or ``exact`` [extension].
    presence
        ``private`` if absent users report too, so that frequencies are shares of all users.
    period
        Timestamps of the stream's period (a day, say); 0 where there is none.
    """

    d: int
    window: int
    division: Division
    coins: np.random.Generator
    initial: Initial = "zero"
    noise: NoiseKind = "paper"
    presence: Presence = "public"
    period: int = 0


class Step(NamedTuple):
    """Outcome of one timestamp.

    Attributes
    ----------
    published
        New release, or None where the last one is repeated: ``(d,)`` frequencies, or the nodes of a
        tree in level order. It is copied.
    variance
        Variance of each released value's error: of trees the noise of each node; of histograms what the
        mechanism believes, or None.
    share_1, share_2
        Units of the window spent on the dissimilarity and on the publication; together what surveys spent.
    dissimilarity
        dis_t, NaN where none was estimated.
    k
        Number of publications that OBA would make in the window, -1 where none was computed.
    copied
        Tree nodes whose released value no report answered, ``(size,)``: they share their parent's value and
        carry no information of their own. None where there are none.
    answer
        Answer that later queries over windows may use, where the mechanism has a `Mechanism.posterior`.
    """

    published: FloatArray | None = None
    variance: FloatArray | None = None
    share_1: Units = Units(0)
    share_2: Units = Units(0)
    dissimilarity: float = math.nan
    k: int = -1
    copied: BoolArray | None = None
    answer: Answer | None = None


class Mechanism(ABC):
    """A strategy over shares of the window.

    Attributes
    ----------
    reads_data
        False for the floors, which ask nobody and depend on neither epsilon nor w.
    tree
        True if releases are trees.
    baseline
        True if gains are counted against it: the published mechanisms that release histograms.
    published
        True if it stands in a paper; the claims of papers are about these.
    seconds
        Time of a step, and of a step and cell, on one core; None is that of the usual histogram or tree.
    """

    reads_data: ClassVar[bool] = True
    tree: ClassVar[bool] = False
    baseline: ClassVar[bool] = False
    published: ClassVar[bool] = False
    seconds: ClassVar[tuple[float, float] | None] = None

    lag: int = 0
    """Timestamps by which the releases of a whole run are delayed, to be made from later reports too."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting

    def initial(self) -> FloatArray:
        """Make the release before the first publication, ``(d,)``: zeros, or 1/d everywhere."""
        d = self.setting.d
        return np.zeros(d) if self.setting.initial == "zero" else np.full(d, 1.0 / d)

    def state(self, made: Mapping[str, object]) -> State:
        """Take all that changes from step to step, as arrays and numbers.

        Parameters
        ----------
        made
            Objects that the constructor made (`mtsp_ldp.foundation.state.objects_in`).

        Raises
        ------
        TypeError
            Naming an attribute that `restore` could not give back.
        """
        return capture(self, type(self).__name__, made)

    def restore(self, state: State) -> None:
        """Go on where `state` was taken."""
        restore(self, state)

    def posterior(self, answers: Sequence[Answer | None], active: Sequence[int]) -> Posterior | None:
        """Make what the mechanism believes of a whole stream, from the answers of its steps and n_t.

        None (the default): nothing beyond the releases.
        """
        return None

    @abstractmethod
    def step(self, t: int, n: int, survey: Survey) -> Step:
        """Decide and publish at t, with n = n_t active users behind the survey."""


@dataclass(frozen=True)
class Registration:
    """A registered mechanism: its class, and the division that its name fixes."""

    name: str
    cls: type[Mechanism]
    division: str


REGISTRY: Registry[Registration] = Registry("mechanism", "mtsp_ldp.mechanisms", "mtsp_ldp.mechanisms")
_Class = TypeVar("_Class", bound=type[Mechanism])


def register(**names: str) -> Callable[[_Class], _Class]:
    """Register a class under names, each with the division (budget or population) that it fixes."""

    def enter(cls: _Class) -> _Class:
        for name, division in names.items():
            one_of(f"register: {name}", division, tuple(DIVISIONS))
            REGISTRY.enter(name, Registration(name, cls, division), cls)
        return cls

    return enter


def one_of(option: str, value: object, allowed: tuple[str, ...]) -> None:
    """Raise ValueError unless the value of an option is one of the allowed ones."""
    if value not in allowed:
        raise ValueError(f"{option}={value!r}: must be one of {', '.join(allowed)}")
