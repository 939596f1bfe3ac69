"""fetch: put the raw files of a data set into ``data/raw/<dataset>``, with a receipt."""

import json
from pathlib import Path

from mtsp_ldp.datasets.base import configured
from mtsp_ldp.datasets.source import Permission
from mtsp_ldp.experiments.layout import Layout
from mtsp_ldp.foundation.files import atomic_write
from mtsp_ldp.stages.entry import Config, stage


@stage
def main(config: Config) -> None:
    """Fetch ``dataset``."""
    dataset = configured(config["dataset"])
    layout = Layout.of(config)
    folder = Path(layout.raw(dataset.raw_name))
    folder.mkdir(parents=True, exist_ok=True)
    receipt = dataset.fetch(folder, Permission.of(config))
    with atomic_write(layout.receipt(dataset.raw_name)) as partial:
        partial.write_text(json.dumps(receipt, indent=1) + "\n")


if __name__ == "__main__":
    main()
