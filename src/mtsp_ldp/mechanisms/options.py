"""Options of mechanisms: the parameters of their classes, checked before anything runs.

An option stands in one place: a keyword parameter of the class, with its type, limits and default; its text
in the class's docstring is the manual's.
"""

import inspect
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from mtsp_ldp.foundation.numbers import plain
from mtsp_ldp.foundation.validation import explain
from mtsp_ldp.mechanisms.base import Initial, Registration, Setting
from mtsp_ldp.privacy.division import DIVISIONS
from mtsp_ldp.privacy.oracle import OracleKind
from mtsp_ldp.privacy.survey import NoiseKind, Presence

COMMON: dict[str, tuple[Any, Any]] = {
    "initial": (Initial, "zero"),
    "noise": (NoiseKind, "paper"),
    "oracle": (OracleKind, "oue"),
    "presence": (Presence, "public"),
}
"""Type and default of the options of every mechanism that reads data (presence: of histograms only)."""


class _Terms(BaseModel):
    model_config = ConfigDict(strict=True)
    epsilon: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    window: Annotated[int, Field(ge=1)]


LEAST_EPSILON = 1e-9
"""Least budget of a window: below, variances leave the range of numbers."""


def check_terms(epsilon: float, window: int, length: int | None = None) -> tuple[float, int]:
    """Take the terms of a window: a budget that is finite and above 0, and a length from 1 to T.

    Raises
    ------
    ValueError
        Naming the parameter, its value and what it must be.
    """
    try:
        terms = _Terms(epsilon=plain(epsilon), window=plain(window))
    except ValidationError as error:
        raise ValueError(explain(error, "", [])) from None
    if terms.epsilon < LEAST_EPSILON:
        raise ValueError(f"epsilon={epsilon!r}: must be at least {LEAST_EPSILON}")
    if length is not None and window > length:
        raise ValueError(f"window={window!r}: must be in 1..{length}, the timestamps of this stream")
    return terms.epsilon, terms.window


@cache
def options_model(registration: Registration) -> type[BaseModel]:
    """Make the model of a mechanism's options: those of its class, then those of all that read data."""
    cls = registration.cls
    parameters, empty = inspect.signature(cls, eval_str=True).parameters, inspect.Parameter.empty
    fields: dict[str, Any] = {
        name: (
            Any if parameter.annotation is empty else parameter.annotation,
            ... if parameter.default is empty else parameter.default,
        )
        for name, parameter in parameters.items()
        if name != "setting"
    }
    if cls.reads_data:
        fields |= {name: known for name, known in COMMON.items() if name != "presence" or not cls.tree}
    config = ConfigDict(strict=True, extra="forbid", arbitrary_types_allowed=True, allow_inf_nan=False)
    return create_model(f"{cls.__name__}Options", __config__=config, **fields)


def own_defaults(registration: Registration) -> dict[str, Any]:
    """Give the defaults of a mechanism's own options."""
    fields = options_model(registration).model_fields
    return {name: field.default for name, field in fields.items() if name not in COMMON}


def check_options(registration: Registration, options: Mapping[str, Any], window: int | None = None) -> None:
    """Raise ValueError for an option that the mechanism lacks or a value that it refuses.

    Parameters
    ----------
    registration
        Registration of the mechanism.
    options
        Options by name.
    window
        Window with which the mechanism is made once, so that the checks of its constructor run too; None
        leaves them out.
    """
    label, model = registration.name, options_model(registration)
    try:
        model(**options)
    except ValidationError as error:
        raise ValueError(explain(error, f"{label}.", model.model_fields)) from None
    if window is None:
        return
    own = {name: value for name, value in options.items() if name not in COMMON}
    setting = Setting(2, window, DIVISIONS[registration.division](1.0), np.random.default_rng(0))
    try:
        registration.cls(setting, **own)
    except ValueError as fault:
        raise ValueError(f"{label}.{fault}") from None
    except Exception as fault:  # a mechanism of another package may raise anything
        raise ValueError(f"{label}: options {own}: {type(fault).__name__}: {fault}") from None
