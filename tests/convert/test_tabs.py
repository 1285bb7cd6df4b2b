"""Tabs of many makers become lists, each item with the tab's name."""

from __future__ import annotations

import pytest

from tests.convert.pages import markdown

BOOTSTRAP = (
    '<ul class="nav nav-tabs"{0}><li class="active"><a data-toggle="tab" href="#a">A</a></li><li><a data-toggle="tab" '
    'href="#b">B</a></li></ul><div class="tab-content"><div id="b" class="tab-pane"><p>two</p></div>'
    '<div id="a" class="tab-pane active"><p>one</p></div></div>'
)
SETS = {
    "asciidoctor-tabs": (
        '<div class="openblock tabs is-sync"><div class="content"><div class="ulist tablist"><ul><li id="t1">'
        '<p>A</p></li><li id="t2" class="tab"><p>B</p></li></ul></div><div class="tabpanel" aria-labelledby="t1">'
        '<p>one</p></div><div class="tabpanel is-hidden" aria-labelledby="t2"><p>two</p></div></div></div>'
    ),
    "Bootstrap 3": BOOTSTRAP.format(""),
    "Bootstrap 3, half marked up": BOOTSTRAP.format(' role="tablist"'),
    "Hexo's NexT": (
        '<div class="tabs"><ul class="nav-tabs"><li class="tab active"><a href="#t-1">A</a></li><li class="tab">'
        '<a href="#t-2">B</a></li></ul><div class="tab-content"><div class="tab-pane active" id="t-1"><p>one</p></div>'
        '<div class="tab-pane" id="t-2"><p>two</p></div></div></div>'
    ),
    "Hexo's Butterfly": (
        '<div class="tabs"><div class="nav-tabs"><button class="tab active">A</button><button class="tab">B</button>'
        '</div><div class="tab-contents"><div class="tab-item-content active"><p>one</p></div>'
        '<div class="tab-item-content"><p>two</p></div></div></div>'
    ),
    "VuePress, whose panels have their labels as well": (
        '<div class="vp-tabs"><div class="vp-tabs-nav" role="tablist"><button role="tab" aria-controls="v-0">A</button>'
        '<button role="tab" aria-controls="v-1">B</button></div><div class="vp-tab" id="v-0" role="tabpanel">'
        '<div class="vp-tab-title">A</div><p>one</p></div><div class="vp-tab" id="v-1" role="tabpanel">'
        '<div class="vp-tab-title">B</div><p>two</p></div></div>'
    ),
    "Shoelace": (
        '<sl-tab-group><sl-tab slot="nav" panel="a">A</sl-tab><sl-tab slot="nav" panel="b">B</sl-tab>'
        '<sl-tab-panel name="a">one</sl-tab-panel><sl-tab-panel name="b">two</sl-tab-panel></sl-tab-group>'
    ),
}


@pytest.mark.parametrize("html", SETS.values(), ids=SETS)
def test_tabs_become_labelled_groups(html: str) -> None:
    """Each panel stands under its own label, whatever says which is which."""
    assert markdown(html) == "- **A**\n\n  one\n\n- **B**\n\n  two\n"


@pytest.mark.parametrize("html", SETS.values(), ids=SETS)
def test_tabs_in_a_cell_are_lines(html: str) -> None:
    """A cell has no lists, so that each name stands on a line above its panel."""
    table = f"<table><tr><th>h<tr><td>Text{html}</table>"
    assert markdown(table) == "| h |\n| --- |\n| Text<br>**A**<br>one<br>**B**<br>two |\n"


def test_image_beside_a_tab_in_a_cell_is_kept() -> None:
    """Only what held nothing but the name goes with it."""
    tabs = (
        '<div role="tablist"><span><a role="tab" href="#a">A</a><img src="p.png" alt="Pic"></span>'
        '<a role="tab" href="#b">B</a></div><div role="tabpanel" id="a">one</div><div role="tabpanel" id="b">two</div>'
    )
    assert "![Pic]" in markdown(f"<table><tr><th>h<tr><td>{tabs}</table>")


_IN_ITEMS = (
    '<ul role="tablist"><li role="presentation"><a role="tab" href="#a">A</a><div role="tabpanel" id="a">{0}<p>one</p>'
    '</div></li><li><a role="tab" href="#b">B</a><div role="tabpanel" id="b">{0}<ol><li>two</li></ol></div></li></ul>'
)


def test_panels_inside_tab_items() -> None:
    """They are the items then, and no list stands in an empty one."""
    assert markdown(_IN_ITEMS.format("")) == "- **A**\n\n  one\n\n- **B**\n\n  1. two\n"


def test_panels_with_headings_inside_tab_items() -> None:
    """No heading stands in a list; a list of the panel's own stays one."""
    found = markdown(_IN_ITEMS.format("<h2>Get it</h2>"))
    assert found == "**A**\n\n## Get it\n\none\n\n**B**\n\n## Get it\n\n1. two\n"


def test_panels_that_are_code_stay_code() -> None:
    """ReadMe's tabs hold nothing but listings."""
    html = (
        '<div class="CodeTabs"><div class="CodeTabs-toolbar"><button>cURL</button><button>Node</button>'
        '</div><div class="CodeTabs-inner"><pre><code class="language-bash">curl x\n</code></pre>'
        '<pre><code class="language-js">x()\n</code></pre></div></div>'
    )
    assert markdown(html) == "- **cURL**\n  ```bash\n  curl x\n  ```\n\n- **Node**\n  ```js\n  x()\n  ```\n"


def test_row_of_links_is_no_tabs() -> None:
    """What has the name of tabs and shows nothing stays a list."""
    html = '<ul class="nav nav-tabs"><li><a href="/a">A</a></li><li><a href="/b">B</a></li></ul>'
    assert markdown(html) == "- [A](https://example.com/a)\n- [B](https://example.com/b)\n"


def test_adjacent_tab_sets_are_separate() -> None:
    """Panels are of the set whose labels name them, also where both sets stand in one element."""
    sets = "".join(
        f'<h2>{name}</h2><div role="tablist"><button role="tab" aria-controls="{name}1">One</button>'
        f'<button role="tab" aria-controls="{name}2">Two</button></div><div role="tabpanel" id="{name}1">'
        f'<p>{name} one</p></div><div role="tabpanel" id="{name}2"><p>{name} two</p></div>'
        for name in ("Left", "Right")
    )
    each = "## {0}\n\n- **One**\n\n  {0} one\n\n- **Two**\n\n  {0} two\n"
    assert markdown(f"<main>{sets}</main>") == each.format("Left") + "\n" + each.format("Right")


def test_tabs_around_panels_keep_their_labels() -> None:
    """Whatever the name stands in: a button, a word."""
    html = (
        '<ul role="tablist"><li role="tab"><button>One</button><div role="tabpanel"><p>A</p></div></li>'
        '<li role="tab">Two<div><div role="tabpanel"><p>B</p></div></div></li></ul>'
    )
    assert markdown(html) == "- **One**\n\n  A\n\n- **Two**\n\n  B\n"


def test_headings_above_collapsible_text_are_kept() -> None:
    """An accordion whose parts are called tabs is no set of tabs: its headings are sections of the page."""
    part = '<div role="tab"><h2><button>{0}</button></h2><div role="tabpanel"><p>{0} is told.</p></div></div>'
    html = f'<div role="tablist">{part.format("One")}{part.format("Two")}</div>'
    assert markdown(html) == "## One\n\nOne is told.\n\n## Two\n\nTwo is told.\n"


def test_note_title_in_a_tab_is_no_heading() -> None:
    """Docsy has it in an `h4`; only headings of the page make sections of tabs."""
    tabs = '<ul class="nav nav-tabs" role="tablist"><li><button role="tab" aria-controls="a">A</button></li></ul>'
    panel = '<div class="tab-content"><div role="tabpanel" id="a"><p>a</p>{}</div></div>'
    note = '<div class="alert alert-info" role="alert"><h4 class="alert-heading">Note:</h4><p>n</p></div>'
    assert markdown(tabs + panel.format(note)) == "- **A**\n\n  a\n\n  > [!NOTE]\n  > n\n"
    assert markdown(tabs + panel.format("<h4>Note</h4><p>n</p>")) == "**A**\n\na\n\n#### Note\n\nn\n"
