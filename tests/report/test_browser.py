"""The report in a real browser: it loads in silence, asks for nothing, fits a phone, has two themes and prints."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.browser import Browser, browser_path
from support.example_selections import SCRIPT, full, history, huge, plain, searched

pytestmark = pytest.mark.integration

ARTEFACTS = Path(__file__).resolve().parents[2] / "test-artefacts"
MAKERS = {"fscpu": searched, "semi-jmi": plain, "everything": full, "5000-features": huge}
PAGES = (*MAKERS, "history")
PHONE, PAGE = 390, 960  # pixels: width of a phone, height of a printed page between its margins


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    for name, make in MAKERS.items():
        make().write_report(folder / f"{name}.html")
    (folder / "history.html").write_text(history().to_html(), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in PAGES}


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    program = browser_path()
    if program is None:
        pytest.skip("no browser on PATH: looked for chromium, chromium-browser and google-chrome")
    ARTEFACTS.mkdir(exist_ok=True)
    driven = Browser(program, tmp_path_factory.mktemp("profile"))
    yield driven
    driven.close()


@pytest.mark.parametrize("name", PAGES)
def test_a_phone_shows_it_without_sideways_scrolling(browser: Browser, pages: dict[str, Path], name: str) -> None:
    browser.open(pages[name], PHONE, 844)
    assert browser.value("document.scrollingElement.scrollWidth") <= PHONE
    assert browser.value("[...document.querySelectorAll('details')].forEach(d => d.open = true)") is None
    assert browser.value("document.scrollingElement.scrollWidth") <= PHONE
    browser.photograph(ARTEFACTS / f"{name}-phone.png")


@pytest.mark.parametrize("name", PAGES)
def test_it_loads_in_silence_and_asks_for_nothing(browser: Browser, pages: dict[str, Path], name: str) -> None:
    browser.requests.clear()
    browser.complaints.clear()
    browser.open(pages[name], 1100, 800)
    assert browser.value("document.scrollingElement.scrollWidth <= innerWidth")
    assert browser.value("performance.getEntriesByType('resource').length") == 0
    assert browser.requests == [pages[name].as_uri()]
    assert browser.complaints == []


def test_a_complaint_and_a_request_would_be_seen(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "bad.html").write_text("<script>oh.no</script><img src='http://example.org/x.png'>")
    browser.requests.clear()
    browser.open(tmp_path / "bad.html", 800, 600)
    assert "http://example.org/x.png" in browser.requests
    assert any("oh is not defined" in complaint for complaint in browser.complaints)


def test_a_column_called_script_is_shown_not_run(browser: Browser, pages: dict[str, Path]) -> None:
    browser.complaints.clear()
    browser.open(pages["everything"], 1100, 800)
    assert browser.value("document.scripts.length") == 1  # which sorts and finds
    assert SCRIPT in browser.value("document.querySelector('.ranking').innerText")
    assert browser.complaints == []


@pytest.mark.parametrize("name", PAGES)
def test_light_and_dark(browser: Browser, pages: dict[str, Path], name: str) -> None:
    grounds = []
    for dark in (False, True):
        browser.open(pages[name], 1100, 800, dark)
        grounds.append(browser.value("getComputedStyle(document.body).backgroundColor"))
        file = ARTEFACTS / f"{name}-{'dark' if dark else 'light'}.png"
        browser.photograph(file)
        assert file.read_bytes().startswith(b"\x89PNG")
    assert grounds == ["rgb(255, 255, 255)", "rgb(16, 21, 28)"]


@pytest.mark.parametrize("name", PAGES)
def test_print_is_light_unfolded_and_cuts_no_picture(browser: Browser, pages: dict[str, Path], name: str) -> None:
    browser.open(pages[name], 690, PAGE, dark=True, media="print")
    assert browser.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    folded = (
        "[...document.querySelectorAll('details tr')].filter(row => row.getBoundingClientRect().height === 0).length"
    )
    assert browser.value(folded) == 0
    pictures = "[...document.querySelectorAll('figure.picture, figure.card')]"
    assert browser.value(f"{pictures}.every(p => getComputedStyle(p).breakInside === 'avoid')")
    assert browser.value(f"Math.max(0, ...{pictures}.map(p => p.getBoundingClientRect().height))") < PAGE
    browser.print_to(ARTEFACTS / f"{name}.pdf")
    assert (ARTEFACTS / f"{name}.pdf").read_bytes().startswith(b"%PDF")


AXE = Path(os.environ.get("SPARK_PUFS_AXE") or ARTEFACTS.parent / "node_modules" / "axe-core" / "axe.min.js")
FOUND = (
    "axe.run({resultTypes: ['violations']}).then(r => r.violations"
    ".filter(v => ['serious', 'critical'].includes(v.impact))"
    ".map(v => v.id + ': ' + v.nodes.slice(0, 3).map(n => n.html.slice(0, 120)).join(' | ')))"
)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_has_no_serious_finding(browser: Browser, pages: dict[str, Path], name: str, dark: bool) -> None:
    if not AXE.is_file():
        pytest.skip("no axe-core: `npm install --no-save axe-core`, or SPARK_PUFS_AXE names axe.min.js")
    if name == "5000-features":
        pytest.skip("the same page as the others, and minutes of checks")
    browser.open(pages[name], 1100, 800, dark)
    browser.value(AXE.read_text(encoding="utf-8") + ";0")
    assert browser.value(FOUND) == []


def test_the_ranking_can_be_sorted_by_keyboard_and_searched(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["fscpu"], 1100, 800)
    names = "[...document.querySelector('.ranking').tBodies[0].rows].map(r => r.querySelector('.name').innerText)"
    before = browser.value(names)
    browser.value("document.querySelectorAll('.ranking .sort')[1].focus(); document.activeElement.click()")
    assert browser.value(names) == sorted(before, key=str.lower)
    assert browser.value("document.querySelectorAll('.ranking th')[1].getAttribute('aria-sort')") == "ascending"
    wanted = before[0]
    script = "const f = document.querySelector('#find input'); f.value = %r; f.dispatchEvent(new Event('input'))"
    browser.value(script % wanted)
    shown = "[...document.querySelectorAll('.ranking tbody tr')].filter(r => !r.hidden).length"
    assert browser.value(shown) == 1
    assert browser.value("document.querySelector('#find [role=status]').innerText").startswith("1 of ")


@pytest.mark.parametrize("width", [PHONE, 1100])
def test_bars_of_one_ranking_have_one_scale(browser: Browser, pages: dict[str, Path], width: int) -> None:
    browser.open(pages["fscpu"], width, 844)
    bars = "[...document.querySelector('.ranking').querySelectorAll('svg.bar')]"
    assert browser.value(f"new Set({bars}.map(bar => Math.round(bar.getBoundingClientRect().width))).size") == 1
