"""Sessions of events: which lines belong together, what was dropped, and how much may be held."""

import io
import json
import time
from typing import Any

from annotation.core.trajectories.trajectory import TrajectoryDraft, step_indexes
from annotation.importers import FORMATS, ReadContext, RecordError
from annotation.importers.agents.line_tree import trees
from annotation.importers.options import ReadOptions, apply_options, pointers, record_of

from .reading import errors


def line(
    kind: str, uuid: str, parent: str | None, text: Any, session: str = "s", **more: Any
) -> dict[str, Any]:
    role = {"role": kind, "content": text, **more}
    return {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": session, "message": role}


def read(*lines: Any, limit: int = 1 << 20) -> tuple[list[TrajectoryDraft | RecordError], ReadContext]:
    context = ReadContext("f", max_record_bytes=limit)
    data = "\n".join(json.dumps(one) for one in lines).encode()
    return list(FORMATS["claude_code"].read(io.BytesIO(data), context)), context


def drafts(*lines: Any) -> list[TrajectoryDraft]:
    found, _ = read(*lines)
    kept = [item for item in found if isinstance(item, TrajectoryDraft)]
    assert len(kept) == len(found), found
    return kept


def test_sessions_that_are_interleaved_are_told_apart() -> None:
    names = ["a", "b", "a", "b"]
    found = drafts(*(line("assistant", f"u{n}", None, f"{n}", session=name) for n, name in enumerate(names)))
    assert [(one.record_id, [m["content"] for m in one.messages]) for one in found] == [
        ("a", ["0", "2"]),
        ("b", ["1", "3"]),
    ]
    assert [json.loads(raw)["uuid"] for raw in found[0].raw.splitlines()] == ["u0", "u2"]


def test_session_over_the_limit_is_refused_by_its_first_line() -> None:
    found, _ = read(*(line("assistant", f"u{n}", None, "x" * 200) for n in range(3)), limit=500)
    assert [str(item) for item in found] == [
        "f:1: is a session larger than 500 bytes, the limit for one record"
    ]


def test_sessions_of_a_file_are_held_up_to_four_times_the_limit() -> None:
    lines = [line("assistant", f"u{n}", None, "x" * 200, session=f"s{n}") for n in range(12)]
    found, _ = read(*lines, limit=500)
    good = [item for item in found if isinstance(item, TrajectoryDraft)]
    assert 0 < sum(len(item.raw) for item in good) <= 2000
    assert len(good) < len(lines)
    assert len(found) == len(lines)


def test_session_of_copied_lines_and_of_none_that_can_be_read() -> None:
    answer = line("assistant", "b", "a", "A")
    found, context = read(line("user", "a", None, "Q"), answer, answer, {**answer, "message": "broken"})
    assert [len(item.messages) for item in found if isinstance(item, TrajectoryDraft)] == [2]
    assert context.notes["lines that occur twice, taken once"] == 1
    assert context.notes["lines with a message that cannot be read, passed over"] == 1
    assert errors("claude_code", "7", "[]") == [" the file contains no records"]


def test_pointer_leads_into_the_lines_of_a_session() -> None:
    lines = [{**line("user", "a", None, "Q"), "branch": "case-7"}, line("assistant", "b", "a", "A")]
    found, context = read(*lines)
    (mapped,) = apply_options(found, ReadOptions(task_key_at="/0/branch"), context)
    assert isinstance(mapped, TrajectoryDraft)
    assert mapped.task_key == "case-7"
    assert ("/0/branch", "case-7") in pointers(record_of(mapped.raw))
    (missing,) = apply_options(found, ReadOptions(task_key_at="/7/branch"), context)
    assert str(missing) == "f:1: task_key: there is nothing at /7/branch in this record"


def test_parallel_calls_keep_the_results_that_lie_beside_the_way() -> None:
    call = {"type": "tool_use", "name": "f", "input": {}}
    (found,) = drafts(
        line("user", "q", None, "Q"),
        line("assistant", "a1", "q", [{**call, "id": "c1"}], id="m"),
        line("assistant", "a2", "a1", [{**call, "id": "c2"}], id="m"),
        line("user", "r1", "a1", [{"type": "tool_result", "tool_use_id": "c1", "content": "1"}]),
        line("user", "r2", "a2", [{"type": "tool_result", "tool_use_id": "c2", "content": "2"}]),
        line("assistant", "a3", "r2", "Done.", id="n"),
    )
    assert [message["content"] for message in found.messages] == ["Q", "", "1", "2", "Done."]
    assert step_indexes(found.messages) == [1, 4]
    assert found.hints["source_steps"] == {"1": "a1", "4": "a3"}


def test_tree_of_lines_has_no_circles_and_takes_linear_time() -> None:
    def spoken(_one: dict[str, Any]) -> bool:
        return True

    def nothing(_way: list[Any], _all: list[Any]) -> Any:
        return lambda _one: False

    knot = [
        {"uuid": "a", "parentUuid": "b"},
        {"uuid": "b", "parentUuid": "a"},
        {"uuid": "c", "parentUuid": "c"},
    ]
    assert [len(tree.kept) for tree in trees(knot, spoken, nothing)] == [2, 1]
    long = [{"uuid": f"{n}", "parentUuid": f"{n - 1}"} for n in range(50_000)]
    began = time.process_time()
    (tree,) = trees(long, spoken, nothing)
    assert (len(tree.kept), tree.branches) == (50_000, 0)
    assert time.process_time() - began < 2
    fork = [
        {"uuid": "r"},
        *({"uuid": f"x{n}", "parentUuid": "r"} for n in range(5)),
        {"uuid": "y", "parentUuid": "x0"},
    ]
    (tree,) = trees(fork, spoken, nothing)
    assert ([one["uuid"] for one in tree.kept], tree.branches) == (["r", "x0", "y"], 4)
