"""Calls that began before a reload and are asked again after it: endpoints that are gone do not count any more."""

import threading

from support.fleet import Fleet, proxy
from support.gateway import wait_until
from support.rest_service import Reply


def test_endpoints_that_are_gone_are_no_part_of_the_share_that_panics(start):
    """Two of three fail, which is too many to leave out: so all three are asked. When these two are taken out of the
    configuration, the calls that wait for their next try go to the one that is left, and to nobody else."""
    fleet = Fleet(3)
    settings = {
        "retries": {"attempts": 3, "on": ["503"], "max_retry_after": "20s", "min_per_second": 1000},
        "outlier_ejection": {"consecutive_failures": 1, "base_ejection": "60s", "max_ejected": "100%"},
        "panic_threshold": "60%"}

    def setup(*instances):
        return proxy([instance.url for instance in instances], **settings)

    gateway = start(setup(*fleet))
    for instance in (fleet[0], fleet[1]):
        instance.answers(Reply(500))
    is_gone = threading.Event()
    fleet[2].answers(lambda request: Reply(200, body=b"i2") if is_gone.is_set() else Reply(503, [("Retry-After", "4")]))
    answers = []

    def call():
        answer = gateway.fetch("GET", "/")
        answers.append((answer.status, answer.body))

    threads = [threading.Thread(target=call) for _ in range(60)]
    for thread in threads:
        thread.start()
    # All were asked, as too few are good.
    wait_until(lambda: sum(len(instance.requests) for instance in fleet) == 60, what="all first tries")
    assert all(len(instance.requests) >= 3 for instance in fleet)
    before = [len(fleet[0].requests), len(fleet[1].requests)]
    waiting = len(fleet[2].requests)
    is_gone.set()
    gateway.write(setup(fleet[2]))
    assert gateway.admin("POST", "/reload").status == 200
    for thread in threads:
        thread.join()
    assert answers.count((200, b"i2")) == waiting, (waiting, set(answers), [len(instance.requests) for instance in fleet], before)
    assert [len(fleet[0].requests), len(fleet[1].requests)] == before
    fleet.stop()
