"""Judges first: settle what judges agree on before people are asked, draw some of it for people, and send it
back to them (docs/judges.md, "Judges first")."""

from .send_back import send_back
from .settling import settle_judged

__all__ = ["send_back", "settle_judged"]
