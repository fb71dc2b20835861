"""Short bounds of long strings and blobs: at_most(x) ≤ x ≤ at_least(x), valid UTF-8, free of NUL.

PostgreSQL holds no NUL in a text, and a catalog is no place for megabytes.
"""

from __future__ import annotations

from typing import Any

from .text import STRINGS

LONGEST = 256
"""Bytes of a string or blob that a bound keeps."""

_LAST = chr(0x10FFFF)
_BEFORE_SURROGATES = chr(0xD7FF)
_AFTER_SURROGATES = chr(0xE000)


def at_most(key: Any, type: str) -> Any:
    """A lower bound of the key; strings come as UTF-8 bytes, sound or not.

    >>> at_most(b"abc", "varchar"), at_most(b"ab\\x00c", "varchar"), len(at_most(b"x" * 999, "blob"))
    ('abc', 'ab', 256)
    """
    if type in STRINGS:
        return _sound(key[:LONGEST])
    return key[:LONGEST] if type == "blob" else key


def at_least(key: Any, type: str) -> Any:
    """An upper bound of the key.

    >>> at_least(b"abc", "varchar"), at_least(b"ab\\x00c", "varchar"), at_least(b"x" * 999, "varchar")[-2:]
    ('abc', 'ab\\x01', 'xy')
    """
    if type in STRINGS:
        short = _sound(key[:LONGEST])
        return short if short.encode() == key else _next_string(short, key)
    if type == "blob" and len(key) > LONGEST:
        return _next_bytes(key[:LONGEST]) or key
    return key


def _sound(text: bytes) -> str:
    """The longest prefix that is UTF-8 and free of NUL."""
    text = text.partition(b"\0")[0]
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        return text[: error.start].decode()


def _next_string(prefix: str, key: bytes) -> str:
    """The least short string above all that begin with `prefix` as `key` does."""
    if key.startswith(prefix.encode() + b"\0"):
        return prefix + "\x01"
    kept = prefix.rstrip(_LAST)
    if not kept:
        return _LAST * (len(key) // 4 + 1)
    last = _AFTER_SURROGATES if kept[-1] == _BEFORE_SURROGATES else chr(ord(kept[-1]) + 1)
    return kept[:-1] + last


def _next_bytes(prefix: bytes) -> bytes:
    kept = prefix.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else b""
