"""Bytes between server and clients, version 2. All numbers are big-endian.

Request: ``b"LQ"``, version u8, oracle u8 (0 OUE, 1 GRR), t u32, serial u32, epsilon f64, cells u16, then the
group of each cell, u16 each. No two surveys of a server have one serial number, so that a report can answer
no other survey than its own.

Report: ``b"LR"``, version u8, 0 u8, t u32, crc32 of the request u32, reporter u64, groups u16, then one bit a
group, most significant first, padded with zeros to whole bytes.
"""

import struct
import zlib
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mtsp_ldp.privacy.oracle import GRR, OUE, Oracle
from mtsp_ldp.privacy.survey import Question

VERSION = 2
MOST_CELLS = 2**16 - 1
_REQUEST = struct.Struct(">2sBBIIdH")
_REPORT = struct.Struct(">2sBBIIQH")
_ORACLES = ("oue", "grr")


class WireError(ValueError):
    """Bytes that are no message of this version."""


@dataclass(frozen=True)
class Request:
    """Request of a server to one client: her group at t, reported with this epsilon."""

    t: int
    serial: int
    epsilon: float
    oracle: str
    question: Question

    @classmethod
    def of(cls, t: int, serial: int, oracle: Oracle, question: Question) -> "Request":
        """Make the request of a question and its oracle."""
        return cls(t, serial, oracle.epsilon, "oue" if isinstance(oracle, OUE) else "grr", question)

    def make_oracle(self) -> Oracle:
        """Make the oracle that the request names."""
        if self.oracle == "oue":
            return OUE(self.epsilon)
        return GRR(self.epsilon, self.question.groups)

    def encode(self) -> bytes:
        """Encode the request as bytes."""
        labels = self.question.labels
        oracle = _ORACLES.index(self.oracle)
        head = _REQUEST.pack(b"LQ", VERSION, oracle, self.t, self.serial, self.epsilon, labels.size)
        return head + labels.astype(">u2").tobytes()

    @classmethod
    def decode(cls, raw: bytes) -> "Request":
        """Decode bytes; refuse any that are not exactly one request."""
        if len(raw) < _REQUEST.size:
            raise WireError(f"request of {len(raw)} bytes: must be at least {_REQUEST.size}")
        magic, version, oracle, t, serial, epsilon, cells = _REQUEST.unpack_from(raw)
        _check(magic == b"LQ" and version == VERSION and oracle < len(_ORACLES), "request: unknown head")
        _check(len(raw) == _REQUEST.size + 2 * cells, "request: length and cells disagree")
        labels = np.frombuffer(raw, ">u2", offset=_REQUEST.size).astype(np.int64)
        try:
            request = cls(t, serial, epsilon, _ORACLES[oracle], Question(labels))
            request.make_oracle()
        except ValueError as error:
            raise WireError(f"request: {error}") from None
        return request


@dataclass(frozen=True)
class Report:
    """One perturbed report: bits per group, ``(g,)``, and the request that it answers."""

    t: int
    request: int
    reporter: int
    bits: npt.NDArray[np.bool_]

    def encode(self) -> bytes:
        """Encode the report as bytes."""
        head = _REPORT.pack(b"LR", VERSION, 0, self.t, self.request, self.reporter, self.bits.size)
        return head + np.packbits(self.bits).tobytes()

    @classmethod
    def decode(cls, raw: bytes) -> "Report":
        """Decode bytes; refuse any that are not exactly one report."""
        if len(raw) < _REPORT.size:
            raise WireError(f"report of {len(raw)} bytes: must be at least {_REPORT.size}")
        magic, version, zero, t, request, reporter, groups = _REPORT.unpack_from(raw)
        _check(magic == b"LR" and version == VERSION and zero == 0, "report: unknown head")
        _check(len(raw) == report_size(groups), "report: length and groups disagree")
        packed = np.frombuffer(raw, np.uint8, offset=_REPORT.size)
        bits = np.unpackbits(packed)
        _check(not bits[groups:].any(), "report: padding is not zero")
        return cls(t, request, reporter, bits[:groups].astype(bool))


def report_size(groups: int) -> int:
    """Compute the number of bytes of a report."""
    return _REPORT.size + (groups + 7) // 8


def fingerprint(request: bytes) -> int:
    """Compute the checksum by which a report names the request that it answers."""
    return zlib.crc32(request)


def _check(right: bool, message: str) -> None:
    if not right:
        raise WireError(message)
