#!/usr/bin/env bash
# Tests pinion on a real GPU, on a machine that may have nothing but the CUDA toolkit and g++.
#
#   tests/gpu.sh --pack FILE.tar.[gx]z [--most MIB] [--built FOLDER]  makes one archive of all that is needed
#   tests/gpu.sh --build [FOLDER] [--arch 90]                         builds the programs, without a GPU too
#   tests/gpu.sh --run [FOLDER] [--time-limit SECONDS] [--only SECTION]...
#   tests/gpu.sh --first [FOLDER] [--time-limit SECONDS]              the first minutes on a card, and one report
#
# The archive has a folder pinion-gpu with this script in it, which runs there as it runs in a checkout. It has the
# programs that --build has put into FOLDER, if --built names it; else --run begins with building them. They are much
# alike, so that xz makes a quarter of what gzip makes of them. The archive is refused if it is larger than --most, 32
# MiB unless said otherwise.
#
# --build also compiles, where NVRTC is, the kernels of the networks that bench/gpu.sh trains. --built packs them, and
# programs find them on the disk at their first start.
#
# --run builds in FOLDER, build/gpu unless said otherwise, for the GPU that is there, and adds to FOLDER/report.txt as
# it goes: a section with its seconds for each test below, the most telling first. What does not begin within the
# time limit is named as not run. Kernels that it compiles stay in FOLDER/kernels.
#
# --first runs these sections and the programs of bench/gpu.sh, each within a time of its own, in the order of what
# tells most, and goes on where an earlier call with the same FOLDER has ended. FOLDER/first.md says what ran and what
# held, and has the measurements beside what they should reach.
# The exit status is 0 if all passed, 1 if something failed, and 2 on a machine without a GPU.
set -u
cd "$(dirname "$0")/.." || exit 1

# --- what is asked ---------------------------------------------------------------------------------------------------

sections="machine examples runtime steps kernels laws compiled_laws shared cluster memcheck racecheck initcheck"
# Parts of --first, and the seconds that each may take.
firsts="machine:20 examples:40 runtime:90 kernels:200 steps:150 compiled_laws:200 laws:150 shared:60 cluster:90
  gpu_replay:90 gpu_training:120 gpu_copies:60 gpu_maps:150 gpu_products:150 memcheck:300 racecheck:180 initcheck:180"
mode="" file="" out="build/gpu" most=32 built="" limit="" only=""
stop() {
  echo "$*" >&2
  exit 1
}
# The path of a word that was given in the folder where the script was called.
path() { cd "$OLDPWD" && realpath -m "$1"; }
usage() { stop "$(sed -n '4,7s/^#   //p' tests/gpu.sh)"; }
# number OPTION VALUE: refuses what is none.
number() { [[ "${2:-}" =~ ^[1-9][0-9]*$ ]] || stop "$1 takes a number from 1 on, not '${2:-}'"; }
while [ $# -gt 0 ]; do
  case "$1" in
    --pack)
      mode=pack
      [ -z "${2:-}" ] || { file="$(path "$2")" && shift; } ;;
    --build | --run | --first)
      mode="${1#--}"
      case "${2:-}" in "" | -*) ;; *) out="$(path "$2")" && shift ;; esac ;;
    --most) number "$@" && most="$2" && shift ;;
    --built)
      built="$(path "${2:-}")"
      [ -e "$built/arch" ] || stop "'${2:-}' has no programs: tests/gpu.sh --build FOLDER makes them"
      shift ;;
    --arch) number "$@" && arch="$2" && shift ;;
    --time-limit) number "$@" && limit="$2" && shift ;;
    --only)
      [[ " $sections " == *" ${2:- } "* ]] || stop "there is no section '${2:-}'; there are: $sections"
      only="$only $2" && shift ;;
    *) usage ;;
  esac || usage
  shift
done
[ -n "$mode" ] && { [ "$mode" != pack ] || [ -n "$file" ]; } || usage

# --- the archive -----------------------------------------------------------------------------------------------------

pack() {
  local work folder packed size
  work="$(mktemp -d)" && folder="$work/pinion-gpu" && mkdir -p "$folder/third_party/catch2"
  # shellcheck disable=SC2064
  trap "rm -rf '$work'" EXIT
  cp --parents -rp LICENSE README.md include cmake/compiled cmake/plain_build.sh examples/27_gpu.cpp \
    examples/28_cuda_op.cu examples/14_mnist_cluster examples/support examples/expected \
    tests/gpu.sh tests/main.cpp tests/precompiled.hpp tests/cuda/*.hpp \
    tests/cuda_device tests/cuda_kernels tests/cuda_laws tests/fake_cuda tests/laws tests/support \
    bench/gpu.sh bench/gpu_*.cpp bench/*.hpp \
    bench/peers/torch_gpu_peer.py "$folder" ||
    stop "these are not the sources of pinion"
  rm -rf "$folder/tests/support/fake_cuda"
  cp -rp /usr/include/fmt "$folder/third_party/" && cp -p /usr/include/catch2/catch.hpp "$folder/third_party/catch2/" ||
    stop "the archive needs the headers of fmt and Catch2 (Debian, Ubuntu: apt-get install libfmt-dev catch2)"
  cp -rp /usr/include/{asio,asio.hpp,cereal,CLI} "$folder/third_party/" ||
    stop "the archive needs those of clusters too (apt-get install libasio-dev libcereal-dev libcli11-dev)"
  git describe --always --dirty >"$folder/commit" 2>/dev/null || cat commit >"$folder/commit" 2>/dev/null ||
    echo unknown >"$folder/commit"
  [ -z "$built" ] || pack_built "$folder"
  packed="$work/packed.${file##*.}"
  XZ_OPT=--lzma2=preset=1,dict=64MiB tar -C "$work" -caf "$packed" pinion-gpu || exit 1
  size=$(($(stat -c %s "$packed") / 1024))
  [ "$size" -le $((most * 1024)) ] || stop "the archive would have $size KiB, more than $most MiB (--most)"
  mv "$packed" "$file" && echo "$file: $size KiB"
}

# Programs without their symbols, and the folder says for which architecture they are.
pack_built() {
  local name
  mkdir -p "$1/built"
  for name in arch gpu cuda_op mnist_cluster cuda_device cuda_kernels cuda_laws fake_cuda $(bench_programs); do
    cp "$built/$name" "$1/built/" || stop "$built does not have all programs: --build makes them"
  done
  strip "$1/built"/[cfgm]*
  [ ! -e "$built/kernels" ] || cp -r "$built/kernels" "$1/built/"
}

# --- the programs ----------------------------------------------------------------------------------------------------

room_sources() {
  echo tests/main.cpp
  case "$1" in
    fake_cuda) ls tests/fake_cuda/{graphs,kernels,memory,streams}_test.cpp ;;
    *) ls "tests/$1"/*.c* ;;
  esac
  [ "$1" != cuda_laws ] || echo tests/laws/catalogue.cpp
}

bench_programs() { basename -s .cpp bench/gpu_*.cpp; }

# build_examples, build_cluster, build_rooms ROOM... and build_bench stop at the first failure.
build_examples() {
  printf '%s\n' examples/27_gpu.cpp "examples/28_cuda_op.cu" | sed 's/$/ -fmacro-prefix-map=.\/=/' |
    sed '/[.]cu /s/ .*//' | compile && link gpu examples/27_gpu.cpp && link cuda_op examples/28_cuda_op.cu
}
# Without the headers of clusters it leaves a program that says so.
build_cluster() {
  local sources="examples/14_mnist_cluster/main.cpp examples/support/command_line.cpp"
  if [ "$clusters" = 1 ]; then
    # shellcheck disable=SC2086
    printf '%s -Iexamples/support\n' $sources | compile && link mnist_cluster $sources
  else
    printf '#!/bin/sh\necho "the cluster needs Asio, cereal and OpenSSL where it is built"; exit 3\n' \
      >"$out/mnist_cluster" && chmod +x "$out/mnist_cluster"
  fi
}
build_rooms() {
  local room
  for room in "$@"; do room_sources "$room"; done | sort -u |
    sed 's/$/ -O1 -DPINION_TEST_REAL_CUDA=1 -Itests -Iexamples\/support -include tests\/precompiled.hpp/' |
    sed '/^tests\/main[.]cpp /s/-include.*//; /[.]cu /s/-include.*//; /^tests\/fake_cuda\/[gk]/s/$/ -x cu/' |
    compile || return
  # shellcheck disable=SC2046
  for room in "$@"; do link "$room" $(room_sources "$room") || return; done
}

build_bench() {
  local name
  ls bench/gpu_*.cpp | compile || return
  for name in $(bench_programs); do link "$name" "bench/$name.cpp" || return; done
}

# keep_kernels: compiles those that are packed. No NVRTC, the status 2, is no failure.
keep_kernels() { "$out/gpu_compile" --keep "$out/kernels" "$arch" || [ $? = 2 ]; }

# programs NAME...: sees to it that they are there: from the archive, for this architecture, or built.
programs() {
  local name
  take_built "$@" && return
  echo "building $*"
  build_library || return
  for name in "$@"; do
    case "$name" in
      gpu | cuda_op) build_examples ;;
      mnist_cluster) build_cluster ;;
      *) build_rooms "$name" ;;
    esac || return
  done
}

# --- the sections ----------------------------------------------------------------------------------------------------

section_machine() {
  echo "$gpus"
  echo "commit $(cat commit 2>/dev/null || git describe --always --dirty)"
  print_tools
  echo "$(uname -sr), $(nproc) cores, $(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -1)"
  local library
  for library in nvrtc cublasLt cudnn; do
    # shellcheck disable=SC2046
    find $(tr : ' ' <<<"${PINION_CUDA_LIBS:-}") /usr/local/cuda/lib64/ -maxdepth 1 -name "lib$library.so.*" \
      2>/dev/null | head -1 | grep . || echo "$library: neither in PINION_CUDA_LIBS nor in /usr/local/cuda/lib64"
  done
}

# as_expected PROGRAM FILE: its output has the words of the file, and numbers that differ by a millionth at most.
as_expected() {
  CUDA_VISIBLE_DEVICES=0 "$out/$1" | tee "$out/$1.printed"
  awk -v RS='[][ ,\n]+' '
    NR == FNR { want[NR] = $0; n = NR; next }
    { same = $0 == want[FNR]
      if (!same && $0 ~ /^-?[0-9.e+-]+$/ && want[FNR] ~ /^-?[0-9.e+-]+$/) {
        d = $0 - want[FNR]; m = want[FNR] < 0 ? -want[FNR] : want[FNR]
        same = (d < 0 ? -d : d) <= 1e-6 * (m > 1 ? m : 1)
      }
      if (!same) { print "expected " want[FNR] ", found " $0; bad = 1 } }
    END { if (FNR != n) { print "expected " n " words, found " FNR; bad = 1 }; exit bad }' \
    "$2" "$out/$1.printed"
}
section_examples() {
  programs gpu cuda_op || return
  local failed=0
  as_expected gpu examples/expected/27_gpu_with_gpu.txt || failed=1
  as_expected cuda_op examples/expected/28_cuda_op.txt || failed=1
  return $failed
}

# test_room ROOM [word before the program...]: all its tests but those of the stand-in.
test_room() {
  local room="$1"
  shift
  programs "$room" || return
  PINION_TEST_GPUS="${PINION_TEST_GPUS:-${CUDA_VISIBLE_DEVICES:-0}}" "$@" "$out/$room" "~[stand-in]" -d yes
}
section_steps() { test_room cuda_device; }
section_kernels() { test_room cuda_kernels; }
section_laws() { PINION_CUDA_INTERPRET=1 test_room cuda_laws; }
section_compiled_laws() { test_room cuda_laws; }

# The tests of the stand-in for CUDA, on NVIDIA's runtime: both shall do the same. Calls that are made while a function
# of the host holds up a stream may hang there.
section_runtime() { test_room fake_cuda timeout --kill-after=5 80; }

# Two programs at the same time on one GPU, each with a part of its memory.
section_shared() {
  programs cuda_device || return
  local one other
  PINION_TEST_GPUS=0 "$out/cuda_device" "[part]" >"$out/shared.1" 2>&1 &
  one=$!
  PINION_TEST_GPUS=0 "$out/cuda_device" "[part]" >"$out/shared.2" 2>&1 &
  other=$!
  wait $one && wait $other
  local failed=$?
  cat "$out/shared.1" "$out/shared.2"
  return $failed
}

# The cluster example: a model on a GPU for each of two workers, which share the first one.
section_cluster() {
  programs mnist_cluster || return
  CUDA_VISIBLE_DEVICES="${CUDA_VISIBLE_DEVICES:-0}" \
    "$out/mnist_cluster" --digits 3000 --epochs 6 --workers 2 --gpus 1 >"$out/cluster.printed" 2>&1
  local status=$?
  cat "$out/cluster.printed"
  [ $status = 0 ] || return $status
  [ "$(grep -cE 'worker [01]: test accuracy (1|0\.[6-9])' "$out/cluster.printed")" = 2 ] &&
    grep -qE '^MatMul .*/job:worker/replica:0/task:0/device:GPU:0 ' "$out/cluster.printed" ||
    { echo "expected an accuracy of each worker, and the model of worker 0 on a GPU" && return 1; }
}

# sanitize TOOL [OPTION=VALUE]...: compute-sanitizer over the kernels, and over steps. It tells of errors alone, of no
# refused call, and of no kernel of CUB and CUTLASS, which are known for hazards that are none. Versions differ in their
# options: those that this one does not have are named and left out.
sanitize() {
  local tool="$toolkit/bin/compute-sanitizer" option known
  [ -x "$tool" ] || tool="$(command -v compute-sanitizer)" || { echo "there is no compute-sanitizer" && return 3; }
  known="$("$tool" --help 2>&1)"
  local words=(--tool "$1" --error-exitcode 9)
  shift
  for option in "$@" --print-level=error --report-api-errors=no --kernel-name-exclude=kns=cub \
    --kernel-name-exclude=kns=cutlass; do
    grep -q -e "${option%%=*}" <<<"$known" || { echo "without $option" && continue; }
    words+=("${option%%=*}" "${option#*=}")
  done
  test_room cuda_kernels "$tool" "${words[@]}" && test_room cuda_device "$tool" "${words[@]}"
}
section_memcheck() { sanitize memcheck --track-stream-ordered-races=all; }
section_racecheck() { sanitize racecheck --kernel-name=kns=pinion; }
# Padding is copied with what it pads.
section_initcheck() { sanitize initcheck --check-api-memory-access=no; }

# --- the run ---------------------------------------------------------------------------------------------------------

# run_section NAME: within the time that is left, into the report; sets $status.
run_section() {
  local began=$SECONDS left=$((${limit:-1000000} - SECONDS))
  printf '\n## %s\n\n' "$1"
  [ $left -gt 0 ] || { echo "not run: the time limit of $limit s is over" && status=3 && return; }
  ("section_$1") 2>&1 &
  local section=$!
  (sleep $left && kill -- -$section) >/dev/null 2>&1 &
  local watch=$!
  wait $section
  status=$?
  { kill -- -$watch && wait $watch; } 2>/dev/null
  case $status in
    0) echo "passed, $((SECONDS - began)) s" ;;
    3) echo "not run" ;;
    14[0-9]) echo "STOPPED after $((SECONDS - began)) s, at the time limit" ;;
    *) echo "FAILED, $((SECONDS - began)) s" ;;
  esac
}

expect_gpu() {
  find_gpus
  [ -n "$gpus" ] || { echo "There is no NVIDIA GPU here: nvidia-smi shows none." >&2 && exit 2; }
  mkdir -p "$out"
}

run() {
  expect_gpu
  take_kernels
  local name failed=0
  set -m
  for name in ${only:-$sections}; do
    run_section "$name"
    [ $status = 0 ] || [ $status = 3 ] || failed=1
  done > >(tee -a "$out/report.txt")
  wait
  exit $failed
}

# --- the first minutes -----------------------------------------------------------------------------------------------

# run_first PART SECONDS: prints what it printed; it stays in FOLDER/first/PART.txt.
run_first() {
  case "$1" in
    gpu_*) bench/gpu.sh "$out" --only "$1" --time-limit "$2" ;;
    *) tests/gpu.sh --run "$out" --only "$1" --time-limit "$2" ;;
  esac 2>&1 | tee "$out/first/$1.txt"
  return "${PIPESTATUS[0]}"
}

# The line of a part that has run: its result, seconds and cases, in FOLDER/first/done.
note_first() {
  local result="held" cases
  [ "$2" = 0 ] || result="FAILED"
  grep -q '^not run' "$out/first/$1.txt" && result="not run"
  grep -q '^STOPPED' "$out/first/$1.txt" && result="STOPPED"
  cases="$(grep -E '^[0-9]+ passed, [0-9]+ failed$' "$out/first/$1.txt" | paste -sd '+' | sed 's/+/ and /g')"
  echo "| $1 | $result | ${cases:--} | $3 |" >>"$out/first/done"
}

# All that ran so far, and what did not; then the measurements beside their reach; then what failed, in its last words.
first_report() {
  local part name
  echo "# The first minutes on a GPU"
  printf '\n%s\ncommit %s\n\n' "$gpus" "$(cat commit 2>/dev/null || git describe --always --dirty)"
  printf '| part | result | cases | s |\n|---|---|---|---|\n'
  cat "$out/first/done" 2>/dev/null
  for part in $firsts; do
    grep -q "^| ${part%:*} |" "$out/first/done" 2>/dev/null || echo "| ${part%:*} | not run so far | | |"
  done
  printf '\n## Reach\n\n| work | contender | beside | | | ratio | reach | |\n|---|---|---|---|---|---|---|---|\n'
  for part in $firsts; do
    awk -F ' [|] ' '$1 == "row" {
        split($8, reach, " ")
        share = reach[1] == "<=" ? reach[2] / $7 : $7 / reach[2]
        print "| " $2 " | " $3 " | " $4 " | " $5 " | " $6 " | " $7 " | " $8 " | " \
          (share >= 1 ? "reached" : sprintf("%.2g of it", share)) " |"
      }' "$out/${part%:*}.txt" 2>/dev/null
  done
  for part in $firsts; do
    name="${part%:*}"
    grep -qE "^\| $name \| (FAILED|STOPPED)" "$out/first/done" 2>/dev/null || continue
    printf '\n## %s\n\n```\n' "$name"
    grep -vE '^ *$' "$out/first/$name.txt" | tail -40
    echo '```'
  done
}

first() {
  expect_gpu
  mkdir -p "$out/first"
  local part name seconds began status
  for part in $firsts; do
    name="${part%:*}" seconds="${part#*:}"
    grep -q "^| $name |" "$out/first/done" 2>/dev/null && continue
    [ $((SECONDS + seconds)) -le "${limit:-1000000}" ] || break
    began=$SECONDS
    run_first "$name" "$seconds"
    status=$?
    note_first "$name" $status $((SECONDS - began))
    first_report >"$out/first.md"
  done
  first_report | tee "$out/first.md"
  ! grep -qE '\| (FAILED|STOPPED) \|' "$out/first/done"
}

case "$mode" in
  pack) pack ;;
  build)
    . cmake/plain_build.sh
    mkdir -p "$out"
    build_library && build_examples && build_cluster && build_rooms cuda_device cuda_kernels cuda_laws fake_cuda &&
      build_bench && keep_kernels && echo "$arch" >"$out/arch" ;;
  run | first)
    . cmake/plain_build.sh
    "$mode" ;;
esac
