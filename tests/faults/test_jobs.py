"""A job that raises: where its traceback is, and what the end of the run says."""

import pytest


@pytest.mark.parametrize("flags", [(), ("--keep-going",)], ids=["plain", "keep going"])
def test_a_fault_of_the_program_is_in_the_log_and_the_end_names_the_log(trial, flags):
    source = trial.folder / "src/mtsp_ldp/mechanisms/absorption.py"
    sound = source.read_text()
    line = "    def record(self, t: int, share: Units) -> None:\n"
    faulty = sound.replace(line, line + "        raise KeyError('no such thing')\n")
    assert faulty != sound
    source.write_text(faulty)
    code, said = trial.run(*flags)
    assert code != 0
    # which of the two jobs fails first is the scheduler's choice, and the plain command starts none after it
    logs = [f"logs/smoke/simulate/log/lpa/epsilon=1.0_window={window}.log" for window in (10, 20)]
    failed = {log: (trial.folder / log).read_text() for log in logs if (trial.folder / log).exists()}
    assert len(failed) == 2 if flags else failed
    *_, end = said.partition("Exiting because a job execution failed")
    assert "Traceback" not in end
    for log, text in failed.items():
        assert f"smoke: {log} ends with: KeyError: 'no such thing'" in end
        assert "Traceback" in text
        assert "absorption.py" in text
    source.write_text(sound)
    trial.completes()
