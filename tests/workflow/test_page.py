"""The page as people open it: in a real browser, from disk, with the network off."""

import os
import shutil

import pytest

pytestmark = pytest.mark.xdist_group("workflow")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
if CHROMIUM is None:
    pytest.skip("no Chromium on this machine", allow_module_level=True)

FLAGS = ["--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
SIZES = [(1440, 900), (390, 844)]


@pytest.fixture(scope="module")
def browser():
    flags = FLAGS + (["--no-sandbox"] if os.geteuid() == 0 else [])
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield opened
        opened.close()


@pytest.fixture
def opened(browser, reference):
    """Open the page of `smoke`; what it complains about is in ``complaints``."""
    folder, _ = reference
    contexts = []

    def show(size=SIZES[0], scheme="light"):
        context = browser.new_context(
            viewport={"width": size[0], "height": size[1]}, color_scheme=scheme, offline=True
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(15_000)
        page.complaints, page.asked = [], []
        page.on("console", lambda said: page.complaints.append(said.text) if said.type != "log" else None)
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto((folder / "reports/smoke/index.html").as_uri())
        for chart in ("explorer", "budget", "profiles"):
            page.wait_for_selector(f"#{chart} svg g.mark-line path", state="attached")
        return page

    yield show
    for context in contexts:
        context.close()


def lines(page, chart="explorer"):
    """The drawn paths of a chart."""
    paths = page.locator(f"#{chart} svg g.mark-line path")
    return [paths.nth(number).get_attribute("d") for number in range(paths.count())]


def changed(page, before, chart="explorer"):
    """Wait until a chart shows other lines."""
    page.wait_for_function(
        """([chart, before]) => {
            const paths = document.querySelectorAll(`#${chart} svg g.mark-line path`);
            const drawn = [...paths].map((path) => path.getAttribute("d"));
            return JSON.stringify(drawn) !== JSON.stringify(before);
        }""",
        arg=[chart, before],
    )
    return lines(page, chart)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_opens_without_a_complaint_or_a_request_and_fits(opened, size, scheme):
    page = opened(size, scheme)
    assert page.complaints == []
    assert [url for url in page.asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert page.evaluate("document.documentElement.scrollWidth") == size[0]
    wide = page.evaluate(
        """() => [...document.querySelectorAll("main svg, main img, main p, main select, main h2")]
            .filter((node) => node.getBoundingClientRect().right > innerWidth + 1).length"""
    )
    assert wide == 0


def test_the_answer_is_on_the_first_screen(opened):
    page = opened()
    box = page.locator(".answer").first.bounding_box()
    assert box["y"] + box["height"] < SIZES[0][1]
    assert "New York flights" in page.locator(".answer").first.inner_text()


def test_selectors_change_the_chart(opened):
    page = opened()
    shown = lines(page)
    assert len(shown) == 7  # the mechanisms of smoke
    for selector, value in [
        ("stream", "log"),
        ("axis", "window"),
        ("measure", "2"),
        ("release", "projected"),
    ]:
        page.select_option(f"#{selector}", value)
        shown = changed(page, shown)
    assert "log" in page.input_value("#stream")
    page.get_by_role("checkbox", name="LBU").uncheck()
    assert len(changed(page, shown)) == 6
    assert "released projected" in page.get_attribute("#explorer", "aria-label")


def test_the_values_are_a_table_too(opened):
    page = opened()
    rows = page.locator("#values tbody tr")
    assert rows.count() == 7
    assert "LSP" in page.locator("#values").text_content()


def test_values_show_on_hover(opened):
    page = opened()
    page.locator("#explorer svg g.mark-symbol path").first.hover(force=True)
    page.wait_for_selector("#vg-tooltip-element.visible")
    assert "mechanism" in page.locator("#vg-tooltip-element").inner_text()


def test_the_player_moves_by_slider_keys_and_button(opened):
    page = opened()

    def moment():
        return page.locator("#moment").inner_text()

    def radii():
        return page.evaluate(
            "[...document.querySelectorAll('#true-map circle')].map((c) => c.getAttribute('r'))"
        )

    start, circles = moment(), radii()
    assert start.startswith("t = 0, 2013-02-01 00:00")
    assert len(circles) == 95
    page.focus("#time")
    page.keyboard.press("ArrowRight")
    assert moment().startswith("t = 1,")
    page.locator("#time").fill("190")
    assert "blizzard at JFK" in moment()
    assert radii() != circles
    page.click("#play")
    page.wait_for_function("document.getElementById('moment').textContent.startsWith('t = 193')")
    page.click("#play")
    assert page.locator("#play").inner_text() == "Play"


def test_the_budget_view_stays_under_its_limit(opened):
    page = opened()
    # LBU and the mechanism that is shown first spend alike, so another stands between them
    for name in ("lsp", "lbu"):
        shown = lines(page, "budget")
        page.select_option("#player-mechanism", name)
        changed(page, shown, "budget")
    words = page.locator("#budget-words").inner_text()
    assert words.startswith("LBU publishes at 672 of 672 timestamps")
    assert "is 1.0000 of the limit" in words


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_no_serious_fault(opened, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = opened(scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    found = axe.Axe().run(page).response["violations"]
    serious = [
        (fault["id"], fault["nodes"][0]["html"][:120])
        for fault in found
        if fault["impact"] in ("serious", "critical")
    ]
    assert serious == []


def test_it_is_small_enough(reference):
    folder, _ = reference
    assert (folder / "reports/smoke/index.html").stat().st_size < 8_000_000
