"""The ``siena`` command: finds the command that was asked for and runs it.

A command is a function in a file of its own, entered in :data:`COMMANDS`.  It
prints its answer on stdout, raises :class:`typer.Exit` for a code other than 0,
and lets a :class:`siena.errors.SienaError` fly: :func:`main` says it in one line.
"""

import io
import os
import sys
import traceback
import warnings
from importlib import import_module
from typing import Annotated

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException
from typer.main import get_command

from siena.cli.rules.event_options import CommandOnEvents
from siena.cli.terminal.foreign import printable
from siena.errors import NoBrokerError, ServiceError, SienaError

# Where each command lives, as "module:function", in the order of `siena --help`.
COMMANDS: dict[str, str] = {
    "demo": "siena.cli.demo.command:demo",
    "tour": "siena.cli.data.tour:tour",
    "doctor": "siena.cli.service.doctor:doctor",
    "version": "siena.cli.service.version:version",
    "explain": "siena.cli.data.explain:explain",
    "translate": "siena.cli.rules.translate:translate",
    "rules": "siena.cli.rules.command:app",
    "sift": "siena.cli.data.sift:sift",
    "serve": "siena.cli.service.serve:serve",
    "pub": "siena.cli.service.pub:pub",
    "sub": "siena.cli.service.sub:sub",
    "durable": "siena.cli.service.durable:app",
    "adv": "siena.cli.service.adv:adv",
    "log": "siena.cli.log.command:app",
    "context": "siena.cli.service.context:app",
    "token": "siena.cli.access.token:app",
    "user": "siena.cli.access.user:app",
    "cert": "siena.cli.access.cert:cert",
    "may": "siena.cli.access.may:may",
    "grants": "siena.cli.access.grants:app",
    "top": "siena.cli.service.top:top",
    "topo": "siena.cli.service.topo:topo",
    "why": "siena.cli.service.why:why",
    "trace": "siena.cli.service.trace:trace",
    "flights": "siena.cli.data.flights:flights",
    "compile": "siena.cli.data.compile:compile_",
    "match": "siena.cli.data.match:match",
    "backtest": "siena.cli.data.backtest:backtest",
    "reduce": "siena.cli.data.reduce:reduce",
    "replay": "siena.cli.service.replay:replay",
    "sim": "siena.cli.sim.command:app",
    "study": "siena.cli.study.command:app",
    "bench": "siena.cli.lab.bench:app",
    "chaos": "siena.cli.lab.chaos:chaos",
}

EXIT_FAILURE = 1  # a broker said no, or was gone in the middle
EXIT_NO_BROKER = 3
EXIT_BAD_INPUT = 2  # as Typer has it for a wrong option
EXIT_OUR_MISTAKE = 70  # as BSD's sysexits.h has it
EXIT_INTERRUPTED = 130  # 128 + SIGINT, as shells have it
EXIT_CLOSED_PIPE = 141  # 128 + SIGPIPE, as if we had not caught it


def main() -> None:
    """Run the command line; what others did wrong ends in one line and a code.

    A mistake of ours still shows its traceback: it is meant to be loud.
    """
    _accept_any_terminal()
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _say_warning
            _run()
    except SienaError as error:
        _say(error)
        sys.exit(_code_of(error))
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        _forget_stdout()
        sys.exit(EXIT_CLOSED_PIPE)
    except OSError as error:  # a full disk, a file that is not there
        _say(error)
        _forget_stdout()
        sys.exit(EXIT_BAD_INPUT)
    except Exception:  # noqa: BLE001 -- loud, and not to be taken for the answer "no"
        traceback.print_exc()
        sys.exit(EXIT_OUR_MISTAKE)


class LazyGroup(TyperGroup):
    """A group that imports a command when it is called for.

    Only a list of all commands, for ``--help`` or after a misspelling, imports all.
    """

    def list_commands(self, ctx: object) -> list[str]:  # noqa: ARG002 -- Typer's signature
        """The names of all commands, all of them loaded."""
        for name in COMMANDS:
            self._load(name)
        return list(COMMANDS)

    def get_command(
        self, ctx: object, cmd_name: str
    ) -> TyperCommand | TyperGroup | None:
        """The command of that name, or ``None``."""
        if cmd_name in COMMANDS:
            return self._load(cmd_name)
        self.list_commands(ctx)  # so that Typer can say what was meant
        return None

    def _load(self, name: str) -> TyperCommand | TyperGroup:
        module, attribute = COMMANDS[name].split(":")
        target = getattr(import_module(module), attribute)
        if isinstance(target, typer.Typer):  # a group of commands
            group = get_command(target)
            assert isinstance(group, TyperGroup)
            self.add_command(group, name)
            return group
        # Without Rich's markup: it would take the brackets of a filter for a style.
        single = typer.Typer(add_completion=False, rich_markup_mode=None)
        single.command(name, cls=CommandOnEvents)(target)
        command = get_command(single)
        assert isinstance(command, TyperCommand)
        self.add_command(command, name)
        return command


app = typer.Typer(
    name="siena",
    cls=LazyGroup,
    help="Content-based publish/subscribe: say what you want, not who has it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["--help", "-h"]},
)


def _show_version(wanted: bool) -> None:  # noqa: FBT001 -- Typer hands over a value
    if wanted:
        from importlib.metadata import version  # slow to import, seldom asked for

        print(f"siena {version('siena-pubsub')}")
        raise typer.Exit


@app.callback()
def _options(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_show_version,
            is_eager=True,
            help="Show the version and exit.",
        ),
    ] = False,
) -> None:
    assert not version, "the callback has left by now"


def _run() -> None:
    try:
        sys.exit(app(standalone_mode=False) or 0)
    except SystemExit as leaving:
        # Typer and Rich leave a closed pipe with code 1, which is an answer here.
        if isinstance(leaving.__context__, BrokenPipeError):
            raise leaving.__context__ from None
        raise
    except TyperException as error:
        _say_misuse(error)
        sys.exit(EXIT_BAD_INPUT)
    finally:
        # Here, where a failure can still be handled.  Unlike sys.stdout.flush(),
        # this also works when the program was started without a stdout.
        print(end="", flush=True)


def _say_misuse(error: TyperException) -> None:
    """A wrong option or argument, in one line, and where to read more.

    Typer would show the usage as well; ``--help`` is there for that.
    """
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "siena"
    if not str(error).strip() or type(error).__name__ == "NoArgsIsHelpError":
        print(context.get_help() if context is not None else error, file=sys.stderr)
        return
    message = getattr(error, "format_message", error.__str__)()
    line = " ".join(message.split()).rstrip(".")
    print(f"{_mistake()} {line} (see: {command} --help)", file=sys.stderr)


def _code_of(error: SienaError) -> int:
    if isinstance(error, NoBrokerError):
        return EXIT_NO_BROKER
    return EXIT_FAILURE if isinstance(error, ServiceError) else EXIT_BAD_INPUT


def _accept_any_terminal() -> None:
    """Show what a terminal cannot, rather than fail in the middle of an answer."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _say_warning(message: Warning | str, *_: object, **__: object) -> None:
    """A warning in one line, without the place in our code that Python would add."""
    print(f"siena: warning: {printable(str(message))}", file=sys.stderr)


def _say(error: Exception) -> None:
    """Write the error on stderr in one line; show a person the place as well."""
    if isinstance(error, OSError) and error.filename is not None:
        error = SienaError(f"{error.filename}: {error.strerror}")
    # Some of Python's own have nothing to say, such as a TimeoutError.
    line = printable(" ".join(str(error).splitlines())) or type(error).__name__
    if "siena.spark.hints" in sys.modules:
        from siena.spark.hints import for_commands

        line = for_commands(line)
    print(f"{_mistake()} {line}", file=sys.stderr)
    place = error.place if isinstance(error, SienaError) else None
    if place is not None and sys.stderr.isatty():
        print(place.pointer(), file=sys.stderr)


def _mistake() -> str:
    """How a line begins that says what went wrong."""
    from siena.cli.terminal.colour import Paint

    return Paint(sys.stderr)("bad", "siena: error:")


def _forget_stdout() -> None:
    """Let the interpreter's own flush of stdout, at its end, succeed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
