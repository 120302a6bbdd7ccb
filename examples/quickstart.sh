#!/usr/bin/env bash
# Installs what is missing, builds the main example and runs it; arguments go to the example (try --help).
set -eu
cd "$(dirname "$0")/.."
. cmake/install-debian.sh

build=build/quickstart
install_missing $packages
configure $build --preset release -D PINION_TESTS=OFF -D PINION_BENCH=OFF
echo "Building the example mnist_cluster in $build"
cmake --build $build --target mnist_cluster --parallel "$(nproc)"
echo "Running $build/examples/mnist_cluster $*"
exec $build/examples/mnist_cluster "$@"
