"""Names of what may be added: mechanisms and formats of data sets, of this package and of others.

Each module of a folder of this package is imported once and registers names; so does each entry point
of another package. A module that cannot be imported is left out and named, and the others work on.
"""

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cached_property
from importlib.metadata import entry_points
from typing import Generic, TypeVar

T = TypeVar("T")


class Registry(Generic[T]):
    """Registered things by name, loaded when first asked for.

    Parameters
    ----------
    noun
        Noun for the things, in errors.
    package
        Subpackage of this package whose modules register names.
    group
        Group of entry points of other packages that register names.

    Attributes
    ----------
    left_out
        Modules and entry points that cannot be imported, with the reasons.
    """

    def __init__(self, noun: str, package: str, group: str) -> None:
        self.noun = noun
        self._package, self._group = package, group
        self._entries: dict[str, T] = {}
        self._sources: dict[str, str] = {}
        self.left_out: dict[str, str] = {}

    def enter(self, name: str, thing: T, source: type) -> None:
        """Register a thing of a class under a name; the same class may do so again.

        Raises
        ------
        ValueError
            If another class has the name.
        """
        place = f"{source.__module__}.{source.__qualname__}"
        other = self._sources.setdefault(name, place)
        if other != place:
            raise ValueError(f"{self.noun} {name!r} is registered twice: by {other} and {place}")
        self._entries[name] = thing

    @cached_property
    def known(self) -> Mapping[str, T]:
        """Everything by name, in order of names."""
        package = importlib.import_module(self._package)
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            self._load(module.name, module.name)
        for entry in entry_points(group=self._group):
            self._load(f"{entry.value} ({entry.dist.name if entry.dist else 'unknown'})", entry.module)
        return dict(sorted(self._entries.items()))

    def _load(self, label: str, module: str) -> None:
        try:
            importlib.import_module(module)
        except Exception as fault:  # whatever is wrong with it, the others work on
            where = f"line {fault.lineno}: {fault.msg}" if isinstance(fault, SyntaxError) else str(fault)
            self.left_out[label] = f"{type(fault).__name__}: {where}"

    def find(self, name: str) -> T:
        """Look up the thing of this name.

        Raises
        ------
        ValueError
            If there is none; the message lists the names, and what was left out.
        """
        if not isinstance(name, str) or name not in self.known:
            raise ValueError(
                f"{self.noun}={name!r}: must be one of {'; '.join([', '.join(self.known), *self.warnings()])}"
            )
        return self.known[name]

    def warnings(self) -> list[str]:
        """Name what was left out, one in a line."""
        self.known  # noqa: B018
        return [f"{label} is left out ({why})" for label, why in self.left_out.items()]
