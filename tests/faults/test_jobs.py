"""A job that raises: where its traceback is, and what the end of the run says."""


def test_a_fault_of_the_program_is_in_the_log_and_the_end_names_the_log(trial):
    source = trial.folder / "src/mtsp_ldp/mechanisms/absorption.py"
    sound = source.read_text()
    line = "    def record(self, t: int, share: int) -> None:\n"
    faulty = sound.replace(line, line + "        raise KeyError('no such thing')\n")
    assert faulty != sound
    source.write_text(faulty)
    code, said = trial.run()
    assert code != 0
    log = "logs/smoke/simulate/log/lpa/epsilon=1.0_window=20.log"
    *_, end = said.partition("Exiting because a job execution failed")
    assert f"smoke: {log} ends with: KeyError: 'no such thing'" in end
    assert "Traceback" not in end
    traceback = (trial.folder / log).read_text()
    assert "Traceback" in traceback
    assert "absorption.py" in traceback
    source.write_text(sound)
    trial.completes()
