"""Reading a durable subscription with Spark: its log, by offset, and its cursor.

An offset of the stream is an offset of the log, and tasks read the log as those of
other streams do.  The name adds the cursor: until Spark has committed a micro-batch,
the log keeps what is in it; and then all of it is acknowledged.
"""

from typing import Any

from pyspark.sql.streaming.datasource import ReadLimit

from siena.client.durable.blocking import DurableSubscription
from siena.errors import SienaError
from siena.protocol.limits import ACK_WAIT_SECONDS_MAX
from siena.spark.source.data_source import Options
from siena.spark.source.log_reading import LogStreamReader

# Where a subscription begins that is not there yet, as a client says it.
_STARTS = {"earliest": "all", "latest": "new"}


class DurableStreamReader(LogStreamReader):
    """What a filter selects of the log, from where a durable subscription is.

    Ownership: in the process that plans, of one connection, which reads under the
    name, until :meth:`stop`.
    """

    def __init__(self, options: Options) -> None:
        super().__init__(options)
        self._subscription: DurableSubscription | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        """Where a new query begins: at what is not acknowledged yet."""
        name = self._joined.name
        seen = [each for each in self._broker.durables() if each["name"] == name]
        if not seen:
            hint = "a role needs inspect to see where its own durable subscriptions are"
            raise SienaError(f"the broker does not show where {name!r} is", hint=hint)
        # Those of others may have the same name: nothing that is ours is left out.
        return {"offset": min(int(each["low"]) for each in seen), "durable": name}

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        """How far the next micro-batch goes; the log keeps it from now on."""
        wanted = self._options.durable
        if start.get("durable") != wanted:
            raise SienaError(
                f"the checkpoint is not of the durable subscription {wanted!r}",
                hint="a query keeps its name; another one has a checkpoint of its own",
            )
        _ = self._joined
        return super().latestOffset(start, limit)

    def commit(self, end: dict[str, Any]) -> None:
        """What was before is done, and the broker knows when this returns."""
        subscription = self._joined
        subscription.ack_up_to(end["offset"])
        self._broker.flush()
        # What is delivered is read from the log, by tasks; it must not pile up here.
        for _ in subscription.within(0.0):
            pass

    def stop(self) -> None:
        """Hang up: the subscription waits for its next reader."""
        self._subscription = None
        super().stop()

    @property
    def _joined(self) -> DurableSubscription:
        if self._subscription is None:
            said, name = self._options.starting, self._options.durable
            assert name is not None
            self._subscription = self._broker.subscribe(
                self._options.filter,
                durable=name,
                start=_STARTS.get(said) or int(said),  # type: ignore[arg-type]
                # One is on its way, so that who looks sees that it is read.
                credit=1,
                ack_wait_s=ACK_WAIT_SECONDS_MAX,
            ).settled()
        return self._subscription
