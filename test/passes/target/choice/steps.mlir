// The step of a kernel is in its plan: the target's best one for the types, another one that a profile has measured, or the one that is written for any CPU.
// RUN: kiln-opt %s --kiln-set-target=name=znver4 --nn-form-groups --nn-choose-kernels | FileCheck %s --check-prefixes=CHECK,VNNI
// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v3 --nn-form-groups --nn-choose-kernels | FileCheck %s --check-prefixes=CHECK,ANY
// Plans that were edited, and why their kernels do not follow them.
// RUN: kiln-opt %s --kiln-set-target=name=sapphirerapids --nn-form-groups --nn-choose-kernels > %t.mlir && kiln-opt %t.mlir --nn-verify-target
// RUN: sed 's/step = "dot_u8s8">/step = "dot_u8s9">/' %t.mlir > %t.wrong.mlir && not kiln-opt %t.wrong.mlir --nn-verify-target 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: sed 's/step = "dot_u8s8">/step = "dot_s8u8">/' %t.mlir > %t.wrong.mlir && not kiln-opt %t.wrong.mlir --nn-verify-target 2>&1 | FileCheck %s --check-prefix=TYPES
// RUN: sed 's/, step = "dot_u8s8">/>/' %t.mlir > %t.wrong.mlir && not kiln-opt %t.wrong.mlir --nn-verify-target 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: sed '/gemm_tiled/s/>, reason/, step = "dot_u8s8">, reason/' %t.mlir > %t.wrong.mlir && not kiln-opt %t.wrong.mlir --nn-verify-target 2>&1 | FileCheck %s --check-prefix=EXTRA
// UNKNOWN: kernel 'gemm_bytes' cannot follow it: the target has no step for ui8 and i8 whose sums are i32 and whose function is 'dot_u8s9'
// TYPES: kernel 'gemm_bytes' cannot follow it: the target has no step for ui8 and i8 whose sums are i32 and whose function is 'dot_s8u8'
// NONE: kernel 'gemm_bytes' needs a step
// EXTRA: kernel 'gemm_tiled' has no step

// CHECK: module attributes
module attributes {kernel.profile = {
  "matmul ui8[29, 16] i8[16, 33]* -> i32[29, 33]" = #kernel.plan<kernel = "gemm_bytes", step = "dot_u8s8_pairs">,
  "matmul ui8[29, 20] i8[20, 33]* -> i32[29, 33]" = #kernel.plan<kernel = "gemm_bytes", step = "dot_of_another_cpu">}} {
  // CHECK-LABEL: func @own
  // VNNI: kernel = "gemm_bytes", {{.*}}, step = "dot_u8s8">, reason = "product with constant weights: 4 products of ui8 and i8 for each sum, by dot_u8s8"
  // ANY: kernel = "gemm_bytes", {{.*}}, step = "dot_u8s8_bounded">, reason = "product with constant weights: 4 products of ui8 and i8 for each sum, by dot_u8s8_bounded
  func.func @own(%x: tensor<29x12xui8>) -> tensor<29x33xi32> {
    %w = nn.constant dense<3> : tensor<12x33xi8>
    %y = nn.matmul %x, %w : tensor<29x12xui8>, tensor<12x33xi8> -> tensor<29x33xi32>
    return %y : tensor<29x33xi32>
  }
  // CHECK-LABEL: func @measured
  // CHECK: kernel = "gemm_bytes", {{.*}}, step = "dot_u8s8_pairs">, reason = "profile: measured to be the fastest
  func.func @measured(%x: tensor<29x16xui8>) -> tensor<29x33xi32> {
    %w = nn.constant dense<3> : tensor<16x33xi8>
    %y = nn.matmul %x, %w : tensor<29x16xui8>, tensor<16x33xi8> -> tensor<29x33xi32>
    return %y : tensor<29x33xi32>
  }
  // What a profile has of a step that the target does not know is passed over.
  // CHECK-LABEL: func @foreign
  // VNNI: step = "dot_u8s8">, reason = "product with constant weights
  // ANY: step = "dot_u8s8_bounded">, reason = "product with constant weights
  func.func @foreign(%x: tensor<29x20xui8>) -> tensor<29x33xi32> {
    %w = nn.constant dense<3> : tensor<20x33xi8>
    %y = nn.matmul %x, %w : tensor<29x20xui8>, tensor<20x33xi8> -> tensor<29x33xi32>
    return %y : tensor<29x33xi32>
  }
  // CHECK-LABEL: func @plain
  // CHECK-NOT: step =
  func.func @plain(%x: tensor<29x20xf32>) -> tensor<29x33xf32> {
    %w = nn.constant dense<3.0> : tensor<20x33xf32>
    %y = nn.matmul %x, %w : tensor<29x20xf32>, tensor<20x33xf32> -> tensor<29x33xf32>
    return %y : tensor<29x33xf32>
  }
}
