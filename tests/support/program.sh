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

# shown WHAT LOG COMMAND...: runs a build command. Shows its steps on standard error, on a terminal in one line that changes,
# and the time that they took. All other output goes to the log, which is shown if the command fails.
shown() {
    local what=$1 log=$2 begin=${EPOCHREALTIME//[!0-9]/}
    shift 2
    if ! "$@" 2>&1 | tee "$log" | show_steps "$what" "$begin"; then
        cat "$log" >&2
        echo "failed: $*" >&2
        exit 1
    fi
}
show_steps() {
    local line format='%s\n' any=""
    if [[ -t 2 ]]; then format='\r\e[K%s'; fi
    while IFS= read -r line; do
        if [[ $line =~ ^"["[0-9/%\ ]+"]" && $line != "[0/"* ]]; then
            any=yes
            # shellcheck disable=SC2059
            printf "$format" "${BASH_REMATCH[0]} $1 ..." >&2
        fi
    done
    [[ -n $any ]] || return 0
    local tenths=$(((${EPOCHREALTIME//[!0-9]/} - $2) / 100000))
    # shellcheck disable=SC2059
    printf "$format\n" "$1: $((tenths / 10)).$((tenths % 10)) s" >&2
}

# has_target BUILD_FOLDER TARGET
has_target() {
    cmake --build "$1" --target help 2>/dev/null | grep -E "^([.]{3} )?$2(:|$)" >/dev/null
}

# run_program FOLDER TARGET_PREFIX NAME ARGUMENT...: builds the program in Release and executes it; or prints why it was left
# out, and exits with 77.
run_program() {
    local folder=$1 target=$2$3 name=$3 build=$root/build/release
    shift 3
    mkdir -p "$build"
    # Only at the first start: later the build itself notices changed build files and new sources.
    if ((installed)) || ! has_target "$build" "$target"; then
        echo "configuring ${build#"$root/"} ..." >&2
        shown "configuring" "$build/configure.log" configure "$build" \
            -DCMAKE_BUILD_TYPE=Release -DWEIR_BUILD_TESTS=OFF
        if ! has_target "$build" "$target" &&
            sed -n "s/^-- \(weir: $name is left out: \)/\1/p" "$build/configure.log" | grep . >&2; then
            exit 77
        fi
    fi
    if [[ ! -e $build/$folder/$name ]]; then echo "building $name, for the first time ..." >&2; fi
    shown "building $name" "$build/$name.log" cmake --build "$build" --target "$target" --parallel "$(job_count)"
    exec "$build/$folder/$name" "$@"
}

# choose_program FOLDER NAME: handles --list, --help and unknown names.
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
