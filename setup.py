"""The build: the config of this repository travels in the wheel, as defaults; pyproject.toml has the rest."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class WithConfig(build_py):
    """Copy ``config`` into the package, unless it is installed in place."""

    def run(self) -> None:
        """Build, then copy."""
        super().run()
        if not self.editable_mode:
            shutil.copytree("config", Path(self.build_lib) / "mtsp_ldp" / "config", dirs_exist_ok=True)


setup(cmdclass={"build_py": WithConfig})
