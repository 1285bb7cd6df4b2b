"""A comparison as a picture: bars or a curve in SVG, readable on a light page and on a dark one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape

from bench.rounds import Spread, shown

_WIDTH: Final = 860
_LABELS: Final = 250  # the names' column
_FIGURES: Final = 150  # the column of numbers, right of the longest bar
_ROW: Final = 38
_BAR: Final = 20
_TOP: Final = 64

_STYLE: Final = """
  text { font: 14px system-ui, sans-serif; fill: #1f2328; }
  .title { font-size: 17px; font-weight: 600; }
  .small { font-size: 12px; fill: #59636e; }
  .figure { font-variant-numeric: tabular-nums; }
  .ours { fill: #1a7f64; } .peer { fill: #9aa5b1; } .line { stroke: #1f2328; stroke-width: 1.2; }
  .axis { stroke: #d1d9e0; } .curve { stroke: #1a7f64; stroke-width: 2; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; } .small { fill: #9198a1; }
    .ours { fill: #3fb68f; } .peer { fill: #5d6873; }
    .line { stroke: #f0f6fc; } .axis { stroke: #3d444d; } .curve { stroke: #3fb68f; }
  }
"""


@dataclass(frozen=True, slots=True)
class Bar:
    """One row: whose it is, what it does in a few words, and how much."""

    name: str
    note: str
    value: Spread
    style: str = "peer"


def bars(title: str, unit: str, rows: Sequence[Bar], footnotes: Sequence[str]) -> str:
    """The picture. A bar is the median, the line over it reaches from the least to the most."""
    longest = max(row.value.most for row in rows)
    scale = (_WIDTH - _LABELS - _FIGURES) / longest
    height = _TOP + _ROW * len(rows) + 18 * len(footnotes) + 24
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        f'role="img" aria-label="{escape(title, {chr(34): "&quot;"})}">',
        f"<style>{_STYLE}</style>",
        f'<text class="title" x="12" y="28">{escape(title)}</text>',
        f'<text class="small" x="12" y="48">{escape(unit)}</text>',
        f'<line class="axis" x1="{_LABELS}" y1="{_TOP - 6}" x2="{_LABELS}" y2="{_TOP + _ROW * len(rows)}"/>',
    ]
    for number, row in enumerate(rows):
        parts += _bar(row, _TOP + _ROW * number, scale)
    foot = _TOP + _ROW * len(rows) + 24
    for number, line in enumerate(footnotes):
        parts.append(f'<text class="small" x="12" y="{foot + 18 * number}">{escape(line)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def curve(title: str, across: str, points: Sequence[tuple[float, float]], footnotes: Sequence[str]) -> str:
    """Something that grows, or does not, from left to right; both scales begin at 0."""
    left, right, floor = 70, _WIDTH - 20, 300
    most, last = max(value for _, value in points) * 1.1, max(1.0, points[-1][0])
    height = floor + 50 + 18 * len(footnotes)

    def place(x: float, y: float) -> str:
        return f"{left + (right - left) * x / last:.1f},{floor - (floor - _TOP) * y / most:.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" '
        f'role="img" aria-label="{escape(title, {chr(34): "&quot;"})}">',
        f"<style>{_STYLE}</style>",
        f'<text class="title" x="12" y="28">{escape(title)}</text>',
        f'<polyline class="axis" fill="none" points="{left},{_TOP} {left},{floor} {right},{floor}"/>',
        f'<polyline class="curve" fill="none" points="{" ".join(place(x, y) for x, y in points)}"/>',
        f'<text class="small" x="{right}" y="{floor + 18}" text-anchor="end">{escape(across)}: {last:,.0f}</text>',
    ]
    step = next(size for size in (1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500, 1000, most) if most / size <= 6)
    for mark in range(int(most / step) + 1):
        y = floor - (floor - _TOP) * mark * step / most
        parts.append(f'<text class="small" x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{mark * step:,.0f}</text>')
    for number, line in enumerate(footnotes):
        parts.append(f'<text class="small" x="12" y="{floor + 48 + 18 * number}">{escape(line)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _bar(row: Bar, top: int, scale: float) -> list[str]:
    middle = top + _BAR / 2 + 2
    width = max(1.5, row.value.median * scale)
    least, most = _LABELS + row.value.least * scale, _LABELS + row.value.most * scale
    after = max(_LABELS + width, most) + 8
    return [
        f'<text x="{_LABELS - 10}" y="{middle + 1:g}" text-anchor="end">{escape(row.name)}</text>',
        f'<text class="small" x="{_LABELS - 10}" y="{middle + 15:g}" text-anchor="end">{escape(row.note)}</text>',
        f'<rect class="{row.style}" x="{_LABELS}" y="{top + 2}" width="{width:.1f}" height="{_BAR}" rx="2"/>',
        f'<line class="line" x1="{least:.1f}" y1="{middle:g}" x2="{most:.1f}" y2="{middle:g}"/>',
        f'<text class="figure" x="{after:.1f}" y="{middle + 5:g}">{shown(row.value.median)}</text>',
    ]
