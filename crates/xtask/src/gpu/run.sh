#!/usr/bin/env bash
# Runs what needs a GPU. usage: ./run.sh RESULTS [STEP…]
#
#   about     what the machine is, and what Cloom says of it
#   smoke     the driver's costs; the device by itself: memory, launches, faults, latencies and rates
#   programs  programs that check themselves
#   kernels   random kernels against the reference interpreter (SEEDS=5000 of them from FIRST=0 on)
#   gallery   every variant of every program of the gallery, verified
#   devices   the gallery over CPU and GPUs
#   bench     the gallery beside NVIDIA's OpenCL, in turns (ROWS="-k copy,mad": only these; RUNS=10)
#
# Without steps, all of them in this order. Each leaves RESULTS/STEP.txt, bench also bench.csv; the last line of each
# tells how it went. LIMIT=300: seconds for a step.
set -u
here=$(cd "$(dirname "$0")" && pwd)
results=${1:?usage: ./run.sh RESULTS [STEP…]}
shift
mkdir -p "$results" "$here/vendors" "$here/both"
echo "$here/libcloom.so" >"$here/vendors/cloom.icd"
echo "$here/libcloom.so" >"$here/both/cloom.icd"
echo libnvidia-opencl.so.1 >"$here/both/nvidia.icd"
export OCL_ICD_VENDORS="$here/vendors" LD_LIBRARY_PATH="$here${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export CLOOM_DEVICES=gpu CLOOM_CACHE_DIR="$here/cache"
limit=${LIMIT:-300}
cores=$(nproc)

about() {
  nvidia-smi
  uname -a
  "$here/cloom" doctor
  "$here/cloom" info
}

smoke() {
  "$here/driver_costs"
  "$here/gpu_smoke"
}

programs() {
  local failed=0
  for file in "$here/programs/"*/*.cl; do
    # Those with arguments of their own, and those of what a GPU does not offer, are the test harness's.
    if grep -qE '^// (run|arg):|enqueue_kernel|\^\{' "$file"; then continue; fi
    # It counts on what its buffer holds before, and runs more than once here.
    if [ "${file##*/}" = wide_and_narrow.cl ]; then continue; fi
    timeout 60 "$here/cloom" run "$file" -k test --arg 64:-1 --global 64 --local 8 -i 1 \
      --build-option=-cl-std=CL3.0 --print 64 --verify || { failed=$((failed + 1)); echo "FAILED: $file"; }
  done
  echo "$failed programs failed"
}

kernels() {
  local seeds=${SEEDS:-5000} first=${FIRST:-0} each i
  each=$(((seeds + cores - 1) / cores))
  for ((i = 0; i < cores; i++)); do
    "$here/peers" $((first + i * each)) "$each" Cloom brief >"$results/seeds.$i" 2>/dev/null &
  done
  wait
  grep -h '^seed' "$results"/seeds.* || true
  cat "$results"/seeds.* | grep -vE '^seed' | awk '{n = $1; $1 = ""; sum[$0] += n} END {for (k in sum) print sum[k] k}'
  rm -f "$results"/seeds.*
}

# The programs of the gallery and their variants, one of each a line.
variants() {
  "$here/cloom" run -lk | awk -F'  +' '{split($1, name, " "); n = split($NF, v, ", "); for (i = 1; i <= n; i++) print name[1], v[i]}'
}

gallery() {
  variants | xargs -P 4 -L 1 bash -c \
    'timeout 60 "$0" run -k "$1" -v "$2" -s 257x127 -i 2 -n >/dev/null 2>&1 && echo "ok $1 $2" || echo "FAILED $1 $2"' "$here/cloom" |
    sort | tee "$results/gallery.list" | grep FAILED
  echo "$(grep -c '^ok' "$results/gallery.list") right, $(grep -c FAILED "$results/gallery.list") wrong"
}

devices() {
  local program variant size all=cloom:0 gpus i
  gpus=$(nvidia-smi -L | grep -c '^GPU')
  for ((i = 1; i <= gpus; i++)); do all+="+cloom:$i"; done
  for program in mandel life heat3d gauss sandpile; do
    size=4096
    # It takes no larger meshes.
    if [ "$program" = heat3d ]; then size=2048; fi
    for variant in devices_fixed devices_adaptive; do
      # The first GPU alone, all GPUs, and the CPU too.
      for set in "cloom:1" "${all#cloom:0+}" "$all"; do
        CLOOM_DEVICES=cpu,gpu "$here/cloom" run -k "$program" -v "$variant" -s "$size" -i 10 -n -c "devices=$set"
      done
    done
  done
}

bench() {
  # shellcheck disable=SC2086 # several words
  OCL_ICD_VENDORS="$here/both" "$here/cloom" bench ${ROWS:-} -r "${RUNS:-10}" --no-native --no-limits --csv \
    >>"$results/bench.csv"
  tail -3 "$results/bench.csv"
}

export -f about smoke programs kernels variants gallery devices bench
export here results cores
for step in "${@:-about smoke programs kernels gallery devices bench}"; do
  for one in $step; do
    begin=$SECONDS
    timeout "$limit" bash -c "$one" >"$results/$one.txt" 2>&1
    status=$?
    echo "$one: status $status, $((SECONDS - begin)) s: $(tail -1 "$results/$one.txt")"
  done
done
