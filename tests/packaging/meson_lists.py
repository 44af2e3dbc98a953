# Lists for meson.build: `version` prints the version of the library, `tests` the sources of the tests that need only
# Catch2.
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
if sys.argv[1] == "version":
    text = (ROOT / "include/weir/version.hpp").read_text()
    print(".".join(re.findall(r"define WEIR_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text)))
else:
    unit = ROOT / "tests/unit"
    found = {*unit.glob("*.test.cpp"), *unit.glob("*/*.test.cpp")} - {*unit.glob("asio/*"), *unit.glob("execution/*")}
    found -= {unit / f"report/{name}.test.cpp" for name in ("format", "fmt", "sqlite")}
    print(*sorted(f.relative_to(ROOT).as_posix() for f in found), sep="\n")
