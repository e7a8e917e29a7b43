// RUN: kiln-opt %s --split-input-file --kiln-set-target=name=x86-64-v3 --nn-form-groups --nn-choose-kernels --nn-lower-groups --canonicalize --cse --kernel-plan-memory | FileCheck %s

// What one branch alone needs runs in it, the matrix product from before the condition, too. Both write the result's buffer.
module {
  // CHECK-LABEL: kernel.entry @run
  // CHECK: ^bb0(%{{.*}}: memref<256xf32>, %[[C:.*]]: memref<1xi8>, %[[OUT:.*]]: memref<256xf32>, %{{.*}}: memref<?xi8>):
  // CHECK-NOT: kernel.launch
  // CHECK: %[[BYTE:.*]] = memref.load %[[C]]
  // CHECK: %[[HOLDS:.*]] = arith.cmpi ne, %[[BYTE]]
  // CHECK: scf.if %[[HOLDS]] {
  // CHECK: kernel.launch @{{gemm|matmul}}
  // CHECK: kernel.launch @softmax
  // CHECK: } else {
  // CHECK-NEXT: kernel.launch @loops
  func.func @main(%x: tensor<16x16xf32> {nn.name = "x"}, %c: tensor<i1> {nn.name = "c"}) -> (tensor<16x16xf32> {nn.name = "y"}) {
    %p = nn.matmul %x, %x : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
    %a = nn.softmax %p axis 1 : tensor<16x16xf32>
    %b = nn.exp %x : tensor<16x16xf32>
    %r = nn.choose %c ? %a : %b : tensor<i1>, tensor<16x16xf32>
    return %r : tensor<16x16xf32>
  }
}

// -----

// Needed in two ways: when %c and %d hold, and when %c does not. %d is looked at only where %c holds.
module {
  // CHECK-LABEL: kernel.entry @run
  // CHECK: %[[FIRST:.*]] = scf.if %{{.*}} -> (i1) {
  // CHECK: memref.load
  // CHECK: } else {
  // CHECK: arith.ori
  // CHECK: scf.if
  // CHECK-NEXT: kernel.launch
  func.func @main(%x: tensor<8xf32> {nn.name = "x"}, %i: tensor<2xi64> {nn.name = "i"}, %c: tensor<i1> {nn.name = "c"}, %d: tensor<i1> {nn.name = "d"})
      -> (tensor<2xf32> {nn.name = "y"}, tensor<2xf32> {nn.name = "z"}) {
    %g = nn.gather %x, %i axis 0 : tensor<8xf32>, tensor<2xi64> -> tensor<2xf32>
    %zero = nn.splat 0.0 : f32 -> tensor<2xf32>
    %inner = nn.choose %d ? %g : %zero : tensor<i1>, tensor<2xf32>
    %r = nn.choose %c ? %inner : %g : tensor<i1>, tensor<2xf32>
    return %r, %zero : tensor<2xf32>, tensor<2xf32>
  }
}
