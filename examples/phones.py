"""Two thousand phones and a server in one process; they exchange only bytes.

    python examples/phones.py [mechanism]

Each phone walks among 8 cells, keeps its own clock and ledger, and perturbs with the operating system's
random numbers.
"""

import sys

import numpy as np

from mtsp_ldp.protocol import Client, Server

PHONES, CELLS, EPSILON, WINDOW, STEPS = 2000, 8, 1.0, 10, 30


def main(mechanism: str = "lpa") -> None:
    """Publish thirty timestamps and print true and released counts of the first cells."""
    walk = np.random.default_rng(7)
    phones = [Client(number, CELLS, EPSILON, WINDOW) for number in range(PHONES)]
    where = np.minimum(walk.geometric(0.4, PHONES) - 1, CELLS - 1)
    server = Server(mechanism, CELLS, PHONES, epsilon=EPSILON, window=WINDOW, seed=1)
    sent = 0

    def deliver(requests: dict[int, bytes]) -> list[bytes]:
        nonlocal sent
        reports = [phones[number].answer(request) for number, request in requests.items()]
        sent += sum(map(len, reports))
        return reports

    print("  t  active   cell 0: true  released   cell 1: true  released")
    for t in range(STEPS):
        moves = walk.random(PHONES) < 0.02
        where[moves] = walk.integers(0, CELLS, moves.sum())
        active = np.flatnonzero(walk.random(PHONES) < 0.9)
        for phone in phones:
            phone.turn(t, None)
        for number in active:
            phones[number].turn(t, int(where[number]))
        counts = np.bincount(where[active], minlength=CELLS)
        released = server.step(t, active, deliver) * active.size
        print(
            f"{t:3d} {active.size:7d} {counts[0]:14d} {released[0]:9.0f} {counts[1]:14d} {released[1]:9.0f}"
        )
    print(f"{sent:,} bytes of reports; rejected: {dict(server.fleet.rejected) or 'none'}")


if __name__ == "__main__":
    main(*sys.argv[1:])
