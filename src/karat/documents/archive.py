"""Unpack a zip of text files: nothing outside the folder, and no more than it may hold."""

from __future__ import annotations

import shutil
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from karat.errors import InvalidData

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_FILES = 200_000
MOST_BYTES = 400_000_000
"""Of all files together, unpacked."""


def unpack(path: Path, folder: Path, *, endings: Sequence[str]) -> None:
    """Put the files with these endings into a folder, whatever folders they lie in; others are passed over."""
    try:
        with zipfile.ZipFile(path) as archive:
            if len(archive.infolist()) > MOST_FILES:
                raise InvalidData(f"{path.name}: expected at most {MOST_FILES:,} files; it has more.")
            wanted = [each for each in archive.infolist() if _is_wanted(each.filename, endings)]
            if sum(each.file_size for each in wanted) > MOST_BYTES:
                raise InvalidData(f"{path.name}: expected at most {MOST_BYTES:,} bytes once unpacked; it has more.")
            for each in wanted:
                target = folder / PurePosixPath(each.filename).name
                if target.exists():
                    raise InvalidData(f"{path.name}: {target.name!r} is in it twice, in two folders.")
                with archive.open(each) as packed, target.open("wb") as stream:
                    shutil.copyfileobj(packed, stream)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, OSError) as error:
        reason = str(error).replace(str(folder), "").rstrip(".") or type(error).__name__
        raise InvalidData(f"{path.name} cannot be unpacked: {reason}.") from error


def _is_wanted(name: str, endings: Sequence[str]) -> bool:
    place = PurePosixPath(name)
    hidden = any(part.startswith((".", "__MACOSX")) for part in place.parts)
    return not name.endswith("/") and not hidden and place.suffix in endings
