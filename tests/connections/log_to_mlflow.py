"""Log traces of an agent with MLflow's own client: `python log_to_mlflow.py URL EXPERIMENT NUMBER…`.

Runs in the environment of MLflow, apart from Tristep. Says of each trace its id and those of its two calls.
"""

import sys

import mlflow  # type: ignore[import-not-found]

FLUSHED_AT_ONCE = 100
"""The queue of MLflow's client drops what comes when it is full."""


def log(number: int) -> None:
    """One trace: a call that asks for a tool, the tool, and a call that answers."""
    said = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": f"What is {number} + {number}?"},
    ]
    function = {"name": "search", "arguments": f'{{"q": "{number} + {number}"}}'}
    asks = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}],
    }
    spans = []

    def call(answer: dict[str, object]) -> None:
        with mlflow.start_span(name="llm", span_type="CHAT_MODEL") as span:
            span.set_inputs({"model": "tiny-1", "messages": list(said)})
            span.set_outputs({"choices": [{"message": answer}]})
            spans.append(span)

    with mlflow.start_span(name="agent", span_type="AGENT") as root:
        root.set_inputs({"question": said[1]["content"]})
        call(asks)
        with mlflow.start_span(name="search", span_type="TOOL") as tool:
            tool.set_inputs({"q": f"{number} + {number}"})
            tool.set_outputs(str(2 * number))
        said.extend([asks, {"role": "tool", "tool_call_id": f"c{number}", "content": str(2 * number)}])
        call({"role": "assistant", "content": f"It is {2 * number}."})
    print(root.trace_id, *[span.span_id for span in spans], flush=True)


if __name__ == "__main__":
    mlflow.set_tracking_uri(sys.argv[1])
    mlflow.set_experiment(sys.argv[2])
    for count, argument in enumerate(sys.argv[3:], 1):
        log(int(argument))
        if count % FLUSHED_AT_ONCE == 0:
            mlflow.flush_trace_async_logging()
    mlflow.flush_trace_async_logging()
