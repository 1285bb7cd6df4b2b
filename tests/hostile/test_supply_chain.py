"""What sitemirror is built of: versions without known holes, licences that allow its use, no careless defaults."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from sitemirror.settings import Settings

ROOT = Path(__file__).parents[2]
PERMISSIVE = re.compile(r"MIT(?:-0)?|Apache(?:-| )2\.0|BSD(?:-[23]-Clause)?|PSF-2\.0|ISC(?: License)?|MIT License")
# Weak copyleft that ends at its own files, which we neither change nor hand on.
OWN_FILES_ONLY = {"orjson": "MPL-2.0 AND (Apache-2.0 OR MIT)", "publicsuffixlist": "MPL-2.0"}


def _needed() -> dict[str, str]:
    """Everything that is installed for use, with its licence."""
    found: dict[str, str] = {}
    waiting = ["sitemirror"]
    while waiting:
        name = canonicalize_name(waiting.pop())
        if name in found:
            continue
        try:
            installed = distribution(name)
        except PackageNotFoundError:
            continue
        told = installed.metadata
        classes = [line.rpartition(" :: ")[2] for line in told.get_all("Classifier") or () if line[:7] == "License"]
        expression = [*(told.get_all("License-Expression") or ()), *(told.get_all("License") or ())]
        found[name] = expression[0] if expression else " OR ".join(classes)
        for line in installed.requires or ():
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                waiting.append(requirement.name)
    return {name: licence for name, licence in found.items() if name != "sitemirror"}


def test_licences_are_permissive_and_listed() -> None:
    """Every package that a user gets is in SECURITY.md with its licence, and that licence is permissive."""
    listed = dict(re.findall(r"^\| ([a-z0-9-]+) \| ([^|]+?) \|$", (ROOT / "SECURITY.md").read_text("utf-8"), re.M))
    needed = _needed()
    assert len(needed) > 20
    for name, licence in needed.items():
        assert name in listed, f"{name} is missing in SECURITY.md"
        if name in OWN_FILES_ONLY:
            assert licence == OWN_FILES_ONLY[name]
            continue
        for part in re.split(r" (?:AND|OR) ", re.sub(r"\bLicense\b|[()]", "", licence.replace("MIT License", "MIT"))):
            assert PERMISSIVE.fullmatch(part.strip()), (name, licence)


def test_everything_is_pinned() -> None:
    """What the tests run with is named to the version, so that an audit of the list is an audit of what runs."""
    lines = [
        line.split(";")[0] for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines() if line[:1] != "#"
    ]
    pinned = {canonicalize_name(line.partition("==")[0].strip()) for line in lines if "==" in line}
    assert len(pinned) == len(lines)
    assert not _needed().keys() - pinned


def test_no_known_vulnerability() -> None:
    """The registry's advisories name none of the pinned versions."""
    done = subprocess.run([sys.executable, str(ROOT / "scripts/audit.py")], capture_output=True, text=True, timeout=150)
    if done.returncode == 3:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stdout + done.stderr


def test_security_rules_are_on() -> None:
    """ruff's security rules hold for the package; each exception is one rule, named with its reason."""
    lint = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["ruff"]["lint"]
    assert "S" in lint["select"]
    excepted = [*lint["ignore"], *(rule for rules in lint["per-file-ignores"].values() for rule in rules)]
    assert "S" not in excepted
    for line in (ROOT / "pyproject.toml").read_text("utf-8").splitlines():
        if re.search(r'"S\d{3}"', line):
            assert "#" in line, f"no reason given: {line}"


def test_defaults_are_the_careful_ones() -> None:
    """A run without options keeps to its site, slowly, within limits, without proxies, with certificates checked."""
    chosen = Settings()
    assert (chosen.domain_lock, chosen.same_domain) == (True, True)
    assert (chosen.rate_limit, chosen.concurrency) == (1.0, 1)
    assert chosen.proxy is None
    assert chosen.ca_file is None
    assert not chosen.header
    assert 0 < chosen.max_file_size <= 10
    assert 0 < chosen.max_sitemap_size <= 100
    assert 0 < chosen.timeout <= 60
    code = "".join(file.read_text("utf-8") for file in (ROOT / "src").rglob("*.py"))
    for careless in (
        "ssl=False",
        "verify=False",
        "CERT_NONE",
        "check_hostname = False",
        "shell=True",
        "pickle",
        "eval(",
    ):
        assert careless not in code
