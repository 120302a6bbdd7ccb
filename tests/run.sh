#!/usr/bin/env bash
# Installs what is missing, builds everything and runs the whole suite: tests/run.sh [preset], dev unless said otherwise.
# The last line is `N passed, N failed`; the exit status is 0 when nothing failed. JOBS=N sets how many jobs run at once.
set -u
cd "$(dirname "$0")/.." || exit 1
. cmake/install-debian.sh

preset="${1:-dev}"
jobs="${JOBS:-$(nproc)}"
build="build/$preset"

install_missing $packages $test_packages $([ "$preset" != clang ] || echo clang)
configure "$build" --preset "$preset"
echo "Building in $build, $jobs jobs at a time"
built=1
cmake --build "$build" --parallel "$jobs" -- -k 0 || built=0
echo "Running the tests"
ctest --preset "$preset" --parallel "$jobs" --test-output-size-passed 1000000 --output-junit tests.xml

# A test that prints its own `N passed, N failed` counts as that many; any other counts as one, and so does the build.
awk -v built=$built '
  /<testcase / { good = /status="run"/; p = f = skipped = 0 }
  /<skipped message="SKIP_/ { skipped = 1 }
  match($0, /[0-9]+ passed, [0-9]+ failed$/) { split(substr($0, RSTART), word); p += word[1]; f += word[3] }
  match($0, /[A-Za-z0-9_]+[.](tsv|md): .*[0-9]+ rows|[0-9]+ headers, .*/) { print substr($0, RSTART) }
  /<\/testcase>/ { passed += p + (good && p + f == 0); failed += f + (!good && !skipped && f == 0) }
  END {
    failed += !built
    print passed + 0 " passed, " failed + 0 " failed"
    exit failed > 0 || passed == 0
  }' "$build/tests.xml"
