// Arguments that the caller packs: the kernel of each says the panels, which depend on the target and on no size. One that no kernel reads so is refused.
// RUN: kiln-opt %s --split-input-file --kiln-set-target=name=x86-64-v4 --kiln-target --kiln-kernel --verify-diagnostics | FileCheck %s
// RUN: kiln-opt %s --split-input-file --kiln-set-target=name=x86-64-v3 --kiln-target --kiln-kernel --verify-diagnostics | FileCheck %s --check-prefix=NARROW

// CHECK: kernel.entry
// CHECK-SAME: layout = "packed 32x1"
// NARROW: kernel.entry
// NARROW-SAME: layout = "packed 16x1"
#rows = #nn.dims<()[s0, s1, s2] -> (s0, s2)>
#matrix = #nn.dims<()[s0, s1, s2] -> (s2, s1)>
#result = #nn.dims<()[s0, s1, s2] -> (s0, s1)>
module attributes {nn.model = "gemm", nn.symbols = ["m", "n", "k"]} {
  func.func @main(%a: tensor<?x?xf32, #rows> {nn.name = "a"}, %b: tensor<?x?xf32, #matrix> {nn.name = "b", nn.layout = "packed"})
      -> (tensor<?x?xf32, #result> {nn.name = "c"}) {
    %c = nn.matmul %a, %b : tensor<?x?xf32, #rows>, tensor<?x?xf32, #matrix> -> tensor<?x?xf32, #result>
    return %c : tensor<?x?xf32, #result>
  }
}

// -----

// No product reads this one.
module attributes {nn.model = "sum", nn.symbols = []} {
  // expected-error@+1 {{input 'b' cannot be packed: no kernel reads it as the right side of a product}}
  func.func @main(%a: tensor<4x8xf32> {nn.name = "a"}, %b: tensor<4x8xf32> {nn.name = "b", nn.layout = "packed"}) -> (tensor<4x8xf32> {nn.name = "c"}) {
    %c = nn.add %a, %b : tensor<4x8xf32>
    return %c : tensor<4x8xf32>
  }
}

// -----

// Panels that no kernel of the target reads.
#others = #nn.dims<()[s0] -> (s0, 8)>
module attributes {nn.model = "other_panels", nn.symbols = ["m"]} {
  func.func @main(%a: tensor<?x8xf32, #others> {nn.name = "a"}, %b: tensor<8x64xf32> {nn.name = "b", nn.layout = "packed 5x1"})
      -> (tensor<?x64xf32, #nn.dims<()[s0] -> (s0, 64)>> {nn.name = "c"}) {
    // expected-error@+1 {{expected an operand that is packed 5x1, its kernel takes it packed}}
    %c = nn.matmul %a, %b : tensor<?x8xf32, #others>, tensor<8x64xf32> -> tensor<?x64xf32, #nn.dims<()[s0] -> (s0, 64)>>
    return %c : tensor<?x64xf32, #nn.dims<()[s0] -> (s0, 64)>>
  }
}
