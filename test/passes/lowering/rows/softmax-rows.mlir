// RUN: kiln-opt %s --kiln-set-target=name=x86-64-v3 --nn-form-groups --nn-choose-kernels --nn-lower-groups --canonicalize --cse | FileCheck %s

module {
  // A short row is read once and stays in registers, its tail as well: no loop but the one over rows.
  // CHECK-LABEL: func.func private @softmax_rows_0
  // CHECK: scf.for
  // CHECK-NOT: scf.for
  // CHECK-COUNT-3: vector.load %arg0{{.*}} vector<8xf32>
  // CHECK: vector.load %arg0{{.*}} vector<4xf32>
  // CHECK-COUNT-2: memref.load %arg0
  // CHECK-NOT: vector.load %arg1
  // CHECK: return

  // Across columns: tasks are blocks of columns, each copied once to an array of the kernel.
  // CHECK-LABEL: func.func private @softmax_rows_1
  // CHECK: %[[SCRATCH:.*]] = memref.alloca() {alignment = 64 : i64} : memref<4352xf32>
  // CHECK: vector.load %arg0
  // CHECK: vector.store %{{.*}}, %[[SCRATCH]]
  // CHECK-NOT: vector.load %arg0
  // CHECK: return

  // CHECK-LABEL: kernel.entry @run
  // CHECK: kernel.launch @softmax_rows_0({{.*}}) tasks(%c40)
  // CHECK: kernel.launch @softmax_rows_1({{.*}}) tasks(%c32)
  func.func @main(%x: tensor<40x30xf32> {nn.name = "x"}, %c: tensor<2x16x4000xf32> {nn.name = "c"})
      -> (tensor<40x30xf32> {nn.name = "y"}, tensor<2x16x4000xf32> {nn.name = "d"}) {
    %0 = nn.softmax %x axis 1 : tensor<40x30xf32>
    %1 = nn.softmax %c axis 1 : tensor<2x16x4000xf32>
    return %0, %1 : tensor<40x30xf32>, tensor<2x16x4000xf32>
  }
}
