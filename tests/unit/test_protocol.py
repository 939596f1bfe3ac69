import json
import math
from collections import Counter, deque
from threading import Thread

import numpy as np
import pytest
from scipy import stats

from mtsp_ldp import Stream, simulate
from mtsp_ldp.mechanisms import session
from mtsp_ldp.mechanisms.base import Mechanism, Registration, Step
from mtsp_ldp.mechanisms.mtsp_filter.regressors import season
from mtsp_ldp.mechanisms.registry import mechanisms
from mtsp_ldp.privacy.division import BudgetDivision
from mtsp_ldp.privacy.oracle import OUE
from mtsp_ldp.privacy.survey import Question
from mtsp_ldp.privacy.units import FULL
from mtsp_ldp.protocol import Client, Refusal, Report, Request, Server, WireError

D, USERS, LENGTH, WINDOW, EPSILON = 5, 200, 24, 6, 1.0
NAMES = [name for name, entry in mechanisms().items() if entry.cls.reads_data]
CELLS = Question(np.arange(D))


def request(t=0, epsilon=EPSILON, question=CELLS, serial=1):
    return Request.of(t, serial, OUE(epsilon), question).encode()


def client(cell=3, **kwargs):
    made = Client(7, D, EPSILON, WINDOW, **{"create": "ledger" in kwargs, **kwargs})
    made.turn(0, cell)
    return made


def test_messages_round_trip():
    again = Request.decode(request(9, 0.25, serial=2**31))
    assert (again.t, again.serial, again.epsilon, again.oracle) == (9, 2**31, 0.25, "oue")
    assert again.question.labels.tolist() == list(range(D))
    report = Report(9, 77, 2**40, np.array([1, 0, 1, 1, 0, 0, 0, 1, 1], bool))
    decoded = Report.decode(report.encode())
    assert (decoded.t, decoded.request, decoded.reporter) == (9, 77, 2**40)
    assert decoded.bits.tolist() == report.bits.tolist()
    assert len(report.encode()) == 22 + 2


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        request()[:-1],
        request() + b"\0",
        b"XX" + request()[2:],
        request()[:2] + b"\1" + request()[3:],
        request()[:12] + b"\x7f\xf8" + b"\0" * 6 + request()[20:],
        request()[:-2] + b"\0\x09",
    ],
)
def test_a_client_refuses_bytes_that_are_no_request(raw):
    made = client()
    with pytest.raises(WireError):
        made.answer(raw)
    assert made.answer(request())


def test_a_client_does_not_trust_the_server():
    made = client()
    made.answer(request(0, 0.6))
    made.turn(WINDOW - 1, 3)
    with pytest.raises(Refusal, match="window would spend"):
        made.answer(request(WINDOW - 1, 0.5))
    made.answer(request(WINDOW - 1, 0.4))
    made.turn(WINDOW, 3)
    made.answer(request(WINDOW, 0.6))
    with pytest.raises(Refusal, match="window would spend"):
        made.answer(request(WINDOW, 1e-9))
    made.turn(50, None)
    with pytest.raises(Refusal, match="inactive"):
        made.answer(request(50))


def test_a_client_goes_by_her_own_clock():
    made = client()
    for t in (1, WINDOW, 2**32 - 1):
        with pytest.raises(Refusal, match=f"t={t}: it is t=0 here"):
            made.answer(request(t))
    made.answer(request(0))
    made.turn(5, 3)
    with pytest.raises(Refusal, match="t=0: it is t=5 here"):
        made.answer(request(0, 1e-9))
    with pytest.raises(ValueError, match="t=4: must be at least 5"):
        made.turn(4, 3)


def test_a_refusal_changes_nothing():
    """A refused request of a far t must not make a client forget what she spent."""
    made = client()
    made.answer(request(0))
    for wrong in (request(10**6, 2.0), request(10**6), request(0, 2.0), request(0, 1.0, Question([0, 1]))):
        with pytest.raises(Refusal):
            made.answer(wrong)
    with pytest.raises(Refusal, match="window would spend"):
        made.answer(request(0, 1e-9))


@pytest.mark.parametrize("wrong", [Question([0, 1]), Question(np.arange(D + 1)), Question([0] * (D + 1))])
def test_whether_a_client_answers_does_not_tell_where_she_is(wrong):
    """A server that asks about fewer cells must not learn from a refusal whether hers is among them."""
    for cell in range(D):
        with pytest.raises(Refusal, match=f"{wrong.cells} cells: {D} were agreed upon"):
            client(cell).answer(request(0, 1e-9, wrong))


def test_a_ledger_survives_the_phone(tmp_path):
    path = tmp_path / "ledger.json"
    made = client(ledger=path)
    made.answer(request(0, 0.7))
    again = client(ledger=path)
    with pytest.raises(Refusal, match="window would spend"):
        again.answer(request(0, 0.4))
    again.turn(WINDOW - 1, 3)
    again.answer(request(WINDOW - 1, 0.3))
    with pytest.raises(ValueError, match=f"t=0: must be at least {WINDOW - 1}"):
        client(ledger=path)
    last = Client(7, D, EPSILON, WINDOW, ledger=path)
    last.turn(WINDOW, 3)
    with pytest.raises(Refusal, match="window would spend"):
        last.answer(request(WINDOW, 0.8))
    last.answer(request(WINDOW, 0.7))
    with pytest.raises(ValueError, match="kept on the terms"):
        Client(7, D, 2 * EPSILON, WINDOW, ledger=path)


def test_two_programs_on_one_ledger_spend_once(tmp_path):
    first, second = (client(ledger=tmp_path / "ledger.json") for _ in range(2))
    first.answer(request(0, 0.7))
    with pytest.raises(Refusal, match=r"the window would spend 1\.1 of 1"):
        second.answer(request(0, 0.4))
    second.answer(request(0, 0.3))
    first.turn(9, 3)
    first.answer(request(9, 0.1))
    # its clock is behind: what it holds is the cell of an earlier t, whatever it is asked for
    for t in (0, 9):
        with pytest.raises(Refusal, match=f"t={t}: it is t=0 here, and t=9 in her ledger"):
            second.answer(request(t, 1e-9))
    second.turn(9, 3)
    second.answer(request(9, 1e-9))


def test_a_turn_meanwhile_never_gives_the_next_cell_under_the_old_t(tmp_path, monkeypatch):
    """The clock and the cell are one value: who pays at t tells her cell at t."""
    made = client(ledger=tmp_path / "ledger.json")
    moving, write = [], made._write

    def slow(now, spent):
        moving.append(Thread(target=made.turn, args=(1, 0)))
        moving[0].start()
        moving[0].join(0.05)  # she moves while the phone writes
        write(now, spent)

    monkeypatch.setattr(made, "_write", slow)
    told = []
    monkeypatch.setattr(
        "mtsp_ldp.privacy.oracle.OUE.perturb",
        lambda self, cells, d, rng: told.append(cells) or np.zeros((1, d), bool),
    )
    made.answer(request(0))
    moving[0].join()
    assert told == [[3]]
    with pytest.raises(Refusal, match="t=0: it is t=1 here"):
        made.answer(request(0))


def test_a_ledger_that_was_put_back_is_damaged(tmp_path):
    path = tmp_path / "ledger.json"
    made = client(ledger=path)
    first = path.read_bytes()
    made.answer(request(0, 0.5))
    second = path.read_bytes()
    for older in (first, second.replace(b"0.5", b"0.25")):
        path.write_bytes(older)
        with pytest.raises(
            ValueError, match=r"no whole ledger \(it lacks what this client has spent up to t=0"
        ):
            made.answer(request(0, 0.5))
    path.unlink()
    with pytest.raises(ValueError, match="no such ledger; create=True makes one on first use"):
        made.answer(request(0, 0.5))
    path.write_bytes(second)
    made.answer(request(0, 0.5))


def test_a_ledger_is_made_on_first_use_only_and_is_hers(tmp_path):
    path = tmp_path / "ledger.json"
    with pytest.raises(ValueError, match="no such ledger; create=True makes one on first use"):
        Client(7, D, EPSILON, WINDOW, ledger=path)
    client(ledger=path).answer(request(0, 0.5))
    with pytest.raises(ValueError, match=r"kept on the terms \{'reporter': 7.*not \{'reporter': 8"):
        Client(8, D, EPSILON, WINDOW, ledger=path)
    again = client(ledger=path)  # create=True keeps one that is there
    with pytest.raises(Refusal, match="window would spend"):
        again.answer(request(0, 0.75))


def test_what_is_beyond_the_budget_is_refused_however_small():
    made = client()
    made.answer(request(0, EPSILON))
    for epsilon in (1e-12, 1e-17, 1e-100, 5e-324):
        with pytest.raises(Refusal, match="window would spend"):
            made.answer(request(0, epsilon))
    # shares of a window that sum to all of it fit, as the server rounds them
    division = BudgetDivision(0.3)
    made = Client(0, D, 0.3, WINDOW)
    for t, share in enumerate([FULL // 3, FULL // 3, FULL - 2 * (FULL // 3)]):
        made.turn(t, 1)
        made.answer(request(t, division.report_epsilon(share)))


@pytest.mark.parametrize(
    "kept",
    [
        "",
        "{",
        "{}",
        "[3]",
        '{"terms": {}, "now": 0, "spent": [[3]]}',
        '{"terms": {}, "now": 0, "spent": [[3, NaN]]}',
        '{"terms": {}, "now": 0, "spent": [[3, -100]]}',
        '{"terms": {}, "now": null, "spent": []}',
        '{"terms": {}, "now": 1.5, "spent": []}',
        '{"terms": {}, "now": true, "spent": []}',
        '{"terms": {}, "now": 3, "spent": [[9, 0.5]]}',
        '{"terms": {}, "now": 3, "spent": [[1.5, 0.5]]}',
        '{"terms": {}, "now": 3, "spent": [[1, true]]}',
        '{"terms": {}, "now": 3, "spent": {"1": 0.5}}',
        '{"terms": {}, "now": 3, "spent": [[1, 0.5, 2]]}',
        '{"now": 3, "spent": []}',
        "null",
        "\x00\x01",
    ],
)
def test_a_damaged_ledger_is_refused_by_name(tmp_path, kept):
    path = tmp_path / "ledger.json"
    path.write_text(kept)
    with pytest.raises(ValueError, match=rf"{path}: no whole ledger \(.*\); restore it"):
        Client(7, D, EPSILON, WINDOW, ledger=path)


def test_numbers_of_numpy_are_numbers(tmp_path):
    made = Client(
        7, np.int64(D), np.float64(EPSILON), np.int32(WINDOW), ledger=tmp_path / "ledger.json", create=True
    )
    made.turn(np.int64(3), np.int64(1))
    made.answer(request(3))
    again = Client(7, D, EPSILON, WINDOW, ledger=tmp_path / "ledger.json")
    again.turn(3, 1)
    with pytest.raises(Refusal, match="window would spend"):
        again.answer(request(3, 1e-9))


def test_what_does_not_fit_a_request_is_refused_before_anybody_is_asked():
    with pytest.raises(ValueError, match="d=70000: must be 1 to 65535 cells"):
        Server("lpu", 70_000, 5, epsilon=1.0, window=2, seed=0)
    server = Server("lpu", D, 5, epsilon=1.0, window=2, seed=0)
    with pytest.raises(ValueError, match="t=2147483648: must be at most 2147483647"):
        server.step(2**31, [0, 1], lambda requests: [])
    assert server.fleet.spent == 0


def test_what_is_spent_stands_in_the_ledger_before_the_report_exists(tmp_path):
    class Broken:
        def integers(self, *args, **kwargs):
            raise KeyboardInterrupt

    made = client(noise=Broken(), ledger=tmp_path / "ledger.json")
    with pytest.raises(KeyboardInterrupt):
        made.answer(request(0))
    with pytest.raises(Refusal, match="window would spend"):
        client(ledger=tmp_path / "ledger.json").answer(request(0, 1e-9))


@pytest.mark.parametrize("terms", [(0, 1.0, 5), (3, math.nan, 5), (3, 0.0, 5), (3, math.inf, 5), (3, 1.0, 0)])
def test_terms_that_bind_nobody_are_refused(terms):
    with pytest.raises(
        ValueError,
        match=r"(cells|window)=0: must be an integer, at least 1|epsilon=.*: must be a finite number above 0",
    ):
        Client(0, *terms)


def test_a_client_answers_with_the_operating_systems_noise():
    bits = np.array([Report.decode(client().answer(request())).bits for _ in range(3000)]).sum(axis=0)
    oracle = OUE(EPSILON)
    for cell, seen in enumerate(bits):
        chance = oracle.p if cell == 3 else oracle.q
        assert stats.binomtest(int(seen), 3000, chance).pvalue > 1e-5


class City:
    """Clients who walk, come and go, and the wire between them and a server."""

    def __init__(self, seed, users=USERS):
        rng = np.random.default_rng(seed)
        self.clients = [Client(i, D, EPSILON, WINDOW, np.random.default_rng([seed, i])) for i in range(users)]
        self.cells = rng.choice(D, (LENGTH, users), p=[0.4, 0.3, 0.15, 0.1, 0.05])
        self.there = rng.random((LENGTH, users)) < 0.8

    def turn(self, t):
        for number, made in enumerate(self.clients):
            made.turn(t, int(self.cells[t, number]) if self.there[t, number] else None)
        return np.flatnonzero(self.there[t])

    def deliver(self, requests):
        return [self.clients[number].answer(raw) for number, raw in requests.items()]

    @property
    def stream(self):
        t, user = np.nonzero(self.there)
        return Stream.from_panel(t, user, self.cells[t, user], D)


@pytest.mark.parametrize("name", NAMES)
def test_every_mechanism_runs_over_clients_who_never_refuse(name):
    city = City(1)
    server = Server(name, D, USERS, epsilon=EPSILON, window=WINDOW, seed=3)
    for t in range(LENGTH):
        released = server.step(t, city.turn(t), city.deliver)
        assert released.shape == (D,)
        assert np.isfinite(released).all()
    assert server.fleet.rejected == {}


@pytest.mark.parametrize("name", ["lbu", "lpa", "mtsp_population"])
def test_the_protocol_and_the_simulation_agree_in_law(name):
    last = {"protocol": [], "simulation": []}
    city = City(2, users=60)
    stream = city.stream
    for seed in range(120):
        for number, made in enumerate(city.clients):
            made.__init__(number, D, EPSILON, WINDOW, np.random.default_rng([seed, number]))
        server = Server(name, D, 60, epsilon=EPSILON, window=WINDOW, seed=seed)
        for t in range(8):
            released = server.step(t, city.turn(t), city.deliver)
        last["protocol"].append(released)
        release = simulate(stream, name, epsilon=EPSILON, window=WINDOW, seed=seed)
        last["simulation"].append(release.frequencies[7])
    ours, theirs = (np.array(part) for part in last.values())
    for cell in range(D):
        assert stats.ks_2samp(ours[:, cell], theirs[:, cell]).pvalue > 0.01 / D / 3


def test_a_server_that_skips_or_loses_timestamps_keeps_the_clock_of_its_season(tmp_path):
    city, state = City(12), tmp_path / "server.npz"
    server = Server("mtsp_filter", D, USERS, epsilon=EPSILON, window=WINDOW, seed=3, period=5, state=state)

    def crash(requests):
        raise ConnectionError("the power is cut")

    for t in (0, 1, 2, 5, 6, 7, 9):
        active = city.turn(t)
        if t == 6:
            with pytest.raises(ConnectionError):
                server.step(t, active, crash)
            server = Server.restore(state)
            continue
        server.step(t, active, city.deliver)
        bank = server._session.mechanism._filter.bank
        assert np.array_equal(bank[-1].h, season(t, 5))


def test_bad_reports_are_counted_and_never_change_an_estimate():
    def hostile(city, clean):
        memory = []

        def deliver(requests):
            good = city.deliver(requests)
            if clean:
                return good
            number = next(iter(requests))
            answered = Report.decode(good[0])
            bad = [
                b"noise",
                good[0][:-1],
                good[0] + b"\0" * 50,
                good[0],
                Report(answered.t, answered.request, 10**6, answered.bits).encode(),
                Report(answered.t + 1, answered.request, number, answered.bits).encode(),
                Report(answered.t, answered.request ^ 1, number, answered.bits).encode(),
                good[0][:-1] + bytes([good[0][-1] | 1]),
                *memory,
            ]
            memory[:] = good[:1]
            return [*good, *bad]

        return deliver

    runs = []
    for clean in (True, False):
        city = City(5)
        server = Server("lpa", D, USERS, epsilon=EPSILON, window=WINDOW, seed=9)
        deliver = hostile(city, clean)
        runs.append([server.step(t, city.turn(t), deliver) for t in range(LENGTH)])
    assert np.array_equal(*runs)
    reasons = server.fleet.rejected
    assert {"malformed", "oversized", "duplicate", "not asked", "early", "late"} <= set(reasons)
    assert "missing" not in reasons


def test_silence_is_counted_and_survived():
    city = City(6)
    server = Server("lba", D, USERS, epsilon=EPSILON, window=WINDOW, seed=1)
    for t in range(LENGTH):
        silent = t in (4, 5, 9)
        released = server.step(t, city.turn(t), (lambda requests: []) if silent else city.deliver)
        assert np.isfinite(released).all()
    assert server.fleet.rejected["missing"] > 0


@pytest.mark.parametrize("name", ["lba", "lpd", "mtsp_budget", "mtsp_population"])
def test_lost_publications_are_spent_and_leave_the_comparison_its_half(name):
    """Where all reports of a publication get lost, the next one may not eat what comparisons need."""
    city, asked = City(10), {}

    def deliver(requests):
        t = Request.decode(next(iter(requests.values()))).t
        asked[t] = asked.get(t, 0) + 1
        answers = city.deliver(requests)
        return [] if asked[t] == 2 and t < 2 * WINDOW else answers

    server = Server(name, D, USERS, epsilon=EPSILON, window=WINDOW, seed=1)
    for t in range(LENGTH):
        server.step(t, city.turn(t), deliver)
    assert list(asked) == list(range(LENGTH))
    assert "request refused by the ledger" not in server.fleet.rejected
    assert 2 in asked.values()


def test_late_answers_to_a_comparison_are_none_to_a_publication():
    """Both may ask the same of the same users at one t; their reports are not to be mixed up."""
    city, earlier = City(11), {}

    def deliver(requests):
        t = Request.decode(next(iter(requests.values()))).t
        answers = city.deliver(requests)
        late = earlier.get(t, [])
        earlier.setdefault(t, answers)
        return [*late, *answers]

    server = Server("lba", D, USERS, epsilon=EPSILON, window=2, seed=1)
    for made in city.clients:
        made.__init__(made.reporter, D, EPSILON, 2, np.random.default_rng([3, made.reporter]))
    for t in range(LENGTH):
        server.step(t, city.turn(t), deliver)
    assert set(server.fleet.rejected) == {"not asked"}


@pytest.mark.parametrize("name", NAMES)
def test_a_crash_never_asks_a_user_twice_in_a_window(name, tmp_path):
    city, state = City(7), tmp_path / "state"
    server = Server(name, D, USERS, epsilon=EPSILON, window=WINDOW, seed=2, state=state)
    rng, crashes = np.random.default_rng(0), 0

    def fragile(requests):
        answers = city.deliver(requests)
        if rng.random() < 0.3:
            raise ConnectionError
        return answers

    for t in range(LENGTH):
        try:
            server.step(t, city.turn(t), fragile)
        except ConnectionError:
            crashes += 1
            server = Server.restore(state)
    # a client that were asked once too often would have raised a Refusal
    assert crashes > 2
    with pytest.raises(ValueError, match="must be above"):
        server.step(LENGTH - 2, [], city.deliver)


def test_a_restored_server_goes_on_as_if_nothing_had_happened(tmp_path):
    def publish(pause):
        city = City(8)
        server = Server("mtsp_population", D, USERS, epsilon=EPSILON, window=WINDOW, seed=4)
        out = []
        for t in range(LENGTH):
            if t == pause:
                server.save(tmp_path / "state")
                server = Server.restore(tmp_path / "state")
            out.append(server.step(t, city.turn(t), city.deliver))
        return np.array(out)

    assert np.array_equal(publish(None), publish(11))


def test_a_stream_runs_for_ever_in_constant_memory(tmp_path):
    sizes = []
    for name in ("lbd", "lpa", "mtsp_population"):
        city = City(9, users=40)
        server = Server(name, D, 40, epsilon=EPSILON, window=WINDOW, seed=4)
        for t in range(400):
            for number, made in enumerate(city.clients):
                made.turn(t, int(city.cells[t % LENGTH, number]))
            server.step(t, np.arange(40), city.deliver)
            if t in (100, 399):
                server.save(tmp_path / "state")
                sizes.append((tmp_path / "state").stat().st_size)
    for early, late in zip(sizes[::2], sizes[1::2], strict=True):
        assert late < early * 1.1
    assert math.isfinite(sum(sizes))


@pytest.mark.parametrize("option", [{"noise": "exact"}, {"oracle": "grr"}, {"initial": "uniform"}])
def test_a_server_takes_the_options_of_every_mechanism(option):
    server = Server("lpa", D, USERS, epsilon=EPSILON, window=WINDOW, seed=1, **option)
    city = City(12)
    published = [server.step(t, city.turn(t), city.deliver) for t in range(LENGTH)]
    assert np.isfinite(published).all()
    if "initial" in option:
        fresh = Server("lpa", D, USERS, epsilon=EPSILON, window=WINDOW, seed=1, **option)
        assert fresh.frequencies.tolist() == [1 / D] * D


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"presence": "private"}, "presence='private': must be public"),
        ({"noise": "loud"}, r"lpa\.noise='loud': must be one of paper, exact"),
        ({"phase": 0}, r"lpa\.phase: unknown key; allowed: minimum_share"),
        ({"epsilon": 0}, "epsilon=0: must be above 0"),
        ({"window": True}, "window=True: must be an integer"),
    ],
)
def test_a_server_names_a_wrong_parameter(wrong, words):
    with pytest.raises(ValueError, match=words):
        Server("lpa", D, USERS, **{"epsilon": EPSILON, "window": WINDOW, "seed": 1, **wrong})


def server_of(monkeypatch, step, state=None, **members):
    """A server of a mechanism that is nothing but a step."""
    own = Registration("own", type("Own", (Mechanism,), {"step": step, **members}), "population")
    monkeypatch.setattr(session, "find", lambda name: own)
    return Server("own", D, USERS, epsilon=EPSILON, window=WINDOW, seed=1, state=state)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (
            lambda spent: Step(np.full(D, np.nan), share_2=spent),
            "own: t=0: 5 of 5 values or variances are NaN",
        ),
        (lambda spent: Step(np.array([np.nan, 7.0]), share_2=spent), r"own: t=0: .* \(2,\) must be \(5,\)"),
        (lambda spent: Step(np.zeros(D)), "own: t=0: its Step states 0 of the window as spent; must be 0"),
        (lambda spent: None, r"own: t=0: step\(\) returned NoneType, expected a Step"),
    ],
)
def test_a_server_releases_nothing_that_is_not_checked(monkeypatch, wrong, words):
    def step(self, t, n, survey):
        return wrong(survey([CELLS], FULL // WINDOW).spent)

    server, city = server_of(monkeypatch, step), City(13)
    with pytest.raises(ValueError, match=words):
        server.step(0, city.turn(0), city.deliver)
    assert server.frequencies.tolist() == [0.0] * D


def test_a_state_is_numbers_and_arrays(monkeypatch, tmp_path):
    path = tmp_path / "state"
    server = Server("lbd", D, USERS, epsilon=EPSILON, window=WINDOW, seed=1, state=path)
    city = City(14)
    server.step(0, city.turn(0), city.deliver)
    with np.load(path, allow_pickle=False) as held:
        assert json.loads(held["json"].tobytes())["terms"]["mechanism"] == "lbd"
    for damage in (path.read_bytes()[:-30], b"", b"\x80\x05K\x03.", b"PK"):
        (tmp_path / "damaged").write_bytes(damage)
        with pytest.raises(ValueError, match="damaged: must be a"):
            Server.restore(tmp_path / "damaged")

    def start(self, setting):
        Mechanism.__init__(self, setting)
        self.choose = lambda t: t

    with pytest.raises(TypeError, match=r"Own\.choose: function: must be an array, a number"):
        server_of(monkeypatch, lambda self, t, n, survey: Step(), path, __init__=start)
    assert server_of(monkeypatch, lambda self, t, n, survey: Step(), None, __init__=start)


class Tally:
    """An object whose attributes change."""

    def __init__(self):
        self.seen = []

    def __repr__(self):
        return f"Tally({self.seen})"


def remembering(monkeypatch, remember, first, path):
    """A server of a mechanism that changes its attribute ``memory`` at each step."""

    def start(self, setting):
        Mechanism.__init__(self, setting)
        if first is not None:
            self.memory = first()

    def step(self, t, n, survey):
        self.memory = remember(getattr(self, "memory", None), t)
        return Step(share_2=survey([CELLS], FULL // WINDOW).spent)

    return server_of(monkeypatch, step, path, __init__=start)


@pytest.mark.parametrize(
    ("first", "remember"),
    [
        (dict, lambda memory, t: {**memory, t: (t, None)}),
        (list, lambda memory, t: [*memory, [t, [t]]]),
        (list, lambda memory, t: [*memory, {"t": deque([t], 3)}]),
        (Counter, lambda memory, t: Counter([*memory.elements(), t])),
        (lambda: None, lambda memory, t: [t]),
        (lambda: [0], lambda memory, t: {t: [t]}),
        (lambda: 0, lambda memory, t: {t: 1}),
        (lambda: {0: 1}, lambda memory, t: (t,)),
        (None, lambda memory, t: (t, np.float64(0.1))),
        (lambda: [Tally(), Tally()], lambda memory, t: [memory[t % 2].seen.append(t), memory][1]),
    ],
)
def test_what_is_restored_is_what_was_saved(monkeypatch, tmp_path, first, remember):
    server, city = remembering(monkeypatch, remember, first, tmp_path / "state"), City(15)
    for t in range(3):
        server.step(t, city.turn(t), city.deliver)
    saved = server._session.mechanism.memory
    restored = Server.restore(tmp_path / "state")._session.mechanism.memory
    assert type(restored) is type(saved)
    assert repr(restored) == repr(saved)


@pytest.mark.parametrize(
    "remember",
    [
        lambda memory, t: Question(np.arange(D)),
        lambda memory, t: Step(),
        lambda memory, t: [Tally()],
        lambda memory, t: {(t,): 1},
        lambda memory, t: {t},
        lambda memory, t: Counter([t]),
    ],
)
def test_what_cannot_be_restored_is_refused_when_it_is_saved(monkeypatch, tmp_path, remember):
    server, city = remembering(monkeypatch, remember, lambda: Tally(), tmp_path / "state"), City(16)
    with pytest.raises(TypeError, match=r"Own\.memory.*: must be an array, a number"):
        server.step(0, city.turn(0), city.deliver)


def test_numbers_of_numpy_are_restored_as_numbers(tmp_path):
    terms = {"epsilon": np.float64(EPSILON), "window": WINDOW, "seed": np.int64(1)}
    server, city = Server("lpu", D, np.int64(USERS), **terms, state=tmp_path / "state"), City(17)
    for t in np.arange(3):
        server.step(t, city.turn(int(t)), city.deliver)
    restored = Server.restore(tmp_path / "state")
    assert np.array_equal(restored.frequencies, server.frequencies)
    assert restored.step(3, city.turn(3), city.deliver).shape == (D,)
