"""A log that no broker has open: looked through, repaired, and made smaller.

Nothing is deleted by a repair: what is taken out of the way is in the folder
``damaged`` beside the files.
"""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Self

from siena.broker.log.batches.idempotent_batches import State
from siena.broker.log.cursors import Position
from siena.broker.log.files import SYSTEM, locked
from siena.broker.log.offline.small_files import (
    DAMAGED,
    READERS,
    SINKS,
    problems_of,
    repair_all,
)
from siena.broker.log.records import FORM, Record, pack_record
from siena.broker.log.salvage import good_records_of
from siena.broker.log.segment import INDEX_SUFFIX, SUFFIX, Gap, Segment
from siena.broker.log.segment_file import HEADER_BYTES, Header
from siena.broker.log.state_file import StateFile
from siena.broker.log.store import EARLIEST, Earliest
from siena.broker.log.stores.working_copy import working_copy_of
from siena.errors import SienaError

Tell = Callable[[str], None]


@dataclass
class FileReport:
    """What one file has, and what is wrong with it."""

    name: str
    first: int
    end: int = 0
    bytes: int = 0
    records: int = 0
    notifications: int = 0
    problems: list[str] = field(default_factory=list)


@dataclass
class Report:
    """What a log has, and what is wrong with it."""

    folder: str
    files: list[FileReport] = field(default_factory=list)
    lost: list[Gap] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def all_problems(self) -> list[str]:
        """Of the log and of its files."""
        of_files = [
            f"{file.name}: {text}" for file in self.files for text in file.problems
        ]
        return [*self.problems, *of_files]

    def form(self) -> dict[str, object]:
        """As an object of JSON."""
        return {
            "folder": self.folder,
            "good": not self.all_problems,
            "notifications": sum(file.notifications for file in self.files),
            "bytes": sum(file.bytes for file in self.files),
            "lost": [{"first": gap.first, "last": gap.end - 1} for gap in self.lost],
            "problems": self.all_problems,
            "files": [vars(file) for file in self.files],
        }


class OfflineLog:
    """The folder of a log, as long as no broker has it.

    Ownership: of the folder, within ``with``.

    Raises:
        SienaError: if a broker has it open, or it is no folder.
    """

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise SienaError(f"there is no folder {folder}")
        self.folder = folder

    def __enter__(self) -> Self:
        self._lock = locked(self.folder)
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.close()

    def _segments(self) -> list[Segment]:
        """Its files, as they are found, and nothing is changed."""
        paths = sorted(self.folder.glob(f"*{SUFFIX}"))
        found = [Segment.found(p, int(after.stem)) for p, after in pairwise(paths)]
        if paths:
            last, _ = Segment.recovered(paths[-1])
            last.size = paths[-1].stat().st_size
            found.append(last)
        return found

    def records(self, tell: Tell) -> Iterator[Record]:
        """All records that are good."""
        for segment in self._segments():
            tell(segment.path.name)
            for _, record in _good(segment):
                yield record

    # --- Checking -------------------------------------------------------------------

    def check(self, tell: Tell) -> Report:
        """Look at every record, and change nothing."""
        report = Report(str(self.folder))
        report.problems += problems_of(self.folder)
        segments = self._segments()
        self._check_beginning(segments, report)
        for place, segment in enumerate(segments):
            tell(f"{place + 1} of {len(segments)} files")
            after = segments[place + 1] if place + 1 < len(segments) else None
            report.files.append(self._check_file(segment, after, report))
        return report

    def _check_beginning(self, segments: list[Segment], report: Report) -> None:
        try:
            kept = StateFile(self.folder / EARLIEST, Earliest, Earliest())
        except SienaError:  # which was said
            return
        should_be = kept.value.offset
        if segments and 0 <= should_be < segments[0].first:
            gap = Gap(should_be, segments[0].first)
            report.lost.append(gap)
            report.problems.append(f"offsets {gap.first} to {gap.end - 1} are missing")

    def _check_file(
        self, segment: Segment, after: Segment | None, report: Report
    ) -> FileReport:
        file = FileReport(segment.path.name, segment.first, bytes=segment.size)
        if segment.form == FORM and segment.header is None:
            file.problems.append("its header is damaged")
        if after is not None and not segment.is_followed_by(after):
            file.problems.append(
                f"it is not what it was when {after.path.name} was begun"
            )
        if after is None and segment.is_sealed:
            file.problems.append("the file that followed it is missing")
        for gap in segment.gaps():
            if gap.end > gap.first:
                report.lost.append(gap)
                file.problems.append(
                    f"offsets {gap.first} to {gap.end - 1} are damaged"
                )
            else:
                file.problems.append(f"garbage before offset {gap.end}")
        for _, record in _good(segment):
            file.records += 1
            file.notifications += len(record.lengths)
            file.end = record.end
        return file

    # --- Repairing ------------------------------------------------------------------

    def repair(self, tell: Tell) -> list[str]:
        """Take what is damaged out of the way; what was done.

        What is good keeps its offsets; those of what is lost are given up.

        Raises:
            SienaError: if it is the working copy of a stream, which has them.
        """
        stream = working_copy_of(self.folder)
        if stream:
            raise SienaError(
                f"{self.folder} is the working copy of {stream}, which has what is "
                "damaged here",
                hint="move the folder away: the broker makes it anew from the store",
            )
        done = repair_all(self.folder)
        segments = self._segments()
        for place, segment in enumerate(segments):
            tell(f"{place + 1} of {len(segments)} files")
            has_header = segment.header is not None or segment.form != FORM
            is_last = place + 1 == len(segments)
            skip = Segment.recovered(segment.path)[0].skip if is_last else 0
            if any(True for _ in segment.gaps()) or not has_header:
                self._write_anew(segment, done)
            if skip:
                self._give_up(segment, skip, done)
        self._link(done)
        return done

    def _write_anew(self, segment: Segment, done: list[str]) -> None:
        """Write a file with its good records only."""
        folder = self.folder / DAMAGED
        folder.mkdir(exist_ok=True)
        shutil.copy2(segment.path, folder / segment.path.name)
        new = segment.path.with_suffix(".repaired")
        count = 0
        with new.open("wb") as file:
            file.write(Header(segment.first).pack())
            for _, record in _good(segment):
                file.writelines(
                    pack_record(
                        record.first,
                        record.time,
                        record.tag,
                        record.lengths,
                        record.blocks,
                    )
                )
                count += 1
            file.flush()
            SYSTEM.sync(file.fileno())
        new.replace(segment.path)
        segment.path.with_suffix(INDEX_SUFFIX).unlink(missing_ok=True)
        done.append(
            f"wrote {segment.path.name} anew with {count} good records; "
            f"as it was, it is in {DAMAGED}"
        )

    def _give_up(self, last: Segment, skip: int, done: list[str]) -> None:
        """Have the name of the next file say which offsets are not given again."""
        end = max((record.end for _, record in _good(last)), default=last.first)
        path = last.path.with_name(f"{end + skip:020d}{SUFFIX}")
        SYSTEM.write_whole(path, Header(end + skip).pack(), sync=True)
        done.append(f"the log goes on at offset {end + skip}, in {path.name}")

    def _link(self, done: list[str]) -> None:
        """Let each file say again what stands before it."""
        segments = self._segments()
        before: Header | None = None
        for segment in segments:
            header = Header(segment.first, *(before[1:] if before else (None, 0, 0)))
            if segment.form == FORM and segment.header != header:
                with segment.path.open("r+b") as file:
                    file.write(header.pack())
                    file.flush()
                    SYSTEM.sync(file.fileno())
                done.append(f"mended the header of {segment.path.name}")
            ends = [record.end for _, record in _good(segment)]
            end = max(ends, default=segment.first)
            before = Header(0, segment.first, segment.size, end)
        if segments:
            segments[-1].path.with_suffix(INDEX_SUFFIX).unlink(missing_ok=True)
            kept = StateFile(self.folder / EARLIEST, Earliest, Earliest())
            if kept.value.offset != segments[0].first:
                kept.value.offset = segments[0].first
                kept.save()
                done.append(f"the log begins at offset {segments[0].first}")
        SYSTEM.sync_folder(self.folder)

    # --- Making it smaller ----------------------------------------------------------

    def compact(
        self, before: int | None, others_need: int | None = None
    ) -> tuple[int, int]:
        """Delete files that no reader needs; how many, and of how many bytes.

        Args:
            before: files that end at this offset, or earlier; by default those that all
                readers have read, of which there must be one.
            others_need: the first offset that what stands above the log needs.

        Raises:
            SienaError: if a reader still needs them.
        """
        readers = StateFile(self.folder / READERS, dict[str, Position], {}).value
        batches = StateFile(self.folder / SINKS, State, State()).value.begun
        needed = [position.offset for position in readers.values()]
        needed += [begun.first for begun in batches]
        needed += [] if others_need is None else [others_need]
        floor = min(needed, default=None)
        if before is None:
            if floor is None:
                raise SienaError("nobody reads this log", hint="say --before OFFSET")
            before = floor
        elif floor is not None and before > floor:
            raise SienaError(f"a reader needs what is from offset {floor} on")
        segments = self._segments()
        going = [segment for segment in segments[:-1] if segment.end <= before]
        if going:
            kept = StateFile(self.folder / EARLIEST, Earliest, Earliest())
            kept.value.offset = segments[len(going)].first
            kept.save()
        for segment in going:
            segment.delete()
        return len(going), sum(segment.size for segment in going)


def _good(segment: Segment) -> Iterator[tuple[int, Record]]:
    size = segment.path.stat().st_size
    start = HEADER_BYTES if segment.form == FORM else 0
    return good_records_of(segment.path, start, size, segment.first, form=segment.form)
