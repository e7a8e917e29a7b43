// The entry of a model with a dynamic dimension, and a kernel on vectors.
// RUN: kiln-translate --kernel-to-cpp %s | FileCheck %s

// CHECK: #define SMALL_WORKSPACE_SIZE 256
// CHECK: #define SMALL_BATCH_MIN 1
// CHECK: #define SMALL_BATCH_MAX 64
// CHECK: typedef struct small_dims {
// CHECK-NEXT: int64_t batch; /* 1 to 64 */
// CHECK: typedef struct small_inputs {
// CHECK-NEXT: const float *x_0; /* f32[batch,16], 'x:0' */
// CHECK-NEXT: const uint8_t *mask; /* bool[batch] */
// CHECK: SMALL_API kiln_status small_run(const small_dims *dims, const small_inputs *inputs, const small_outputs *outputs, void *workspace,
// CHECK-NEXT: const kiln_context *context);

// CHECK: //--- small_run.cpp
// CHECK: void small_kernel_scale_work(const void *argument, kiln_kernel_info &info) {
// CHECK-NEXT: const auto *const a = static_cast<const small_kernel_scale_arguments *>(argument);
// CHECK-NEXT: info.flops = kiln::count_work(double(a->batch) * 16.0);
// CHECK-NEXT: info.bytes = kiln::count_work((kiln::work_remainder(kiln::work_quotient({{.*}}, 4.0), 5.0) + -kiln::work_quotient(-({{.*}}), 7.0)));
// CHECK-NEXT: }
// CHECK: {"small", "scale", "Mul_0(Mul) Relu_1(Relu)", "rows of 16", 0, 2, 0, 0, 0},
// CHECK: {"small", "pick", {{.*}}, 1, 2, 0, 100, 7},
// CHECK: if (dims->batch < 1 || dims->batch > 64)
// CHECK-NEXT: return KILN_STATUS_DIMENSION_OUT_OF_BOUNDS;
// CHECK: float *const hidden = reinterpret_cast<float *>(static_cast<unsigned char *>(workspace) + 64);
// CHECK: if (!(dims->batch * 2 <= 100)) // twice the batch fits
// CHECK-NEXT: return KILN_STATUS_DIMENSION_MISMATCH;
// CHECK: small_kernel_scale_arguments arguments = {inputs->x_0, w0, hidden, dims->batch};
// CHECK-NEXT: kiln::launch(context, launches[0], small_kernel_scale_task, &arguments, dims->batch, true, small_kernel_scale_work);
// CHECK: reinterpret_cast<const int8_t *>(inputs->mask)
// CHECK: small_kernel_pick_task, &arguments, dims->batch, false);

// CHECK: //--- small_kernels_0.cpp
// CHECK: using kiln::f32x16;
// CHECK: // Mul_0(Mul), Relu_1(Relu)
// CHECK-NEXT: // shapes: f32[batch,16]
// CHECK-NEXT: // algorithm: rows of 16
// CHECK-NEXT: // reason: one vector a row
// CHECK-NEXT: void small_kernel_scale(const float *in, const float *weight, float *out, int64_t /*batch*/, int64_t begin, int64_t end) {
// CHECK-NEXT: for (int64_t row = begin; row < end; ++row) {
// CHECK-NEXT: const int64_t at = row * 16;
// CHECK-NEXT: const f32x16 v = kiln::max<f32x16>(kiln::load<f32x16>(in + at) * kiln::load<f32x16>(weight), kiln::broadcast<f32x16>(0.0f));
// CHECK-NEXT: kiln::store<f32x16>(out + at, v);
module attributes {nn.model = "small", nn.symbols = ["batch"], nn.symbol_bounds = [array<i64: 1, 64>], kernel.workspace_bytes = 256 : i64} {
  kernel.weight @w0 : memref<16xf32> = dense<2.0> : tensor<16xf32> at 64
  func.func private @scale(%in: memref<?xf32> {kernel.name = "in"}, %w: memref<16xf32> {kernel.name = "weight"}, %out: memref<?xf32> {kernel.name = "out", kernel.written},
                           %batch: index {kernel.name = "batch"}, %begin: index, %end: index)
      attributes {kernel.nodes = ["Mul_0(Mul)", "Relu_1(Relu)"], kernel.shapes = "f32[batch,16]", kernel.algorithm = "rows of 16", kernel.reason = "one vector a row"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %zero = arith.constant dense<0.0> : vector<16xf32>
    scf.for %row = %begin to %end step %c1 {
      %at = arith.muli %row, %c16 : index loc("at")
      %x = vector.load %in[%at] : memref<?xf32>, vector<16xf32>
      %s = vector.load %w[%c0] : memref<16xf32>, vector<16xf32>
      %y = arith.mulf %x, %s : vector<16xf32>
      %r = arith.maximumf %y, %zero : vector<16xf32>
      vector.store %r, %out[%at] : memref<?xf32>, vector<16xf32>
    } loc("row")
    return
  }
  func.func private @pick(%in: memref<?xf32> {kernel.name = "in"}, %mask: memref<?xi8> {kernel.name = "mask"}, %out: memref<?xf32> {kernel.name = "out", kernel.written},
                          %begin: index, %end: index) attributes {kernel.nodes = ["Where_2(Where)"]} {
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %no = arith.constant 0 : i8
    %zero = arith.constant -0.0 : f32
    scf.for %row = %begin to %end step %c1 {
      %flag = memref.load %mask[%row] : memref<?xi8>
      %set = arith.cmpi ne, %flag, %no : i8
      %at = arith.muli %row, %c16 : index
      %x = memref.load %in[%at] : memref<?xf32>
      %y = arith.select %set, %x, %zero : f32
      memref.store %y, %out[%row] : memref<?xf32>
    }
    return
  }
  kernel.entry @run inputs [{name = "x:0", type = tensor<?x16xf32, #nn.dims<()[s0] -> (s0, 16)>>}, {name = "mask", type = tensor<?xi1, #nn.dims<()[s0] -> (s0)>>}]
      outputs [{name = "y", type = tensor<?xf32, #nn.dims<()[s0] -> (s0)>>}] {
  ^bb0(%x: memref<?xf32>, %mask: memref<?xi8>, %y: memref<?xf32>, %workspace: memref<?xi8>, %batch: index):
    %c2 = arith.constant 2 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %c100 = arith.constant 100 : index
    %w = kernel.get_weight @w0 : memref<16xf32>
    %n = arith.muli %batch, %c16 : index
    %hidden = memref.view %workspace[%c64][%n] : memref<?xi8> to memref<?xf32> loc("hidden")
    %twice = arith.muli %batch, %c2 : index
    %ok = arith.cmpi sle, %twice, %c100 : index
    kernel.check %ok, "KILN_STATUS_DIMENSION_MISMATCH", "twice the batch fits"
    kernel.launch @scale(%x, %w, %hidden, %batch) tasks(%batch) parallel {kernel.work = affine_map<()[s0] -> (s0 * 16, ((s0 + 3) floordiv 4) mod 5 + (s0 * s0) ceildiv 7)>}
        : memref<?xf32>, memref<16xf32>, memref<?xf32>, index
    kernel.launch @pick(%hidden, %mask, %y) tasks(%batch) {flops = 100 : i64, bytes = 7 : i64} : memref<?xf32>, memref<?xi8>, memref<?xf32>
  }
}
