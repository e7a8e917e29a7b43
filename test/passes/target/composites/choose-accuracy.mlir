// RUN: kiln-opt %s --nn-choose-accuracy=accuracy=fast | FileCheck %s --check-prefix=FAST
// RUN: kiln-opt %s --nn-choose-accuracy=accuracy=fast,nn.log_softmax=exact,exp=half | FileCheck %s --check-prefix=NAMED
// RUN: kiln-opt %s --nn-choose-accuracy=accuracy=fast --nn-decompose-composites=decompose=all | FileCheck %s --check-prefix=SPLIT
// RUN: kiln-opt %s --nn-choose-accuracy=accuracy=fast --nn-decompose-composites=decompose=all --nn-recognize-composites | FileCheck %s --check-prefix=AGAIN
// RUN: kiln-opt %s --nn-choose-accuracy=accuracy=fast --nn-form-groups --nn-choose-kernels --nn-lower-groups | FileCheck %s --check-prefix=KERNEL
// RUN: not kiln-opt %s --nn-choose-accuracy=accuracy=softmax=good 2>&1 | FileCheck %s --check-prefix=HOW
// RUN: not kiln-opt %s --nn-choose-accuracy=accuracy=relu=ulp4 2>&1 | FileCheck %s --check-prefix=WHICH
// HOW: error: accuracy 'softmax=good': expected OP=exact, OP=ulp4 or OP=half
// WHICH: error: accuracy 'relu=ulp4': 'relu' has no choice of accuracy; expected one of attention, exp, log_softmax, sigmoid, softmax, softmax_cross_entropy, swiglu, swish

// RUN: kiln %s --accuracy=fast --op-accuracy=exp=exact --why --json --stop-after=kernel > %t.mlir 2> %t.txt && FileCheck %s --check-prefix=WHY < %t.txt
// WHY: softmax_rows - {{.*}}; exp within 4 ulp
// WHY: softmax_rows - {{.*}}; exp within 2048 ulp
// WHY: softmax_rows - {{.*}}; exp within 4 ulp
// WHY: loops - {{.*}}; exp within 1.1 ulp
// RUN: kiln %s --accuracy=fast --emit=cpp -o %t.cpp && cat %t.cpp/src/*kernels*.cpp | FileCheck %s --check-prefix=CPP
// CPP-DAG: kiln::exp_ulp4<
// CPP-DAG: kiln::exp_half<
// CPP-DAG: kiln::exp<
// RUN: kiln inspect %s --accuracy=fast --json | FileCheck %s --check-prefix=JSON
// JSON: "accuracy":{{ ?}}{
// JSON-NEXT: "function":{{ ?}}"exp_ulp4",
// JSON-NEXT: "ulp":{{ ?}}4

module attributes {nn.model = "accuracy", kernel.target = #kernel.target<name = "test", triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v3", vector_bits = 256, registers = 16, l1 = 32768, l2 = 1048576, l3 = 33554432, features = ["avx2", "fma"]>} {
  // FAST: nn.softmax %{{.*}} axis 1 {accuracy = #kernel.accuracy<ulp4>} : tensor<8x600xf32>
  // FAST: nn.softmax %{{.*}} axis 1 {accuracy = #kernel.accuracy<half>} : tensor<8x600xf16>
  // A logarithm of f16 numbers near 1 is no place for half.
  // FAST: nn.log_softmax %{{.*}} axis 1 {accuracy = #kernel.accuracy<ulp4>} : tensor<8x600xf16>
  // FAST: nn.exp %{{.*}} {accuracy = #kernel.accuracy<ulp4>} : tensor<8xf32>
  // FAST: nn.exp %{{[a-z0-9]+}} : tensor<8xf64>
  // What the operation says itself stays.
  // FAST: nn.sigmoid %{{.*}} {accuracy = #kernel.accuracy<half>} : tensor<8xf32>

  // NAMED: nn.log_softmax %{{.*}} axis 1 : tensor<8x600xf16>
  // NAMED: nn.exp %{{.*}} {accuracy = #kernel.accuracy<half>} : tensor<8xf32>

  // SPLIT: nn.exp %{{.*}} {accuracy = #kernel.accuracy<ulp4>, nn.form = "part of nn.softmax{{.*}} : tensor<8x600xf32>
  // The parts compute in f32 what the result rounds to f16.
  // SPLIT: nn.cast {{.*}} : tensor<8x600xf16> -> tensor<8x600xf32>
  // SPLIT: nn.exp %{{.*}} {accuracy = #kernel.accuracy<half>, nn.form = "part of nn.softmax{{.*}} : tensor<8x600xf32>
  // SPLIT: nn.reduce sum %{{.*}} -> tensor<8x1xf32>
  // SPLIT: nn.cast {{.*}} : tensor<8x600xf32> -> tensor<8x600xf16>
  // SPLIT: nn.exp %{{.*}} {accuracy = #kernel.accuracy<ulp4>, nn.form = "part of nn.log_softmax{{.*}} : tensor<8x600xf32>
  // AGAIN: nn.softmax %{{.*}} axis 1 {accuracy = #kernel.accuracy<ulp4>} : tensor<8x600xf32>
  // AGAIN: nn.softmax %{{.*}} axis 1 {accuracy = #kernel.accuracy<half>} : tensor<8x600xf32>
  // AGAIN: nn.log_softmax %{{.*}} axis 1 {accuracy = #kernel.accuracy<ulp4>} : tensor<8x600xf32>

  // KERNEL: math.exp %{{.*}} {kernel.accuracy = #kernel.accuracy<ulp4>} : vector<8xf32>
  // Numbers in memory are f16, sums and exp are f32.
  // KERNEL-LABEL: func.func private @softmax_rows_1(
  // KERNEL-SAME: memref<?xf16>
  // KERNEL: arith.extf %{{.*}} : vector<8xf16> to vector<8xf32>
  // KERNEL: math.exp %{{.*}} {kernel.accuracy = #kernel.accuracy<half>} : vector<8xf32>
  // KERNEL: arith.addf %{{.*}} : vector<8xf32>
  // KERNEL: arith.truncf %{{.*}} : vector<8xf32> to vector<8xf16>
  func.func @main(%x: tensor<8x600xf32> {nn.name = "x"}, %h: tensor<8x600xf16> {nn.name = "h"}, %e: tensor<8xf32> {nn.name = "e"},
                  %d: tensor<8xf64> {nn.name = "d"})
      -> (tensor<8x600xf32> {nn.name = "0"}, tensor<8x600xf16> {nn.name = "1"}, tensor<8x600xf16> {nn.name = "2"}, tensor<8xf32> {nn.name = "3"},
          tensor<8xf64> {nn.name = "4"}, tensor<8xf32> {nn.name = "5"}) {
    %0 = nn.softmax %x axis 1 : tensor<8x600xf32>
    %1 = nn.softmax %h axis 1 : tensor<8x600xf16>
    %2 = nn.log_softmax %h axis 1 : tensor<8x600xf16>
    %3 = nn.exp %e : tensor<8xf32>
    %4 = nn.exp %d : tensor<8xf64>
    %5 = nn.sigmoid %e {accuracy = #kernel.accuracy<half>} : tensor<8xf32>
    return %0, %1, %2, %3, %4, %5 : tensor<8x600xf32>, tensor<8x600xf16>, tensor<8x600xf16>, tensor<8xf32>, tensor<8xf64>, tensor<8xf32>
  }
}
