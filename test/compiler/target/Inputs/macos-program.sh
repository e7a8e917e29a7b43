# Builds the program of macos-models.test for one architecture.
# Usage: macos-program.sh CPU TARGET FOLDER SOURCE
set -euo pipefail
here=$(dirname "$0") out=$3/$1 source=$4
mkdir -p "$out"
/usr/bin/python3 "$here/macos_models.py" "$source/test/end-to-end" "$2" "$out" > "$out/libraries"
compile() { clang++ --target="$1-apple-macosx11.0" -O1 -nostdlibinc -isystem "$out/../sdk/macos" -I"$source/runtime/include" -I"$out" "${@:2}"; }
for file in "$source"/runtime/src/*.cpp "$source"/runtime/src/posix/*.cpp; do
  compile "$1" -std=c++17 -fno-exceptions -fno-rtti -fno-threadsafe-statics -c "$file" -o "$out/$(basename "$file").o"
done
compile "$1" -x c -c "$out/all.c" -o "$out/all.o"
xargs ld64.lld-22 -platform_version macos 11.0 11.0 -arch "$1" "$out"/*.o "$here/libSystem.tbd" "$here/libSystem-runtime.tbd" -o "$out/program" < "$out/libraries"
