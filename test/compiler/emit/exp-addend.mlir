// An exp is written in the cheaper form whose bits are the same in sums with 1 or more, if it is used in such sums only. MathTests.cpp compares the bits.
// RUN: rm -rf %t && kiln %s --target=x86-64-v3 --emit=cpp -o %t && cat %t/src/*kernels*.cpp | FileCheck %s
// RUN: kiln %s --target=x86-64-v3 --accuracy=fast --emit=cpp -o %t.fast && cat %t.fast/src/*kernels*.cpp | FileCheck %s --check-prefix=FAST --implicit-check-not=exp_addend
// FAST: kiln::exp_ulp4<
module {
  // CHECK-DAG: kiln::exp_addend<f32x8>(-kiln::load<f32x8>(in)) + kiln::broadcast<f32x8>(1.0f)
  // CHECK-DAG: kiln::exp_addend<f32x8>(kiln::load<f32x8>(in)) + kiln::broadcast<f32x8>(2.0f)
  // Less than 1 leaves bits of a small result.
  // CHECK-DAG: kiln::exp<f32x8>(kiln::load<f32x8>(in)) + kiln::broadcast<f32x8>(0.5f)
  // CHECK-DAG: [[E:v[0-9]*]] = kiln::exp<f32x8>(kiln::load<f32x8>(in));
  // CHECK-DAG: [[E]] / ([[E]] + kiln::broadcast<f32x8>(1.0f))
  func.func @main(%a: tensor<8xf32> {nn.name = "a"}, %b: tensor<8xf32> {nn.name = "b"}, %c: tensor<8xf32> {nn.name = "c"}, %d: tensor<8xf32> {nn.name = "d"})
      -> (tensor<8xf32> {nn.name = "0"}, tensor<8xf32> {nn.name = "1"}, tensor<8xf32> {nn.name = "2"}, tensor<8xf32> {nn.name = "3"}) {
    %one = nn.splat 1.0 : f32 -> tensor<8xf32>
    %two = nn.splat 2.0 : f32 -> tensor<8xf32>
    %half = nn.splat 0.5 : f32 -> tensor<8xf32>
    %0 = nn.sigmoid %a : tensor<8xf32>
    %e = nn.exp %b : tensor<8xf32>
    %1 = nn.add %two, %e : tensor<8xf32>
    %f = nn.exp %c : tensor<8xf32>
    %2 = nn.add %f, %half : tensor<8xf32>
    %g = nn.exp %d : tensor<8xf32>
    %h = nn.add %g, %one : tensor<8xf32>
    %3 = nn.div %g, %h : tensor<8xf32>
    return %0, %1, %2, %3 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
  }
}
