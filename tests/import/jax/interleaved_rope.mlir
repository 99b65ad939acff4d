"builtin.module"() <{sym_name = "jit_interleaved_rope"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<8x4x16xf32>, tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x4x16xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<8x4x16xf32>, %arg1: tensor<8x8xf32>, %arg2: tensor<8x8xf32>):
    %0 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 8, 4, 16>, start_indices = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 2>}> : (tensor<8x4x16xf32>) -> tensor<8x4x8xf32>
    %1 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 8, 4, 16>, start_indices = array<i64: 0, 0, 1>, strides = array<i64: 1, 1, 2>}> : (tensor<8x4x16xf32>) -> tensor<8x4x8xf32>
    %2 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<8x8xf32>) -> tensor<8x1x8xf32>
    %3 = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<8x8xf32>) -> tensor<8x1x8xf32>
    %4 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<8x1x8xf32>) -> tensor<8x4x8xf32>
    %5 = "stablehlo.multiply"(%0, %4) : (tensor<8x4x8xf32>, tensor<8x4x8xf32>) -> tensor<8x4x8xf32>
    %6 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<8x1x8xf32>) -> tensor<8x4x8xf32>
    %7 = "stablehlo.multiply"(%1, %6) : (tensor<8x4x8xf32>, tensor<8x4x8xf32>) -> tensor<8x4x8xf32>
    %8 = "stablehlo.subtract"(%5, %7) : (tensor<8x4x8xf32>, tensor<8x4x8xf32>) -> tensor<8x4x8xf32>
    %9 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<8x1x8xf32>) -> tensor<8x4x8xf32>
    %10 = "stablehlo.multiply"(%0, %9) : (tensor<8x4x8xf32>, tensor<8x4x8xf32>) -> tensor<8x4x8xf32>
    %11 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<8x1x8xf32>) -> tensor<8x4x8xf32>
    %12 = "stablehlo.multiply"(%1, %11) : (tensor<8x4x8xf32>, tensor<8x4x8xf32>) -> tensor<8x4x8xf32>
    %13 = "stablehlo.add"(%10, %12) : (tensor<8x4x8xf32>, tensor<8x4x8xf32>) -> tensor<8x4x8xf32>
    %14 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<8x4x8xf32>) -> tensor<8x4x8x1xf32>
    %15 = "stablehlo.broadcast_in_dim"(%13) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<8x4x8xf32>) -> tensor<8x4x8x1xf32>
    %16 = "stablehlo.concatenate"(%14, %15) <{dimension = 3 : i64}> : (tensor<8x4x8x1xf32>, tensor<8x4x8x1xf32>) -> tensor<8x4x8x2xf32>
    %17 = "stablehlo.reshape"(%16) : (tensor<8x4x8x2xf32>) -> tensor<8x4x16xf32>
    "func.return"(%17) : (tensor<8x4x16xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
