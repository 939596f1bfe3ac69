"""Sources: the offer of a data set's publisher, and the user's permissions."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from mtsp_ldp.foundation.validation import explain


class SourceError(ValueError):
    """Raw data that is missing, forbidden or not what was published."""


@dataclass(frozen=True)
class Permission:
    """Permissions of the user: downloads at all, and the terms that she accepts, by data set."""

    download: bool = False
    terms: frozenset[str] = frozenset()

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> "Permission":
        """Read the keys ``allow_download`` and ``accept_terms``.

        Raises
        ------
        ValueError
            Naming the key, if it is no truth value or no list of names.
        """
        allowed, terms = config.get("allow_download", False), config.get("accept_terms", [])
        if not isinstance(allowed, bool):
            raise ValueError(f"allow_download={allowed!r}: must be true or false")
        if not isinstance(terms, list) or not all(re.fullmatch(r"[a-z0-9_]+", str(name)) for name in terms):
            raise ValueError(f"accept_terms={terms!r}: must be a list of names of data sets")
        return cls(allowed, frozenset(terms))

    def as_config(self) -> dict[str, Any]:
        """Give the keys that `of` reads."""
        return {"allow_download": self.download, "accept_terms": sorted(self.terms)}


class PublishedFile(BaseModel):
    """One file as its publisher offers it.

    Attributes
    ----------
    name
        Name of the file here.
    urls
        Addresses, tried in this order.
    hash
        Published hash, ``sha256:…`` or ``md5:…``; without one that of the first download is remembered.
    bytes
        Size in bytes, where it is known.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    urls: Sequence[str] = ()
    hash: str | None = None
    bytes: int | None = None


class Source(BaseModel):
    """A published data set.

    Attributes
    ----------
    page
        Page about the data set.
    licence
        Licence of the data.
    terms
        Terms to accept before a download, in a few words; None where the licence is enough.
    manual
        Instructions for getting the files by hand; None where fetch can get them.
    user_agent
        User agent to send, where a server refuses others.
    files
        Published files.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    page: str
    licence: str
    terms: str | None = None
    manual: str | None = None
    user_agent: str | None = None
    files: Sequence[PublishedFile] = ()

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> "Source":
        """Check the ``source`` of a data set's yaml; raise ValueError naming the key if it is wrong."""
        try:
            return cls(**config)
        except ValidationError as error:
            raise ValueError(explain(error, "source.", cls.model_fields)) from None
