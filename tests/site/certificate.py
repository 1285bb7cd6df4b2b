"""A certificate for the test site, made when first needed: a key in a repository would be a key in a repository."""

from __future__ import annotations

import atexit
import functools
import shutil
import ssl
import subprocess
import tempfile
from pathlib import Path
from typing import Final

# OpenSSL refuses *.localhost, so the names that tests use are listed.
NAMES: Final = ("localhost", "site.localhost", "www.site.localhost", "docs.localhost", "www.docs.localhost")


class NoOpenssl(Exception):
    """The `openssl` command, which makes the certificate, is missing or failed."""


@functools.cache
def certificate() -> tuple[Path, Path]:
    """A self-signed certificate and its key, as PEM files that live as long as this process."""
    openssl = shutil.which("openssl")
    if openssl is None:
        raise NoOpenssl("no openssl command to make a certificate with")
    folder = Path(tempfile.mkdtemp(prefix="sitemirror-tls-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    pem, key = folder / "certificate.pem", folder / "key.pem"
    names = ",".join([*(f"DNS:{name}" for name in NAMES), "IP:127.0.0.1", "IP:::1"])
    command = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    command += ["-addext", f"subjectAltName={names}", "-keyout", str(key), "-out", str(pem)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    if done.returncode != 0:
        raise NoOpenssl(f"openssl made no certificate: {done.stderr.strip()}")
    return pem, key


def server_context() -> tuple[ssl.SSLContext, Path]:
    """What a TLS server needs, and the PEM file that a client has to trust."""
    pem, key = certificate()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, key)
    return context, pem
