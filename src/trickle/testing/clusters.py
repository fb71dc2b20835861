"""Spark servers on loopback, from the pip package: a Spark Connect endpoint, and a master with workers."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pyspark

START_SECONDS = 90.0
HOST = "127.0.0.1"


@contextmanager
def connect_server(directory: Path) -> Iterator[str]:
    """A Spark Connect server with two local cores; its address."""
    port = free_port()
    command = [
        *("spark-submit", "--master", "local[2]", "--driver-memory", "1g"),
        *("--class", "org.apache.spark.sql.connect.service.SparkConnectServer"),
        *("--conf", f"spark.connect.grpc.binding.port={port}"),
        *("--conf", f"spark.connect.grpc.binding.address={HOST}"),
        *("--conf", "spark.ui.enabled=false"),
        *("--conf", "spark.sql.session.timeZone=UTC"),
        "spark-internal",
    ]
    with program(command, directory, "connect", port):
        yield f"sc://{HOST}:{port}"


@contextmanager
def standalone_cluster(directory: Path, workers: int = 2) -> Iterator[str]:
    """A master and workers of one core each; the master's address."""
    port = free_port()
    master = f"spark://{HOST}:{port}"
    with ExitStack() as stack:
        arguments = ("--host", HOST, "--port", str(port), "--webui-port", "0")
        stack.enter_context(
            program(
                ["spark-class", "org.apache.spark.deploy.master.Master", *arguments],
                directory,
                "master",
                port,
            )
        )
        for number in range(workers):
            worker_port = free_port()
            arguments = ("--host", HOST, "--port", str(worker_port), "--webui-port", "0")
            size = ("--cores", "1", "--memory", "1g", "--work-dir", str(directory / f"work{number}"))
            command = ["spark-class", "org.apache.spark.deploy.worker.Worker", *arguments, *size, master]
            stack.enter_context(program(command, directory, f"worker{number}", worker_port))
        yield master


@contextmanager
def program(command: list[str], directory: Path, label: str, port: int) -> Iterator[None]:
    """Run one of Spark's programs until the block ends; it counts as started when its port answers."""
    home = Path(pyspark.__file__).parent
    environment = os.environ | {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": HOST, "SPARK_NO_DAEMONIZE": "1"}
    environment["PYSPARK_PYTHON"] = sys.executable
    directory.mkdir(parents=True, exist_ok=True)
    log = directory / f"{label}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(home / "bin" / command[0]), *command[1:]],
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=directory,
            env=environment,
        )
    try:
        _await_port(process, port, log)
        yield
    finally:
        process.terminate()
        process.wait(30)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def _await_port(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex((HOST, port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError(f"{log.stem} did not start:\n{log.read_text(errors='replace')[-2000:]}")
