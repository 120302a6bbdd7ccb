#!/usr/bin/env bash
# Measures everything that has a goal, and makes one report of it: tables in report.md, and a plot for each program.
#
#   [QUICK=1] [RUNS=3] [PEERS=0] [TASKFLOW_DIR=...] bench/run.sh [folder of the report] [programs]
#
# It builds the programs in build/release, and runs each RUNS times, in turns; a figure of the report is the median.
# QUICK=1 is a smoke run: it takes two minutes, and its figures say little. Other libraries join where they are: JAX and
# TensorFlow come by pip into build/peers, unless PEERS=0; libtorch (libtorch-dev) and the headers of Taskflow, in the
# folder TASKFLOW_DIR, have to be there. The report says which were. Run it on a machine that does nothing else.
set -eu
cd "$(dirname "$0")/.."
report=${1:-build/release/report}
[ $# -gt 0 ] && shift
programs=("$@")
[ $# -gt 0 ] || programs=(mnist_step scalar_adds task_graphs loop_turns memory_bound products step_memory
  sessions_beside map_rates interpreter elementwise)
quick=${QUICK:-0} runs=${RUNS:-3}
[ "$quick" = 1 ] && runs=${RUNS:-1}
export BENCH_QUICK=$quick

# Programs that this checkout has.
found=()
for p in "${programs[@]}"; do [ -f "bench/$p.cpp" ] && found+=("$p"); done
cmake --preset release ${TASKFLOW_DIR:+-DTASKFLOW_DIR="$TASKFLOW_DIR"} >/dev/null
cmake --build build/release --target "${found[@]/#/bench_}" >&2
if cmake --build build/release --target help | grep -q bench_peer_torch; then
  cmake --build build/release --target bench_peer_torch >&2
  export PEER_TORCH="$PWD/build/release/bench/bench_peer_torch"
fi
if [ "${PEERS:-1}" != 0 ]; then
  python=$PWD/build/peers/bin/python
  [ -x "$python" ] || python3 -m venv build/peers >&2 || true
  for library in jax tensorflow; do
    package=${library/tensorflow/tensorflow-cpu}
    "$python" -m pip show -q "$package" 2>/dev/null || "$python" -m pip install -q "$package" >&2 || continue
    export "PEER_${library^^}=$python $PWD/bench/peers/${library}_peer.py"
  done
fi

mkdir -p "$report"
rm -f "$report"/*.txt "$report"/*.svg
version() { dpkg-query -W -f '${Version}' "$1" 2>/dev/null || echo "not a package"; }
cached() { sed -n "s/^$1:[A-Z]*=//p" build/release/CMakeCache.txt; }
taskflow_header=$(cached TASKFLOW_DIR)/taskflow/taskflow.hpp
taskflow=$(sed -n 's/^#define TF_VERSION \([0-9]*\)$/\1/p' "$taskflow_header" 2>/dev/null || true)
{
  echo "machine | $(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -1), $(nproc) cores"
  echo "caches | $(lscpu | sed -n 's/^\(L[0-9][a-z]*\) cache: */\1 /p' | paste -sd, | sed 's/,/, /g')"
  echo "system | $(uname -sr), $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)"
  echo "load before | $(cut -d' ' -f1-3 /proc/loadavg)"
  echo "commit | $(git describe --always --dirty 2>/dev/null || echo unknown)"
  echo "compiler | $("$(cached CMAKE_CXX_COMPILER)" --version | head -1), $(cached CMAKE_CXX_FLAGS_RELEASE)"
  echo "libraries | oneDNN $(version libdnnl-dev), OpenBLAS $(version libopenblas-serial-dev)"
  echo "Taskflow | ${taskflow:-its headers were not there}"
  echo "runs | $runs$([ "$quick" = 1 ] && echo ", quick: the figures say little")"
} >"$report/facts.txt"

for run in $(seq "$runs"); do
  for p in "${found[@]}"; do
    arguments=()
    case "$p $quick" in
      "map_rates 1") arguments=(1048576) ;;                    # no larger operands
      "elementwise 1") arguments=(--benchmark_min_time=0.005) ;;
    esac
    echo "$run: $p" >&2
    "build/release/bench/bench_$p" "${arguments[@]}" >"$report/$p.$run.txt" 2>"$report/errors" ||
      { echo "it failed:" && tail -3 "$report/errors"; } >>"$report/$p.$run.txt"
  done
done
rm -f "$report/errors"
python3 bench/report.py "$report" "${found[@]}"
echo "$report/report.md"
