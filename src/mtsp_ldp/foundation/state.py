"""The changing state of an object as plain numbers and arrays, in one file without code in it.

An object is made again by its constructor, and then given the state. What a constructor makes and nobody
changes (frozen dataclasses, objects without a ``__dict__``) is left as it is.
"""

import json
from collections import deque
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from mtsp_ldp.foundation.arrays import AnyArray
from mtsp_ldp.foundation.files import BrokenFileError, atomic_write

State = dict[str, Any]
"""JSON values, and arrays."""
_PLAIN = (bool, int, float, str, type(None))
_TEXT = "json"


def capture(thing: object, path: str = "", leave: tuple[str, ...] = ()) -> State:
    """Take the state of an object: its attributes, those of the objects in them, and so on.

    Parameters
    ----------
    thing
        The object.
    path
        Name of the object in errors.
    leave
        Attributes to leave out.

    Raises
    ------
    TypeError
        Naming an attribute that is no array, number, text, generator, or sequence or object of these.
    """
    kept = {name: value for name, value in vars(thing).items() if name not in leave}
    return {name: _encode(value, f"{path}.{name}" if path else name) for name, value in kept.items()}


def _encode(value: Any, path: str) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        return {"array": value}
    if isinstance(value, np.random.Generator):
        return {"generator": value.bit_generator.state}
    if isinstance(value, list | tuple | deque):
        return [_encode(one, f"{path}[{place}]") for place, one in enumerate(value)]
    if isinstance(value, dict):
        return {"entries": {str(key): _encode(one, f"{path}[{key!r}]") for key, one in value.items()}}
    if _never_changes(value):
        return {"fixed": True}
    if callable(value) or not hasattr(value, "__dict__"):
        raise TypeError(f"{path}: {type(value).__name__}: its state must be arrays and numbers")
    return {"attributes": capture(value, path)}


def _never_changes(value: Any) -> bool:
    frozen = is_dataclass(value) and getattr(value, "__dataclass_params__").frozen  # noqa: B009
    return frozen or (not hasattr(value, "__dict__") and hasattr(type(value), "__slots__"))


def restore(thing: Any, state: State) -> None:
    """Give an object, made as it was, the state that `capture` took."""
    for name, value in state.items():
        setattr(thing, name, _decode(getattr(thing, name), value))


def _decode(now: Any, value: Any) -> Any:
    """Decode the value of an attribute that holds ``now`` after the object was made again."""
    if isinstance(value, list):
        items = [_decode((), one) for one in value]
        return deque(items, now.maxlen) if isinstance(now, deque) else type(now)(items)
    if not isinstance(value, dict):
        return value
    ((tag, content),) = value.items()
    if tag == "array":
        return content
    if tag == "attributes":
        restore(now, content)
    elif tag == "generator":
        now.bit_generator.state = content
    elif tag == "entries":
        now.clear()
        now.update({key: _decode((), one) for key, one in content.items()})
    return now


def write_state(path: Path, state: State) -> None:
    """Write a state as one npz: its arrays, and its JSON; it appears whole and durable, or not at all."""
    arrays: dict[str, AnyArray] = {}

    def refer(value: Any) -> str:
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
    except (ValueError, KeyError, EOFError, AttributeError, BadZipFile) as error:
        raise BrokenFileError(f"{path}: must be a state written by save ({error})") from None
    return state


def _resolve(value: dict[str, Any], arrays: dict[str, AnyArray]) -> dict[str, Any]:
    return {"array": arrays[value["array"]]} if value.keys() == {"array"} else value
