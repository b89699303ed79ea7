"""A small browser: it follows redirects, keeps cookies, fills in forms and consents."""

import urllib.parse
import urllib.request
from html.parser import HTMLParser
from http.cookiejar import CookieJar


class Forms(HTMLParser):
    """The forms of a page: method, action and fields of each. Buttons are not among the fields."""

    def __init__(self, page):
        super().__init__()
        self.forms = []
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "form":
            self.forms.append((attributes.get("method", "get").lower(), attributes.get("action", ""), {}))
        elif tag == "input" and self.forms and attributes.get("name") and attributes.get("type") != "submit":
            self.forms[-1][2][attributes["name"]] = attributes.get("value", "")


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Browser:
    """One user. `typed` has what the user types into fields, by name."""

    MOST_PAGES = 20

    def __init__(self, **typed):
        self.typed = {"user": "ada", "login": "ada", "password": "secret"} | typed
        self.opener = urllib.request.build_opener(
            NoRedirect, urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(CookieJar())
        )

    def request(self, url, fields=None):
        """The status, the address of a redirect, and the body."""
        data = None if fields is None else urllib.parse.urlencode(fields).encode()
        try:
            response = self.opener.open(urllib.request.Request(url, data), timeout=60)
        except urllib.error.HTTPError as error:
            response = error
        with response:
            location = response.headers.get("Location")
            return response.status, location and urllib.parse.urljoin(url, location), response.read().decode(errors="replace")

    def visit(self, url, stop_at=None):
        """Goes on until a page has no form; returns its address and text.

        An address that begins with `stop_at` is not visited, but returned.
        """
        fields = None
        for _ in range(self.MOST_PAGES):
            if stop_at and url.startswith(stop_at):
                return url, ""
            status, location, body = self.request(url, fields)
            fields = None
            if location and 300 <= status < 400:
                url = location
                continue
            forms = Forms(body).forms
            if status >= 400 or not forms:
                return url, body
            method, action, fields = forms[0]
            fields = {name: self.typed.get(name, value) for name, value in fields.items()}
            url = urllib.parse.urljoin(url, action)
            if method == "get":
                url, fields = f"{url.partition('?')[0]}?{urllib.parse.urlencode(fields)}", None
        raise RuntimeError(f"too many pages, the last one at {url}")
