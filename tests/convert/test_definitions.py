"""Definition lists become lists whose items begin with the term, and keep the order of the page."""

from __future__ import annotations

import pytest

from tests.convert.pages import markdown


@pytest.mark.parametrize(
    ("between", "kept"),
    [
        ("<p>stray</p>", "stray"),
        ("some <b>bold</b> <i>words</i>", "some **bold** *words*"),
        ("<pre>x</pre>", "```\n  x"),
    ],
)
def test_text_between_definitions_keeps_its_place(between: str, kept: str) -> None:
    """A list may hold what is neither term nor definition: it belongs to the one before it."""
    html = f"<dl><dt>A</dt><dd>a</dd>{between}<dt>B</dt><dd>b</dd></dl>"
    said = markdown(html)
    assert said.startswith(f"- **A**\n\n  a\n\n  {kept}")
    assert said.endswith("- **B**\n\n  b\n")


def test_nested_groups_of_definitions() -> None:
    """A list is one however many boxes hold its parts together."""
    html = "<dl><div><div><dt>A</dt><dd>a</dd></div></div><div><dt>B</dt><dd>b</dd></div></dl>"
    assert markdown(html) == "- **A**\n\n  a\n\n- **B**\n\n  b\n"


def test_list_is_no_term() -> None:
    """JSDoc puts a list where a term should be."""
    html = "<dl><dt>Fails</dt><dd></dd><dt><dl><dt>Type</dt><dd>Error</dd></dl></dt><dd></dd></dl>"
    assert markdown(html) == "- **Fails**\n  - **Type**\n\n    Error\n"


def test_deeply_nested_groups_are_fast() -> None:
    """A list whose boxes stand in one another a thousand times is read like any other."""
    html = "<dl>" + "<div><dt>A</dt><dd>a</dd>" * 1000 + "</div>" * 1000 + "</dl>"
    assert markdown(html).count("A") == 1000


def test_text_at_start_of_a_group_belongs_to_its_term() -> None:
    """A picture above a term does not move to the definition before it."""
    groups = "".join(f'<div><img src="/{name}.png" alt="{name}"><dt>{name}</dt><dd>x</dd></div>' for name in "AB")
    assert markdown(f"<dl>{groups}</dl>") == (
        "- **A**\n\n  ![A](https://example.com/A.png)\n\n  x\n\n- **B**\n\n  ![B](https://example.com/B.png)\n\n  x\n"
    )


FIELDS = (
    '<table class="docutils field-list"><col class="field-name"><col class="field-body"><tbody>'
    '<tr><th class="field-name">Parameters:</th><td class="field-body"><ul><li><b>a</b> one</li><li><b>b</b></li></ul>'
    "</td></tr>"
    '<tr><th class="field-name">Returns:</th><td class="field-body"><p>it</p></td></tr></tbody></table>'
)


def test_fields_in_a_table_are_definitions() -> None:
    """Sphinx before 2 and mkdocstrings on Read the Docs' theme write them so; a cell could not hold their lists."""
    assert markdown(FIELDS) == "- **Parameters:**\n\n  - **a** one\n  - **b**\n\n- **Returns:**\n\n  it\n"


@pytest.mark.parametrize("tag", ["code", "tt"])
def test_old_sphinx_declarations_are_code(tag: str) -> None:
    """Nothing but the name in it was marked as one."""
    html = (
        f'<dl class="function"><dt id="f"><em class="property">class </em><{tag} class="descclassname">m.</{tag}>'
        f'<{tag} class="descname">f</{tag}><span>(</span><em>a</em>, <em>b=1</em><span>)</span></dt><dd>B</dd></dl>'
    )
    assert "- `class m.f(a, b=1)`\n\n  B\n" in markdown(html)


def test_elements_in_a_term_are_separate_words() -> None:
    """They stood on lines of their own."""
    assert markdown("<dl><dt><a href=/a>A</a><div>12</div></dt><dd>B</dd></dl>").startswith(
        "- **[A](https://example.com/a) 12**"
    )


@pytest.mark.parametrize(
    ("html", "said"),
    [
        ("f(<dl><dd>a,</dd><dd>b,</dd></dl>)", "f(a, b,)"),
        ("<div>@Old</div>f(<ol><li>a</li></ol>)", "@Old f(a)"),
        ("<div>f ( a</div><div> )</div>", "f ( a )"),
    ],
)
def test_multiline_signature_is_one(html: str, said: str) -> None:
    """With a blank for each end of a line, but for those at a bracket."""
    assert markdown(f'<div class="sig-object">{html}</div>') == f"`{said}`\n"


def test_synopsis_cells_are_separated() -> None:
    """mandoc has the name of a command in one cell and its options in the next, with or without a blank between."""
    html = (
        '<html><head><link rel="stylesheet" href="mandoc.css"></head><body><main class="manual-text"><p>Lists.</p>'
        '<table class="Nm"><tr><td><code class="Nm">ls</code></td><td>[<code>-a</code>]</td></tr></table></main></body>'
    )
    assert "`ls [-a]`" in markdown(html)


def test_odoc_type_is_one_code_block() -> None:
    """Older versions have its fields in a table; a variant may have fields of its own."""
    delimited = '<span class="comment-delim">(*</span><p>One.</p><span class="comment-delim">*)</span>'
    fields = "".join(
        f'<tr id="type-t.{name}" class="anchored"><td class="def record field"><a href="#type-t.{name}" class="anchor">'
        f"</a><code><span>{name} : int;</span></code></td>{remark}</tr>"
        for name, remark in (("a", f'<td class="def-doc">{delimited}</td>'), ("b", ""))
    )
    record = (
        "<code><span>type t</span><span> = </span><span>{</span></code>"
        f"<table>{fields}</table><code><span>}}</span></code>"
    )
    variant = (
        "<code><span>type v</span><span> = </span></code><ol><li><code><span>| </span><span>A of {</span></code>"
        "<ol><li><code><span>x : int;</span></code></li></ol><code><span>}</span></code></li></ol>"
    )
    specs = "".join(f'<div class="odoc-spec"><div class="spec type">{one}</div></div>' for one in (record, variant))
    assert markdown(f'<meta name="generator" content="odoc 2.1.0"><body class="odoc">{specs}', content="auto") == (
        "```ocaml\ntype t = {\n  a : int; (* One. *)\n  b : int;\n}\n```\n\n"
        "```ocaml\ntype v =\n  | A of { x : int;}\n```\n"
    )


@pytest.mark.parametrize(
    ("note", "text"),
    [
        ('<div class="note"><h3 class="title">Note</h3><p>n</p></div>', "> [!NOTE]\n  > n\n"),
        ('<div class="awsdocs-note"><div><h6>Important</h6></div><p>n</p></div>', "> [!IMPORTANT]\n  > n\n"),
        (
            '<div class="alert alert-info"><h4 class="alert-heading">Mind</h4><p>n</p></div>',
            "> [!NOTE]\n  > **Mind**\n  >\n  > n\n",
        ),
    ],
    ids=["DocBook", "AWS", "Docsy"],
)
def test_note_title_in_a_list_is_no_heading(note: str, text: str) -> None:
    """A list with a note in it stays one; with headings of the page it would not."""
    assert markdown(f"<dl><dt>A</dt><dd><p>a</p>{note}</dd></dl>") == f"- **A**\n\n  a\n\n  {text}"
    assert markdown("<dl><dt>A</dt><dd><h3>Note</h3><p>a</p></dd></dl>") == "**A**\n\n### Note\n\na\n"


@pytest.mark.parametrize("content", ["full", "auto"])
@pytest.mark.parametrize(
    "term",
    [
        "<button>What floats?</button>",
        '<button aria-expanded="false" aria-controls="x"><span>What</span> floats?</button>',
        "What <button>floats?</button>",
        "What floats? <button>Copy link</button>",
    ],
)
def test_collapsible_question_is_a_term(term: str, content: str) -> None:
    """Pages of questions have a button in each `dt`; its words went with it."""
    html = f'<dl><dt>{term}</dt><dd id="x">Oak does.</dd><dt>And?</dt><dd>Ash.</dd></dl>'
    assert markdown(html, content=content) == "- **What floats?**\n\n  Oak does.\n\n- **And?**\n\n  Ash.\n"
