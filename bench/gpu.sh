#!/usr/bin/env bash
# Measures pinion on a real GPU, beside what limits it, on a machine that may have nothing but the CUDA toolkit and g++.
#
#   bench/gpu.sh [FOLDER] [--time-limit SECONDS] [--only PROGRAM]...
#
# It builds in FOLDER, build/gpu unless said otherwise, as tests/gpu.sh does, whose archive has it too, with its
# programs where it was packed with --built. It adds to FOLDER/bench.md as it goes: a table for each program, with the
# medians of turns that were taken in one run, and their ratio. PyTorch joins where python3, or the program that PYTHON
# names, imports it. What does not begin within the time limit is named as not run, and what does not end within it is
# stopped. BENCH_QUICK=1 is a smoke run. The exit status is 0 if all ran, 1 if something failed, and 2 on a machine
# without a GPU; gpu_compile alone runs on such a machine too.
set -u
cd "$(dirname "$0")/.." || exit 1

all="gpu_maps gpu_products gpu_training gpu_replay gpu_copies gpu_compile"
out="build/gpu" limit="" only=""
stop() {
  echo "$*" >&2
  exit 1
}
while [ $# -gt 0 ]; do
  case "$1" in
    --time-limit)
      [[ "${2:-}" =~ ^[1-9][0-9]*$ ]] || stop "--time-limit takes seconds, not '${2:-}'"
      limit="$2" && shift ;;
    --only)
      [[ " $all " == *" ${2:- } "* ]] || stop "there is no program '${2:-}'; there are: $all"
      only="$only $2" && shift ;;
    -*) stop "$(sed -n '4s/^#   //p' bench/gpu.sh)" ;;
    *) out="$(cd "$OLDPWD" && realpath -m "$1")" ;;
  esac
  shift
done
. cmake/plain_build.sh
find_gpus
[ -n "$gpus" ] || [ "$only" = " gpu_compile" ] ||
  { echo "There is no NVIDIA GPU here: nvidia-smi shows none." >&2 && exit 2; }

program() {
  take_built "$1" || { build_library && echo "bench/$1.cpp" | compile && link "$1" "bench/$1.cpp"; }
}

# The rows of a program as a table, and its other lines.
table() {
  awk -F ' [|] ' '
    $1 == "row" {
      if (!head++) print "| work | contender | beside | | | ratio | reach |\n|---|---|---|---|---|---|---|"
      print "| " $2 " | " $3 " | " $4 " | " $5 " | " $6 " | " $7 " | " $8 " |"; next
    }
    { other = other "\n" $0 }
    END { print other }'
}

mkdir -p "$out"
take_kernels
export CUDA_VISIBLE_DEVICES="${CUDA_VISIBLE_DEVICES:-0}"
"${PYTHON:-python3}" -c "import torch; assert torch.cuda.is_available()" 2>/dev/null &&
  export PEER_TORCH_GPU="${PYTHON:-python3} bench/peers/torch_gpu_peer.py"
failed=0
report="$out/bench.md"
{
  echo "${gpus:-no GPU}"
  echo "commit $(cat commit 2>/dev/null || git describe --always --dirty)"
  print_tools
} | tee -a "$report"
for program in ${only:-$all}; do
  printf '\n## %s\n\n' "$program"
  left=$((${limit:-1000000} - SECONDS))
  [ $left -gt 0 ] || { echo "not run: the time limit of $limit s is over" && continue; }
  program "$program" || { echo "it was not built" && failed=1 && continue; }
  left=$((${limit:-1000000} - SECONDS))
  timeout $((left > 0 ? left : 1)) "$out/$program" >"$out/$program.txt" 2>&1 || { echo "it ended with $?" && failed=1; }
  table <"$out/$program.txt"
done > >(tee -a "$report")
wait
exit $failed
