"""prepare: make the canonical stream ``data/streams/<dataset>.parquet`` and its facts beside it."""

from dataclasses import replace
from pathlib import Path

from mtsp_ldp.datasets.base import configured
from mtsp_ldp.experiments.layout import Layout
from mtsp_ldp.stages.entry import Config, stage
from mtsp_ldp.stages.inputs import dataset_config_digest, stream_path
from mtsp_ldp.streams.doubts import doubts


@stage
def main(config: Config) -> None:
    """Prepare ``dataset`` from its raw files."""
    dataset = configured(config["dataset"])
    folder = Path(Layout.of(config).raw(dataset.raw_name))
    stream = dataset.prepare(folder)
    stream.facts = replace(stream.facts, config=dataset_config_digest(config["dataset"]))
    stream.write(stream_path(config))
    print(f"{dataset.name}: T={stream.length}, d={stream.d}, {stream.users:,} users")
    if stream.facts.rows:
        print(stream.facts.describe_drops())
    for doubt in [*doubts(stream.described()), *dataset.doubts(folder)]:
        print(f"WARNING: {doubt}")


if __name__ == "__main__":
    main()
