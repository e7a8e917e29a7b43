# What docs/Runtime.md says, and a file that is made from the library.
all: used

used: out/libm.a out/m.h
	echo used > used

out/libm.a out/m.h: out/m.stamp ;
out/m.stamp: m.onnx
	kiln m.onnx -o out --depfile out/m.d --stamp $@ -q
-include out/m.d
