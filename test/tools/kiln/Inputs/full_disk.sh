#!/bin/sh
# full_disk.sh FOLDER: commands on FOLDER/digits.onnx, with outputs and temporary files on FOLDER/disk, a file system that is full and that this process alone sees
# (unshare -m). Prints what each says, its status, and the number of files that it leaves.
disk=$1/disk
model=$1/digits.onnx
mount -t tmpfs -o size=64k tmpfs "$disk" || exit 1
mkdir "$disk/out" "$disk/tmp" "$disk/cache"
head -c 1M /dev/zero > "$disk/rest" 2> /dev/null
export TMPDIR="$disk/tmp"
try() {
  "$@"
  echo "$?, $(find "$disk/out" "$disk/tmp" "$disk/cache" -type f | wc -l) files"
}
try kiln "$model" -o "$disk/out" -q
try kiln "$model" -o "$disk/out" -q --emit=so
try kiln "$model" -o "$disk/out" -q --cxx=c++
try kiln run "$model" --input image=normal --run-dim batch=2 -q --output-dir "$disk/out"
try kiln bench "$model" --dim batch=1 --min-time=0.01 --trace "$disk/out/trace.json" -q
try kiln report "$model" -q -o "$disk/out/page.html"
try kiln kernels relu -q -o "$disk/out"
try kiln new "$disk/out" "$model" -q
KILN_CACHE=on KILN_CACHE_DIR="$disk/cache" try kiln "$model" -o "$1/lib" -q --dim batch=1
