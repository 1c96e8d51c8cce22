"""Values that Hypothesis makes up for several modules."""

from hypothesis import strategies as st

from annotation.core.text import MARK

ANY_TEXT = st.text(st.characters() | st.sampled_from(["\x00", "\ud800", "\udfff", MARK, "0", "d", "f"]))
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | ANY_TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ANY_TEXT, inner, max_size=4),
    max_leaves=20,
)
