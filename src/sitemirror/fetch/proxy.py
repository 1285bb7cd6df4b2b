"""Which proxy a request goes through: the one the person named, or with `env` those of the environment.

The HTTP library could read the environment too, but would then also send passwords from `~/.netrc`.
"""

from __future__ import annotations

import base64
import urllib.request
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

import ada_url

from sitemirror.errors import UsageError
from sitemirror.settings import Settings
from sitemirror.urls import InvalidUrl, normalize, parts

_HINT: Final = "give it as http://host:port or http://user:password@host:port, or 'env'"


@dataclass(frozen=True, slots=True)
class Proxy:
    """One proxy. `url` carries no password; `authorization` is the header that does."""

    url: str
    authorization: str | None = None


class Proxies:
    """The run's proxies by scheme of the target."""

    def __init__(self, settings: Settings) -> None:
        self._obeys_no_proxy = settings.proxy == "env"
        if settings.proxy is None:
            self._by_scheme: dict[str, Proxy] = {}
        elif settings.proxy == "env":
            named = urllib.request.getproxies_environment()
            self._by_scheme = {
                scheme: _proxy(text) for scheme in ("http", "https") if (text := named.get(scheme) or named.get("all"))
            }
        else:
            one = _proxy(settings.proxy)
            self._by_scheme = {"http": one, "https": one}

    @property
    def urls(self) -> frozenset[str]:
        return frozenset(proxy.url for proxy in self._by_scheme.values())

    def for_url(self, url: str) -> Proxy | None:
        """The proxy that a request to `url` goes through; `None` = straight to the site."""
        if not self._by_scheme:
            return None
        target = parts(url)
        if self._obeys_no_proxy and urllib.request.proxy_bypass(target.authority):
            return None
        return self._by_scheme.get(target.scheme)


def _proxy(text: str) -> Proxy:
    text = text.strip()
    try:
        url = ada_url.URL(text if "://" in text else "http://" + text)
    except ValueError:
        raise UsageError("the proxy is not a valid URL", hint=_HINT) from None
    if url.protocol not in ("http:", "https:"):
        raise UsageError(f"a proxy of the kind {url.protocol} cannot be used", hint=_HINT)
    authorization = None
    if url.username or url.password:
        pair = f"{unquote(url.username)}:{unquote(url.password)}"
        authorization = "Basic " + base64.b64encode(pair.encode()).decode("ascii")
    try:
        return Proxy(normalize(f"{url.protocol}//{url.host}/"), authorization)
    except InvalidUrl as error:
        raise UsageError(f"the proxy is not a valid URL: {error}", hint=_HINT) from None
