"""The documentation as a site: it builds without a warning, its links lead somewhere, and it fetches nothing."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).parents[2]
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
"""Elements that make a browser fetch something by itself."""


class Page(HTMLParser):
    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given.get("id", ""), given.get("name", "")}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag in LOADED and LOADED[tag] in given and given.get("rel") not in ("canonical", "next", "prev"):
            self.loaded.append(given[LOADED[tag]])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Page]:
    if find_spec("mkdocs") is None or find_spec("material") is None:
        pytest.skip("no mkdocs-material (extra docs)")
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return {path: Page(path) for path in folder.rglob("*.html")}


def test_every_page_of_the_sources_is_in_the_site(site: dict[Path, Page]) -> None:
    assert len(site) >= len(list((ROOT / "docs").rglob("*.md")))


def test_every_fence_became_a_block_of_code(site: dict[Path, Page]) -> None:
    assert [path.name for path in site if "```" in path.read_text(encoding="utf-8")] == []


def test_nothing_is_fetched_from_elsewhere(site: dict[Path, Page]) -> None:
    found = {address for page in site.values() for address in page.loaded if urlsplit(address).netloc}
    assert found == set()


def test_links_lead_to_a_page_and_a_place_on_it(site: dict[Path, Page]) -> None:
    broken = []
    for path, page in site.items():
        if path.name == "404.html":
            continue  # its links are meant for the root of a server
        for link in (*page.links, *page.loaded):
            target = urlsplit(link)
            if target.scheme or target.netloc:
                continue
            there = (path.parent / unquote(target.path)).resolve() if target.path else path
            there = there / "index.html" if there.is_dir() else there
            if not there.exists() or (target.fragment and there in site and target.fragment not in site[there].ids):
                broken.append(f"{path.name}: {link}")
    assert broken == []
