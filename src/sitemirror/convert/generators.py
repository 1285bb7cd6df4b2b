"""What the common documentation generators call their parts. Data only: a generator is added by adding an entry.

Matching dozens of class names on every page costs more than parsing it, so a generator's selectors are used only on
pages whose head names it: in its generator meta element or by the style sheets and scripts it loads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Generator:
    """How a generator's pages are recognised, where their content is and what stands around it."""

    name: str
    mark: str  # what the generator meta element, style sheets or scripts of such a page hold, and few others do
    content: str = ""  # CSS selector of the content; empty where the page's landmarks say it
    chrome: str = ""  # CSS selectors of what is never content, inside the content or beside it


GENERATORS: Final = (
    Generator(
        "Sphinx",
        "_static/",
        content="div.body[role=main], div.documentwrapper div.body, [role=main][itemprop=articleBody], "
        "article.bd-article",
        chrome=".sphinxsidebar, .related, .rst-versions, .rst-footer-buttons, .wy-nav-side, .wy-nav-top, .bd-sidebar, "
        ".bd-sidebar-primary, .bd-sidebar-secondary, .bd-header, .prev-next-area, .sidebar-drawer, .toc-drawer, "
        ".mobile-header, .content-icon-container, .back-to-top, .viewcode-back, #searchbox",
    ),
    Generator(
        "MkDocs Material",
        "mkdocs-material",
        content=".md-content__inner",
        chrome=".md-header, .md-tabs, .md-sidebar, .md-footer, .md-search, .md-skip, .md-top, .md-content__button, "
        ".md-source-file, .md-feedback, .md-banner",
    ),
    Generator(
        "MkDocs",
        "mkdocs",
        chrome=".navbar, .bs-sidebar, .col-md-3 .navbar-light, .modal",
    ),
    Generator(
        "Docusaurus",
        "Docusaurus",
        chrome=".theme-doc-sidebar-container, .theme-doc-toc-desktop, .theme-doc-toc-mobile, .table-of-contents, "
        ".theme-doc-breadcrumbs, .theme-doc-footer, .pagination-nav, .theme-edit-this-page, .theme-last-updated, "
        ".navbar, .theme-doc-version-banner",
    ),
    Generator(
        "VitePress",
        "VitePress",
        content=".vp-doc",
        chrome=".VPNav, .VPLocalNav, .VPSidebar, .VPDocAside, .VPDocFooter, .VPFooter, .VPSkipLink, .VPBackdrop",
    ),
    Generator(
        "Starlight",
        "Starlight",
        content="main:has(.sl-markdown-content)",
        chrome=".sidebar, .right-sidebar-container, .sl-skip-link, .pagination-links, mobile-starlight-toc",
    ),
    Generator(
        "mdBook",
        "css/chrome",
        content="#content main",
        chrome="#sidebar, #menu-bar, #menu-bar-hover-placeholder, .nav-chapters, .nav-wrapper, .nav-wide-wrapper",
    ),
    Generator(
        "DocBook",
        "DocBook",
        chrome=".navheader, .navfooter, .spirit-nav",
    ),
    Generator(
        "Asciidoctor",
        "Asciidoctor",
        chrome="#footer, .toc2, .nav-container, .toolbar, .page-versions",
    ),
    Generator(
        "MediaWiki",
        "MediaWiki",
        content="#bodyContent, #mw-content-text",
        chrome=".mw-editsection, .mw-jump-link, #siteSub, #contentSub, .printfooter, .catlinks, #mw-navigation, "
        "#toc, .vector-toc, .navbox, .mw-indicators",
    ),
    Generator(
        "Doxygen",
        "Doxygen",
        content="#doc-content .contents, div.contents",
        chrome="#side-nav, #nav-path, #nav-tree, #MSearchSelectWindow, #MSearchResultsWindow, #main-nav, .navpath, "
        ".tabs, .permalink",
    ),
    Generator(
        "Javadoc",
        "javadoc",
        chrome=".topNav, .bottomNav, .subNav, .top-nav, .sub-nav, .skip-nav, .skipNav",
    ),
    Generator(
        "rustdoc",
        "rustdoc",
        content="#main-content",
        chrome=".sidebar, .mobile-topbar, rustdoc-topbar, rustdoc-search, #copy-path, .doc-anchor, a.src, .out-of-band",
    ),
    Generator(
        "WordPress",
        "wp-content",
        chrome=".site-header, .site-footer, .widget-area, .post-navigation, .comment-respond, .sharedaddy, "
        ".jp-relatedposts",
    ),
)


def recognise(signature: str) -> tuple[Generator, ...]:
    """The generators that a page's head names. More than one is common: themes are built on one another."""
    return tuple(generator for generator in GENERATORS if generator.mark in signature)
