"builtin.module"() <{sym_name = "jit_shifted"}> ({
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<24x64xf32>, tensor<64xf32>) -> tensor<24x64xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg2: tensor<24x64xf32>, %arg3: tensor<64xf32>):
    %2 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %3 = "func.call"(%arg2, %2) <{callee = @_pad}> : (tensor<24x64xf32>, tensor<i32>) -> tensor<25x64xf32>
    %4 = "stablehlo.slice"(%3) <{limit_indices = array<i64: 24, 64>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<25x64xf32>) -> tensor<24x64xf32>
    %5 = "stablehlo.broadcast_in_dim"(%arg3) <{broadcast_dimensions = array<i64: 1>}> : (tensor<64xf32>) -> tensor<1x64xf32>
    %6 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x64xf32>) -> tensor<24x64xf32>
    %7 = "stablehlo.multiply"(%arg2, %6) : (tensor<24x64xf32>, tensor<24x64xf32>) -> tensor<24x64xf32>
    %8 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<64xf32>
    %10 = "stablehlo.subtract"(%9, %arg3) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %11 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64: 1>}> : (tensor<64xf32>) -> tensor<1x64xf32>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x64xf32>) -> tensor<24x64xf32>
    %13 = "stablehlo.multiply"(%4, %12) : (tensor<24x64xf32>, tensor<24x64xf32>) -> tensor<24x64xf32>
    %14 = "stablehlo.add"(%7, %13) : (tensor<24x64xf32>, tensor<24x64xf32>) -> tensor<24x64xf32>
    "func.return"(%14) : (tensor<24x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}], function_type = (tensor<24x64xf32>, tensor<i32>) -> tensor<25x64xf32>, res_attrs = [{}], sym_name = "_pad", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<24x64xf32>, %arg1: tensor<i32>):
    %0 = "stablehlo.convert"(%arg1) : (tensor<i32>) -> tensor<f32>
    %1 = "stablehlo.pad"(%arg0, %0) <{edge_padding_high = array<i64: 0, 0>, edge_padding_low = array<i64: 1, 0>, interior_padding = array<i64: 0, 0>}> : (tensor<24x64xf32>, tensor<f32>) -> tensor<25x64xf32>
    "func.return"(%1) : (tensor<25x64xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
