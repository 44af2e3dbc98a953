# Sourced by tests/run, examples/run, bench/run and .ci/run: installs missing tools, if that is allowed.

# install_missing PROBE:PACKAGES...
# A probe is a command, a <header> that the C++ compiler should find, or the path of a file (or a pattern of paths); `a|b`
# needs one of them. Packages of probes without a result are installed with apt-get, by root or by sudo without a
# password; otherwise the command to run is printed, and the script ends with 1.
# Sets `installed` to 1 if it installed anything.
install_missing() {
    installed=0
    local packages
    packages=$(missing_packages "$@")
    [[ -n $packages ]] || return 0
    local -a words=() sudo=()
    read -ra words <<<"$packages"
    if ((EUID != 0)); then sudo=(sudo -n); fi

    # --no-remove: a package that would remove another one, as one libc++ does with another, is not installed on a user's
    # machine, but is in CI ($CI).
    local -a apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq)
    local -a get=("${apt[@]}" install -y --no-install-recommends)
    if [[ -z ${CI:-} ]]; then get+=(--no-remove); fi
    get+=("${words[@]}")
    if command -v apt-get >/dev/null && "${sudo[@]}" true 2>/dev/null; then
        echo "installing: ${words[*]}" >&2
        local output
        if output=$({ "${get[@]}" || { "${apt[@]}" update && "${get[@]}"; }; } 2>&1); then
            hash -r
            packages=$(missing_packages "$@")
            installed=1
        else
            echo "$output" >&2
        fi
    fi
    [[ -n $packages ]] || return 0
    echo "Missing: $packages (the names of Debian's packages). Please run:" >&2
    echo "    sudo apt-get install $packages" >&2
    echo "or install the same by other means, and start this again." >&2
    exit 1
}

missing_packages() {
    local pair probe packages=()
    for pair in "$@"; do
        local found=0 probes=()
        IFS='|' read -ra probes <<<"${pair%:*}"
        for probe in "${probes[@]}"; do
            if is_there "$probe"; then
                found=1
                break
            fi
        done
        if ((!found)); then packages+=("${pair##*:}"); fi
    done
    echo "${packages[*]}"
}

is_there() {
    case $1 in
    "<"*) has_header "$1" ;;
    /*) compgen -G "$1" >/dev/null ;;
    *) command -v "$1" >/dev/null ;;
    esac
}

# The folders that the compiler searches by default, and those that CMake searches, too.
has_header() {
    local prefix
    local -a compiler=() prefixes=()
    read -ra compiler <<<"${CXX:-c++}"
    if echo "#include $1" | "${compiler[@]}" -std=c++20 -x c++ -E - >/dev/null 2>&1; then return 0; fi
    IFS=':;' read -ra prefixes <<<"${CMAKE_PREFIX_PATH:-}:/opt/homebrew"
    for prefix in "${prefixes[@]}"; do
        if [[ -n $prefix && -e $prefix/include/${1:1:-1} ]]; then return 0; fi
    done
    return 1
}

# Needed by every build.
build_tools=("cmake:cmake" "ninja|make:ninja-build" "${CXX:-c++}|g++|clang++:g++")
# Needed by the measurement lab.
lab_needs=("/usr/include/eigen3/Eigen/Core|<Eigen/Core>:libeigen3-dev" "<nlohmann/json.hpp>:nlohmann-json3-dev"
    "<CLI/CLI.hpp>:libcli11-dev" "<sqlite3.h>:libsqlite3-dev")
# Also needed by the indicators.
indicator_needs=("<openssl/evp.h>:libssl-dev")

# configure BUILD_FOLDER OPTION...: configures the repository at $root, a new folder with Ninja if it is installed.
configure() {
    local build=$1
    shift
    if [[ ! -e $build/CMakeCache.txt && -z ${CMAKE_GENERATOR:-} ]] && command -v ninja >/dev/null; then
        set -- -G Ninja "$@"
    fi
    cmake -S "$root" -B "$build" "$@"
}

job_count() { nproc 2>/dev/null || getconf _NPROCESSORS_ONLN; }
