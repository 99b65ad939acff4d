"builtin.module"() <{sym_name = "jit_pixel_shuffle_nchw"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<1x16x5x6xf32>) -> tensor<1x4x10x12xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<1x16x5x6xf32>):
    %0 = "stablehlo.reshape"(%arg0) : (tensor<1x16x5x6xf32>) -> tensor<1x4x2x2x5x6xf32>
    %1 = "stablehlo.transpose"(%0) <{permutation = array<i64: 0, 1, 4, 2, 5, 3>}> : (tensor<1x4x2x2x5x6xf32>) -> tensor<1x4x5x2x6x2xf32>
    %2 = "stablehlo.reshape"(%1) : (tensor<1x4x5x2x6x2xf32>) -> tensor<1x4x10x12xf32>
    "func.return"(%2) : (tensor<1x4x10x12xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
