"""The workflow on a real Slurm of one node, started here in a scratch folder, by both kinds of profile."""

import os
import shutil
import signal
import socket
import subprocess

import pytest

from clones import Background, copy, differences, results, run

pytestmark = pytest.mark.xdist_group("cluster")
PROGRAMS = ["munged", "slurmctld", "slurmd", "srun", "sbatch", "scontrol", "scancel"]
SMALL = ["dataset=[log]", "mechanism=[zero,lpa]", "batch=[epsilon,window]"]
CONF = """
ClusterName=scratch
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={daemon}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
MpiDefault=none
MinJobAge=300
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmdParameters=config_overrides
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def settle(folder):
    """Write what the three daemons need; the environment that finds them."""
    for name in ("state", "spool", "bin"):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o600)
    controller, daemon = free_ports(2)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    conf = folder / "slurm.conf"
    conf.write_text(
        CONF.format(
            folder=folder,
            host=socket.gethostname().partition(".")[0],
            controller=controller,
            daemon=daemon,
            cpus=os.cpu_count(),
            memory=memory,
        )
    )
    # the plugin's job step forgets where a cluster outside /etc is configured
    srun = folder / "bin" / "srun"
    srun.write_text(f'#!/bin/sh\nSLURM_CONF={conf} exec {shutil.which("srun")} "$@"\n')
    srun.chmod(0o755)
    return {"SLURM_CONF": str(conf), "PATH": f"{srun.parent}:{os.environ['PATH']}"}


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    """The environment of a running cluster; its daemons end with the tests."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing or os.geteuid() != 0:
        pytest.skip(f"no Slurm here: {', '.join(missing) or 'not root'}")
    folder = tmp_path_factory.mktemp("slurm")
    given = settle(folder)
    munge = [f"--{name}-file={folder}/munge.{name}" for name in ("key", "pid", "log", "seed")]
    # it comes back when it is ready
    subprocess.run(["munged", "--force", f"--socket={folder}/munge.socket", *munge], timeout=60, check=True)
    started = []
    try:
        for name, ready in (("slurmctld", "Running as primary controller"), ("slurmd", "started")):
            daemon = Background(name, "-D", env={**os.environ, **given})
            started.append(daemon)
            assert daemon.await_lines(ready, timeout=60), daemon.finish()
        # comes back once the node takes jobs
        subprocess.run(["srun", "--mem=10", "true"], env={**os.environ, **given}, timeout=60, check=True)
        yield given
    finally:
        for daemon in reversed(started):
            daemon.process.terminate()
            daemon.finish(timeout=30)
        os.kill(int((folder / "munge.pid").read_text()), signal.SIGTERM)


def through(profile, folder, slurm, *arguments):
    done = run(folder, "--profile", f"profiles/{profile}", *arguments, **slurm)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    return done.stdout + done.stderr


QUICK = ["--jobs", "4", "--latency-wait", "10", "--seconds-between-status-checks", "1"]
WITHOUT_ACCOUNTING = ["--slurm-no-account", "--slurm-status-command", "squeue"]
SOON = ["--slurm-init-seconds-before-status-checks", "6"]  # and then ten seconds later each time
EXECUTORS = [("slurm", [*WITHOUT_ACCOUNTING, *SOON]), ("generic", [])]


@pytest.mark.parametrize(("profile", "flags"), EXECUTORS)
def test_a_cluster_gives_the_bytes_of_a_local_run(slurm, reference, tmp_path, profile, flags):
    folder = copy(tmp_path / "a cluster's folder")
    given = ["data/summaries/smoke.parquet", *QUICK, *flags, "--config", "experiment=smoke", *SMALL]
    said = through(profile, folder, slurm, *given)
    assert "external jobid" in said or "SLURM jobid" in said
    made = results(folder).items()
    here = {name: held for name, held in made if name.startswith(("data/streams", "data/runs"))}
    there = results(reference[0])
    assert len(here) == 2 + 3 * (1 + 2)
    assert [name for name in here if here[name] != there[name]] == []


@pytest.mark.slow
def test_the_whole_of_smoke_on_a_cluster(slurm, reference, tmp_path):
    folder = copy(tmp_path / "whole")
    profile, flags = EXECUTORS[0]
    given = ["--config", "experiment=smoke", "batch=[epsilon,window]"]
    said = through(profile, folder, slurm, *QUICK, *flags, *given)
    assert f"the report is {folder}/reports/smoke/index.html" in said
    assert differences(results(reference[0]), results(folder)) == []


@pytest.mark.slow
def test_a_job_that_the_scheduler_kills_is_tried_again(slurm, tmp_path):
    folder = copy(tmp_path / "killed")
    source = folder / "src/mtsp_ldp/mechanisms/absorption.py"
    marker = folder / "once"
    stumble = f"""
import os, pathlib, signal, sys
_once = pathlib.Path({str(marker)!r})
if not _once.exists() and any("stages.simulate" in word for word in sys.orig_argv):
    _once.touch()
    os.system("scancel --signal=KILL " + os.environ["SLURM_JOB_ID"])
    signal.pause()
"""
    source.write_text(source.read_text() + stumble)
    profile, flags = EXECUTORS[0]
    said = through(profile, folder, slurm, *QUICK, *flags, "--config", "experiment=smoke", *SMALL)
    assert marker.exists()
    assert "Trying to restart job" in said
