"""Options of mechanisms: which there are, and errors that name a wrong one."""

import inspect
import math
from collections.abc import Mapping
from typing import Any, get_args

import numpy as np

from mtsp_ldp.mechanisms.base import Initial, Registration, Setting, one_of
from mtsp_ldp.privacy.division import DIVISIONS
from mtsp_ldp.privacy.oracle import OracleKind
from mtsp_ldp.privacy.survey import NoiseKind, Presence

COMMON = {
    "initial": get_args(Initial),
    "noise": get_args(NoiseKind),
    "oracle": get_args(OracleKind),
    "presence": get_args(Presence),
}
"""Options of every mechanism that reads data, and their values."""
_TYPES: dict[type, tuple[type, ...]] = {bool: (bool,), int: (int,), float: (float, int)}


def check_epsilon(epsilon: float) -> None:
    """Raise ValueError unless epsilon is finite and positive."""
    wrong_type = isinstance(epsilon, bool) or not isinstance(epsilon, int | float)
    if wrong_type or not (math.isfinite(epsilon) and epsilon > 0):
        raise ValueError(f"epsilon={epsilon!r}: must be a finite number above 0")


def check_window(window: int, length: int | None = None) -> None:
    """Raise ValueError unless the window is a positive integer, at most the stream's length."""
    if type(window) is not int or window < 1 or (length is not None and window > length):
        allowed = f"in 1..{length}, the timestamps of this stream" if length else "an integer, at least 1"
        raise ValueError(f"window={window!r}: must be {allowed}")


def allowed_options(registration: Registration) -> list[str]:
    """List the options of a mechanism: its own, then those of every mechanism that reads data."""
    cls = registration.cls
    own = [name for name in inspect.signature(cls).parameters if name != "setting"]
    common = [name for name in COMMON if cls.reads_data and (name != "presence" or not cls.tree)]
    return own + common


def check_options(registration: Registration, options: Mapping[str, Any], window: int | None = None) -> None:
    """Raise ValueError for an option that the mechanism lacks or a value that it refuses.

    Parameters
    ----------
    registration
        The mechanism.
    options
        Names and values.
    window
        If given, the mechanism is made once with this window, so that its own checks of values run too.
    """
    label, parameters = registration.name, inspect.signature(registration.cls).parameters
    allowed = allowed_options(registration)
    for name, value in options.items():
        if name not in allowed:
            raise ValueError(f"{label}.{name}: unknown option; allowed: {', '.join(allowed) or 'none'}")
        if name in COMMON:
            one_of(f"{label}.{name}", value, COMMON[name])
            continue
        types = _TYPES.get(type(parameters[name].default))
        if types and (not isinstance(value, types) or isinstance(value, bool) != (bool in types)):
            raise ValueError(f"{label}.{name}={value!r}: must be {types[0].__name__}, as its default")
    if window is None:
        return
    own = {name: value for name, value in options.items() if name not in COMMON}
    setting = Setting(2, window, DIVISIONS[registration.division](1.0), np.random.default_rng(0))
    try:
        registration.cls(setting, **own)
    except ValueError:
        raise
    except Exception as fault:  # whatever a mechanism from elsewhere makes of its options
        raise ValueError(f"{label}: options {own}: {type(fault).__name__}: {fault}") from None
