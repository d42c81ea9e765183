"""A session of our own beside the user's: the same settings, views, functions and files, on the same cluster.

How Spark reads and caches is a matter of settings, and settings belong to a session. The user's may be in use by other
threads at the same time: nothing is set in it. What is set in a copy goes with the copy, as do the files sent to it.
"""

from __future__ import annotations

import atexit
import copy
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakSet, finalize

from spark_pufs.spark.io import spark_errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["in_own_session", "is_connect", "is_ours", "setting"]

_ours: WeakSet[Any] = WeakSet()
_MADE_IN_SPARK_3 = ("_conf", "_catalog")  # where Spark 4 has cached properties


def in_own_session(frame: DataFrame) -> DataFrame:
    """The same rows, in a session that is ours; as it is where none can be had, and then nothing is set.

    Servers of Spark Connect before 4.1 copy no sessions, and frames that only live in one are not known in its copy.
    """
    with suppress(*_refusals()):
        return _over_connect(frame) if is_connect(frame.sparkSession) else _classic(frame)
    return frame


def is_ours(spark: SparkSession) -> bool:
    return spark in _ours


def is_connect(spark: SparkSession) -> bool:
    return type(spark).__module__.startswith("pyspark.sql.connect")


@contextmanager
def setting(spark: SparkSession, name: str, value: int) -> Iterator[None]:
    """A setting for what is planned inside, in a session that is ours; another's stays as it is."""
    if not is_ours(spark):
        yield
        return
    before = spark.conf.get(name)
    spark.conf.set(name, str(value))
    try:
        yield
    finally:
        spark.conf.set(name, str(before))


def _classic(frame: DataFrame) -> DataFrame:
    spark: Any = frame.sparkSession
    # A constructor would make ours the session that others get: what Python has of a session is copied instead.
    own = copy.copy(spark)
    for name in [name for name in vars(own) if _remembered(type(own), name)]:
        del own.__dict__[name]
    own._jsparkSession = spark._jsparkSession.cloneSession()
    # Spark 4 has moved both classes: those of the frame itself are the right ones.
    new_frame, datasets = cast(Any, type(frame)), getattr(spark._jvm, frame._jdf.getClass().getName())
    analysed = frame._jdf.queryExecution().analyzed()  # views may have changed since the user named them
    _ours.add(own)
    moved: DataFrame = new_frame(datasets.ofRows(own._jsparkSession, analysed), own)
    return moved


def _remembered(session: type, name: str) -> bool:
    """Whether an attribute is what the session has made of its Java twin, which the copy has another of."""
    return name in _MADE_IN_SPARK_3 or isinstance(getattr(session, name, None), cached_property)


def _over_connect(frame: DataFrame) -> DataFrame:
    from pyspark.sql.connect.dataframe import DataFrame as ConnectFrame

    theirs: Any = frame
    schema = theirs.schema  # a server knows of a session once it was asked something
    own = theirs.sparkSession.cloneSession()
    finalize(own, _release, own.client).atexit = False  # the server forgets what is left when we are gone
    # The client's own farewell would ask a server that the user has stopped again and again, for minutes.
    farewell = getattr(own.client, "_on_exit", None)
    if farewell is not None:
        atexit.unregister(farewell)
    moved = ConnectFrame(theirs._plan, own)
    if moved.schema != schema:  # also asks the server whether it knows all of the plan there
        return frame
    _ours.add(own)
    return moved


def _release(client: Any) -> None:
    """Let go of a session and of its files; ``stop`` would stop a local server with it."""
    with suppress(Exception):  # the server may have gone first
        client.release_session()
    with suppress(Exception):
        client.close()


def _refusals() -> tuple[type[Exception], ...]:
    """What tells that sessions are not copied here."""
    found: tuple[type[Exception], ...] = (AttributeError, TypeError, *spark_errors())
    with suppress(ImportError):  # the Connect client alone has no py4j
        from py4j.protocol import Py4JError

        found += (Py4JError,)
    with suppress(ImportError):  # and classic Spark no gRPC
        from grpc import RpcError  # type: ignore[import-untyped]

        found += (RpcError,)
    return found
