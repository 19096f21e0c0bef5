"""Public rules on Spark: events per CPU second, beside an identity that moves the rows.

    python benchmarks/rules_spark.py --rules FOLDER [--rows 400000] [--rounds 3]

FOLDER holds Sigma rules (SigmaHQ's repository, for instance), or SIENA_SIGMA_RULES
names it.
Both ways read the same parquet, in turns, into Spark's noop sink.  What is compared is
the processor time of the Java machine and its workers, not the clock on the wall, so
that whatever else the machine does weighs little.
"""

import argparse
import os
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import perf_counter

import pyarrow as pa
import pyarrow.parquet as pq

from siena.spark import start_session
from siena.spark.rules import RuleSettings, apply, compile_rules

SYSMON = "Microsoft-Windows-Sysmon/Operational"
PROGRAMS = ["cmd.exe", "powershell.exe", "svchost.exe", "notepad.exe", "rundll32.exe"]
PROGRAMS += ["chrome.exe", "python.exe", "wmic.exe", "reg.exe", "explorer.exe"]
WORDS = ["/c", "-enc", "whoami", "update", "C:\\Users\\ann\\a.txt", "--quiet", "copy"]
# Different command lines, where values repeat.
LINES = 300
# Events for whose like the table is laid out.
LIKE = 512
TICKS = os.sysconf("SC_CLK_TCK")


def events(count: int, *, are_fresh: bool, seed: int = 7) -> pa.Table:
    """Starts of processes, as Sysmon tells of them; made up by us."""
    draw = random.Random(seed)

    def line(last: str) -> tuple[str, str]:
        image = f"C:\\Windows\\System32\\{draw.choice(PROGRAMS)}"
        return image, " ".join([image, *draw.choices(WORDS, k=4), last])

    pool = [line(str(number)) for number in range(LINES)]
    rows = []
    for number in range(count):
        image, text = line(str(number)) if are_fresh else draw.choice(pool)
        rows.append(
            {
                "Channel": SYSMON,
                "EventID": 1,
                "Image": image,
                "OriginalFileName": image.rpartition("\\")[2],
                "CommandLine": text,
                "ParentImage": f"C:\\Windows\\{draw.choice(PROGRAMS)}",
                "ParentCommandLine": " ".join(draw.choices(WORDS, k=2)),
                "User": f"CORP\\user{draw.randrange(200)}",
                "IntegrityLevel": draw.choice(["Low", "Medium", "High", "System"]),
                "CurrentDirectory": "C:\\Users\\ann\\",
            }
        )
    return pa.Table.from_pylist(rows)


def identity(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """What moves rows through Python, and does nothing with them."""
    return batches


def cpu_seconds() -> float:
    """Processor time of all processes below this one, dead ones included."""
    children: dict[int, list[int]] = {}
    times: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it has just ended
            children.setdefault(int(fields[1]), []).append(int(folder.name))
            times[int(folder.name)] = sum(map(int, fields[11:15]))
    found, waiting = 0, children.get(os.getpid(), [])[:]
    while waiting:
        process = waiting.pop()
        found += times[process]
        waiting += children.get(process, [])
    return found / TICKS


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rules", default=os.environ.get("SIENA_SIGMA_RULES"))
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if not options.rules:
        raise SystemExit("no rules: --rules FOLDER, or SIENA_SIGMA_RULES")
    start = perf_counter()
    # Other events than those that are measured, but like them.
    like = events(LIKE, are_fresh=True, seed=8).to_pylist()
    settings = RuleSettings(logsource="windows")
    compiled = compile_rules(options.rules, settings=settings, like=like)
    print(
        f"{len(compiled):,} rules, {len(compiled.rejects):,} put aside; "
        f"compiled in {perf_counter() - start:.1f} s"
    )
    spark = start_session("local[2]")
    with tempfile.TemporaryDirectory() as folder:
        for name, are_fresh in (("values repeat", False), ("values are new", True)):
            file = f"{folder}/{name}.parquet"
            table = events(options.rows, are_fresh=are_fresh)
            pq.write_table(table, file, row_group_size=options.rows // 8)
            rows = spark.read.parquet(file)
            ways = {
                "identity": rows.mapInArrow(identity, rows.schema),
                "rules": apply(rows, compiled, key="User", why=False, on_error="raise"),
            }
            used: dict[str, list[float]] = {way: [] for way in ways}
            for turn in range(options.rounds + 1):
                for way, frame in ways.items():
                    before = cpu_seconds()
                    frame.write.format("noop").mode("overwrite").save()
                    if turn:  # the first warms up
                        used[way].append(cpu_seconds() - before)
            base = median(used["identity"])
            for way, seconds in used.items():
                rate = options.rows / median(seconds)
                shown = ", ".join(f"{each:.2f}" for each in seconds)
                of = base / median(seconds)
                print(
                    f"{name:>15}  {way:>8}: {rate:>9,.0f} events per CPU second, "
                    f"{of:.0%} of the identity ({shown} s)"
                )
    spark.stop()


if __name__ == "__main__":
    main()
