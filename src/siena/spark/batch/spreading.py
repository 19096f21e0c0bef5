"""A table that lies in fewer pieces than there are cores, spread over all of them.

Spark gives a row group of parquet to one task, however large it is.  Matching costs
more than moving rows, so a file of one row group is cut up before it is matched.
"""

from pathlib import Path
from urllib.parse import unquote, urlparse

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from siena.spark.batch.shipping import is_connect

# Rows for which it pays to use another core.
ROWS_PER_TASK_MIN = 50_000
# Plans whose rows stand in no order that anybody has asked for.
_UNORDERED = {"Project", "Filter", "LogicalRelation"}


def spread(rows: DataFrame, like: DataFrame) -> DataFrame:
    """The rows; over all cores, if ``like``, of which they are, is in fewer pieces."""
    cores = _cores_wanted(like)
    return rows if cores is None else rows.repartition(cores)


def _cores_wanted(rows: DataFrame) -> int | None:
    if is_connect(rows.sparkSession) or rows.isStreaming:
        return None  # there is nobody to ask, and a stream has pieces of its own
    cores = rows.sparkSession.sparkContext.defaultParallelism
    if cores == 1 or not _is_a_scan(rows):
        return None
    files = rows.inputFiles()
    if not 0 < len(files) < cores:
        return None
    groups, count = 0, 0
    for file in files:
        place = urlparse(file)
        if place.scheme not in {"", "file"} or not file.endswith(".parquet"):
            return None
        try:
            about = pq.read_metadata(Path(unquote(place.path)))
        except (OSError, pa.ArrowException):
            return None  # Spark's own reader will say what is wrong with it
        groups += about.num_row_groups
        count += about.num_rows
    wanted = min(cores, count // ROWS_PER_TASK_MIN)
    return wanted if groups < wanted else None


def _is_a_scan(rows: DataFrame) -> bool:
    """Whether they are read from files, and perhaps selected, and nothing else."""
    plan = rows._jdf.queryExecution().optimizedPlan()  # noqa: SLF001 -- no other way
    while True:
        if plan.nodeName() not in _UNORDERED:
            return False
        children = plan.children()
        if children.size() == 0:
            return True
        plan = children.head()
