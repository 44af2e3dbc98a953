#!/usr/bin/env bash
# bench/tasks/build.sh FLAGS FOLDER: builds bench/tasks there, with these flags of the compiler; a word CXX=... among
# them is the compiler. -fprofile-use: it is built and run first, to make that profile.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
source "$root/tests/support/install.sh"
folder=$2 flags=""
for word in $1; do
    if [[ $word == CXX=* ]]; then export "${word?}"; else flags+=" $word"; fi
done
profile=$folder/profile

build() {
    configure "$folder" -DCMAKE_BUILD_TYPE=Release -DWEIR_BUILD_TESTS=OFF -DWEIR_BUILD_EXAMPLES=OFF \
        -DCMAKE_CXX_FLAGS="${flags# }$*"
    cmake --build "$folder" --target bench_tasks --parallel "$(job_count)"
}

# Where the profile is, both compilers are told in the same words.
if [[ $flags == *" -fprofile-use"* ]]; then
    flags=${flags/ -fprofile-use/}
    build " -fprofile-generate=$profile -fprofile-update=atomic"
    for way in "" --app_consumer=coroutine --cfg_workers=1 --cfg_qcap=512; do
        "$folder/bench/tasks" --app_items=100000 $way >"$folder/training.json"
    done
    if compgen -G "$profile/*.profraw" >/dev/null; then # clang's
        version=$("${CXX:-c++}" -dumpversion)
        "llvm-profdata-${version%%.*}" merge -o "$profile/default.profdata" "$profile"/*.profraw
    fi
    build " -fprofile-use=$profile -Wno-missing-profile"
else
    build
fi
