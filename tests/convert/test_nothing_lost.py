"""Markup that is easily dropped or mangled on the way: what a reader of the page sees is in the Markdown, once."""

from __future__ import annotations

import pytest

from sitemirror.convert import convert_html
from tests.convert.pages import markdown

URL = "https://example.com/page"


@pytest.mark.parametrize("holder", ["article", "main"])
@pytest.mark.parametrize("is_before", [True, False])
def test_auto_keeps_structured_blocks(holder: str, is_before: bool) -> None:
    """Little text may be spared beside what a page marks as its content, but no code, table or section."""
    beside = "<h2>Install</h2><pre>pip install x</pre><table><tr><th>k</th></tr><tr><td>v</td></tr></table>"
    content = f"<{holder}><h2>Note</h2><p>Short.</p></{holder}>"
    parts = (beside, content) if is_before else (content, beside)
    page = convert_html(f"<title>T</title><body><h1>Manual</h1>{''.join(parts)}</body>", url=URL)
    for expected in ("# Manual", "## Install", "pip install x", "| k |", "## Note", "Short."):
        assert expected in page.markdown


@pytest.mark.parametrize(
    "html",
    [
        '<button aria-expanded="false" aria-controls="a">Question?</button><div id="a" hidden><p>Answer.</p></div>',
        '<button class="accordion">Question?</button><div class="panel"><p>Answer.</p></div>',
        '<button aria-expanded="false"><div><p>Question?</p></div></button><div class="panel"><p>Answer.</p></div>',
        '<button data-bs-target="#a"><span>Question?</span></button><p>Between.</p><div id="a"><p>Answer.</p></div>',
    ],
)
def test_button_label_of_panel_is_kept(html: str) -> None:
    """An answer says little without its question."""
    text = markdown(html)
    assert text.startswith("**Question?**\n\n")
    assert text.endswith("Answer.\n")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>Press <button>Save</button> to keep it.</p>", "Press Save to keep it.\n"),
        ("<p>To keep it, press <button>Save</button>.</p>", "To keep it, press Save.\n"),
        ("<button class=sc><span class=get>get</span><span>/pets</span></button>", "**get /pets**\n"),
        ("<button><strong>200 </strong><span><p>A list of pets</p></span></button>", "**200**\n\nA list of pets\n"),
        ("<button class=xSpoiler-button>The <b>end</b></button><div>He did.</div>", "**The end**\n\nHe did.\n"),
    ],
)
def test_button_within_text_is_kept(html: str, expected: str) -> None:
    """A button in a sentence, a call of an API and a response with its meaning are read, not only pressed."""
    assert markdown(html) == expected


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ('<textarea class="exampleCode code">package main</textarea>', "```\npackage main\n```\n"),
        ("<textarea readonly>a\n  b</textarea>", "```\na\n  b\n```\n"),
        ("<textarea class=code>x = 1</textarea><pre aria-hidden=true>x = 1</pre>", "```\nx = 1\n```\n"),
        ("<textarea readonly>https://example.com/share</textarea>", ""),
        ("<textarea>Your\nmessage</textarea>", ""),
        ("<textarea class=code></textarea>", ""),
    ],
)
def test_editable_code_is_a_code_block(field: str, expected: str) -> None:
    """A field with code in it is there to be read first; any other is there to be filled in."""
    assert markdown(f"<p>Text.</p><div>{field}</div>") == f"Text.\n\n{expected}".rstrip("\n") + "\n"


def test_button_around_a_link_is_a_link() -> None:
    """MyST's show more of what they lead to, to who points at them."""
    html = '<p>See <button><a href="#fig">Figure 1</a></button>, or</p><p><button><a href="/b">B</a></button></p>'
    assert markdown(html) == "See [Figure 1](#fig), or\n\n[B](https://example.com/b)\n"


@pytest.mark.parametrize(
    "html",
    [
        "<button>Copy</button><pre>x</pre>",
        '<button aria-expanded="false" aria-controls="menu">Menu</button><p>x</p>',
        '<button class="accordion"></button><div>x</div>',
        "<p>x <button>Yes</button> <button>No</button></p>",
        "<button><span>icon</span><span>Copy</span></button><p>x</p>",
        "<button><strong>Buy</strong> it</button><p>x</p>",
    ],
)
def test_other_buttons_are_removed(html: str) -> None:
    """A control that opens no part of the page has no place in a file."""
    assert "**" not in markdown(html)
    assert "Copy" not in markdown(html)
    assert "Menu" not in markdown(html)


def test_code_in_a_cell_keeps_its_indentation() -> None:
    """Python without it is another program; a cell has no line of its own, but the blanks can stay."""
    code = "def f():\n    if x:\n\n\treturn 1"
    text = markdown(f"<table><tr><th>Code<tr><td><pre><code>{code}</code></pre></table>")
    assert text.splitlines()[2] == "| `def f():`<br>`\xa0\xa0\xa0\xa0if x:`<br><br>`\xa0\xa0\xa0\xa0return 1` |"


def test_lists_in_a_cell_keep_their_numbers() -> None:
    """Items of a list within are not counted with those around them, and a list may begin anywhere."""
    cell = "<ol><li>one<ul><li>a<li>b</ul><li>two</ol><ol start=5><li>five</ol>"
    assert markdown(f"<table><tr><th>h<tr><td>{cell}</table>").splitlines()[2] == (
        "| 1. one<br>- a<br>- b<br>2. two<br>5. five |"
    )


@pytest.mark.parametrize(
    ("pre", "code"),
    [
        (
            '<pre><span class="linenos"> </span><span class="n">a</span>\n<span class="linenos">2</span>'
            '<span class="n">b</span>\n</pre>',
            "a\nb",
        ),
        ('<pre><code><span class="line">a</span><span class="line">b</span></code></pre>', "a\nb"),
        ('<pre><code><span class="line">a</span>\n<span class="line">b</span></code></pre>', "a\nb"),
        ("<table><tr><td><pre>1\n2</pre></td><td><pre>a\nb</pre></td></tr></table>", "a\nb"),
        ("<xmp>a <b>\nb</xmp>", "a <b>\nb"),
        (  # Hugo
            "<pre><code>"
            + "".join(
                f'<span style="display:flex;"><span style="white-space:pre;-webkit-user-select:none;user-select:none;'
                f'margin-right:0.4em;color:#7f7f7f">{number}</span><span>{line}\n</span></span>'
                for number, line in enumerate("ab", 1)
            )
            + "</code></pre>",
            "a\nb",
        ),
        (
            '<div class="highlight"><table><tr><td><pre><code><span style="user-select:none">1\n</span></code></pre>'
            "</td>\n<td><pre><code><span>a\n</span></code></pre></td></tr></table></div>",
            "a",
        ),
        (  # Asciidoctor with CodeRay
            '<pre class="CodeRay highlight"><code><span class="line-numbers"> 9</span><span class="integer">1</span>\n'
            '<span class="line-numbers"><strong>10</strong></span>b</code></pre>',
            "1\nb",
        ),
        (
            '<pre class="CodeRay highlight"><code><table class="CodeRay"><tr>\n  <td class="line-numbers"><pre>1\n2\n'
            '</pre></td>\n  <td class="code"><pre>a\n  b\n</pre></td>\n</tr></table>\n</code></pre>',
            "a\n  b",
        ),
        ("<pre>1 <span style='user-select:none'>$ </span>ls\n<b>2</b>\n\n\n</pre>", "1 $ ls\n2\n\n"),
    ],
)
def test_code_has_exactly_its_lines(pre: str, code: str) -> None:
    """Numbers beside lines are no code, wherever they begin, and lines end where the page ends them."""
    assert markdown(f"<p>x</p>{pre}") == f"x\n\n```\n{code}\n```\n"


def test_number_in_each_row_is_data() -> None:
    """One number beside code numbers its line only if there is nothing else in the table."""
    html = f"<table>{'<tr><td><pre>1</pre></td><td><pre>a</pre></td></tr>' * 2}</table>"
    assert markdown(html).count("```\n1\n```") == 2


@pytest.mark.parametrize(
    ("generator", "html", "text"),
    [
        (
            "rustdoc",
            '<section id="main-content" class="content"><h1>lib.rs</h1><div class="example-wrap digits-1">'
            '<pre class="rust"><code><a href=#1 id=1 data-nosnippet>1</a><span class="doccomment">//! Docs.\n'
            '<a href=#2 id=2 data-nosnippet>2</a></span><span class="kw">fn </span>main() {}</code></pre></div>',
            "# lib.rs\n\n```rust\n//! Docs.\nfn main() {}\n```\n",
        ),
        (
            "javadoc/SourceToHTMLConverter",
            '<main role="main"><div class="source-container">\n<pre><span class="source-line-no">001</span>'
            '<span id="line-1">package p;</span>\n<span class="source-line-no">002</span><span id="line-2">class A {}'
            f"</span>\n{chr(10) * 60}</pre>\n</div></main>",
            "```java\npackage p;\nclass A {}\n```\n",
        ),
    ],
)
def test_source_has_no_line_numbers(generator: str, html: str, text: str) -> None:
    """What a generator writes of the sources themselves is code that can be compiled."""
    assert markdown(f'<meta name="generator" content="{generator}">{html}', content="auto") == text


@pytest.mark.parametrize(
    ("name", "fence"),
    [
        ("highlight-wrapper", ""),
        ("highlight-box", ""),
        ("lang-switcher", ""),
        ("source-container", ""),
        ("highlight-code__inner", ""),
        ("highlight-wrapper language-go", "go"),
        ("highlight-python notranslate", "python"),
    ],
)
def test_wrapper_class_is_no_language(name: str, fence: str) -> None:
    """Names of wrappers may begin like those that name a language."""
    assert markdown(f'<div class="{name}"><pre>x</pre></div>') == f"```{fence}\nx\n```\n"


def test_lines_of_verse_are_not_joined() -> None:
    """Sphinx has each line in a box, boxes for those that stand further in, and an empty one between stanzas."""
    lines = [f"<div class=line>{text}</div>" for text in ("Roses", "red", "<br>", "<br>", "Violets", "<b>blue</b>")]
    html = f"<div class=line-block>{lines[0]}<div class=line-block>{lines[1]}</div>{''.join(lines[2:])}</div>"
    assert markdown(f"<h1>T</h1>{html}") == "# T\n\nRoses\\\nred\n\nViolets\\\n**blue**\n"


@pytest.mark.parametrize(("lang", "fence"), [("go", "go"), ("js", "js"), ("rust", "rust"), ("en", ""), ("en-GB", "")])
def test_language_of_pre(lang: str, fence: str) -> None:
    """`lang` is for what people speak, but some renderers use it for what machines do."""
    assert markdown(f'<pre lang="{lang}"><code>x</code></pre>') == f"```{fence}\nx\n```\n"


@pytest.mark.parametrize(
    ("html", "target"),
    [
        ('<video src="v.mp4" controls></video>', "v.mp4"),
        ('<video controls><source src="w.webm"></video>', "w.webm"),
        ('<audio src="a.mp3"></audio>', "a.mp3"),
        ('<embed src="e.pdf">', "e.pdf"),
        ('<object data="o.pdf"></object>', "o.pdf"),
    ],
)
@pytest.mark.parametrize("url", ["", URL])
def test_embedded_media_are_linked(html: str, target: str, url: str) -> None:
    """Also in a page whose address is not known."""
    page = convert_html(f"<p>See</p>{html}", url=url)
    assert f"{'https://example.com/' if url else ''}{target}" in page.markdown


@pytest.mark.parametrize(
    ("kind", "alert"), [("info", "NOTE"), ("success", "TIP"), ("warning", "WARNING"), ("danger", "CAUTION")]
)
def test_gitbooks_hints(kind: str, alert: str) -> None:
    """Its newer pages say the kind in nothing but a colour."""
    head = '<meta name="generator" content="GitBook (1.0)">'
    box = f'<div class="hint rounded-md bg-{kind} border-{kind} text-sm grid"><div></div><div><p>Text.</p></div></div>'
    assert markdown(f"{head}<h1>T</h1>{box}").endswith(f"> [!{alert}]\n> Text.\n")


def test_noscript_text_in_pieces() -> None:
    """Where that is the page, all of it is."""
    pieces = "".join(f"<noscript><p>Piece {number} of what there is to read.</p></noscript>" for number in range(40))
    text = markdown(f"<div id=app></div>{pieces}")
    assert all(f"Piece {number} of" in text for number in range(40))


def test_linked_call_is_one_line() -> None:
    """Swagger UI's, which unfold what can be asked and answered."""
    html = (
        '<button aria-expanded="true"><span>POST</span><div><span><a href="#/pet"><span>/pet</span></a></span>'
        "<div>Add a pet</div></div></button><p>x</p>"
    )
    assert markdown(html) == "**POST [/pet](#/pet) Add a pet**\n\nx\n"


def test_response_name_is_kept() -> None:
    """Redoc has each in a button, with its status and what that means."""
    html = "<h3>Responses</h3><div><button><strong>200 </strong><div><p>OK</p></div></button></div><button>Try</button>"
    assert markdown(html) == "### Responses\n\n**200**\n\nOK\n"


def test_yard_parameter_text_is_beside_it() -> None:
    """A box that is in the line by its style; one with several paragraphs or a list stays below."""
    page = (
        '<div id="content"><h1>C</h1><div class="box_info"><dl><dt>In:</dt></dl></div><ul><li><span>x</span> — '
        '<div class="inline">{}</div></li></ul></div>'
    )
    assert "* x — the *x*\n" in markdown(page.format("<p>the <em>x</em></p>"))
    assert "* x —\n\n  a\n\n  b\n" in markdown(page.format("<p>a</p><p>b</p>"))
