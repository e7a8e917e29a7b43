#!/bin/bash
# sanitized.sh SOURCE FOLDER CLANG++ RUNTIME PYTHON [MPI SANITIZER]...: compiles ranks.cpp, and launch.cpp with kiln's launcher, with the sanitizer (address, with undefined; or
# thread) for the MPI, and runs both.
source=$1 folder=$2 compiler=$3 runtime=$4 python=$5
shift 5
# UCX's hooks in mmap and sanitizers exclude each other. Both MPIs keep memory to the end.
export UCX_MEM_MMAP_HOOK_MODE=none UCX_LOG_LEVEL=error ASAN_OPTIONS=detect_leaks=0:exitcode=86 TSAN_OPTIONS=exitcode=86:suppressions=$source/test/runtime/mpi/Inputs/openmpi.tsan:print_suppressions=0
export OMPI_CXX=$compiler MPICH_CXX=$compiler
include=$source/runtime/include
llvm=$("${compiler%clang++}llvm-config" --includedir --libdir) || exit 1
includedir=${llvm%%$'\n'*} libdir=${llvm##*$'\n'}
while [ $# -ge 2 ]; do
  mpi=$1 sanitizer=$2
  shift 2
  echo "$mpi $sanitizer"
  flags="-std=c++17 -O1 -g -Wall -Wextra -Werror -fno-sanitize-recover=all -fsanitize=$sanitizer -I$include -I$source/runtime/src"
  [ "$sanitizer" = address ] && flags="$flags -fsanitize=undefined -fno-sanitize=vptr"
  communicator="$source/runtime/src/mpi/Mpi.cpp $source/runtime/src/ranks/*.cpp $source/runtime/src/Status.cpp $source/runtime/src/posix/*.cpp"
  options=
  [ "$mpi" = openmpi ] && options="--allow-run-as-root --oversubscribe"
  jobs=()
  # The communicator is compiled once, for the program and the launcher.
  rm -rf "$folder/objects" && mkdir "$folder/objects"
  (cd "$folder/objects" && exec mpicxx.$mpi $flags -fPIC -c $communicator) & jobs+=($!)
  mpicxx.$mpi $flags -c "$source/test/runtime/mpi/Inputs/ranks.cpp" -o "$folder/ranks.o" & jobs+=($!)
  mpicxx.$mpi $flags -fPIC -c "$source/runtime/src/mpi/Launcher.cpp" -o "$folder/launcher.o" & jobs+=($!)
  "$compiler" $flags -fno-rtti -I"$source" -isystem "$includedir" "$source/test/runtime/mpi/Inputs/launch.cpp" "$source/compiler/run/Launch.cpp" "$source/compiler/files/Printable.cpp" "$runtime" -L"$libdir" -lLLVM -ldl \
    -lpthread -o "$folder/launch" & jobs+=($!)
  for job in "${jobs[@]}"; do
    wait "$job" || exit 1
  done
  mpicxx.$mpi $flags "$folder/ranks.o" "$folder"/objects/*.o -lpthread -o "$folder/ranks" || exit 1
  mpicxx.$mpi $flags -shared "$folder/launcher.o" "$folder"/objects/*.o -o "$folder/launcher.so" || exit 1
  "$python" "$source/test/runtime/mpi/Inputs/ranks.py" "$mpi" "$folder/ranks" 1 5000 ${MODES:-mismatch error} || exit 1
  mpirun.$mpi $options -np 3 "$folder/launch" "$folder/launcher.so" 20 || exit 1
done
