"""HDFS and YARN on a network: a node manager on every host but the first, which has all other daemons."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import escape

from platforms.network import Network
from support.quick_java import QUICK

__all__ = ["Hadoop"]

OPENED = ("java.lang", "java.util", "java.io", "java.net")  # to Hadoop's own libraries, since Java 17
SERVER = "org.apache.hadoop."
SCHEDULER = "org.apache.hadoop.yarn.server.resourcemanager.scheduler.fifo.FifoScheduler"
PROPERTY = "<property><name>{}</name><value>{}</value></property>"
START = 240.0  # seconds, for a machine that is busy with other things
LOG4J = """log4j.rootLogger=INFO,err
log4j.appender.err=org.apache.log4j.ConsoleAppender
log4j.appender.err.layout=org.apache.log4j.PatternLayout
log4j.appender.err.layout.ConversionPattern=%d{ISO8601} %p %c{1}: %m%n
"""


@dataclass
class Hadoop:
    """``folder`` holds settings, logs and data; ``jars`` the programs."""

    network: Network
    folder: Path
    jars: Path

    @property
    def conf(self) -> Path:
        """The folder for HADOOP_CONF_DIR."""
        return self.folder / "conf"

    @property
    def master(self) -> str:
        return self.network.names[0]

    def start(self) -> None:
        self._configure()
        once = self._java(self.master, "hdfs.server.namenode.NameNode", "-format", "-nonInteractive", name="format")
        assert once.wait() == 0, self.log("format")
        self._java(self.master, "hdfs.server.namenode.NameNode", name="namenode")
        self._java(self.master, "hdfs.server.datanode.DataNode", name="datanode")
        self._java(self.master, "yarn.server.resourcemanager.ResourceManager", name="resourcemanager")
        for host in self.network.names[1:]:
            self.start_node(host)
        nodes = len(self.network.names) - 1
        self._wait(lambda: self.log("resourcemanager").count("NodeManager from node") >= nodes, "resourcemanager")
        self._wait(lambda: "registerDatanode" in self.log("namenode"), "namenode")

    def start_node(self, host: str) -> None:
        """The node manager of a host, which starts containers there."""
        self._java(host, "yarn.server.nodemanager.NodeManager", name=f"nodemanager-{host}")

    def hdfs(self, *arguments: str) -> str:
        """What the command ``hdfs dfs`` says."""
        done = self._java(self.master, "fs.FsShell", *arguments, name="shell")
        assert done.wait() == 0, self.log("shell")
        return self.log("shell")

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")

    def containers(self, host: str) -> str:
        """What the containers of a host have said so far."""
        found = sorted((self.folder / host / "logs").rglob("std*"))
        return "\n".join(path.read_text(errors="replace") for path in found if path.is_file())

    def _java(self, host: str, program: str, *arguments: str, name: str) -> subprocess.Popen[bytes]:
        """A host's own settings come before those that all share."""
        (self.folder / host).mkdir(exist_ok=True)
        places = [self.folder / host / "conf", self.conf, f"{self.jars}/*"]
        opened = [part for one in OPENED for part in ("--add-opens", f"java.base/{one}=ALL-UNNAMED")]
        command = ["java", "-Xmx256m", *QUICK.split(), *opened, "-cp", ":".join(map(str, places)), SERVER + program]
        log = self.folder / f"{name}.log"
        return self.network.start(host, log, *command, *arguments, cwd=self.folder / host, env=self._environment())

    def _environment(self) -> dict[str, str]:
        program = shutil.which("java") or "java"
        home = os.environ.get("JAVA_HOME") or str(Path(os.path.realpath(program)).parents[1])
        return {**os.environ, "JAVA_HOME": home}

    def _wait(self, there: Callable[[], bool], name: str) -> None:
        end = time.monotonic() + START
        while not there():
            gone = time.monotonic() > end or "SHUTDOWN_MSG" in self.log(name)
            assert not gone, f"{name} did not come\n{self.log(name)[-3000:]}"
            time.sleep(0.2)

    def _configure(self) -> None:
        shared = {
            "core-site": {"fs.defaultFS": f"hdfs://{self.master}:9000", "hadoop.tmp.dir": f"{self.folder}/tmp"},
            "hdfs-site": {
                "dfs.replication": "1",
                "dfs.namenode.name.dir": f"{self.folder}/names",
                "dfs.datanode.data.dir": f"{self.folder}/data",
                "dfs.namenode.http-address": f"{self.master}:0",
            },
            "yarn-site": {
                "yarn.resourcemanager.hostname": self.master,
                "yarn.resourcemanager.scheduler.class": SCHEDULER,
                "yarn.scheduler.minimum-allocation-mb": "128",
                "yarn.resourcemanager.am.max-attempts": "2",
                "yarn.nm.liveness-monitor.expiry-interval-ms": "15000",
                "yarn.resourcemanager.nm.liveness-monitor.interval-ms": "2000",
            },
        }
        for name, settings in shared.items():
            _write(self.conf / f"{name}.xml", settings)
        (self.conf / "log4j.properties").write_text(LOG4J)
        for daemon in ("hdfs", "datanode"):  # whose web pages are not among the jars, and may be empty
            (self.conf / "webapps" / daemon).mkdir(parents=True)
        for host in self.network.names[1:]:
            _write(self.folder / host / "conf" / "yarn-site.xml", shared["yarn-site"] | self._node(host))

    def _node(self, host: str) -> Mapping[str, str]:
        """What is a node manager's own: all hosts share this machine's files."""
        return {
            "yarn.nodemanager.hostname": host,
            "yarn.nodemanager.local-dirs": f"{self.folder}/{host}/local",
            "yarn.nodemanager.log-dirs": f"{self.folder}/{host}/logs",
            "yarn.nodemanager.resource.memory-mb": "2600",
            "yarn.nodemanager.resource.cpu-vcores": "4",
            "yarn.nodemanager.vmem-check-enabled": "false",
            "yarn.nodemanager.disk-health-checker.enable": "false",
            "yarn.nodemanager.env-whitelist": "JAVA_HOME,PATH,LANG",
        }


def _write(path: Path, settings: Mapping[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [PROPERTY.format(name, escape(value)) for name, value in settings.items()]
    path.write_text("\n".join(["<configuration>", *lines, "</configuration>", ""]))
