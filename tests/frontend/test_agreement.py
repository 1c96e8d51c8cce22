"""The agreement page: a verdict, figures, charts, and the lists of steps that they open."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from urllib.parse import parse_qsl, urlsplit

import pytest

from annotation.core.kinds import STEPS
from annotation.core.vocabulary import ExposureKind
from annotation.models import Exposure, Label, Trajectory
from annotation.policies import OPERATOR
from annotation.reports.agreement.cuts import CUTS
from annotation.reports.agreement.differing_steps import steps
from annotation.reports.agreement.report import agreement as figures
from annotation.reports.agreement.report import as_json
from annotation.services import projects
from frontend.pages.agreement.charts import Charts
from frontend.pages.agreement.figures import tables as figure_tables
from frontend.rendering.run_parts import place_of
from tests import people
from tests.callers import Caller
from tests.fixtures.shared_rows import shared_rows


def test_agreement_before_anything_is_settled_says_so(browse, cast, at, text):
    people.import_records(cast.project, 1)
    people.label_next(cast.ann, cast.project)
    assert "Nothing to compare yet" in text(browse("admin").get(at("agreement", "bench")))


def two_subsets(cast):
    """Two trajectories of four steps and one of two, labelled by ann and ben; eight pairs and two."""
    people.import_records(cast.project, people.make_records(2, steps=4), subset="one")
    people.import_records(cast.project, 1, subset="two")
    for user, values in ((cast.ann, [1, 1, -1, -1]), (cast.ben, [1, 0, -1, 1])):
        people.label_next(user, cast.project, values)
        people.label_next(user, cast.project, 1)
        people.label_next(user, cast.project, [1, 1])


def test_agreement_shows_a_verdict_figures_and_a_cut(browse, cast, at, text):
    two_subsets(cast)

    response = browse("admin").get(at("agreement", "bench") + "?subset=one")
    page = text(response)

    assert "The figure lies below .667" in page and "Krippendorff (2004)" in page
    assert "75.0\u00a0%" in page and "an interval needs at least 20 tasks" in page
    assert response.context["overall"].steps.n == 8
    assert [row["title"] for row in response.context["charts"].groups["rows"]] == ["one"]
    assert "Look at the 2 steps on which annotators differ" in page
    cells = {(cell.a, cell.b): cell.count for cell in response.context["charts"].confusion["heat"].cells}
    assert sum(cells.values()) == 8 and len(cells) == 9, "one named pair: first in rows"
    assert cells[-1, 1] == 1 and cells[1, 0] == 1


def links(response):
    """(url, number) of every link of the page that opens steps."""
    found = re.findall(
        r'<a[^>]*href="([^"]*agreement/steps/[^"]*)"[^>]*>(.*?)</a>', response.content.decode(), re.S
    )
    return [(url.replace("&amp;", "&"), re.sub(r"<[^>]*>", " ", inside)) for url, inside in found]


def numbers(charts):
    """(url, n) of every figure, cell, bar and dot of the page."""
    yield from ((row["url"], row["n"]) for row in charts.groups["rows"])
    yield from ((cell.url, cell.count) for cell in charts.confusion["heat"].cells)
    yield from ((row["url"], row["count"]) for row in charts.first_errors["rows"])
    yield from ((cell["url"], cell["place"].n) for row in charts.places["rows"] for cell in row["cells"])
    yield from ((one["url"], one["count"]) for row in charts.annotators["rows"] for one in row["values"])
    if charts.trend:
        yield from ((point["url"], point["n"]) for point in charts.trend["points"])
    for table in figure_tables(charts, STEPS):
        yield from ((cell["url"], cell["measure"].n) for row in table["rows"] for cell in row["cells"])
    if after := charts.after_discussion:
        yield from ((after["changed_url"], after["changed"]), (after["differ_url"], after["differ"]))
    yield charts.all_steps, charts.found.overall.steps.n
    yield charts.differing_steps, charts.differing


def rows(response):
    """The content of a list of steps."""
    return response.context["list"].table.rows


def count(response):
    """The length of a list, all pages together."""
    return response.context["list"].page.paginator.count


def filters(url):
    """The filters of an address, as the page reads them."""
    return dict(parse_qsl(urlsplit(url).query))


COMBINED = ({"position": "late", "kind": "reply"}, {"exposure": "untouched", "subset": "one"})


def test_every_number_of_every_cut_is_that_of_its_steps(discussed):
    """Each part of each cut as a filter, and the figures cut by each: what a number opens is as much as it
    says. Every number of the page as it opens and of two filters at once; of each part a fifth, in turn."""
    project, admin = discussed.project, discussed.admin
    whole = figures(viewer=admin, project=project, details=False)
    parts = [(cut, part.key) for cut in CUTS for part in whole.view.parts(cut)]
    assert {cut for cut, _ in parts} == set(CUTS) and len(parts) > 20
    seen, opened = {}, set()
    for asked in ({}, *COMBINED, *({cut: key} for cut, key in parts)):
        for by in CUTS if not asked else ("kind",):
            found = figures(viewer=admin, project=project, asked=asked, by=by, intervals=False, details=False)
            some = slice(len(seen) % 5, None, 5) if asked and asked not in COMBINED else slice(None)
            shown = [(url, n) for url, n in numbers(Charts(project.slug, found, asked)) if url or n]
            assert all(url and seen.setdefault(url, n) == n for url, n in shown)
            opened |= {url for url, n in shown[some] if n}
    assert len(opened) > 500
    for url in opened:
        assert steps(viewer=admin, project=project, asked=filters(url)).count == seen[url], url
    assert len([url for url in seen if "figure=" in url and "when=after" in url]) > 50
    assert len([url for url in seen if "of=outcome" in url and "exposure=untouched" in url]) > 20


def test_agreement_links_every_number_to_its_steps(browse, discussed, at):
    client = browse("admin")
    for query in ("by=pair", "subset=one&by=exposure"):
        response = client.get(f"{at('agreement', 'bench')}?{query}")
        expected = {url: n for url, n in numbers(response.context["charts"]) if n}
        assert set(expected) == {url for url, _ in links(response)}
    for filtered in ("changed=1", "when=after&figure=onset_kappa", "of=outcome&figure=ac1", "figure=alpha"):
        url = next(url for url in expected if url.endswith(filtered.split("&")[-1]))
        response = client.get(url)
        assert count(response) == expected[url] >= len(rows(response)) > 0
    assert client.get(f"{at('agreement-steps', 'bench')}?figure=guess").status_code == 400


def test_alpha_opens_the_steps_with_all_their_labels(cast):
    projects.update_project(actor=OPERATOR, project=cast.project, values={"annotators_per_trajectory": 3})
    people.import_records(cast.project, people.make_records(2, steps=3))
    for user, values in ((cast.ann, [1, 1, -1]), (cast.ben, [1, 0, 0]), (cast.cleo, [1, 0, -1])):
        for _ in range(2):
            people.label_next(user, cast.project, values)
    found = figures(viewer=cast.admin, project=cast.project, details=False)
    expected = {url: n for url, n in numbers(Charts("bench", found, {})) if n}
    counts = {
        url: steps(viewer=cast.admin, project=cast.project, asked=filters(url)).count for url in expected
    }
    assert counts == expected and set(expected.values()) >= {6, 18}
    shown = steps(viewer=cast.admin, project=cast.project, asked={"figure": "alpha"})
    assert [[label.value for label in row.labels] for row in shown.rows(range(6))] == [
        [1, 1, 1],
        [1, 0, 0],
        [-1, 0, -1],
    ] * 2


def test_agreement_steps_show_both_labels_open_the_step_and_are_noted(browse, cast, at, text):
    two_subsets(cast)
    Exposure.objects.all().delete()

    response = browse("admin").get(at("agreement-steps", "bench") + "?labels=-1,1")

    (row,) = rows(response)
    assert [(label.annotator, label.value) for label in row.labels] == [("Ann", -1), ("Ben", 1)]
    assert (
        f'href="{at("trajectory", "bench", row.trajectory.pk)}{place_of(row.message_index)}"'
        in response.content.decode()
    )
    seen = Exposure.objects.filter(user=cast.admin, kind=ExposureKind.LABEL)
    assert list(seen.values_list("trajectory", flat=True)) == [row.trajectory.pk]
    assert "1 pair of labels" in text(response)


def test_agreement_steps_of_the_api_are_those_of_the_page(browse, discussed, at):
    Exposure.objects.all().delete()
    page = browse("admin").get(at("agreement-steps", "bench") + "?changed=1&subset=one")
    api = Caller(discussed.admin).get("/projects/bench/agreement/steps/?changed=1&subset=one&page_size=2")
    said = api.json()
    assert said["count"] == count(page) > 2 and len(said["results"]) == 2
    for row, shown in zip(said["results"], rows(page), strict=False):
        assert (row["trajectory"], row["message_index"]) == (shown.trajectory.pk, shown.message_index)
        assert [(one["annotator"], one["value"], one["after_discussion"]) for one in row["labels"]] == [
            (label.annotator, label.value, label.now) for label in shown.labels
        ]
        assert any(one["after_discussion"] is not None for one in row["labels"])
    Exposure.objects.all().delete()
    outcomes = Caller(discussed.admin).get("/projects/bench/agreement/steps/?of=outcome&page=2&page_size=5")
    assert [row["message_index"] for row in outcomes.json()["results"]] == [None] * 5
    noted = Exposure.objects.filter(user=discussed.admin).values_list("trajectory", flat=True)
    assert set(noted) == {row["trajectory"] for row in outcomes.json()["results"]}
    assert Caller(discussed.admin).get("/projects/bench/agreement/steps/?page=99").status_code == 404
    refused = Caller(discussed.admin).get("/projects/bench/agreement/steps/?figure=guess")
    assert refused.status_code == 400 and "the filter figure" in refused.json()["error"]["message"]
    assert Caller(discussed.judith).get("/projects/bench/agreement/steps/").status_code == 403


WORDS = "a wrong turn"
HOSTILE = "=1+1 <b>\u202e"


@shared_rows
def with_reasons(cast):
    """Two subsets, in whose first trajectory some labels have reasons."""
    two_subsets(cast)
    labels = Label.objects.filter(step__trajectory=Trajectory.objects.earliest("pk"))
    labels.filter(assignment__annotator=cast.ben, step__ordinal=2).update(reason="fabrication")
    labels.filter(assignment__annotator=cast.ann, step__ordinal=0).update(reason="as_asked")
    return cast


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        # trajectory and step, ann's label and ben's
        ("", "0.1++ 0.2+0 0.3-- 0.4-+ 1.1++ 1.2++ 1.3++ 1.4++ 2.1++ 2.2++"),
        ("?differ=1", "0.2+0 0.4-+"),
        ("?differ=sign_flip", "0.4-+"),
        ("?differ=neutral_boundary", "0.2+0"),
        ("?reason=fabrication", "0.3--"),
        ("?reason=fabrication&differ=1", ""),
        ("?reason=as_asked&annotator={ann}", "0.1++"),
        ("?differ=1&subset=one&sort=-difference", "0.4-+ 0.2+0"),
        ("?sort=-step&differ=1", "0.4-+ 0.2+0"),
        ("?sort=-record&subset=two", "2.1++ 2.2++"),
        ("?differ=1&annotator={ann}&value=1", "0.2+0"),
    ],
)
def test_agreement_steps_are_filtered_and_sorted(browse, with_reasons, at, query, expected):
    order = list(Trajectory.objects.order_by("pk").values_list("pk", flat=True))

    shown = browse("admin").get(at("agreement-steps", "bench") + query.format(ann=with_reasons.ann.pk))

    signs = {1: "+", 0: "0", -1: "-"}
    assert expected.split() == [
        f"{order.index(row.trajectory.pk)}.{row.number}{''.join(signs[label.value] for label in row.labels)}"
        for row in rows(shown)
    ]


def test_agreement_steps_show_what_the_step_says_and_both_notes_as_text(browse, cast, at, text):
    people.import_records(cast.project, [people.make_record(0, answer_text=HOSTILE)])
    people.label_next(cast.ann, cast.project, note=HOSTILE)
    people.label_next(cast.ben, cast.project, -1, note=WORDS)
    client, url = browse("admin"), at("agreement-steps", "bench")

    page = client.get(url).content.decode()

    assert 'Looking, time 0. search({"query": "q0 s0"})' in html.unescape(page)
    assert WORDS in page and "=1+1 &lt;b&gt;\\u202e" in page and "<b>" not in page
    assert HOSTILE.replace("\u202e", "\\u202e") in html.unescape(
        client.get(f"{url}?of=outcome").content.decode()
    )
    Exposure.objects.all().delete()
    answer = client.get(f"{url}?as=csv&differ=sign_flip&sort=step")
    (first, second) = csv.DictReader(io.StringIO(b"".join(answer.streaming_content).decode()))
    assert (first["step"], second["text"]) == ("1", "The answer to 0 is 0.")
    assert first["text"] == 'Looking, time 0.\nsearch({"query": "q0 s0"})'
    assert (first["label_1"], first["label_2"], first["note_2"]) == ("1", "-1", WORDS)
    assert first["note_1"] == f"'{HOSTILE}" and first["annotator_1"] == "Ann"
    assert Exposure.objects.filter(user=cast.admin, kind=ExposureKind.LABEL).count() == 1
    assert client.get(f"{url}?sort=notes").status_code == 400
    api = Caller(cast.admin).get("/projects/bench/agreement/steps/?differ=sign_flip&sort=-step").json()
    assert [row["text"] for row in api["results"]] == [second["text"], first["text"]]


def test_agreement_steps_come_page_by_page(browse, cast, at):
    people.import_records(cast.project, people.make_records(6, steps=10))
    people.make_unanimous(cast, 6)
    client = browse("admin")
    pages = [client.get(f"{at('agreement-steps', 'bench')}?page={page}") for page in (1, 2, 99)]
    first, second, beyond = ([(row.trajectory.pk, row.number) for row in rows(page)] for page in pages)
    assert (len(first), len(second)) == (50, 10) and beyond == second
    assert len({*first, *second}) == 60 == count(pages[0])


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("subset=%3Cscript%3E", "No labels fit the filter subset = “<script>”."),
        ("colour=red", "There is no filter “colour”."),
        ("by=colour", "There is no cut “colour”."),
    ],
)
def test_agreement_by_a_filter_that_does_not_exist_is_refused_in_a_sentence(
    browse, cast, at, text, query, said
):
    two_subsets(cast)
    response = browse("admin").get(f"{at('agreement', 'bench')}?{query}")
    assert response.status_code == 400 and said in html.unescape(text(response))
    if not query.startswith("by"):
        assert browse("admin").get(f"{at('agreement-steps', 'bench')}?{query}").status_code == 400
    api = Caller(cast.admin).get(f"/projects/bench/agreement/?{query}")
    assert api.status_code == 400 and said == api.json()["error"]["message"]


def test_agreement_of_the_page_the_api_and_the_files_is_the_same(browse, cast, at):
    two_subsets(cast)
    page = as_json(browse("admin").get(at("agreement", "bench") + "?kind=call&by=model").context["found"])
    api = Caller(cast.admin).get("/projects/bench/agreement/?kind=call&by=model").json()
    report = figures(viewer=cast.admin, project=cast.project, asked={"kind": "call"}, by="model")
    assert json.loads(json.dumps(as_json(report))) == api
    assert all(json.loads(json.dumps(page[key])) == api[key] for key in ("overall", "cut", "weeks", "places"))
    assert api["filters"] == {"kind": "call"} and api["cut"]["by"] == "model"
    answer = browse("admin").get(at("agreement-csv", "bench", "cut") + "?kind=call&by=model")
    rows = list(csv.reader(io.StringIO(answer.content.decode())))
    (part,) = api["cut"]["parts"]
    assert rows[0][:3] == ["model", "n", "kappa"] and rows[1][:2] == [part["key"], str(part["n"])]
    assert float(rows[1][2]) == part["figure"]["value"]
    assert browse("admin").get(at("agreement-csv", "bench", "nothing")).status_code == 404


def test_figures_for_adjudicators_tell_of_nobody(browse, cast, at, text):
    people.import_records(cast.project, 5)
    for user, value in ((cast.ann, 1), (cast.ben, -1)):
        for _ in range(5):
            people.label_next(user, cast.project, [value, 1])
    people.import_records(cast.project, 4, subset="few")
    for user, value in ((cast.ann, 1), (cast.cleo, 0)):
        for _ in range(4):
            people.label_next(user, cast.project, [value, 1])

    mine, theirs = (browse(who).get(at("agreement", "bench")) for who in ("judith", "admin"))

    assert theirs.context["overall"].steps.n == 18 and "Distribution of labels by annotator" in text(theirs)
    assert mine.context["overall"].steps.n == mine.context["overall"].outcomes.n * 2 == 10
    confusion = mine.context["charts"].confusion
    assert not confusion["named"] and {(cell.a, cell.b) for cell in confusion["heat"].cells} == {
        (-1, -1),
        (-1, 0),
        (-1, 1),
        (0, 0),
        (0, 1),
        (1, 1),
    }
    assert not links(mine) and "Distribution of labels by annotator" not in text(mine)
    few = browse("judith").get(at("agreement", "bench") + "?subset=few")
    assert few.status_code == 400, "too few to be known of"
    said = json.dumps(as_json(figures(viewer=cast.judith, project=cast.project)))
    assert not [name for name in ("Ann", "Ben", "Cleo") if name in said or name in text(mine)]


def test_project_that_always_shows_suggestions_says_that_nothing_is_blind(browse, cast, at, text):
    cast.project.suggestion_policy = "always"
    cast.project.save()
    assert "no label is blind" in text(browse("admin").get(at("agreement", "bench")))
