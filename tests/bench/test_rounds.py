"""Taking turns: the order changes, ratios are taken within a round, and who fails is left out by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench import chart
from bench.processes import Sample
from bench.program import DidNotWork, Ended
from bench.rounds import Outcome, Spread, take_turns


def ended(seconds: float, *, peak: float = 10.0) -> Ended:
    return Ended(0.0, seconds, seconds / 2, peak, (Sample(0.0, peak), Sample(1.0, peak / 2)), b"")


def taking(name: str, seconds: list[float], order: list[str]) -> Callable[[Path], Outcome]:
    """A contender that takes so long in each round, and puts its name down."""
    left = iter(seconds)

    def run(out: Path) -> Outcome:
        assert not list(out.iterdir())
        (out / "page").write_text("saved")
        order.append(name)
        took = next(left)
        return Outcome(100, took, ended(took))

    return run


def failing(out: Path) -> Outcome:
    raise DidNotWork("it did not save 3 of 9 pages\nand said much more")


def test_each_round_begins_with_another() -> None:
    """Nobody always runs first, and each finds an empty folder."""
    order: list[str] = []
    contenders = {name: taking(name, [1, 1, 1], order) for name in "abc"}
    take_turns(contenders, 3, ours=("a",))
    assert "".join(order) == "abcbcacab"


def test_ratios_are_taken_within_a_round() -> None:
    """When the machine halves its speed for a round, the ratio does not care."""
    order: list[str] = []
    contenders = {"ours": taking("ours", [1, 10, 1], order), "peer": taking("peer", [3, 30, 4], order)}
    done = take_turns(contenders, 3, ours=("ours",))
    assert done.faster("ours", "peer") == Spread(3.0, 3.0, 4.0)
    assert done.rates("ours") == Spread(100.0, 10.0, 100.0)
    assert done.memory("peer") == 10.0
    assert done.cpu("ours") == 5.0


def test_a_peer_that_fails_is_left_out_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    """The others go on, and the reason is kept."""
    done = take_turns({"ours": taking("ours", [1, 1], []), "peer": failing}, 2, ours=("ours",))
    assert list(done.outcomes) == ["ours"]
    assert done.left_out == {"peer": "it did not save 3 of 9 pages"}
    assert capsys.readouterr().err.count("peer is left out") == 1


def test_that_we_fail_is_an_error() -> None:
    """There is nothing to compare then."""
    with pytest.raises(DidNotWork):
        take_turns({"ours": failing}, 1, ours=("ours",))


def test_pictures_are_well_formed_whatever_the_names() -> None:
    """Every bar has its name, its figure and a length in proportion."""
    rows = [
        chart.Bar("<ours & more>", 'with "quotes"', Spread(200, 150, 250), "ours"),
        chart.Bar("b", "", Spread(50, 50, 50)),
    ]
    root = ElementTree.fromstring(chart.bars('A "title" & more', "pages <a second>", rows, ["one", "two"]))
    rectangles = [item for item in root.iter() if item.tag.endswith("rect")]
    assert float(rectangles[0].attrib["width"]) == pytest.approx(4 * float(rectangles[1].attrib["width"]), rel=0.01)
    texts = [item.text for item in root.iter() if item.tag.endswith("text")]
    assert {"<ours & more>", "200", "50.0", "one", "two"} <= set(texts)
    ElementTree.fromstring(chart.curve("<memory>", "pages", [(0.0, 1.0), (10.0, 71.0)], ["<note>"]))
