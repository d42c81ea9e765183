"""An engine in this process on which all that would travel between machines goes through bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from spark_pufs.core.counting.kernel import Held, Kernel
from spark_pufs.core.records import from_bytes, like, to_bytes
from spark_pufs.engines.base import Blocks, Packer, Result, Shared, Source, Unit
from spark_pufs.engines.local import LocalEngine
from spark_pufs.types import Block, RawBatch

__all__ = ["TravellingEngine"]


@dataclass(frozen=True)
class TravellingBlocks:
    """Packed rows whose states travel."""

    inner: Blocks

    def scan(self, kernel: Kernel[Block, Held], what: str) -> Held:
        return like(kernel.start(), to_bytes(self.inner.scan(kernel, what)))

    def release(self) -> None:
        self.inner.release()


@dataclass(frozen=True)
class TravellingSource:
    """Raw rows whose states travel."""

    inner: Source

    def scan(self, kernel: Kernel[RawBatch, Held], what: str) -> Held:
        return like(kernel.start(), to_bytes(self.inner.scan(kernel, what)))

    def pack(self, packer: Packer) -> TravellingBlocks:
        return TravellingBlocks(self.inner.pack(packer))


class TravellingEngine(LocalEngine):
    """As on a cluster, without one: what cannot be written as bytes, or comes back as something else, shows."""

    def source(self, numeric: Sequence[str], text: Sequence[str], label: str) -> TravellingSource:  # type: ignore[override]
        return TravellingSource(super().source(numeric, text, label))

    def each(
        self, function: Callable[[Shared, Unit], Result], shared: Shared, units: Sequence[Unit], result: type[Result]
    ) -> list[Result]:
        sent = from_bytes(type(shared), to_bytes(shared))
        work = [from_bytes(type(unit), to_bytes(unit)) for unit in units]
        return [from_bytes(result, to_bytes(found)) for found in super().each(function, sent, work, result)]
