"""simulate: a mechanism on a stream, all repetitions, scored, at one or several epsilons and windows."""

from itertools import product
from pathlib import Path
from typing import Any

from mtsp_ldp.evaluation.runs import ANY, run_cell, write_cell
from mtsp_ldp.foundation.files import digest_file, digest_text
from mtsp_ldp.stages.entry import Config, stage
from mtsp_ldp.stages.prepared import path_of, prepared


@stage
def main(config: Config) -> None:
    """Simulate ``mechanism`` on ``dataset``; write the three files of ``output``, or print the scores.

    ``epsilon`` and ``window`` may be lists: then each cell has its own files, and ``output`` says with
    ``{epsilon}`` and ``{window}`` where they differ. The stream is read once.
    """
    mechanism = config["mechanism"]
    common = {key: config[key] for key in ("repetitions", "seed", "label")}
    cells = [
        {"epsilon": epsilon, "window": window, **common}
        for epsilon, window in product(_listed(config["epsilon"]), _listed(config["window"]))
    ]
    stems = [_stem(config["output"], cell) for cell in cells]
    if len(set(stems)) < len(cells) and config["output"] is not None:
        raise ValueError(f"output={config['output']!r}: with lists, {{epsilon}} and {{window}} in it")
    stream, stream_digest = prepared(config), digest_file(path_of(config))[:16]
    for stem, cell in zip(stems, cells, strict=True):
        scores, release = run_cell(stream, mechanism["name"], mechanism.get("options") or {}, **cell)
        if stem is None:
            print(scores.drop("dataset").write_csv())
            continue
        provenance = {
            "config_digest": digest_text(repr((mechanism, cell)))[:16],
            "code_digest": config["code"] or "by hand",
            "stream_digest": stream_digest,
            "replicate": str(stream.replicate),
        }
        write_cell(stem, scores, release, provenance)


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _stem(output: str | None, cell: Config) -> Path | None:
    if output is None:
        return None
    for key in ("epsilon", "window"):
        output = output.replace(f"{{{key}}}", ANY if cell[key] is None else str(cell[key]))
    return Path(output)


if __name__ == "__main__":
    main()
