"""The report of a run that was stopped before its site had answered: what there is on disk is what there was before."""

from __future__ import annotations

from pathlib import Path

from sitemirror.engine.plan import Plan
from sitemirror.engine.profile import profile
from sitemirror.engine.session import Session
from sitemirror.publish.file_names import CONTENTS, MANIFEST, MIRROR_INDEX
from sitemirror.publish.manifest import ManifestHeader
from sitemirror.publish.report import MirrorReport, RunStatus
from sitemirror.store.paths import host_folder


def stopped_before_it_began(session: Session, start_url: str, plan: Plan) -> MirrorReport:
    """Tells of the mirror that is there, as its manifest does."""
    folder = session.settings.output / host_folder(start_url)
    manifest = folder / MANIFEST
    header = _header(manifest)

    def count(name: str) -> int:
        return max(0, getattr(header, name)) if header else 0  # The file may be anybody's.

    return MirrorReport(
        status=RunStatus.INTERRUPTED,
        command=plan.command,
        url=start_url,
        output_dir=str(folder),
        total_pages=count("total_pages"),
        successful=count("successful"),
        failed=count("failed"),
        skipped=count("skipped"),
        duplicates=count("duplicates"),
        not_reached=count("not_reached_count"),
        elapsed_sec=round(session.elapsed, 3),
        manifest=str(manifest) if header else None,
        index=_if_there(folder / CONTENTS),
        mirror_index=_if_there(folder / MIRROR_INDEX) if plan.index else None,
        warnings=tuple(session.warnings),
        profile=profile(session),
    )


def _header(manifest: Path) -> ManifestHeader | None:
    """What stands above the lists; they are not read."""
    from sitemirror.publish.manifest_reader import ManifestUnreadable, read_manifest

    try:
        first = None if manifest.is_symlink() else next(read_manifest(manifest), None)
    except (OSError, ManifestUnreadable):
        return None
    return first if isinstance(first, ManifestHeader) else None


def _if_there(path: Path) -> str | None:
    return str(path) if path.is_file() else None
