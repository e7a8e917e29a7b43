// --why-not prints what each pattern expected of the operations that are left: where they are, what they are, the pattern, and the reason, each once.
// RUN: kiln-opt %s --nn-recognize-composites --why-not --split-input-file -o /dev/null 2>&1 | FileCheck %s

// A bias that is not of the shape of the normalized dimensions. The pattern is tried again whenever an operand changes, and its reason printed once.
// CHECK-COUNT-1: mlir:[[#@LINE+6]]:8: nn.add: NormBias: expected a layer norm without bias, plus a value of the normalized shape
// CHECK-NOT: :[[#@LINE+5]]:{{.*}}NormBias
func.func @bias(%x: tensor<2x8xf32>, %b: tensor<2x1xf32>) -> tensor<2x8xf32> {
  %s = nn.splat 1.0 : f32 -> tensor<8xf32>
  %bb = nn.broadcast_to %b : tensor<2x1xf32> -> tensor<2x8xf32>
  %n = nn.layer_norm %x, %s axis 1 epsilon 1.0e-5 : tensor<2x8xf32>, tensor<8xf32>
  %r = nn.add %n, %bb : tensor<2x8xf32>
  return %r : tensor<2x8xf32>
}

// -----

// Nothing is left of what matched, nor of what was computed for it: the softmax has the locations of all of them.
// CHECK-NOT: {{^}}matched_{{[a-z]+}}:
// CHECK: matched_max {{.*}} matched_quotient: nn.softmax:
// CHECK-NOT: {{^}}matched_{{[a-z]+}}:
func.func @matched(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %m = nn.reduce max %x [1] : tensor<2x8xf32> -> tensor<2x1xf32> loc("matched_max")
  %mb = nn.broadcast_to %m : tensor<2x1xf32> -> tensor<2x8xf32> loc("matched_row")
  %d = nn.sub %x, %mb : tensor<2x8xf32> loc("matched_difference")
  %e = nn.exp %d : tensor<2x8xf32> loc("matched_exp")
  %s = nn.reduce sum %e [1] : tensor<2x8xf32> -> tensor<2x1xf32> loc("matched_sum")
  %sb = nn.broadcast_to %s : tensor<2x1xf32> -> tensor<2x8xf32> loc("matched_total")
  %r = nn.div %e, %sb : tensor<2x8xf32> loc("matched_quotient")
  return %r : tensor<2x8xf32>
}

// A pattern, or an operation, may be asked for by name.
// RUN: kiln-opt %s --nn-recognize-composites --why-not=Norm --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=PATTERN --implicit-check-not=RaiseBody
// PATTERN: nn.add: NormBias: expected a layer norm
// RUN: kiln-opt %s --nn-recognize-composites --why-not=nn.splat --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=OPERATION --implicit-check-not=nn.add
// OPERATION: nn.splat: RaiseBody: expected an operation on floats

// RUN: not kiln-opt %s --why-not='(' 2>&1 | FileCheck %s --check-prefix=REGEX
// REGEX: --why-not=(: parentheses not balanced

// Canonicalization reports the same, as do the stages and the passes that apply their rewrites once.
// RUN: kiln-opt %s --canonicalize --why-not=nn.broadcast_to --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=CANONICAL
// CANONICAL: nn.broadcast_to: {{.*}}expected
// RUN: kiln-opt %s --pass-pipeline='builtin.module(nn-recognize-quantized)' --why-not=nn.matmul --split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=ONCE
// ONCE: nn.matmul: expected a dequantised operand with one scale and dequantised constant weights

// Without the option, nothing is printed.
// RUN: kiln-opt %s --nn-recognize-composites --canonicalize --split-input-file -o /dev/null 2>&1 | count 0

// -----

func.func @product(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> tensor<2x4xui8> {
  %p = nn.matmul %x, %w : tensor<2x3xf32>, tensor<3x4xf32> -> tensor<2x4xf32>
  %s = nn.splat 0.5 : f32 -> tensor<2x4xf32>
  %z = nn.splat 0 : ui8 -> tensor<2x4xui8>
  %q = nn.quantize %p, %s, %z : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xui8>
  return %q : tensor<2x4xui8>
}
