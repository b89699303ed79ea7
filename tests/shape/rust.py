"""Reads Rust as far as counting needs it: comments, strings, tests, modules and the parameters of functions."""

import re


TOKEN = re.compile(
    r"""//[^\n]*
    |/\*
    |\b(?:br|cr|r)(?P<hashes>\#*)"
    |\b(?:b|c)?"(?:\\.|[^"\\])*"
    |(?<!["\w])"(?:\\.|[^"\\])*"
    |"(?:\\.|[^"\\])*"
    |\bb'(?:\\(?:x[0-9a-fA-F]{2}|.)|[^'\\\n])'
    |'(?:\\(?:x[0-9a-fA-F]{2}|u\{[^}]*\}|.)|[^'\\\n])'
    """,
    re.DOTALL | re.VERBOSE,
)
BLOCK = re.compile(r"/\*|\*/")
NOT_SPACE = re.compile(r"\S")
NOT_NEWLINE = re.compile(r"[^\n]")


def mask(text):
    """Returns the text with blanks in place of comments, and with `_` in place of what strings contain. Offsets stay the same."""
    parts, at = [], 0
    while found := TOKEN.search(text, at):
        start, end = found.span()
        parts.append(text[at:start])
        token = found.group()
        if token.startswith("//"):
            parts.append(" " * len(token))
        elif token == "/*":
            depth = 1
            while depth and (edge := BLOCK.search(text, end)):
                depth += 1 if edge.group() == "/*" else -1
                end = edge.end()
            end = end if not depth else len(text)
            parts.append(NOT_NEWLINE.sub(" ", text[start:end]))
        else:
            if found["hashes"] is not None:
                close = text.find('"' + found["hashes"], end)
                end = len(text) if close < 0 else close + 1 + len(found["hashes"])
            parts.append(NOT_SPACE.sub("_", text[start:end]))
        at = end
    parts.append(text[at:])
    return "".join(parts)


OPEN, CLOSE = "([{", ")]}"
BRACKET = re.compile(r"[()\[\]{}]")


def closing(code, at):
    """Returns the offset behind the bracket that closes the one at `at`."""
    depth = 0
    for bracket in BRACKET.finditer(code, at):
        depth += 1 if bracket.group() in OPEN else -1
        if depth == 0:
            return bracket.end()
    return len(code)


def requires_test(predicate):
    """Whether a `cfg` predicate holds in tests only."""
    predicate = predicate.strip()
    if predicate == "test":
        return True
    if predicate.startswith("all(") and predicate.endswith(")"):
        return any(requires_test(part) for part in split(predicate[4:-1]))
    if predicate.startswith("any(") and predicate.endswith(")"):
        parts = [part for part in split(predicate[4:-1]) if part.strip()]
        return bool(parts) and all(requires_test(part) for part in parts)
    return False


def split(text):
    """The parts of a text between the commas that are in no bracket. `<` and `>` count as brackets, but for `->` and `=>`."""
    parts, depth, start = [], 0, 0
    for at, character in enumerate(text):
        if character in OPEN or character == "<":
            depth += 1
        elif character in CLOSE or (character == ">" and text[at - 1 : at] not in ("-", "=")):
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return [*parts, text[start:]]


ATTRIBUTE = re.compile(r"#(!?)\s*\[")
IS_TEST = re.compile(r"\[\s*(?:[a-z_]+\s*::\s*)?(?:test|bench)\s*(?:\([^\]]*\))?\s*\]")
CFG = re.compile(r"\[\s*cfg\s*\((.*)\)\s*\]", re.DOTALL)
DOC = re.compile(r"\[\s*doc\s*=.*\]", re.DOTALL)
VISIBILITY = r"(?:pub\s*(?:\([^)]*\)\s*)?)?"
# Items that end with `;` although they have braces.
TO_SEMICOLON = re.compile(VISIBILITY + r"(?:use|const(?!\s+(?:unsafe\s+)?fn)|static|type|let|extern\s+crate)\b")
# Other items. What is neither may be a field, a variant, an arm or an argument, which end with a comma.
ITEM = re.compile(VISIBILITY + r"(?:(?:const|async|unsafe|default)\s+)*(?:fn|struct|enum|union|trait|impl|mod|macro_rules|extern)\b")


def item_end(code, at):
    """Returns the offset behind the item that begins at `at`, behind its attributes."""
    while (attribute := ATTRIBUTE.match(code, at)) and not attribute[1]:
        at = closing(code, attribute.end() - 1)
        at += len(code[at:]) - len(code[at:].lstrip())
    braces_end = not TO_SEMICOLON.match(code, at)
    comma_ends = braces_end and not ITEM.match(code, at)
    place = at
    while place < len(code):
        character = code[place]
        if character == ";":
            return place + 1
        if character == "," and comma_ends and not is_open(code[at:place]):
            return place + 1
        # The end of what the field, the variant, the arm or the argument is in.
        if character in CLOSE:
            return place
        if character in OPEN:
            place = closing(code, place)
            if character == "{" and braces_end:
                return place + 1 if code[place : place + 1] == "," else place
            continue
        place += 1
    return len(code)


def is_open(text):
    """Whether a `<` is not closed."""
    return text.count("<") > text.count(">") - text.count("->") - text.count("=>")


MOD = re.compile(r"\bmod\s+(?:r#)?([A-Za-z_]\w*)\s*([;{])")
PATH = re.compile(r"\bpath\s*=\s*\"([^\"]*)\"")


class Source:
    """A file of Rust: its text, its code, which parts of it are tests, and the modules that it declares."""

    def __init__(self, text):
        self.text = text
        self.code = mask(text)
        self.is_test = False
        self.tests = []
        docs = []
        for attribute in ATTRIBUTE.finditer(self.code):
            if self.tests and attribute.start() < self.tests[-1][1]:
                continue
            end = closing(self.code, attribute.end() - 1)
            content = self.code[attribute.end() - 1 : end]
            cfg = CFG.fullmatch(content)
            if (cfg and requires_test(cfg[1])) or (not attribute[1] and IS_TEST.fullmatch(content)):
                if attribute[1]:
                    self.is_test = True
                else:
                    start = self.first_attribute(attribute.start())
                    self.tests.append((start, item_end(self.code, attribute.start())))
            elif DOC.fullmatch(content):
                docs.append((attribute.start(), end))
        self.code = blank(self.code, docs)

    def first_attribute(self, at):
        """The attributes in front of the one that says that an item is a test belong to it too."""
        while (before := self.code[:at].rstrip()).endswith("]"):
            opened = [found.start() for found in ATTRIBUTE.finditer(self.code, 0, len(before))]
            opened = [start for start in opened if closing(self.code, self.code.index("[", start)) == len(before)]
            if not opened or self.code[opened[-1] + 1] == "!":
                break
            at = opened[-1]
        return at

    def product(self):
        """The code that is no test."""
        return "" if self.is_test else blank(self.code, self.tests)

    def modules(self):
        """The modules in other files: (folders of inline modules, name, paths that attributes name, whether it is a test)."""
        inline = [(found[1], found.end(), closing(self.code, found.end() - 1)) for found in MOD.finditer(self.code) if found[2] == "{"]
        for found in MOD.finditer(self.code):
            if found[2] == "{":
                continue
            at = found.start()
            around = [name for name, start, end in inline if start <= at < end]
            # Attributes stand between the end of the item before and this one.
            start = max(self.code.rfind(edge, 0, at) for edge in ";{}") + 1
            is_test = any(first <= at < last for first, last in self.tests)
            yield around, found[1], PATH.findall(self.text[start:at]), is_test


def blank(code, spans):
    """Replaces these parts by blanks."""
    for start, end in spans:
        code = code[:start] + NOT_NEWLINE.sub(" ", code[start:end]) + code[end:]
    return code


def lines(code):
    return sum(1 for line in code.splitlines() if line.strip())


FN = re.compile(r"\bfn\s+(?:r#)?([A-Za-z_$]\w*)\s*")
MUT = re.compile(r"^&\s*(?:'\w+\s+)?mut\b")
POLL_CONTEXT = re.compile(r"\buse\s[^;]*\btask::(?:Context\b|\{[^}]*\bContext\b)")
STRUCT = re.compile(r"\b(?:struct|enum|type)\s+(\w*Context|ServerRequests)\b")


def signatures(code):
    """The functions of a file: (line, name, types of the parameters without the receiver)."""
    for found in FN.finditer(code):
        at = found.end()
        if code[at : at + 1] == "<":
            depth = 0
            while at < len(code):
                depth += {"<": 1, ">": 0 if code[at - 1] in "-=" else -1}.get(code[at], 0)
                at += 1
                if depth == 0:
                    break
            at += len(code[at:]) - len(code[at:].lstrip())
        if code[at : at + 1] != "(":
            continue
        types = []
        for parameter in split(code[at + 1 : closing(code, at) - 1]):
            pattern, colon, kind = parameter.partition(":")
            if colon and pattern.split()[-1:] != ["self"]:
                types.append(" ".join(kind.split()))
        yield code.count("\n", 0, found.start()) + 1, found[1], types


def is_context(kind, contexts, polls):
    """Whether a parameter of this type is a context. `polls`: `Context` is that of a future in this file."""
    name = re.match(r"(?:&\s*(?:'\w+\s+)?(?:mut\s+)?)?((?:\w+\s*::\s*)*)(\w+)", kind)
    return bool(name) and name[2] in contexts and not (name[2] == "Context" and (polls or "task" in name[1]))
