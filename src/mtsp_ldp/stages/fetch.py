"""fetch: bring the raw files of a data set into ``data/raw/<dataset>``, with a receipt."""

import json
from pathlib import Path

from mtsp_ldp.datasets.base import configured
from mtsp_ldp.datasets.source import Permission
from mtsp_ldp.foundation.files import atomic_write
from mtsp_ldp.stages.entry import Config, stage


@stage
def main(config: Config) -> None:
    """Fetch ``dataset``."""
    dataset = configured(config["dataset"])
    folder = Path(config["data"]) / "raw" / dataset.raw_name
    folder.mkdir(parents=True, exist_ok=True)
    receipt = dataset.fetch(folder, Permission.of(config))
    with atomic_write(folder / "receipt.json") as partial:
        partial.write_text(json.dumps(receipt, indent=1) + "\n")


if __name__ == "__main__":
    main()
