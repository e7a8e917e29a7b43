// A composite that no target has is its body, before the graph is looked at; what a target of the library has stays whole.
// RUN: kiln-opt %s --split-input-file --nn-inline-composites | FileCheck %s --check-prefixes=CHECK,AUTO
// RUN: kiln-opt %s --split-input-file --nn-inline-composites=decompose=acme.Gate | FileCheck %s --check-prefixes=CHECK,NAMED
// RUN: kiln-opt %s --split-input-file --nn-inline-composites=keep=acme.Free | FileCheck %s --check-prefixes=CHECK,KEPT
// RUN: kiln-opt %s --split-input-file --nn-inline-composites=all | FileCheck %s --check-prefixes=CHECK,PLAIN

// CHECK-LABEL: module
// AUTO-SAME: kernel.composites = [{composite = "acme.Free", form = "split", nodes = "inner(Free)", reason = "the target t has no function for it"},
// AUTO-SAME: {composite = "acme.Free", form = "split", nodes = "outer(Free)",
// NAMED-SAME: {composite = "acme.Gate", form = "split", nodes = "gate(Gate)", reason = "--decompose=acme.Gate"}
// KEPT-NOT: kernel.composites
// PLAIN-SAME: {composite = "acme.Gate", form = "split", nodes = "gate(Gate)", reason = "the plainest form has no composites"}

// CHECK: func.func @main
// AUTO: %[[GATE:.*]] = nn.composite "acme.Gate" version 1(%arg0)
// AUTO: nn.exp
// AUTO-NEXT: nn.yield
// AUTO: %[[ABS:.*]] = nn.abs %[[GATE]]
// AUTO-NEXT: return %[[ABS]], %arg0
// NAMED: %[[EXP:.*]] = nn.exp %arg0
// NAMED-NEXT: %[[ABS:.*]] = nn.abs %[[EXP]]
// NAMED-NEXT: return %[[ABS]], %arg0
// KEPT: nn.composite "acme.Gate"
// KEPT: nn.composite "acme.Free"
// KEPT: nn.composite "acme.Free"
// PLAIN-NOT: nn.composite "
module attributes {kernel.target = #kernel.target<name = "t", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64", vector_bits = 128, registers = 16,
                   l1 = 32768, l2 = 524288, l3 = 4194304, features = [] with [<name = "acme.Gate", version = 1, function = "acme_gate">]>} {
  func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %g = nn.composite "acme.Gate" version 1(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      %i = nn.composite "acme.Free" version 1(%a) : (tensor<4xf32>) -> tensor<4xf32> {
      ^bb0(%b: tensor<4xf32>):
        %e = nn.exp %b : tensor<4xf32>
        nn.yield %e : tensor<4xf32>
      } loc("inner(Free)")
      nn.yield %i : tensor<4xf32>
    } loc("gate(Gate)")
    %f:2 = nn.composite "acme.Free" version 2(%g, %x) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
      %e = nn.abs %a : tensor<4xf32>
      nn.yield %e, %b : tensor<4xf32>, tensor<4xf32>
    } loc("outer(Free)")
    return %f#0, %f#1 : tensor<4xf32>, tensor<4xf32>
  }
}

// -----

// Without a target nobody has it.
// CHECK-LABEL: module
// CHECK-SAME: reason = "{{there is no function for it|the plainest form has no composites|--decompose=acme.Gate}}"
// CHECK: %[[EXP:.*]] = nn.exp %arg0
// CHECK-NEXT: return %[[EXP]]
module {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %g = nn.composite "acme.Gate" version 1(%x) : (tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%a: tensor<4xf32>):
      %e = nn.exp %a : tensor<4xf32>
      nn.yield %e : tensor<4xf32>
    }
    return %g : tensor<4xf32>
  }
}
