// RUN: kiln-opt %s --split-input-file --kiln-set-target=name=x86-64-v3 --nn-form-groups --nn-choose-kernels --nn-place-results --nn-lower-groups --canonicalize --cse --kernel-plan-memory | FileCheck %s

// The count is loaded behind the kernel that computes it; what it must fit is checked then, and the shape that nobody reads values of waits for it.
// Buffers are as large as the bound says, so the workspace has one size.
module attributes {nn.symbols = ["count"], nn.computed_symbols = affine_map<() -> (8)>, nn.constraints = affine_map<()[s0] -> (s0 mod 2)>} {
  // CHECK-LABEL: kernel.entry @run
  // CHECK: ^bb0(%{{.*}}: memref<8xf32>, %[[OUT:.*]]: memref<?xf32>, %{{.*}}: memref<?xi8>):
  // CHECK: %[[CELL:.*]] = memref.view
  // CHECK: kernel.launch @non_zero_scan
  // CHECK: %[[LOADED:.*]] = memref.load %[[CELL]]
  // CHECK: %[[COUNT:.*]] = arith.index_cast %[[LOADED]]
  // CHECK: kernel.report %[[COUNT]] as 0
  // CHECK: kernel.check {{.*}}, "KILN_STATUS_DIMENSION_MISMATCH", "count mod 2 = 0"
  // CHECK: kernel.launch @loops{{.*}}(%[[OUT]], %[[COUNT]])
  func.func @main(%x: tensor<8xf32> {nn.name = "x"}) -> (tensor<?xf32, #nn.dims<()[s0] -> (s0)>> {nn.name = "y"}) {
    %y = nn.splat 1.0 : f32 -> tensor<?xf32, #nn.dims<()[s0] -> (s0)>>
    %at, %n = nn.non_zero %x counts 0 : tensor<8xf32> -> tensor<1x?xi64, #nn.dims<()[s0] -> (1, s0)>>, tensor<1xi64>
    return %y : tensor<?xf32, #nn.dims<()[s0] -> (s0)>>
  }
}

// -----

// Under a condition the count is zero until its kernel has run.
module attributes {nn.symbols = ["count"], nn.computed_symbols = affine_map<() -> (8)>} {
  // CHECK-LABEL: kernel.entry @run
  // CHECK-DAG: memref.store %{{.*}}, %[[CELL:.*]][%{{.*}}] : memref<1xi64>
  // CHECK: scf.if
  // CHECK: kernel.launch @non_zero_scan
  // CHECK: %[[LOADED:.*]] = memref.load %[[CELL]]
  // CHECK: %[[COUNT:.*]] = arith.index_cast %[[LOADED]]
  // CHECK: kernel.launch @reduce_loops{{.*}}%[[COUNT]])
  // CHECK-NOT: kernel.report
  func.func @main(%x: tensor<8xf32> {nn.name = "x"}, %c: tensor<i1> {nn.name = "c"}) -> (tensor<1x1xi64> {nn.name = "y"}) {
    %at, %n = nn.non_zero %x counts 0 : tensor<8xf32> -> tensor<1x?xi64, #nn.dims<()[s0] -> (1, s0)>>, tensor<1xi64>
    %sum = nn.reduce sum %at [1] : tensor<1x?xi64, #nn.dims<()[s0] -> (1, s0)>> -> tensor<1x1xi64>
    %zero = nn.splat 0 : i64 -> tensor<1x1xi64>
    %r = nn.choose %c ? %sum : %zero : tensor<i1>, tensor<1x1xi64>
    return %r : tensor<1x1xi64>
  }
}

// -----

// A place that depends on a count is none: what is stored there may have to be computed before the count.
module attributes {nn.symbols = ["n", "count"], nn.computed_symbols = affine_map<()[s0] -> (s0)>} {
  // CHECK-LABEL: func.func private @workspace_size(%{{.*}}: index {kernel.name = "n"}) -> index
  // CHECK: kernel.entry @run
  // CHECK: kernel.launch @loops
  // CHECK: kernel.launch @non_zero_scan
  // CHECK: kernel.launch @concat_copy
  func.func @main(%x: tensor<?xi64, #nn.dims<()[s0] -> (s0)>> {nn.name = "x"}) -> (tensor<?xi64, #nn.dims<()[s0, s1] -> (s0 + s1)>> {nn.name = "y"}) {
    %a = nn.neg %x : tensor<?xi64, #nn.dims<()[s0] -> (s0)>>
    %at, %n = nn.non_zero %a counts 1 : tensor<?xi64, #nn.dims<()[s0] -> (s0)>> -> tensor<1x?xi64, #nn.dims<()[s0, s1] -> (1, s1)>>, tensor<1xi64>
    %flat = nn.reshape %at : tensor<1x?xi64, #nn.dims<()[s0, s1] -> (1, s1)>> -> tensor<?xi64, #nn.dims<()[s0, s1] -> (s1)>>
    %y = nn.concat %flat, %a axis 0 : (tensor<?xi64, #nn.dims<()[s0, s1] -> (s1)>>, tensor<?xi64, #nn.dims<()[s0] -> (s0)>>)
      -> tensor<?xi64, #nn.dims<()[s0, s1] -> (s0 + s1)>>
    return %y : tensor<?xi64, #nn.dims<()[s0, s1] -> (s0 + s1)>>
  }
}
