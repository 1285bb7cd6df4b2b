"""The loop and the error policy: the only package that knows all stages."""

from sitemirror.engine.mirror import run_mirror
from sitemirror.engine.outline import run_list
from sitemirror.engine.session import Session, Stopped
from sitemirror.engine.where import where

__all__ = ["Session", "Stopped", "run_list", "run_mirror", "where"]
