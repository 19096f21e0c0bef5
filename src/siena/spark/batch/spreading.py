"""A table that lies in fewer pieces than there are cores, spread over all of them.

Spark gives a row group of parquet to one task, however large it is.  Matching costs
more than moving rows, so a file of one row group is cut up before it is matched.  Spark
reads the footers of a few files for this, with its own means, wherever they lie.
"""

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
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
    if not all(file.endswith(".parquet") for file in files):
        return None
    try:
        groups, count = map(sum, zip(*(_pieces(rows, f) for f in files), strict=True))
    except (Py4JError, PySparkException, TypeError):
        # Spark's own reader will say what is wrong with it.  Where its classes cannot
        # be seen from here, py4j takes them for packages, which cannot be called.
        return None
    wanted = min(cores, count // ROWS_PER_TASK_MIN)
    return wanted if groups < wanted else None


def _pieces(rows: DataFrame, file: str) -> tuple[int, int]:
    """How many row groups a file of parquet has, and how many rows."""
    session = rows.sparkSession
    hadoop = session._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001 -- no other way
    apache = session._jvm.org.apache  # type: ignore[union-attr] # noqa: SLF001 -- the same
    place = apache.hadoop.fs.Path(session._jvm.java.net.URI(file))  # type: ignore[union-attr] # noqa: SLF001 -- the same
    source = apache.parquet.hadoop.util.HadoopInputFile.fromPath(place, hadoop)
    reader = apache.parquet.hadoop.ParquetFileReader.open(source)
    try:
        return reader.getRowGroups().size(), reader.getRecordCount()
    finally:
        reader.close()


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
