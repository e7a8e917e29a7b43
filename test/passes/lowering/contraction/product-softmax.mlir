// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v3 --kiln-target --kiln-kernel | FileCheck %s
// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v3 --kiln-target | FileCheck %s --check-prefix=GROUPS

module attributes {nn.model = "net", nn.symbols = []} {
  // The tiles of a row keep its maximum and its sum; what follows them is one loop that scales. No loop looks for a maximum or adds anything.
  // CHECK-LABEL: func.func private @product_softmax_0
  // CHECK: scf.for {{.*}} step %c16
  // CHECK: scf.for {{.*}} iter_args
  // CHECK-COUNT-12: vector.fma
  // CHECK: scf.for
  // CHECK: vector.reduction <maximumf>
  // CHECK: scf.if
  // CHECK: math.exp
  // CHECK: vector.reduction <add>
  // CHECK-NOT: vector.reduction
  // CHECK-NOT: iter_args
  // CHECK: return

  // One tile has all columns: they stay in registers.
  // CHECK-LABEL: func.func private @product_softmax_1
  // CHECK-COUNT-6: vector.reduction <maximumf>
  // CHECK-NOT: memref.alloca
  // CHECK: return

  // GROUPS-DAG: nn.group{{.*}}form = #nn.group_form<product_softmax>, plan = #kernel.plan<kernel = "product_softmax", tile = [
  // GROUPS-DAG: nn.group{{.*}}kernel = "product_softmax"
  // GROUPS-DAG: nn.group{{.*}}kernel = "gemm_tiled"
  // GROUPS-DAG: nn.group{{.*}}kernel = "softmax_rows"
  // GROUPS-DAG: nn.group{{.*}}kernel = "gemm_tiled"
  // GROUPS-DAG: nn.group{{.*}}kernel = "softmax_rows"
  // GROUPS-DAG: nn.group{{.*}}form = #nn.group_form<softmax_scan>, plan = #kernel.plan<kernel = "softmax_scan">
  func.func @main(%x: tensor<48x24xf32> {nn.name = "x"}, %one: tensor<1x512xf32> {nn.name = "one"})
      -> (tensor<48x96xf32> {nn.name = "a"}, tensor<48x16xf32> {nn.name = "b"}, tensor<1x1000xf32> {nn.name = "c"}, tensor<48x96xf32> {nn.name = "d"},
          tensor<48x96xf32> {nn.name = "e"}, tensor<48x1xi64> {nn.name = "f"}) {
    %w = nn.constant dense<0.5> : tensor<24x96xf32>
    %0 = nn.matmul %x, %w : tensor<48x24xf32>, tensor<24x96xf32> -> tensor<48x96xf32>
    %a = nn.softmax %0 axis 1 : tensor<48x96xf32>
    %v = nn.constant dense<0.25> : tensor<24x16xf32>
    %1 = nn.matmul %x, %v : tensor<48x24xf32>, tensor<24x16xf32> -> tensor<48x16xf32>
    %b = nn.softmax %1 axis 1 : tensor<48x16xf32>
    // One row: the columns are shared by threads instead.
    %u = nn.constant dense<0.125> : tensor<512x1000xf32>
    %2 = nn.matmul %one, %u : tensor<1x512xf32>, tensor<512x1000xf32> -> tensor<1x1000xf32>
    %c = nn.softmax %2 axis 1 : tensor<1x1000xf32>
    // The logits are a result themselves.
    %w2 = nn.constant dense<0.75> : tensor<24x96xf32>
    %d = nn.matmul %x, %w2 : tensor<48x24xf32>, tensor<24x96xf32> -> tensor<48x96xf32>
    %e = nn.softmax %d axis 1 : tensor<48x96xf32>
    %4 = nn.softmax %x axis 1 : tensor<48x24xf32>
    %f = nn.arg_reduce max %4 axis 1 : tensor<48x24xf32> -> tensor<48x1xi64>
    return %a, %b, %c, %d, %e, %f : tensor<48x96xf32>, tensor<48x16xf32>, tensor<1x1000xf32>, tensor<48x96xf32>, tensor<48x96xf32>, tensor<48x1xi64>
  }
}
