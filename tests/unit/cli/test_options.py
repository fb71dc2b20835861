"""What is logged beside a command's work is a line on stderr; what Spark logs is not."""

from __future__ import annotations

import json
import logging

import pytest

from trickle.cli.main import app
from trickle.cli.options import Options, logs_as_lines, quiet_spark
from trickle.events import Event, Events, Webhook
from trickle.spark import hush


def test_a_webhook_that_is_not_taken_is_said(capfd: pytest.CaptureFixture[str]) -> None:
    with quiet_spark(), logs_as_lines(Options()):
        hook = Webhook("http://127.0.0.1:9/nobody")
        hook(Event("totals"))
        hook.close()
    assert capfd.readouterr().err.startswith("warning: the webhook did not take event: ")


def test_a_subscriber_that_fails_is_said_in_the_face_that_was_asked_for(capfd: pytest.CaptureFixture[str]) -> None:
    def fail(event: Event) -> None:
        raise ValueError("no")

    events = Events()
    events.subscribe(fail)
    with quiet_spark(), logs_as_lines(Options(format="json")):
        events.tell(Event("totals"))
    assert json.loads(capfd.readouterr().err) == {"warning": "a subscriber failed on event: ValueError: no"}
    assert not logging.getLogger("trickle").handlers


def test_what_others_log_is_not(capfd: pytest.CaptureFixture[str]) -> None:
    from pyspark.logger import PySparkLogger

    hush()
    with quiet_spark(), logs_as_lines(Options()):
        logging.getLogger("py4j.clientserver").error("Error while sending or receiving.")
        logging.getLogger("elsewhere").warning("something")
        PySparkLogger.getLogger("SQLQueryContextLogger").error("an error that is raised, too", errorClass="X")
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("face", [(), ("--json",)])
def test_a_token_is_shown_in_no_face(face: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        app(["--set", "web.token=a long secret", "settings", *face], prog_name="trickle")
    printed = capsys.readouterr().out
    assert "web.token" in printed and "…" in printed and "a long secret" not in printed
