"""What only the scenarios need."""

from __future__ import annotations

from tests.spec.small_disk import small_disk

__all__ = ["small_disk"]
