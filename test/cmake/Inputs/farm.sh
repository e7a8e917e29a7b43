# Usage: farm.sh FOLDER COMPILER CMAKE DIGITS
# Builds FOLDER/out/src through ccache and distcc on two daemons to which FOLDER/out is empty, twice, and a library through --cxx, and prints
# what they compiled.
set -eu
folder=$1 compiler=$2 cmake=$3 digits=$4
mkdir -p "$folder/logs" "$folder/distcc"
daemons=()
trap 'kill "${daemons[@]}" 2>/dev/null' EXIT
# A port that is taken is no fault of the test.
ports=()
for port in $(shuf -i 20000-30000 -n 20); do
  [ ${#ports[@]} -lt 2 ] || break
  TMPDIR=/tmp unshare -m bash -c 'mount -t tmpfs none "$0/out" && exec distccd --daemon --no-detach --user nobody --listen 127.0.0.1 --port "$1" --allow 127.0.0.1 \
    --jobs 2 --log-stderr --log-level info 2>"$0/logs/$1"' "$folder" "$port" &
  daemon=$!
  for _ in $(seq 100); do
    kill -0 $daemon 2>/dev/null || break
    if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
      daemons+=("$daemon")
      ports+=("$port")
      break
    fi
    sleep 0.05
  done
done
export DISTCC_HOSTS="127.0.0.1:${ports[0]}/2 127.0.0.1:${ports[1]}/2" DISTCC_DIR="$folder/distcc" DISTCC_FALLBACK=0
count() { cat "$folder"/logs/[0-9]* | grep -c "COMPILE_OK" || true; }
machines() { grep -l "COMPILE_OK" "$folder"/logs/[0-9]* | wc -l; }

export CCACHE_DIR="$folder/ccache"
build() {
  rm -rf "$folder/build"
  "$cmake" -G Ninja -S "$folder/out/src" -B "$folder/build" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_CXX_COMPILER_LAUNCHER=ccache >"$folder/log"
  CCACHE_PREFIX=distcc "$cmake" --build "$folder/build" -j 4 >>"$folder/log" || { cat "$folder/log" "$folder"/logs/*; exit 1; }
}
build
units=$(ls "$folder"/out/src/*.cpp "$folder"/out/src/runtime/src/*.cpp "$folder"/out/src/runtime/src/posix/*.cpp | grep -vc _weights.cpp)
first=$(count)
[ "$first" = "$units" ] && [ "$(machines)" = 2 ] && echo "first build: all units by two machines" || echo "first build: $first of $units units by $(machines) machines"
build
echo "second build: $(($(count) - first)) units"
"$compiler" -std=c++17 -I"$folder/out/src" "$digits/main.cpp" "$folder"/build/libdigits.a "$folder"/build/runtime/libkiln_runtime.a -pthread -o "$folder/program"
(cd "$digits" && "$folder/program") | grep -o '[0-9]* of 360'

before=$(count)
kiln "$digits/digits.onnx" --dim batch=1 --target=x86-64-v4 -o "$folder/there" --cxx="/usr/lib/distcc/$(basename "$compiler")" -q
# All but the record, which has the options.
for library in here there; do mkdir -p "$folder/$library/members" && (cd "$folder/$library/members" && ar x ../libdigits.a && rm -f *_record.o); done
diff -r "$folder/here/members" "$folder/there/members" && echo "--cxx: $(($(count) - before)) units, the same library"
