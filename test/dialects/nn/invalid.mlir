// RUN: kiln-opt %s --split-input-file --verify-diagnostics

func.func @dims_rank(%x: tensor<?x4xf32>) {
  // expected-error @below {{must be ranked tensor of numbers with an expression for each dynamic dimension}}
  %0 = nn.relu %x : tensor<?x4xf32>
  return
}

// -----

// expected-error @below {{expected 2 expressions of symbols in #nn.dims, one per dimension}}
func.func @dims_count(%x: tensor<?x4xf32, #nn.dims<()[s0] -> (s0)>>)

// -----

// expected-error @below {{#nn.dims and the shape disagree on dimension 1}}
func.func @dims_value(%x: tensor<?x4xf32, #nn.dims<()[s0] -> (s0, 5)>>)

// -----

func.func @elementwise(%x: tensor<?xf32, #nn.dims<()[s0] -> (s0)>>, %y: tensor<?xi1, #nn.dims<()[s0, s1] -> (s1)>>) {
  // expected-error @below {{dimension 0 of operand 0 is s1, expected s0}}
  %0 = nn.select %y, %x, %x : tensor<?xi1, #nn.dims<()[s0, s1] -> (s1)>>, tensor<?xf32, #nn.dims<()[s0] -> (s0)>>
  return
}

// -----

func.func @splat() {
  // expected-error @below {{value has type 'i32', the tensor's elements are 'f32'}}
  %0 = nn.splat 1 : i32 -> tensor<2xf32>
  return
}

// -----

func.func @dim_values() {
  // expected-error @below {{expected a rank 0 or 1 result with 2 elements}}
  %0 = nn.dim_values affine_map<()[s0] -> (s0, 1)> : tensor<3xi64>
  return
}

// -----

func.func @group_yield(%x: tensor<2xf32>) {
  // expected-error @below {{yielded values do not have the types of the results}}
  %0 = nn.group(%x) : (tensor<2xf32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<2xf32>):
    nn.yield %a : tensor<2xf32>
  }
  return
}

// -----

func.func @group_arguments(%x: tensor<2xf32>) {
  // expected-error @below {{body arguments do not have the types of the inputs}}
  %0 = nn.group(%x) : (tensor<2xf32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<3xf32>):
    nn.yield %a : tensor<3xf32>
  }
  return
}

// -----

func.func @reshape_count(%x: tensor<2x3xf32>) {
  // expected-error @below {{has 6 elements before and 8 after}}
  %0 = nn.reshape %x : tensor<2x3xf32> -> tensor<8xf32>
  return
}

// -----

func.func @reshape_type(%x: tensor<2x3xf32>) {
  // expected-error @below {{changes the element type}}
  %0 = nn.reshape %x : tensor<2x3xf32> -> tensor<6xf64>
  return
}

// -----

func.func @transpose_count(%x: tensor<2x3xf32>) {
  // expected-error @below {{permutation has 1 entries for rank 2}}
  %0 = nn.transpose %x [0] : tensor<2x3xf32> -> tensor<3x2xf32>
  return
}

// -----

func.func @transpose_twice(%x: tensor<2x3xf32>) {
  // expected-error @below {{expected a permutation of the dimensions, got entry 1}}
  %0 = nn.transpose %x [1, 1] : tensor<2x3xf32> -> tensor<3x3xf32>
  return
}

// -----

func.func @transpose_result(%x: tensor<2x3xf32>) {
  // expected-error @below {{dimension 0 of the result is 2, expected 3}}
  %0 = nn.transpose %x [1, 0] : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @broadcast_rank(%x: tensor<2x3xf32>) {
  // expected-error @below {{lowers the rank}}
  %0 = nn.broadcast_to %x : tensor<2x3xf32> -> tensor<3xf32>
  return
}

// -----

func.func @broadcast_dim(%x: tensor<2x3xf32>) {
  // expected-error @below {{dimension 0 of size 2 does not broadcast to 4}}
  %0 = nn.broadcast_to %x : tensor<2x3xf32> -> tensor<4x3xf32>
  return
}

// -----

func.func @slice_count(%x: tensor<4xf32>) {
  // expected-error @below {{expected one start and one step for each dimension}}
  %0 = nn.slice %x starts affine_map<() -> (0)> steps [1, 1] : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

func.func @slice_step(%x: tensor<4xf32>) {
  // expected-error @below {{step of dimension 0 is zero}}
  %0 = nn.slice %x starts affine_map<() -> (0)> steps [0] : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

func.func @slice_bounds(%x: tensor<4xf32>) {
  // expected-error @below {{reads [2, 4] of dimension 0 of size 4}}
  %0 = nn.slice %x starts affine_map<() -> (2)> steps [1] : tensor<4xf32> -> tensor<3xf32>
  return
}

// -----

func.func @pad_count(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error @below {{expected low, high and interior for each dimension}}
  %0 = nn.pad %x, %v low affine_map<() -> (0, 1)> high affine_map<() -> (0)> interior [0] mode constant : tensor<4xf32>, tensor<f32> -> tensor<5xf32>
  return
}

// -----

func.func @pad_value(%x: tensor<4xf32>, %v: tensor<1xf32>) {
  // expected-error @below {{expected a value of rank 0}}
  %0 = nn.pad %x, %v low affine_map<() -> (1)> high affine_map<() -> (0)> interior [0] mode constant : tensor<4xf32>, tensor<1xf32> -> tensor<5xf32>
  return
}

// -----

func.func @pad_interior(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error @below {{interior elements must be of mode constant and not negative in number}}
  %0 = nn.pad %x, %v low affine_map<() -> (0)> high affine_map<() -> (0)> interior [1] mode edge : tensor<4xf32>, tensor<f32> -> tensor<7xf32>
  return
}

// -----

func.func @concat_none() {
  // expected-error @below {{expected at least one operand}}
  %0 = nn.concat axis 0 : () -> tensor<4xf32>
  return
}

// -----

func.func @concat_types(%x: tensor<4xf32>, %y: tensor<4xi16>) {
  // expected-error @+1 {{operand 1 has another element type than the result}}
  %0 = nn.concat %x, %y axis 0 : (tensor<4xf32>, tensor<4xi16>) -> tensor<8xf32>
  return
}

// -----

func.func @concat_rank(%x: tensor<4xf32>, %y: tensor<4x1xf32>) {
  // expected-error @below {{operand 1 has another rank than the result}}
  %0 = nn.concat %x, %y axis 0 : (tensor<4xf32>, tensor<4x1xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @axis(%x: tensor<4xf32>) {
  // expected-error @below {{axis 1 is outside [0, 1)}}
  %0 = nn.softmax %x axis 1 : tensor<4xf32>
  return
}

// -----

func.func @gather(%x: tensor<4x2xf32>, %i: tensor<3xi64>) {
  // expected-error @below {{dimension 0 of the result is 4, expected 3}}
  %0 = nn.gather %x, %i axis 0 : tensor<4x2xf32>, tensor<3xi64> -> tensor<4x2xf32>
  return
}

// -----

func.func @gather_elements(%x: tensor<4x2xf32>, %i: tensor<4x3xi64>) {
  // expected-error @below {{dimension 1 of the indices is 3, but the input has only 2}}
  %0 = nn.gather_elements %x, %i axis 0 : tensor<4x2xf32>, tensor<4x3xi64> -> tensor<4x3xf32>
  return
}

// -----

func.func @gather_elements_rank(%x: tensor<4x2xf32>, %i: tensor<4xi64>) {
  // expected-error @below {{the indices have rank 1, the input has rank 2}}
  %0 = nn.gather_elements %x, %i axis 0 : tensor<4x2xf32>, tensor<4xi64> -> tensor<4xf32>
  return
}

// -----

func.func @gather_nd_batch(%x: tensor<4x2xf32>, %i: tensor<4x1xi64>) {
  // expected-error @below {{2 batch dimensions do not leave one of the input and one of the indices}}
  %0 = nn.gather_nd %x, %i batch_dims 2 : tensor<4x2xf32>, tensor<4x1xi64> -> tensor<4xf32>
  return
}

// -----

func.func @gather_nd_tuple(%x: tensor<4x2xf32>, %i: tensor<4x3xi64>) {
  // expected-error @below {{expected indices that end in tuples of 1 to 2 coordinates}}
  %0 = nn.gather_nd %x, %i batch_dims 0 : tensor<4x2xf32>, tensor<4x3xi64> -> tensor<4xf32>
  return
}

// -----

func.func @scatter_elements(%x: tensor<3x3xf32>, %i: tensor<2x3xi64>, %u: tensor<1x3xf32>) {
  // expected-error @below {{dimension 0 of the updates is 1, expected 2}}
  %0 = nn.scatter_elements %x, %i, %u axis 0 reduction none : tensor<3x3xf32>, tensor<2x3xi64>, tensor<1x3xf32>
  return
}

// -----

func.func @scatter_nd(%x: tensor<4x4xf32>, %i: tensor<2x1xi64>, %u: tensor<2x3xf32>) {
  // expected-error @below {{dimension 1 of the updates is 3, expected 4}}
  %0 = nn.scatter_nd %x, %i, %u reduction add : tensor<4x4xf32>, tensor<2x1xi64>, tensor<2x3xf32>
  return
}

// -----

func.func @resize_scales(%x: tensor<1x4xf32>) {
  // expected-error @below {{expected a result of rank 2 and as many scales}}
  %0 = nn.resize %x mode nearest coordinates "asymmetric" nearest "floor" scales [2.0] : tensor<1x4xf32> -> tensor<1x8xf32>
  return
}

// -----

func.func @resize_coordinates(%x: tensor<1x4xf32>) {
  // expected-error @below {{unknown coordinates "pixel"}}
  %0 = nn.resize %x mode nearest coordinates "pixel" nearest "floor" scales [1.0, 2.0] : tensor<1x4xf32> -> tensor<1x8xf32>
  return
}

// -----

func.func @resize_nearest(%x: tensor<1x4xf32>) {
  // expected-error @below {{unknown rounding "up"}}
  %0 = nn.resize %x mode nearest coordinates "asymmetric" nearest "up" scales [1.0, 2.0] : tensor<1x4xf32> -> tensor<1x8xf32>
  return
}

// -----

func.func @resize_roi(%x: tensor<1x4xf32>) {
  // expected-error @below {{expected 4 numbers in the region, got 2}}
  %0 = nn.resize %x mode linear coordinates "tf_crop_and_resize" nearest "floor" scales [1.0, 2.0] {roi = array<f64: 0.0, 1.0>}
    : tensor<1x4xf32> -> tensor<1x8xf32>
  return
}

// -----

func.func @reduce_axes(%x: tensor<2x3xf32>) {
  // expected-error @below {{expected sorted axes without duplicates}}
  %0 = nn.reduce sum %x [1, 0] : tensor<2x3xf32> -> tensor<1x1xf32>
  return
}

// -----

func.func @arg_reduce(%x: tensor<2x3xf32>) {
  // expected-error @below {{expected kind max or min}}
  %0 = nn.arg_reduce sum %x axis 1 : tensor<2x3xf32> -> tensor<2x1xi64>
  return
}

// -----

func.func @cumulative(%x: tensor<2x3xf32>) {
  // expected-error @below {{expected kind sum or prod}}
  %0 = nn.cumulative max %x axis 1 : tensor<2x3xf32>
  return
}

// -----

func.func @top_k(%x: tensor<2x3xf32>) {
  // expected-error @below {{asks for 4 of 3 elements}}
  %0, %1 = nn.top_k %x axis 1 largest : tensor<2x3xf32> -> tensor<2x4xf32>, tensor<2x4xi64>
  return
}

// -----

func.func @top_k_rank(%x: tensor<2x3xf32>) {
  // expected-error @below {{the values have rank 1, expected 2}}
  %0, %1 = nn.top_k %x axis 1 : tensor<2x3xf32> -> tensor<2xf32>, tensor<2xi64>
  return
}

// -----

func.func @matmul_rank(%x: tensor<2xf32>, %y: tensor<2x3xf32>) {
  // expected-error @below {{expected operands of one rank >= 2, or a right side of rank 2; got ranks 1 and 2}}
  %0 = nn.matmul %x, %y : tensor<2xf32>, tensor<2x3xf32> -> tensor<3xf32>
  return
}

// -----

func.func @matmul_inner(%x: tensor<2x4xf32>, %y: tensor<2x3xf32>) {
  // expected-error @below {{the left side has 4 columns, but the right side has 2 rows}}
  %0 = nn.matmul %x, %y : tensor<2x4xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @conv_channels(%x: tensor<1x4x8x8xf32>, %w: tensor<2x3x1x1xf32>) {
  // expected-error @below {{weight has 3 input channels, but the input has 4}}
  %0 = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
    : tensor<1x4x8x8xf32>, tensor<2x3x1x1xf32> -> tensor<1x2x8x8xf32>
  return
}

// -----

func.func @conv_groups(%x: tensor<1x4x8x8xf32>, %w: tensor<3x2x1x1xf32>) {
  // expected-error @below {{3 output channels are not a multiple of 2 groups}}
  %0 = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 2 layout channels_first
    : tensor<1x4x8x8xf32>, tensor<3x2x1x1xf32> -> tensor<1x3x8x8xf32>
  return
}

// -----

func.func @winograd_tile(%w: tensor<8x8x3x3xf32>) {
  // expected-error @below {{expected tile 2 or 4, got 3}}
  %0 = nn.winograd_filter %w tile 3 : tensor<8x8x3x3xf32> -> tensor<25x1x9x16xf32>
  return
}

// -----

func.func @winograd_window(%w: tensor<8x8x5x5xf32>) {
  // expected-error @below {{expected a weight of out x in x 3 x 3}}
  %0 = nn.winograd_filter %w tile 4 : tensor<8x8x5x5xf32> -> tensor<36x1x9x16xf32>
  return
}

// -----

func.func @winograd_panels(%w: tensor<24x8x3x3xf32>) {
  // expected-error @below {{does not hold the filters in panels}}
  %0 = nn.winograd_filter %w tile 4 : tensor<24x8x3x3xf32> -> tensor<36x1x9x16xf32>
  return
}

// -----

func.func @winograd_channels(%x: tensor<1x8x8x4xf32>, %w: tensor<8x8x3x3xf32>) {
  // expected-error @below {{does not fit the channels of input and result}}
  %0 = nn.winograd_conv %x, %w tile 4 : tensor<1x8x8x4xf32>, tensor<8x8x3x3xf32> -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @winograd_filters(%x: tensor<1x8x8x8xf32>, %w: tensor<8x8x3x3xf32>, %u: tensor<16x1x9x16xf32>) {
  // expected-error @below {{does not hold the filters in panels}}
  %0 = nn.winograd_conv %x, %w transformed %u tile 4 : tensor<1x8x8x8xf32>, tensor<8x8x3x3xf32>, tensor<16x1x9x16xf32> -> tensor<1x6x6x8xf32>
  return
}

// -----

func.func @winograd_rank(%x: tensor<8x8x8xf32>, %w: tensor<8x8x3x3xf32>) {
  // expected-error @below {{expected an input and a result of rank 4}}
  %0 = nn.winograd_conv %x, %w tile 4 : tensor<8x8x8xf32>, tensor<8x8x3x3xf32> -> tensor<6x6x8xf32>
  return
}

// -----

func.func @conv_extent(%x: tensor<1x4x8x8xf32>, %w: tensor<2x4x3x3xf32>) {
  // expected-error @below {{the result has 8 places in spatial dimension 0, expected 6}}
  %0 = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
    : tensor<1x4x8x8xf32>, tensor<2x4x3x3xf32> -> tensor<1x2x8x8xf32>
  return
}

// -----

func.func @conv_result(%x: tensor<1x4x8x8xf32>, %w: tensor<2x4x1x1xf32>) {
  // expected-error @below {{does not have the weight's 2 channels}}
  %0 = nn.conv %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
    : tensor<1x4x8x8xf32>, tensor<2x4x1x1xf32> -> tensor<1x3x8x8xf32>
  return
}

// -----

func.func @window_rank(%x: tensor<1x4xf32>) {
  // expected-error @below {{expected 1 to 3 spatial dimensions, the input has rank 2}}
  %0 = nn.max_pool %x kernel [] strides [] dilations [] pads [] layout channels_first : tensor<1x4xf32> -> tensor<1x4xf32>
  return
}

// -----

func.func @window_lengths(%x: tensor<1x4x8x8xf32>) {
  // expected-error @below {{expected 2 strides and dilations and 4 pads}}
  %0 = nn.max_pool %x kernel [2, 2] strides [2] dilations [1, 1] pads [0, 0, 0, 0] layout channels_first
    : tensor<1x4x8x8xf32> -> tensor<1x4x4x4xf32>
  return
}

// -----

func.func @window_stride(%x: tensor<1x4x8x8xf32>) {
  // expected-error @below {{strides and dilations must be positive}}
  %0 = nn.max_pool %x kernel [2, 2] strides [2, 0] dilations [1, 1] pads [0, 0, 0, 0] layout channels_first
    : tensor<1x4x8x8xf32> -> tensor<1x4x4x4xf32>
  return
}

// -----

func.func @pool_kernel(%x: tensor<1x4x8x8xf32>) {
  // expected-error @below {{expected 2 positive kernel sizes}}
  %0 = nn.avg_pool %x kernel [2] strides [2, 2] dilations [1, 1] pads [0, 0, 0, 0] layout channels_first
    : tensor<1x4x8x8xf32> -> tensor<1x4x4x4xf32>
  return
}

// -----

func.func @pool_channels(%x: tensor<1x4x8x8xf32>) {
  // expected-error @below {{the result has other channels than the input}}
  %0 = nn.avg_pool %x kernel [2, 2] strides [2, 2] dilations [1, 1] pads [0, 0, 0, 0] layout channels_first
    : tensor<1x4x8x8xf32> -> tensor<1x3x4x4xf32>
  return
}

// -----

func.func @layer_norm(%x: tensor<2x8xf32>, %s: tensor<4xf32>) {
  // expected-error @below {{dimension 0 of the scale is 4, expected 8}}
  %0 = nn.layer_norm %x, %s axis 1 epsilon 1.0e-5 : tensor<2x8xf32>, tensor<4xf32>
  return
}

// -----

func.func @attention_ranks(%q: tensor<2x4x8xf32>, %k: tensor<5x8xf32>) {
  // expected-error @below {{expected query, key and value of one rank >= 2; got ranks 3, 2 and 2}}
  %0 = nn.attention query(%q) key(%k) value(%k) scale 1.0 : (tensor<2x4x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<2x4x8xf32>
  return
}

// -----

func.func @attention_types(%q: tensor<4x8xf32>, %k: tensor<5x8xf16>) {
  // expected-error @below {{expected operands of the result's element type}}
  %0 = nn.attention query(%q) key(%k) value(%k) scale 1.0 : (tensor<4x8xf32>, tensor<5x8xf16>, tensor<5x8xf16>) -> tensor<4x8xf32>
  return
}

// -----

func.func @attention_head(%q: tensor<4x8xf32>, %k: tensor<5x7xf32>) {
  // expected-error @below {{dimension 1 of the key is 7, expected 8}}
  %0 = nn.attention query(%q) key(%k) value(%k) scale 1.0 : (tensor<4x8xf32>, tensor<5x7xf32>, tensor<5x7xf32>) -> tensor<4x7xf32>
  return
}

// -----

func.func @attention_values(%q: tensor<4x8xf32>, %k: tensor<5x8xf32>, %v: tensor<6x8xf32>) {
  // expected-error @below {{dimension 0 of the value is 6, expected 5}}
  %0 = nn.attention query(%q) key(%k) value(%v) scale 1.0 : (tensor<4x8xf32>, tensor<5x8xf32>, tensor<6x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @attention_bias(%q: tensor<4x8xf32>, %k: tensor<5x8xf32>, %b: tensor<1x5xf32>) {
  // expected-error @below {{dimension 0 of the bias is 1, expected 4}}
  %0 = nn.attention query(%q) key(%k) value(%k) bias(%b) scale 1.0
    : (tensor<4x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<1x5xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @attention_keep(%q: tensor<4x8xf32>, %k: tensor<5x8xf32>, %m: tensor<4x4xi1>) {
  // expected-error @below {{dimension 1 of keep is 4, expected 5}}
  %0 = nn.attention query(%q) key(%k) value(%k) keep(%m) scale 1.0
    : (tensor<4x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>, tensor<4x4xi1>) -> tensor<4x8xf32>
  return
}

// -----

func.func @attention_window(%q: tensor<4x8xf32>, %k: tensor<5x8xf32>) {
  // expected-error @below {{expected a window of at least one key, behind `causal`}}
  %0 = nn.attention query(%q) key(%k) value(%k) scale 1.0 window 3 : (tensor<4x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @attention_empty_window(%q: tensor<4x8xf32>, %k: tensor<5x8xf32>) {
  // expected-error @below {{expected a window of at least one key, behind `causal`}}
  %0 = nn.attention query(%q) key(%k) value(%k) scale 1.0 causal window 0 : (tensor<4x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @attention_result(%q: tensor<4x8xf32>, %k: tensor<5x8xf32>) {
  // expected-error @below {{dimension 0 of the result is 5, expected 4}}
  %0 = nn.attention query(%q) key(%k) value(%k) scale 1.0 : (tensor<4x8xf32>, tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32>
  return
}

// -----

func.func @lstm_activations(%g: tensor<5x1x16xf32>, %r: tensor<1x4x16xf32>, %h: tensor<1x1x4xf32>) {
  // expected-error @below {{expected 3 activations}}
  %y, %a, %b = nn.lstm gates(%g) recurrence(%r) hidden(%h) cell(%h) activations ["Sigmoid"]
    : (tensor<5x1x16xf32>, tensor<1x4x16xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>) -> (tensor<5x1x1x4xf32>, tensor<1x1x4xf32>, tensor<1x1x4xf32>)
  return
}

// -----

func.func @rnn_lengths(%g: tensor<5x1x4xf32>, %r: tensor<1x4x4xf32>, %h: tensor<1x1x4xf32>, %l: tensor<1xf32>) {
  // expected-error @below {{expected lengths of i32}}
  %y, %a = nn.rnn gates(%g) recurrence(%r) hidden(%h) lengths(%l) activations ["Tanh"]
    : (tensor<5x1x4xf32>, tensor<1x4x4xf32>, tensor<1x1x4xf32>, tensor<1xf32>) -> (tensor<5x1x1x4xf32>, tensor<1x1x4xf32>)
  return
}

// -----

func.func @gru_sizes(%g: tensor<5x1x16xf32>, %r: tensor<1x4x12xf32>, %h: tensor<1x1x4xf32>) {
  // expected-error @below {{sizes disagree}}
  %y, %a = nn.gru gates(%g) recurrence(%r) hidden(%h) activations ["Sigmoid", "Tanh"]
    : (tensor<5x1x16xf32>, tensor<1x4x12xf32>, tensor<1x1x4xf32>) -> (tensor<5x1x1x4xf32>, tensor<1x1x4xf32>)
  return
}

// -----

func.func @rnn_reverse(%g: tensor<5x1x8xf32>, %r: tensor<2x4x4xf32>, %h: tensor<2x1x4xf32>) {
  // expected-error @below {{expected no 'reverse' on two directions}}
  %y, %a = nn.rnn gates(%g) recurrence(%r) hidden(%h) activations ["Tanh"] reverse
    : (tensor<5x1x8xf32>, tensor<2x4x4xf32>, tensor<2x1x4xf32>) -> (tensor<5x2x1x4xf32>, tensor<2x1x4xf32>)
  return
}

// -----

func.func @rnn_directions(%g: tensor<5x1x12xf32>, %r: tensor<3x4x4xf32>, %h: tensor<3x1x4xf32>) {
  // expected-error @below {{expected one or two directions}}
  %y, %a = nn.rnn gates(%g) recurrence(%r) hidden(%h) activations ["Tanh"]
    : (tensor<5x1x12xf32>, tensor<3x4x4xf32>, tensor<3x1x4xf32>) -> (tensor<5x3x1x4xf32>, tensor<3x1x4xf32>)
  return
}

// -----

func.func @constant() {
  // expected-error @below {{value has type 'tensor<2xf32>'}}
  %0 = "nn.constant"() <{value = dense<1.0> : tensor<2xf32>}> : () -> tensor<3xf32>
  return
}

// -----

func.func @iota() {
  // expected-error @below {{axis 2 is outside [0, 2)}}
  %0 = nn.iota axis 2 : tensor<2x3xi64>
  return
}

// -----

func.func @elementwise_rank(%x: tensor<2xf32>, %y: tensor<2x1xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  %0 = "nn.add"(%x, %y) : (tensor<2xf32>, tensor<2x1xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @cast_shape(%x: tensor<2xf32>) {
  // expected-error @below {{requires the same shape for all operands and results}}
  %0 = nn.cast %x : tensor<2xf32> -> tensor<3xi64>
  return
}

// -----

func.func @hardmax_axis(%x: tensor<2x3xf32>) {
  // expected-error @below {{axis -1 is outside [0, 2)}}
  %0 = nn.hardmax %x axis -1 : tensor<2x3xf32>
  return
}

// -----

func.func @log_softmax_type(%x: tensor<2x3xi32>) {
  // expected-error @below {{must be ranked tensor of floating-point numbers}}
  %0 = nn.log_softmax %x axis 1 : tensor<2x3xi32>
  return
}

// -----

func.func @rms_norm_scale(%x: tensor<2x3xf32>, %s: tensor<2xf32>) {
  // expected-error @below {{dimension 0 of the scale is 2, expected 3}}
  %0 = nn.rms_norm %x, %s axis 1 epsilon 1.0e-5 : tensor<2x3xf32>, tensor<2xf32>
  return
}

// -----

func.func @lp_norm_power(%x: tensor<2x3xf32>) {
  // expected-error @below {{expected p 1 or 2, got 3}}
  %0 = nn.lp_norm %x axis 1 p 3 : tensor<2x3xf32>
  return
}

// -----

func.func @mean_variance_norm_axes(%x: tensor<2x3xf32>) {
  // expected-error @below {{expected sorted axes without duplicates}}
  %0 = nn.mean_variance_norm %x [1, 0] : tensor<2x3xf32>
  return
}

// -----

func.func @batch_norm_channels(%x: tensor<2x3xf32>, %s: tensor<2xf32>) {
  // expected-error @below {{dimension 0 of a parameter is 2, expected 3}}
  %0 = nn.batch_norm %x scale %s bias %s mean %s variance %s epsilon 1.0e-5 : tensor<2x3xf32>, tensor<2xf32>
  return
}

// -----

func.func @batch_norm_rank(%x: tensor<2xf32>) {
  // expected-error @below {{expected an input of rank 2 or more, got rank 1}}
  %0 = nn.batch_norm %x scale %x bias %x mean %x variance %x epsilon 1.0e-5 : tensor<2xf32>, tensor<2xf32>
  return
}

// -----

func.func @batch_norm_type(%x: tensor<2x3xf32>, %s: tensor<3xf64>) {
  // expected-error @below {{expected parameters of the input's element type}}
  %0 = nn.batch_norm %x scale %s bias %s mean %s variance %s epsilon 1.0e-5 : tensor<2x3xf32>, tensor<3xf64>
  return
}

// -----

func.func @conv_transpose_ranks(%x: tensor<1x8x4x4xf32>, %w: tensor<8x4x2xf32>) {
  // expected-error @below {{weight, input and result have different ranks}}
  %0 = nn.conv_transpose %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
    : tensor<1x8x4x4xf32>, tensor<8x4x2xf32> -> tensor<1x4x5x5xf32>
  return
}

// -----

func.func @conv_transpose_groups(%x: tensor<1x8x4x4xf32>, %w: tensor<8x4x2x2xf32>) {
  // expected-error @below {{expected at least one group}}
  %0 = nn.conv_transpose %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 0 layout channels_first
    : tensor<1x8x4x4xf32>, tensor<8x4x2x2xf32> -> tensor<1x4x5x5xf32>
  return
}

// -----

func.func @conv_transpose_input(%x: tensor<1x6x4x4xf32>, %w: tensor<8x4x2x2xf32>) {
  // expected-error @below {{weight has 8 input channels, but the input has 6}}
  %0 = nn.conv_transpose %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
    : tensor<1x6x4x4xf32>, tensor<8x4x2x2xf32> -> tensor<1x4x5x5xf32>
  return
}

// -----

func.func @conv_transpose_result(%x: tensor<1x8x4x4xf32>, %w: tensor<8x4x2x2xf32>) {
  // expected-error @below {{the result's channels differ from the weight's}}
  %0 = nn.conv_transpose %x, %w strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] groups 1 layout channels_first
    : tensor<1x8x4x4xf32>, tensor<8x4x2x2xf32> -> tensor<1x5x5x5xf32>
  return
}

// -----

func.func @choose_condition(%c: tensor<1xi1>, %x: tensor<4xf32>) {
  // expected-error @below {{expected a condition of rank 0, got 'tensor<1xi1>'}}
  %0 = nn.choose %c ? %x : %x : tensor<1xi1>, tensor<4xf32>
  return
}

// -----

func.func @loop_rows(%x: tensor<4xf32>) {
  // expected-error @below {{rows of type 'tensor<4xf32>' do not become 'tensor<3x4xf32>'}}
  %0 = nn.loop steps affine_map<() -> (2)> step 0 carries() uses(%x) axes [0] backwards [0] : (tensor<4xf32>) -> tensor<3x4xf32> {
  ^bb0(%y: tensor<4xf32>):
    nn.yield %y : tensor<4xf32>
  }
  return
}

// -----

func.func @loop_carried(%x: tensor<4xf32>) {
  // expected-error @below {{expected the carried values and rows to keep their types}}
  %0 = nn.loop steps affine_map<() -> (2)> step 0 carries(%x) uses() axes [] backwards [] : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%y: tensor<4xf32>):
    %r = nn.reshape %y : tensor<4xf32> -> tensor<2x2xf32>
    nn.yield %r : tensor<2x2xf32>
  }
  return
}

// -----

func.func @loop_condition(%x: tensor<4xf32>) {
  // expected-error @below {{expected a first carried value of type tensor<i1>, the condition}}
  %0 = nn.loop steps affine_map<() -> (2)> step 0 conditional carries(%x) uses() axes [] backwards [] : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%y: tensor<4xf32>):
    nn.yield %y : tensor<4xf32>
  }
  return
}

// -----

func.func @loop_arguments(%x: tensor<4xf32>) {
  // expected-error @below {{body arguments do not have the types of the operands}}
  %0 = nn.loop steps affine_map<() -> (2)> step 0 carries(%x) uses() axes [] backwards [] : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%y: tensor<5xf32>):
    nn.yield %y : tensor<5xf32>
  }
  return
}

// -----

func.func @loop_directions(%x: tensor<4xf32>) {
  // expected-error @below {{expected one number of steps, and one direction for each axis}}
  %0 = nn.loop steps affine_map<() -> (2)> step 0 carries() uses(%x) axes [0] backwards [] : (tensor<4xf32>) -> tensor<2x4xf32> {
  ^bb0(%y: tensor<4xf32>):
    nn.yield %y : tensor<4xf32>
  }
  return
}

// -----

func.func @computed_dim(%x: tensor<2xi64>) {
  // expected-error @below {{expected one number}}
  %0 = nn.computed_dim %x counts 0 : tensor<2xi64> -> tensor<1xi64>
  return
}

// -----

func.func @non_zero_symbol(%x: tensor<2x3xf32>) {
  // expected-error @below {{dimension 1 of the indices is s0, expected s1}}
  %0, %1 = nn.non_zero %x counts 1 : tensor<2x3xf32> -> tensor<2x?xi64, #nn.dims<()[s0] -> (2, s0)>>, tensor<1xi64>
  return
}

// -----

func.func @non_zero_count(%x: tensor<2x3xf32>) {
  // expected-error @below {{dimension 0 of the count is 2, expected 1}}
  %0, %1 = nn.non_zero %x counts 0 : tensor<2x3xf32> -> tensor<2x?xi64, #nn.dims<()[s0] -> (2, s0)>>, tensor<2xi64>
  return
}

// -----

func.func @unique_rank(%x: tensor<6xf32>) {
  // expected-error @below {{rows has rank 1, expected 2}}
  %0, %1, %2, %3 = nn.unique %x counts 0 : tensor<6xf32>
    -> tensor<?xi64, #nn.dims<()[s0] -> (s0)>>, tensor<6xi64>, tensor<?xi64, #nn.dims<()[s0] -> (s0)>>, tensor<1xi64>
  return
}

// -----

func.func @unique_inverse(%x: tensor<6x2xf32>) {
  // expected-error @below {{dimension 0 of the inverse is 5, expected 6}}
  %0, %1, %2, %3 = nn.unique %x counts 0 : tensor<6x2xf32>
    -> tensor<?xi64, #nn.dims<()[s0] -> (s0)>>, tensor<5xi64>, tensor<?xi64, #nn.dims<()[s0] -> (s0)>>, tensor<1xi64>
  return
}

// -----

func.func @suppression_boxes(%boxes: tensor<1x6x5xf32>, %scores: tensor<1x2x6xf32>, %max: tensor<i64>, %t: tensor<f32>) {
  // expected-error @below {{dimension 2 of boxes is 5, expected 4}}
  %0, %1 = nn.non_max_suppression %boxes, %scores, %max, %t counts 0
    : tensor<1x6x5xf32>, tensor<1x2x6xf32>, tensor<i64>, tensor<f32> -> tensor<?x3xi64, #nn.dims<()[s0] -> (s0, 3)>>, tensor<1xi64>
  return
}

// -----

func.func @suppression_limit(%boxes: tensor<1x6x4xf32>, %scores: tensor<1x2x6xf32>, %max: tensor<2xi64>, %t: tensor<f32>) {
  // expected-error @below {{expected limits and thresholds of one element}}
  %0, %1 = nn.non_max_suppression %boxes, %scores, %max, %t counts 0
    : tensor<1x6x4xf32>, tensor<1x2x6xf32>, tensor<2xi64>, tensor<f32> -> tensor<?x3xi64, #nn.dims<()[s0] -> (s0, 3)>>, tensor<1xi64>
  return
}

// -----

func.func @composite_name(%x: tensor<4xf32>) {
  // expected-error @below {{expected a name}}
  nn.composite "" version 1(%x) : (tensor<4xf32>) -> () {
  ^bb0(%a: tensor<4xf32>):
    nn.yield
  }
  return
}

// -----

func.func @composite_version(%x: tensor<4xf32>) {
  // expected-error @below {{expected a version that is not negative, got -2}}
  nn.composite "f" version -2(%x) : (tensor<4xf32>) -> () {
  ^bb0(%a: tensor<4xf32>):
    nn.yield
  }
  return
}

// -----

func.func @composite_arguments(%x: tensor<4xf32>) {
  // expected-error @below {{body arguments do not have the types of the inputs}}
  nn.composite "f" version 1(%x) : (tensor<4xf32>) -> () {
  ^bb0(%a: tensor<5xf32>):
    nn.yield
  }
  return
}

// -----

func.func @composite_results(%x: tensor<4xf32>) {
  // expected-error @below {{yielded values do not have the types of the results}}
  %r = nn.composite "f" version 1(%x) : (tensor<4xf32>) -> tensor<5xf32> {
  ^bb0(%a: tensor<4xf32>):
    nn.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @composite_computes_symbol(%x: tensor<2x3xf32>) {
  // expected-error @below {{has nn.non_zero in its body}}
  %r = nn.composite "f" version 1(%x) : (tensor<2x3xf32>) -> tensor<1xi64> {
  ^bb0(%a: tensor<2x3xf32>):
    %0, %1 = nn.non_zero %a counts 0 : tensor<2x3xf32> -> tensor<2x?xi64, #nn.dims<()[s0] -> (2, s0)>>, tensor<1xi64>
    nn.yield %1 : tensor<1xi64>
  }
  return
}

// -----

func.func @composite_is_isolated(%x: tensor<4xf32>) {
  // expected-note @below {{required by region isolation constraints}}
  %r = nn.composite "f" version 1() : () -> tensor<4xf32> {
    // expected-error @below {{using value defined outside the region}}
    %0 = nn.abs %x : tensor<4xf32>
    nn.yield %0 : tensor<4xf32>
  }
  return
}

// -----

func.func @loss_rank(%x: tensor<5xf32>, %t: tensor<i64>) {
  // expected-error @below {{expected an input of rank 2 or more, got 'tensor<5xf32>'}}
  %0 = nn.negative_log_likelihood sum %x, %t : tensor<5xf32>, tensor<i64> -> tensor<f32>
  return
}

// -----

func.func @loss_target(%x: tensor<3x5x2xf32>, %t: tensor<3x5xi64>) {
  // expected-error @below {{dimension 1 of the target is 5, expected 2}}
  %0 = nn.negative_log_likelihood sum %x, %t : tensor<3x5x2xf32>, tensor<3x5xi64> -> tensor<f32>
  return
}

// -----

func.func @loss_weight(%x: tensor<3x5xf32>, %t: tensor<3xi64>, %w: tensor<3xf32>) {
  // expected-error @below {{dimension 0 of the weight is 3, expected 5}}
  %0 = nn.negative_log_likelihood sum %x, %t weight %w : tensor<3x5xf32>, tensor<3xi64>, tensor<3xf32> -> tensor<f32>
  return
}

// -----

func.func @loss_result(%x: tensor<3x5xf32>, %t: tensor<3xi64>) {
  // expected-error @below {{the loss has rank 0, expected 1}}
  %0, %1 = nn.softmax_cross_entropy none %x, %t : tensor<3x5xf32>, tensor<3xi64> -> tensor<f32>
  return
}

// -----

func.func @loss_type(%x: tensor<3x5xf32>, %t: tensor<3xi64>) {
  // expected-error @below {{has operands or results of other element types than the input's, 'f32'}}
  %0, %1 = nn.softmax_cross_entropy mean %x, %t : tensor<3x5xf32>, tensor<3xi64> -> tensor<f64>
  return
}

// -----

func.func @random_type() {
  // expected-error @below {{'nn.random' op result #0 must be ranked tensor of f32 or f64}}
  %0 = nn.random uniform seed 7 of 0.0 and 1.0 : tensor<2xi32>
  return
}

// -----

func.func @strings_count() {
  // expected-error @below {{has 1 strings, expected one for each element of a static shape}}
  %0 = nn.strings ["a"] : tensor<2xi128>
  return
}

// -----

func.func @strings_are_no_numbers(%x: tensor<2xi128>) {
  // expected-error @below {{must be ranked tensor of numbers}}
  %0 = nn.add %x, %x : tensor<2xi128>
  return
}

// -----

func.func @string_equal_shape(%x: tensor<2xi128>) {
  // expected-error @below {{dimension 0 of the result is 3, expected 2}}
  %0 = nn.string_equal %x, %x : tensor<2xi128> -> tensor<3xi1>
  return
}

// -----

func.func @string_find_shape(%x: tensor<2xi128>) {
  // expected-error @below {{dimension 0 of the result is 3, expected 2}}
  %0 = nn.string_find %x in ["a"] : tensor<2xi128> -> tensor<3xi64>
  return
}

// -----

func.func @string_pattern(%x: tensor<2xi128>) {
  // expected-error @below {{has the pattern '(a': a parenthesis is not closed}}
  %0 = nn.string_match %x with "(a" : tensor<2xi128> -> tensor<2xi1>
  return
}

// -----

func.func @string_bytes(%x: tensor<2xi128>) {
  // expected-error @below {{of the bytes is}}
  %0, %1, %2 = nn.string_concat %x, %x room 64 counts 0 : tensor<2xi128> -> tensor<2xi128>, tensor<64xui8>, tensor<1xi64>
  return
}

// -----

func.func @string_room(%x: tensor<2xi128>) {
  // expected-error @below {{has room for -1 elements}}
  %0, %1, %2 = nn.string_case %x room -1 counts 0 : tensor<2xi128> -> tensor<2xi128>, tensor<?xui8, #nn.dims<()[s0] -> (s0)>>, tensor<1xi64>
  return
}

// -----

func.func @string_kept(%x: tensor<2xi128>) {
  // expected-error @below {{dimension 0 of the result is 2, expected s0}}
  %0, %1 = nn.string_filter %x without ["a"] counts 0 : tensor<2xi128> -> tensor<2xi128>, tensor<1xi64>
  return
}

// -----

func.func @string_parts(%x: tensor<2xi128>) {
  // expected-error @below {{dimension 0 of the sizes is 3, expected 2}}
  %0, %1, %2 = nn.string_split %x at "" splits 9 room 10 counts 0 : tensor<2xi128> -> tensor<2x?xi128, #nn.dims<()[s0] -> (2, s0)>>, tensor<3xi64>, tensor<1xi64>
  return
}

// -----

func.func @tokens_of_two_patterns(%x: tensor<2xi128>) {
  // expected-error @below {{has 2 patterns and tokens of at least 1 characters, expected one pattern and character}}
  %0, %1 = nn.string_tokenize %x ["a", "b"] least 1 padding "" room 8 counts 0 : tensor<2xi128> -> tensor<2x?xi128, #nn.dims<()[s0] -> (2, s0)>>, tensor<1xi64>
  return
}

// -----

func.func @tokens_at_edges(%x: tensor<2xi128>) {
  // expected-error @below {{has the pattern '\B': a separator that may be empty}}
  %0, %1 = nn.string_tokenize %x between ["\\B"] least 1 padding "" room 8 counts 0 : tensor<2xi128> -> tensor<2x?xi128, #nn.dims<()[s0] -> (2, s0)>>, tensor<1xi64>
  return
}

// -----

func.func @tokens_between_nothing(%x: tensor<2xi128>) {
  // expected-error @below {{has the pattern 'a*': a separator that may be empty}}
  %0, %1 = nn.string_tokenize %x between ["a*"] least 1 padding "" room 8 counts 0 : tensor<2xi128> -> tensor<2x?xi128, #nn.dims<()[s0] -> (2, s0)>>, tensor<1xi64>
  return
}

// -----

func.func @tokens_broken(%x: tensor<2xi128>) {
  // expected-error @below {{has the pattern '(a'}}
  %0, %1 = nn.string_tokenize %x ["(a"] least 1 padding "" room 8 counts 0 : tensor<2xi128> -> tensor<2x?xi128, #nn.dims<()[s0] -> (2, s0)>>, tensor<1xi64>
  return
}

// -----

func.func @tokens_size(%x: tensor<2xi128>) {
  // expected-error @below {{dimension 1 of the result is 3, expected s0}}
  %0, %1 = nn.string_tokenize %x ["a"] least 1 padding "" room 8 counts 0 : tensor<2xi128> -> tensor<2x3xi128>, tensor<1xi64>
  return
}

// -----

func.func @col2im_rank(%x: tensor<1x4x9x1xf32>) {
  // expected-error @below {{expects an input of rank 3, and a result like it with one to three dimensions of an image}}
  %0 = nn.col2im %x block [2, 2] strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] : tensor<1x4x9x1xf32> -> tensor<1x1x4x4xf32>
  return
}

// -----

func.func @col2im_lists(%x: tensor<1x4x9xf32>) {
  // expected-error @below {{expects as many strides and dilations as a block has dimensions, and twice as many pads}}
  %0 = nn.col2im %x block [2, 2] strides [1, 1] dilations [1, 1] pads [0, 0] : tensor<1x4x9xf32> -> tensor<1x1x4x4xf32>
  return
}

// -----

func.func @col2im_stride(%x: tensor<1x4x9xf32>) {
  // expected-error @below {{expects an image of known size, and positive blocks, strides and dilations}}
  %0 = nn.col2im %x block [2, 2] strides [1, 0] dilations [1, 1] pads [0, 0, 0, 0] : tensor<1x4x9xf32> -> tensor<1x1x4x4xf32>
  return
}

// -----

func.func @col2im_overflow(%x: tensor<1x4x9xf32>) {
  // expected-error @below {{has more blocks, or elements in one, than fit 64 bits}}
  %0 = nn.col2im %x block [2147483647, 2147483647, 2147483647] strides [1, 1, 1] dilations [1, 1, 1] pads [0, 0, 0, 0, 0, 0] : tensor<1x4x9xf32> -> tensor<1x1x4x4x4xf32>
  return
}

// -----

func.func @col2im_blocks(%x: tensor<1x4x8xf32>) {
  // expected-error @below {{the input}}
  %0 = nn.col2im %x block [2, 2] strides [1, 1] dilations [1, 1] pads [0, 0, 0, 0] : tensor<1x4x8xf32> -> tensor<1x1x4x4xf32>
  return
}

// -----

func.func @distances_types(%a: tensor<5x3xf32>, %b: tensor<4x3xf64>) {
  // expected-error @below {{expects matrices of one type}}
  %0 = nn.distances %a, %b : tensor<5x3xf32>, tensor<4x3xf64> -> tensor<5x4xf32>
  return
}

// -----

func.func @distances_depth(%a: tensor<5x3xf32>, %b: tensor<4x2xf32>) {
  // expected-error @below {{the right side}}
  %0 = nn.distances %a, %b : tensor<5x3xf32>, tensor<4x2xf32> -> tensor<5x4xf32>
  return
}

// -----

func.func @fourier_table(%x: tensor<2x8x1xf32>, %t: tensor<15xf32>) {
  // expected-error @below {{has a table of 'tensor<15xf32>', expected 16 elements}}
  %0 = nn.fourier %x, %t length 8 : tensor<2x8x1xf32>, tensor<15xf32> -> tensor<2x5x2xf32>
  return
}

// -----

func.func @fourier_points(%x: tensor<2x9x2xf32>, %t: tensor<14xf32>) {
  // expected-error @below {{expects 1 to 8 points of one or two parts}}
  %0 = nn.fourier %x, %t length 8 : tensor<2x9x2xf32>, tensor<14xf32> -> tensor<2x8x2xf32>
  return
}

// -----

func.func @fourier_real(%x: tensor<2x5x2xf32>, %t: tensor<16xf32>) {
  // expected-error @below {{is inverse where the result is of real numbers}}
  %0 = nn.fourier %x, %t length 8 : tensor<2x5x2xf32>, tensor<16xf32> -> tensor<2x8x1xf32>
  return
}

// -----

func.func @fourier_types(%x: tensor<2x8x2xf32>, %t: tensor<14xf64>) {
  // expected-error @below {{expects an input of rank 2 or more, and a table and a result like it}}
  %0 = nn.fourier %x, %t length 8 : tensor<2x8x2xf32>, tensor<14xf64> -> tensor<2x8x2xf32>
  return
}

// -----

func.func @fourier_rows(%x: tensor<2x8x2xf32>, %t: tensor<14xf32>) {
  // expected-error @below {{the result}}
  %0 = nn.fourier %x, %t length 8 : tensor<2x8x2xf32>, tensor<14xf32> -> tensor<3x8x2xf32>
  return
}

// -----

func.func @string_parse(%x: tensor<2xi128>) {
  // expected-error @below {{the result}}
  %0 = nn.string_parse %x : tensor<2xi128> -> tensor<3xf64>
  return
}

// -----

func.func @string_hash(%x: tensor<2xi128>) {
  // expected-error @below {{the result}}
  %0 = nn.string_hash %x seed 1 : tensor<2xi128> -> tensor<3xui32>
  return
}

// -----

func.func @couple_pairs_rank(%x: tensor<3xf32>) {
  // expected-error @below {{expects pairs and a result of rank 2, and a known number of classes, at least 2}}
  %0, %1 = nn.couple_pairs %x : tensor<3xf32> -> tensor<1x3xf32>, tensor<2x3xf32>
  return
}

// -----

func.func @couple_pairs_number(%x: tensor<5x4xf32>) {
  // expected-error @below {{the pairs}}
  %0, %1 = nn.couple_pairs %x : tensor<5x4xf32> -> tensor<5x3xf32>, tensor<2x3xf32>
  return
}

// -----

func.func @string_order(%x: tensor<2xi128>) {
  // expected-error @below {{the places}}
  %0, %1 = nn.string_order %x : tensor<2xi128> -> tensor<2xi64>, tensor<3xi64>
  return
}

// -----

func.func @string_print(%x: tensor<2xf32>) {
  // expected-error @below {{has room for -1 elements}}
  %0, %1, %2 = nn.string_print %x room -1 counts 0 : tensor<2xf32> -> tensor<2xi128>, tensor<?xui8, #nn.dims<()[s0] -> (s0)>>, tensor<1xi64>
  return
}

// -----

func.func @image_room(%x: tensor<9xui8>) {
  // expected-error @below {{has room for -1 elements}}
  %0, %1, %2 = nn.decode_image %x to rgb within 4 by -1 counts 0 : tensor<9xui8> -> tensor<?xui8, #nn.dims<()[s0] -> (s0)>>, tensor<2xi64>, tensor<1xi64>
  return
}

// -----

func.func @image_size(%x: tensor<9xui8>) {
  // expected-error @below {{dimension 0 of the size is 3, expected 2}}
  %0, %1, %2 = nn.decode_image %x to rgb within 4 by 4 counts 0 : tensor<9xui8> -> tensor<?xui8, #nn.dims<()[s0] -> (s0)>>, tensor<3xi64>, tensor<1xi64>
  return
}

// -----

func.func @image_count(%x: tensor<9xui8>) {
  // expected-error @below {{dimension 0 of the count is 2, expected 1}}
  %0, %1, %2 = nn.decode_image %x to rgb within 4 by 4 counts 0 : tensor<9xui8> -> tensor<?xui8, #nn.dims<()[s0] -> (s0)>>, tensor<2xi64>, tensor<2xi64>
  return
}

// -----

func.func @image_file(%x: tensor<3x3xui8>) {
  // expected-error @below {{has a file of rank 2, expected 1}}
  %0, %1, %2 = nn.decode_image %x to rgb within 4 by 4 counts 0 : tensor<3x3xui8> -> tensor<?xui8, #nn.dims<()[s0] -> (s0)>>, tensor<2xi64>, tensor<1xi64>
  return
}

// -----

func.func @image_pixels(%x: tensor<9xui8>) {
  // expected-error @below {{dimension 0 of the pixels is 16, expected 48}}
  %0, %1, %2 = nn.decode_image %x to rgb within 4 by 4 counts 0 : tensor<9xui8> -> tensor<16xui8>, tensor<2xi64>, tensor<1xi64>
  return
}

// -----

func.func @group_form(%x: tensor<2xf32>) {
  // expected-error @below {{has not the anchors of the form product_softmax}}
  %0 = nn.group(%x) {form = #nn.group_form<product_softmax>} : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    %s = nn.softmax %a axis 0 : tensor<2xf32>
    nn.yield %s : tensor<2xf32>
  }
  return
}

// -----

func.func @quantized_matmul_type(%x: tensor<2x8xi16>, %w: tensor<8x4xi8>) {
  // expected-error @below {{the left side has elements of 'i16', expected i8 or ui8}}
  %0 = nn.quantized_matmul %x, %w zero_points %x, %w : tensor<2x8xi16>, tensor<8x4xi8> -> tensor<2x4xi32>
  return
}

// -----

func.func @quantized_matmul_depth(%x: tensor<2x8xi8>, %w: tensor<7x4xi8>) {
  // expected-error @below {{the left side has 8 columns, but the right side has 7 rows}}
  %0 = nn.quantized_matmul %x, %w zero_points %x, %w : tensor<2x8xi8>, tensor<7x4xi8> -> tensor<2x4xi32>
  return
}

// -----

func.func @quantized_conv_type(%x: tensor<1x2x8xi8>, %w: tensor<3x2x3xf32>) {
  // expected-error @below {{the weight has elements of 'f32', expected i8 or ui8}}
  %0 = nn.quantized_conv %x, %w zero_points %x, %w strides [1] dilations [1] pads [1, 1] groups 1 layout channels_first
    : tensor<1x2x8xi8>, tensor<3x2x3xf32> -> tensor<1x3x8xi32>
  return
}

// -----

func.func @block_quantized_bits(%x: tensor<2x64xf32>, %w: tensor<16x2x16xui8>, %s: tensor<16x2xf32>) {
  // expected-error @below {{expected 4 or 8 bits; got 3}}
  %0 = nn.block_quantized_matmul %x, %w scales %s bits 3 : tensor<2x64xf32>, tensor<16x2x16xui8>, tensor<16x2xf32> -> tensor<2x16xf32>
  return
}

// -----

func.func @block_quantized_rank(%x: tensor<2x64xf32>, %w: tensor<16x32xui8>, %s: tensor<16x2xf32>) {
  // expected-error @below {{expected a weight of columns, blocks and bytes; got 'tensor<16x32xui8>'}}
  %0 = nn.block_quantized_matmul %x, %w scales %s bits 4 : tensor<2x64xf32>, tensor<16x32xui8>, tensor<16x2xf32> -> tensor<2x16xf32>
  return
}

// -----

func.func @block_quantized_type(%x: tensor<2x64xf32>, %w: tensor<16x2x16xi8>, %s: tensor<16x2xf32>) {
  // expected-error @below {{the weight has elements of 'i8', expected 'ui8'}}
  %0 = nn.block_quantized_matmul %x, %w scales %s bits 4 : tensor<2x64xf32>, tensor<16x2x16xi8>, tensor<16x2xf32> -> tensor<2x16xf32>
  return
}

// -----

func.func @block_quantized_size(%x: tensor<2x48xf32>, %w: tensor<16x2x12xui8>, %s: tensor<16x2xf32>) {
  // expected-error @below {{a block has 24 weights, expected a multiple of 16}}
  %0 = nn.block_quantized_matmul %x, %w scales %s bits 4 : tensor<2x48xf32>, tensor<16x2x12xui8>, tensor<16x2xf32> -> tensor<2x16xf32>
  return
}

// -----

func.func @block_quantized_rows(%x: tensor<2x60xf32>, %w: tensor<16x2x16xui8>, %s: tensor<16x2xf32>) {
  // expected-error @below {{expected rows of 64 on the left side; got 'tensor<2x60xf32>'}}
  %0 = nn.block_quantized_matmul %x, %w scales %s bits 4 : tensor<2x60xf32>, tensor<16x2x16xui8>, tensor<16x2xf32> -> tensor<2x16xf32>
  return
}

// -----

func.func @block_quantized_scale(%x: tensor<2x64xf32>, %w: tensor<16x2x16xui8>, %s: tensor<16x2xf64>) {
  // expected-error @below {{the scale has elements of 'f64', expected f32, f16 or bf16}}
  %0 = nn.block_quantized_matmul %x, %w scales %s bits 4 : tensor<2x64xf32>, tensor<16x2x16xui8>, tensor<16x2xf64> -> tensor<2x16xf32>
  return
}

// -----

func.func @block_quantized_sums(%x: tensor<2x64xf32>, %w: tensor<16x2x16xui8>, %s: tensor<16x2xf32>) {
  // expected-error @below {{expected a rounded left side to have both scales and sums}}
  %0 = nn.block_quantized_matmul %x, %w scales %s rounded_by %s : tensor<16x2xf32> bits 4 : tensor<2x64xf32>, tensor<16x2x16xui8>, tensor<16x2xf32> -> tensor<2x16xf32>
  return
}

// -----

func.func @block_quantized_lhs(%x: tensor<2x64xi8>, %w: tensor<16x2x16xui8>, %s: tensor<16x2xf32>) {
  // expected-error @below {{the left side has elements of 'i8', expected 'f32'}}
  %0 = nn.block_quantized_matmul %x, %w scales %s bits 4 : tensor<2x64xi8>, tensor<16x2x16xui8>, tensor<16x2xf32> -> tensor<2x16xf32>
  return
}

// -----

func.func @lookup_type(%x: tensor<4xi16>) {
  // expected-error @below {{looks up bytes; got 'tensor<4xi16>' and 'tensor<4xi8>'}}
  %0 = nn.lookup %x in [1, 2] : tensor<4xi16> -> tensor<4xi8>
  return
}

// -----

func.func @lookup_table(%x: tensor<4xi8>) {
  // expected-error @below {{has a table of 2 bytes, expected 256}}
  %0 = nn.lookup %x in [1, 2] : tensor<4xi8> -> tensor<4xi8>
  return
}

// -----

func.func @tree_ranks(%x: tensor<5x2xf32>, %n: tensor<3xi64>, %t: tensor<4xi64>, %l: tensor<1xi64>, %w: tensor<4xf32>) {
  // expected-error @below {{expects an input of rank 2, and weights and a result of rank 3 like it}}
  nn.tree_ensemble %x, %n, %t, %l, %w words 1 block 64 width 2 missing 0
    : tensor<5x2xf32>, tensor<3xi64>, tensor<4xi64>, tensor<1xi64>, tensor<4xf32> -> tensor<5x1xf32>
  return
}

// -----

func.func @tree_table(%x: tensor<5x2xf32>, %n: tensor<1x3xi64>, %t: tensor<4xi64>, %l: tensor<1xi64>, %w: tensor<4xf32>) {
  // expected-error @below {{has a table of 'tensor<1x3xi64>', expected one dimension of known size}}
  nn.tree_ensemble %x, %n, %t, %l, %w words 1 block 64 width 2 missing 0
    : tensor<5x2xf32>, tensor<1x3xi64>, tensor<4xi64>, tensor<1xi64>, tensor<4xf32> -> tensor<5x1x1xf32>
  return
}

// -----

func.func @tree_words(%x: tensor<5x2xf32>, %n: tensor<3xi64>, %t: tensor<4xi64>, %l: tensor<1xi64>, %w: tensor<4xf32>) {
  // expected-error @below {{expects 1 to 3 words, missing 0 to 2, positive block and width, and the least or the largest}}
  nn.tree_ensemble %x, %n, %t, %l, %w words 4 block 64 width 2 missing 0
    : tensor<5x2xf32>, tensor<3xi64>, tensor<4xi64>, tensor<1xi64>, tensor<4xf32> -> tensor<5x1x1xf32>
  return
}

// -----

func.func @tree_nodes(%x: tensor<5x2xf32>, %n: tensor<3xi64>, %t: tensor<4xi64>, %l: tensor<1xi64>, %w: tensor<4xf32>) {
  // expected-error @below {{expects whole nodes, four numbers for each tree, and a known number of targets}}
  nn.tree_ensemble %x, %n, %t, %l, %w words 2 block 64 width 2 missing 0
    : tensor<5x2xf32>, tensor<3xi64>, tensor<4xi64>, tensor<1xi64>, tensor<4xf32> -> tensor<5x1x1xf32>
  return
}

// -----

func.func @tree_levels(%x: tensor<5x2xf32>, %n: tensor<80xi64>, %t: tensor<4xi64>, %l: tensor<1xi64>, %w: tensor<4xf32>) {
  // expected-error @below {{has 80 words of nodes, expected 640}}
  nn.tree_ensemble %x, %n, %t, %l, %w words 1 block 64 width 2 missing 0 levels 6 holds_leaves
    : tensor<5x2xf32>, tensor<80xi64>, tensor<4xi64>, tensor<1xi64>, tensor<4xf32> -> tensor<5x1x1xf32>
  return
}

// -----

func.func @tree_many_levels(%x: tensor<5x2xf32>, %n: tensor<80xi64>, %t: tensor<4xi64>, %l: tensor<1xi64>, %w: tensor<4xf32>) {
  // expected-error @below {{expects 2 to 12 levels of nodes of one word, and a multiple of 8 trees in a block}}
  nn.tree_ensemble %x, %n, %t, %l, %w words 1 block 64 width 2 missing 0 levels 13
    : tensor<5x2xf32>, tensor<80xi64>, tensor<4xi64>, tensor<1xi64>, tensor<4xf32> -> tensor<5x1x1xf32>
  return
}

// -----

func.func @tree_leaves(%x: tensor<5x2xf32>, %n: tensor<3xi64>, %t: tensor<4xi64>, %l: tensor<1xi64>, %w: tensor<4xf32>) {
  // expected-error @below {{expects sums and levels where nodes hold leaves}}
  nn.tree_ensemble %x, %n, %t, %l, %w words 1 block 64 width 2 missing 0 holds_leaves
    : tensor<5x2xf32>, tensor<3xi64>, tensor<4xi64>, tensor<1xi64>, tensor<4xf32> -> tensor<5x1x1xf32>
  return
}

// -----

func.func @tree_blocks(%x: tensor<5x2xf32>, %n: tensor<3xi64>, %t: tensor<4xi64>, %l: tensor<1xi64>, %w: tensor<4xf32>) {
  // expected-error @below {{the result}}
  nn.tree_ensemble %x, %n, %t, %l, %w words 1 block 64 width 2 missing 0
    : tensor<5x2xf32>, tensor<3xi64>, tensor<4xi64>, tensor<1xi64>, tensor<4xf32> -> tensor<5x2x1xf32>
  return
}

// -----

func.func @extern_name(%x: tensor<4xf32>) {
  // expected-error @below {{names the function '4you', which is no name in C}}
  nn.extern_call "4you"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @extern_without_result(%x: tensor<4xf32>) {
  // expected-error @below {{has no result}}
  nn.extern_call "f"(%x) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @one_rank(%x: tensor<2x4xf32>) {
  // expected-error @below {{expected two or more different ranks}}
  %0 = nn.all_to_all %x ranks [0, 0] index 0 number 0 : tensor<2x4xf32>
  return
}

// -----

func.func @rank_index(%x: tensor<2x4xf32>) {
  // expected-error @below {{has index 2 among 2 ranks}}
  %0 = nn.all_to_all %x ranks [0, 1] index 2 number 0 : tensor<2x4xf32>
  return
}

// -----

func.func @gathered_slices(%x: tensor<2x4xf32>) {
  // expected-error @below {{dimension 0 of the result is 3, expected 2}}
  %0 = nn.all_gather %x ranks [0, 1] index 0 number 0 : tensor<2x4xf32> -> tensor<3x2x4xf32>
  return
}

// -----

func.func @gathered_elements(%x: tensor<2x4xf32>) {
  // expected-error @below {{changes the element type}}
  %0 = nn.all_gather %x ranks [0, 1] index 0 number 0 : tensor<2x4xf32> -> tensor<2x2x4xf64>
  return
}

// -----

func.func @scattered(%x: tensor<3x4xf32>) {
  // expected-error @below {{dimension 0 of the operand is 3, expected 2}}
  %0 = nn.reduce_scatter %x sum ranks [0, 1] index 0 number 0 : tensor<3x4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @merged_kind(%x: tensor<2x4xf32>) {
  // expected-error @below {{merges 'broadcast', which is not a collective}}
  %0:2 = nn.merged_exchange "broadcast"(%x, %x) ranks [0, 1] index 0 number 0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  return
}

// -----

func.func @merged_alone(%x: tensor<2x4xf32>) {
  // expected-error @below {{expected 2 to 8 operands, and a result for each; got 1 and 1}}
  %0 = nn.merged_exchange "all_to_all"(%x) ranks [0, 1] index 0 number 0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @merged_reduction(%x: tensor<2x4xf32>) {
  // expected-error @below {{expected a reduction for collectives that combine, an offset for those that shift, and neither for others}}
  %0:2 = nn.merged_exchange "all_reduce"(%x, %x) ranks [0, 1] index 0 number 0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  return
}

// -----

func.func @merged_types(%x: tensor<2x4xf32>, %y: tensor<2x4xf64>) {
  // expected-error @below {{combines elements of different types}}
  %0:2 = nn.merged_exchange "all_reduce"(%x, %y) ranks [0, 1] index 0 number 0 {reduction = #nn<reduce_kind sum>} : (tensor<2x4xf32>, tensor<2x4xf64>) -> (tensor<2x4xf32>, tensor<2x4xf64>)
  return
}

// -----

func.func @merged_result(%x: tensor<2x4xf32>) {
  // expected-error @below {{expected a result of type 'tensor<2x4xf32>'; got 'tensor<4x2xf32>'}}
  %0:2 = nn.merged_exchange "all_to_all"(%x, %x) ranks [0, 1] index 0 number 0 : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<4x2xf32>)
  return
}

// -----

func.func @merged_slices(%x: tensor<2x4xf32>, %z: tensor<3x4xf32>) {
  // expected-error @below {{expected a first dimension with a slice for each rank}}
  %0:2 = nn.merged_exchange "all_to_all"(%x, %z) ranks [0, 1] index 0 number 0 : (tensor<2x4xf32>, tensor<3x4xf32>) -> (tensor<2x4xf32>, tensor<3x4xf32>)
  return
}

// -----

func.func @mean_of_parts(%x: tensor<2x4xf32>) {
  // expected-error @below {{cannot combine parts to a mean}}
  %0 = nn.all_reduce %x mean ranks [0, 1] index 0 number 0 : tensor<2x4xf32>
  return
}

// -----

func.func @slices_for_ranks(%x: tensor<3x4xf32>) {
  // expected-error @below {{expected a first dimension with a slice for each rank}}
  %0 = nn.all_to_all %x ranks [0, 1] index 0 number 0 : tensor<3x4xf32>
  return
}

// -----

func.func @shift_far(%x: tensor<3x4xf32>) {
  // expected-error @below {{expected an offset of 1 or -1; got 2}}
  %0 = nn.shift %x by 2 ranks [0, 1] index 0 number 0 : tensor<3x4xf32>
  return
}
