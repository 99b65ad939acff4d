"builtin.module"() <{sym_name = "jit_repeat_upsample"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<1x5x5x4xf32>) -> tensor<1x10x10x4xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<1x5x5x4xf32>):
    %0 = "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = array<i64: 0, 1, 3, 4>}> : (tensor<1x5x5x4xf32>) -> tensor<1x5x2x5x4xf32>
    %1 = "stablehlo.reshape"(%0) : (tensor<1x5x2x5x4xf32>) -> tensor<1x10x5x4xf32>
    %2 = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64: 0, 1, 2, 4>}> : (tensor<1x10x5x4xf32>) -> tensor<1x10x5x2x4xf32>
    %3 = "stablehlo.reshape"(%2) : (tensor<1x10x5x2x4xf32>) -> tensor<1x10x10x4xf32>
    "func.return"(%3) : (tensor<1x10x10x4xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
