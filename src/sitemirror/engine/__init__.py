"""The loop and the error policy: the only package that knows all stages."""

from sitemirror.engine.mirror import run_crawl, run_mirror
from sitemirror.engine.outline import run_list
from sitemirror.engine.session import Session, Stopped
from sitemirror.engine.verify import verify
from sitemirror.engine.where import where

__all__ = ["Session", "Stopped", "run_crawl", "run_list", "run_mirror", "verify", "where"]
