"builtin.module"() <{sym_name = "jit_rotary"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<24x4x16xf32>, tensor<24x8xf32>, tensor<24x8xf32>) -> tensor<24x4x16xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<24x4x16xf32>, %arg1: tensor<24x8xf32>, %arg2: tensor<24x8xf32>):
    %0 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<24x8xf32>) -> tensor<24x1x8xf32>
    %1 = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<24x8xf32>) -> tensor<24x1x8xf32>
    %2 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 24, 4, 8>, start_indices = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 1>}> : (tensor<24x4x16xf32>) -> tensor<24x4x8xf32>
    %3 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 24, 4, 16>, start_indices = array<i64: 0, 0, 8>, strides = array<i64: 1, 1, 1>}> : (tensor<24x4x16xf32>) -> tensor<24x4x8xf32>
    %4 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<24x1x8xf32>) -> tensor<24x4x8xf32>
    %5 = "stablehlo.multiply"(%2, %4) : (tensor<24x4x8xf32>, tensor<24x4x8xf32>) -> tensor<24x4x8xf32>
    %6 = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<24x1x8xf32>) -> tensor<24x4x8xf32>
    %7 = "stablehlo.multiply"(%3, %6) : (tensor<24x4x8xf32>, tensor<24x4x8xf32>) -> tensor<24x4x8xf32>
    %8 = "stablehlo.subtract"(%5, %7) : (tensor<24x4x8xf32>, tensor<24x4x8xf32>) -> tensor<24x4x8xf32>
    %9 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<24x1x8xf32>) -> tensor<24x4x8xf32>
    %10 = "stablehlo.multiply"(%3, %9) : (tensor<24x4x8xf32>, tensor<24x4x8xf32>) -> tensor<24x4x8xf32>
    %11 = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<24x1x8xf32>) -> tensor<24x4x8xf32>
    %12 = "stablehlo.multiply"(%2, %11) : (tensor<24x4x8xf32>, tensor<24x4x8xf32>) -> tensor<24x4x8xf32>
    %13 = "stablehlo.add"(%10, %12) : (tensor<24x4x8xf32>, tensor<24x4x8xf32>) -> tensor<24x4x8xf32>
    %14 = "stablehlo.concatenate"(%8, %13) <{dimension = 2 : i64}> : (tensor<24x4x8xf32>, tensor<24x4x8xf32>) -> tensor<24x4x16xf32>
    "func.return"(%14) : (tensor<24x4x16xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
