#!/usr/bin/env bash
# Seconds of user CPU, the median of three, that a compiler takes for what users write, against pinion::compiled.
# bench/compile_time.sh [compiler...]; g++ and clang++, those that are there, unless said otherwise.
set -eu
cd "$(dirname "$0")/.."

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
TIMEFORMAT=%U

for header in graph session pinion; do
  echo "#include <pinion/$header.hpp>" >"$work/$header.cpp"
done
units="$work/graph.cpp $work/session.cpp $work/pinion.cpp examples/01_hello.cpp bench/compile_time/ten_ops.cpp
  bench/compile_time/all_ops.cpp examples/13_mnist/main.cpp"
titles=("graph.hpp alone" "session.hpp alone" "pinion.hpp alone" "examples/01_hello" "ten ops" "every op"
  "examples/13_mnist")

# seconds COMPILER FLAG FILE
seconds() {
  local run
  for run in 1 2 3; do
    { time "$1" -std=c++20 "$2" -DPINION_COMPILED=1 -I include -I examples/support -c "$3" -o "$work/unit.o"; } 2>&1 ||
      echo "failed"
  done | tail -n 3 | sort -n | sed -n 2p
}

compilers=""
for compiler in "${@:-g++ clang++}"; do
  for one in $compiler; do
    if command -v "$one" >/dev/null; then compilers="$compilers $one"; fi
  done
done
[ -n "$compilers" ] || { echo "Neither g++ nor clang++ is here." >&2; exit 1; }

printf '%-20s' "seconds"
for compiler in $compilers; do printf ' %12s %12s' "$compiler -O0" "$compiler -O2"; done
echo
i=0
for unit in $units; do
  printf '%-20s' "${titles[i]}"
  for compiler in $compilers; do
    for flag in -O0 -O2; do printf ' %12s' "$(seconds "$compiler" $flag "$unit")"; done
  done
  echo
  i=$((i + 1))
done
