"""Every state in which a loss of power may leave a disk, after what a log did to it.

:class:`Recorded` writes down what is done to files.  A :class:`Disk` takes that in, up
to the moment of the crash, and says what may be there then:

- what was written to a file since it was last synced is there, or not, page by page;
  where a page is not, and the file is longer, there are zeros;
- a file is at most as long as it was made, and at least as long as when it was synced,
  or cut off since;
- of the names that were given, taken or changed since their folder was synced, any are.
"""

import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from siena.broker.log.files import Files, Pieces

# What a disk writes as a whole.
PAGE = 512


class Done(NamedTuple):
    """Something that was done to a file, or to a name."""

    what: (
        # "found" (it was there before), "create", "write", "truncate", "sync",
        # "sync folder", "rename", "delete"
        str
    )
    path: str  # the name of the file at that time
    data: bytes = b""
    place: int = 0
    new: str = ""
    file: int = 0  # which file it is, however it is called


class Recorded(Files):
    """The files of the system, and all that is done to them.

    A descriptor stands for a file, and not for its name: a thread may sync one whose
    name another has taken meanwhile.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.done: list[Done] = []
        self._named: dict[str, int] = {}
        self._opened: dict[int, int] = {}  # the file of each descriptor
        self._folders: dict[int, Path] = {}  # of each descriptor of one
        self._sizes: list[int] = []  # of each file there ever was

    def go_on_from(self, files: "Recorded") -> None:
        """Be those of the next life of a process, while the machine goes on."""
        self.done, self._named = files.done, files._named
        self._sizes = files._sizes
        for name, file in self._named.items():
            self._sizes[file] = (self._folder / name).stat().st_size

    @property
    def open_files(self) -> int:
        """How many descriptors stand for files."""
        return len(self._opened)

    def name_of(self, descriptor: int) -> str:
        """The name that an open file has now, or nothing for a folder."""
        file = self._opened.get(descriptor)
        return next((n for n, each in self._named.items() if each == file), "")

    def _name(self, path: Path) -> str:
        return str(path.relative_to(self._folder)) if path != self._folder else ""

    def _record(self, what: str, file: int, **more: Any) -> None:  # noqa: ANN401 -- as Done has it
        name = next((name for name, each in self._named.items() if each == file), "")
        self.done.append(Done(what, name, file=file, **more))

    def _file(self, path: Path) -> int:
        """Which file has this name; it is known from now on."""
        name = self._name(path)
        if name not in self._named:
            data = path.read_bytes() if path.exists() else None
            self._named[name] = len(self._sizes)
            self._sizes.append(len(data or b""))
            what = "create" if data is None else "found"
            self._record(what, self._named[name], data=data or b"")
        return self._named[name]

    def open_for_append(self, path: Path) -> int:
        file = self._file(path)
        descriptor = super().open_for_append(path)
        self._opened[descriptor] = file
        return descriptor

    def write(self, descriptor: int, pieces: Pieces) -> None:
        data, file = b"".join(pieces), self._opened[descriptor]
        self._record("write", file, data=data, place=self._sizes[file])
        super().write(descriptor, pieces)
        self._sizes[file] += len(data)

    def truncate(self, descriptor: int, size: int) -> None:
        file = self._opened[descriptor]
        self._record("truncate", file, place=size)
        super().truncate(descriptor, size)
        self._sizes[file] = size

    def sync(self, descriptor: int) -> None:
        folder = self._folders.get(descriptor)
        if folder is None:
            self._record("sync", self._opened[descriptor])
        elif folder == self._folder:  # names in others are not what we ask about
            self.done.append(Done("sync folder", ""))

    def sync_and_close(self, descriptors: list[int]) -> None:
        """What threads do, whose syncs are to be known as well."""
        try:
            for descriptor in descriptors:
                self.sync(descriptor)
        finally:
            for descriptor in descriptors:
                self.close(descriptor)

    def duplicate(self, descriptor: int) -> int:
        other = super().duplicate(descriptor)
        self._opened[other] = self._opened[descriptor]
        return other

    def open_folder(self, folder: Path) -> int:
        descriptor = super().open_folder(folder)
        self._folders[descriptor] = folder
        return descriptor

    def close(self, descriptor: int) -> None:
        # Before: another thread may get the number.
        self._opened.pop(descriptor, None)
        self._folders.pop(descriptor, None)
        super().close(descriptor)

    def rename(self, old: Path, new: Path) -> None:
        names = self._name(old), self._name(new)
        self._record("rename", self._file(old), new=names[1])
        super().rename(old, new)
        self._named[names[1]] = self._named.pop(names[0])

    def delete(self, path: Path) -> None:
        if path.exists():
            self._record("delete", self._file(path))
            del self._named[self._name(path)]
        super().delete(path)


@dataclass
class Inode:
    """A file without its name: what the disk has for sure, and what came since."""

    synced: bytes = b""
    since: list[Done] = field(default_factory=list)

    def all(self) -> bytes:
        return self.after(self.since)

    def after(self, done: list[Done]) -> bytes:
        data = bytearray(self.synced)
        for each in done:
            if each.what == "truncate":
                del data[each.place :]
            else:
                data[each.place : each.place + len(each.data)] = each.data
        return bytes(data)

    def left(self, rng: random.Random) -> bytes:
        """What may be left of it."""
        way = rng.randrange(6)
        if way == 0 or not self.since:
            return self.all() if way else self.synced
        if way == 1:
            return self.all()
        upto = rng.randrange(len(self.since) + 1)
        whole = self.after(self.since[:upto])
        if way == 2:  # those that came first
            return whole
        least = min([len(self.synced), *(d.place for d in self.since[:upto])])
        if len(whole) <= least:
            return whole
        size = rng.randrange(least, len(whole) + 1)
        if way == 3:  # cut off anywhere
            return whole[:size]
        found = bytearray(whole[:size] if way == 4 else whole)
        for page in range(least // PAGE * PAGE, len(found), PAGE):
            if rng.random() < 0.4:  # its length is there, and this page is not
                start = max(page, least)
                found[start : page + PAGE] = bytes(
                    max(0, min(page + PAGE, len(found)) - start)
                )
        return bytes(found)


class Disk:
    """What the disk has after some of what was done."""

    def __init__(self) -> None:
        self._names: dict[str, Inode] = {}  # for sure
        self._since: list[tuple[Done, Inode]] = []  # and perhaps
        self._now: dict[str, Inode] = {}
        self._files: dict[int, Inode] = {}  # those without a name as well

    def do(self, done: Done) -> None:
        match done.what:
            case "found":
                inode = self._files[done.file] = Inode(done.data)
                self._names[done.path] = self._now[done.path] = inode
            case "create":
                inode = self._now[done.path] = self._files[done.file] = Inode()
                self._since.append((done, inode))
            case "write" | "truncate":
                self._files[done.file].since.append(done)
            case "sync":
                inode = self._files[done.file]
                inode.synced, inode.since = inode.all(), []
            case "sync folder":
                self._names, self._since = dict(self._now), []
            case "rename":
                inode = self._now[done.new] = self._now.pop(done.path)
                self._since.append((done, inode))
            case _:  # delete
                self._since.append((done, self._now.pop(done.path)))

    def left(self, rng: random.Random) -> dict[str, bytes]:
        """What may be left: files by name."""
        names = dict(self._names)
        share = rng.choice((0.0, 0.5, 1.0, 1.0))
        for done, inode in self._since:
            if rng.random() >= share:
                continue
            if done.what == "create":
                names[done.path] = inode
            elif done.what == "delete":
                names.pop(done.path, None)
            else:
                names[done.new] = inode
                if names.get(done.path) is inode:
                    del names[done.path]
        return {name: inode.left(rng) for name, inode in names.items()}


def crash_states(
    done: list[Done], rng: random.Random, each: int
) -> Iterator[tuple[int, dict[str, bytes]]]:
    """After each step some states, and how many steps that was; none twice in a row."""
    disk = Disk()
    seen: set[int] = set()
    for steps, step in enumerate(done, 1):
        disk.do(step)
        for _ in range(each):
            state = disk.left(rng)
            key = hash((steps, *sorted(state.items())))
            if key not in seen:
                seen.add(key)
                yield steps, state


def lay_out(folder: Path, state: dict[str, bytes]) -> None:
    """Make a folder what the disk has."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, data in state.items():
        (folder / name).write_bytes(data)
