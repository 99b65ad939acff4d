"builtin.module"() <{sym_name = "jit_cnn_head_nchw"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<2x8x4x4xf32>, tensor<128x10xf32>, tensor<8x8x3x3xf32>) -> tensor<2x10xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg1: tensor<2x8x4x4xf32>, %arg2: tensor<128x10xf32>, %arg3: tensor<8x8x3x3xf32>):
    %3 = "stablehlo.convolution"(%arg1, %arg3) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<2x8x4x4xf32>, tensor<8x8x3x3xf32>) -> tensor<2x8x4x4xf32>
    %4 = "func.call"(%3) <{callee = @relu}> : (tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
    %5 = "stablehlo.reshape"(%4) : (tensor<2x8x4x4xf32>) -> tensor<2x128xf32>
    %6 = "stablehlo.dot_general"(%5, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x128xf32>, tensor<128x10xf32>) -> tensor<2x10xf32>
    "func.return"(%6) : (tensor<2x10xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>, res_attrs = [{}], sym_name = "relu", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<2x8x4x4xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x8x4x4xf32>
    %2 = "stablehlo.maximum"(%arg0, %1) : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
    "func.return"(%2) : (tensor<2x8x4x4xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
