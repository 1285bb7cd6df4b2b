"""The loaders of `examples/`, where their packages are installed."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

import sitemirror
from tests.conftest import RunHere
from tests.site import Site

EXAMPLES = Path(__file__).parents[2] / "examples"

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the packages themselves


@pytest.fixture
def mirrored(site: Site, out: Path, run_here: RunHere) -> Path:
    site.html_page("/", "Home", "<h1>Home</h1><p>Welcome.</p>")
    site.html_page("/a", "A", "<h1>A</h1><p>About a.</p><h2>More</h2><p>More of a.</p>")
    site.sitemap()
    assert run_here("mirror", site.url, "--rate-limit", 0, "--output", out).returncode == 0
    return out


def example(name: str, needs: str) -> ModuleType:
    pytest.importorskip(needs, reason=f"{needs} is not installed")
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def test_langchain_loads_sections_and_pages(mirrored: Path) -> None:
    """With the ids of the export, and a source to cite."""
    loader = example("langchain_loader", "langchain_core").MirrorLoader
    documents = loader(str(mirrored)).load()
    sections = list(sitemirror.export(mirrored, unit="sections"))
    assert [document.id for document in documents] == [section.id for section in sections]
    assert [document.metadata["source"] for document in documents] == [section.url for section in sections]
    pages = loader(str(mirrored), unit="pages").load()
    assert {page.page_content for page in pages} == {page.text for page in sitemirror.export(mirrored)}
    assert list(loader(str(mirrored), since="2020-01-01").removed_ids()) == []


def test_llama_index_reads_pages_and_sections(mirrored: Path) -> None:
    """Sections of a page know their neighbours."""
    module = example("llama_index_reader", "llama_index.core")
    documents = module.MirrorReader().load_data(str(mirrored))
    assert {document.id_ for document in documents} == {page.id for page in sitemirror.export(mirrored)}
    nodes = module.section_nodes(str(mirrored))
    assert [node.text for node in nodes] == [section.text for section in sitemirror.export(mirrored, unit="sections")]
    more = next(node for node in nodes if node.metadata["headings"] == "A > More")
    assert more.prev_node.node_id in {node.id_ for node in nodes}
