"""What a header declares: a small parser of C++ declarations and the docstrings above them.

It knows as much of the language as the headers of this library use. It doesn't look into the bodies of
functions, and takes a `<` after a name for the beginning of template arguments, except behind a `=`.
"""

import re
from dataclasses import dataclass, field

TOKEN = re.compile(
    r"""(?P<doc>///(?!/)[^\n]*) | //[^\n]* | /\*.*?\*/ | ^[ ]*\#(?:[^\n]*\\\n)*[^\n]*
    | (?P<string>R"(?P<d>[^()\\\s]*)\(.*?\)(?P=d)" | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])')
    | (?P<word>[A-Za-z_]\w*) | (?P<number>\d(?:[\w.]|'\w)*)
    | (?P<punct>::|->|&&|\|\||\.\.\.|\S)""",
    re.DOTALL | re.VERBOSE | re.MULTILINE,
)
CLOSING = {"(": ")", "[": "]", "{": "}"}
SPECIFIERS = {"explicit", "constexpr", "consteval", "inline", "static", "virtual", "friend", "extern",
              "mutable", "typename"}
# What may stand before a parenthesis that begins no parameters.
NO_NAMES = {"alignas", "explicit", "noexcept", "decltype", "requires", "static_assert", "sizeof"}


@dataclass
class Token:
    kind: str
    text: str
    line: int


@dataclass
class Declaration:
    kind: str  # namespace, namespace alias, class, enum, enumerator, concept, alias, variable, field, function, guide
    name: str
    first: int  # lines, of what is declared, without its docstring
    last: int
    scope: str  # in which namespaces and classes
    public: bool
    doc: list = field(default_factory=list)  # its lines
    members: list = field(default_factory=list)
    key: str = ""  # struct, class or union
    bases: str = ""
    type: str = ""  # of a variable, a field or what a function returns
    before: list = field(default_factory=list)  # the words that stand before: static, friend, ...
    attributes: str = ""
    parameters: list = field(default_factory=list)  # (type, name)
    after: str = ""  # of a function: const, noexcept, override, = default, ...
    body: str = ""
    specialises: bool = False
    parent: object = None

    def whole_name(self):
        return f"{self.scope}::{self.name}"

    def each(self):
        """Itself and all that is declared inside."""
        yield self
        for member in self.members:
            yield from member.each()


def lex(text):
    tokens = []
    for match in TOKEN.finditer(text):
        if kind := next((k for k in ("doc", "string", "word", "number", "punct") if match[k]), None):
            tokens.append(Token(kind, match[0], text.count("\n", 0, match.start()) + 1))
    return tokens


def join(tokens):
    """As text, with a space only where two words would become one."""
    text = ""
    for token in tokens:
        if text and re.match(r"\w", token.text) and re.search(r"\w$|[>&*,]$", text):
            text += " "
        text += token.text
    return text


class Parser:
    def __init__(self, text, with_definitions):
        self.tokens = lex(text)
        self.at = 0
        self.with_definitions = with_definitions

    def peek(self):
        return self.tokens[self.at].text if self.at < len(self.tokens) else None

    def skip_balanced(self):
        """Past the bracket that closes the one here; what stands between."""
        opening = self.tokens[self.at].text
        begin = self.at
        depth = 0
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token.kind == "punct":
                depth += token.text in CLOSING
                depth -= token.text in CLOSING.values()
            self.at += 1
            if depth == 0:
                return [t for t in self.tokens[begin + 1:self.at - 1] if t.kind != "doc"]
        raise ValueError(f"line {self.tokens[begin].line}: nothing closes this {opening}")

    def skip_angles(self):
        begin = self.at
        depth = 0
        while True:
            text = self.peek()
            if text in CLOSING:
                self.skip_balanced()
                continue
            depth += (text == "<") - (text == ">")
            self.at += 1
            if depth == 0:
                return self.tokens[begin:self.at]

    def scope(self, name, kind, inside, public):
        """The declarations up to the brace that closes the scope."""
        found, doc = [], []
        while self.at < len(self.tokens) and self.peek() != "}":
            token = self.tokens[self.at]
            if token.kind == "doc":
                self.at += 1
                if token.text.startswith("///<") and found:
                    found[-1].doc.append(token.text[4:])
                else:
                    doc.append(token.text[3:])
                continue
            if inside == "class" and token.text in ("public", "protected", "private"):
                public = token.text != "private"
                self.at += 2
                continue
            if token.text == ";":
                self.at += 1
                continue
            one = self.declaration(name, inside, public)
            if one and (one.kind != "definition" or self.with_definitions):
                one.doc = doc
                found.append(one)
            doc = []
        return found

    def declaration(self, scope, inside, public):
        first = self.tokens[self.at].line
        head, attributes, template = [], "", False
        body = None
        parameters = None  # where they are in head, and the tokens
        initialised = False  # behind the `:` of a constructor
        while True:
            token = self.tokens[self.at]
            text = token.text
            before = head[-1].text if head else ""
            if token.kind == "doc":
                self.at += 1
            elif text == "template" and not head:
                self.at += 1
                template = True
                if self.peek() == "<":
                    self.skip_angles()
            elif text == "[" and self.tokens[self.at + 1].text == "[" and before != "operator":
                attributes += join(self.skip_balanced())
            elif text == "requires":
                self.skip_requires()
            elif text == "namespace":
                return self.namespace(scope)
            elif text == "operator":
                # Its name goes up to the parameters: `operator()(`, `operator co_await(`.
                head.append(token)
                self.at += 1
                name = []
                while self.peek() != ";" and (self.peek() != "(" or not name):
                    if self.peek() in ("(", "["):
                        name += [self.tokens[self.at], self.tokens[self.at + 1]]
                        self.at += 2
                    else:
                        name.append(self.tokens[self.at])
                        self.at += 1
                space = " " if name[0].kind == "word" else ""
                head[-1] = Token("word", "operator" + space + join(name), token.line)
            elif text == "(":
                group_at = len(head)
                group = self.skip_balanced()
                if parameters is None and before not in NO_NAMES and head and not initialised:
                    parameters = (group_at, group)
                elif not initialised:
                    head.append(Token("group", "(" + join(group) + ")", token.line))
            elif text == "<" and head and head[-1].kind == "word":
                head += self.skip_angles()
            elif text == "=" and not before.startswith("operator="):
                return self.after_equals(scope, inside, public, first, head, attributes, template, parameters)
            elif text == ":" and parameters is not None:
                initialised = True
                self.at += 1
            elif text == "{":
                key = self.key_of(head) if parameters is None else None
                if key == "enum":
                    return self.enum(scope, public, first, head)
                if key:
                    return self.type(scope, public, first, head, attributes, key)
                if parameters is None or (initialised and self.tokens[self.at - 1].kind == "word") or \
                        (initialised and self.tokens[self.at - 1].text == ">"):
                    self.skip_balanced()
                    continue
                body = join(self.skip_balanced())
                break
            elif text == ";":
                self.at += 1
                break
            else:
                if not initialised:
                    head.append(token)
                self.at += 1
        return self.finish(scope, inside, public, first, head, attributes, template, parameters, body, "")

    def skip_requires(self):
        """A clause or an expression, with all that `&&` and `||` put behind it."""
        self.at += 1
        while True:
            if self.peek() == "!":
                self.at += 1
            if self.peek() == "requires":
                self.at += 1
                if self.peek() == "(":
                    self.skip_balanced()
                self.skip_balanced()
            elif self.peek() == "(":
                self.skip_balanced()
            elif self.peek() == "{":
                self.skip_balanced()
            else:
                while self.tokens[self.at].kind == "word" or self.peek() == "::":
                    self.at += 1
                    if self.peek() == "<":
                        self.skip_angles()
                    if self.peek() != "::" and self.tokens[self.at - 1].text != "::":
                        break
            if self.peek() not in ("&&", "||"):
                return
            self.at += 1

    @staticmethod
    def key_of(head):
        words = [t.text for t in head]
        return next((k for k in ("enum", "class", "struct", "union") if k in words), None)

    def namespace(self, scope):
        first = self.tokens[self.at].line
        self.at += 1
        words = []
        while self.peek() not in ("{", ";"):
            words.append(self.tokens[self.at].text)
            self.at += 1
        self.at += 1
        name = "".join(words).partition("=")[0]
        if self.tokens[self.at - 1].text == ";":
            return Declaration("namespace alias", name, first, first, scope, True)
        one = Declaration("namespace", name, first, first, scope, True)
        one.members = self.scope(f"{scope}::{name}".lstrip(":"), "namespace", "namespace", True)
        one.last = self.tokens[self.at].line
        self.at += 1
        return one

    def type(self, scope, public, first, head, attributes, key):
        words = [t for t in head]
        at = next(i for i, t in enumerate(words) if t.text == key)
        colon = next((i for i, t in enumerate(words) if t.text == ":"), len(words))
        named = [t for t in words[at + 1:colon] if t.text not in ("final", "alignas") and t.kind != "group"]
        name = join(named)
        plain = name if "::" in name else name.split("<")[0]
        one = Declaration("class", plain, first, first, scope, public, key=key,
                          bases=join(words[colon + 1:]), attributes=attributes,
                          specialises=name.endswith(">"))
        self.at += 1
        one.members = self.scope(f"{scope}::{one.name}", key, "class", key != "class")
        for member in one.members:
            member.parent = one
        self.at += 1
        while self.peek() != ";":
            self.at += 1
        one.last = self.tokens[self.at].line
        return one

    def enum(self, scope, public, first, head):
        words = [t.text for t in head if t.text not in ("enum", "class", "struct")]
        one = Declaration("enum", words[0] if words else "", first, first, scope, public)
        self.at += 1
        doc = []
        while self.peek() != "}":
            token = self.tokens[self.at]
            self.at += 1
            if token.kind == "doc" and one.members and token.text.startswith("///<"):
                one.members[-1].doc.append(token.text[4:])
            elif token.kind == "doc":
                doc.append(token.text[3:])
            elif token.kind == "word" and self.tokens[self.at - 2].text != "=":
                one.members.append(Declaration("enumerator", token.text, token.line, token.line,
                                               f"{scope}::{one.name}", public, doc, parent=one))
                doc = []
        self.at += 1
        one.last = self.tokens[self.at].line
        return one

    def after_equals(self, scope, inside, public, first, head, attributes, template, parameters):
        """Past an initialiser, a `= default` or what a name stands for."""
        begin = self.at + 1
        while self.peek() != ";":
            if self.peek() in CLOSING:
                self.skip_balanced()
            else:
                self.at += 1
        tail = join(t for t in self.tokens[begin:self.at] if t.kind != "doc")
        self.at += 1
        return self.finish(scope, inside, public, first, head, attributes, template, parameters, None, tail)

    def finish(self, scope, inside, public, first, head, attributes, template, parameters, body, tail):
        last = self.tokens[self.at - 1].line
        words = [t.text for t in head]
        if not words or words[0] in ("static_assert", "extern"):
            return None
        if parameters is None and not tail and (self.key_of(head) or words[0] == "friend"):
            return None  # a declaration in advance, or a friend
        one = Declaration("variable", "", first, last, scope, public, attributes=attributes)
        one.before = [w for w in words if w in SPECIFIERS]
        if words[0] == "using":
            if not tail:
                return None  # another scope's name
            one.kind, one.name, one.type = "alias", words[1], tail
        elif "concept" in words:
            one.kind, one.name = "concept", words[-1]
        elif parameters is not None:
            at, group = parameters
            self.function(one, head[:at], head[at:], group, body, tail)
        else:
            plain = [t for t in head if t.text not in SPECIFIERS]
            names = [t for t in plain if t.kind == "word"]
            one.specialises = plain[-1].text == ">"
            one.name = names[-1].text
            one.type = join(plain[:-1])
            one.kind = "field" if inside == "class" and "static" not in words else "variable"
        return one

    def function(self, one, front, back, group, body, tail):
        one.kind = "function"
        plain = [t for t in front if t.text not in SPECIFIERS and t.kind != "group"]
        one.name = plain[-1].text
        if len(plain) > 1 and plain[-2].text == "~":
            one.name = "~" + one.name
            plain = plain[:-2] + plain[-1:]
        if len(plain) > 2 and plain[-2].text == "::" or one.name == ">":
            # Declared, and documented, inside of its class.
            one.kind = "definition"
            one.name = re.sub(r"<[^<>]*>", "", join(t for t in qualified_name(plain[:-1]))) + one.name
        else:
            one.type = join(plain[:-1])
        words = [t.text for t in back]
        if "->" in words:
            at = words.index("->")
            if not one.type and one.kind == "function":
                one.kind = "guide"
            one.type = join(back[at + 1:])
            back = back[:at]
        one.after = " ".join(t.text for t in back) + (f" = {tail}" if tail else "")
        one.body = body or ""
        one.parameters = [parameter(tokens) for tokens in split(group)]


def qualified_name(tokens):
    """The last of these tokens that are names of classes, with their template arguments and `::`."""
    at = depth = 0
    for at in range(len(tokens), 0, -1):
        token = tokens[at - 1]
        depth += (token.text == ">") - (token.text == "<")
        after = tokens[at].text if at < len(tokens) else ""
        if depth == 0 and token.text not in ("::", "<") and (token.kind != "word" or after not in ("::", "<")):
            return tokens[at:]
    return tokens


def split(tokens):
    """Parameters, by the commas between them."""
    parts, depth = [[]], 0
    for token in tokens:
        depth += token.text in ("(", "[", "{", "<")
        depth -= token.text in (")", "]", "}", ">")
        if token.text == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return [part for part in parts if part]


def parameter(tokens):
    texts = [t.text for t in tokens]
    if "=" in texts:
        tokens = tokens[:texts.index("=")]
    if len(tokens) > 1 and tokens[-1].kind == "word" and tokens[-2].text != "::" and \
            tokens[-2].text not in ("const", "unsigned"):
        return join(tokens[:-1]), tokens[-1].text
    return join(tokens), ""


def declarations_in(text, with_definitions=False):
    """All that stands in a header, one inside of the other; members that are defined outside of their class if asked for."""
    return Parser(text, with_definitions).scope("", "namespace", "namespace", True)
