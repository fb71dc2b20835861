"""Who may read the pages, and who may act: decided from what a request says, nothing else."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import quote, unquote

from ..errors import ConfigError

COOKIE = "trickle_token"


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach it.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("::1"), is_loopback("0.0.0.0")
    (True, True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.casefold() == "localhost"


def host_name(header: str) -> str:
    """The host of a Host header, without its port.

    >>> host_name("localhost:8642"), host_name("[::1]:80"), host_name("127.0.0.1")
    ('localhost', '::1', '127.0.0.1')
    """
    if header.startswith("["):
        return header[1:].partition("]")[0]
    return header.partition(":")[0]


@dataclass(frozen=True)
class Access:
    """With a token, everybody has to show it; without one, only this machine is listened to."""

    token: str = ""
    action_token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    """Is in every form of the pages, so that no other site can have a browser act here."""

    @classmethod
    def of(cls, host: str, token: str) -> Access:
        if not token and not is_loopback(host):
            raise ConfigError(
                f"pages on {host} would be open to everybody",
                detail="web.host is an address that other machines can reach.",
                hint="set web.token to something long and secret, or web.host to 127.0.0.1.",
            )
        return cls(token)

    def may_read(self, headers: Mapping[str, str], query: Mapping[str, str]) -> bool:
        if not self.token:
            # A name that an attacker's DNS points at this machine is not this machine.
            return is_loopback(host_name(headers.get("Host", "")))
        shown = (query.get("token", ""), self.bearer(headers), _cookie(headers))
        return any(_same(one, self.token) for one in shown)

    def may_act(self, headers: Mapping[str, str], form: Mapping[str, str]) -> bool:
        """A form of ours, or a program that shows the token in a header."""
        if not self.may_read(headers, {}):
            return False
        if self.token and _same(self.bearer(headers), self.token):
            return True
        return _same(form.get("token", "") or headers.get("X-Trickle-Token", ""), self.action_token)

    @property
    def cookie(self) -> str:
        """Shows the token from now on; a cookie can hold only some signs, so the others are escaped."""
        return f"{COOKIE}={quote(self.token, safe='')}; HttpOnly; SameSite=Strict; Path=/"

    @staticmethod
    def bearer(headers: Mapping[str, str]) -> str:
        kind, _, token = headers.get("Authorization", "").partition(" ")
        return token.strip() if kind.casefold() == "bearer" else ""


def _cookie(headers: Mapping[str, str]) -> str:
    try:
        found = SimpleCookie(headers.get("Cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return unquote(found.value) if found else ""


def _same(shown: str, wanted: str) -> bool:
    return bool(shown) and hmac.compare_digest(shown.encode(), wanted.encode())
