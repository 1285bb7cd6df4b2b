"""File names are UTF-8, whatever the locale says: a mirror made under one has to be the same under the next.

Python takes the encoding of file names from the locale when it starts, and for good. Under ISO-8859-1 the names of most
of the world's pages could not be written at all. It is not so under the C locale, where Python itself uses UTF-8.
"""

from __future__ import annotations

import os
import sys


def speak_utf8() -> None:
    """Starts the program again in Python's UTF-8 mode, if it needs that. It hardly ever does."""
    if os.name != "posix" or sys.getfilesystemencoding() == "utf-8":
        return
    if "utf8" in sys._xoptions or not sys.executable:  # asked for by hand, or by us a moment ago
        return
    # The workers are to agree with us about names, and only the environment reaches them.
    environment = {**os.environ, "PYTHONUTF8": "1"}
    try:
        os.execve(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]], environment)  # noqa: S606
    except OSError:
        pass  # Then the locale decides, and a page whose name cannot be written fails with that reason.
