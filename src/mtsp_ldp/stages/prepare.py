"""prepare: make the canonical stream ``data/streams/<dataset>.parquet`` and its facts beside it."""

from pathlib import Path

from mtsp_ldp.datasets.base import configured, fate
from mtsp_ldp.stages.entry import Config, stage
from mtsp_ldp.stages.prepared import made_of, path_of


@stage
def main(config: Config) -> None:
    """Prepare ``dataset`` from its raw files."""
    dataset = configured(config["dataset"])
    stream = dataset.prepare(Path(config["data"]) / "raw" / dataset.raw_name)
    stream.facts["config"] = made_of(config["dataset"])
    stream.write(path_of(config))
    print(f"{dataset.name}: T={stream.length}, d={stream.d}, {stream.users:,} users")
    if stream.facts.get("rows_by_reason"):
        print(fate(stream.facts))


if __name__ == "__main__":
    main()
