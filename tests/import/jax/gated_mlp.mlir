"builtin.module"() <{sym_name = "jit_gated"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}], function_type = (tensor<16x64xf32>, tensor<64x96xf32>, tensor<64x96xf32>, tensor<96x64xf32>) -> tensor<16x64xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg1: tensor<16x64xf32>, %arg2: tensor<64x96xf32>, %arg3: tensor<64x96xf32>, %arg4: tensor<96x64xf32>):
    %9 = "stablehlo.dot_general"(%arg1, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x64xf32>, tensor<64x96xf32>) -> tensor<16x96xf32>
    %10 = "func.call"(%9) <{callee = @silu}> : (tensor<16x96xf32>) -> tensor<16x96xf32>
    %11 = "stablehlo.dot_general"(%arg1, %arg3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x64xf32>, tensor<64x96xf32>) -> tensor<16x96xf32>
    %12 = "stablehlo.multiply"(%10, %11) : (tensor<16x96xf32>, tensor<16x96xf32>) -> tensor<16x96xf32>
    %13 = "stablehlo.dot_general"(%12, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x96xf32>, tensor<96x64xf32>) -> tensor<16x64xf32>
    "func.return"(%13) : (tensor<16x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<16x96xf32>) -> tensor<16x96xf32>, res_attrs = [{}], sym_name = "silu", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<16x96xf32>):
    %0 = "stablehlo.negate"(%arg0) : (tensor<16x96xf32>) -> tensor<16x96xf32>
    %1 = "stablehlo.exponential"(%0) : (tensor<16x96xf32>) -> tensor<16x96xf32>
    %2 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x96xf32>
    %4 = "stablehlo.add"(%3, %1) : (tensor<16x96xf32>, tensor<16x96xf32>) -> tensor<16x96xf32>
    %5 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x96xf32>
    %7 = "stablehlo.divide"(%6, %4) : (tensor<16x96xf32>, tensor<16x96xf32>) -> tensor<16x96xf32>
    %8 = "stablehlo.multiply"(%arg0, %7) : (tensor<16x96xf32>, tensor<16x96xf32>) -> tensor<16x96xf32>
    "func.return"(%8) : (tensor<16x96xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
