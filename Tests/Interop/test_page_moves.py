"""A move in the browser against the real gateway and its demo's services, bugs and all: compare, canary, guard, hold."""

import json
import re
import signal

import pytest

from support.demo import start_demo
from support.gateway import run, wait_until
from support.page_fixtures import ROW, row_text, toggle
from support.sides import PROCEDURE, place, sign
from support.wire import fetch

SERVICE = "pivot.content.v1.ContentService"
GET, SEARCH = f"{SERVICE}/GetEpisode", f"{SERVICE}/SearchEpisodes"


class Demo:
    """`turnout demo --bug` as a process."""

    def __init__(self, folder):
        self.process, self.output = start_demo(folder, "--bug")
        self.addresses = {
            name: (host, int(port))
            for name, host, port in re.findall(r"^(gateway|admin|legacy service|new service) +http://([\d.]+):(\d+)", self.text(), re.M)}
        self.page = "http://%s:%d/" % self.addresses["admin"]

    def text(self):
        return self.output.read_text(errors="replace")

    def ask(self, target, fields=()):
        return fetch(self.addresses["gateway"], "GET", target, list(fields))

    def search_as(self, users):
        for number in range(users):
            self.ask("/v1/episodes:search?query=snow", [("x-user-id", str(number))])

    def route(self, procedure):
        return fetch(self.addresses["admin"], "GET", f"/routes/{procedure}", [("Host", "%s:%d" % self.addresses["admin"])]).json()

    def mend(self):
        assert fetch(self.addresses["new service"], "POST", "/mend").status == 200

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(60) == 0


@pytest.fixture
def demo(tmp_path):
    demo = Demo(tmp_path)
    yield demo
    if demo.process.poll() is None:
        demo.process.kill()
    demo.process.wait()


def badge(page, procedure, wanted):
    page.until(f"({ROW % procedure})?.querySelector('.badge').innerText === {json.dumps(wanted)}")


def set_stage(page, procedure, stage, percent=None, reason=""):
    """Moves a route as a person with a mouse does."""
    page.run(f"({ROW % procedure}).querySelector('.move').setAttribute('data-of', 'test')")
    page.click("[data-of=test]")
    page.run("document.querySelector('[data-of=test]').removeAttribute('data-of')")
    page.until("document.getElementById('change').open")
    page.click(f"label.{stage}")
    if percent is not None:
        page.run("document.getElementById('change-percent').select()")
        page.type(str(percent))
    page.click("#change-reason")
    page.type(reason)
    page.click("#change-confirm")
    page.until("!document.getElementById('change').open")


def test_a_shadow_finds_a_bug_and_both_values_are_on_the_page(demo, opened, pictures):
    page = opened(demo.page)
    page.until(f"!!document.querySelector({json.dumps(toggle(GET))})")
    assert page.text("#moved-calls") == "no calls yet" and page.text("#audit-empty")
    set_stage(page, GET, "shadow", reason="is it right?")
    badge(page, GET, "shadow")
    for _ in range(6):
        assert demo.ask("/v1/episodes/e2").json()["views"] == 120551
    page.until(f"({ROW % GET}).querySelector('.worse')?.innerText === '6'")
    assert page.run("document.title") == "(1) Turnout"
    page.click(toggle(GET))
    page.until("document.querySelector('.detail:not([hidden]) .notice')?.innerText.includes('most at views (changed)')")
    page.run("[...document.querySelectorAll('.detail:not([hidden]) button')].find((one) => one.innerText === 'Show samples').id = 'show'")
    page.click("#show")
    page.until("!!document.querySelector('.samples li')")
    # One fault is one entry, however many calls have it; the value of each side is beside the path.
    [sample] = page.run("[...document.querySelectorAll('.samples > li')].map((one) => one.innerText)")
    assert "GET /v1/episodes/{id}" in sample and "6 times since" in sample and "rest ok · rpc ok" in sample
    cells = page.run("[...document.querySelectorAll('.samples td')].map((one) => one.innerText)")
    assert cells == ["views", "changed", "120551", "55015"]
    # They are live.
    demo.ask("/v1/episodes/e1")
    page.until("document.querySelectorAll('.samples > li').length === 2")
    page.screenshot(pictures / "bug-found.png", full=True)
    page.click("#show")
    page.until("document.querySelectorAll('.samples > li').length === 0")
    # Mended: what is compared from now on is the same.
    demo.mend()
    before = demo.route(GET)["shadow"]
    demo.ask("/v1/episodes/e2")
    wait_until(lambda: demo.route(GET)["shadow"]["match"] == before["match"] + 1, what="an answer that is the same")
    assert demo.route(GET)["shadow"]["last_mismatch"] == before["last_mismatch"]
    demo.stop()


def test_a_guard_takes_a_canary_back_and_somebody_sets_it_again(demo, opened, pictures):
    page = opened(demo.page)
    page.until(f"!!document.querySelector({json.dumps(toggle(SEARCH))})")
    set_stage(page, SEARCH, "canary", 50, "in a hurry")
    badge(page, SEARCH, "canary 50 %")
    demo.search_as(80)
    badge(page, SEARCH, "canary 0 %")
    page.until("document.getElementById('announcer').innerText.includes('The guard has taken SearchEpisodes back to canary 0 %')")
    page.until("document.getElementById('tile-guard').innerText === '1 of 5'")
    assert "guard tripped" in row_text(page, SEARCH)
    page.click(toggle(SEARCH))
    page.until("document.querySelector('.detail:not([hidden]) .notice.bad')?.innerText.includes('then set canary 50 % again')")
    page.until("document.querySelector('.history')?.innerText.includes('canary 50 % → canary 0 %')")
    history = page.text(".history")
    assert "the guard: 100% of" in history and "rest → canary 50 %" in history and "in a hurry" in history
    page.until("document.getElementById('audit').innerText.includes('the guard')")
    assert page.run("document.querySelector('#audit li').innerText").splitlines()[1] == "SearchEpisodes canary 50 % → canary 0 %"
    page.screenshot(pictures / "taken-back.png", full=True)
    assert page.run("[...document.querySelectorAll('.detail:not([hidden]) .actions button')].map((one) => one.innerText)") == [
        "Set canary 50 % again…", "Move…", "Roll back…", "Clear the override…"]
    page.click(".actions [data-kind=again]")
    page.until("document.getElementById('change').open")
    preview = page.text("#change-preview")
    assert "now\ncanary 0 %" in preview and "then\ncanary 50 %" in preview and "clears its trip" in preview
    page.screenshot(pictures / "set-again.png")
    demo.mend()
    page.click("#change-reason")
    page.type("the index is there")
    page.click("#change-confirm")
    badge(page, SEARCH, "canary 50 %")
    demo.search_as(80)
    wait_until(lambda: (demo.route(SEARCH)["sides"]["rpc"] or {}).get("requests", 0) >= 20, what="the figures")
    assert (demo.route(SEARCH)["guard"]["state"], demo.route(SEARCH)["percent"]) == ("watching", 50)
    page.until(f"({ROW % SEARCH}).innerText.includes('guarded')")
    page.until("document.querySelectorAll('.detail:not([hidden]) .notice').length === 0")
    demo.stop()


RAMP = {
    "stage": "canary", "canary": {"sticky_by": "header:x-user"}, "guard": {"min_requests": 5, "max_error_rate": "20%"},
    "ramp": {"steps": ["20%", "50%", "100%"], "every": "1s"}}


def test_hold_let_go_and_roll_back_by_the_keyboard_alone(start, configuration, rest, rpc, opened, pictures):
    sign(rest, rpc)
    gateway = start(configuration(methods={"GetBook": RAMP}))
    page = opened(gateway.admin_url + "/", dark=True)
    page.until(f"!!document.querySelector({json.dumps(toggle(PROCEDURE))})")

    def confirmed(key, reason):
        page.press(key)
        page.until("document.getElementById('change').open")
        if page.focused() != "change-reason":
            page.press("Tab")
        assert page.focused() == "change-reason"
        page.type(reason)
        page.press("Enter")
        page.until("!document.getElementById('change').open")

    page.press("/")
    page.type("GetBook ")
    page.press("Escape", "j", "Enter")
    page.until(f"document.querySelector({json.dumps(toggle(PROCEDURE))}).ariaExpanded === 'true'")
    confirmed("h", "a freeze")
    page.until(f"({ROW % PROCEDURE}).innerText.includes('ramp held')")
    assert gateway.admin("GET", f"/routes/{PROCEDURE}").json()["ramp"]["held"] is True
    assert "ramp held" in run("status", "--admin", gateway.admin_url).stdout
    page.until("document.querySelector('.history').innerText.includes('ramp held at canary 20 %')")
    page.until("document.querySelector('.notice')?.innerText.includes('somebody has to let it go on')")
    # What would have moved it on does not.
    users = [user for user in map(str, range(60)) if place(user) < 2000]
    with gateway.connect() as wire:
        for user in users:
            assert wire.request("GET", "/v1/books/b1", [("X-User", user)]).json()["title"] == "rpc"
    wait_until(lambda: (gateway.admin("GET", f"/routes/{PROCEDURE}").json()["sides"]["rpc"] or {}).get("requests", 0) >= 5, what="figures")
    page.screenshot(pictures / "held.png", full=True)
    badge(page, PROCEDURE, "canary 20 %")
    assert "[20 %] → 50 % → 100 %" in page.text(".detail:not([hidden]) .panel")
    confirmed("h", "it is over")
    page.until("document.querySelector('.history').innerText.includes('ramp goes on from canary 20 %')")
    badge(page, PROCEDURE, "canary 50 %")
    confirmed("b", "enough")
    badge(page, PROCEDURE, "rest")
    assert gateway.fetch("GET", "/v1/books/b1", [("X-User", users[0])]).json()["title"] == "rest"
    confirmed("c", "as it was")
    badge(page, PROCEDURE, "canary 20 %")
    page.until("document.querySelectorAll('#audit li').length >= 5")
    newest = page.run("[...document.querySelectorAll('#audit li')].slice(0, 2).map((one) => one.innerText)")
    assert "rest → canary 20 %" in newest[0] and "as it was" in newest[0] and "→ rest" in newest[1] and "enough" in newest[1]


def test_a_gateway_that_goes_away_and_comes_back(start, configuration, rest, rpc, opened, pictures):
    gateway = start(configuration())
    page = opened(gateway.admin_url + "/")
    page.until("document.getElementById('live').dataset.state === 'live'")
    assert gateway.stop() == 0
    page.run("refresh().then(refresh)")
    page.until("!document.getElementById('banner').hidden")
    assert "cannot be reached" in page.text("#banner-text") and page.run("document.getElementById('banner-token').hidden")
    page.screenshot(pictures / "away.png")
    # As after a restart: the same address.
    again = start(configuration(stage="rpc", admin={"address": "127.0.0.1:%d" % gateway.admin_address[1]}))
    assert again.admin_address == gateway.admin_address
    page.click("#banner-retry")
    page.until("document.getElementById('banner').hidden && document.getElementById('live').dataset.state === 'live'")
    badge(page, PROCEDURE, "rpc")
    page.until("document.getElementById('announcer').innerText.includes('The gateway answers again')")
    page.browser.events.clear()
