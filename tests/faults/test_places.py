"""Odd surroundings: locales, clocks, folders, other runs, other workflows around this one."""

import os

import pytest

from clones import Background, command, differences, environment, results, run

ODD = {
    "locale": {"LC_ALL": "C", "LANG": None, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    "zone": {"TZ": "Pacific/Chatham"},  # 12:45 or 13:45 ahead
    "no home": {"HOME": None, "XDG_CACHE_HOME": None, "MPLCONFIGDIR": None},
    "a home that is not there": {"HOME": "/nonexistent/home", "XDG_CACHE_HOME": None, "MPLCONFIGDIR": None},
}
ALL = {name: value for variables in ODD.values() for name, value in variables.items()}


def test_all_odd_surroundings_at_once(trial, tmp_path):
    """Odd variables, a umask that shuts others out, and odd folders for the clone and for the results."""
    clone = trial.folder.rename(tmp_path / 'it\'s a "clone"')
    trial.folder = tmp_path / "my other 'folder'"
    trial.folder.mkdir()
    given = ["-s", str(clone / "Snakefile"), "--directory", str(trial.folder)]
    variables = {name: value for odd in ODD.values() for name, value in odd.items()}
    background = Background(
        "sh",
        "-c",
        'umask 077; exec "$@"',
        "sh",
        *command(*trial.arguments(*given)),
        cwd=tmp_path,
        env=environment(clone, **variables),
    )
    code, said = background.finish()
    assert code == 0, said[-3000:]
    trial.is_whole()
    assert f"the report is {trial.folder}/reports/smoke/index.html" in said
    assert not (clone / "data").exists()
    assert (trial.folder / "data/streams/log.parquet").stat().st_mode & 0o077 == 0


@pytest.mark.slow
@pytest.mark.parametrize("variables", ODD.values(), ids=ODD.keys())
def test_each_odd_surrounding(whole, variables):
    code, said = whole.run(**variables)
    assert code == 0, said[-3000:]
    whole.is_whole()


MODULE = """
module mtsp_ldp:
    snakefile:
        {snakefile!r}
    config:
        {config!r}


use rule * from mtsp_ldp as mtsp_*


rule mine:
    default_target: True
    input:
        "reports/smoke/index.html",
    output:
        "mine.txt",
    shell:
        "wc -c < {{input:q}} > {{output}}"
"""


@pytest.mark.slow
def test_a_module_of_another_workflow(trial, tmp_path):
    mine = tmp_path / "my workflow"
    mine.mkdir()
    config = {
        "experiment": "smoke",
        "dataset": ["log"],
        "mechanism": ["zero", "lpa"],
        "repetitions": 1,
        "figures": ["budget", "busiest"],
    }
    snakefile = str(trial.folder / "Snakefile")
    (mine / "Snakefile").write_text(MODULE.format(snakefile=snakefile, config=config))
    done = run(mine, "--cores", "2", PYTHONPATH=str(trial.folder / "src"))
    assert done.returncode == 0, done.stderr[-3000:]
    assert differences(results(mine), trial.undisturbed) == []
    page = (mine / "reports/smoke/index.html").stat().st_size
    assert int((mine / "mine.txt").read_text()) == page


def test_two_at_once_in_one_folder(trial):
    first = trial.start()
    assert first.await_lines("localrule fetch"), first.finish()
    code, said = trial.run()
    assert code != 0
    assert "cannot be locked" in said
    assert "Traceback" not in said
    code, said = first.finish()
    assert code == 0, said[-3000:]
    trial.is_whole()


def date_all(folder, seconds):
    """Date what is there so far ahead: the clock was right then, and is set back now."""
    for path in folder.rglob("*"):
        ahead = path.stat().st_mtime + seconds
        os.utime(path, (ahead, ahead))


def test_a_clock_that_is_set_back(trial):
    """By two days, in the midst of a run, and left so."""
    background = trial.start()
    assert background.await_lines("rule simulate"), background.finish()
    date_all(trial.folder / "data", 2 * 86_400)
    code, said = background.finish()
    assert code == 0 or "could indicate a clock skew" in said, said[-3000:]
    trial.completes()


@pytest.mark.slow
def test_a_clock_that_is_set_back_between_two_runs(done):
    date_all(done.folder, 2 * 86_400)
    (done.folder / "data/summaries/smoke.parquet").unlink()
    done.completes()
