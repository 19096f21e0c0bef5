"""The steps of a container file, done in clean roots where there is no builder.

A root is a folder with the system's programs (read only), a copy of its settings, an
empty environment of Python as ``python``, and nothing else of what is on the machine.
Steps run inside, as they are written; those that fetch packages of the system are left
out, since what they would bring is there.  What is served is served in a network of its
own.  It takes a root user who may mount, on Linux.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

# Where Python stands in a root; the image has it elsewhere, by the same name.
PYTHON = "/opt/python"
PATHS = f"{PYTHON}/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# A network of one's own begins with a loopback interface that is down: SIOCSIFFLAGS.
UP = (
    "import fcntl, os, socket, struct, sys; "
    "fcntl.ioctl(socket.socket(), 0x8914, struct.pack('16sh22x', b'lo', 1)); "
    "os.execvp(sys.argv[1], sys.argv[1:])"
)
LEFT_OUT = re.compile(r"apt-get [^&]*(&& )?|rm -rf /var/lib/apt/lists/\*( && )?")


def can_mount() -> bool:
    """Whether this process may make roots."""
    if os.geteuid() or not all(map(shutil.which, ("chroot", "nsenter", "unshare"))):
        return False
    command = ["unshare", "--mount", "--net", "true"]
    return subprocess.run(command, check=False).returncode == 0


@dataclass
class Root:
    """One stage of the file: a root, and what was said about how it runs."""

    folder: Path
    work: str = "/"
    user: str = "0"
    entry: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)

    def prepare(self) -> None:
        """Lay it out, and make the environment of Python in it."""
        for name in ("dev", "proc", "run", "tmp", "usr", "var/lib", "opt", "root"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "tmp").chmod(0o1777)
        for name in ("bin", "lib", "lib64", "sbin"):
            (self.folder / name).symlink_to(f"usr/{name}")
        shutil.copytree("/etc", self.folder / "etc", symlinks=True)
        for place in self._shared():
            (self.folder / place.relative_to("/")).mkdir(parents=True, exist_ok=True)
        self.run([f"{sys.base_prefix}/bin/python3", "-m", "venv", PYTHON])

    def _shared(self) -> list[Path]:
        """What is seen of the machine, and cannot be written to."""
        places = [
            Path("/usr"),
            *map(Path, os.environ.get("PIP_FIND_LINKS", "").split()),
        ]
        if not sys.base_prefix.startswith("/usr"):
            places.append(Path(sys.base_prefix))
        return [place for place in places if place.is_dir()]

    def command(self, inside: list[str]) -> list[str]:
        """What starts a command inside."""
        mounts = [
            f"mount --bind {place} {self.folder}{place}"
            f" && mount -o remount,ro,bind {self.folder}{place}"
            for place in self._shared()
        ]
        mounts += [
            f"mount --rbind /dev {self.folder}/dev",
            f"mount -t proc proc {self.folder}/proc",
        ]
        steps = " && ".join(mounts)
        shell = f'{steps} && cd / && exec chroot --userspec="$0" {self.folder} "$@"'
        start = f'cd {self.work} && exec "$0" "$@"'
        users = f"{self.user}:{self.user}"
        outside = ["unshare", "--mount", "sh", "-ec", shell, users]
        return [*outside, "/bin/sh", "-c", start, *inside]

    def serving(self) -> list[str]:
        """What starts the entry point, in a network of its own."""
        return ["unshare", "--net", sys.executable, "-c", UP, *self.command(self.entry)]

    def asking(self, process: int) -> list[str]:
        """What asks a process that serves how it is."""
        return ["nsenter", "--net", f"--target={process}", *self.command(self.health)]

    def run(self, inside: list[str]) -> None:
        """Run a command to its end."""
        done = subprocess.run(
            self.command(inside),
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{inside}\n{done.stdout}{done.stderr}"

    def environment(self) -> dict[str, str]:
        """Nothing of ours, but where pip finds packages."""
        pip = {name: text for name, text in os.environ.items() if name[:4] == "PIP_"}
        return {"PATH": PATHS, "HOME": "/root", "LC_ALL": "C.UTF-8", **pip}


def follow(file: Path, context: Path, folder: Path) -> Root:
    """Do what a container file says; the last of its roots."""
    text = file.read_text(encoding="utf-8").replace("\\\n", " ")
    roots: dict[str, Root] = {}
    root = Root(folder)
    for line in text.splitlines():
        what, _, rest = line.partition(" ")
        match what:
            case "FROM":
                _, _, name = rest.partition(" AS ")
                root = roots[name] = Root(folder / (name or "last"))
                root.prepare()
            case "WORKDIR":
                (root.folder / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
                root.work = rest
            case "COPY":
                _copy(rest.split(), roots, root, context)
            case "RUN":
                step = LEFT_OUT.sub("", re.sub(r" +", " ", rest)).strip()
                if step:
                    root.run(["/bin/sh", "-ec", step])
            case "USER":
                root.user = rest
            case "ENTRYPOINT":
                root.entry = json.loads(rest)
            case "HEALTHCHECK":
                root.health = json.loads(rest[rest.index("CMD ") + 4 :])
            case _:  # comments, and what is for those who run it
                pass
    return root


def _copy(words: list[str], roots: dict[str, Root], root: Root, context: Path) -> None:
    source = context
    if words[0].startswith("--from="):
        source = roots[words.pop(0).removeprefix("--from=")].folder
    *names, target = words
    place = root.folder / os.path.join(root.work, target).lstrip("/")  # noqa: PTH118
    for name in names:
        found = source / name.lstrip("/")
        if found.is_dir():
            shutil.copytree(found, place, ignore=shutil.ignore_patterns("*.so"))
        else:
            into = place / found.name if target.endswith("/") else place
            into.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(found, into)
