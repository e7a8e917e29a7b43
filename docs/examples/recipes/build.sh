#!/bin/sh
# One compile and one link.
set -e
kiln softmax.onnx --dim rows=1 -o out -q
cc -O2 -Iout main.c out/libsoftmax.a -lm -o app
