"builtin.module"() <{sym_name = "jit_interleaved"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<24x32xf32>, tensor<24x16xf32>, tensor<24x16xf32>) -> (tensor<24x16xf32>, tensor<24x16xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<24x32xf32>, %arg1: tensor<24x16xf32>, %arg2: tensor<24x16xf32>):
    %0 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 24, 32>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 2>}> : (tensor<24x32xf32>) -> tensor<24x16xf32>
    %1 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 24, 32>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 2>}> : (tensor<24x32xf32>) -> tensor<24x16xf32>
    %2 = "stablehlo.multiply"(%0, %arg1) : (tensor<24x16xf32>, tensor<24x16xf32>) -> tensor<24x16xf32>
    %3 = "stablehlo.multiply"(%1, %arg2) : (tensor<24x16xf32>, tensor<24x16xf32>) -> tensor<24x16xf32>
    %4 = "stablehlo.subtract"(%2, %3) : (tensor<24x16xf32>, tensor<24x16xf32>) -> tensor<24x16xf32>
    %5 = "stablehlo.multiply"(%1, %arg1) : (tensor<24x16xf32>, tensor<24x16xf32>) -> tensor<24x16xf32>
    %6 = "stablehlo.multiply"(%0, %arg2) : (tensor<24x16xf32>, tensor<24x16xf32>) -> tensor<24x16xf32>
    %7 = "stablehlo.add"(%5, %6) : (tensor<24x16xf32>, tensor<24x16xf32>) -> tensor<24x16xf32>
    "func.return"(%4, %7) : (tensor<24x16xf32>, tensor<24x16xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
