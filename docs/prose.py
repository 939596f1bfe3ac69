"""Reads docstrings whose ``Returns`` says in prose what comes back; the type stands in the signature."""

import re
import textwrap
from typing import Any

from griffe import Docstring, Extension, Object

_RETURNS = re.compile(r"^Returns\n-------\n(?P<prose>(?:(?!^\w[^\n]*\n-{3,}$).*\n?)+)", re.M)


class Prose(Extension):
    """Hands the prose on as the description of a value without a name."""

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        """Rewrite the section before it is parsed."""
        docstring = obj.docstring
        if isinstance(docstring, Docstring):
            docstring.value = _RETURNS.sub(_as_description, docstring.value)


def _as_description(found: re.Match[str]) -> str:
    return "Returns\n-------\n:\n" + textwrap.indent(found["prose"].rstrip(), "    ") + "\n\n"
