"""Lists of tasks whose boxes are not controls."""

from __future__ import annotations

import pytest

from tests.convert.pages import markdown


@pytest.mark.parametrize(
    "html",
    [
        '<ul class="inline-task-list"><li data-inline-task-id="1" class="checked"><span>Buy</span></li>'
        '<li data-inline-task-id="2"><span>Oil</span></li></ul>',
        '<ul class="to-do-list"><li><div class="checkbox checkbox-on"></div> <span>Buy</span></li>'
        '<li><div class="checkbox checkbox-off"></div> <span>Oil</span></li></ul>',
        '<ul class="org-ul"><li class="on"><code>[X]</code> Buy</li><li class="off"><code>[ ]</code> Oil</li></ul>',
        '<meta name="generator" content="Doxygen 1.12.0"><ul class="check"><li class="checked">Buy</li>'
        '<li class="unchecked">Oil</li></ul>',
        '<ul><li><div><button role="checkbox" aria-checked="true"></button></div><label><p>Buy</p></label></li>'
        '<li><div><button role="checkbox" aria-checked="false"></button></div><label><p>Oil</p></label></li></ul>',
    ],
    ids=["Confluence", "Notion", "Org", "Doxygen", "GitBook"],
)
def test_drawn_checkboxes_are_tasks(html: str) -> None:
    """What a style sheet draws says whether a task is done."""
    assert markdown(html) == "- [x] Buy\n- [ ] Oil\n"


def test_code_in_an_org_task_is_no_checkbox() -> None:
    """Where Org draws the boxes, the first code of an item is what it tells of."""
    html = '<ul class="org-ul"><li class="on">\u2611 Run <code>make</code></li><li class="off">\u2610 Wait</li></ul>'
    assert markdown(html) == "- [x] Run `make`\n- [ ] Wait\n"
