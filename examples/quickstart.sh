#!/usr/bin/env bash
# Installs what is missing, builds the main example and runs it: examples/quickstart.sh [--verbose] [OPTION...]
# --verbose shows what is compiled; the options go to the example (try --help).
set -euo pipefail
cd "$(dirname "$0")/.."
. cmake/install-debian.sh

verbose=""
[ "${1:-}" != --verbose ] || { verbose=1 && shift; }

# A wrong option of the example is told of before anything is built.
known="$(grep -ohE 'add(_flag)?\("--[a-z-]+' examples/14_mnist_cluster/*.[ch]pp examples/support/*.[ch]pp | sed 's/.*"//')"
for word in "$@"; do
  option="${word%%=*}"
  case "$option" in
    --help | --version | [^-]* | -[^-]*) ;;
    --*) grep -qxF -e "$option" <<<"$known" || stop "mnist_cluster has no option '$option'; there are: --help "$known ;;
  esac
done

# The library is built for this program on this machine: for its instructions, with few kernels, what is no kernel
# optimized less, and without CUDA where there is no driver of GPUs, unless they are asked for.
cuda=OFF
[ ! -e /proc/driver/nvidia/version ] || cuda=AUTO
case " $* " in *" --gpus"*) cuda=AUTO ;; esac

build=build/quickstart
install_missing $packages
configure $build --preset release -D PINION_TESTS=OFF -D PINION_BENCH=OFF -D PINION_INSTRUCTION_SETS=native \
  -D PINION_HELD_KERNELS=singles -D PINION_OPTIMIZED=kernels -D PINION_WITH_CUDA=$cuda
echo "Building the example mnist_cluster in $build, for this machine"
compile() { cmake --build $build --target mnist_cluster --parallel "$(nproc)"; }
if [ -n "$verbose" ]; then compile; else compile | progress; fi
echo "Running $build/examples/mnist_cluster $*"
exec $build/examples/mnist_cluster "$@"
