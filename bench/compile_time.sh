#!/usr/bin/env bash
# Seconds of user CPU, the median of RUNS (3), that a compiler takes for what users write, and beside them those of
# Eigen/Dense (Debian: libeigen3-dev), of std with fmt, of header-only mode, of a precompiled header and behind it, and of
# the library itself with the peak of its memory; of a program of ten ops also with CUDA on. All in one run: figures of
# two runs are not to be held against each other.
# bench/compile_time.sh [compiler...]; g++ and clang++, those that are there, unless said otherwise.
set -eu
cd "$(dirname "$0")/.."

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
runs="${RUNS:-3}"

for header in graph session pinion; do
  echo "#include <pinion/$header.hpp>" >"$work/$header.cpp"
done
echo "#include <Eigen/Dense>" >"$work/eigen.cpp"
for header in functional map memory string unordered_map vector fmt/format.h; do
  echo "#include <$header>"
done >"$work/std.cpp"

compilers=""
for compiler in ${@:-g++ clang++}; do
  if command -v "$compiler" >/dev/null; then compilers="$compilers $compiler"; fi
done
[ -n "$compilers" ] || { echo "Neither g++ nor clang++ is here." >&2; exit 1; }
includes="-I include -I examples/support -isystem /usr/include/eigen3"

# cost COMPILER FLAGS... FILE: "seconds kilobytes" of the median run, or "failed"; the product is $product
product="$work/unit.o"
cost() {
  python3 - "$runs" "$@" -o "$product" <<'P'
import os, sys
runs = []
for _ in range(int(sys.argv[1])):
    pid = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
    _, status, used = os.wait4(pid, 0)
    if status: sys.exit(print("failed"))
    runs.append((used.ru_utime, used.ru_maxrss))
print("%.2f %d" % sorted(runs)[len(runs) // 2])
P
}

# row TITLE MODE FILE LEVEL...: a line with the seconds at each level of optimization, "-" at those that are left out.
# @ in MODE is a header of that compiler and level; where MODE precompiles, its product is found for it.
row() {
  local title="$1" mode="$2" file="$3" product="$product"
  shift 3
  printf '%-26s' "$title"
  for compiler in $compilers; do
    for level in -O0 -O2; do
      local taken="-" header="$work/${compiler##*/}$level.hpp" instantiate=""
      if [[ $mode == *c++-header* ]]; then
        product="$header.gch"
        [[ $compiler != *clang* ]] || instantiate="-fpch-instantiate-templates"  # as CMake has it
      fi
      case " $* " in *" $level "*)
        taken="$(cost "$compiler" -std=c++20 $level $instantiate ${mode//@/$header} $includes -c "$file")" ;;
      esac
      printf ' %12s' "${taken% *}"
    done
  done
  echo
}

printf '%-26s' "seconds"
for compiler in $compilers; do printf ' %12s %12s' "$compiler -O0" "$compiler -O2"; done
echo
compiled="-DPINION_COMPILED=1"
row "std and fmt" "" "$work/std.cpp" -O0 -O2
row "Eigen/Dense" "" "$work/eigen.cpp" -O0 -O2
row "graph.hpp alone" $compiled "$work/graph.cpp" -O0 -O2
row "session.hpp alone" $compiled "$work/session.cpp" -O0 -O2
row "pinion.hpp alone" $compiled "$work/pinion.cpp" -O0 -O2
row "examples/01_hello" $compiled examples/01_hello.cpp -O0 -O2
row "pinion.hpp, to precompile" "$compiled -x c++-header" "$work/pinion.cpp" -O0 -O2
row "01_hello, precompiled" "$compiled -Wno-psabi -include @" examples/01_hello.cpp -O0 -O2
row "ten ops" $compiled bench/compile_time/ten_ops.cpp -O0 -O2
row "ten ops, CUDA on" "$compiled -DPINION_HAS_CUDA=1 -isystem /usr/local/cuda/include" bench/compile_time/ten_ops.cpp -O0 -O2
row "every op" $compiled bench/compile_time/all_ops.cpp -O0 -O2
row "examples/13_mnist" $compiled examples/13_mnist/main.cpp -O0 -O2
row "01_hello, header-only" "" examples/01_hello.cpp -O0

runs=1
for compiler in $compilers; do
  for unit in cmake/compiled/*.cpp; do
    cost "$compiler" -std=c++20 -O2 $compiled $includes -c "$unit"
  done | awk -v who="$compiler" '{ s += $1; if ($2 > m) m = $2 } END {
    printf "pinion::compiled, %s -O2: %.0f s, %.2f GB at most for a unit\n", who, s, m / 1048576 }'
  cost "$compiler" -std=c++20 -O0 $includes -c examples/01_hello.cpp | awk -v who="$compiler" '{
    printf "01_hello, header-only, %s -O0: %.2f GB\n", who, $2 / 1048576 }'
done
