"""The page for everybody: a phone, contrast in both themes, focus, motion, long names."""

import pytest

from support.migration import TIME, every_part, route
from support.page_fixtures import toggle


# Every text that is shown, with its contrast to what lies behind it (WCAG 2, 1.4.3).
FAINT = """(() => {
    // `rgb(…)` counts to 255, `color(srgb …)` to 1.
    const parts = (color) => {
        const [r, g, b, alpha = 1] = color.match(/[\\d.]+/g).map(Number), whole = color.startsWith("color(") ? 255 : 1;
        return [r * whole, g * whole, b * whole, alpha];
    };
    const luminance = ([red, green, blue]) => {
        const [r, g, b] = [red, green, blue].map((part) => (part /= 255) <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = (element) => {
        for (let one = element; one; one = one.parentElement) {
            const color = parts(getComputedStyle(one).backgroundColor);
            if (color[3] > 0.9) return color;
        }
        return [255, 255, 255];
    };
    const faint = [];
    let looked = 0;
    const top = document.querySelector("dialog[open]") ?? document.body;
    const walker = document.createTreeWalker(top, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const text = walker.currentNode.data.trim(), element = walker.currentNode.parentElement;
        if (!text || !element.checkVisibility({ visibilityProperty: true }) || element.closest(":disabled, script, style, dialog:not([open])")) continue;
        looked += 1;
        const [one, other] = [luminance(parts(getComputedStyle(element).color)), luminance(ground(element))];
        const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
        if (contrast < 4.5) faint.push([text, element.className, contrast.toFixed(2)]);
    }
    return { faint, looked };
})()"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_everything_can_be_read(shown, pictures, dark):
    page = shown(every_part(), dark=dark)
    page.click(toggle("shop.v1.Shop/GetCart"))
    page.screenshot(pictures / ("dark.png" if dark else "light.png"), full=True)
    luminance = page.run("getComputedStyle(document.body).backgroundColor.match(/[\\d.]+/g).map(Number)[0]")
    assert (luminance < 64) == dark
    page.run("document.querySelectorAll('.toggle[aria-expanded=false]').forEach((one) => one.click())")
    found = page.run(FAINT)
    assert found["faint"] == [] and found["looked"] > 200
    for opening in ("openChange(page.routes[1], 'move')", "openHelp()", "askForToken(true)"):
        page.run(f"document.querySelector('dialog[open]')?.close(); void {opening}")
        found = page.run(FAINT)
        assert found["faint"] == [] and found["looked"] > 4, opening
    page.run("document.querySelector('dialog[open]').close(); page.failures = 2; page.problem = 'a test'; renderLive()")
    assert page.text("#banner") and page.run(FAINT)["faint"] == []


def test_what_has_the_focus_is_seen_and_named(shown):
    """By Tab through all of the page: each stop has an outline, is not covered, and says what it is to those who cannot see it."""
    page = shown(every_part())
    page.run("document.querySelectorAll('.toggle').forEach((one) => one.click())")
    page.run("document.querySelector('.skip').focus()")
    stops = []
    for _ in range(200):
        stop = page.run("""(() => {
            const one = document.activeElement, box = one.getBoundingClientRect(), style = getComputedStyle(one);
            const at = document.elementFromPoint(box.x + Math.min(box.width / 2, 40), box.y + Math.min(box.height / 2, 10));
            return { tag: one.tagName, what: one.id || one.innerText, outline: style.outlineStyle,
                     seen: at === one || one.contains(at) || at?.contains(one) };
        })()""")
        if stop["tag"] == "BODY" or stop["what"] in stops[1:]:
            if stop["tag"] == "BODY":
                break
        stops.append(stop["what"])
        assert stop["outline"] != "none" and stop["seen"], stop
        page.press("Tab")
    assert len(stops) > 40 and "filter" in stops
    page.run("openChange(page.routes[1], 'move')")
    unnamed = [
        (node["role"]["value"], node.get("properties")) for node in page.call("Accessibility.getFullAXTree")["nodes"]
        if not node.get("ignored") and not node.get("name", {}).get("value")
        and node["role"]["value"] in ("button", "textbox", "searchbox", "combobox", "slider", "spinbutton", "radio", "checkbox", "link",
                                      "dialog", "table", "region", "image", "heading")]
    assert unnamed == []


def test_who_wants_no_motion_gets_none(shown):
    page = shown(every_part(), reduced=True)
    moving = "[...document.querySelectorAll('*')].filter((one) => { const s = getComputedStyle(one); return s.animationName !== 'none' || parseFloat(s.transitionDuration) > 0; }).length"
    assert page.run(moving) == 0
    assert shown(every_part()).run(moving) > 0


def test_names_that_are_long(shown, pictures):
    long = "GetTheVeryLongNameOfAMethodThatSomebodyHasGenerated" * 2
    routes = [
        route(long, service="com.example.apis.content.management.internal.v1beta1.ContentManagementAdministrationService"),
        route("Get", service="a" * 120 + ".B", override={"stage": "rest", "by": "x" * 200, "at": TIME, "reason": "y" * 250})]
    for width in (1280, 1024, 901, 800, 360):
        page = shown(routes, width=width, height=800)
        page.run("document.querySelectorAll('.toggle').forEach((one) => one.click())")
        page.screenshot(pictures / f"long-{width}.png")
        assert page.run("Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)") <= width
        assert min(page.run("[...document.querySelectorAll('.toggle')].map((one) => one.closest('td').offsetWidth)")) >= 150
        # Nothing lies over what is beside it.
        assert page.run("""[...document.querySelectorAll('.route')].every((row) => {
            const [name, stage, move] = ['.toggle', '.stage-line', '.move'].map((one) => row.querySelector(one).getBoundingClientRect());
            const apart = (one, other) => one.right <= other.left + 1 || other.right <= one.left + 1 || one.bottom <= other.top + 1 || other.bottom <= one.top + 1;
            return apart(name, stage) && apart(name, move) && apart(stage, move);
        })""")
