"""The changing state of an object as plain numbers and arrays, in one file without code in it.

An object is made again by its constructor, and then given the state. So objects in it, and objects in those,
must be there as the constructor made them, of the same class. Those that never change (frozen dataclasses,
objects without a ``__dict__``) are not in the state, and must be the very ones of the constructor.
"""

import json
from collections import deque
from collections.abc import Mapping
from dataclasses import is_dataclass
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any
from zipfile import BadZipFile

import numpy as np

from mtsp_ldp.foundation.arrays import AnyArray
from mtsp_ldp.foundation.files import BrokenFileError, atomic_write

State = dict[str, Any]
"""JSON values, and arrays."""
_PLAIN = (bool, int, float, str, type(None))
_SEQUENCES = (list, tuple, deque)
_BY_NAME = {kind.__name__: kind for kind in _SEQUENCES}
_TEXT = "json"


def capture(
    thing: object, path: str, made: Mapping[str, object] | None = None, leave: tuple[str, ...] = ()
) -> State:
    """Take the state of an object: its attributes, those of the objects in them, and so on.

    Parameters
    ----------
    thing
        The object.
    path
        Name of the object in errors.
    made
        Objects that the constructor made (`objects_in`); None checks none of them.
    leave
        Attributes to leave out.

    Raises
    ------
    TypeError
        Naming an attribute that `restore` could not give back: no array, number, text, generator or container
        of these, and no object that the constructor made.
    """
    kept = {name: value for name, value in vars(thing).items() if name not in leave}
    return {name: encode(value, f"{path}.{name}", made) for name, value in kept.items()}


def encode(value: Any, path: str, made: Mapping[str, object] | None = MappingProxyType({})) -> Any:
    """Encode a value as JSON values and arrays; parameters and errors as in `capture`."""
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biuf":
        return {"array": value} if isinstance(value, np.ndarray) else {"scalar": {"array": np.array(value)}}
    if isinstance(value, _PLAIN):
        return value
    if type(value) in _SEQUENCES:
        items = [encode(one, f"{path}[{place}]", made) for place, one in enumerate(value)]
        return {type(value).__name__: items, **({"maxlen": value.maxlen} if type(value) is deque else {})}
    before = value if made is None else made.get(path)
    mapping = type(value) is dict or (isinstance(value, dict) and type(before) is type(value))
    if mapping and all(isinstance(key, _PLAIN) for key in value):
        return {"entries": [[key, encode(one, f"{path}[{key!r}]", made)] for key, one in value.items()]}
    if _never_changes(value):
        same = before is value
    else:
        changes = hasattr(value, "__dict__") and not callable(value)
        same = type(before) is type(value) and (changes or isinstance(value, np.random.Generator))
    if not same:
        raise TypeError(
            f"{path}: {type(value).__name__}: must be an array, a number, a container of these, "
            "or an object that the constructor made"
        )
    if isinstance(value, np.random.Generator):
        return {"generator": value.bit_generator.state}
    return {"fixed": True} if _never_changes(value) else {"attributes": capture(value, path, made)}


def objects_in(thing: Any, path: str, above: tuple[int, ...] = ()) -> dict[str, object]:
    """Find the objects that a thing is made of, by their paths: attributes, items, and so on."""
    parts: dict[str, object] = {}
    if callable(thing) or isinstance(thing, ModuleType) or _never_changes(thing):
        pass
    elif isinstance(thing, _SEQUENCES):
        parts = {f"{path}[{place}]": one for place, one in enumerate(thing)}
    elif isinstance(thing, dict):
        parts = {f"{path}[{key!r}]": one for key, one in thing.items()}
    elif hasattr(thing, "__dict__"):
        parts = {f"{path}.{name}": one for name, one in vars(thing).items()}
    found = {path: thing}
    for place, one in parts.items():
        if id(one) not in above:
            found |= objects_in(one, place, (*above, id(thing)))
    return found


def _never_changes(value: Any) -> bool:
    if isinstance(value, np.random.Generator):
        return False
    frozen = is_dataclass(value) and getattr(value, "__dataclass_params__").frozen  # noqa: B009
    return frozen or (not hasattr(value, "__dict__") and hasattr(type(value), "__slots__"))


def restore(thing: Any, state: State) -> None:
    """Give an object, made as it was, the state that `capture` took."""
    for name, value in state.items():
        setattr(thing, name, decode(value, getattr(thing, name, None)))


def decode(value: Any, now: Any = None) -> Any:
    """Decode what `encode` made of a value; ``now`` stands in its place after the constructor."""
    if not isinstance(value, dict):
        return value
    tag, content = next(iter(value.items()))
    if tag == "array":
        return content
    if tag == "scalar":
        return content["array"][()]
    if tag == "attributes":
        restore(now, content)
    elif tag == "generator":
        now.bit_generator.state = content
    elif tag == "entries":
        there = now if isinstance(now, dict) else {}
        entries = {key: decode(one, there.get(key)) for key, one in content}
        if type(there) is dict:
            return entries
        there.clear()  # of another class, which only the constructor can make
        there.update(entries)
    elif tag in _BY_NAME:
        before = [*now] if isinstance(now, _SEQUENCES) else []
        items = [
            decode(one, before[place] if place < len(before) else None) for place, one in enumerate(content)
        ]
        return deque(items, value["maxlen"]) if tag == "deque" else _BY_NAME[tag](items)
    return now


def write_state(path: Path, state: State) -> None:
    """Write a state as one npz: its arrays, and its JSON; it appears whole and durable, or not at all."""
    arrays: dict[str, AnyArray] = {}

    def refer(value: Any) -> str:
        if not isinstance(value, np.ndarray):
            raise TypeError(f"{type(value).__name__}: a state must hold JSON values and arrays")
        arrays[f"array {len(arrays)}"] = value
        return f"array {len(arrays) - 1}"

    text = json.dumps(state, default=refer)
    with atomic_write(path, durable=True) as partial, partial.open("wb") as file:
        np.savez(file, allow_pickle=False, **{_TEXT: np.frombuffer(text.encode(), np.uint8), **arrays})


def read_state(path: Path) -> State:
    """Read what `write_state` wrote.

    Raises
    ------
    BrokenFileError
        If the file is no such state; the message names it.
    """
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        state: State = json.loads(arrays.pop(_TEXT).tobytes(), object_hook=lambda one: _resolve(one, arrays))
    except (ValueError, KeyError, EOFError, AttributeError, TypeError, BadZipFile) as error:
        raise BrokenFileError(f"{path}: must be a state written by save ({error})") from None
    return state


def _resolve(value: dict[str, Any], arrays: dict[str, AnyArray]) -> dict[str, Any]:
    return {"array": arrays[value["array"]]} if value.keys() == {"array"} else value
