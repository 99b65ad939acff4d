"builtin.module"() <{sym_name = "jit_cumsum_positions"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3x20xi32>) -> tensor<3x20xi32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg4: tensor<3x20xi32>):
    %5 = "func.call"(%arg4) <{callee = @cumsum}> : (tensor<3x20xi32>) -> tensor<3x20xi32>
    %6 = "stablehlo.multiply"(%5, %arg4) : (tensor<3x20xi32>, tensor<3x20xi32>) -> tensor<3x20xi32>
    %7 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %8 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3x20xi32>
    %9 = "stablehlo.subtract"(%6, %8) : (tensor<3x20xi32>, tensor<3x20xi32>) -> tensor<3x20xi32>
    "func.return"(%9) : (tensor<3x20xi32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<3x20xi32>) -> tensor<3x20xi32>, res_attrs = [{}], sym_name = "cumsum", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<3x20xi32>):
    %4 = "func.call"(%arg3) <{callee = @cumsum_0}> : (tensor<3x20xi32>) -> tensor<3x20xi32>
    "func.return"(%4) : (tensor<3x20xi32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<3x20xi32>) -> tensor<3x20xi32>, sym_name = "cumsum_0", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<3x20xi32>):
    %0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<i32>
    %2 = "stablehlo.reduce_window"(%arg0, %1) <{base_dilations = array<i64: 1, 1>, padding = dense<[[0, 0], [19, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 20>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>):
      %3 = "stablehlo.add"(%arg1, %arg2) : (tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%3) : (tensor<i32>) -> ()
    }) : (tensor<3x20xi32>, tensor<i32>) -> tensor<3x20xi32>
    "func.return"(%2) : (tensor<3x20xi32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
