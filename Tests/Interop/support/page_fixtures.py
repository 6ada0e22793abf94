"""A browser for all tests of the page, tabs that may not complain, and how its rows are found."""

import pytest

from .browser import Browser, screenshots
from .migration import table

ROW = "document.querySelector('.toggle[data-procedure=\"%s\"]').closest('tr')"


def toggle(procedure):
    return f'.toggle[data-procedure="{procedure}"]'


def row_text(page, procedure):
    return page.run(f"({ROW % procedure})?.innerText ?? ''")


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    browser = Browser(tmp_path_factory.mktemp("browser"))
    yield browser
    browser.stop()


@pytest.fixture(scope="session")
def pictures(tmp_path_factory):
    return screenshots(tmp_path_factory.mktemp("screenshots"))


@pytest.fixture
def opened(browser):
    """Opens tabs; at the end none of them may have complained."""
    tabs = []

    def open(*arguments, **more):
        tabs.append(browser.open(*arguments, **more))
        return tabs[-1]

    yield open
    for tab in tabs:
        assert tab.faults() == []
        tab.close()


@pytest.fixture
def shown(opened, shared_gateways, rest, rpc):
    """The page with routes of the test's own making: `shown([…])`, or a function of method, URL and body."""

    def show(routes, ready="document.querySelectorAll('#rows .route').length > 0", **more):
        answers = routes if callable(routes) else lambda *_: (200, table(routes))
        page = opened(shared_gateways("rest").admin_url + "/", answers=answers, **more)
        page.until(ready)
        return page

    return show
