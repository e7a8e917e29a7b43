// Numbers of a target's tuning that decide what becomes one kernel, and whether threads share it.
// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v3 --nn-form-groups --nn-choose-kernels --nn-lower-groups | FileCheck %s --check-prefix=USUAL
// RUN: echo '{"name": "tuned", "base": "x86-64-v3", "tuning": {"strip_bytes": 64, "shared_product": 1, "parallel_work": 1, "parallel_bytes": 1000000000}}' > %t.json
// RUN: kiln-opt %s --kiln-set-target=name=%t.json --nn-form-groups --nn-choose-kernels --nn-lower-groups | FileCheck %s --check-prefix=TUNED
// RUN: sed 's/"parallel_work": 1,/"parallel_work": 1000000,/; s/1000000000/1/' %t.json > %t.bytes.json
// RUN: kiln-opt %s --kiln-set-target=name=%t.bytes.json --nn-form-groups --nn-choose-kernels --nn-lower-groups | FileCheck %s --check-prefix=TUNED

// USUAL-NOT: @conv_strips_
// USUAL-DAG: kernel.launch @product_softmax_
// USUAL-DAG: kernel.launch @loops_{{.*}} tasks(%{{[a-z0-9_]+}}) {
// TUNED-DAG: kernel.launch @conv_strips_
// TUNED-DAG: kernel.launch @gemm_tiled_
// TUNED-DAG: kernel.launch @softmax_rows_
// TUNED-DAG: kernel.launch @loops_{{.*}} tasks(%{{[a-z0-9_]+}}) parallel
func.func @main(%i: tensor<1x8x8x8xf32> {nn.name = "i"}, %x: tensor<4x16xf32> {nn.name = "x"}, %y: tensor<20000xf32> {nn.name = "y"})
    -> (tensor<1x6x6x32xf32> {nn.name = "c"}, tensor<4x32xf32> {nn.name = "s"}, tensor<20000xf32> {nn.name = "r"}) {
  %e = nn.constant dense<1.0> : tensor<32x8x1x1xf32>
  %d = nn.constant dense<1.0> : tensor<32x1x3x3xf32>
  %w = nn.constant dense<1.0> : tensor<16x32xf32>
  %a = nn.conv %i, %e strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_last
    : tensor<1x8x8x8xf32>, tensor<32x8x1x1xf32> -> tensor<1x8x8x32xf32>
  %c = nn.conv %a, %d strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 32 layout channels_last
    : tensor<1x8x8x32xf32>, tensor<32x1x3x3xf32> -> tensor<1x6x6x32xf32>
  %p = nn.matmul %x, %w : tensor<4x16xf32>, tensor<16x32xf32> -> tensor<4x32xf32>
  %s = nn.softmax %p axis 1 : tensor<4x32xf32>
  %r = nn.relu %y : tensor<20000xf32>
  return %c, %s, %r : tensor<1x6x6x32xf32>, tensor<4x32xf32>, tensor<20000xf32>
}
