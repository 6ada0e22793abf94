"""The migration dashboard in a real browser: what it shows, what it changes, and who can use it."""

import json

from support.gateway import wait_until
from support.migration import TIME, caller, compared, every_part, guard, ramp, route, side, table
from support.page_fixtures import ROW, row_text, toggle
from support.rest_service import Reply, book
from support.schema import SERVICE

PROCEDURE = f"{SERVICE}/GetBook"
TOKEN = "s3cret-token"


def stage_of(gateway):
    routes = gateway.admin("GET", "/routes").json()["routes"]
    return next(one["stage"] for one in routes if one["procedure"] == PROCEDURE)


def test_a_flip_and_the_way_back(start, configuration, rest, rpc, opened, pictures):
    gateway = start(configuration(methods={"GetBook": {"stage": "rest"}}))
    page = opened(gateway.admin_url + "/")
    page.until(f"!!document.querySelector({json.dumps(toggle(PROCEDURE))})")
    assert "rest" in row_text(page, PROCEDURE)
    page.run(f"({ROW % PROCEDURE}).querySelector('.move').id = 'the-move'")
    page.click("#the-move")
    page.until("document.getElementById('change').open")
    assert page.text("#change-procedure") == PROCEDURE
    page.click("label.rpc")
    preview = page.text("#change-preview")
    assert "now\nrest" in preview and "then\nrpc" in preview and "the RPC backend content" in preview
    page.click("#change-reason")
    page.type("the new service is ready")
    page.screenshot(pictures / "confirmation.png")
    assert stage_of(gateway) == "rest", "nothing may happen before it is confirmed"
    page.click("#change-confirm")
    page.until("!document.getElementById('change').open")
    assert stage_of(gateway) == "rpc"
    assert "the new service is ready" in gateway.log()
    page.until(f"({ROW % PROCEDURE}).querySelector('.badge').innerText === 'rpc'")
    page.until("document.getElementById('announcer').innerText.includes('GetBook went from rest to rpc')")
    answer = gateway.fetch("GET", "/v1/books/b1", [("User-Agent", "okhttp/4.9.1")])
    assert (answer.status, answer.json()) == (200, book("b1"))
    # An old app on a moved route: the page names it.
    page.until("document.getElementById('callers').innerText.includes('okhttp')")
    assert page.run("document.querySelector('#callers tr').innerText").split()[:3] == ["okhttp", "4.9.1", "1"]
    page.screenshot(pictures / "moved.png", full=True)
    page.click(toggle(PROCEDURE))
    page.until("!!document.querySelector('.detail:not([hidden]) .actions .danger')")
    page.click(".detail:not([hidden]) .actions .danger")
    page.until("document.getElementById('change').open")
    assert "then\nrest" in page.text("#change-preview")
    page.click("#change-confirm")
    wait_until(lambda: stage_of(gateway) == "rest", what="the roll back")
    page.until(f"({ROW % PROCEDURE}).querySelector('.badge').innerText === 'rest'")


def test_the_keyboard_is_enough(start, configuration, rest, rpc, opened):
    gateway = start(configuration())
    page = opened(gateway.admin_url + "/")
    page.until(f"!!document.querySelector({json.dumps(toggle(PROCEDURE))})")
    page.press("?")
    page.until("document.getElementById('help').open")
    page.press("Escape")
    page.until("!document.getElementById('help').open")
    page.press("/")
    assert page.focused() == "filter"
    page.type("getbook")
    page.until("[...document.querySelectorAll('#rows .route')].filter((one) => !one.hidden).length === 1")
    page.press("Escape", "j")
    assert page.run(f"document.activeElement === document.querySelector({json.dumps(toggle(PROCEDURE))})")
    outline = "getComputedStyle(document.activeElement).outlineStyle"
    assert page.run(outline) != "none", "who has the focus must be to be seen"
    page.press("Enter")
    page.until(f"document.querySelector({json.dumps(toggle(PROCEDURE))}).ariaExpanded === 'true'")
    page.press("m")
    page.until("document.getElementById('change').open")
    assert page.focused() == "stage-rest"
    page.press("ArrowRight", "ArrowRight", "ArrowRight")
    page.until("document.querySelector('#change-segments input:checked').value === 'rpc'")
    page.press("Escape")
    page.until("!document.getElementById('change').open")
    assert stage_of(gateway) == "rest", "Escape changes nothing"
    page.press("m")
    page.until("document.getElementById('change').open")
    page.press("ArrowLeft", "Tab")
    assert page.focused() == "change-reason"
    page.type("by hand")
    page.press("Enter")
    page.until("!document.getElementById('change').open")
    assert stage_of(gateway) == "rpc"
    assert page.run(f"document.activeElement === document.querySelector({json.dumps(toggle(PROCEDURE))})"), page.focused()


def test_the_token_is_asked_for_once(start, configuration, rest, rpc, opened):
    gateway = start(
        configuration(admin={"address": "127.0.0.1:0", "token": "${env:ADMIN_TOKEN}"}),
        environment={"ADMIN_TOKEN": TOKEN})
    page = opened(gateway.admin_url + "/")
    page.until(f"!!document.querySelector({json.dumps(toggle(PROCEDURE))})")
    change = f"""(() => {{ openChange(page.views.get({json.dumps(PROCEDURE)}).route, "move");
        document.getElementById("stage-%s").click(); document.getElementById("change-confirm").click(); }})()"""
    page.run(change % "rpc")
    for given, problem in (("", "Type the token"), ("wrong", "not the right one"), (TOKEN, None)):
        page.until("document.getElementById('token').open")
        page.type(given)
        page.press("Enter")
        if problem:
            page.until(f"document.getElementById('token-problem').innerText.includes({json.dumps(problem)})")
    page.until("!document.getElementById('change').open")
    assert stage_of(gateway) == "rpc"
    page.until(f"({ROW % PROCEDURE}).querySelector('.badge').innerText === 'rpc'")
    page.run(change % "rest")
    wait_until(lambda: stage_of(gateway) == "rest", what="the change with the same token")
    assert page.run("sessionStorage.length") == 1 and page.run("localStorage.length") == 0
    assert TOKEN not in page.run("document.documentElement.outerHTML + document.cookie + location.href")
    # The browser says of itself that it got a 401; nothing else may be wrong.
    faults = [one for one in page.faults() if "401" not in one.get("text", "")]
    page.browser.events.clear()
    assert faults == []


def test_a_refused_change_says_why(shown):
    def answers(method, url, body):
        if method == "PUT":
            return 400, {"error": "shop.v1.Shop/AddItem may have side effects"}
        return 200, table(every_part())

    page = shown(answers)
    page.run("openChange(page.views.get('shop.v1.Shop/AddItem').route, 'move'); document.getElementById('stage-shadow').click()")
    page.run("document.getElementById('change-confirm').click()")
    page.until("document.getElementById('change-problem').innerText.includes('may have side effects')")
    assert page.run("document.getElementById('change').open")
    page.browser.events.clear()


def test_hold_and_clear(shown):
    asked = []

    def answers(method, url, body):
        if method != "GET":
            asked.append((method, url.split("/routes/")[1], json.loads(body)))
            return 200, {}
        return 200, table(every_part())

    page = shown(answers)
    for name, kind in (("ListItems", "hold"), ("FindItems", "clear"), ("GetCart", "again")):
        page.run(f"openChange(page.views.get('shop.v1.Shop/{name}').route, '{kind}')")
        page.click("#change-reason")
        page.type("a test")
        page.run("document.getElementById('change-confirm').click()")
        page.until("!document.getElementById('change').open")
    assert asked == [
        ("PUT", "shop.v1.Shop/ListItems/hold", {"held": True, "reason": "a test"}),
        ("DELETE", "shop.v1.Shop/FindItems/stage", {"reason": "a test"}),
        ("PUT", "shop.v1.Shop/GetCart/stage", {"stage": "canary", "percent": 10, "reason": "a test"}),
    ]


def test_nothing_from_outside_becomes_markup(shown):
    evil = "<img src=x onerror=\"window.caught=1\"><script>window.caught=1</script>'\"&"
    entry = {
        "at": TIME, "from": {"stage": evil, "percent": 1}, "to": {"stage": "rest"}, "by": evil, "kind": evil,
        "reason": evil}
    routes = [route(
        "Get", evil, service="a.B", callers={"rest": [caller(evil, evil)], "rpc": [caller(evil)]},
        override={"stage": evil, "by": evil, "at": evil, "reason": evil}, history=[entry],
        guard=guard("tripped", reason=evil, limits={evil: evil}), dry_run={evil: evil}, hosts=[evil],
        fallback={"rest": {evil: 1}, "rpc": {evil: evil}},
        shadow={"match": 1, "mismatch": 1, "differences": [{"path": evil, "kind": evil, "count": 1}], "samples": 1,
                "skipped": {evil: 1}, "unknown_legacy_fields": [evil]})]
    sample = {
        "at": TIME, "status": {"rest": evil, "rpc": 200}, "request": evil,
        "differences": [
            {"path": evil, "kind": evil, "rest": evil, "rpc": {evil: [evil]}},
            {"path": "id", "kind": "changed", "rest": 9007199254740993, "rpc": 9007199254740992}]}

    page = shown(lambda method, url, body: (200, {"samples": [sample]} if url.endswith("/samples") else table(routes)))
    page.click(toggle("a.B/Get"))
    page.until("!!document.querySelector('.detail:not([hidden]) .part')")
    page.run("[...document.querySelectorAll('.detail button')].find((one) => one.innerText === 'Show samples').click()")
    page.until("document.querySelector('.samples').innerText.includes('onerror')")
    assert "9007199254740993" in page.text(".samples"), "large numbers are not rounded"
    page.run("document.querySelector('.detail .actions button').click()")
    assert page.run("document.querySelectorAll('img, script:not(body > script)').length") == 0
    assert page.run("typeof window.caught") == "undefined"
    assert evil in page.text("#rows"), "it is shown as it is"


def test_calls_that_were_asked_again_are_told(shown):
    some = {"rest": {"late": 2}, "rpc": {"answered": 12345, "too_large": 1}}
    page = shown([
        route("Some", service="a.B", fallback=some), route("None", service="a.B", fallback={"rest": {}, "rpc": {}}),
        route("Off", service="a.B", fallback=None)])
    for name in ("Some", "None", "Off"):
        page.click(toggle(f"a.B/{name}"))
    page.until("document.querySelectorAll('.detail:not([hidden]) .part').length >= 3")
    details = {
        name: page.run(f"({ROW % f'a.B/{name}'}).nextElementSibling.innerText") for name in ("Some", "None", "Off")}
    assert "after rest failed: late 2\nafter rpc failed: answered 12.3k, too large 1" in details["Some"]
    assert "asked again\nno call yet" in details["None"]
    assert "asked again" not in details["Off"]


def test_a_token_that_was_not_given_can_be_given_later(shown):
    """Who cancels the question finds a button, not a dead page."""
    asked = []

    def answers(method, url, body):
        asked.append(method)
        return (200, table(every_part())) if page_token() else (401, {"error": "the admin token is missing or wrong"})

    def page_token():
        return tokens[0]

    tokens = [False]
    page = shown(answers, ready="document.getElementById('token').open")
    page.press("Escape")
    page.until("!document.getElementById('token').open && !document.getElementById('banner-token').hidden")
    assert "token is missing or wrong" in page.text("#banner-text")
    page.click("#banner-token")
    page.until("document.getElementById('token').open")
    page.type("secret")
    tokens[0] = True
    page.press("Enter")
    page.until("document.querySelectorAll('#rows .route').length === 5 && document.getElementById('banner').hidden")
    page.run("sessionStorage.clear()")
    page.browser.events.clear()


def test_what_differed_long_ago_needs_no_attention(shown):
    old = {**compared(), "last_mismatch": "2026-11-30T11:00:00Z"}
    page = shown([route("Old", "shadow", shadow=old), route("New", "shadow", shadow=compared())])
    assert page.run("document.querySelectorAll('.route[data-attention]').length") == 1
    assert page.run("document.querySelectorAll('td.worse').length") == 1
    page.click(toggle("shop.v1.Shop/Old"))
    page.until("document.querySelector('.detail:not([hidden])').innerText.includes('1 h ago')")


def test_updates_leave_what_is_open_and_focused(shown):
    state = {"rate": 1.0, "stage": "rest"}

    def answers(method, url, body):
        state["rate"] += 1
        return 200, table([
            route("Get", state["stage"], sides={"rest": side(rate=state["rate"]), "rpc": None}, history=[]),
            route("Other"), *state.get("more", [])])

    page = shown(answers)
    page.click(toggle("shop.v1.Shop/Get"))
    page.run("document.querySelector('.toggle').mark = 'the same'; document.querySelector('.toggle').focus()")
    before = page.text(".route .number")
    page.run("refresh()")
    page.until(f"document.querySelector('.route .number').innerText !== {json.dumps(before)}")
    state["stage"], state["more"] = "canary", [route("New")]
    page.run("refresh()")
    page.until("document.querySelectorAll('#rows .route').length === 3")
    assert page.run("document.activeElement.mark") == "the same"
    assert page.run("!document.querySelector('.detail').hidden")
    page.until("document.getElementById('announcer').innerText.includes('Get went from rest to canary')")
    # Sorted by what moves, rows stay until somebody sorts again.
    page.run("sortBy('rate')")
    order = "[...document.querySelectorAll('#rows .toggle')].map((one) => one.dataset.procedure)"
    first = page.run(order)
    state["more"] = [route("New", sides={"rest": side(rate=9999), "rpc": None})]
    page.run("refresh()")
    page.until("document.getElementById('rows').innerText.includes('9,999')")
    assert page.run(order) == first
    page.click("th [data-sort=rate]")
    assert page.run(order)[0] == "shop.v1.Shop/New"


def test_it_says_that_its_figures_are_old(start, configuration, rest, rpc, opened):
    gateway = start(configuration())
    page = opened(gateway.admin_url + "/")
    page.until("document.getElementById('live').dataset.state === 'live'")
    assert gateway.stop() == 0
    page.run("refresh().then(refresh)")
    page.until("document.getElementById('live').dataset.state === 'stale'")
    page.until("document.getElementById('banner').innerText.includes('old')")
    assert PROCEDURE.split("/")[1] in page.text("#rows"), "the last figures stay"
    page.browser.events.clear()


def test_two_hundred_routes_of_a_real_gateway(start, tmp_path, opened, rest, rpc, configuration, pictures):
    """The table is filtered while figures come in, and its head stays in sight."""
    methods = "".join(f"  rpc Get{number:03}(Ask) returns (Answer);\n" for number in range(200))
    (tmp_path / "large.proto").write_text(
        'syntax = "proto3";\npackage large.v1;\nmessage Ask { string id = 1; }\nmessage Answer { string id = 1; }\n'
        f"service Large {{\n{methods}}}\n")
    setup = configuration()
    http = {f"Get{number:03}": {"http": {"get": f"/large/{number:03}/{{id}}"}} for number in range(200)}
    gateway = start({
        **setup, "schema": [{"protos": ["large.proto"], "import_paths": [str(tmp_path)]}],
        "services": {"large.v1.Large": {"rest": "legacy", "rpc": "content", "stage": "rest", "methods": http}}})
    rest.answers(Reply.json({"id": "a"}))
    page = opened(gateway.admin_url + "/")
    rows = "[...document.querySelectorAll('#rows .route')].filter((one) => !one.hidden).length"
    page.until(f"{rows} === 200")
    page.press("/")
    page.type("get12 large/")
    page.until(f"{rows} === 10")
    assert gateway.fetch("GET", "/large/123/a").status == 200
    gateway.set_stage("large.v1.Large/Get125", "rpc")
    page.until("document.querySelector('[data-procedure=\"large.v1.Large/Get125\"]').closest('tr').innerText.includes('override')")
    page.until("/[0-9]/.test(document.querySelector('[data-procedure=\"large.v1.Large/Get123\"]').closest('tr').querySelector('.number').innerText)")
    assert page.run(rows) == 10 and page.focused() == "filter"
    page.until("document.getElementById('announcer').innerText.includes('Get125 went from rest to rpc')")
    page.run("document.getElementById('filter').value = ''; document.getElementById('filter').dispatchEvent(new Event('input'))")
    page.until(f"{rows} === 200")
    page.run("document.querySelector('[data-procedure=\"large.v1.Large/Get150\"]').scrollIntoView({ block: 'center' })")
    head = "document.querySelector('#routes th').getBoundingClientRect()"
    assert page.run(f"{head}.top >= document.querySelector('.top').getBoundingClientRect().bottom - 2 && {head}.bottom < innerHeight / 4")
    page.screenshot(pictures / "two-hundred.png")
    page.type("nothing of this name")
    page.until("document.getElementById('empty').innerText === 'No route matches “nothing of this name”.'")


def test_three_hundred_routes(shown):
    routes = [route(f"Method{number:03}", ("rest", "shadow", "canary", "rpc")[number % 4]) for number in range(300)]
    routes[7]["guard"], routes[8]["ramp"] = guard("tripped", reason="it failed"), ramp(held=True)
    page = shown(routes)
    assert page.text("#moved-routes") == "75 of 300"
    shown_rows = "[...document.querySelectorAll('#rows .route')].filter((one) => !one.hidden).length"
    assert page.run(shown_rows) == 300
    page.press("/")
    page.type("method12 get")
    page.until(f"{shown_rows} === 10")
    page.run("document.getElementById('filter').value = ''; document.getElementById('filter').dispatchEvent(new Event('input'))")
    page.press("Escape", "a")
    page.until(f"{shown_rows} === 2")
    page.click("[data-show=shadow]")
    page.until(f"{shown_rows} === 75")
