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
from typing import NamedTuple

from siena.broker.log.files import Files, Pieces

# What a disk writes as a whole.
PAGE = 512


class Done(NamedTuple):
    """Something that was done to a file, or to a name."""

    what: (
        str  # "create", "write", "truncate", "sync", "sync folder", "rename", "delete"
    )
    path: str
    data: bytes = b""
    place: int = 0
    new: str = ""


class Recorded(Files):
    """The files of the system, and all that is done to them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.done: list[Done] = []
        self._paths: dict[int, str] = {}
        self._sizes: dict[str, int] = {}

    def _name(self, path: Path) -> str:
        return str(path.relative_to(self._folder)) if path != self._folder else ""

    def open_for_append(self, path: Path) -> int:
        name = self._name(path)
        if not path.exists():
            self.done.append(Done("create", name))
            self._sizes[name] = 0
        descriptor = super().open_for_append(path)
        self._paths[descriptor] = name
        return descriptor

    def write(self, descriptor: int, pieces: Pieces) -> None:
        data, name = b"".join(pieces), self._paths[descriptor]
        self.done.append(Done("write", name, data, self._sizes[name]))
        super().write(descriptor, pieces)
        self._sizes[name] += len(data)

    def truncate(self, descriptor: int, size: int) -> None:
        name = self._paths[descriptor]
        self.done.append(Done("truncate", name, place=size))
        super().truncate(descriptor, size)
        self._sizes[name] = size

    def sync(self, descriptor: int) -> None:
        name = self._paths[descriptor]
        self.done.append(Done("sync" if name else "sync folder", name))

    def duplicate(self, descriptor: int) -> int:
        other = super().duplicate(descriptor)
        self._paths[other] = self._paths[descriptor]
        return other

    def open_folder(self, folder: Path) -> int:
        descriptor = super().open_folder(folder)
        is_inside = folder.is_relative_to(self._folder)
        self._paths[descriptor] = self._name(folder) if is_inside else ""
        return descriptor

    def close(self, descriptor: int) -> None:
        del self._paths[descriptor]  # before: another thread may get the number
        super().close(descriptor)

    def rename(self, old: Path, new: Path) -> None:
        names = self._name(old), self._name(new)
        self.done.append(Done("rename", names[0], new=names[1]))
        super().rename(old, new)
        self._sizes[names[1]] = self._sizes.pop(names[0])
        for descriptor, name in self._paths.items():
            if name == names[0]:
                self._paths[descriptor] = names[1]

    def delete(self, path: Path) -> None:
        if path.exists():
            self.done.append(Done("delete", self._name(path)))
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

    def do(self, done: Done) -> None:
        match done.what:
            case "create":
                self._now[done.path] = Inode()
                self._since.append((done, self._now[done.path]))
            case "write" | "truncate":
                self._now[done.path].since.append(done)
            case "sync":
                if done.path in self._now:
                    inode = self._now[done.path]
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
