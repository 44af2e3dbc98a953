# Sourced by tests/run, examples/run and bench/run: folders in which each source is a program.

source "$root/tests/support/install.sh"

# Each *.cpp of the folder, and each folder in it with *.cpp, is a program.
list_programs() {
    local path
    for path in "$root/$1"/*.cpp "$root/$1"/*/*.cpp; do
        if [[ -e $path ]]; then
            path=${path#"$root/$1/"}
            path=${path%%/*}
            echo "${path%.cpp}"
        fi
    done | sort -u
}

# Runs a command silently; its output is shown only if it fails.
quietly() {
    local log=$1
    shift
    if ! "$@" >"$log" 2>&1; then
        cat "$log" >&2
        echo "failed: $*" >&2
        exit 1
    fi
}

# has_target BUILD_FOLDER TARGET
has_target() {
    cmake --build "$1" --target help 2>/dev/null | grep -E "^([.]{3} )?$2(:|$)" >/dev/null
}

# run_program FOLDER TARGET_PREFIX NAME ARGUMENT...: builds it in Release and becomes it; or says why it was
# left out, and exits with 77.
run_program() {
    local folder=$1 target=$2$3 name=$3 build=$root/build/release
    shift 3
    mkdir -p "$build"
    # Later starts leave this out: the build itself notices a changed build file and a new source.
    if ((installed)) || ! has_target "$build" "$target"; then
        quietly "$build/configure.log" configure "$build" \
            -DCMAKE_BUILD_TYPE=Release -DWEIR_BUILD_TESTS=OFF
        if ! has_target "$build" "$target" &&
            sed -n "s/^-- \(weir: $name is left out: \)/\1/p" "$build/configure.log" | grep . >&2; then
            exit 77
        fi
    fi
    quietly "$build/$name.log" cmake --build "$build" --target "$target" --parallel "$(job_count)"
    exec "$build/$folder/$name" "$@"
}

# choose_program FOLDER NAME: handles --list, --help and a name that is none.
choose_program() {
    local programs
    programs=$(list_programs "$1")
    case $2 in
    --list) echo "$programs" && exit ;;
    -h | --help) usage && exit ;;
    esac
    if ! grep -qx -- "$2" <<<"$programs"; then
        echo "There is no program '$2' in $1/. There is:" >&2
        sed 's/^/    /' <<<"$programs" >&2
        exit 2
    fi
}
