"""What the files beside and around the records tell: users by the names of files, cells by a list of them."""

from dataclasses import dataclass, field
from pathlib import Path, PurePath

from mtsp_ldp.datasets.ingest.archive import COMPRESSED, matches, opened, whole
from mtsp_ldp.datasets.ingest.names import check_names


@dataclass(frozen=True)
class UsersOfPaths:
    """Users whose names are those of files, or of the folders that hold them.

    Attributes
    ----------
    kind
        ``file`` or ``folder``.
    folder
        Folder of the raw files, whose own name is nobody's.
    """

    kind: str = "file"
    folder: Path = Path()
    _places: dict[str, PurePath] = field(default_factory=dict)

    def of(self, name: str) -> str:
        """Find the user of a file.

        Raises
        ------
        ValueError
            If the file lies in a zip or in no folder of a user, or another place has a user of this name: the
            same name may be one person or two.
        """
        path, source = PurePath(name), f"{name}: user_from={self.kind}"
        if not any(Path(name + suffix).exists() for suffix in ("", *COMPRESSED)):
            raise ValueError(f"{source}: must not lie in a zip; unpack it")
        if self.kind == "folder" and path.parent == self.folder:
            raise ValueError(f"{source}: must lie in a folder, whose name is the user")
        user = path.parent.name if self.kind == "folder" else path.stem
        first = self._places.setdefault(user, path.parent)
        if first != path.parent:
            raise ValueError(f"{source}: {user!r} is there twice, in {first} too")
        return user


def names_in(files: list[Path], wanted: str, encoding: str) -> list[str]:
    """Read the names of cells from their file among the others, one a line.

    Raises
    ------
    ValueError
        If it is not there, or names no cell, or one twice.
    """
    found = {}
    for path in files:
        with whole(path.name):
            for name, file in opened(path, (wanted,)):
                if matches(name, (wanted,)):
                    found[name] = _names(name, file.read(), encoding)
    if len(found) > 1:
        raise ValueError(f"cells_file={wanted!r}: must be one file; there are {', '.join(found)}")
    for names in found.values():
        return names
    raise ValueError(f"cells_file={wanted!r}: must lie beside the other files")


def _names(name: str, content: bytes, encoding: str) -> list[str]:
    try:
        text = content.decode(encoding)
    except UnicodeError as error:
        raise ValueError(f"{name}: must be text in {encoding} ({error})") from None
    names = [line.strip() for line in text.removeprefix("\ufeff").split("\n") if line.strip()]
    if not names:
        raise ValueError(f"{name}: must name the cells, one a line")
    check_names(names, name)
    return names
