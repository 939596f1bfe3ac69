"""The server of the operator: any registered mechanism, over clients instead of a simulation.

The server knows who is active (public) and the noisy bits; nothing else reaches it.
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from mtsp_ldp.foundation.arrays import FloatArray
from mtsp_ldp.foundation.files import BrokenFileError
from mtsp_ldp.foundation.state import State, decode, encode, read_state, write_state
from mtsp_ldp.mechanisms.session import Session
from mtsp_ldp.protocol.fleet import Fleet, Transport
from mtsp_ldp.protocol.wire import MOST_CELLS

STATE = 5
LAST = 2**31 - 1
"""The last timestamp that a ledger of reporters can hold."""


class Server:
    """Publishes a stream with a registered mechanism over clients, in constant memory.

    Parameters
    ----------
    mechanism
        A registered name; it fixes the division.
    d
        Number of cells.
    reporters
        Number of clients, numbered from 0.
    epsilon, window
        Terms that the clients agreed to.
    seed
        Seed of the public coins. Clients never use it.
    state
        File to save the state to before every question; None saves nowhere.
    options
        Options of the mechanism, and ``initial``, ``noise``, ``oracle``; ``presence`` is public here.

    Raises
    ------
    ValueError
        Naming a parameter or option, its value and what is allowed.
    TypeError
        If ``state`` is given and the mechanism remembers what cannot be restored: at the start, or before the
        first question after it.
    """

    def __init__(
        self,
        mechanism: str,
        d: int,
        reporters: int,
        *,
        epsilon: float,
        window: int,
        seed: int,
        state: Path | None = None,
        **options: Any,
    ) -> None:
        if not 1 <= d <= MOST_CELLS:
            raise ValueError(f"d={d!r}: must be 1 to {MOST_CELLS} cells, which fit into a request")
        coins = np.random.default_rng(seed)
        self._session = Session(mechanism, d, epsilon=epsilon, window=window, coins=coins, **options)
        if self._session.presence != "public":
            raise ValueError("presence='private': must be public over clients; the inactive answer nothing")
        if self._session.mechanism.lag:
            raise ValueError(
                f"lag={self._session.mechanism.lag}: must be 0 over clients, who are answered at once"
            )
        self._terms = {"mechanism": mechanism, "d": d, "reporters": reporters, "seed": seed}
        self._terms |= {"epsilon": epsilon, "window": window, **options}
        self.fleet = Fleet(d, reporters, self._session.division, window, coins)
        self._made = self._session.made()
        self._t = -1
        self._state = state
        if state is not None:
            self._take()  # what cannot be saved is refused at the start

    def step(self, t: int, active: npt.ArrayLike, transport: Transport) -> FloatArray:
        """Publish at t.

        Parameters
        ----------
        t
            Timestamp, later than any before; a t that was begun before a crash is not begun again.
        active
            Numbers of the active clients.
        transport
            Function that delivers requests and returns reports.

        Returns
        -------
        FloatArray
            Released frequencies, ``(d,)``.
        """
        if t <= self._t:
            raise ValueError(f"t={t}: must be above {self._t}, the last t")
        if t > LAST:
            raise ValueError(f"t={t}: must be at most {LAST}")
        self._t = int(t)
        self.fleet.roll_call(active)
        self.fleet.transport = transport
        self.fleet.journal = None if self._state is None else lambda: self.save(self._state)  # type: ignore[arg-type]
        self._session.step(t, self.fleet)
        if self._state is not None:
            self.save(self._state)
        return self.frequencies

    @property
    def frequencies(self) -> FloatArray:
        """Current release, ``(d,)``."""
        return self._session.frequencies.copy()

    def _take(self) -> State:
        return {
            "version": STATE,
            "terms": {name: encode(value, name) for name, value in self._terms.items()},
            "t": self._t,
            "file": None if self._state is None else str(self._state),
            "fleet": self.fleet.state(),
            **self._session.state(self._made),
        }

    def save(self, path: Path) -> None:
        """Write the whole state as JSON and arrays in one npz; it appears whole or not at all."""
        write_state(path, self._take())

    @classmethod
    def restore(cls, path: Path) -> "Server":
        """Make the server again as it was saved.

        Raises
        ------
        BrokenFileError
            If the file is not a server's state of this version.
        """
        state = read_state(path)
        if state.get("version") != STATE:
            raise BrokenFileError(f"{path}: must be a server's state of version {STATE}")
        file = state["file"]
        terms = {name: decode(value) for name, value in state["terms"].items()}
        server = cls(**terms, state=None if file is None else Path(file))
        server._t = state["t"]
        server.fleet.restore(state["fleet"])
        server._session.restore(state)
        return server
