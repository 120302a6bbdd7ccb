#!/usr/bin/env bash
# How well, and how fast, the examples on MNIST learn: a row for each way to train, over several seeds.
#
#   PINION_MNIST_DIR=... bench/mnist_reach.sh [folder of the built examples] [seeds] [logs]
#
# The accuracy of a seed is that of the worst of its workers. What a program says is kept in the folder of the logs; one
# that is there already is not run again.
set -eu
programs=${1:-build/release/examples} seeds=${2:-5} logs=${3:-build/mnist_reach}
: "${PINION_MNIST_DIR:?names the folder of the MNIST files}"
TIMEFORMAT='%U %S s of CPU'
mkdir -p "$logs"

ways=(
  "one machine|mnist"
  "asynchronous, 3 workers|mnist_cluster"
  "in-graph, 3 workers|mnist_in_graph"
  "in step, 3 of 4 workers|mnist_sync"
  "cut by units, 2 devices|mnist_split --cut units --no-plan"
  "not cut|mnist_split --cut none --no-plan"
)
for seed in $(seq "$seeds"); do
  for way in "${ways[@]}"; do
    command=${way#*|}
    log=$logs/$(tr -c 'a-z0-9\n' '_' <<<"$command")_$seed
    [ -s "$log" ] && continue
    # shellcheck disable=SC2086 # a command is several words
    { time "$programs"/$command --seed "$seed" >"$log.begun" 2>"$log.errors"; } 2>"$log.time"
    cat "$log.begun" "$log.time" >"$log"
    rm "$log.begun" "$log.time"
  done
done

echo "| | worst seed | mean | steps | s, fastest seed | CPU s, mean |"
echo "|---|---|---|---|---|---|"
for way in "${ways[@]}"; do
  prefix=$logs/$(tr -c 'a-z0-9\n' '_' <<<"${way#*|}")
  for seed in $(seq "$seeds"); do cat "${prefix}_$seed"; echo end; done |
    awk -v name="${way%%|*}" '
      /test accuracy/ { if (worst == "" || $NF < worst) worst = $NF }
      / steps, .* s, .* steps\/s$/ { steps += $1; if (fastest == "" || $3 < fastest) fastest = $3 + 0 }
      / s of CPU$/ { cpu += $1 + $2; timed++ }
      /^end$/ { n++; sum += worst; if (n == 1 || worst < least) least = worst; worst = "" }
      END { printf "| %s | %.4f | %.4f | %d | %.1f | %.0f |\n", name, least, sum / n, steps / n, fastest, cpu / timed }'
done
