"""Reading the pictures of a resource pack, from a folder or a zip, with limits checked before anything is read."""

import lzma
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

TEXTURES = "assets/minecraft/textures/"
MAX_FILE_BYTES = 4 * 1024**2
MAX_PACK_BYTES = 64 * 1024**2
MAX_ZIP_ENTRIES = 200_000
_HELP = "give the folder or .zip that holds assets/minecraft/textures"


def read_pictures(path: str | Path, wanted: Iterable[str]) -> dict[str, bytes]:
    """Return the bytes of those wanted files that the pack has, by their path below its textures folder."""
    path = Path(path)
    if not path.exists():
        raise ValueError(f"resource pack: no such path {path}; {_HELP}")
    if path.is_dir():
        return _from_folder(path, wanted)
    if not zipfile.is_zipfile(path):
        if _begins_like_a_zip(path):
            raise ValueError(f"resource pack {path}: a zip that is cut short; download it again")
        raise ValueError(f"resource pack: {path} is neither a folder nor a zip; {_HELP}")
    return _from_zip(path, wanted)


def holds_any(path: str | Path, starts: tuple[str, ...]) -> bool:
    """Tell whether the names of any files of a pack, below its textures folder, start so; `read_pictures` first."""
    path = Path(path)
    if path.is_dir():
        root = _root_of_folder(path)
        return any(file.relative_to(root).as_posix().startswith(starts) for file in root.rglob("*.png"))
    with zipfile.ZipFile(path) as archive:
        names = [name for name in archive.namelist() if _is_inside(name)]
    root_name = _root_of_zip(path, names)
    return any(name.startswith(tuple(root_name + start for start in starts)) for name in names)


def _begins_like_a_zip(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(4) == b"PK\x03\x04"
    except OSError as error:
        raise ValueError(f"resource pack {path}: {error.strerror}; make it readable") from error


def _check_sizes(path: Path, bytes_by_name: dict[str, int]) -> None:
    for name, num_bytes in bytes_by_name.items():
        if num_bytes > MAX_FILE_BYTES:
            raise ValueError(
                f"resource pack {path}: {name} has {num_bytes} bytes, at most {MAX_FILE_BYTES} are read; remove it"
            )
    total = sum(bytes_by_name.values())
    if total > MAX_PACK_BYTES:
        raise ValueError(
            f"resource pack {path}: its pictures have {total} bytes, at most {MAX_PACK_BYTES} are read; "
            "use the pack's edition of a lower resolution"
        )


def _root_of_folder(path: Path) -> Path:
    roots = [path, *sorted(child for child in path.iterdir() if child.is_dir())]
    root = next((root / TEXTURES for root in roots if (root / TEXTURES).is_dir()), None)
    if root is None:
        raise ValueError(f"resource pack: {path} holds no {TEXTURES}; {_HELP}")
    return root


def _root_of_zip(path: Path, names: Iterable[str]) -> str:
    prefixes = {name.partition(TEXTURES)[0] for name in names if TEXTURES in name}
    if not prefixes:
        raise ValueError(f"resource pack: {path} holds no {TEXTURES}; {_HELP}")
    return min(prefixes, key=lambda prefix: (len(prefix), prefix)) + TEXTURES


def _from_folder(path: Path, wanted: Iterable[str]) -> dict[str, bytes]:
    root = _root_of_folder(path)
    # A link may lead out of the pack: such files are not part of it.
    inside = root.resolve()
    found = {name: root / name for name in wanted if (root / name).is_file()}
    found = {name: file for name, file in found.items() if file.resolve().is_relative_to(inside)}
    _check_sizes(path, {name: file.stat().st_size for name, file in found.items()})
    try:
        return {name: file.read_bytes() for name, file in found.items()}
    except OSError as error:
        raise ValueError(f"resource pack {path}: {error}; make its files readable") from error


# What zipfile raises on damaged, encrypted and exotic archives.
_ZIP_ERRORS = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, UnicodeDecodeError, RuntimeError, NotImplementedError, EOFError,
    OSError,
)  # fmt: skip


def _from_zip(path: Path, wanted: Iterable[str]) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(path) as archive:
            infos = {info.filename: info for info in archive.infolist() if _is_inside(info.filename)}
            if len(archive.infolist()) > MAX_ZIP_ENTRIES:
                raise ValueError(f"resource pack {path}: more than {MAX_ZIP_ENTRIES} entries; {_HELP}")
            root = _root_of_zip(path, infos)
            found = {name: infos[root + name] for name in wanted if root + name in infos}
            _check_sizes(path, {name: info.file_size for name, info in found.items()})
            return {name: _read_entry(archive, info, path) for name, info in found.items()}
    except _ZIP_ERRORS as error:
        raise ValueError(f"resource pack {path}: damaged or encrypted zip ({error}); download it again") from error


def _is_inside(name: str) -> bool:
    """Tell whether an entry's name is a plain path below the archive's root."""
    return not name.startswith("/") and "\\" not in name and ".." not in PurePosixPath(name).parts


def _read_entry(archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path) -> bytes:
    with archive.open(info) as stream:
        # The size in the directory may lie: never unpack more than it said.
        content = stream.read(info.file_size + 1)
    if len(content) > info.file_size:
        raise ValueError(f"resource pack {path}: {info.filename} is larger than the zip says; download it again")
    return content
