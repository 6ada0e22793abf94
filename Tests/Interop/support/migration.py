"""What /routes says of routes in the middle of a move, with every part that the admin endpoint knows."""

TIME = "2026-11-30T12:00:00Z"


def side(error_rate=0.0, rate=2.0):
    return {
        "requests": 120, "failures": int(120 * error_rate), "client_errors": 1, "error_rate": error_rate, "rate": rate,
        "latency_ms": {"p50": 8.0, "p95": 21.5, "p99": 60.0}}


def route(method, stage="rest", percent=0, service="shop.v1.Shop", **parts):
    """One route; `parts` replace what it says by default."""
    return {
        "procedure": f"{service}/{method}", "stage": stage, "percent": percent, "configured_stage": stage,
        "configured_percent": percent,
        "faces": {"rest": [{"method": "GET", "path": f"/v1/{method.lower()}/{{id}}"}], "rpc": f"/{service}/{method}"},
        "backends": {"rest": "legacy", "rpc": "content"}, "calls": {"rest": 10, "rpc": 5, "none": 0},
        "override": None, "guard": None, "ramp": None,
        "sides": {"rest": side() if stage != "rpc" else None, "rpc": side() if stage in ("rpc", "canary") else None},
        "shadow": None, "dry_run": None, "callers": {"rest": [], "rpc": []}, "history": [], **parts}


def caller(agent, version="1.0", requests=3):
    return {"agent": agent, "version": version, "requests": requests, "last_seen": TIME}


def guard(state="watching", **parts):
    return {
        "state": state, "reason": None, "at": None, "previous": None, "window_seconds": 60, "min_requests": 20,
        "limits": {"max_error_rate": 0.05}, **parts}


def ramp(held=False):
    return {
        "steps": [1, 5, 25, 50, 100], "step": 3, "every_seconds": 600, "next_at": "2026-11-30T12:05:00Z", "held": held,
        "waiting_for": None}


def compared(path="tags[].count", kind="changed"):
    return {
        "match": 90, "mismatch": 10, "error": 1, "skipped": {"sample": 4},
        "differences": [{"path": path, "kind": kind, "count": 10}], "unknown_legacy_fields": ["legacyId"], "samples": 2,
        "last_mismatch": TIME}


def every_part():
    """A route in each stage, with all that can be said of it."""
    tripped = guard(
        "tripped", reason="12 % of the calls failed", at=TIME, previous={"stage": "canary", "percent": 10})
    entry = {
        "at": TIME, "from": {"stage": "canary", "percent": 10}, "to": {"stage": "canary", "percent": 0}, "by": "guard",
        "kind": "guard", "reason": "12 % of the calls failed"}
    override = {"stage": "shadow", "percent": None, "by": "10.0.0.7", "at": TIME, "reason": "to compare"}
    return [
        route("GetItem", "rpc", 100, callers={"rest": [caller("okhttp", "4.9"), caller("ShopApp", "5.1")], "rpc": []}),
        route("ListItems", "canary", 25, guard=guard(), ramp=ramp()),
        route("FindItems", "shadow", shadow=compared(), override=override, configured_stage="rest"),
        route("AddItem"),
        route(
            "GetCart", "canary", 0, guard=tripped, history=[entry],
            sides={"rest": side(), "rpc": side(error_rate=0.12)}, dry_run={"requests": 40, "refused": 2}),
    ]


def table(routes):
    return {"replica": "127.0.0.1:9901", "now": TIME, "routes": routes}
