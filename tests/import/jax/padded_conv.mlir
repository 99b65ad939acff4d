"builtin.module"() <{sym_name = "jit_padded_conv"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<2x9x8x6xf32>, tensor<3x3x6x8xf32>) -> tensor<2x5x5x8xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg2: tensor<2x9x8x6xf32>, %arg3: tensor<3x3x6x8xf32>):
    %2 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %3 = "func.call"(%arg2, %2) <{callee = @_pad}> : (tensor<2x9x8x6xf32>, tensor<i32>) -> tensor<2x12x11x6xf32>
    %4 = "stablehlo.convolution"(%3, %arg3) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 2, 2>}> : (tensor<2x12x11x6xf32>, tensor<3x3x6x8xf32>) -> tensor<2x5x5x8xf32>
    "func.return"(%4) : (tensor<2x5x5x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<2x9x8x6xf32>, tensor<i32>) -> tensor<2x12x11x6xf32>, res_attrs = [{}], sym_name = "_pad", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<2x9x8x6xf32>, %arg1: tensor<i32>):
    %0 = "stablehlo.convert"(%arg1) : (tensor<i32>) -> tensor<f32>
    %1 = "stablehlo.pad"(%arg0, %0) <{edge_padding_high = array<i64: 0, 1, 2, 0>, edge_padding_low = array<i64: 0, 2, 1, 0>, interior_padding = array<i64: 0, 0, 0, 0>}> : (tensor<2x9x8x6xf32>, tensor<f32>) -> tensor<2x12x11x6xf32>
    "func.return"(%1) : (tensor<2x12x11x6xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
