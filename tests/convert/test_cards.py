"""Small parts of pages that only a name gives away: cards, raised words, what is there to be pressed."""

from __future__ import annotations

from tests.convert.pages import markdown

CARD = (
    '<div class="sd-card"><div class="sd-card-body">{0}<p class="sd-card-text">Two of them.</p></div><a href="/oars" '
    'class="sd-stretched-link sd-hide-link-text reference external"><span>/oars</span></a></div>'
)


def test_card_title_becomes_link() -> None:
    """A link that is spread over a card without a word of its own does not stand below it as an address."""
    title = '<div class="sd-card-title">Oars</div>'
    assert markdown(CARD.format(title)) == "[Oars](https://example.com/oars)\n\nTwo of them.\n"


def test_card_without_title_keeps_its_link() -> None:
    """Where nothing else can be the link, it stays what it is."""
    assert "(https://example.com/oars)" in markdown(CARD.format(""))


def test_button_text_is_omitted() -> None:
    """A quote in XenForo ends with its last words."""
    html = (
        '<blockquote class="bbCodeBlock"><div>Hi</div><div class="bbCodeBlock-expandLink js-expandLink">'
        '<a role="button" tabindex="0">Click to expand...</a></div></blockquote>'
    )
    assert markdown(html) == "> Hi\n"


def test_missing_description_is_omitted() -> None:
    """What nbconvert says of every picture says nothing."""
    html = '<p><img src="/x.png" alt="No description has been provided for this image"></p>'
    assert markdown(html) == "![](https://example.com/x.png)\n"
