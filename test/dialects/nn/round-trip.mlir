// RUN: kiln-opt %s | kiln-opt | FileCheck %s
// RUN: kiln-opt %s -emit-bytecode | kiln-opt | FileCheck %s
// RUN: kiln-opt %s -mlir-print-op-generic | kiln-opt | FileCheck %s

// CHECK-LABEL: func @unary
// CHECK: nn.neg
// CHECK: nn.abs
// CHECK: nn.sign
// CHECK: nn.reciprocal
// CHECK: nn.sqrt
// CHECK: nn.floor
// CHECK: nn.ceil
// CHECK: nn.round
// CHECK: nn.exp
// CHECK: nn.expm1
// CHECK: nn.log
// CHECK: nn.log1p
// CHECK: nn.erf
// CHECK: nn.erfc
// CHECK: nn.sin
// CHECK: nn.cos
// CHECK: nn.tan
// CHECK: nn.asin
// CHECK: nn.acos
// CHECK: nn.atan
// CHECK: nn.sinh
// CHECK: nn.cosh
// CHECK: nn.tanh
// CHECK: nn.asinh
// CHECK: nn.acosh
// CHECK: nn.atanh
// CHECK: nn.sigmoid
// CHECK: nn.relu
// CHECK: nn.softplus
// CHECK: nn.softsign
// CHECK: nn.mish
// CHECK: nn.hard_swish
// CHECK: nn.gelu
// CHECK: nn.gelu_tanh
// CHECK: nn.clamp
// CHECK: nn.leaky_relu
// CHECK: nn.thresholded_relu
// CHECK: nn.elu
// CHECK: nn.celu
// CHECK: nn.selu
// CHECK: nn.swish
// CHECK: nn.hard_sigmoid
// CHECK: nn.shrink
// CHECK: nn.is_nan
// CHECK: nn.cast
// CHECK: nn.bitcast
// CHECK: nn.not
func.func @unary(%x: tensor<2x3xf32>) {
  %0 = nn.neg %x : tensor<2x3xf32>
  %1 = nn.abs %x : tensor<2x3xf32>
  %2 = nn.sign %x : tensor<2x3xf32>
  %3 = nn.reciprocal %x : tensor<2x3xf32>
  %4 = nn.sqrt %x : tensor<2x3xf32>
  %5 = nn.floor %x : tensor<2x3xf32>
  %6 = nn.ceil %x : tensor<2x3xf32>
  %7 = nn.round %x : tensor<2x3xf32>
  %8 = nn.exp %x : tensor<2x3xf32>
  %expm1 = nn.expm1 %x : tensor<2x3xf32>
  %9 = nn.log %x : tensor<2x3xf32>
  %log1p = nn.log1p %x : tensor<2x3xf32>
  %10 = nn.erf %x : tensor<2x3xf32>
  %erfc = nn.erfc %x : tensor<2x3xf32>
  %11 = nn.sin %x : tensor<2x3xf32>
  %12 = nn.cos %x : tensor<2x3xf32>
  %13 = nn.tan %x : tensor<2x3xf32>
  %14 = nn.asin %x : tensor<2x3xf32>
  %15 = nn.acos %x : tensor<2x3xf32>
  %16 = nn.atan %x : tensor<2x3xf32>
  %17 = nn.sinh %x : tensor<2x3xf32>
  %18 = nn.cosh %x : tensor<2x3xf32>
  %19 = nn.tanh %x : tensor<2x3xf32>
  %20 = nn.asinh %x : tensor<2x3xf32>
  %21 = nn.acosh %x : tensor<2x3xf32>
  %22 = nn.atanh %x : tensor<2x3xf32>
  %23 = nn.sigmoid %x : tensor<2x3xf32>
  %24 = nn.relu %x : tensor<2x3xf32>
  %25 = nn.softplus %x : tensor<2x3xf32>
  %26 = nn.softsign %x : tensor<2x3xf32>
  %27 = nn.mish %x : tensor<2x3xf32>
  %28 = nn.hard_swish %x : tensor<2x3xf32>
  %29 = nn.gelu %x : tensor<2x3xf32>
  %30 = nn.gelu_tanh %x : tensor<2x3xf32>
  %100 = nn.clamp %x {min = 0.0, max = 6.0} : tensor<2x3xf32>
  %101 = nn.leaky_relu %x {alpha = 0.1} : tensor<2x3xf32>
  %102 = nn.thresholded_relu %x {alpha = 0.1} : tensor<2x3xf32>
  %103 = nn.elu %x {alpha = 0.1} : tensor<2x3xf32>
  %104 = nn.celu %x {alpha = 0.1} : tensor<2x3xf32>
  %105 = nn.selu %x {alpha = 0.1, gamma = 1.1} : tensor<2x3xf32>
  %106 = nn.swish %x {alpha = 1.0} : tensor<2x3xf32>
  %107 = nn.hard_sigmoid %x {alpha = 0.2, beta = 0.5} : tensor<2x3xf32>
  %108 = nn.shrink %x {lambda = 0.5, bias = 0.0} : tensor<2x3xf32>
  %109 = nn.is_nan %x : tensor<2x3xf32> -> tensor<2x3xi1>
  %110 = nn.cast %x : tensor<2x3xf32> -> tensor<2x3xui8>
  %112 = nn.bitcast %x : tensor<2x3xf32> -> tensor<2x3xi32>
  %111 = nn.not %109 : tensor<2x3xi1>
  return
}

// CHECK-LABEL: func @binary
// CHECK: nn.add
// CHECK: nn.sub
// CHECK: nn.mul
// CHECK: nn.div
// CHECK: nn.mod
// CHECK: nn.fmod
// CHECK: nn.pow
// CHECK: nn.minimum
// CHECK: nn.maximum
// CHECK: nn.prelu
// CHECK: nn.swiglu
// CHECK: nn.and
// CHECK: nn.or
// CHECK: nn.xor
// CHECK: nn.shift_left
// CHECK: nn.shift_right
// CHECK: nn.equal
// CHECK: nn.less
// CHECK: nn.less_equal
// CHECK: nn.greater
// CHECK: nn.greater_equal
// CHECK: nn.select
func.func @binary(%x: tensor<?x3xf32, #nn.dims<()[s0] -> (s0, 3)>>, %i: tensor<4xui32>, %b: tensor<4xi1>) {
  %0 = nn.add %x, %x : tensor<?x3xf32, #nn.dims<()[s0] -> (s0, 3)>>
  %1 = nn.sub %x, %x : tensor<?x3xf32, #nn.dims<()[s0] -> (s0, 3)>>
  %2 = nn.mul %x, %x : tensor<?x3xf32, #nn.dims<()[s0] -> (s0, 3)>>
  %3 = nn.div %x, %x : tensor<?x3xf32, #nn.dims<()[s0] -> (s0, 3)>>
  %4 = nn.mod %x, %x : tensor<?x3xf32, #nn.dims<()[s0] -> (s0, 3)>>
  %5 = nn.fmod %x, %x : tensor<?x3xf32, #nn.dims<()[s0] -> (s0, 3)>>
  %6 = nn.pow %x, %x : tensor<?x3xf32, #nn.dims<()[s0] -> (s0, 3)>>
  %7 = nn.minimum %x, %x : tensor<?x3xf32, #nn.dims<()[s0] -> (s0, 3)>>
  %8 = nn.maximum %x, %x : tensor<?x3xf32, #nn.dims<()[s0] -> (s0, 3)>>
  %9 = nn.prelu %x, %x : tensor<?x3xf32, #nn.dims<()[s0] -> (s0, 3)>>
  %10 = nn.swiglu %x, %x {alpha = 1.0} : tensor<?x3xf32, #nn.dims<()[s0] -> (s0, 3)>>
  %20 = nn.and %i, %i : tensor<4xui32>
  %21 = nn.or %i, %i : tensor<4xui32>
  %22 = nn.xor %i, %i : tensor<4xui32>
  %23 = nn.shift_left %i, %i : tensor<4xui32>
  %24 = nn.shift_right %i, %i : tensor<4xui32>
  %30 = nn.equal %i, %i : tensor<4xui32> -> tensor<4xi1>
  %31 = nn.less %i, %i : tensor<4xui32> -> tensor<4xi1>
  %32 = nn.less_equal %i, %i : tensor<4xui32> -> tensor<4xi1>
  %33 = nn.greater %i, %i : tensor<4xui32> -> tensor<4xi1>
  %34 = nn.greater_equal %i, %i : tensor<4xui32> -> tensor<4xi1>
  %40 = nn.select %b, %i, %i : tensor<4xi1>, tensor<4xui32>
  return
}

// CHECK-LABEL: func @movement
// CHECK: nn.reshape
// CHECK: nn.transpose
// CHECK: nn.broadcast_to
// CHECK: nn.slice
// CHECK: nn.pad
// CHECK: nn.concat
// CHECK: nn.gather
// CHECK: nn.gather_elements
// CHECK: nn.gather_nd
// CHECK: nn.scatter_elements
// CHECK: nn.scatter_nd
// CHECK: nn.iota
// CHECK: nn.resize
func.func @movement(%x: tensor<4x6xf32>, %v: tensor<f32>, %i: tensor<2x6xi64>, %p: tensor<2x1xi64>, %u: tensor<2x6xf32>, %n: tensor<1x3x4x4xf32>) {
  %0 = nn.reshape %x : tensor<4x6xf32> -> tensor<24xf32>
  %1 = nn.transpose %x [1, 0] : tensor<4x6xf32> -> tensor<6x4xf32>
  %2 = nn.broadcast_to %x : tensor<4x6xf32> -> tensor<2x4x6xf32>
  %3 = nn.slice %x starts affine_map<() -> (3, 1)> steps [-1, 2] : tensor<4x6xf32> -> tensor<4x3xf32>
  %4 = nn.pad %x, %v low affine_map<() -> (0, 1)> high affine_map<() -> (0, 1)> interior [0, 0] mode reflect : tensor<4x6xf32>, tensor<f32> -> tensor<4x8xf32>
  %5 = nn.concat %x, %x axis 1 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x12xf32>
  %6 = nn.gather %x, %p axis 0 : tensor<4x6xf32>, tensor<2x1xi64> -> tensor<2x1x6xf32>
  %7 = nn.gather_elements %x, %i axis 0 : tensor<4x6xf32>, tensor<2x6xi64> -> tensor<2x6xf32>
  %8 = nn.gather_nd %x, %p batch_dims 0 : tensor<4x6xf32>, tensor<2x1xi64> -> tensor<2x6xf32>
  %9 = nn.scatter_elements %x, %i, %u axis 0 reduction max : tensor<4x6xf32>, tensor<2x6xi64>, tensor<2x6xf32>
  %10 = nn.scatter_nd %x, %p, %u reduction add : tensor<4x6xf32>, tensor<2x1xi64>, tensor<2x6xf32>
  %11 = nn.iota axis 1 : tensor<2x4xi64>
  %12 = nn.resize %n mode linear coordinates "half_pixel" nearest "floor" scales [1.0, 1.0, 2.0, 2.0] {exclude_outside = true} : tensor<1x3x4x4xf32> -> tensor<1x3x8x8xf32>
  return
}

// CHECK-LABEL: func @compute
// CHECK: nn.matmul
// CHECK: nn.conv
// CHECK: nn.conv_transpose
// CHECK: nn.winograd_filter %{{.*}} tile 4
// CHECK: nn.winograd_conv %{{.*}}, %{{.*}} transformed %{{.*}} tile 4
// CHECK: nn.winograd_conv %{{.*}} tile 2
// CHECK: nn.reduce
// CHECK: nn.arg_reduce
// CHECK: nn.cumulative
// CHECK: nn.top_k
// CHECK: nn.max_pool
// CHECK: nn.avg_pool
// CHECK: nn.softmax
// CHECK: nn.log_softmax
// CHECK: nn.hardmax
// CHECK: nn.layer_norm
// CHECK: nn.rms_norm
// CHECK: nn.lp_norm %{{.*}} axis 1 p 2 :
// CHECK: nn.mean_variance_norm %{{.*}} [0, 2] :
// CHECK: nn.batch_norm %{{.*}} scale %[[P:.*]] bias %[[P]] mean %[[P]] variance %[[P]] epsilon {{.*}} : tensor<2x4x8xf32>, tensor<4xf32>
// CHECK: nn.attention query(%{{.*}}) key(%{{.*}}) value(%{{.*}}) bias(%{{.*}}) keep(%{{.*}}) scale 1.250000e-01 causal window 3 {fill = -1.000000e+04 : f64}
// CHECK: nn.attention query(%{{.*}}) key(%{{.*}}) value(%{{.*}}) scale 1.000000e+00 :
func.func @compute(%x: tensor<2x4x8xf32>, %y: tensor<8x16xf32>, %n: tensor<1x4x8x8xf32>, %w: tensor<8x4x2x2xf32>, %t: tensor<4x2x2x2xf32>, %s: tensor<8xf32>,
                   %u: tensor<2x8x4xf32>, %k: tensor<8x8x3x3xf32>) {
  %0 = nn.matmul %x, %y : tensor<2x4x8xf32>, tensor<8x16xf32> -> tensor<2x4x16xf32>
  %1 = nn.conv %n, %w strides [1, 1] dilations [1, 1] pads [0, 0, 1, 1] groups 1 layout channels_first : tensor<1x4x8x8xf32>, tensor<8x4x2x2xf32> -> tensor<1x8x8x8xf32>
  %2 = nn.conv_transpose %n, %t strides [2, 2] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first : tensor<1x4x8x8xf32>, tensor<4x2x2x2xf32> -> tensor<1x2x16x16xf32>
  %f = nn.winograd_filter %k tile 4 : tensor<8x8x3x3xf32> -> tensor<36x1x9x16xf32>
  %v = nn.winograd_conv %n, %k transformed %f tile 4 : tensor<1x4x8x8xf32>, tensor<8x8x3x3xf32>, tensor<36x1x9x16xf32> -> tensor<1x2x6x8xf32>
  %z = nn.winograd_conv %n, %k tile 2 : tensor<1x4x8x8xf32>, tensor<8x8x3x3xf32> -> tensor<1x2x6x8xf32>
  %3 = nn.reduce mean %x [1, 2] : tensor<2x4x8xf32> -> tensor<2x1x1xf32>
  %4 = nn.arg_reduce max %x axis 1 last : tensor<2x4x8xf32> -> tensor<2x1x8xi64>
  %5 = nn.cumulative sum %x axis 1 exclusive reverse : tensor<2x4x8xf32>
  %6, %7 = nn.top_k %x axis 2 largest : tensor<2x4x8xf32> -> tensor<2x4x3xf32>, tensor<2x4x3xi64>
  %8 = nn.max_pool %n kernel [3, 3] strides [2, 2] dilations [1, 1] pads [0, 0, 0, 0] layout channels_first : tensor<1x4x8x8xf32> -> tensor<1x4x4x4xf32>
  %9 = nn.avg_pool %n kernel [2, 2] strides [2, 2] dilations [1, 1] pads [0, 0, 0, 0] layout channels_first count_include_pad : tensor<1x4x8x8xf32> -> tensor<1x4x4x4xf32>
  %10 = nn.softmax %x axis 1 : tensor<2x4x8xf32>
  %11 = nn.log_softmax %x axis 1 : tensor<2x4x8xf32>
  %12 = nn.hardmax %x axis 1 : tensor<2x4x8xf32>
  %13 = nn.layer_norm %x, %s, %s axis 2 epsilon 1.0e-5 : tensor<2x4x8xf32>, tensor<8xf32>, tensor<8xf32>
  %14 = nn.rms_norm %x, %s axis 2 epsilon 1.0e-5 : tensor<2x4x8xf32>, tensor<8xf32>
  %l = nn.lp_norm %x axis 1 p 2 : tensor<2x4x8xf32>
  %m = nn.mean_variance_norm %x [0, 2] : tensor<2x4x8xf32>
  %p = nn.splat 2.0 : f32 -> tensor<4xf32>
  %b = nn.batch_norm %x scale %p bias %p mean %p variance %p epsilon 1.0e-5 : tensor<2x4x8xf32>, tensor<4xf32>
  %15 = nn.matmul %x, %u : tensor<2x4x8xf32>, tensor<2x8x4xf32> -> tensor<2x4x4xf32>
  %16 = nn.less %15, %15 : tensor<2x4x4xf32> -> tensor<2x4x4xi1>
  %17 = nn.attention query(%x) key(%x) value(%15) bias(%15) keep(%16) scale 0.125 causal window 3 {fill = -10000.0 : f64}
    : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>, tensor<2x4x4xi1>) -> tensor<2x4x4xf32>
  %18 = nn.attention query(%x) key(%x) value(%x) scale 1.0 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  return
}

// CHECK-LABEL: func @recurrent
// CHECK: nn.lstm
// CHECK: nn.gru
// CHECK: nn.rnn
func.func @recurrent(%g: tensor<5x1x16xf32>, %r: tensor<1x4x16xf32>, %h: tensor<1x1x4xf32>, %k: tensor<5x1x24xf32>, %q: tensor<2x4x12xf32>, %b: tensor<2x4xf32>,
                     %p: tensor<1x12xf32>, %l: tensor<1xi32>, %i: tensor<2x1x4xf32>, %m: tensor<5x1x4xf32>, %s: tensor<1x4x4xf32>) {
  %0, %1, %2 = nn.lstm gates(%g) recurrence(%r) hidden(%h) cell(%h) peephole(%p) lengths(%l) activations ["Sigmoid", "Tanh", "Tanh"] reverse : (tensor<5x1x16xf32>, tensor<1x4x16xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x12xf32>, tensor<1xi32>) -> (tensor<5x1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>)
  %3, %4 = nn.gru gates(%k) recurrence(%q) hidden(%i) recurrence_bias(%b) activations ["Sigmoid", "Tanh"] linear_before_reset : (tensor<5x1x24xf32>, tensor<2x4x12xf32>, tensor<2x1x4xf32>, tensor<2x4xf32>) -> (tensor<5x2x1x4xf32>, tensor<2x1x4xf32>)
  %5, %6 = nn.rnn gates(%m) recurrence(%s) hidden(%h) activations ["Tanh"] : (tensor<5x1x4xf32>, tensor<1x4x4xf32>, tensor<1x1x4xf32>) -> (tensor<5x1x1x4xf32>, tensor<1x1x4xf32>)
  return
}

// CHECK-LABEL: func @structure
// CHECK: nn.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK: nn.splat 0.000000e+00 : f32
// CHECK: nn.dim_values
// CHECK: nn.choose %{{.*}} ? %{{.*}} : %{{.*}} : tensor<i1>, tensor<4xf32>
// CHECK: nn.group(
// CHECK: nn.yield
func.func @structure(%x: tensor<4xf32>, %c: tensor<i1>) {
  %0 = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %1 = nn.splat 0.0 : f32 -> tensor<?x4xf32, #nn.dims<()[s0] -> (s0, 4)>>
  %2 = nn.dim_values affine_map<()[s0] -> (s0, 768)> : tensor<2xi64>
  %5 = nn.constant dense<1.0> : tensor<4xf32>
  %4 = nn.choose %c ? %x : %5 : tensor<i1>, tensor<4xf32>
  %3 = nn.group(%x) {plan = #kernel.plan<kernel = "loops">, reason = "element-wise"} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %s = nn.add %a, %a : tensor<4xf32>
    nn.yield %s : tensor<4xf32>
  }
  return
}

// CHECK-LABEL: func @loop
// CHECK: nn.loop steps #{{.*}} step 1 carries(%{{.*}}) uses(%{{.*}}) axes [0] backwards [0] : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32
// CHECK: nn.loop steps {{.*}} step 1 conditional carries(%{{.*}}, %{{.*}}) uses() axes [] backwards [] : (tensor<i1>, tensor<4xf32>) -> (tensor<i1>, tensor<4xf32>)
func.func @loop(%x: tensor<4xf32>, %c: tensor<i1>) {
  %0:2 = nn.loop steps affine_map<()[s0] -> (s0)> step 1 carries(%x) uses(%x) axes [0] backwards [0]
    : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<?x4xf32, #nn.dims<()[s0] -> (s0, 4)>>) {
  ^bb0(%s: tensor<4xf32>, %y: tensor<4xf32>):
    %n = nn.add %s, %y : tensor<4xf32>
    nn.yield %n, %n : tensor<4xf32>, tensor<4xf32>
  }
  %1:2 = nn.loop steps affine_map<()[s0] -> (s0)> step 1 conditional carries(%c, %x) uses() axes [] backwards [] : (tensor<i1>, tensor<4xf32>) -> (tensor<i1>, tensor<4xf32>) {
  ^bb0(%d: tensor<i1>, %s: tensor<4xf32>):
    nn.yield %d, %s : tensor<i1>, tensor<4xf32>
  }
  return
}

// CHECK-LABEL: func @data_sized
// CHECK: nn.computed_dim %{{.*}} counts 4 : tensor<i64> -> tensor<1xi64>
// CHECK: nn.non_zero %{{.*}} counts 0 : tensor<2x3xf32> -> tensor<2x?xi64
// CHECK: nn.unique %{{.*}} sorted counts 1 : tensor<6x1xf32> -> tensor<?xi64
// CHECK: nn.non_max_suppression %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} center counts 2 : tensor<1x6x4xf32>
// CHECK: nn.non_max_suppression %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} counts 3 : tensor<1x6x4xf32>
func.func @data_sized(%x: tensor<2x3xf32>, %rows: tensor<6x1xf32>, %boxes: tensor<1x6x4xf32>, %scores: tensor<1x2x6xf32>, %max: tensor<i64>, %t: tensor<f32>) {
  %n = nn.computed_dim %max counts 4 : tensor<i64> -> tensor<1xi64>
  %0, %1 = nn.non_zero %x counts 0 : tensor<2x3xf32> -> tensor<2x?xi64, #nn.dims<()[s0] -> (2, s0)>>, tensor<1xi64>
  %2, %3, %4, %5 = nn.unique %rows sorted counts 1 : tensor<6x1xf32>
    -> tensor<?xi64, #nn.dims<()[s0, s1] -> (s1)>>, tensor<6xi64>, tensor<?xi64, #nn.dims<()[s0, s1] -> (s1)>>, tensor<1xi64>
  %6, %7 = nn.non_max_suppression %boxes, %scores, %max, %t, %t center counts 2
    : tensor<1x6x4xf32>, tensor<1x2x6xf32>, tensor<i64>, tensor<f32>, tensor<f32> -> tensor<?x3xi64, #nn.dims<()[s0, s1, s2] -> (s2, 3)>>, tensor<1xi64>
  %8, %9 = nn.non_max_suppression %boxes, %scores, %max, %t counts 3
    : tensor<1x6x4xf32>, tensor<1x2x6xf32>, tensor<i64>, tensor<f32> -> tensor<?x3xi64, #nn.dims<()[s0, s1, s2, s3] -> (s3, 3)>>, tensor<1xi64>
  return
}

// CHECK-LABEL: func @composite
// CHECK: %[[R:.*]]:2 = nn.composite "com.acme.Gate:wide" version 3(%arg0, %arg1) {parameters = {alpha = 2.000000e+00 : f64}} :
// CHECK-SAME: (tensor<?x4xf32, {{.*}}>, tensor<4xf32>) -> (tensor<?x4xf32, {{.*}}>, tensor<4xf32>) {
// CHECK: nn.composite "Inner" version 0(%
// CHECK: nn.yield %{{.*}}, %{{.*}} :
func.func @composite(%x: tensor<?x4xf32, #nn.dims<()[s0] -> (s0, 4)>>, %w: tensor<4xf32>) -> tensor<4xf32> {
  %r:2 = nn.composite "com.acme.Gate:wide" version 3(%x, %w) {parameters = {alpha = 2.0}}
      : (tensor<?x4xf32, #nn.dims<()[s0] -> (s0, 4)>>, tensor<4xf32>) -> (tensor<?x4xf32, #nn.dims<()[s0] -> (s0, 4)>>, tensor<4xf32>) {
  ^bb0(%a: tensor<?x4xf32, #nn.dims<()[s0] -> (s0, 4)>>, %b: tensor<4xf32>):
    %c = nn.composite "Inner" version 0(%a) : (tensor<?x4xf32, #nn.dims<()[s0] -> (s0, 4)>>) -> tensor<?x4xf32, #nn.dims<()[s0] -> (s0, 4)>> {
    ^bb0(%d: tensor<?x4xf32, #nn.dims<()[s0] -> (s0, 4)>>):
      %e = nn.exp %d : tensor<?x4xf32, #nn.dims<()[s0] -> (s0, 4)>>
      nn.yield %e : tensor<?x4xf32, #nn.dims<()[s0] -> (s0, 4)>>
    }
    %f = nn.abs %b : tensor<4xf32>
    nn.yield %c, %f : tensor<?x4xf32, #nn.dims<()[s0] -> (s0, 4)>>, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// CHECK-LABEL: func @losses
// CHECK: nn.negative_log_likelihood none %arg0, %arg1 : tensor<3x5x?xf32, {{.*}}>, tensor<3x?xi64, {{.*}}> -> tensor<3x?xf32
// CHECK: nn.negative_log_likelihood mean %arg0, %arg1 weight %arg2 ignore -1 : tensor<3x5x?xf32, {{.*}}>, tensor<3x?xi64, {{.*}}>, tensor<5xf32> -> tensor<f32>
// CHECK: nn.softmax_cross_entropy sum %arg0, %arg1 weight %arg2 {accuracy = #kernel.accuracy<ulp4>} :
// CHECK: nn.softmax_cross_entropy mean %arg3, %arg4 ignore 255 : tensor<3x5xf16>, tensor<3xi32> -> tensor<f16>
func.func @losses(%x: tensor<3x5x?xf32, #nn.dims<()[s0] -> (3, 5, s0)>>, %t: tensor<3x?xi64, #nn.dims<()[s0] -> (3, s0)>>, %w: tensor<5xf32>,
                  %y: tensor<3x5xf16>, %u: tensor<3xi32>) {
  %0 = nn.negative_log_likelihood none %x, %t : tensor<3x5x?xf32, #nn.dims<()[s0] -> (3, 5, s0)>>, tensor<3x?xi64, #nn.dims<()[s0] -> (3, s0)>>
    -> tensor<3x?xf32, #nn.dims<()[s0] -> (3, s0)>>
  %1 = nn.negative_log_likelihood mean %x, %t weight %w ignore -1
    : tensor<3x5x?xf32, #nn.dims<()[s0] -> (3, 5, s0)>>, tensor<3x?xi64, #nn.dims<()[s0] -> (3, s0)>>, tensor<5xf32> -> tensor<f32>
  %2, %3 = nn.softmax_cross_entropy sum %x, %t weight %w {accuracy = #kernel.accuracy<ulp4>}
    : tensor<3x5x?xf32, #nn.dims<()[s0] -> (3, 5, s0)>>, tensor<3x?xi64, #nn.dims<()[s0] -> (3, s0)>>, tensor<5xf32> -> tensor<f32>
  %4, %5 = nn.softmax_cross_entropy mean %y, %u ignore 255 : tensor<3x5xf16>, tensor<3xi32> -> tensor<f16>
  return
}

// CHECK-LABEL: func @calls
// CHECK: nn.col2im %{{.*}} block [2, 1] strides [1, 2] dilations [2, 1] pads [0, 1, 0, -1] : tensor<?x4x8xf32, #nn.dims<()[s0] -> (s0, 4, 8)>> -> tensor<?x2x4x7xf32, #nn.dims<()[s0] -> (s0, 2, 4, 7)>>
// CHECK: nn.distances %{{.*}}, %{{.*}} : tensor<?x3xf64, #nn.dims<()[s0] -> (s0, 3)>>, tensor<5x3xf64> -> tensor<?x5xf64, #nn.dims<()[s0] -> (s0, 5)>>
// CHECK: nn.fourier %{{.*}}, %{{.*}} length 8 : tensor<2x8x1xf32>, tensor<16xf32> -> tensor<2x5x2xf32>
// CHECK: nn.fourier %{{.*}}, %{{.*}} inverse length 3 : tensor<?x2x2xf64, #nn.dims<()[s0] -> (s0, 2, 2)>>, tensor<4xf64> -> tensor<?x3x1xf64, #nn.dims<()[s0] -> (s0, 3, 1)>>
// CHECK: nn.string_parse %{{.*}} : tensor<2xi128> -> tensor<2xui64>
// CHECK: nn.string_order %{{.*}} : tensor<2xi128> -> tensor<2xi64>, tensor<2xi64>
// CHECK: nn.string_print %{{.*}} room 9 each 24 counts 0 : tensor<2xf32> -> tensor<2xi128>, tensor<?xui8, #nn.dims<()[s0] -> (s0)>>, tensor<1xi64>
// CHECK: nn.string_hash %{{.*}} seed 7 : tensor<2xi128> -> tensor<2xui32>
func.func @calls(%x: tensor<2x8x1xf32>, %t: tensor<16xf32>, %h: tensor<?x2x2xf64, #nn.dims<()[s0] -> (s0, 2, 2)>>, %u: tensor<4xf64>, %s: tensor<2xi128>, %f: tensor<2xf32>,
                 %blocks: tensor<?x4x8xf32, #nn.dims<()[s0] -> (s0, 4, 8)>>, %a: tensor<?x3xf64, #nn.dims<()[s0] -> (s0, 3)>>, %b: tensor<5x3xf64>) {
  %image = nn.col2im %blocks block [2, 1] strides [1, 2] dilations [2, 1] pads [0, 1, 0, -1] : tensor<?x4x8xf32, #nn.dims<()[s0] -> (s0, 4, 8)>> -> tensor<?x2x4x7xf32, #nn.dims<()[s0] -> (s0, 2, 4, 7)>>
  %squares = nn.distances %a, %b : tensor<?x3xf64, #nn.dims<()[s0] -> (s0, 3)>>, tensor<5x3xf64> -> tensor<?x5xf64, #nn.dims<()[s0] -> (s0, 5)>>
  %0 = nn.fourier %x, %t length 8 : tensor<2x8x1xf32>, tensor<16xf32> -> tensor<2x5x2xf32>
  %1 = nn.fourier %h, %u inverse length 3 : tensor<?x2x2xf64, #nn.dims<()[s0] -> (s0, 2, 2)>>, tensor<4xf64> -> tensor<?x3x1xf64, #nn.dims<()[s0] -> (s0, 3, 1)>>
  %2 = nn.string_parse %s : tensor<2xi128> -> tensor<2xui64>
  %3, %4 = nn.string_order %s : tensor<2xi128> -> tensor<2xi64>, tensor<2xi64>
  %5, %6, %7 = nn.string_print %f room 9 each 24 counts 0 : tensor<2xf32> -> tensor<2xi128>, tensor<?xui8, #nn.dims<()[s0] -> (s0)>>, tensor<1xi64>
  %8 = nn.string_hash %s seed 7 : tensor<2xi128> -> tensor<2xui32>
  return
}

// CHECK-LABEL: func @random
// CHECK: nn.random uniform seed 7 of 0.000000e+00 and 1.000000e+00 : tensor<2x3xf32>
// CHECK: nn.random normal seed 0 of 1.500000e+00 and 2.000000e+00 : tensor<?xf64, #nn.dims<()[s0] -> (s0)>>
func.func @random() {
  %0 = nn.random uniform seed 7 of 0.0 and 1.0 : tensor<2x3xf32>
  %1 = nn.random normal seed 0 of 1.5 and 2.0 : tensor<?xf64, #nn.dims<()[s0] -> (s0)>>
  return
}

// CHECK-LABEL: func @strings
// CHECK: nn.strings ["a", "b"] : tensor<2xi128>
// CHECK: nn.string_equal %{{.*}}, %{{.*}} : tensor<2xi128> -> tensor<2xi1>
// CHECK: nn.string_find %{{.*}} in ["cat", "dog"] : tensor<2xi128> -> tensor<2xi64>
// CHECK: nn.string_match %{{.*}} with "[a-z]+" : tensor<2xi128> -> tensor<2xi1>
// CHECK: nn.string_concat %{{.*}}, %{{.*}} room 64 counts 0 : tensor<2xi128> -> tensor<2xi128>, tensor<?xui8
// CHECK: nn.string_case %{{.*}} upper room 64 counts 1 : tensor<2xi128>
// CHECK: nn.string_case %{{.*}} room 64 counts 2 : tensor<2xi128>
// CHECK: nn.string_filter %{{.*}} without ["the", "a"] case counts 3 : tensor<2xi128>
// CHECK: nn.string_split %{{.*}} at "." splits 9 room 10 counts 4 : tensor<2xi128>
// CHECK: nn.gather %{{.*}} : tensor<2xi128>
// CHECK: nn.string_tokenize %{{.*}} between [" ", ","] least 2 padding "#" marks room 10 counts 5 : tensor<2xi128>
// CHECK: nn.string_tokenize %{{.*}} ["[a-z]+"] least 1 padding "" room 8 counts 6 : tensor<2xi128>
func.func @strings(%x: tensor<2xi128>, %i: tensor<3xi64>) {
  %0 = nn.strings ["a", "b"] : tensor<2xi128>
  %1 = nn.string_equal %x, %0 : tensor<2xi128> -> tensor<2xi1>
  %2 = nn.string_find %x in ["cat", "dog"] : tensor<2xi128> -> tensor<2xi64>
  %3 = nn.string_match %x with "[a-z]+" : tensor<2xi128> -> tensor<2xi1>
  %4, %5, %6 = nn.string_concat %x, %0 room 64 counts 0 : tensor<2xi128> -> tensor<2xi128>, tensor<?xui8, #nn.dims<()[s0] -> (s0)>>, tensor<1xi64>
  %7, %8, %9 = nn.string_case %x upper room 64 counts 1 : tensor<2xi128> -> tensor<2xi128>, tensor<?xui8, #nn.dims<()[s0, s1] -> (s1)>>, tensor<1xi64>
  %10, %11, %12 = nn.string_case %x room 64 counts 2 : tensor<2xi128> -> tensor<2xi128>, tensor<?xui8, #nn.dims<()[s0, s1, s2] -> (s2)>>, tensor<1xi64>
  %13, %14 = nn.string_filter %x without ["the", "a"] case counts 3 : tensor<2xi128> -> tensor<?xi128, #nn.dims<()[s0, s1, s2, s3] -> (s3)>>, tensor<1xi64>
  %15, %16, %17 = nn.string_split %x at "." splits 9 room 10 counts 4 : tensor<2xi128>
    -> tensor<2x?xi128, #nn.dims<()[s0, s1, s2, s3, s4] -> (2, s4)>>, tensor<2xi64>, tensor<1xi64>
  %18 = nn.gather %x, %i axis 0 : tensor<2xi128>, tensor<3xi64> -> tensor<3xi128>
  %19, %20 = nn.string_tokenize %x between [" ", ","] least 2 padding "#" marks room 10 counts 5
    : tensor<2xi128> -> tensor<2x?xi128, #nn.dims<()[s0, s1, s2, s3, s4, s5] -> (2, s5)>>, tensor<1xi64>
  %21, %22 = nn.string_tokenize %x ["[a-z]+"] least 1 padding "" room 8 counts 6
    : tensor<2xi128> -> tensor<2x?xi128, #nn.dims<()[s0, s1, s2, s3, s4, s5, s6] -> (2, s6)>>, tensor<1xi64>
  return
}

// CHECK-LABEL: func @pictures
// CHECK: nn.decode_image %{{.*}} to rgb within 480 by 640 counts 0 : tensor<900xui8> -> tensor<?xui8, {{.*}}>, tensor<2xi64>, tensor<1xi64>
// CHECK: nn.decode_image %{{.*}} to bgr within 1 by 1 counts 1
// CHECK: nn.decode_image %{{.*}} to grayscale within 4 by 4 counts 2 : tensor<900xui8> -> tensor<16xui8>
func.func @pictures(%x: tensor<900xui8>) {
  %0, %1, %2 = nn.decode_image %x to rgb within 480 by 640 counts 0 : tensor<900xui8> -> tensor<?xui8, #nn.dims<()[s0] -> (s0)>>, tensor<2xi64>, tensor<1xi64>
  %3, %4, %5 = nn.decode_image %x to bgr within 1 by 1 counts 1 : tensor<900xui8> -> tensor<?xui8, #nn.dims<()[s0, s1] -> (s1)>>, tensor<2xi64>, tensor<1xi64>
  %6, %7, %8 = nn.decode_image %x to grayscale within 4 by 4 counts 2
    : tensor<900xui8> -> tensor<16xui8>, tensor<2xi64>, tensor<1xi64>
  return
}

// CHECK-LABEL: func @quantized
// CHECK: nn.quantize %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x8xui8>
// CHECK: nn.dequantize %{{.*}}, %{{.*}}, %{{.*}} : tensor<2x8xui8>, tensor<2x8xf32> -> tensor<2x8xf32>
// CHECK: nn.quantized_matmul %{{.*}}, %{{.*}} zero_points %{{.*}}, %{{.*}} : tensor<2x8xui8>, tensor<8x4xi8> -> tensor<2x4xi32>
// CHECK: nn.quantized_conv %{{.*}}, %{{.*}} zero_points %{{.*}}, %{{.*}} strides [1] dilations [1] pads [1, 1] groups 1 layout channels_first
// CHECK: nn.lookup %{{.*}} in [-1, -2, {{.*}}, 1, 0] : tensor<2x8xui8> -> tensor<2x8xi8>
func.func @quantized(%x: tensor<2x8xf32>, %z: tensor<2x8xui8>, %w: tensor<8x4xi8>, %i: tensor<1x2x8xi8>, %f: tensor<3x2x3xi8>) {
  %0 = nn.quantize %x, %x, %z : tensor<2x8xf32>, tensor<2x8xf32> -> tensor<2x8xui8>
  %1 = nn.dequantize %0, %x, %z : tensor<2x8xui8>, tensor<2x8xf32> -> tensor<2x8xf32>
  %2 = nn.quantized_matmul %0, %w zero_points %z, %w : tensor<2x8xui8>, tensor<8x4xi8> -> tensor<2x4xi32>
  %3 = nn.quantized_conv %i, %f zero_points %i, %f strides [1] dilations [1] pads [1, 1] groups 1 layout channels_first
    : tensor<1x2x8xi8>, tensor<3x2x3xi8> -> tensor<1x3x8xi32>
  %5 = nn.lookup %0 in [-1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12, -13, -14, -15, -16, -17, -18, -19, -20, -21, -22, -23, -24, -25, -26, -27, -28, -29, -30, -31, -32, -33, -34, -35, -36, -37, -38, -39, -40, -41, -42, -43, -44, -45, -46, -47, -48, -49, -50, -51, -52, -53, -54, -55, -56, -57, -58, -59, -60, -61, -62, -63, -64, -65, -66, -67, -68, -69, -70, -71, -72, -73, -74, -75, -76, -77, -78, -79, -80, -81, -82, -83, -84, -85, -86, -87, -88, -89, -90, -91, -92, -93, -94, -95, -96, -97, -98, -99, -100, -101, -102, -103, -104, -105, -106, -107, -108, -109, -110, -111, -112, -113, -114, -115, -116, -117, -118, -119, -120, -121, -122, -123, -124, -125, -126, -127, -128, 127, 126, 125, 124, 123, 122, 121, 120, 119, 118, 117, 116, 115, 114, 113, 112, 111, 110, 109, 108, 107, 106, 105, 104, 103, 102, 101, 100, 99, 98, 97, 96, 95, 94, 93, 92, 91, 90, 89, 88, 87, 86, 85, 84, 83, 82, 81, 80, 79, 78, 77, 76, 75, 74, 73, 72, 71, 70, 69, 68, 67, 66, 65, 64, 63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0] : tensor<2x8xui8> -> tensor<2x8xi8>
  return
}

// CHECK-LABEL: @block_quantized
// CHECK: nn.block_quantized_matmul %{{.*}}, %{{.*}} scales %{{.*}} bits 4 : tensor<2x64xf32>, tensor<16x2x16xui8>, tensor<16x2xf32> -> tensor<2x16xf32>
// CHECK: nn.block_quantized_matmul %{{.*}}, %{{.*}} scales %{{.*}} zero_points %{{.*}} : tensor<16x2xui8> rounded_by %{{.*}} : tensor<2x2xf32> sums %{{.*}} : tensor<2x2xi32> bits 4 : tensor<2x64xi8>
func.func @block_quantized(%a: tensor<2x64xf32>, %w: tensor<16x2x16xui8>, %s: tensor<16x2xf32>, %z: tensor<16x2xui8>, %b: tensor<2x64xi8>,
                           %t: tensor<2x2xf32>, %u: tensor<2x2xi32>) -> (tensor<2x16xf32>, tensor<2x16xf32>) {
  %0 = nn.block_quantized_matmul %a, %w scales %s bits 4 : tensor<2x64xf32>, tensor<16x2x16xui8>, tensor<16x2xf32> -> tensor<2x16xf32>
  %1 = nn.block_quantized_matmul %b, %w scales %s zero_points %z : tensor<16x2xui8> rounded_by %t : tensor<2x2xf32> sums %u : tensor<2x2xi32> bits 4
    : tensor<2x64xi8>, tensor<16x2x16xui8>, tensor<16x2xf32> -> tensor<2x16xf32>
  return %0, %1 : tensor<2x16xf32>, tensor<2x16xf32>
}

// CHECK-LABEL: @tables_and_externs
// CHECK: nn.tree_ensemble %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} words 2 block 64 width 2 missing 0 strict
// CHECK: nn.extern_call "acme_gru_cell"(%{{.*}}, %{{.*}}) : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
func.func @tables_and_externs(%x: tensor<5x2xf32>, %nodes: tensor<4xi64>, %trees: tensor<4xi64>, %leaves: tensor<1xi64>, %weights: tensor<4xf32>,
                 %a: tensor<2x3xf32>, %b: tensor<2x4xf32>) -> (tensor<5x1x1xf32>, tensor<2x4xf32>) {
  %0 = nn.tree_ensemble %x, %nodes, %trees, %leaves, %weights words 2 block 64 width 2 missing 0 strict
    : tensor<5x2xf32>, tensor<4xi64>, tensor<4xi64>, tensor<1xi64>, tensor<4xf32> -> tensor<5x1x1xf32>
  %1 = nn.extern_call "acme_gru_cell"(%a, %b) : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0, %1 : tensor<5x1x1xf32>, tensor<2x4xf32>
}

// Collectives of a sharded model.
// CHECK-LABEL: func.func @collectives
func.func @collectives(%x: tensor<2x4xf32>) -> tensor<4xf32> {
  // CHECK: nn.all_reduce %{{.*}} sum ranks [0, 1] index 1 number 0 : tensor<2x4xf32>
  %0 = nn.all_reduce %x sum ranks [0, 1] index 1 number 0 : tensor<2x4xf32>
  // CHECK: nn.all_to_all %{{.*}} ranks [0, 1] index 1 number 1 : tensor<2x4xf32>
  %1 = nn.all_to_all %0 ranks [0, 1] index 1 number 1 : tensor<2x4xf32>
  // CHECK: nn.shift %{{.*}} by -1 ranks [0, 1] index 1 number 2 : tensor<2x4xf32>
  %2 = nn.shift %1 by -1 ranks [0, 1] index 1 number 2 : tensor<2x4xf32>
  // CHECK: nn.all_gather %{{.*}} ranks [1, 3] index 0 number 3 : tensor<2x4xf32> -> tensor<2x2x4xf32>
  %3 = nn.all_gather %2 ranks [1, 3] index 0 number 3 : tensor<2x4xf32> -> tensor<2x2x4xf32>
  // CHECK: %{{.*}}:2 = nn.merged_exchange "all_reduce"(%{{.*}}, %{{.*}}) ranks [0, 1] index 1 number 4 {reduction = #nn<reduce_kind sum>} : (tensor<2x4xf32>, tensor<2x2x4xf32>) -> (tensor<2x4xf32>, tensor<2x2x4xf32>)
  %merged:2 = nn.merged_exchange "all_reduce"(%2, %3) ranks [0, 1] index 1 number 4 {reduction = #nn<reduce_kind sum>} : (tensor<2x4xf32>, tensor<2x2x4xf32>) -> (tensor<2x4xf32>, tensor<2x2x4xf32>)
  // CHECK: nn.reduce_scatter %{{.*}} max ranks [0, 1] index 1 number 4 : tensor<2x4xf32> -> tensor<4xf32>
  %4 = nn.reduce_scatter %2 max ranks [0, 1] index 1 number 4 : tensor<2x4xf32> -> tensor<4xf32>
  return %4 : tensor<4xf32>
}

// CHECK-LABEL: func.func @couple_pairs
func.func @couple_pairs(%x: tensor<5x3xf32>) -> tensor<5x3xf32> {
  // CHECK: nn.couple_pairs %{{.*}} : tensor<5x3xf32> -> tensor<5x3xf32>, tensor<2x3xf32>
  %0, %1 = nn.couple_pairs %x : tensor<5x3xf32> -> tensor<5x3xf32>, tensor<2x3xf32>
  return %0 : tensor<5x3xf32>
}
