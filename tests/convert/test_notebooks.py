"""Notebooks and galleries on documentation sites: their cells, and nothing of the frame around these."""

from __future__ import annotations

from tests.convert.pages import markdown

SPHINX = '<link rel="stylesheet" href="_static/pygments.css"><body>'


def test_nbsphinx_cells_have_no_numbers() -> None:
    """The number before a cell looks like code, and is none."""
    html = (
        f'{SPHINX}<div class="body" role="main"><h1>T</h1><div class="nbinput"><div class="prompt highlight-none">'
        '<div class="highlight"><pre>[1]:</pre></div></div><div class="input_area highlight-python"><pre>x</pre></div>'
        '</div><div class="nboutput container"><div class="prompt highlight-none"><pre>[1]:</pre></div>'
        '<div class="output_area"><pre>3</pre></div></div></div>'
    )
    assert markdown(html) == "# T\n\n```python\nx\n```\n\n```\n3\n```\n"


def test_nbconvert_cells_have_no_numbers() -> None:
    """mkdocs-jupyter adds each cell's code a second time, hidden, for a button to copy."""
    html = (
        '<div class="jp-Cell"><div class="jp-InputPrompt jp-InputArea-prompt">In [1]:</div>'
        '<div class="highlight-ipynb hl-python"><pre>a = 1\nb</pre></div>'
        '<div class="clipboard-copy-txt" id="cell-1">a = 1\nb</div></div>'
        '<div class="jp-OutputPrompt jp-OutputArea-prompt">Out[1]:</div><div><pre>2</pre></div>'
    )
    assert markdown(html) == "```python\na = 1\nb\n```\n\n```\n2\n```\n"


def test_older_notebook_cells_have_no_numbers() -> None:
    """nbconvert's classic template, and all that it wrote before JupyterLab's, call them otherwise."""
    html = (
        '<div class="cell"><div class="input"><div class="prompt input_prompt">In&nbsp;[1]:</div>'
        '<div class="inner_cell"><div class="input_area"><div class="highlight hl-python"><pre>1 + 1</pre></div></div>'
        "</div></div>"
        '<div class="output_wrapper"><div class="output"><div class="output_area"><div class="prompt output_prompt">'
        'Out[1]:</div><div class="output_text output_subarea"><pre>2</pre></div></div></div></div></div>'
    )
    assert markdown(html) == "```python\n1 + 1\n```\n\n```\n2\n```\n"


def test_collapsed_myst_nb_cell_has_one_title() -> None:
    """Of what its title says when folded and when not, a reader sees one."""
    html = (
        f'{SPHINX}<details class="admonition hide"><summary><p class="collapsed admonition-title">Show it</p>'
        '<p class="expanded admonition-title">Hide it</p></summary><p>B</p></details>'
    )
    assert markdown(html) == "<details><summary>Show it</summary>\n\nB\n\n</details>\n"


def test_gallery_examples_are_named_once() -> None:
    """Sphinx-Gallery writes each title as a link and as the text below it, and its own name below all."""
    html = (
        f'{SPHINX}<div class="body" role="main"><h1>T</h1><div class="sphx-glr-thumb"><img src="/a.png" alt="">'
        '<p><a href="/one.html"><span>One</span></a></p><div class="sphx-glr-thumbnail-title">One</div></div>'
        '<p class="sphx-glr-signature"><a href="https://sphinx-gallery.github.io">Gallery</a></p></div>'
    )
    assert (
        markdown(html, content="auto")
        == "# T\n\n![](https://example.com/a.png)\n\n[One](https://example.com/one.html)\n"
    )


def test_dark_variant_of_an_image_is_removed() -> None:
    """MkDocs Material shows one of the two."""
    html = (
        '<meta name="generator" content="mkdocs-1.6.1, mkdocs-material-9.8.1"><p><img src="/a.png#only-light" alt="a">'
        '<img src="/b.png#only-dark" alt="b"></p>'
    )
    assert markdown(html) == "![a](https://example.com/a.png#only-light)\n"


def test_awesome_theme_sidebar_is_removed() -> None:
    """Its list of headings is no part of the page, not even of a notebook with few words."""
    html = (
        f'{SPHINX}<main><div><div id="content" role="main"><h1>T</h1><pre>x</pre><h2 id="a">After</h2></div></div>'
        '<div><p>On this page</p><ul><li><a href="#a">After</a></li></ul></div></main>'
    )
    assert markdown(html, content="auto") == "# T\n\n```\nx\n```\n\n## After\n"
