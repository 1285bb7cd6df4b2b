"""Replace files outside of mirrors, whole or not at all. They are the user's: mode and symlinks stay."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from sitemirror.errors import OutputError
from sitemirror.text import printable


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file that takes the place of `path` when the block ends well, and vanishes otherwise."""
    real = Path(os.path.realpath(path))
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}.")
        temporary = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
            temporary.chmod(real.stat().st_mode & 0o777 if real.exists() else 0o666 & ~_umask())
            temporary.replace(real)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        message = f"cannot write {printable(str(path), limit=300)}: {error.strerror}"
        raise OutputError(message, hint="check the folder's permissions and the space on the disk") from None


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
