// Under strict, a composite without a fused kernel is an error unless the user asked for its parts.
// RUN: not kiln-opt %s --nn-decompose-composites=strict 2>&1 | FileCheck %s
// RUN: kiln-opt %s --nn-decompose-composites="strict decompose=hardmax" | FileCheck %s --check-prefix=ASKED

// CHECK: error: nn.hardmax would be split: the target has no fused kernel for it; --strict allows no fallback
// ASKED: module attributes {kernel.composites = [{composite = "nn.hardmax", form = "split", fused_bytes = 160 : i64, nodes = "", reason = "--decompose=hardmax", split_bytes = {{[0-9]+}} : i64}]}
// ASKED-NOT: = nn.hardmax
func.func @hardmax(%x: tensor<2x10xf32>) -> tensor<2x10xf32> {
  %r = nn.hardmax %x axis 1 : tensor<2x10xf32>
  return %r : tensor<2x10xf32>
}
