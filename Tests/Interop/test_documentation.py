"""The pages that explain the code: their list is complete, their links lead somewhere, decisions have one form."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "Sources/Gateway/Gateway.docc"
DECISIONS = sorted((PAGES / "Decisions").glob("*.md"))
READMES = [ROOT / "README.md", *ROOT.glob("Tests/*/README.md")]


def prose(page):
    """A page without its blocks of code."""
    return re.sub(r"^ *```.*?^ *```$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)


def test_the_list_of_decisions_is_complete_and_in_order():
    listed = re.findall(r"^- <doc:(\d{4}-[^>]*)>$", (PAGES / "Gateway.md").read_text(), re.MULTILINE)
    assert listed == [page.stem for page in DECISIONS]
    assert len({name[:4] for name in listed}) == len(listed), "two decisions with one number"


@pytest.mark.parametrize("page", DECISIONS, ids=lambda page: page.stem)
def test_a_decision_has_a_title_a_context_a_choice_and_a_cost(page):
    """What a choice brought may stand between the two last."""
    title, *parts = re.findall(r"^(#+) (.*)$", prose(page), re.MULTILINE)
    assert title[0] == "#" and {level for level, _ in parts} == {"##"}
    assert [text for _, text in parts if text != "Effect"] == ["Context", "Choice", "Cost"]


@pytest.mark.parametrize("page", [*PAGES.rglob("*.md"), *READMES], ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    text = prose(page)
    names = {other.stem for other in PAGES.rglob("*.md")}
    assert set(re.findall(r"<doc:([^>]+)>", text)) <= names
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)]+)\)", text) if "://" not in target]
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_symbols_that_pages_link_to_are_the_gateways():
    """DocC finds a symbol in double backticks only in the target that the page belongs to."""
    sources = "\n".join(file.read_text() for file in (ROOT / "Sources/Gateway").rglob("*.swift"))
    known = set(re.findall(r"^ *(?:\w+ )*(?:class|struct|enum|protocol|typealias) (\w+)", sources, re.MULTILINE))
    for page in PAGES.rglob("*.md"):
        linked = {symbol.partition("/")[0] for symbol in re.findall(r"``([^`]+)``", prose(page))}
        assert linked - known <= {"Gateway"}, page
