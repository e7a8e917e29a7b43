#!/bin/sh
# full.sh FOLDER COMMAND...: file systems that are full, which this process alone sees (unshare -m). Runs COMMAND MPI FOLDER REPETITIONS fill for each MPI, with
# little space in FOLDER/full; then compiles there, and runs a model with little space in TMPDIR; then runs `starve` with no space in /dev/shm.
folder=$1
shift
for_each() {
  for mpi in openmpi mpich; do
    rm -rf "$folder/starved"
    echo $mpi
    "$@" $mpi "$folder" "${REPETITIONS:-1}" "$case" || exit 1
  done
}
mount -t tmpfs -o size=32k tmpfs "$folder/full" || exit 1
case=fill
for_each "$@"
kiln "$folder/mlp.onnx" --ranks=2 -q -o "$folder/full/out" 2>&1 && exit 1
echo "$(find "$folder/full" -type f | wc -l) files"
mkdir "$folder/tmp"
mount -t tmpfs -o size=64k tmpfs "$folder/tmp" || exit 1
for run in "openmpi --allow-run-as-root --oversubscribe" mpich; do
  TMPDIR=$folder/tmp timeout -s KILL 60 mpirun.$run -np 2 kiln run "$folder/mlp.onnx" --ranks=2 --input=x=normal -q --output-dir "$folder/computed" > "$folder/said" 2>&1
  echo "${run%% *}: $? without room for temporary files"
done
mount -t tmpfs -o size=16k tmpfs /dev/shm || exit 1
case=starve
for_each "$@"
