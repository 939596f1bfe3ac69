"""simulate: all repetitions of one mechanism at one epsilon and window on one stream, scored."""

from pathlib import Path

from mtsp_ldp.files import digest_file, digest_text
from mtsp_ldp.runs import run_cell, write_cell
from mtsp_ldp.stages.entry import Config, stage
from mtsp_ldp.stream import Stream


@stage
def main(config: Config) -> None:
    """Simulate ``mechanism`` on ``dataset``; write the three files of ``output``, or print the scores."""
    name, mechanism = config["dataset"]["name"], config["mechanism"]
    path = Path(config["data"]) / "streams" / f"{name}.parquet"
    stream = Stream.read(path)
    given = {key: config[key] for key in ("epsilon", "window", "repetitions", "seed", "label")}
    options = mechanism.get("options") or {}
    scores, release = run_cell(stream, mechanism["name"], options, **given)
    if config["output"] is None:
        print(scores.drop("dataset").write_csv())
        return
    provenance = {
        "config_digest": digest_text(repr((mechanism, given)))[:16],
        "code_digest": config["code"] or "by hand",
        "stream_digest": digest_file(path)[:16],
        "replicate": str(stream.replicate),
    }
    write_cell(Path(config["output"]), scores, release, provenance)


if __name__ == "__main__":
    main()
