"""prepare: make the canonical stream ``data/streams/<dataset>.parquet`` and its facts beside it."""

from pathlib import Path

from mtsp_ldp.datasets.base import configured, fate
from mtsp_ldp.stages.entry import Config, stage


@stage
def main(config: Config) -> None:
    """Prepare ``dataset`` from its raw files."""
    dataset = configured(config["dataset"])
    data = Path(config["data"])
    stream = dataset.prepare(data / "raw" / dataset.raw_name)
    stream.write(data / "streams" / f"{dataset.name}.parquet")
    print(f"{dataset.name}: T={stream.length}, d={stream.d}, {stream.users:,} users")
    if stream.facts.get("rows_by_reason"):
        print(fate(stream.facts))


if __name__ == "__main__":
    main()
