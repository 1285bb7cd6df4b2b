"""What documentation means beyond HTML's own elements, in the markup of many hands."""

from __future__ import annotations

import pytest

from tests.convert.pages import markdown


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (
            '<div class="admonition warning"><p class="admonition-title">Warning</p><p>Mind.</p></div>',
            "> [!WARNING]\n> Mind.\n",
        ),
        (
            '<div class="admonition danger"><p class="admonition-title">Danger</p><p>Mind.</p></div>',
            "> [!CAUTION]\n> **Danger**\n>\n> Mind.\n",
        ),
        (
            '<div class="admonition"><p class="admonition-title">Own <em>words</em></p><ol start="3"><li>x</ol></div>',
            "> [!NOTE]\n> **Own words**\n>\n> 3. x\n",
        ),
        ('<div class="note"><h3 class="title">Note</h3><pre>x</pre></div>', "> [!NOTE]\n>\n> ```\n> x\n> ```\n"),
        ('<div class="markdown-alert markdown-alert-tip"><p>x</p></div>', "> [!TIP]\n> x\n"),
        ('<div class="callout" data-callout-type="info">x</div>', "> [!NOTE]\n> x\n"),
        (
            '<div class="admonition note"><p class="admonition-title">Note</p>a<div class="admonition tip">'
            '<p class="admonition-title">Tip</p><p>b</p></div></div>',
            "> [!NOTE]\n> a\n>\n> > [!TIP]\n> > b\n",
        ),
        ('<div class="note"><h1>Page</h1><p>x</p></div>', "# Page\n\nx\n"),
        ('<div class="note"><img src="https://e.com/a.png"></div>', "> [!NOTE]\n> ![](https://e.com/a.png)\n"),
        (
            '<div class="alert alert-warning" role="alert"><strong>Careful:</strong> hot.</div>',
            "> [!WARNING]\n> **Careful:** hot.\n",
        ),
        (
            '<div class="alert alert-success"><h4 class="alert-heading">Well done</h4><p>x</p></div>',
            "> [!TIP]\n> **Well done**\n>\n> x\n",
        ),
        ('<div class="alert alert-primary">x</div>', "> [!NOTE]\n> x\n"),
        ('<div class="alert alert-danger" id="failed"></div><p>x</p>', "x\n"),
        ('<div class="alert alert-info alert-dismissible fade show" role="alert">News</div><p>x</p>', "News\n\nx\n"),
    ],
)
def test_admonition_boxes_become_alerts(html: str, text: str) -> None:
    """The kind is kept, the title where it says more than the kind, and a page is no box."""
    assert markdown(html) == text


def test_empty_alert_does_not_merge_with_the_next() -> None:
    """A paragraph right below the line that names the kind would be read as part of the quote."""
    html = '<div class="admonition note"><p class="admonition-title">Note</p></div><p>Next.</p>'
    assert markdown(html) == "> [!NOTE]\n\nNext.\n"


def test_site_wide_alert_is_removed() -> None:
    """What is told on every page stands outside the content, and stays there."""
    html = '<div class="alert alert-info" role="alert">News</div><main><h1>T</h1><p>x</p></main>'
    assert markdown(html, content="auto") == "# T\n\nx\n"


@pytest.mark.parametrize(
    ("generator", "box", "text"),
    [
        (
            "Jekyll v4.3.2",
            '<blockquote class="warning-title"><p>My title</p><p>body</p></blockquote>',
            "> [!WARNING]\n> **My title**\n>\n> body\n",
        ),
        (
            "Jekyll v4.3.2",
            '<div class="warning"><p class="warning-title">My title</p><p>body</p></div>',
            "> [!WARNING]\n> **My title**\n>\n> body\n",
        ),
        (
            "javadoc/17",
            '<div class="deprecation-block"><span class="deprecated-label">Deprecated, for removal: This API element '
            'is subject to removal in a future version.</span><div class="deprecation-comment">Use y.</div></div>',
            "> [!WARNING]\n> **Deprecated, for removal: This API element is subject to removal in a future version.**\n"
            ">\n> Use y.\n",
        ),
    ],
)
def test_custom_title_keeps_the_kind(generator: str, box: str, text: str) -> None:
    """A generator's box is of the kind that its name says, whatever its title is."""
    assert markdown(f'<meta name="generator" content="{generator}">{box}') == text


def test_tabs_become_labelled_groups() -> None:
    """Each panel stands under its label, also where labels and panels are told apart by ids or only one is there."""
    html = (
        '<div role="tablist"><button role="tab" id="a" aria-controls="pb">A</button><button role="tab" id="b" '
        'aria-controls="pa">B</button></div><div role="tabpanel" id="pa"><p>of B</p></div>'
        '<div role="tabpanel" id="pb" hidden><pre>of A</pre></div>'
    )
    assert markdown(html) == "- **A**\n\n  ```\n  of A\n  ```\n\n- **B**\n\n  of B\n"
    one = (
        '<ul role="tablist"><li role="tab">A</li><li role="tab" aria-selected="true">B</li></ul>'
        '<div role="tabpanel">of B</div>'
    )
    assert markdown(one) == "- **A**\n\n- **B**\n\n  of B\n"


def test_headings_in_tabs_are_kept() -> None:
    """A panel with sections of its own is not put in a list."""
    html = (
        '<div><ul role="tablist"><li role="tab">A</li><li role="tab">B</li></ul><div role="tabpanel"><h2>H</h2><p>x</p>'
        '</div><div role="tabpanel"><p>y</p></div></div>'
    )
    assert markdown(html) == "**A**\n\n## H\n\nx\n\n**B**\n\ny\n"


def test_definitions_become_items() -> None:
    """Terms lead their definitions; several of either keep together; in a cell nothing is broken."""
    assert markdown("<dl><dt>a<dt>b<dd>c<dd>d<dt><code>-x</code><dd>e</dl>") == (
        "- **a**\n\n  **b**\n\n  c\n\n  d\n\n- `-x`\n\n  e\n"
    )
    assert markdown("<dl><dt>a<dt>b</dl>") == "- **a**\n- **b**\n"
    assert markdown("<dl><dt>a<dd>x<dt>b<dt>c</dl>") == "- **a**\n\n  x\n\n- **b**\n\n- **c**\n"
    contents = markdown("<dl><dt><a href=/1>1</a><dd><dl><dt><a href=/1.1>1.1</a></dl><dt><a href=/2>2</a><dt>3</dl>")
    assert [line.strip(" -") for line in contents.splitlines() if line.lstrip().startswith("-")] == [
        "[1](https://example.com/1)",
        "[1.1](https://example.com/1.1)",
        "[2](https://example.com/2)",
        "**3**",
    ]
    assert markdown("<dl><dd>indented</dl>") == "indented\n"
    cell = markdown("<table><tr><th>h<tr><td><dl><dt>a<dd>b</dl></table>")
    assert len(cell.splitlines()) == 3
    assert "a" in cell
    assert "b" in cell


def test_unreferenced_footnotes_stay_text() -> None:
    """A footnote without a reference would not be shown; it is kept as it is."""
    html = (
        '<p>x<sup><a href="#n1" id="r1">1</a></sup></p><section class="footnotes"><ol><li id="n1"><p>One '
        '<a href="#r1">↩</a></p><p>More</p></li><li id="n2">Two</li></ol></section>'
    )
    assert markdown(html) == "x[^1]\n\n[^1]: One\n\n    More\n\n11. Two\n"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        (r'<p>a <script type="math/tex">x_1*y*</script></p>', "a $x_1*y*$\n"),
        (r'<div><script type="math/tex; mode=display">x</script></div>', "$$\nx\n$$\n"),
        ("<math><mfrac><mi>a</mi><msqrt><mi>b</mi></msqrt></mfrac></math>", "$\\frac{a}{\\sqrt{b}}$\n"),
        (
            "<math><msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup><mo>≤</mo><mi>π</mi></math>",
            "$x_{i}^{2} \\le \\pi$\n",
        ),
        (
            "<math display=block><munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover></math>",
            "$$\n\\sum_{i}^{n}\n$$\n",
        ),
        ("<table><tr><th>h<tr><td><math display=block><mi>x</mi></math></table>", "| h |\n| --- |\n| $x$ |\n"),
    ],
)
def test_formulas_become_tex(html: str, text: str) -> None:
    """TeX where the page has it, else spelled out from MathML."""
    assert markdown(html) == text


def test_no_formula_or_summary_is_markup() -> None:
    """What stands for TeX or a summary cannot bring a tag along, nor can a page's own noncharacters."""
    evil = "&lt;script&gt;alert(1)&lt;/script&gt;"
    for html in (
        f'<script type="math/tex">{evil}</script>',
        f"<math><semantics><mi>x</mi><annotation encoding='application/x-tex'>{evil}</annotation></semantics></math>",
        f"<details><summary>{evil}</summary><p>x</p></details>",
        f"<code>\ufdda{evil}\ufdda</code> <code>\ufddc{evil}\ufddc</code>",
        f'<pre class="language-\ufddb">{evil}</pre>',
    ):
        assert "<script" not in markdown(html).replace("`<script", "")


def test_collapsed_sections_become_details() -> None:
    """Summary and state are kept; a summary with a heading is that heading, one with a link a line, and a cell has
    no sections.
    """
    assert markdown("<details open><summary>a &amp; b</summary>x</details>") == (
        "<details open><summary>a &amp; b</summary>\n\nx\n\n</details>\n"
    )
    assert markdown("<details><summary><h2>H</h2></summary><p>x</p></details>") == "## H\n\nx\n"
    assert markdown('<details><summary>s <a href="/l">l</a></summary><p>x</p></details>') == (
        "s [l](https://example.com/l)\n\nx\n"
    )
    assert "<details" not in markdown("<table><tr><th>h<tr><td><details><summary>s</summary>x</details></table>")


def test_emphasis_in_a_summary_is_kept() -> None:
    """It is written with tags, since Markdown's signs mean nothing there; emphasis of all of it says nothing."""
    folded = "<details><summary>{}</summary>\n\nx\n\n</details>\n"
    for said, told in (
        ("The <b>old <i>one</i></b>, <em>not</em>", "The <strong>old <em>one</em></strong>, <em>not</em>"),
        ("<b>Run <code>x</code></b> now", "<strong>Run <code>x</code></strong> now"),
        ("<strong><em>All</em> of it</strong>", "<em>All</em> of it"),
        ("*a* <b></b>_b_", "*a* _b_"),
    ):
        assert markdown(f"<details><summary>{said}</summary><p>x</p></details>") == folded.format(told)


def test_keys_are_keys_and_options_are_code() -> None:
    """What is pressed is a key; what is typed is code."""
    assert markdown("<p><kbd><kbd>Ctrl</kbd>+<kbd>C</kbd></kbd> <kbd>--long</kbd></p>") == (
        "<kbd>Ctrl</kbd>+<kbd>C</kbd> `--long`\n"
    )


def test_lists_and_code_in_a_cell_keep_their_lines() -> None:
    """A cell has one line; what had several is parted by breaks."""
    html = (
        "<table><tr><th>a<th>b<tr><td>x<ul><li>y<li><p>z</p></ul>w<td><pre>1|2\n3</pre>"
        "<tr><td><ol><li>p<li>q</ol><td><p>only</p></table>"
    )
    assert markdown(html) == (
        "| a | b |\n| --- | --- |\n| x<br>- y<br>- z<br>w | `1\\|2`<br>`3` |\n| 1. p<br>2. q | only |\n"
    )


def test_ruby_readings_are_beside_their_characters() -> None:
    """Ruby in parentheses, other scripts as they are."""
    assert markdown("<p><ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby> שלום</p>") == "漢(kan) שלום\n"


@pytest.mark.parametrize(
    "html",
    [
        "<table><tr><th>h<tr><td><pre>a<ul><li>b</ul></pre></table>",
        '<div class="mermaid">a<a href="/x"><h2>b</h2></a></div>',
        '<div class="mermaid"><details><summary>s</summary><table><tr><td><ul><li>x</ul></table></details></div>',
    ],
)
def test_removed_elements_take_no_text_along(html: str) -> None:
    """A part that a rule has taken out can be met again on the way, and is passed over."""
    assert "end" in markdown(html + "<p>end</p>")


def test_diff_signs_from_style_sheets() -> None:
    """Expressive Code draws the signs of changed lines; in a file they have to stand in the code."""
    lines = (("del", "a"), ("ins", "b"), ("", "c"))
    rows = "".join(
        f'<div class="ec-line highlight {kind}"><div class="code">{text}</div></div>' for kind, text in lines
    )
    assert markdown(f'<pre data-language="diff"><code>{rows}</code></pre>') == "```diff\n-a\n+b\n c\n```\n"


def test_title_determines_the_kind() -> None:
    """A note that is entitled `Important` is read as important, whatever box it is drawn in."""
    title = '<p class="starlight-aside__title">Important</p>'
    box = f'<aside class="starlight-aside starlight-aside--note">{title}<p>x</aside>'
    assert markdown(box) == "> [!IMPORTANT]\n> x\n"


def test_hidden_heading_of_footnotes() -> None:
    """What only a screen reader reads above the footnotes is left out, in a box of its own too."""
    heading = '<div class="wrapper"><h2 class="sr-only" id="l">Footnotes</h2></div>'
    html = f'<p>x<sup><a href="#n">1</a></sup></p><section class="footnotes">{heading}<ol><li id="n">y</ol></section>'
    assert markdown(html) == "x[^1]\n\n[^1]: y\n"


@pytest.mark.parametrize(
    "html",
    [
        '<a href="#f">one <blockquote class="footnote" id="f">two</blockquote></a>',
        '<a href="#f">one <details class=note>two <summary>three <p class=footnote id=f>four</summary></a>',
        "<button>one <ul><li>two</ul></button> <button><h3>three</h3></button>",
        '<ul role="tablist">one <li role="tab">two <div role="tabpanel">three</div></li></ul>',
        "<math><mi>one</mi><math><mi>two</mi></math></math>",
        "<pre>one <pre>two</pre> three</pre>",
    ],
)
def test_fallback_content_is_kept(html: str) -> None:
    """Broken pages have notes in the links to them and panels in their tabs: all words come out."""
    text = markdown(html)
    assert all(word in text for word in ("one", "two", "three", "four") if word in html)


def test_title_is_written_once() -> None:
    """Where a page has it above its text and in it, as the manuals of Texinfo do; elsewhere it is a heading."""
    assert markdown("<h1>T</h1><h1>T</h1><p>x</p>") == "# T\n\nx\n"
    assert markdown("<h1>T</h1><h1>U</h1>") == "# T\n\n# U\n"
    assert markdown("<h1>T</h1><p>x</p><h1>T</h1>") == "# T\n\nx\n\n# T\n"


@pytest.mark.parametrize("tag", ["sub", "sup"])
def test_small_print_of_several_lines_is_text(tag: str) -> None:
    """Nothing that holds paragraphs or lists stands above or below a line."""
    html = f"<div><{tag}><p><b>Notes<br></b>Fir<br>Oud</p><ul><li>Warm</li></ul></{tag}></div>"
    assert markdown(html) == "**Notes**\\\nFir\\\nOud\n\n- Warm\n"


_DRAWN = (
    '<span class="katex"><span class="katex-mathml"><math><semantics><mrow><mi>y</mi></mrow><annotation encoding='
    '"application/x-tex">y_1 &lt; 2</annotation></semantics></math></span><span class="katex-html" aria-hidden="true">'
    "y1&lt;2</span></span>"
)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (f"Proof of {_DRAWN}", "Proof of $y_1 < 2$"),
        ("With <script type='math/tex'>x^2</script>", "With $x^2$"),
        ("With <script type='math/tex; mode=display'>x^2</script>", "With $x^2$"),
        ("With <math display='block'><mi>x</mi></math>", "With $x$"),
        ("10<sup>5</sup> of H<sub>2</sub>O", "10<sup>5</sup> of H<sub>2</sub>O"),
        ("Press <kbd>F1</kbd>", "Press <kbd>F1</kbd>"),
        ("What <q>it</q> is", 'What "it" is'),
    ],
)
def test_title_with_markup(said: str, told: str) -> None:
    """A formula is said once, a power is no digit, and keys and quotations are told as elsewhere: in notes, folded
    sections and tabs."""
    note = f'<div class="admonition tip"><p class="admonition-title">{said}</p><p>x</p></div>'
    assert markdown(note) == f"> [!TIP]\n> **{told}**\n>\n> x\n"
    summary = told.replace(" < ", " &lt; ")
    assert markdown(f"<details><summary>{said}</summary><p>x</p></details>") == (
        f"<details><summary>{summary}</summary>\n\nx\n\n</details>\n"
    )
    tabs = (
        f'<div class="tabbed-set"><div class="tabbed-labels"><label>{said}</label><label>B</label></div>'
        '<div class="tabbed-content"><div class="tabbed-block"><p>a</p></div><div class="tabbed-block"><p>b</p></div>'
        "</div></div>"
    )
    assert markdown(tabs) == f"- **{told}**\n\n  a\n\n- **B**\n\n  b\n"


def test_superscript_in_a_link_is_kept() -> None:
    """A power in the words of a link is no digit; the mark of a footnote is a link as it is."""
    assert markdown('<p><a href="/x">10<sup>5</sup> m</a></p>') == "[10<sup>5</sup> m](https://example.com/x)\n"
    assert markdown('<p><a href="/x"><sup>1</sup></a></p>') == "[1](https://example.com/x)\n"
    assert markdown('<p><a href="#x">a<sup>1</sup></a></p>') == "[a1](#x)\n"


def test_screen_reader_heading_is_kept() -> None:
    """A box that a screen reader calls one, of the level that it names; what holds more than a line is none."""
    html = '<div role="heading" aria-level="3">A <em>b</em></div><p>x</p><div role="heading"><div>C</div></div><p>y</p>'
    assert markdown(html) == "### A *b*\n\nx\n\n## C\n\ny\n"
    assert markdown('<div role="heading" aria-level="9">A</div><div role="heading"><ul><li>x</ul></div>') == (
        "A\n\n- x\n"
    )
    folded = '<div role="heading" aria-level="3"><button aria-controls="x">T</button></div><div id="x" hidden>x</div>'
    assert markdown(folded) == "### T\n\nx\n"


@pytest.mark.parametrize(
    ("button", "heading"),
    [
        ('<button class="copy-link">Copy</button>', "## Oars"),
        ('<button aria-label="Share this section">#</button>', "## Oars"),
        ("<button>Copy link</button>", "## Oars"),
        ("<button> and Rowlocks</button>", "## Oars and Rowlocks"),
        ("<button> for sharing, to copy and to edit</button>", "## Oars for sharing, to copy and to edit"),
        (" and a <button>Copy</button> button", "## Oars and a Copy button"),
        ('<button class="faq-anchor copyright"> and Rowlocks</button>', "## Oars and Rowlocks"),
        ('<button class="btn btn-link"> and Rowlocks</button>', "## Oars and Rowlocks"),
        ('<button class="copy" data-target="#x"> and Rowlocks</button>', "## Oars and Rowlocks"),
        ('<button class="copy" aria-expanded="false"> and Rowlocks</button>', "## Oars and Rowlocks"),
    ],
)
def test_copy_button_in_heading_is_removed(button: str, heading: str) -> None:
    """One that says what the heading is about, or is all of it, stays."""
    assert markdown(f"<h2>Oars{button}</h2><p>Two of them.</p>") == f"{heading}\n\nTwo of them.\n"
    assert markdown('<h2><button class="copy-link">Oars</button></h2>') == "## Oars\n"
