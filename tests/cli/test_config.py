"""Where settings come from: command line over environment over file over default."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sitemirror.cli.config import misspelt, settings_for
from sitemirror.cli.options import Command
from sitemirror.errors import UsageError
from sitemirror.settings import Content, Format, OnError, Settings
from tests.conftest import RunCli, RunHere


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(folder: Path, text: str, name: str = "sitemirror.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def complaint(command: Command = Command.MIRROR, **environ: str) -> UsageError:
    with pytest.raises(UsageError) as caught:
        settings_for(command, {}, environ=environ)
    return caught.value


def test_no_source_gives_the_defaults(folder: Path) -> None:
    """Without any source the settings are those of settings.py."""
    assert settings_for(Command.MIRROR, {}, environ={}) == Settings()


def test_precedence_of_sources(folder: Path) -> None:
    """Removing the sources one by one, highest first, shows the next each time."""
    write(folder, "rate-limit = 2\n[mirror]\nrate-limit = 3\n")
    environ = {"SITEMIRROR_RATE_LIMIT": "4"}
    assert settings_for(Command.MIRROR, {"rate_limit": "5"}, environ=environ).rate_limit == 5
    assert settings_for(Command.MIRROR, {}, environ=environ).rate_limit == 4
    assert settings_for(Command.MIRROR, {}, environ={}).rate_limit == 3
    assert settings_for(Command.LIST, {}, environ={}).rate_limit == 2
    (folder / "sitemirror.toml").unlink()
    assert settings_for(Command.MIRROR, {}, environ={}).rate_limit == 1


def test_file_accepts_every_type(folder: Path) -> None:
    """Numbers, text, paths, choices, flags and lists, with dashes or underscores."""
    write(
        folder,
        """
        output = "mirrors"
        max_pages = 7
        timeout = 2.5
        content = "full"
        on-error = "retry"
        domain-lock = false
        include-path = ["/docs/*", "/api/*"]
        header = "X-Team: docs"
        """,
    )
    settings = settings_for(Command.MIRROR, {}, environ={})
    assert settings == Settings(
        output=Path("mirrors"),
        max_pages=7,
        timeout=2.5,
        content=Content.FULL,
        on_error=OnError.RETRY,
        domain_lock=False,
        include_path=("/docs/*", "/api/*"),
        header=("X-Team: docs",),
    )


def test_environment_accepts_every_type(folder: Path) -> None:
    """Repeatable options have one value per line; empty means not set."""
    settings = settings_for(
        Command.MIRROR,
        {},
        environ={
            "SITEMIRROR_CONCURRENCY": "5",
            "SITEMIRROR_RESPECT_ROBOTS": "yes",
            "SITEMIRROR_FRONT_MATTER": "false",
            "SITEMIRROR_HEADER": "A: 1, 2\nB: 3\n",
            "SITEMIRROR_TIMEOUT": "",
            "SITEMIRROR_VECTORS": "/not/a/setting",
        },
    )
    assert settings == Settings(concurrency=5, respect_robots=True, front_matter=False, header=("A: 1, 2", "B: 3"))


OPPOSITES = ("no-domain-lock", "any-domain", "ignore-robots", "no-post-process", "no-front-matter", "no-hash")


@pytest.mark.parametrize("name", OPPOSITES)
@pytest.mark.parametrize("on", [True, False])
def test_negative_flag_names_are_accepted(folder: Path, name: str, on: bool) -> None:
    """Both names of a flag are accepted in the file, its tables and the environment."""
    field = {"any-domain": "same_domain", "ignore-robots": "respect_robots"}.get(name) or name[3:].replace("-", "_")
    command = Command.CRAWL if name == "any-domain" else Command.MIRROR
    wanted, word = Settings.of({field: not on}), str(on).lower()
    variable = f"SITEMIRROR_{name.upper().replace('-', '_')}"
    assert misspelt({variable: word}) == []
    assert settings_for(command, {}, environ={variable: word}) == wanted
    write(folder, f"{name} = {word}\n")
    assert settings_for(command, {}, environ={}) == wanted
    write(folder, f"[{command}]\n{name.replace('-', '_')} = {word}\n")
    assert settings_for(command, {}, environ={}) == wanted
    # What is nearer to the person still counts more, whichever name it has.
    assert settings_for(command, {field: on}, environ={}) == Settings.of({field: on})


def test_both_names_of_a_flag_are_an_error(folder: Path) -> None:
    """Both names in the same place contradict each other."""
    message = "SITEMIRROR_RESPECT_ROBOTS and SITEMIRROR_IGNORE_ROBOTS are one setting"
    assert complaint(SITEMIRROR_RESPECT_ROBOTS="1", SITEMIRROR_IGNORE_ROBOTS="1").message == message
    message = "SITEMIRROR_NO_HASH must be true or false, got maybe"
    assert complaint(SITEMIRROR_NO_HASH="maybe").message == message
    write(folder, "hash = true\nno-hash = true\n")
    assert complaint().message == "sitemirror.toml: no-hash is given twice"


def test_settings_of_other_commands_are_ignored(folder: Path) -> None:
    """One file and one environment serve all commands."""
    write(folder, 'concurrency = 5\nformat = "md"\n')
    assert settings_for(Command.LIST, {}, environ={"SITEMIRROR_UPDATE": "1"}) == Settings(format=Format.MD)
    assert settings_for(Command.MIRROR, {}, environ={}) == Settings(concurrency=5)


def test_named_file_replaces_the_default_file(folder: Path) -> None:
    """--config has precedence over SITEMIRROR_CONFIG, then sitemirror.toml; they are not merged."""
    write(folder, "timeout = 1\nmax-pages = 1\n")
    write(folder, "timeout = 2\n", "env.toml")
    named = write(folder, "timeout = 3\n", "named.toml")
    environ = {"SITEMIRROR_CONFIG": "env.toml"}
    assert settings_for(Command.MIRROR, {}, environ=environ) == Settings(timeout=2)
    assert settings_for(Command.MIRROR, {}, environ=environ, config=named) == Settings(timeout=3)


def test_unreadable_file_is_an_error(folder: Path) -> None:
    """The hint says which option or variable named it."""
    (folder / "sitemirror.toml").mkdir()
    assert complaint().message == "sitemirror.toml: cannot be read: Is a directory"
    assert complaint().hint.startswith("fix it, or move it away")
    (folder / "sitemirror.toml").rmdir()
    named = complaint(SITEMIRROR_CONFIG="missing.toml")
    assert named.message == "missing.toml: cannot be read: No such file or directory"
    assert named.hint == "check SITEMIRROR_CONFIG in the environment"


@pytest.mark.skipif(os.name == "nt", reason="making symlinks is a privilege there")
def test_dangling_symlink_to_a_configuration_is_reported(folder: Path) -> None:
    """A dangling sitemirror.toml is an error and not ignored."""
    (folder / "sitemirror.toml").symlink_to("dotfiles/sitemirror.toml")
    assert complaint().message == "sitemirror.toml: cannot be read: No such file or directory"


def test_tilde_is_the_home_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a file, in the environment and after `--output=`; not inside a name."""
    monkeypatch.setenv("HOME", str(folder / "home"))
    monkeypatch.setenv("USERPROFILE", str(folder / "home"))
    mirrors = Settings(output=folder / "home" / "mirrors")
    assert settings_for(Command.MIRROR, {"output": "~/mirrors"}, environ={}) == mirrors
    assert settings_for(Command.MIRROR, {}, environ={"SITEMIRROR_OUTPUT": "~/mirrors"}) == mirrors
    write(folder, 'output = "~/mirrors"\n')
    assert settings_for(Command.MIRROR, {}, environ={}) == mirrors
    (folder / "home").mkdir()
    (folder / "home" / "own.toml").write_text('output = "~/mirrors"\n', encoding="utf-8")
    assert settings_for(Command.MIRROR, {}, environ={"SITEMIRROR_CONFIG": "~/own.toml"}) == mirrors
    for name in ("~mirrors", "a/~/b"):
        assert settings_for(Command.MIRROR, {"output": name}, environ={}) == Settings(output=Path(name))


def test_verbose_on_the_command_line_overrides_quiet_in_the_file(folder: Path) -> None:
    """Both in one place are an error."""
    write(folder, "quiet = true\n")
    settings = settings_for(Command.MIRROR, {"verbose": True}, environ={})
    assert (settings.quiet, settings.verbose) == (False, True)
    write(folder, "quiet = true\nverbose = true\n")
    assert "quiet" in complaint().message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rate-limt = 1", "sitemirror.toml: unknown key rate-limt"),
        ("[mirror]\nformat = 'md'", "sitemirror.toml: mirror.format must be one of markdown, html, both, got md"),
        ("[list]\nupdate = true", "sitemirror.toml: unknown key list.update"),
        ("[verify]\noutput = 'x'", "sitemirror.toml: unknown table verify"),
        ("rate-limit = -1", "sitemirror.toml: rate-limit must be 0 or more, got -1"),
        ("rate-limit = true", "sitemirror.toml: rate-limit must be a number, got true"),
        ("update = 'sure'", "sitemirror.toml: update must be true or false, got sure"),
        ("[mirror]\nconcurrency = 0", "sitemirror.toml: mirror.concurrency must be 1 or more, got 0"),
        ("link-depth = 123456", "sitemirror.toml: link-depth must be 100000 or less, got 123456"),
        ("on_error = 'shrug'", "sitemirror.toml: on-error must be one of skip, retry, abort, got shrug"),
        ("no-hash = 'sure'", "sitemirror.toml: no-hash must be true or false, got sure"),
        ("[mirror]\nany-domain = true", "sitemirror.toml: unknown key mirror.any-domain"),
        ("output = 3", "sitemirror.toml: output must be text, got 3"),
        ("rate-limit = 1\nrate_limit = 2", "sitemirror.toml: rate_limit is given twice"),
        ("rate-limit 1", "sitemirror.toml: not valid TOML: "),
    ],
)
def test_error_in_the_file_names_file_and_key(folder: Path, text: str, message: str) -> None:
    """The message says where to fix it."""
    write(folder, text)
    error = complaint()
    assert error.message.startswith(message)
    assert "\n" not in error.message
    assert error.hint
    assert error.exit_code == 2


def test_misspelt_key_gets_a_suggestion(folder: Path) -> None:
    """The hint names the similar key."""
    write(folder, "exclude-paths = ['/a']")
    assert complaint().hint == "did you mean exclude-path?"


def test_error_in_the_environment_names_the_variable(folder: Path) -> None:
    """The message names the variable and not the option."""
    assert complaint(SITEMIRROR_TIMEOUT="soon").message == "SITEMIRROR_TIMEOUT must be a number, got soon"


def test_misspelt_variable_is_reported_with_a_suggestion(run_here: RunHere) -> None:
    """Unknown SITEMIRROR_ variables are errors."""
    environ = {"SITEMIRROR_RATELIMIT": "9", "SITEMIRROR_OUTPUT": "x", "SITEMIRROR_CONFIG": "x", "SITEMIRROR_LOGO": "x"}
    assert misspelt(environ) == [("SITEMIRROR_RATELIMIT", "SITEMIRROR_RATE_LIMIT")]
    done = run_here("mirror", "http://127.0.0.1:1/", env={"SITEMIRROR_RATELIMIT": "9"})
    assert done.stderr.startswith(
        "note: SITEMIRROR_RATELIMIT in the environment is not an option: did you mean SITEMIRROR_RATE_LIMIT?\n"
    )


def test_missing_named_file_is_an_error(folder: Path) -> None:
    """Only the default file may be absent."""
    with pytest.raises(UsageError, match=r"nowhere\.toml: cannot be read: No such file"):
        settings_for(Command.MIRROR, {}, environ={}, config=Path("nowhere.toml"))
    (folder / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match="not UTF-8"):
        settings_for(Command.MIRROR, {}, environ={}, config=Path("binary.toml"))


def test_byte_order_mark_is_ignored(folder: Path) -> None:
    """Windows editors add one."""
    (folder / "sitemirror.toml").write_bytes(b"\xef\xbb\xbftimeout = 9\n")
    assert settings_for(Command.MIRROR, {}, environ={}).timeout == 9


def test_file_of_the_current_folder_is_read(run_cli: RunCli, tmp_path: Path) -> None:
    """An error in it ends the command with exit code 2."""
    write(tmp_path, "concurrency = 'lots'\n")
    done = run_cli("mirror", "https://example.com/")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("sitemirror: error: sitemirror.toml: concurrency must be a whole number, got lots\n")
