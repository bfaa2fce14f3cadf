"""Reading HTML pages as strictly as browsers are lenient."""

from __future__ import annotations

from html.parser import HTMLParser


class Reader(HTMLParser):
    """Collects the tags and checks that they are closed."""

    VOID = frozenset({"meta", "br", "hr", "link", "use", "path", "rect", "img", "line"})

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.ids, self.text = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag, self.getpos()

    def handle_data(self, data):
        self.text.append(data)
