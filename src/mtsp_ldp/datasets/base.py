"""What a data set is: a frozen dataclass with ``fetch`` and ``prepare``, whose fields are its config keys.

A new format is one module in ``formats`` with ``@register("<format>")``; a new data set of a known
format is one yaml in ``config/dataset``.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from mtsp_ldp.datasets.source import Permission
from mtsp_ldp.foundation.registry import Registry
from mtsp_ldp.streams.stream import Stream


@dataclass(frozen=True, kw_only=True)
class Dataset(ABC):
    """One configured data set.

    Attributes
    ----------
    name
        Names its files and its rows in every result.
    title
        A few words for tables and figures.
    replicate
        How many independent reporters each user stands for; printed wherever a result appears.
    raw
        The data set whose raw files this one is made of; its own by default.
    """

    name: str
    title: str
    replicate: int = 1
    raw: str | None = None

    @property
    def raw_name(self) -> str:
        """Names the folder of the raw files."""
        return self.raw or self.name

    @property
    def slots(self) -> int | None:
        """T, where the config fixes it."""
        return None

    def require(self, folder: Path, permission: Permission) -> None:  # noqa: B027
        """Raise ValueError if raw files are missing and may not be had; most formats need none."""

    def loose_files(self, folder: Path) -> list[tuple[str, int, int]]:
        """Name, size and time of raw files that the user brought and may change; none of most formats."""
        return []

    @abstractmethod
    def fetch(self, folder: Path, permission: Permission) -> dict[str, Any]:
        """Bring the raw files into the folder, as published; return the receipt."""

    @abstractmethod
    def prepare(self, folder: Path) -> Stream:
        """The canonical stream of the raw files, with its facts."""


def fate(facts: Mapping[str, Any]) -> str:
    """What became of a stream's records, in a line; with a warning where most are of no use."""
    reasons, total = facts["rows_by_reason"], facts["rows"]
    told = ", ".join(f"{reason.replace('_', ' ')} {number:,}" for reason, number in reasons.items())
    lost = sum(reasons.get(name, 0) for name in ("unparsable", "out_of_range", "out_of_box"))
    return f"Of {total:,} records: {told}" + (
        "; WARNING: most have no readable place" if 2 * lost > total else ""
    )


FORMATS: Registry[type[Dataset]] = Registry("format", "mtsp_ldp.datasets.formats", "mtsp_ldp.formats")
_Class = TypeVar("_Class", bound=type[Dataset])


def register(*names: str) -> Callable[[_Class], _Class]:
    """Register a class as the reader of raw formats."""

    def enter(cls: _Class) -> _Class:
        for name in names:
            FORMATS.enter(name, cls, cls)
        return cls

    return enter


def formats() -> Mapping[str, type[Dataset]]:
    """Every format by name."""
    return FORMATS.known


def configured(config: Mapping[str, Any]) -> Dataset:
    """The data set of a config: ``format`` picks the class, the other keys are its fields.

    Raises
    ------
    ValueError
        Naming the key, its value and what is allowed.
    """
    given = dict(config)
    label = f"dataset {given.get('name')!r}"
    form = str(given.pop("format", None))
    try:
        kind = FORMATS.find(form)
    except ValueError as error:
        raise ValueError(f"{label}: {error}") from None
    known = [field.name for field in fields(kind)]
    for key in given:
        if key not in known:
            raise ValueError(f"{label}: {key}: no such key; {form} has {', '.join(known)}")
    for field in fields(kind):
        if field.default is MISSING and field.default_factory is MISSING and field.name not in given:
            raise ValueError(f"{label}: {field.name}: missing; {form} needs it")
    replicate = given.get("replicate", 1)
    if not isinstance(replicate, int) or isinstance(replicate, bool) or replicate < 1:
        raise ValueError(f"{label}: replicate={replicate!r}: a whole number, at least 1")
    return kind(**given)
