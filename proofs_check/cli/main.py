"""``exaq``: commands by name, one line for every error, exit codes that scripts can rely on."""

import sys
from importlib import import_module
from typing import Any

import click

from exactchains.truth import DoesNotExist, InputError, PrecisionExhausted, Undecided

COMMANDS = {
    "models": "list models, or describe one",
    "solve": "values of quantities, with status and certain digits",
    "best": "certified best integer parameter, with switching points",
    "compare": "certified sign of a difference, or a stochastic order",
    "chain": "laws, classes and level structure of a chain in a file",
    "verify": "status of every claim, from its certificate",
    "check": "run the independent checker on certificate files",
    "explain": "statement, assumptions, argument and certificate of a claim",
    "drift": "exact drift constants of a policy and what they imply, or the ray along which the drift grows",
    "table": "tables in which every digit is certain",
    "plot": "figures of tables, enclosures as bands",
    "validate": "judge a simulator's output",
    "simulate": "reference simulator, slot by slot or job by job",
    "sweep": "parameter studies in a results store: resumed, exported, merged",
}
EXIT_INPUT, EXIT_UNDECIDED, EXIT_INTERNAL = 2, 3, 4
EXIT_INTERRUPTED = 130  # as shells say it


class Commands(click.Group):
    """Loads a command when it is first used: ``exaq check`` needs neither numpy nor sympy."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        command: click.Command = import_module(f"proofs_check.cli.{name}").command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise  # click ends quietly when nobody reads on
        except KeyboardInterrupt as stop:
            click.echo(f"exaq: interrupted{f'; {stop}' if str(stop) else ''}", err=True)
            ctx.exit(EXIT_INTERRUPTED)
        except Exception as error:
            if ctx.params.get("debug"):
                raise
            code, text = failure(error)
            click.echo(f"exaq: {text}", err=True)
            ctx.exit(code)


def failure(error: Exception) -> tuple[int, str]:
    """Return exit code and one line for an error."""
    text = " ".join(str(error).split()) or type(error).__name__
    if isinstance(error, DoesNotExist | InputError | TypeError) and not isinstance(error, Undecided):
        if isinstance(error, TypeError) and not isinstance(error, InputError):
            return EXIT_INTERNAL, f"internal error: TypeError: {text}; --debug shows where"
        return EXIT_INPUT, text
    if isinstance(error, PrecisionExhausted | Undecided):
        return EXIT_UNDECIDED, f"undecided: {text}"
    if isinstance(error, FileExistsError):
        return EXIT_INPUT, f"{error.filename}: a file stands there and a folder is needed; give another place"
    if isinstance(error, OSError):
        return EXIT_INPUT, f"{error.filename}: {error.strerror}" if error.filename else error.strerror or text
    if isinstance(error, MemoryError):
        return EXIT_INTERNAL, "out of memory; ask for fewer digits or a smaller model"
    return EXIT_INTERNAL, f"internal error: {type(error).__name__}: {text[:300]}; --debug shows where"


def _one_line(error: click.ClickException, file: Any = None) -> None:
    """Show a usage error as every other one: in one line."""
    path = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else "exaq"
    text = " ".join(error.format_message().split()).rstrip(".")
    click.echo(f"exaq: {text}; `{path} --help` shows the usage", err=True)


click.ClickException.show = click.UsageError.show = _one_line  # type: ignore[method-assign]


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.option("--debug", is_flag=True, help="show the traceback of an error")
@click.version_option(package_name="exaq")
def cli(debug: bool) -> None:
    """Exact analysis of ages of information and of load-balancing queues.

    Numbers are exact: 7/10, 0.7 and 7e-1 are one number.  Exit codes: 0 all hold, 1 a claim fails or a simulator
    disagrees, 2 wrong input or no law exists, 3 undecided, 4 internal error,
    130 interrupted.
    """


def main() -> None:
    """Run the command line."""
    sys.set_int_max_str_digits(0)  # lengths are bounded by our own grammar
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="surrogateescape")  # file names are bytes
    cli(prog_name="exaq")


if __name__ == "__main__":
    main()
