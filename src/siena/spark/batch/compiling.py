"""Subscriptions compiled: from rows of text to one file that every worker maps.

The file is a stored table (:mod:`siena.matching.engine.table_file`), whose note says,
of each subscription in its order, whose it is: an Arrow stream with the columns
``subscriber`` and, where there are such, ``interface`` and ``id``.  Names are
dictionaries, so that a match is a number until it is to be read.  Nothing here
needs Spark.

Why one module: what is written into the file and what reads it are one format.
"""

import atexit
import json
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, NamedTuple
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from siena.algebra.sat import is_satisfiable
from siena.errors import InvalidFormError, SienaError, TableFileError
from siena.matching.engine.table_file import digest_of
from siena.matching.input.filter_texts import read_interest
from siena.matching.pieces import pick
from siena.matching.table import ForwardingTable
from siena.model import Constraint, Filter, Kind, Predicate
from siena.spark.batch.piecework import read_texts
from siena.spark.foreign.reading import in_our_language, names_in, residual_of
from siena.spark.hints import BAD_SUBSCRIPTIONS

OnError = Literal["raise", "set_aside"]

SUFFIX = ".siena"
# The column of a note that says what filters cannot.
RESIDUAL = "residual"
# What a note says besides: which attributes may have several values.
MANY = b"siena.many"
# Of a bad filter, what an error shows.
SHOWN_CHARACTERS = 60
# Distinct filters up to which it is looked whether each can be satisfied, and those
# that a warning shows.  In a crowd somebody always wants what nothing can be.
CHECKED_MAX = 100
SHOWN_MAX = 3
_NO_TEXTS = pa.array([], pa.large_string())


class UnsatisfiableWarning(UserWarning):
    """Filters that nothing can satisfy."""


class Reject(NamedTuple):
    """A subscription that was put aside: where it stood, and what is wrong with it."""

    row: int  # from 1
    subscriber: str | int | None
    filter: str | None
    reason: str

    def __str__(self) -> str:
        who = f" of {self.subscriber!r}" if self.subscriber is not None else ""
        shown = (self.filter or "")[:SHOWN_CHARACTERS]
        what = f" {shown!r}" if shown else ""
        return f"subscription {self.row}{who}{what}: {self.reason}"


@dataclass(frozen=True)
class CompiledSubscriptions:
    """Subscriptions in a file, ready to be matched with, and what was put aside."""

    path: Path
    rejects: tuple[Reject, ...] = ()
    # Where the file is that workers are given, if not among those of this process.
    home: Path | None = None

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the contents, by which workers know the file."""
        return digest_of(self.path)

    @cached_property
    def table(self) -> ForwardingTable:
        """The table itself, mapped."""
        # First: should the file be replaced from now on, this is not what is named.
        _ = self.digest
        return ForwardingTable.load(self.path, verify=False)

    @cached_property
    def owners(self) -> "Owners":
        """Whose the subscriptions are."""
        return read_owners(self.table)

    def compared(self) -> Mapping[str, frozenset[Kind]] | None:
        """The attributes that filters and residuals name, as a table says it.

        None, if a residual looks at all of them.
        """
        more = names_in(self.owners.residuals.values())
        if more is None:
            return None
        return {**dict.fromkeys(sorted(more), frozenset()), **self.table.compared()}

    def __len__(self) -> int:
        return len(self.table)

    def keep(self, path: str | os.PathLike[str]) -> "CompiledSubscriptions":
        """The same in a file that stays, at once and as a whole."""
        target = Path(path)
        beside = target.with_name(f".{target.name}.{os.getpid()}")
        shutil.copyfile(self.path, beside)
        beside.replace(target)
        return CompiledSubscriptions(target, self.rejects)

    def knowing(self, many: Iterable[str]) -> "CompiledSubscriptions":
        """The same, if it was compiled for these multi-valued attributes.

        Raises:
            SienaError: if it was not.
        """
        unknown = sorted(set(many) - self.owners.many)
        if unknown:
            raise SienaError(
                f"these subscriptions were compiled with one value of {unknown[0]!r}",
                hint="name it when they are compiled: many=, or siena compile --many",
            )
        return self

    def named(self) -> Path:
        """The file under the name of its contents, which lives as long as we do.

        Spark reads it again and again, so it must not go with the user's.

        Raises:
            SienaError: if another file has its place since it was looked at.
        """
        path = (self.home or tables_folder()) / f"{self.digest}{SUFFIX}"
        if not path.exists():
            # Of its own: several queries of a program may begin at once.
            beside = path.with_name(f".{path.name}.{uuid4().hex}")
            try:
                os.link(self.path, beside)
            except OSError:  # another file system, or one without links
                shutil.copyfile(self.path, beside)
            if digest_of(beside) != self.digest:
                beside.unlink()
                raise SienaError(
                    f"{self.path} is another table than when it was opened",
                    hint="open it again",
                )
            beside.replace(path)
        return path


@cache
def tables_folder() -> Path:
    """Where this process keeps tables that are not to be kept elsewhere."""
    folder = Path(tempfile.mkdtemp(prefix="siena-tables-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class Labels(NamedTuple):
    """Of each subscription a number, and what the numbers stand for."""

    of: npt.NDArray[np.int32]
    names: pa.Array


class Owners(NamedTuple):
    """Whose each subscription is, and what it is called."""

    subscribers: Labels
    interfaces: Labels  # the subscribers, if there was no such column
    ids: npt.NDArray[np.int64]
    residuals: Mapping[int, str] = {}  # of subscriptions that filters cannot say
    many: frozenset[str] = frozenset()  # the names that may have several values


def compile_rows(
    rows: pa.Table,
    *,
    dialect: str | None = None,
    many: frozenset[str] = frozenset(),
    on_error: OnError = "raise",
    folder: str | os.PathLike[str] | None = None,
    processes: int | None = None,
    report: Callable[[int], None] | None = None,
) -> CompiledSubscriptions:
    """Compile a table of subscriptions.

    >>> rows = pa.table({"subscriber": ["ann", "bob"], "filter": ["x > 3", "y any"]})
    >>> compiled = compile_rows(rows)
    >>> len(compiled), compiled.owners.subscribers.names.to_pylist()
    (2, ['ann', 'bob'])

    The columns are ``subscriber`` (a string or an integer), ``filter`` (text, or JSON)
    and, if wanted, ``interface`` (a string or an integer), ``id`` (an integer) and
    ``dialect`` (the language of the filter, if it is not ours).

    Args:
        rows: the subscriptions.
        dialect: the language of filters whose row names none.
        many: the attributes that may have several values; the file knows them.
        on_error: whether the first bad row is an error, or bad rows are put aside.
        folder: where the file goes, under the name of its contents; if it is not
            given, into a folder that goes when the process ends.
        processes: how many read filters; if not given, as many as pay.
        report: called now and then with the number of distinct filters that are read.

    Raises:
        SienaError: if a column is missing or of another type, or a row is bad.

    Cost: about 70 µs of a processor for each distinct text, nearly all of it for
    reading; the flights of :mod:`siena.sim.flight_subscriptions` are often several
    filters in one.
    """
    rows = rows.combine_chunks()
    owners = {name: _owner_column(rows, name) for name in _columns_of(rows)}
    rows, reasons = in_our_language(rows, dialect, many)
    # Many people want the same: what is written alike is read once.
    encoded = _encoded(rows)
    texts: list[str | None] = encoded.dictionary.to_pylist()
    of = encoded.indices.fill_null(len(texts)).to_numpy()
    texts.append(None)
    read = read_texts(texts, processes=processes, report=report)
    if len(texts) <= CHECKED_MAX:
        warn_of_contradictions([texts[i] for i in read.good.tolist()])
    # Of each text, its place among the good ones.
    place = np.full(len(texts), -1, np.int32)
    place[read.good] = np.arange(len(read.good))
    is_good = place[of] >= 0
    missing = {
        name: column.is_null().to_numpy(zero_copy_only=False)
        for name, column in owners.items()
        if column.null_count
    }
    for is_missing in missing.values():
        is_good &= ~is_missing
    rejects = tuple(
        _rejected(row, rows, texts[of[row]], missing, reasons, on_error)
        for row in np.flatnonzero(~is_good).tolist()
    )
    kept = np.flatnonzero(is_good)
    table = ForwardingTable.of_piece(pick(read.piece, place[of[kept]]))
    residuals = [residual_of(texts[i] or "") for i in read.good.tolist()]
    if any(residuals):
        of_rows = [residuals[i] if i >= 0 else None for i in place[of].tolist()]
        owners[RESIDUAL] = pa.array(of_rows, pa.string())
    table.note = _note(owners, kept, many)
    return replace(store_table(table, folder), rejects=rejects)


def warn_of_contradictions(texts: Iterable[str | None]) -> None:
    """Say which filters no notification can satisfy; they are no error."""
    found = [
        text
        for text in texts
        if text and not _can_match(read_interest(text, residuals=True))
    ]
    if found:
        shown = ", ".join(repr(text[:SHOWN_CHARACTERS]) for text in found[:SHOWN_MAX])
        more = f" and {len(found) - SHOWN_MAX} more" if len(found) > SHOWN_MAX else ""
        warnings.warn(
            f"nothing can satisfy {shown}{more}", UnsatisfiableWarning, stacklevel=4
        )


def _can_match(interest: Filter | Predicate) -> bool:
    filters = interest.filters if isinstance(interest, Predicate) else (interest,)
    return any(all(map(is_satisfiable, by_name(f))) for f in filters)


def by_name(f: Filter) -> Iterable[list[Constraint]]:
    """The constraints of a filter, those on one attribute together."""
    found: dict[str, list[Constraint]] = {}
    for constraint in f.constraints:
        found.setdefault(constraint.name, []).append(constraint)
    return found.values()


def _encoded(rows: pa.Table) -> pa.Array:
    """The filters as a dictionary, in the order of their first rows."""
    chunks = [
        chunk.dictionary_decode() if pa.types.is_dictionary(chunk.type) else chunk
        for chunk in rows["filter"].chunks
    ]
    texts = pa.chunked_array(chunks, chunks[0].type if chunks else pa.string())
    return pa.concat_arrays(
        [*texts.cast(pa.large_string()).chunks, _NO_TEXTS]
    ).dictionary_encode()


def _rejected(
    row: int,
    rows: pa.Table,
    text: str | None,
    missing: dict[str, npt.NDArray[np.bool_]],
    reasons: Mapping[int, str],
    on_error: OnError,
) -> Reject:
    """What is wrong with a row, which is the first bad one if that is an error."""
    try:
        if row in reasons:
            raise InvalidFormError(reasons[row])
        read_interest(text, residuals=True)
        name = next(name for name, is_missing in missing.items() if is_missing[row])
        raise InvalidFormError(f"there is no {name}")
    except SienaError as error:
        who = rows["subscriber"][row].as_py()
        reject = Reject(row + 1, who, text, str(error))
        if on_error == "raise":
            raise SienaError(str(reject), hint=BAD_SUBSCRIPTIONS.program) from error
        return reject


def contents_of(path: Path) -> str:
    """By what a worker knows the contents of a file: its name, if we gave it that.

    Another name, which the user gave it, may be that of other contents one day.
    """
    name = path.name.removesuffix(SUFFIX)
    is_ours = len(name) == 2 * sha256().digest_size and name.isalnum()
    return name if is_ours else digest_of(path)


def open_compiled(path: str | os.PathLike[str]) -> CompiledSubscriptions:
    """Subscriptions that were compiled before.

    Raises:
        TableFileError: if it is another file, a damaged one, or a table without
            subscribers.
    """
    compiled = CompiledSubscriptions(Path(path))
    ForwardingTable.load(compiled.path, verify=True)
    _ = compiled.owners
    return compiled


def read_owners(table: ForwardingTable) -> Owners:
    """Whose the subscriptions of a table are, from its note; nothing is copied."""
    try:
        with pa.ipc.open_stream(pa.py_buffer(table.note)) as stream:
            batch = stream.read_next_batch()
            about = stream.schema.metadata or {}
    except (pa.ArrowInvalid, StopIteration) as error:
        raise TableFileError(
            "this table does not say whose its subscriptions are",
            hint="siena compile makes one that does",
        ) from error
    found = {
        name: Labels(_numpy(batch[name].indices), batch[name].dictionary)
        for name in ("subscriber", "interface")
        if name in batch.schema.names
    }
    if "id" in batch.schema.names:
        ids = _numpy(batch["id"])
    else:
        ids = np.arange(batch.num_rows, dtype=np.int64)
    subscribers = found["subscriber"]
    residuals: dict[int, str] = {}
    if RESIDUAL in batch.schema.names:
        texts = enumerate(batch[RESIDUAL].to_pylist())
        residuals = {number: text for number, text in texts if text is not None}
    return Owners(
        subscribers,
        found.get("interface", subscribers),
        ids,
        residuals,
        frozenset(json.loads(about.get(MANY, b"[]"))),
    )


def _numpy(column: pa.Array) -> npt.NDArray[Any]:
    mapped: npt.NDArray[Any] = column.to_numpy(zero_copy_only=len(column) > 0)
    return mapped


def _columns_of(rows: pa.Table) -> list[str]:
    missing = [n for n in ("subscriber", "filter") if n not in rows.schema.names]
    if missing:
        raise SienaError(
            f"subscriptions have no column {missing[0]!r}",
            hint="subscriber and filter are wanted; interface and id may be there",
        )
    if not _is_text(rows.schema.field("filter").type):
        raise SienaError("the column 'filter' does not hold texts")
    optional = [n for n in ("interface", "id") if n in rows.schema.names]
    return ["subscriber", *optional]


def _owner_column(rows: pa.Table, name: str) -> pa.Array:
    """A column of names or of numbers, as strings or as integers of 64 bits."""
    column = rows[name]
    kind = column.type
    if pa.types.is_integer(kind):
        column = column.cast(pa.int64())
    elif _is_text(kind) and name != "id":
        column = column.cast(pa.string())
    else:
        wanted = "integers" if name == "id" else "strings or integers"
        raise SienaError(f"the column {name!r} holds {kind}, and not {wanted}")
    if name == "id" and column.null_count:
        raise SienaError("the column 'id' has nulls")
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], kind)


def _is_text(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
        or (pa.types.is_dictionary(kind) and _is_text(kind.value_type))
    )


def _note(
    owners: dict[str, pa.Array], kept: npt.NDArray[np.int64], many: frozenset[str]
) -> bytes:
    places = pa.array(kept)
    columns = {name: pc.take(column, places) for name, column in owners.items()}
    encoded = {
        name: column if name in {"id", RESIDUAL} else column.dictionary_encode()
        for name, column in columns.items()
    }
    about = {MANY: json.dumps(sorted(many)).encode()} if many else None
    batch = pa.record_batch(encoded).replace_schema_metadata(about)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as stream:
        stream.write_batch(batch)
    return bytes(sink.getvalue())


def store_table(
    table: ForwardingTable, folder: str | os.PathLike[str] | None = None
) -> CompiledSubscriptions:
    """A table in a file under the name of its contents."""
    where = Path(folder) if folder is not None else tables_folder()
    where.mkdir(parents=True, exist_ok=True)
    unnamed = where / f".compiling.{os.getpid()}.{id(table)}"
    digest = table.save(unnamed)
    return CompiledSubscriptions(unnamed.replace(where / f"{digest}{SUFFIX}"))
