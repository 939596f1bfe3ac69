"""Data sets whose raw files others publish, or the user brings: found, checked, or downloaded."""

from abc import ABC
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

from pydantic import model_validator

from mtsp_ldp.datasets.base import Dataset
from mtsp_ldp.datasets.ingest.archive import unread
from mtsp_ldp.datasets.ingest.retrieval import ensure_raw_files, loose_files, require_files
from mtsp_ldp.datasets.source import Permission, Source


class Published(Dataset, ABC):
    """A data set with raw files.

    Attributes
    ----------
    source
        Publisher and files; see `mtsp_ldp.datasets.source.Source`.
    """

    members: ClassVar[tuple[str, ...]]
    """Patterns of the names of the files that are read."""

    source: Mapping[str, Any]

    @model_validator(mode="after")
    def _check_source(self) -> Self:
        assert self.published  # checked at the border
        return self

    @property
    def patterns(self) -> tuple[str, ...]:
        """Patterns of the names of the files that are read."""
        return self.members

    @cached_property
    def published(self) -> Source:
        """Description of what is published, and of its addresses."""
        return Source.of(self.source)

    def require(self, folder: Path, permission: Permission) -> None:
        """Raise SourceError if raw files are missing and may not be downloaded."""
        require_files(self.published, self.raw_name, self.patterns, folder, permission)

    def loose_files(self, folder: Path) -> list[tuple[str, int, int]]:
        """List name, size and time of raw files that the user brought and may change."""
        return loose_files(self.published, self.raw_name, self.patterns, folder)

    def doubts(self, folder: Path) -> list[str]:
        """List files of data in the folder that are not read, and how to make them readable."""
        return [f"not read: {line}" for line in unread(folder, self.patterns)]

    def fetch(self, folder: Path, permission: Permission) -> dict[str, Any]:
        """Find the raw files on this machine, or download them."""
        return ensure_raw_files(self.published, self.raw_name, self.patterns, folder, permission)
