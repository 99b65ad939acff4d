"builtin.module"() <{sym_name = "jit_cls_token"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<16x64xf32>, tensor<1x64xf32>, tensor<17x64xf32>) -> tensor<17x64xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<16x64xf32>, %arg1: tensor<1x64xf32>, %arg2: tensor<17x64xf32>):
    %0 = "stablehlo.concatenate"(%arg1, %arg0) <{dimension = 0 : i64}> : (tensor<1x64xf32>, tensor<16x64xf32>) -> tensor<17x64xf32>
    %1 = "stablehlo.add"(%0, %arg2) : (tensor<17x64xf32>, tensor<17x64xf32>) -> tensor<17x64xf32>
    "func.return"(%1) : (tensor<17x64xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
