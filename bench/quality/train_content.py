"""Trains the model that judges blocks, and says how good it is on sites that it has not seen.

Data: WCXB, the Web Content Extraction Benchmark (Murrough Foley, 2026), licensed under CC-BY-4.0, and the
article-extraction-benchmark (Zyte, MIT). Needs catboost and numpy, which the program itself does not, and some 5 GB of
memory, since the trees of all pages are kept for the rules that ask them:

    pip install catboost
    SITEMIRROR_VECTORS=... python -m bench.quality.train_content            # cross-validation by domain
    SITEMIRROR_VECTORS=... python -m bench.quality.train_content --write    # and the model's file, from all pages
"""

from __future__ import annotations

import argparse
import importlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import md5
from itertools import chain, compress
from math import floor, log
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from publicsuffixlist import PublicSuffixList

from bench.quality import aeb
from bench.quality.labels import labels, words
from bench.quality.said import said
from bench.quality.wcxb import KINDS, Sample, Score, folder, mean, samples, score
from bench.record import Figure, Record, at_least, main
from sitemirror.convert import convert_html
from sitemirror.convert.content import model
from sitemirror.convert.content.blocks import PageBlocks, PageParts
from sitemirror.convert.content.choose import drop_chrome, drop_unrendered, generator_content
from sitemirror.convert.content.features import Features, Hints, read_hints
from sitemirror.convert.content.keep import choose_blocks
from sitemirror.convert.content.model import Lexicon, first_words, name_words
from sitemirror.convert.document import parse_html
from sitemirror.convert.generators import recognise_generators
from sitemirror.convert.metadata.fields import read_metadata
from sitemirror.settings import Content

FOLDS: Final = 5
NEWS: Final = "article-extraction-benchmark"  # a kind of page of its own: its score is another one
_SUFFIXES: Final = PublicSuffixList(only_icann=True)
MODEL: Final = Path(model.__file__).with_name("content_model.json")
_SHORT: Final = 12  # words of a block whose first words are worth learning
_RARE: Final = 4  # pages; a word on fewer says too little
_DOUBT: Final = 3.0  # pages' worth of the average that each word begins with
_SCALE: Final = 16
_LEAST, _MOST = 3, 120  # what a word may say


@dataclass(slots=True)
class Page:
    """What is remembered of a page: its blocks, also as words, and which of them are wanted."""

    sample: Sample
    fold: int
    page_blocks: PageBlocks
    hinted: Hints
    blocks: list[list[str]]
    wanted: list[bool]
    is_ruled: bool  # decided by a generator's own names, not by the model
    names: Counter[str] = field(default_factory=Counter)
    counts: tuple[dict[str, float], dict[str, float]] = field(default_factory=lambda: ({}, {}))
    """For words of names, and for first words: the share of what they stand for that is wanted."""


def read(sample: Sample) -> tuple[PageBlocks, Hints, bool] | None:
    """The page as the conversion sees it when it comes to judging blocks; `None` if there is nothing to judge.

    And whether it does not come to that, since the page's generator has names for everything.
    """
    document = parse_html(sample.html, url=sample.url)
    body = document.body
    if body is None:
        return None
    generators = recognise_generators(read_metadata(document).signature, body)
    drop_unrendered(document)
    drop_chrome(body, document.chrome, ())
    page_blocks = PageBlocks(body)
    return (
        (page_blocks, read_hints(document.head, sample.url), bool(generator_content(body, generators)))
        if page_blocks.texts
        else None
    )


def fold_of(url: str) -> int:
    """Pages of one domain are all in one fold, always the same."""
    host = urlsplit(url).hostname or ""
    domain = _SUFFIXES.privatesuffix(host) or host
    return md5(domain.encode(), usedforsecurity=False).digest()[0] % FOLDS


def learn_page(sample: Sample, page_blocks: PageBlocks, hinted: Hints, is_ruled: bool) -> Page:
    """What one page has to teach."""
    blocks = [words(text) for text in page_blocks.texts]
    wanted = [part > 0.5 for part in labels(blocks, words(sample.wanted))]
    page = Page(sample, fold_of(sample.url), page_blocks, hinted, blocks, wanted, is_ruled)
    weights = [min(len(block), 60) ** 0.5 for block in blocks]
    right, all_ = [0.0], [0.0]
    for is_wanted, weight in zip(wanted, weights, strict=True):
        right.append(right[-1] + is_wanted * weight)
        all_.append(all_[-1] + weight)
    found: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    of = PageParts(page_blocks)
    alone = ((name, block, block + 1) for block, name in enumerate(of.alone) if name)
    for name, start, end in chain(zip(of.names, of.starts, of.ends, strict=True), alone):
        for word in set(name_words(name)):
            found[word][0] += right[end] - right[start]
            found[word][1] += all_[end] - all_[start]
    for element, is_wanted, weight in zip(page_blocks.first, wanted, weights, strict=True):
        for word in set(name_words((element.attr("class") or "") if element is not None else "")):
            found[word][0] += is_wanted * weight
            found[word][1] += weight
    page.counts[0].update({word: part / whole for word, (part, whole) in found.items() if whole})
    found.clear()
    for text, block, is_wanted in zip(page_blocks.texts, blocks, wanted, strict=True):
        if len(block) <= _SHORT:
            for word in set(first_words(text)):
                found[word][0] += is_wanted
                found[word][1] += 1
    page.counts[1].update({word: part / whole for word, (part, whole) in found.items()})
    return page


def learn_words(pages: Sequence[Page], without: set[int]) -> Lexicon:
    """What words say, as the pages outside the folds `without` have it."""
    learnt = []
    for which in (0, 1):
        total: dict[str, float] = defaultdict(float)
        seen: Counter[str] = Counter()
        for page in pages:
            if page.fold not in without:
                for word, part in page.counts[which].items():
                    total[word] += part
                    seen[word] += 1
        usual = sum(total.values()) / max(1, seen.total())
        says = {}
        for word, count in seen.items():
            if count >= _RARE:
                part = (total[word] + _DOUBT * usual) / (count + _DOUBT)
                worth = round((log(part / (1 - part)) - log(usual / (1 - usual))) * _SCALE)
                if abs(worth) >= _LEAST:
                    says[word] = max(-_MOST, min(_MOST, worth))
        learnt.append(dict(sorted(says.items())))
    return Lexicon(*learnt)


class Table:
    """The columns of all pages together, as the lexicons without certain folds give them."""

    def __init__(self, pages: Sequence[Page], held_out: int | None) -> None:
        numpy: Any = importlib.import_module("numpy")
        # A page's own fold never teaches the words that it is judged by, or the model would trust them too much.
        lexicons = {fold: learn_words(pages, {fold} if held_out is None else {fold, held_out}) for fold in range(FOLDS)}
        self.names: list[str] = []
        rows = []
        for page in pages:
            found = Features(page.page_blocks, PageParts(page.page_blocks), lexicons[page.fold], page.hinted)
            self.names = [*found.columns, *found.page]
            columns = [numpy.frombuffer(one, dtype=numpy.uint8) for one in found.columns.values()]
            columns += [numpy.full(len(page.blocks), one, dtype=numpy.uint8) for one in found.page.values()]
            rows.append(numpy.stack(columns, 1))
        self.rows = numpy.concatenate(rows)
        self.folds = numpy.repeat([page.fold for page in pages], [len(page.blocks) for page in pages])
        self.wanted = numpy.concatenate([page.wanted for page in pages]).astype(int)
        # Each page counts the same, and in it a block by the root of its length.
        weights = []
        for page in pages:
            weight = numpy.sqrt([len(block) for block in page.blocks])
            weights.append(weight / max(1e-9, weight.sum()))
        self.weights = numpy.concatenate(weights)
        self.weights /= self.weights.mean()


def train(table: Table, held_out: int | None, options: argparse.Namespace) -> Any:
    """A classifier of blocks, of all folds but one."""
    numpy: Any = importlib.import_module("numpy")
    catboost: Any = importlib.import_module("catboost")
    # Blocks that weigh little are taken as a sample, which weighs the more: a third of the time, the same result.
    chance = numpy.clip(table.weights * options.sample, 1e-9, 1)
    taken = (numpy.random.RandomState(1).rand(len(chance)) < chance) & (table.weights > 0)
    if held_out is not None:
        taken &= table.folds != held_out
    made = catboost.CatBoostClassifier(
        iterations=options.trees,
        depth=options.depth,
        learning_rate=30 / options.trees,
        border_count=16,
        l2_leaf_reg=10,
        bootstrap_type="Bernoulli",
        subsample=0.7,
        rsm=0.5,
        random_seed=1,
        thread_count=2,
        allow_writing_files=False,
        verbose=0,
    )
    made.fit(table.rows[taken], table.wanted[taken], sample_weight=(table.weights / chance)[taken])
    return made


def write(made: Any, names: Sequence[str], lexicon: Lexicon, path: Path) -> None:
    """Puts what was learnt into the file that comes with the program: whole numbers, a line per tree."""
    scratch = path.with_suffix(".catboost")
    made.save_model(str(scratch), format="json")
    learnt = json.loads(scratch.read_text(encoding="utf-8"))
    scratch.unlink()
    scale, bias = learnt["scale_and_bias"]
    start = bias[0] if isinstance(bias, list) else bias
    values = [[scale * value for value in tree["leaf_values"]] for tree in learnt["oblivious_trees"]]
    step = max(max(leaves) - min(leaves) for leaves in values) / 255
    questions: dict[tuple[int, int], int] = {}
    trees = []
    for tree, leaves in zip(learnt["oblivious_trees"], values, strict=True):
        least = min(leaves)
        start += least
        asked = [(split["float_feature_index"], floor(split["border"])) for split in tree["splits"]]
        places = [questions.setdefault(question, len(questions)) for question in asked]
        trees.append([places, bytes(round((leaf - least) / step) for leaf in leaves).hex()])
    used = sorted({column for column, _ in questions})
    head = {
        "credit": "Learnt by bench/quality/train_content.py from WCXB, the Web Content Extraction Benchmark "
        "(Murrough Foley, 2026), licensed under CC-BY-4.0, and the article-extraction-benchmark (Zyte), under MIT.",
        "start": round(start, 6),
        "step": round(step, 9),
        "columns": [names[column] for column in used],
        "questions": [[used.index(column), number] for column, number in questions],
    }
    lines = [f"{json.dumps(name)}:{json.dumps(value, ensure_ascii=False)}" for name, value in head.items()]
    lines.append('"trees":[\n' + ",\n".join(json.dumps(tree, separators=(",", ":")) for tree in trees) + "]")
    for name, known in (("names", lexicon.names), ("words", lexicon.words)):
        lines.append(f'"{name}":' + json.dumps(known, ensure_ascii=False, separators=(",", ":")))
    path.write_text("{" + ",\n".join(lines) + "}\n", encoding="utf-8")


def pages_of(every: int) -> Iterator[Page]:
    """The pages that have something to teach."""
    news = (Sample(name, url, NEWS, html, wanted) for name, url, html, wanted in aeb.samples(aeb.folder(), every))
    for sample in chain(samples(folder(), every), news):
        found = read(sample) if sample.wanted else None
        if found is not None:
            yield learn_page(sample, *found)


def judged(made: Any, table: Table, page: Page, start: int) -> dict[Content, str]:
    """What is kept of a page by a model that has not seen its domain, if it comes to a model."""
    sizes = (Content.MAIN, Content.AUTO)
    if page.is_ruled:
        return {content: said(_converted(page.sample, content)) for content in sizes}
    rows = table.rows[start : start + len(page.blocks)]
    odds = [float(one) for one in made.predict(rows, prediction_type="RawFormulaVal")]
    texts = page.page_blocks.texts
    return {
        content: "\n".join(compress(texts, choose_blocks(page.page_blocks, odds, content, page.hinted)))
        for content in sizes
    }


def _converted(sample: Sample, content: Content) -> str:
    return convert_html(sample.html, url=sample.url, content=content).markdown


def measure(options: argparse.Namespace) -> Record:
    """Cross-validation: each domain is judged by a model, and by words, learnt from the others."""
    pages = list(pages_of(options.every))
    record = Record(
        "quality-train_content",
        {"pages": len(pages), "folds": FOLDS, "trees": options.trees, "depth": options.depth, "by": "domain"},
    )
    if options.write:
        table = Table(pages, None)
        write(train(table, None, options), table.names, learn_words(pages, set()), MODEL)
        record.add(Figure("size of the model's file", MODEL.stat().st_size / 1000, "kB"))
    scores: dict[Content, dict[str, list[Score]]] = {Content.MAIN: defaultdict(list), Content.AUTO: defaultdict(list)}
    news: dict[Content, list[aeb.Counts]] = defaultdict(list)
    for fold in range(FOLDS):
        table = Table(pages, fold)
        made = train(table, fold, options)
        start = 0
        for page in pages:
            if page.fold == fold:
                for content, text in judged(made, table, page, start).items():
                    if page.sample.kind == NEWS:
                        news[content].append(aeb.compare(text, page.sample.wanted))
                    else:
                        wanted = Counter(words(page.sample.wanted))
                        scores[content][page.sample.kind].append(score(Counter(words(text)), wanted))
            start += len(page.blocks)
    for content, by_kind in scores.items():
        every = mean([one for found in by_kind.values() for one in found])
        record.add(at_least(f"{content.value}: F1", every.f1, "", 0.87 if content is Content.MAIN else 0.82))
        record.add(Figure(f"{content.value}: precision", every.precision, ""))
        record.add(Figure(f"{content.value}: recall", every.recall, ""))
        for kind in KINDS:
            if by_kind[kind]:
                record.add(Figure(f"{content.value}: F1, {len(by_kind[kind])} × {kind}", mean(by_kind[kind]).f1, ""))
    for content, counts in news.items():
        precision, recall, f1 = aeb.total(counts)
        name = f"{content.value}: {len(counts)} pages of the {NEWS}"
        record.add(at_least(f"{name}, F1", f1, "", 0.96) if content is Content.MAIN else Figure(f"{name}, F1", f1, ""))
        record.add(Figure(f"{name}, precision", precision, ""), Figure(f"{name}, recall", recall, ""))
    return record


if __name__ == "__main__":
    command = argparse.ArgumentParser(prog="python -m bench.quality.train_content", description=__doc__)
    command.add_argument("--write", action="store_true", help="first train on all pages and write the model's file")
    command.add_argument("--every", type=int, default=1, help="use every N-th page only (default: %(default)s)")
    command.add_argument("--trees", type=int, default=160, help="trees of the model (default: %(default)s)")
    command.add_argument("--depth", type=int, default=6, help="questions a tree asks, at most 8 (default: %(default)s)")
    command.add_argument(
        "--sample", type=float, default=0.35, help="how many of the light blocks count (default: %(default)s)"
    )
    main(measure, command)
