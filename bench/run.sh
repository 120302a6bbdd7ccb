#!/usr/bin/env bash
# Measures all that has a goal within one process, and makes one report of it: tables in report.md, and a plot for each
# program.
#
#   [QUICK=1] [RUNS=3] [PEERS=0] [TASKFLOW_DIR=...] bench/run.sh [folder/of/the/report] [words]
#
# A word picks the programs that have it in their names, as in `bench/run.sh mnist loop`; without words all programs run.
# They are built in build/release, and run RUNS times each, in turns; a figure of the report is the median. QUICK=1 is a
# smoke run: it takes two minutes, and its figures say little. Other libraries join where they are: JAX, TensorFlow and
# libtorch come by pip into build/peers, or the folder PEERS_DIR, unless PEERS=0; the headers of Taskflow have to be in
# the folder TASKFLOW_DIR. The report says which were there. Run it on a machine that does nothing else.
set -eu
cd "$(dirname "$0")/.."
all=(mnist_step scalar_adds task_graphs loop_iterations memory_bound products step_memory sessions_beside map_rates
  interpreter elementwise recompute networks)
report=build/release/report
case "${1:-}" in */*) report=$1 && shift ;; esac
found=()
for p in "${all[@]}"; do
  for word in "${@:-}"; do [[ $p == *"$word"* ]] && found+=("$p") && break; done
done
[ ${#found[@]} -gt 0 ] || { echo "$* is in the name of none of: ${all[*]}" >&2 && exit 1; }
quick=${QUICK:-0} runs=${RUNS:-3}
[ "$quick" = 1 ] && runs=${RUNS:-1}
export BENCH_QUICK=$quick

# Peers: what pip has, and what it says of itself.
peers=() torch=
python=$(realpath -m "${PEERS_DIR:-build/peers}")/bin/python
install() { "$python" -m pip show -q "$1" 2>/dev/null || "$python" -m pip install -q "$@" >&2; }
# Of what the package needs only the libraries that its library for the CPU is linked with.
install_torch() {
  install torch --no-deps || return
  local linked
  linked=$("$python" -c 'from importlib.metadata import requires
print(*("cuda-toolkit[cudart,cupti]" + r.split("]")[1].split(";")[0] for r in requires("torch") if "cuda-toolkit[" in r))')
  [ -z "$linked" ] || "$python" -m pip install -q "$linked" >&2
}
if [ "${PEERS:-1}" != 0 ]; then
  [ -x "$python" ] || python3 -m venv "${python%/bin/python}" >&2 || true
  for library in jax tensorflow; do
    package=${library/tensorflow/tensorflow-cpu}
    install "$package" || continue
    export "PEER_${library^^}=$python $PWD/bench/peers/${library}_peer.py"
    peers+=("$("$python" -m pip show "$package" | sed -n 's/^Name: //p; s/^Version: //p' | paste -sd' ')")
  done
  install_torch && torch=$("$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/torch
  # The peer of bench_networks is PyTorch in Python, which needs these.
  "$python" -m pip install -q filelock fsspec jinja2 networkx sympy typing_extensions >&2 &&
    "$python" -c 'import torch' 2>/dev/null && export PEER_NETWORKS="$python $PWD/bench/peers/networks_peer.py"
fi

cmake --preset release -U 'TORCH_*' -DTORCH_DIR="$torch" \
  ${TASKFLOW_DIR:+-DTASKFLOW_DIR="$TASKFLOW_DIR"} >/dev/null
cmake --build build/release --target "${found[@]/#/bench_}" >&2
if [ "${PEERS:-1}" != 0 ] && cmake --build build/release --target help | grep -q bench_peer_torch; then
  cmake --build build/release --target bench_peer_torch >&2
  export PEER_TORCH="$PWD/build/release/bench/bench_peer_torch"
  peers+=("$("$PEER_TORCH" mnist 1 50 /dev/null </dev/null | sed -n 's/^ready //p')")
fi

mkdir -p "$report"
rm -f "$report"/*.txt "$report"/*.svg
version() { dpkg-query -W -f '${Version}' "$1" 2>/dev/null || echo "not a package"; }
cached() { sed -n "s/^$1:[A-Z]*=//p" build/release/CMakeCache.txt; }
taskflow_header=$(cached TASKFLOW_DIR)/taskflow/taskflow.hpp
taskflow=$(sed -n 's/^#define TF_VERSION \([0-9]*\)$/\1/p' "$taskflow_header" 2>/dev/null || true)
there=$(IFS=, && echo "${peers[*]:-none}")
{
  echo "machine | $(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -1), $(nproc) cores"
  echo "caches | $(lscpu | sed -n 's/^\(L[0-9][a-z]*\) cache: */\1 /p' | paste -sd, | sed 's/,/, /g')"
  echo "system | $(uname -sr), $(sed -n 's/^PRETTY_NAME="\(.*\)"/\1/p' /etc/os-release)"
  echo "load before | $(cut -d' ' -f1-3 /proc/loadavg)"
  echo "commit | $(git describe --always --dirty 2>/dev/null || echo unknown)"
  echo "compiler | $("$(cached CMAKE_CXX_COMPILER)" --version | head -1), $(cached CMAKE_CXX_FLAGS_RELEASE)"
  echo "libraries | oneDNN $(version libdnnl-dev), OpenBLAS $(version libopenblas-openmp-dev)"
  echo "peers | ${there//,/, }"
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
