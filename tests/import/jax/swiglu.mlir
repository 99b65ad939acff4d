"builtin.module"() <{sym_name = "jit_swiglu"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<24x64xf32>, tensor<64x96xf32>, tensor<48x64xf32>) -> tensor<24x64xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg1: tensor<24x64xf32>, %arg2: tensor<64x96xf32>, %arg3: tensor<48x64xf32>):
    %9 = "stablehlo.dot_general"(%arg1, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<24x64xf32>, tensor<64x96xf32>) -> tensor<24x96xf32>
    %10 = "stablehlo.slice"(%9) <{limit_indices = array<i64: 24, 48>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<24x96xf32>) -> tensor<24x48xf32>
    %11 = "stablehlo.slice"(%9) <{limit_indices = array<i64: 24, 96>, start_indices = array<i64: 0, 48>, strides = array<i64: 1, 1>}> : (tensor<24x96xf32>) -> tensor<24x48xf32>
    %12 = "func.call"(%10) <{callee = @silu}> : (tensor<24x48xf32>) -> tensor<24x48xf32>
    %13 = "stablehlo.multiply"(%12, %11) : (tensor<24x48xf32>, tensor<24x48xf32>) -> tensor<24x48xf32>
    %14 = "stablehlo.dot_general"(%13, %arg3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<24x48xf32>, tensor<48x64xf32>) -> tensor<24x64xf32>
    "func.return"(%14) : (tensor<24x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<24x48xf32>) -> tensor<24x48xf32>, res_attrs = [{}], sym_name = "silu", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<24x48xf32>):
    %0 = "stablehlo.negate"(%arg0) : (tensor<24x48xf32>) -> tensor<24x48xf32>
    %1 = "stablehlo.exponential"(%0) : (tensor<24x48xf32>) -> tensor<24x48xf32>
    %2 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24x48xf32>
    %4 = "stablehlo.add"(%3, %1) : (tensor<24x48xf32>, tensor<24x48xf32>) -> tensor<24x48xf32>
    %5 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24x48xf32>
    %7 = "stablehlo.divide"(%6, %4) : (tensor<24x48xf32>, tensor<24x48xf32>) -> tensor<24x48xf32>
    %8 = "stablehlo.multiply"(%arg0, %7) : (tensor<24x48xf32>, tensor<24x48xf32>) -> tensor<24x48xf32>
    "func.return"(%8) : (tensor<24x48xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
