"""What a data set's publisher offers, and what the user allows."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


class SourceError(ValueError):
    """Raw data that is missing, forbidden or not what was published."""


@dataclass(frozen=True)
class Permission:
    """What the user allows: downloads at all, and the terms that she accepts, by data set."""

    download: bool = False
    terms: frozenset[str] = frozenset()

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> "Permission":
        """From the keys ``allow_download`` and ``accept_terms``.

        Raises
        ------
        ValueError
            Naming the key, if it is no truth value or no list of names.
        """
        allowed, terms = config.get("allow_download", False), config.get("accept_terms", [])
        if not isinstance(allowed, bool):
            raise ValueError(f"allow_download={allowed!r}: true or false")
        if isinstance(terms, str):  # from the environment, where the workflow puts it
            terms = [name for name in terms.split(",") if name]
        if not isinstance(terms, list) or not all(re.fullmatch(r"[a-z0-9_]+", str(name)) for name in terms):
            raise ValueError(f"accept_terms={terms!r}: a list of names of data sets")
        return cls(allowed, frozenset(terms))

    def exports(self) -> str:
        """Shell commands that hand a permission to the jobs of a workflow; nothing if there is none."""
        if not self.download:
            return ""
        return f"export MTSP_LDP_ALLOW_DOWNLOAD=true MTSP_LDP_ACCEPT_TERMS={','.join(sorted(self.terms))}; "


@dataclass(frozen=True, kw_only=True)
class PublishedFile:
    """One file as its publisher offers it.

    Attributes
    ----------
    name
        What it is called here.
    urls
        Where it is, tried in this order.
    hash
        ``sha256:…`` or ``md5:…`` as published; without one the first download's is remembered.
    bytes
        Its size, where it is known.
    """

    name: str
    urls: Sequence[str] = ()
    hash: str | None = None
    bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class Source:
    """A published data set.

    Attributes
    ----------
    page
        Where people read about it.
    licence
        Under which it is published.
    terms
        What must be accepted before it is downloaded, in a few words; None where the licence is enough.
    manual
        How to get it where no program may; None where fetch can.
    user_agent
        Sent where a server refuses others.
    files
        The published files.
    """

    page: str
    licence: str
    terms: str | None = None
    manual: str | None = None
    user_agent: str | None = None
    files: Sequence[PublishedFile] = field(default_factory=tuple)

    @classmethod
    def of(cls, config: Mapping[str, Any], label: str) -> "Source":
        """From the ``source`` of a data set's yaml; an unknown key is an error that names it."""
        try:
            files = [PublishedFile(**entry) for entry in config.get("files", [])]
            return cls(**{**config, "files": files})
        except TypeError as error:
            raise ValueError(f"{label}: source: {str(error).partition('() ')[2]}") from None
