#!/usr/bin/env python3
"""Checks that each public declaration has a docstring, and that the docstring has the parts that apply.

    tests/house/docs.py [ROOT]       checks ROOT/include/weir (the default: this repository's)
    tests/house/docs.py --self-test  shows, on a small header, that each rule can fail

A declaration is public if it is neither in a namespace detail nor in a private section. A docstring consists of lines of `///`
above a class, concept, enum, enumerator, function, field, or an alias or variable of a namespace; or of `///<` behind it. An
overload that follows without an empty line shares the docstring before it. A docstring that begins with "The same" adds
to the one before it. Declarations whose names explain them need no docstring: see `speaks_for_itself`.

Parts of a docstring have names, as `Errors: ...`, at the begin of a line or after a sentence. The declaration decides which
of them apply:

- Suspends, Resumes: a function that returns an awaitable.
- Errors:    a function that is not noexcept, unless it can only run out of memory. Each exception that the function, or the
             constructor of its result, throws itself is named.
- Threads:   a class with members that threads share: an atomic object, a lock, a shared_ptr, ...
- Lifetime:  a class that keeps a pointer, a reference or a view; a function that returns one, or an object made from one.
             A sentence with "outlives" is enough.
- (a unit):  a number, as parameter or field: what it counts, or its bounds. A duration has its unit.
- \returns:  a function whose first sentence says what it does, and not what it returns.
- Order:     a function that makes a stage.
- Cost:      a class whose memory grows, or is shared.
- Source:    headers that implement a published algorithm.

A statement about all members of a class is in the docstring of the class.

Code in a docstring, indented by four after an empty line, must be in tests/refusals/docstrings.pass.cpp to the letter; the
tests compile that file. Exceptions: cuda/, mpi/, asio/, execution/ and SQLite, which need other libraries, and output: `[...`.
"""

import functools
import re
import sys
import tempfile
import textwrap
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent / "docs"))
import declarations  # noqa: E402

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
import check  # noqa: E402

parsed = functools.cache(declarations.declarations_in)
FIELDS = ("Suspends", "Resumes", "Order", "Ends", "Stops", "Errors", "Threads", "Lifetime", "Units", "Cost",
          "Source", "See")

# Names that the language, or a pipeline, requires; users don't call them.
PROTOCOL = {
    "promise_type", "iterator", "begin", "end", "swap",
    "await_ready", "await_suspend", "await_resume", "ready_at", "ready_at_once",
    "attach", "each_options", "describe", "remark", "stages",
    "operator co_await", "operator+", "operator-", "operator==", "operator<=>", "operator*", "operator->",
    "operator++",
}
ALGORITHMS = {"executor/thread_pool.hpp", "measure/histogram.hpp", "sampling/permutation.hpp",
              "sampling/weighted_sampler.hpp", "task/task.hpp"}

NUMBER = re.compile(
    r"(const )?(std::)?(u?int\d+_t|size_t|ptrdiff_t|unsigned|int|long|double|float)( long| int)*")
UNIT = re.compile(
    r"\b(how (many|much|often|long|far)|numbers?|count|items?|bytes|bits|ns|nanoseconds|seconds|times|place"
    r"|position|index|indices|percent|rate|share|factor|weights?|from 0|below|at least|at most|slots|threads"
    r"|stages|steps|parts|schedules|epochs?|ranks?|seed|draws|failures|kinds|each so many-th|checksum)\b",
    re.I)
SHARED = re.compile(r"\b(atomic|spin_lock|biased_lock|mutex|shared_ptr|parker|inbox|wait_site)\b")
GROWS = re.compile(r"\b(unique_ptr|vector|deque|array|unordered_map|recorder|queue)\b")
# A public `const char*` is always a literal.
REFERENCE = re.compile(r"(?!const char\*$).*([*&]|\bspan<.*>|\bstring_view|\breference_wrapper<.*>)$")
# An argument that may be kept. (Streams are used at once, and rvalues are moved.)
MUTABLE_REFERENCE = re.compile(r"(?!const\b|std::[io]stream\b)(.*[^&]&|.*\*)$")
OUTLIVES = re.compile(r"\boutlives?\b", re.I)
GIVES = re.compile(r"\\returns|\b(returns?|gives?|given)\b")
NO_VERB = "As|Has|Is|Its|This|Whether|Items|Stages|Others|Names|Statistics"
VERB = re.compile(rf"(?!({NO_VERB})\b)[A-Z][a-z]+s\b")


def says(text, part):
    """Whether a docstring has that part, or refers to another one for all that it doesn't say."""
    pattern = rf"(^|[.;:!] +){part}\b[^.:\n]*:|\b[Ee]verything else is as for\b"
    return re.search(pattern, text, re.M) is not None


def is_special(d):
    """A destructor, a constructor of no arguments, and what is deleted, defaulted, copies or moves."""
    own = d.scope.split("::")[-1].split("<")[0]
    if d.name.startswith("~") or re.search(r"= (default|delete)$", d.after):
        return True
    if d.name not in (own, "operator=") or len(d.parameters) > 1:
        return False
    itself = rf"(const )?{own}(<[^>]*>)?&{{0,2}}"
    return not d.parameters or re.fullmatch(itself, d.parameters[0][0]) is not None


def is_constructor(d):
    return d.parent is not None and d.name == d.parent.name


def is_internal(d):
    return d.name == "WEIR_COMPILED" or d.kind == "namespace" and d.name.split("::")[-1] == "detail"


def speaks_for_itself(d):
    name = d.name.split("::")[-1]
    if name in PROTOCOL and (d.parent or name.startswith("operator") or "::" in d.name):
        return True
    if d.specialises or (d.parent and speaks_for_itself(d.parent)):
        return True
    if d.kind == "function":
        # The base explains overridden functions.
        return is_special(d) or "override" in d.after
    if d.kind == "enumerator":
        return f"`{d.name}`" in "".join(d.parent.doc)
    # In a class: traits for other code.
    return d.kind == "guide" or (d.kind in ("alias", "variable") and d.parent is not None)


def only_refuses(d):
    """An overload that is there for its message alone."""
    refusal = r"\s*(static_assert\((\"[^\"]*\"|[^;\"])*\);?\s*)+(return[^;]*;?\s*)?"
    return re.fullmatch(refusal, d.body) is not None


def returns_itself(d):
    return re.search(r"return ?[*] ?this;", d.body) is not None


def returns_member(d):
    """What lives as long as its object, as everybody expects."""
    return re.search(r"return (std::move\()?[*]?\w+_\)?;$", d.body) is not None


def returned_names(d):
    words = set(re.findall(r"\w+", d.type))
    if words & {"auto", "decltype"}:
        words |= set(re.findall(r"return (?:\w+::)*(\w+)", d.body))
    return words


def exceptions_in(body):
    return re.findall(r"\bthrow (?:\w+::)*(\w+)\(", body)


def shares_docstring(before, d):
    """An overload on the line after the one that has it."""
    return (before is not None and bool(before.doc) and not d.doc and d.kind == "function"
            and before.name == d.name and before.last + 1 == d.first)


def private_fields(d):
    return [m for m in d.members if m.kind == "field" and not m.public]


SAMPLES = "tests/refusals/docstrings.pass.cpp"
NEED_MORE = ("asio/", "cuda/", "execution/", "mpi/", "report/sqlite")


def samples_in(text):
    """(number of the first line, lines) of each piece of code that a docstring shows."""
    lines = text.split("\n")
    for i, before in enumerate(lines[:-1]):
        sample = []
        while before.strip() == "///" and (match := re.match(r"\s*///     (\s*\S.*)", lines[i + 1 + len(sample)])):
            sample.append(match[1])
        if sample and not sample[0].startswith("["):
            yield i + 2, sample


def stands_in(sample, lines):
    starts = (i for i, line in enumerate(lines) if line.strip() == sample[0].strip())
    return any(textwrap.dedent("\n".join(lines[i:i + len(sample)])).split("\n") == sample for i in starts)


# The rules. Each gets a declaration, its docstring, and that of its class; it returns a problem, or None. Rules for functions
# apply only if there is something to explain.


def suspends(header, d, own, all_of_it):
    if not (returned_names(d) & header.kinds["awaited"] or re.search(r"\bco_await this\b", d.attributes)
            or re.search(r"returns\s+awaitable", own)):
        return None
    missing = [f"`{part}:`" for part in ("Suspends", "Resumes") if not says(all_of_it, part)]
    return "is awaited and doesn't say " + " nor ".join(missing) if missing else None


def errors(header, d, own, all_of_it):
    if "noexcept" in d.after or says(all_of_it, "Errors"):
        return None
    if not re.search(r"\bthrow\b", d.body):
        lacks_only_memory = re.search(r"^std::(string|vector<.*>|ostream&)$", d.type)
        keeps_arguments = is_constructor(d) and d.body == ""
        if lacks_only_memory or keeps_arguments or "catch(...)" in d.body:
            return None
    return "isn't noexcept and doesn't say `Errors:`"


def thrown(header, d, own, all_of_it):
    if "noexcept" in d.after:
        return None
    names = exceptions_in(d.body)
    for made in returned_names(d) & header.kinds["throws"].keys():
        names += header.kinds["throws"][made]
    missing = [name for name in names if name not in all_of_it]
    return f"throws {missing[0]}, which its docstring doesn't name" if missing else None


def threads(header, d, own, all_of_it):
    shared = [m.name for m in private_fields(d) if SHARED.search(m.type)]
    return f"has {shared[0]}, and doesn't say `Threads:`" if shared and not says(own, "Threads") else None


def cost(header, d, own, all_of_it):
    grows = [m.name for m in private_fields(d) if SHARED.search(m.type) or GROWS.search(m.type)]
    if not grows or says(own, "Cost") or "std::runtime_error" in d.bases:
        return None
    return f"has {grows[0]}, and doesn't say `Cost:`"


def source(header, d, own, all_of_it):
    if header.name not in ALGORITHMS or any("Source:" in each.text for each in header.found):
        return None
    return "implements an algorithm, and its header doesn't say `Source:`"


def kept(header, d, own, all_of_it):
    if says(all_of_it, "Lifetime") or OUTLIVES.search(own):
        return None
    fields = (m for m in d.members if m.kind == "field")
    names = [m.name for m in fields if REFERENCE.match(m.type) and not OUTLIVES.search(m.text)]
    return f"keeps {names[0]}, and doesn't say `Lifetime:`" if names else None


def lifetime(header, d, own, all_of_it):
    if says(all_of_it, "Lifetime") or OUTLIVES.search(own):
        return None
    if REFERENCE.match(d.type) and d.type != "std::ostream&" and not (returns_member(d) or returns_itself(d)):
        return f"returns {d.type}, and doesn't say `Lifetime:`"
    if d.type in ("void", "bool") and not is_constructor(d):
        return None
    names = [name for type_, name in d.parameters if MUTABLE_REFERENCE.match(type_)]
    return f"refers to its argument {names[0]}, and doesn't say `Lifetime:`" if names else None


def number_of_what(header, d, own, all_of_it):
    if not NUMBER.fullmatch(d.type) or d.name.startswith("num_"):
        return None
    if UNIT.search(all_of_it) or says(all_of_it, "Units"):
        return None
    return "is a number and doesn't say of what"


def units(header, d, own, all_of_it):
    numbers = [name for type_, name in d.parameters if NUMBER.fullmatch(type_)]
    if not numbers or UNIT.search(all_of_it) or says(all_of_it, "Units"):
        return None
    return f"takes the number {numbers[0]} and doesn't say of what"


def returns(header, d, own, all_of_it):
    nothing = d.type in ("", "void", "std::ostream&") or (d.type == "auto" and "return" not in d.body)
    if nothing or returns_itself(d) or returned_names(d) & header.kinds["stages"] or GIVES.search(own):
        return None
    return "says what it does and not what it `\\returns`" if VERB.match(own) else None


def order(header, d, own, all_of_it):
    makes_stage = returned_names(d) & header.kinds["stages"]
    return "makes a stage and doesn't say `Order:`" if makes_stage and not says(own, "Order") else None


RULES = {
    "class": (threads, kept, cost, source),
    "field": (number_of_what,),
    "function": (suspends, errors, thrown, lifetime, units, returns, order),
}


class Header:
    """The public declarations of a header, each with its docstring as a text."""

    def __init__(self, name, text, kinds):
        self.name = name
        self.kinds = kinds
        self.found = []
        top = parsed(text)
        for d in (d for each in top for d in each.each()):
            d.text = "\n".join(line.strip() for line in d.doc)
        self.walk(top)

    def walk(self, members):
        before = None
        for d in members:
            if not d.public or is_internal(d):
                before = None
                continue
            if shares_docstring(before, d):
                d.doc, d.text = before.doc, before.text
            if before and re.match(r"The same\b", d.text):
                d.text += "\n" + before.text
            before = d
            if d.kind != "namespace":
                self.found.append(d)
            if not speaks_for_itself(d):
                self.walk(d.members)

    def problems(self):
        for d in self.found:
            simple = speaks_for_itself(d)
            if not d.doc and not simple:
                yield d.first, f"{d.kind} {d.name} has no docstring"
            explained = "override" in d.after or d.name.startswith("operator")
            if (simple and (explained or not d.doc)) or only_refuses(d):
                continue
            all_of_it = f"{d.text}\n{d.parent.text if d.parent else ''}"
            for rule in RULES.get(d.kind, ()):
                if wrong := rule(self, d, d.text, all_of_it):
                    yield d.first, f"{d.kind} {d.name} {wrong}"


def kinds_of(texts):
    """The names of all classes, those of detail, too, that can be awaited, or describe a stage; and what
    their constructors throw."""
    kinds = {"awaited": set(), "stages": {"stage_base"}, "throws": {}}
    functions, derived = [], []
    for top in (top for text in texts for top in parsed(text)):
        functions += [d for d in top.members if d.kind == "function" and top.name == "weir"]
        for d in (d for d in top.each() if d.kind == "class"):
            # The operator of a friend is that of a named object, which works without being awaited: a run.
            if any(m.name in ("await_suspend", "operator co_await") and "friend" not in m.before for m in d.members):
                kinds["awaited"].add(d.name.split("::")[-1])
            derived.append((d.name, set(re.findall(r"\w+", d.bases))))
            if names := [n for m in d.members if m.name == d.name for n in exceptions_in(m.body)]:
                kinds["throws"][d.name] = names
    while more := {name for name, bases in derived if bases & kinds["stages"]} - kinds["stages"]:
        kinds["stages"] |= more
    # A function that calls a function that makes a stage makes one, too.
    kinds["stages"] |= {d.name for d in functions if returned_names(d) & kinds["stages"]}
    return kinds


def signature(d):
    """By which a declaration and its definition outside of the class are the same."""
    return re.sub(r"<[^<>]*>", "", d.whole_name()), tuple(kind for kind, _ in d.parameters)


def take_bodies(text, bodies):
    """Gives the functions that a header declares the bodies that its .ipp files have."""
    defined = {signature(d): d.body for top in declarations.declarations_in(bodies, with_definitions=True)
               for d in top.each() if d.kind in ("function", "definition")}
    for top in parsed(text):
        for d in top.each():
            if d.kind == "function" and not d.body:
                d.body = defined.get(signature(d), "")


def problems_in(root):
    folder = Path(root) / "include" / "weir"
    texts = {p.relative_to(folder).as_posix(): p.read_text(encoding="utf-8")
             for p in sorted(folder.rglob("*.hpp"))}
    for name, text in texts.items():
        for bodies in re.findall(r"^#include <weir/(\S+\.ipp)>$", text, re.MULTILINE):
            take_bodies(text, (folder / bodies).read_text(encoding="utf-8"))
    kinds = kinds_of(texts.values())
    found = [f"include/weir/{name}:{line}: {what}"
             for name, text in texts.items()
             for line, what in Header(name, text, kinds).problems()]
    compiled = Path(root) / SAMPLES
    lines = compiled.read_text(encoding="utf-8").split("\n") if compiled.exists() else []
    return found + [f"include/weir/{name}:{line}: shows what isn't in {SAMPLES}"
                    for name, text in texts.items() if not name.startswith(NEED_MORE)
                    for line, sample in samples_in(text) if not stands_in(sample, lines)]


# Everything that the parser must understand, without a violation.
GOOD = r'''
// weir room: a header
#ifndef WEIR_X_HPP
#define WEIR_X_HPP
namespace weir {

namespace detail {
struct hidden { int what; int f() { throw 1; } };
class wait_operation { public: bool await_ready(); void await_suspend(int); void await_resume(); };
struct stage_base {};
struct base_of_map : stage_base {};
struct map_stage : base_of_map { map_stage(int n) { if (n < 0) throw std::range_error("weir: n"); } };
}  // namespace detail

/// Can be used.
template <class T>
concept usable = requires(T& t) { t.use(); { t.size() } -> std::convertible_to<bool>; } && !std::is_void_v<T>;

/// A colour.
enum class colour : std::uint8_t {
    red,  ///< the first
    green = 7,  ///< the second
    /// The last.
    blue
};

/// `first` goes before `second`.
enum class place { first, second };

/// Of a box.
struct box_options {
    /// How many items, at least 1.
    std::size_t capacity = 2;
    std::string name = R"(a "name"; {)";  ///< of the box
    weir::executor* where = nullptr;      ///< outlives the box
    std::function<void(int)> call = {};   ///< called { never
    std::uint64_t num_calls{0};           ///< so far
};

/// A box, `x > 0 ? "{" : "}"`.
///
/// Threads: any. Cost: a lock.
/// Lifetime: the executor outlives it.
template <class T, std::size_t N = (4 > 3)>
    requires(usable<T> && N < 100)
class [[nodiscard("keep it")]] box final : public std::vector<T> {
    static_assert(sizeof(T) > 0, "weir: no; {");

  public:
    using value_type = T;
    class iterator;
    static constexpr int most = 3;
    box() noexcept = default;
    box(box&& other) noexcept : n_{other.n_}, ex_(other.ex_) {}
    box& operator=(const box&) = delete;
    ~box() { if (n_ > 0) { clear(); } }

    /// \param n  how many items.
    /// Errors: `std::invalid_argument` for 0.
    explicit box(std::size_t n, executor& ex) : n_{n}, ex_(&ex) {
        if (n == 0) throw std::invalid_argument("weir: 0; \"{");
    }

    /// Takes the next item.
    /// \returns  awaitable of an item.
    /// Suspends: while there is none. Resumes: on the awaiter's executor.
    [[nodiscard("co_await this, or nothing is got")]] auto get() noexcept {
        return detail::wait_operation(*this);
    }

    /// How many items there are.
    [[nodiscard]] std::size_t size() const noexcept(true) { return n_; }
    [[nodiscard]] const T& front() const noexcept { return front_; }  ///< the first one

    /// Rejects what can't be used at compile time.
    void put(int) { static_assert(N == 0, "weir: no"); }

    /// Puts an item in. \returns whether there was room.
    /// Errors: those of copying it.
    template <class U>
        requires requires(U& u) { u.x; }
    bool put(const U& item, int = 3) requires usable<U> { return push(item) < 3; }
    bool put(T&& item) { return true; }

    friend bool operator==(const box& a, const box& b) { return a.n_ < b.n_ || a.n_ == 0; }
    friend class other;
    std::size_t stranger() const noexcept override { return 3; }

    /// A part.
    struct part {
        int n;  ///< its number
    };

  private:
    void undocumented() { throw 3; }
    mutable detail::spin_lock lock_;
    T front_;
    std::size_t n_ = 0;
    executor* ex_;
};

template <class T, std::size_t N>
class box<T, N>::iterator {
  public:
    T& operator*() const { return *at_; }
  private:
    T* at_;
};

template <class T>
box(T) -> box<T, 1>;

template <>
struct traits<box<int>> {
    int undocumented;
};

/// A number of items.
inline constexpr int answer{42};
/// The usual one.
using int_box = box<int, 3>;

/// Maps each item.
///
/// Order:  kept.
/// Errors: what `f` throws fails the item; `std::range_error`.
template <class F>
[[nodiscard]] inline auto map(F&& f) -> decltype(f(1)) { return detail::map_stage(std::forward<F>(f)); }
/// The same with nothing.
[[nodiscard]] inline auto map_nothing() { return detail::map_stage(); }

/// Maps well. Everything else is as for `map`.
auto map_well(int items) { return map(items); }

inline bool operator==(colour a, place b) { return 1 < 2; }

/// Waits for so many items.
///
/// \returns an int.
/// Errors: none but `weir::stuck` is thrown.
int wait_for(int items, const std::string& = "}") ;

}  // namespace weir
#endif
'''

# The declarations in it.
NAMES = """usable colour red green blue place first second box_options capacity name where call num_calls
box value_type most box box operator= ~box box get size front put put put operator== stranger part n
box<T, N>::iterator box answer int_box map map_nothing map_well operator== wait_for"""

# Replaced text, new text, and the expected problem.
BAD = [
    ("/// Can be used.\n", "", "concept usable has no docstring"),
    ("/// A colour.\n", "", "enum colour has no docstring"),
    ("  ///< the first\n", "\n", "enumerator red has no docstring"),
    ("    /// The last.\n", "", "enumerator blue has no docstring"),
    (" goes before `second`", " goes before the other", "enumerator second has no docstring"),
    ("/// Of a box.\n", "", "class box_options has no docstring"),
    ("  ///< of the box", "", "field name has no docstring"),
    ("    /// A part.\n", "", "class part has no docstring"),
    ("  ///< its number", "", "field n has no docstring"),
    ("/// A number of items.\n", "", "variable answer has no docstring"),
    ("/// The usual one.\n", "", "alias int_box has no docstring"),
    ("    /// How many items there are.\n", "", "function size has no docstring"),
    ("  ///< the first one", "", "function front has no docstring"),
    ("    bool put(T&& item)", "\n    bool put(T&& item)", "function put has no docstring"),
    ("    friend class other;", "    int count() noexcept;", "function count has no docstring"),
    ("  private:\n    void", "  protected:\n    void", "function undocumented has no docstring"),
    ("namespace detail {\nstruct", "namespace inner {\nstruct", "class hidden has no docstring"),
    ("Suspends: while there is none. ", "", "is awaited and doesn't say `Suspends:`"),
    (" Resumes: on the awaiter's executor", "", "is awaited and doesn't say `Resumes:`"),
    ("    /// Errors: those of copying it.\n", "", "function put isn't noexcept and doesn't say `Errors:`"),
    ("/// Errors: none but `weir::stuck` is thrown.\n", "", "function wait_for isn't noexcept"),
    ("`std::invalid_argument` for 0", "for 0, an error", "function box throws invalid_argument"),
    ("; `std::range_error`", "", "function map throws range_error"),
    ("Threads: any. ", "", "class box has lock_, and doesn't say `Threads:`"),
    (" Cost: a lock.", "", "class box has lock_, and doesn't say `Cost:`"),
    ("/// Lifetime: the executor outlives it.\n", "", "class box keeps ex_, and doesn't say `Lifetime:`"),
    ("  ///< outlives the box", "  ///< null: none", "class box_options keeps where"),
    ("int wait_for(int items", "box wait_for(executor& ex", "refers to its argument ex"),
    ("int wait_for(int items", "int* wait_for(int items", "returns int*, and doesn't say `Lifetime:`"),
    ("How many items, at least 1", "What fits", "field capacity is a number"),
    ("/// \\returns an int.\n", "/// \\returns an int.\n///\n///     int n = wait_for(3);\n", "shows what isn't in"),
    ("/// \\returns an int.\n", "", "function wait_for says what it does and not what it `\\returns`"),
    ("Waits for so many items", "Waits", "function wait_for takes the number items"),
    ("/// Order:  kept.\n", "", "function map makes a stage and doesn't say `Order:`"),
    ("/// Order:  kept.\n", "", "function map_nothing makes a stage"),
]


def problems_of_header(name, text):
    with tempfile.TemporaryDirectory() as root:
        path = Path(root) / "include" / "weir" / name
        path.parent.mkdir(parents=True)
        path.write_text(text, encoding="utf-8")
        return problems_in(root)


def self_test():
    failures = [f"the good header: {problem}" for problem in problems_of_header("x.hpp", GOOD)]
    found = " ".join(d.name for d in Header("x.hpp", GOOD, kinds_of([GOOD])).found if not d.specialises)
    if found != " ".join(NAMES.split()):
        failures.append(f"the good header: found {found}")
    take_bodies("namespace weir { class a { int f(int i); }; }", "namespace weir { int a::f(int j) { throw b(); } }")
    if "throw b()" not in parsed("namespace weir { class a { int f(int i); }; }")[0].members[0].members[0].body:
        failures.append("the body of a member is not taken from the .ipp file")
    if not any("`Source:`" in problem for problem in problems_of_header(min(ALGORITHMS), GOOD)):
        failures.append("not noticed: an algorithm without a source")
    for old, new, expected in BAD:
        if GOOD.count(old) != 1:
            failures.append(f"stands {GOOD.count(old)} times in the good header: {old!r}")
        found = problems_of_header("x.hpp", GOOD.replace(old, new))
        if not any(expected in problem for problem in found):
            failures.append(f"{old!r} -> {new!r}: not noticed: {expected}; found: {found}")
    return failures


if __name__ == "__main__":
    sys.exit(check.run(__doc__, problems_in, self_test))
