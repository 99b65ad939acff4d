"builtin.module"() <{sym_name = "jit_qkv_attention"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<24x64xf32>, tensor<64x192xf32>, tensor<64x64xf32>) -> tensor<24x64xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<24x64xf32>, %arg1: tensor<64x192xf32>, %arg2: tensor<64x64xf32>):
    %0 = "stablehlo.dot_general"(%arg0, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<24x64xf32>, tensor<64x192xf32>) -> tensor<24x192xf32>
    %1 = "stablehlo.slice"(%0) <{limit_indices = array<i64: 24, 64>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<24x192xf32>) -> tensor<24x64xf32>
    %2 = "stablehlo.slice"(%0) <{limit_indices = array<i64: 24, 128>, start_indices = array<i64: 0, 64>, strides = array<i64: 1, 1>}> : (tensor<24x192xf32>) -> tensor<24x64xf32>
    %3 = "stablehlo.slice"(%0) <{limit_indices = array<i64: 24, 192>, start_indices = array<i64: 0, 128>, strides = array<i64: 1, 1>}> : (tensor<24x192xf32>) -> tensor<24x64xf32>
    %4 = "stablehlo.reshape"(%1) : (tensor<24x64xf32>) -> tensor<24x4x16xf32>
    %5 = "stablehlo.reshape"(%2) : (tensor<24x64xf32>) -> tensor<24x4x16xf32>
    %6 = "stablehlo.reshape"(%3) : (tensor<24x64xf32>) -> tensor<24x4x16xf32>
    %7 = "stablehlo.dot_general"(%4, %5) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [1], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<24x4x16xf32>, tensor<24x4x16xf32>) -> tensor<4x24x24xf32>
    %8 = "stablehlo.constant"() <{value = dense<1.600000e+01> : tensor<f32>}> : () -> tensor<f32>
    %9 = "stablehlo.sqrt"(%8) : (tensor<f32>) -> tensor<f32>
    %10 = "stablehlo.convert"(%9) : (tensor<f32>) -> tensor<f32>
    %11 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x24x24xf32>
    %12 = "stablehlo.divide"(%7, %11) : (tensor<4x24x24xf32>, tensor<4x24x24xf32>) -> tensor<4x24x24xf32>
    %13 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %14 = "stablehlo.reduce"(%12, %13) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %32 = "stablehlo.maximum"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%32) : (tensor<f32>) -> ()
    }) : (tensor<4x24x24xf32>, tensor<f32>) -> tensor<4x24xf32>
    %15 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %16 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x24xf32>
    %17 = "stablehlo.maximum"(%16, %14) : (tensor<4x24xf32>, tensor<4x24xf32>) -> tensor<4x24xf32>
    %18 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<4x24xf32>) -> tensor<4x24x1xf32>
    %19 = "stablehlo.broadcast_in_dim"(%18) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<4x24x1xf32>) -> tensor<4x24x24xf32>
    %20 = "stablehlo.subtract"(%12, %19) : (tensor<4x24x24xf32>, tensor<4x24x24xf32>) -> tensor<4x24x24xf32>
    %21 = "stablehlo.exponential"(%20) : (tensor<4x24x24xf32>) -> tensor<4x24x24xf32>
    %22 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %23 = "stablehlo.reduce"(%21, %22) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %31 = "stablehlo.add"(%arg3, %arg4) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%31) : (tensor<f32>) -> ()
    }) : (tensor<4x24x24xf32>, tensor<f32>) -> tensor<4x24xf32>
    %24 = "stablehlo.broadcast_in_dim"(%23) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<4x24xf32>) -> tensor<4x24x1xf32>
    %25 = "stablehlo.broadcast_in_dim"(%24) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<4x24x1xf32>) -> tensor<4x24x24xf32>
    %26 = "stablehlo.divide"(%21, %25) : (tensor<4x24x24xf32>, tensor<4x24x24xf32>) -> tensor<4x24x24xf32>
    %27 = "stablehlo.dot_general"(%6, %26) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [1], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<24x4x16xf32>, tensor<4x24x24xf32>) -> tensor<4x16x24xf32>
    %28 = "stablehlo.transpose"(%27) <{permutation = array<i64: 2, 0, 1>}> : (tensor<4x16x24xf32>) -> tensor<24x4x16xf32>
    %29 = "stablehlo.reshape"(%28) : (tensor<24x4x16xf32>) -> tensor<24x64xf32>
    %30 = "stablehlo.dot_general"(%29, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<24x64xf32>, tensor<64x64xf32>) -> tensor<24x64xf32>
    "func.return"(%30) : (tensor<24x64xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
