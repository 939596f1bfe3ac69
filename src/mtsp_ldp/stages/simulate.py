"""simulate: a mechanism on a stream, all repetitions, scored, at one or several epsilons and windows."""

from itertools import product
from pathlib import Path
from typing import Any

from mtsp_ldp.evaluation.runs import RunFiles, run_cell, write_run
from mtsp_ldp.experiments.layout import cell_name
from mtsp_ldp.foundation.files import digest_file, digest_text
from mtsp_ldp.stages.entry import Config, stage
from mtsp_ldp.stages.inputs import load_prepared_stream, stream_path


@stage
def main(config: Config) -> None:
    """Simulate ``mechanism`` on ``dataset``; write three files a cell into ``output``, or print the scores.

    ``epsilon`` and ``window`` may be lists; the stream is read once. The files are called
    ``epsilon=…_window=….parquet``, ``.release.parquet`` and ``.trace.parquet``.
    """
    mechanism = config["mechanism"]
    common = {key: config[key] for key in ("repetitions", "seed", "label")}
    stream, stream_digest = load_prepared_stream(config), digest_file(stream_path(config))[:16]
    for epsilon, window in product(_several(config["epsilon"]), _several(config["window"])):
        cell = {"epsilon": epsilon, "window": window, **common}
        scores, release = run_cell(stream, mechanism["name"], mechanism.get("options") or {}, **cell)
        if config["output"] is None:
            print(scores.drop("dataset").write_csv())
            continue
        provenance = {
            "config_digest": digest_text(repr((mechanism, cell)))[:16],
            "code_digest": config["code"] or "by hand",
            "stream_digest": stream_digest,
            "replicate": str(stream.replicate),
        }
        files = RunFiles(str(Path(config["output"]) / cell_name(epsilon, window)))
        write_run(files, scores, release, provenance)


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


if __name__ == "__main__":
    main()
