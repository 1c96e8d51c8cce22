"""What a script waits for in a page: a frame, or a promise that a test expects to be kept."""

from tests.chromium import PATIENCE

# Two seconds at most: Playwright's evaluate has no time limit, and beside busy loops a test once waited for a
# frame or an idle moment that never came.
FRAME = """
  const frame = () => Promise.race([
    new Promise((done) => requestAnimationFrame(() => setTimeout(done))),
    new Promise((done) => setTimeout(done, 2000)),
  ]);"""
# Fails with `what` once patience is at its end, for the same reason.
KEPT = f"""
  const kept = (promise, what) => Promise.race([
    promise,
    new Promise((_, fail) => setTimeout(() => fail(new Error(what)), {PATIENCE})),
  ]);"""
