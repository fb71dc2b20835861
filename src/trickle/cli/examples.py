"""The lines below a command's help that may be typed as they stand."""

from __future__ import annotations

_WORD = "Example: "


def as_epilog(*lines: str) -> str:
    """
    >>> as_epilog("trickle list")
    'Example: trickle list'
    """
    return "\n\n".join(_WORD + line for line in lines)


def of_epilog(text: str | None) -> list[str]:
    """
    >>> of_epilog(as_epilog("trickle list", "trickle status")), of_epilog(None)
    (['trickle list', 'trickle status'], [])
    """
    return [line.removeprefix(_WORD) for line in (text or "").split("\n\n") if line]
