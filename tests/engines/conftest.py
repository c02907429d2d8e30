"""A Spark in this process, and a Spark cluster beside it; each is skipped, saying so, where it cannot be had."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest


def require_spark() -> None:
    pytest.importorskip("pyspark", reason="Spark is not installed")
    from karat.engines.spark import find_java
    from karat.errors import MissingExtra

    try:
        find_java()
    except MissingExtra as error:
        pytest.skip(str(error))
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    """A local Spark with two threads."""
    require_spark()
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.driver.memory", "1g")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.warehouse.dir", str(tmp_path_factory.mktemp("warehouse")))
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def cluster(tmp_path):
    """A standalone Spark cluster on loopback: one master, two workers; gives its address."""
    require_spark()
    import pyspark

    home = Path(pyspark.__file__).parent
    port, page = free_port(), free_port()
    environment = {
        **os.environ,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_WORKER_DIR": str(tmp_path / "work"),
    }
    host = ["--host", "127.0.0.1"]
    deploy = "org.apache.spark.deploy"
    spark_class = [str(home / "bin/spark-class")]
    commands = [
        [*spark_class, f"{deploy}.master.Master", *host, "--port", str(port), "--webui-port", str(page)],
        *(
            [*spark_class, f"{deploy}.worker.Worker", *host, "--cores", "1", "--memory", "1g",
             "--webui-port", str(free_port()), f"spark://127.0.0.1:{port}"]
            for _ in range(2)
        ),
    ]  # fmt: skip
    log = (tmp_path / "cluster.log").open("wb")
    processes = [subprocess.Popen(command, env=environment, stdout=log, stderr=log) for command in commands]
    try:
        wait_for_workers(page, 2, tmp_path / "cluster.log")
        yield f"spark://127.0.0.1:{port}"
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            process.wait(timeout=30)
        log.close()
        shutil.rmtree(tmp_path / "work", ignore_errors=True)


def wait_for_workers(page: int, n_workers: int, log: Path) -> None:
    for _ in range(300):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{page}/json/", timeout=2) as answer:
                if answer.read().decode().count('"ALIVE"') > n_workers:  # the master is alive too
                    return
        except OSError:
            pass
        time.sleep(0.2)
    pytest.fail(f"the cluster did not start:\n{log.read_text(errors='replace')[-2000:]}")
