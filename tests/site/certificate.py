"""Certificates for the test site, made when first needed: a key in a repository would be a key in a repository."""

from __future__ import annotations

import atexit
import functools
import shutil
import ssl
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

# OpenSSL refuses *.localhost, so the names that tests use are listed.
NAMES: Final = ("localhost", "site.localhost", "www.site.localhost", "docs.localhost", "www.docs.localhost")

_EXTENSION: Final = f"subjectAltName={','.join([*(f'DNS:{name}' for name in NAMES), 'IP:127.0.0.1', 'IP:::1'])}"

# `openssl ca` is the only command of older versions that takes a date in the past.
_AUTHORITY: Final = """
[ca]
default_ca = own
[own]
database = index.txt
new_certs_dir = .
rand_serial = yes
default_md = sha256
policy = any
x509_extensions = names
[any]
commonName = supplied
[names]
basicConstraints = CA:TRUE
{extension}
"""


class NoOpenssl(Exception):
    """The `openssl` command, which makes the certificates, is missing or failed."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """A self-signed certificate and its key, as PEM files that live as long as this process."""

    pem: Path
    key: Path

    def server_context(self) -> ssl.SSLContext:
        """What a TLS server needs."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.pem, self.key)
        return context


@functools.cache
def good() -> Certificate:
    """Good for two days and for every name that tests use; clients have to be told to trust it."""
    return _made()


@functools.cache
def stranger() -> Certificate:
    """Another one of the same kind, for those who trust the first."""
    return _made()


def _made() -> Certificate:
    folder = _folder()
    made = Certificate(folder / "certificate.pem", folder / "key.pem")
    _openssl(
        folder,
        "req",
        "-x509",
        "-days",
        "2",
        *_request(made.key, "localhost"),
        "-addext",
        _EXTENSION,
        "-out",
        str(made.pem),
    )
    return made


@functools.cache
def expired() -> Certificate:
    """The same, but it ended years ago."""
    folder = _folder()
    made = Certificate(folder / "certificate.pem", folder / "key.pem")
    (folder / "index.txt").touch()
    (folder / "ca.conf").write_text(_AUTHORITY.format(extension=_EXTENSION))
    _openssl(folder, "req", "-new", *_request(made.key, "expired"), "-out", "request.pem")
    dates = ("-startdate", "20200101000000Z", "-enddate", "20200201000000Z")
    signing = ("-selfsign", "-keyfile", str(made.key), "-in", "request.pem", "-out", str(made.pem))
    _openssl(folder, "ca", "-batch", "-notext", "-config", "ca.conf", *dates, *signing)
    return made


def _request(key: Path, subject: str) -> tuple[str, ...]:
    # Trusted certificates are found by their subjects, so each has to have its own.
    return ("-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={subject}", "-keyout", str(key))


def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="sitemirror-tls-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _openssl(folder: Path, *arguments: str) -> None:
    program = shutil.which("openssl")
    if program is None:
        raise NoOpenssl("no openssl command to make a certificate with")
    done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=30, check=False, cwd=folder)
    if done.returncode != 0:
        raise NoOpenssl(f"openssl made no certificate: {done.stderr.strip()}")
