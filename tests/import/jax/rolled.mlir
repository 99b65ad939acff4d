"builtin.module"() <{sym_name = "jit_rolled"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<9x20xf32>, tensor<9x20xf32>) -> tensor<9x20xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg2: tensor<9x20xf32>, %arg3: tensor<9x20xf32>):
    %6 = "func.call"(%arg2) <{callee = @_roll_static}> : (tensor<9x20xf32>) -> tensor<9x20xf32>
    %7 = "stablehlo.multiply"(%6, %arg3) : (tensor<9x20xf32>, tensor<9x20xf32>) -> tensor<9x20xf32>
    %8 = "func.call"(%arg2) <{callee = @_roll_static_0}> : (tensor<9x20xf32>) -> tensor<9x20xf32>
    %9 = "stablehlo.add"(%7, %8) : (tensor<9x20xf32>, tensor<9x20xf32>) -> tensor<9x20xf32>
    "func.return"(%9) : (tensor<9x20xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<9x20xf32>) -> tensor<9x20xf32>, res_attrs = [{}], sym_name = "_roll_static", sym_visibility = "private"}> ({
  ^bb0(%arg1: tensor<9x20xf32>):
    %3 = "stablehlo.slice"(%arg1) <{limit_indices = array<i64: 9, 20>, start_indices = array<i64: 0, 17>, strides = array<i64: 1, 1>}> : (tensor<9x20xf32>) -> tensor<9x3xf32>
    %4 = "stablehlo.slice"(%arg1) <{limit_indices = array<i64: 9, 17>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<9x20xf32>) -> tensor<9x17xf32>
    %5 = "stablehlo.concatenate"(%3, %4) <{dimension = 1 : i64}> : (tensor<9x3xf32>, tensor<9x17xf32>) -> tensor<9x20xf32>
    "func.return"(%5) : (tensor<9x20xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<9x20xf32>) -> tensor<9x20xf32>, res_attrs = [{}], sym_name = "_roll_static_0", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<9x20xf32>):
    %0 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 9, 20>, start_indices = array<i64: 1, 0>, strides = array<i64: 1, 1>}> : (tensor<9x20xf32>) -> tensor<8x20xf32>
    %1 = "stablehlo.slice"(%arg0) <{limit_indices = array<i64: 1, 20>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<9x20xf32>) -> tensor<1x20xf32>
    %2 = "stablehlo.concatenate"(%0, %1) <{dimension = 0 : i64}> : (tensor<8x20xf32>, tensor<1x20xf32>) -> tensor<9x20xf32>
    "func.return"(%2) : (tensor<9x20xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
