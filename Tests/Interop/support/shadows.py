"""What the admin endpoint says of a method's shadow."""

from .gateway import wait_until
from .schema import SERVICE


def route(gateway, method="GetBook"):
    answer = gateway.admin("GET", f"/routes/{SERVICE}/{method}")
    assert answer.status == 200, answer
    return answer.json()


def outcomes(gateway, method="GetBook"):
    """The copies by outcome, those that came about."""
    return {
        dict(labels)["outcome"]: int(value) for (name, labels), value in gateway.metrics().items()
        if name == "turnout_shadow_total" and dict(labels)["method"] == method and value}


def outcome(gateway, before=None, method="GetBook"):
    """The outcome of the one call since `before`."""
    before = before or {}
    now = wait_until(lambda: (n := outcomes(gateway, method)) != before and n, what="a counted copy")
    fresh = {name: count - before.get(name, 0) for name, count in now.items() if count != before.get(name, 0)}
    assert sum(fresh.values()) == 1, fresh
    return next(iter(fresh))


def differences(gateway, method="GetBook"):
    """`kind path` of what differed so far, sorted."""
    shadow = route(gateway, method)["shadow"] or {"differences": []}
    return sorted(f"{found['kind']} {found['path']}" for found in shadow["differences"])


def samples(gateway, method="GetBook"):
    answer = gateway.admin("GET", f"/routes/{SERVICE}/{method}/samples")
    assert answer.status == 200, answer
    return answer.json()["samples"]
