"""Speed and memory of Tristep: `make bench`, or `python -m bench --quick`.

Nothing here is part of the product. What is measured is the product as it runs: imports in a process of their
own, and requests over HTTP to the server that `make run` starts. docs/performance.md says what the figures
mean. Each topic is a module with `run`, which prints its figures and holds them to what is promised.
"""
