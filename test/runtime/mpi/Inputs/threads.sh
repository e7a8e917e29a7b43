#!/bin/bash
# threads.sh SOURCE FOLDER CLANG++ RUNTIME [MPI]...: a program with the library of a sharded model, whose ranks have a thread for kernels each, under ThreadSanitizer: the
# model's code, the program and the communicator are compiled with it, and so is RUNTIME. Prints what each rank ended with.
source=$1 folder=$2 compiler=$3 runtime=$4
shift 4
inputs=$source/test/runtime/mpi/Inputs include=$source/runtime/include
flags="-O1 -g -Wall -Wextra -Werror -fsanitize=thread -I$include -I$folder/out"
export UCX_MEM_MMAP_HOOK_MODE=none UCX_RNDV_THRESH=inf UCX_LOG_LEVEL=error OMPI_CXX=$compiler MPICH_CXX=$compiler OMPI_CC=${compiler%++} MPICH_CC=${compiler%++}
# MPI keeps memory to the end; a report gives a rank the status 86, which mpirun need not hand on.
export TSAN_OPTIONS=exitcode=86:suppressions=$inputs/openmpi.tsan:print_suppressions=0
printf '#!/bin/sh\nexec %s -fsanitize=thread "$@"\n' "$compiler" > "$folder/cxx"
chmod +x "$folder/cxx"
kiln "$folder/mlp.onnx" --ranks=2 --cxx="$folder/cxx" -q -o "$folder/out" || exit 1
run() {
  mpi=$1 place=$folder/$1
  mkdir "$place"
  mpicc.$mpi $flags -std=c11 -c "$inputs/repeated.c" -o "$place/program.o" && mpicxx.$mpi $flags -std=c++17 -c "$source/runtime/src/mpi/Mpi.cpp" -o "$place/mpi.o" &&
    mpicxx.$mpi -fsanitize=thread "$place"/{program.o,mpi.o} "$folder/out/libmlp.a" "$runtime" -lpthread -o "$place/program" || exit 1
  start=(mpirun.mpich -disable-auto-cleanup -np 2 sh -c 'trap "" USR1; "$0" "$@"; exit $?')
  [ "$mpi" = openmpi ] && start=(mpirun.openmpi --allow-run-as-root --oversubscribe --enable-recovery --mca btl_vader_single_copy_mechanism none -np 2)
  for mode in pool full killed; do # the output of `full` has no folder
    timeout 60 "${start[@]}" "$place/program" $mode 20000 4000 "$folder/out" "$place/none/y" 2>&1 | sed "s/ after .* ms$//; s/^/$mpi: $mode: /" | sort
  done
}
for mpi in "$@"; do
  run $mpi > "$folder/$mpi.log" 2>&1 &
done
wait
for mpi in "$@"; do
  cat "$folder/$mpi.log"
done
