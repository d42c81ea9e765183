"""Several hosts on this machine: network namespaces with an address, a host name and a cable of their own.

The cables meet in a bridge that has a namespace to itself, and nothing leads out of it: not to this machine's own
network, and not from it to the hosts.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from platforms.tools import Unreachable

__all__ = ["Network", "check_namespaces", "network"]

BRIDGE = "hub"
HOSTS = Path("/etc/netns")  # where `ip netns exec` finds a host's own /etc/hosts


@dataclass
class Network:
    """Hosts by name; the first one is where users are."""

    names: Sequence[str]
    tag: str
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(
        self, host: str, log: Path, *command: str, cwd: Path, env: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        """A process on a host, in a group of its own: what it starts can be ended with it."""
        there = ["ip", "netns", "exec", self.space(host), "unshare", "--uts"]
        shell = ["sh", "-c", 'hostname "$0" && exec "$@"', host, *command]
        with log.open("wb") as file:
            process = subprocess.Popen(
                [*there, *shell], cwd=cwd, env=env, stdout=file, stderr=file, start_new_session=True
            )
        self.running.append(process)
        return process

    def space(self, host: str) -> str:
        return f"{self.tag}-{host}"

    def address(self, host: str) -> str:
        return f"10.77.0.{self.names.index(host) + 1}"

    def cut(self, host: str) -> None:
        """Pull the cable: what runs there goes on, and nobody hears of it."""
        ip("-n", self.space(BRIDGE), "link", "set", host, "down")

    def power_off(self, host: str) -> None:
        """End all that runs on a host."""
        found = subprocess.run(["ip", "netns", "pids", self.space(host)], capture_output=True, text=True, check=True)
        for pid in found.stdout.split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)


@contextmanager
def network(*names: str) -> Iterator[Network]:
    """A network of hosts; all that runs on them ends with it."""
    made = Network(names, f"pufs{os.getpid()}")
    try:
        ip("netns", "add", made.space(BRIDGE))
        ip("-n", made.space(BRIDGE), "link", "add", "bridge", "type", "bridge")
        ip("-n", made.space(BRIDGE), "link", "set", "bridge", "up")
        for name in names:
            _connect(made, name)
        yield made
    finally:
        for name in names:
            with suppress(subprocess.CalledProcessError):
                made.power_off(name)
        for process in made.running:
            process.wait()
        for name in (*names, BRIDGE):
            subprocess.run(["ip", "netns", "del", made.space(name)], capture_output=True, check=False)
            with suppress(FileNotFoundError):
                (HOSTS / made.space(name) / "hosts").unlink()
                (HOSTS / made.space(name)).rmdir()


def check_namespaces() -> None:
    """Raise where this machine does not let us make hosts."""
    if os.geteuid():
        raise Unreachable("network namespaces are for root")
    try:
        with network("one"):
            return
    except (OSError, subprocess.CalledProcessError) as error:
        raise Unreachable(f"network namespaces cannot be made here: {error}") from error


def _connect(made: Network, name: str) -> None:
    space, bridge = made.space(name), made.space(BRIDGE)
    (HOSTS / space).mkdir(parents=True, exist_ok=True)
    lines = [f"{made.address(host)} {host}" for host in made.names]
    (HOSTS / space / "hosts").write_text("\n".join(["127.0.0.1 localhost", *lines, ""]))
    ip("netns", "add", space)
    ip("link", "add", "eth0", "netns", space, "type", "veth", "peer", "name", name, "netns", bridge)
    ip("-n", bridge, "link", "set", name, "master", "bridge", "up")
    ip("-n", space, "address", "add", f"{made.address(name)}/24", "dev", "eth0")
    for link in ("lo", "eth0"):
        ip("-n", space, "link", "set", link, "up")


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], capture_output=True, text=True, check=True)
