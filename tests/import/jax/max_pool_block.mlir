"builtin.module"() <{sym_name = "jit_max_pool_block"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<2x12x10x6xf32>, tensor<3x3x6x8xf32>, tensor<8xf32>) -> tensor<2x6x5x8xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg1: tensor<2x12x10x6xf32>, %arg2: tensor<3x3x6x8xf32>, %arg3: tensor<8xf32>):
    %3 = "stablehlo.convolution"(%arg1, %arg2) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<2x12x10x6xf32>, tensor<3x3x6x8xf32>) -> tensor<2x12x10x8xf32>
    %4 = "stablehlo.broadcast_in_dim"(%arg3) <{broadcast_dimensions = array<i64: 3>}> : (tensor<8xf32>) -> tensor<1x1x1x8xf32>
    %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x8xf32>) -> tensor<2x12x10x8xf32>
    %6 = "stablehlo.add"(%3, %5) : (tensor<2x12x10x8xf32>, tensor<2x12x10x8xf32>) -> tensor<2x12x10x8xf32>
    %7 = "func.call"(%6) <{callee = @relu}> : (tensor<2x12x10x8xf32>) -> tensor<2x12x10x8xf32>
    %8 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<f32>
    %10 = "stablehlo.reduce_window"(%7, %9) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg4: tensor<f32>, %arg5: tensor<f32>):
      %11 = "stablehlo.maximum"(%arg4, %arg5) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%11) : (tensor<f32>) -> ()
    }) : (tensor<2x12x10x8xf32>, tensor<f32>) -> tensor<2x6x5x8xf32>
    "func.return"(%10) : (tensor<2x6x5x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<2x12x10x8xf32>) -> tensor<2x12x10x8xf32>, res_attrs = [{}], sym_name = "relu", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<2x12x10x8xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x12x10x8xf32>
    %2 = "stablehlo.maximum"(%arg0, %1) : (tensor<2x12x10x8xf32>, tensor<2x12x10x8xf32>) -> tensor<2x12x10x8xf32>
    "func.return"(%2) : (tensor<2x12x10x8xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
