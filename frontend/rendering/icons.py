"""Our icons: strokes on a 16 × 16 grid, as path data. Decoration, never the sole carrier of a meaning."""

from typing import Final

ICONS: Final[dict[str, str]] = {
    "adjudication": "M8 2v12M5 14h6M3 5h10M3 5 1.5 9.5h3zM13 5l-1.5 4.5h3z",
    "agreement": "M2 14V2M2 14h12M5 11l3-4 2 2 4-5",
    "audit": "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 5v3l2 2",
    "board": "M2.5 14h11M4 11.5v-4M7 11.5v-7M10 11.5v-5M13 11.5v-9",
    "check": "m3 8.5 3.5 3.5L13 4.5",
    "copy": "M6 5.5h7v8H6zM4 10.5H3v-8h7v1",
    "corrections": "M9.5 3.5 12 6l-7 7H2.5v-2.5zM11 2l2.5 2.5M9 13.5h4.5",
    "download": "M8 2v8M4.5 7 8 10.5 11.5 7M2.5 13.5h11",
    "guidelines": "M8 4C6.5 3 4.5 2.7 2 3v9.5c2.5-.3 4.5 0 6 1 1.5-1 3.5-1.3"
    " 6-1V3c-2.5-.3-4.5 0-6 1zM8 4v9.5",
    "import": "M8 10.5V2.5M4.5 6 8 2.5 11.5 6M2.5 13.5h11",
    "influence": "M2.5 8h7M7 5l3 3-3 3M13.5 2.5v11",
    "judges": "M3 2.5h10v8H7.5L4.5 13v-2.5H3zM5.5 6.5l1.7 1.7L10.5 5",
    "label-quality": "M8 1.8 13 3.5v4c0 3.2-2.1 5.6-5 6.7-2.9-1.1-5-3.5-5-6.7v-4zM5.5 7.8l1.8 1.8 3.2-3.4",
    "members": "M6 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4"
    "M10.5 3.2a2.5 2.5 0 0 1 0 4.6M12 9.8c1.6.5 2.5 1.9 2.5 3.7",
    "next": "m6 3 5 5-5 5",
    "overview": "M2.5 2.5h4.5v5h-4.5zM9 2.5h4.5v3H9zM9 7.5h4.5v6H9zM2.5 9.5h4.5v4h-4.5z",
    "plus": "M8 3v10M3 8h10",
    "previous": "m10 3-5 5 5 5",
    "releases": "m2.5 5 5.5-2.5L13.5 5v6L8 13.5 2.5 11zM2.5 5 8 7.5 13.5 5M8 7.5v6",
    "remarks": "M2.5 3h11v7.5H8L5 13v-2.5H2.5zM8 5v2.5M8 8.8v.01",
    "search": "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.5 10.5 14 14",
    "settings": "M2 4.5h6M12 4.5h2M2 11.5h2M8 11.5h6M10 6.5a2 2 0 1 0 0-4 2 2 0 0 0 0"
    " 4zM6 13.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4z",
    "theme": "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 2v12M8 5l4.5-1M8 8h6M8 11l4.5 1",
    "training": "M1.5 6 8 3l6.5 3L8 9zM4 7.5v3c0 1 1.8 2 4 2s4-1 4-2v-3M14.5 6v4",
    "trajectories": "M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01",
    "user": "M8 8a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.5 14c0-3 2.5-4.5 5.5-4.5s5.5 1.5 5.5 4.5",
    "work": "M10.5 3 13 5.5 5.5 13 2.5 13.5 3 10.5zM9 4.5 11.5 7",
}
