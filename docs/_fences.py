"""A hook of mkdocs: what the test suite reads after a fence's language (noexec, duckdb) is not for the site."""

import re
from typing import Any


def on_page_markdown(markdown: str, **_: Any) -> str:
    return re.sub(r"^```(\w+) \w+$", r"```\1", markdown, flags=re.MULTILINE)
