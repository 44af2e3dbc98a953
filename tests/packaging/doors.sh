# Sourced by tests/packaging/run and tests/packaging/conan/run.

weir_version() {
    sed -nE 's/.*define WEIR_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+).*/\2/p' "$root/include/weir/version.hpp" |
        paste -sd.
}

# checkout FOLDER: the files that the doors need, as a repository with one commit. It includes changes that are not
# committed yet.
checkout() {
    rm -rf "$1"
    mkdir -p "$1"
    tar -C "$root" --exclude=build --exclude=__pycache__ --exclude='tests/packaging/subprojects/*/*' -cf - \
        include tests CMakeLists.txt meson.build conanfile.py vcpkg.json LICENSE | tar -C "$1" -xf -
    git -C "$1" init -q
    git -C "$1" add -A
    git -C "$1" -c user.name=weir -c user.email=weir@localhost commit -qm "weir $(weir_version)"
}

# refused PATTERN COMMAND...: the command must fail, and its output must match the pattern.
refused() {
    local pattern=$1 output
    shift
    if output=$("$@" 2>&1); then
        echo "$output" >&2
        echo "this was to be refused, and was not: $*" >&2
        return 1
    fi
    if ! tr -s '\n ' ' ' <<<"$output" | grep -qE -- "$pattern"; then
        echo "$output" >&2
        echo "this was refused, but without '$pattern': $*" >&2
        return 1
    fi
}
