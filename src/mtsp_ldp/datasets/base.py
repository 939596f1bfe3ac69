"""Data sets: frozen models with ``fetch`` and ``prepare``, whose fields are their config keys.

A new format is one module in ``formats`` with ``@register("<format>")``; a new data set of a known
format is one yaml in ``config/dataset``.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from mtsp_ldp.datasets.source import Permission
from mtsp_ldp.foundation.registry import Registry
from mtsp_ldp.foundation.validation import check_name, explain
from mtsp_ldp.streams.stream import Stream

Count = Annotated[int, Field(ge=1)]
"""A number of things, at least one."""
Name = Annotated[str, AfterValidator(check_name)]
"""Name of a data set."""
Side = Annotated[int, Field(ge=1, le=256)]
"""Squares a side of a grid."""


class Dataset(BaseModel, ABC):
    """One configured data set.

    Attributes
    ----------
    name
        Name of the data set, in its files and in every result.
    title
        Title for tables and figures, a few words.
    replicate
        Number of independent reporters that each user stands for; printed wherever a result appears.
    period
        Timestamps of a period that people's days or weeks have, for mechanisms that use one; 0 is none. By
        default a day, where it has several slots.
    raw
        Data set whose raw files this one is made of; by default the data set itself.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    name: Name
    title: str
    replicate: Count = 1
    period: Annotated[int, Field(ge=0)] | None = None
    raw: Name | None = None

    @property
    def raw_name(self) -> str:
        """Name of the folder of the raw files."""
        return self.raw or self.name

    @property
    def own_facts(self) -> dict[str, Any]:
        """Facts of the stream that the config itself states."""
        return {name: getattr(self, name) for name in ("title", "replicate", "period")} | {
            "dataset": self.name
        }

    @property
    def slots(self) -> int | None:
        """T if the config fixes it, else None."""
        return None

    def require(self, folder: Path, permission: Permission) -> None:
        """Raise ValueError if raw files are missing and may not be downloaded; most formats need none."""

    def loose_files(self, folder: Path) -> list[tuple[str, int, int]]:
        """List name, size and time of raw files that the user brought and may change; usually none."""
        return []

    def doubts(self, folder: Path) -> list[str]:
        """List what lies beside the raw files and is not read; usually nothing."""
        return []

    @abstractmethod
    def fetch(self, folder: Path, permission: Permission) -> dict[str, Any]:
        """Put the raw files into the folder, as published; return the receipt."""

    @abstractmethod
    def prepare(self, folder: Path) -> Stream:
        """Make the canonical stream of the raw files, with its facts."""


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
    """List every format by name."""
    return FORMATS.known


def configured(config: Mapping[str, Any]) -> Dataset:
    """Make the data set of a config: ``format`` picks the class, the other keys are its fields.

    Raises
    ------
    ValueError
        Naming the key, its value and what is allowed.
    """
    given = dict(config)
    cls = FORMATS.find(str(given.pop("format", None)))
    try:
        return cls(**given)
    except ValidationError as error:
        raise ValueError(explain(error, "", cls.model_fields)) from None
