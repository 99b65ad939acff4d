"builtin.module"() <{sym_name = "jit_depth_to_space"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<2x5x6x16xf32>) -> tensor<2x10x12x4xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<2x5x6x16xf32>):
    %0 = "stablehlo.reshape"(%arg0) : (tensor<2x5x6x16xf32>) -> tensor<2x5x6x2x2x4xf32>
    %1 = "stablehlo.transpose"(%0) <{permutation = array<i64: 0, 1, 3, 2, 4, 5>}> : (tensor<2x5x6x2x2x4xf32>) -> tensor<2x5x2x6x2x4xf32>
    %2 = "stablehlo.reshape"(%1) : (tensor<2x5x2x6x2x4xf32>) -> tensor<2x10x12x4xf32>
    "func.return"(%2) : (tensor<2x10x12x4xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
