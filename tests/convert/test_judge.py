"""The model that judges blocks: all at once gives what one by one would."""

from __future__ import annotations

from random import Random

import pytest

from sitemirror.convert.content.model import DecisionTree, Lexicon, Model, load_model, probability, read_model

COLUMNS = ("one", "two", "three")
OF_PAGE = ("page_one", "hint_two")


def made(random: Random, trees: int, depth: int, most: int) -> Model:
    """A model with questions and leaves at random."""
    questions = tuple((random.choice(COLUMNS + OF_PAGE), random.randrange(255)) for _ in range(30))
    return Model(
        lexicon=Lexicon(),
        questions=questions,
        trees=tuple(
            DecisionTree(
                tuple(random.sample(range(len(questions)), depth)),
                bytes(random.randrange(1, most + 1) for _ in range(1 << depth)).ljust(256, b"\0"),
            )
            for _ in range(trees)
        ),
        start=-2.5,
        step=0.01,
    )


def one_by_one(judge: Model, columns: dict[str, bytes], page: dict[str, int], blocks: int) -> list[float]:
    """What each block's own answers lead to in each tree, added up."""
    expected = []
    for block in range(blocks):
        total = 0
        for tree in judge.trees:
            leaf = 0
            for bit, question in enumerate(tree.questions):
                name, number = judge.questions[question]
                leaf |= ((page[name] if name in page else columns[name][block]) > number) << bit
            total += tree.leaves[leaf]
        expected.append(judge.start + judge.step * total)
    return expected


@pytest.mark.parametrize("blocks", [1, 2, 3, 50, 257])
@pytest.mark.parametrize("depth", [1, 3, 6, 8])
@pytest.mark.parametrize("most", [20, 255])
def test_batch_equals_single_blocks(blocks: int, depth: int, most: int) -> None:
    """Each block gets the sum of the leaves that its own answers lead to, however many blocks there are."""
    random = Random(blocks * 100 + depth)
    judge = made(random, trees=40, depth=depth, most=most)
    columns = {name: random.randbytes(blocks) for name in COLUMNS}
    page = {name: random.randrange(256) for name in OF_PAGE}
    assert judge.odds(columns, page, blocks) == pytest.approx(one_by_one(judge, columns, page, blocks))


def test_pages_do_not_affect_each_other() -> None:
    """Nothing is left of the pages before, however many there were, and no number is over itself."""
    random = Random(7)
    judge = made(random, trees=20, depth=6, most=100)
    columns = {name: random.randbytes(5) for name in COLUMNS}
    for number in [*range(256), *range(0, 256, 3)]:
        page = {OF_PAGE[0]: number, OF_PAGE[1]: number * 7 % 256}
        assert judge.odds(columns, page, 5) == pytest.approx(one_by_one(judge, columns, page, 5))


def test_probabilities_grow_with_the_odds() -> None:
    """Even odds are one half; far away nothing changes any more."""
    assert probability(0) == 0.5
    assert probability(-100) < probability(-1) < probability(1) < probability(100)
    assert probability(2.0) == pytest.approx(0.8808, abs=0.001)


def test_model_is_small_and_names_its_training_data() -> None:
    """The file that is shipped stays under a megabyte, credits its data and asks only for columns that there are."""
    from importlib.resources import files

    data = files("sitemirror.convert.content").joinpath("content_model.json").read_bytes()
    assert len(data) <= 1_000_000
    assert b"WCXB" in data
    assert b"CC-BY-4.0" in data
    assert read_model(data) == load_model()
