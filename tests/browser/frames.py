"""A frame of the page, waited for in its scripts."""

# Two seconds at most: Playwright's evaluate has no time limit, and beside busy loops a test once waited for a
# frame or an idle moment that never came.
FRAME = """
  const frame = () => Promise.race([
    new Promise((done) => requestAnimationFrame(() => setTimeout(done))),
    new Promise((done) => setTimeout(done, 2000)),
  ]);"""
