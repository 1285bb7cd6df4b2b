"""Decides which URLs a run may fetch, and by which registrable domain its hosts belong together."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Sequence
from fnmatch import translate
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import ada_url

from sitemirror import urls
from sitemirror.reasons import Reason
from sitemirror.settings import Settings

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

_ESCAPE: Final = re.compile("%[0-9a-fA-F]{2}")


class Scope:
    """The rules of one run. `folder` is the start path's folder ("/" for the whole site)."""

    def __init__(self, settings: Settings, *, start_url: str, folder: str = "/") -> None:
        self.folder = folder if not settings.whole_site else "/"
        self._lock = settings.domain_lock
        self._domain = registrable_domain(urls.parts(start_url).host)
        self._paths = _Globs(settings.include_path, settings.exclude_path)
        self._urls = _Globs(settings.include, settings.exclude)
        self._any_path = self.folder == "/" and not self._paths and not self._urls
        self._origins: dict[str, bool] = {}

    def host_reason(self, url: str) -> Reason | None:
        """Return why this URL's host must not be contacted, or None."""
        origin = urls.origin(url)
        allowed = self._origins.get(origin)
        if allowed is None:
            allowed = not self._lock or registrable_domain(urls.parts(url).host) == self._domain
            if len(self._origins) < 10_000:  # A hostile sitemap can name any number of hosts.
                self._origins[origin] = allowed
        return None if allowed else Reason.DOMAIN_LOCK

    def reason(self, url: str, *, is_needed: bool = False) -> Reason | None:
        """Return why this URL must not be fetched, or None. Requisites of a page may be in any folder."""
        refused = self.host_reason(url)
        if refused or self._any_path:
            return refused
        path = url[len(urls.origin(url)) :].partition("?")[0] or "/"
        if not is_needed and not self._is_in_folder(url, path):
            return Reason.OUTSIDE_START
        if self._paths and (hit := self._paths.judge(path)) is not None:
            return Reason.EXCLUDED if hit else Reason.NOT_INCLUDED
        if self._urls and (hit := self._urls.judge(url)) is not None:
            return Reason.URL_EXCLUDED if hit else Reason.URL_NOT_INCLUDED
        return None

    def _is_in_folder(self, url: str, path: str) -> bool:
        return self.folder == "/" or path.startswith(self.folder) or path == self.folder[:-1]

    def unmatched_globs(self) -> list[str]:
        """The globs that matched no URL so far, each with its option."""
        options = ("--include-path", "--exclude-path", "--include", "--exclude")
        groups = (self._paths.include, self._paths.exclude, self._urls.include, self._urls.exclude)
        return [
            f"{option} {glob.text}"
            for option, group in zip(options, groups, strict=True)
            for glob in group
            if not glob.has_matched
        ]

    def takes_all(self, origin: str) -> bool:
        """Tell if every URL of this origin may be fetched, whatever its path."""
        return self._any_path and not self.host_reason(origin + "/")

    def fingerprint(self) -> str:
        """Return a text that differs when the same URL could get another answer."""
        globs = [[glob.pattern.pattern for glob in group] for group in (self._paths.include, self._paths.exclude)]
        whole = [[glob.text for glob in group] for group in (self._urls.include, self._urls.exclude)]
        return repr((self.folder, self._lock and self._domain, globs, *((whole,) if self._urls else ())))


class _Glob:
    """A glob of the user, and whether it has matched anything."""

    __slots__ = ("has_matched", "pattern", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self.pattern = re.compile(translate(_one_case(text)))
        self.has_matched = False

    def matches(self, spellings: tuple[str, ...]) -> bool:
        found = any(self.pattern.match(spelling) for spelling in spellings)
        self.has_matched = self.has_matched or found
        return found


class _Globs:
    """Globs that a text must match, and those it must not match. False if there are none."""

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        self.include = [_Glob(text) for text in include]
        self.exclude = [_Glob(text) for text in exclude]

    def __bool__(self) -> bool:
        return bool(self.include or self.exclude)

    def judge(self, text: str) -> bool | None:
        """None if the text passes, True if it is excluded, False if it is not included."""
        # As the URL spells it, and as the outline shows it and people type it.
        spellings = (_one_case(text), urls.decoded(text)) if "%" in text else (text,)
        # All are asked, so that none seems to match nothing.
        included = [glob.matches(spellings) for glob in self.include]
        excluded = [glob.matches(spellings) for glob in self.exclude]
        if included and not any(included):
            return False
        return True if any(excluded) else None


def _one_case(text: str) -> str:
    """Write percent escapes in upper case: sites write `%c3%a9`, browsers show `%C3%A9`."""
    return _ESCAPE.sub(lambda escape: escape[0].upper(), text)


@lru_cache(maxsize=4096)
def registrable_domain(host: str) -> str:
    """Return a host's public suffix with one more label: `example.co.uk` for `docs.example.co.uk`.

    Private suffixes count, so `alice.github.io` is its own domain. So is an address, a single label or a bare suffix.
    """
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        pass
    else:
        return host
    name = host.rstrip(".")
    readable = ada_url.idna_to_unicode(name) if "xn--" in name else name
    found = _public_suffixes().privatesuffix(readable)
    return name if found is None else ".".join(name.split(".")[-found.count(".") - 1 :])


@lru_cache(maxsize=1)
def _public_suffixes() -> PublicSuffixList:
    """Load the bundled list, private registries included. Unlisted top levels count as suffixes, too."""
    from publicsuffixlist import PublicSuffixList

    # The rules in Unicode alone: encoding all of them takes 45 ms of every start, decoding a host takes none.
    return PublicSuffixList(accept_encoded_idn=False)


class CrawlScope(Scope):
    """The rules of a crawl: the start folder on the start host and its www twin; --any-domain adds hosts.

    The start page is fetched whatever the globs say: without it there is no way to what they let through.
    """

    def __init__(self, settings: Settings, *, start_url: str, asked: str = "", folder: str = "/") -> None:
        super().__init__(settings, start_url=start_url, folder=folder)
        self._starts = (start_url, asked)
        start = urls.parts(start_url)
        self._any = not settings.same_domain
        self._own, self._port = urls.host_twins(start.host), start.port

    def reason(self, url: str, *, is_needed: bool = False) -> Reason | None:
        return None if url in self._starts else super().reason(url, is_needed=is_needed)

    def host_reason(self, url: str) -> Reason | None:
        found = urls.parts(url)
        is_own = self._any or (found.host in self._own and found.port == self._port)
        return None if is_own else Reason.DOMAIN_LOCK

    def _is_in_folder(self, url: str, path: str) -> bool:
        return super()._is_in_folder(url, path) or urls.parts(url).host not in self._own

    def fingerprint(self) -> str:
        return f"{super().fingerprint()} any={self._any}"
