"""The files of a folder or of a zip, read one at a time; none is passed over without a word."""

from __future__ import annotations

import io
import zipfile
import zlib
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING

from karat.documents.text import shorten
from karat.errors import InvalidData

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST_BYTES = 100_000_000
"""Of all files of a zip together, unpacked."""
MOST_DIRECTORY = 5_000_000
"""Bytes of a zip's table of contents, which is read at once: some 50,000 files."""
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_ENCRYPTED = 1
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError)
"""What zipfile raises: NotImplementedError is its word for strong encryption and later versions of the format."""


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """A file wherever it lies: ``name`` is what its sender knows it by, with the folders it lies in."""

    name: str
    size: int
    opened: Callable[[], IO[bytes]]

    @property
    def path(self) -> PurePosixPath:
        return PurePosixPath(self.name)

    @property
    def ending(self) -> str:
        return self.path.suffix.lower()

    @contextmanager
    def open(self) -> Iterator[IO[bytes]]:
        """Give the bytes; what goes wrong while they are read is said of this file."""
        try:
            with self.opened() as stream:
                yield stream
        except _BROKEN as error:
            raise InvalidData(f"{self.name} cannot be read: {_reason(error)}.") from error


def files_of_folder(folder: Path) -> list[File]:
    """Return the files of a folder and of those in it."""
    paths = ((path, path.relative_to(folder).as_posix()) for path in sorted(folder.rglob("*")) if path.is_file())
    return [file_at(path, name=name) for path, name in paths if not _is_no_document(name)]


def file_at(path: Path, *, name: str) -> File:
    """Return a file of the disk under the name that its sender knows."""
    try:
        return File(name=name, size=path.stat().st_size, opened=lambda: path.open("rb"))
    except OSError as error:
        raise InvalidData(f"{name} cannot be read: {_reason(error)}.") from error


@contextmanager
def files_of_zip(path: Path, *, called: str) -> Iterator[list[File]]:
    """Give the files of a zip, in whatever folders; those that could be more than they seem are refused by name."""
    with _opened(path, called) as archive:
        wanted = sorted((each for each in archive.infolist() if not each.is_dir()), key=lambda each: each.filename)
        wanted = [each for each in wanted if not _is_no_document(each.filename)]
        total = sum(each.file_size for each in wanted)
        if total > MOST_BYTES:
            raise InvalidData(f"{called}: expected at most {MOST_BYTES:,} bytes once unpacked; it has {total:,}.")
        yield [_packed(archive, each, called) for each in wanted]


class _Bounded(io.FileIO):
    """A zip whose table of contents is refused, before it is held, where it is too long."""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > MOST_DIRECTORY:
            raise InvalidData(f"expected at most {MOST_DIRECTORY:,} bytes that name its files; it has {size:,}")
        return super().read(size) or b""


@contextmanager
def _opened(path: Path, called: str) -> Iterator[zipfile.ZipFile]:
    with ExitStack() as stack:
        try:
            archive = stack.enter_context(zipfile.ZipFile(stack.enter_context(_Bounded(path))))
        except UnicodeDecodeError as error:
            name = shorten(error.object.decode("utf-8", "backslashreplace"))
            raise InvalidData(f"{called} cannot be unpacked: the name '{name}' in it is not UTF-8.") from error
        except (*_BROKEN, InvalidData) as error:
            raise InvalidData(f"{called} cannot be unpacked: {_reason(error)}.") from error
        yield archive


def _packed(archive: zipfile.ZipFile, each: zipfile.ZipInfo, called: str) -> File:
    name = "".join(letter if letter.isprintable() else "\ufffd" for letter in each.filename.replace("\\", "/"))
    if each.compress_type not in _METHODS:
        raise InvalidData(f"{called}: {name} must be stored or packed by deflate; got method {each.compress_type}.")
    if each.flag_bits & _ENCRYPTED:
        raise InvalidData(f"{called}: {name} must be readable without a password.")
    return File(name=name, size=each.file_size, opened=lambda: archive.open(each))


def _is_no_document(name: str) -> bool:
    """Say whether macOS or brat put a file there for itself."""
    path = PurePosixPath(name)
    return "__MACOSX" in path.parts or path.name == ".DS_Store" or path.name.startswith("._") or path.suffix == ".conf"


def _reason(error: Exception) -> str:
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return said.rstrip(".") or type(error).__name__
