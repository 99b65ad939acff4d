"builtin.module"() <{sym_name = "jit_mha"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}, {}], function_type = (tensor<1x24x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<1x24x64xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<1x24x64xf32>, %arg1: tensor<64x64xf32>, %arg2: tensor<64x64xf32>, %arg3: tensor<64x64xf32>, %arg4: tensor<64x64xf32>):
    %0 = "stablehlo.dot_general"(%arg0, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x24x64xf32>, tensor<64x64xf32>) -> tensor<1x24x64xf32>
    %1 = "stablehlo.reshape"(%0) : (tensor<1x24x64xf32>) -> tensor<1x24x4x16xf32>
    %2 = "stablehlo.transpose"(%1) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<1x24x4x16xf32>) -> tensor<1x4x24x16xf32>
    %3 = "stablehlo.dot_general"(%arg0, %arg2) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x24x64xf32>, tensor<64x64xf32>) -> tensor<1x24x64xf32>
    %4 = "stablehlo.reshape"(%3) : (tensor<1x24x64xf32>) -> tensor<1x24x4x16xf32>
    %5 = "stablehlo.transpose"(%4) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<1x24x4x16xf32>) -> tensor<1x4x24x16xf32>
    %6 = "stablehlo.dot_general"(%arg0, %arg3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x24x64xf32>, tensor<64x64xf32>) -> tensor<1x24x64xf32>
    %7 = "stablehlo.reshape"(%6) : (tensor<1x24x64xf32>) -> tensor<1x24x4x16xf32>
    %8 = "stablehlo.transpose"(%7) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<1x24x4x16xf32>) -> tensor<1x4x24x16xf32>
    %9 = "stablehlo.transpose"(%5) <{permutation = array<i64: 0, 1, 3, 2>}> : (tensor<1x4x24x16xf32>) -> tensor<1x4x16x24xf32>
    %10 = "stablehlo.reshape"(%2) : (tensor<1x4x24x16xf32>) -> tensor<4x24x16xf32>
    %11 = "stablehlo.reshape"(%9) : (tensor<1x4x16x24xf32>) -> tensor<4x16x24xf32>
    %12 = "stablehlo.dot_general"(%10, %11) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x24x16xf32>, tensor<4x16x24xf32>) -> tensor<4x24x24xf32>
    %13 = "stablehlo.broadcast_in_dim"(%12) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<4x24x24xf32>) -> tensor<1x4x24x24xf32>
    %14 = "stablehlo.constant"() <{value = dense<2.500000e-01> : tensor<f32>}> : () -> tensor<f32>
    %15 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x4x24x24xf32>
    %16 = "stablehlo.multiply"(%13, %15) : (tensor<1x4x24x24xf32>, tensor<1x4x24x24xf32>) -> tensor<1x4x24x24xf32>
    %17 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %18 = "stablehlo.reduce"(%16, %17) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
      %39 = "stablehlo.maximum"(%arg7, %arg8) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%39) : (tensor<f32>) -> ()
    }) : (tensor<1x4x24x24xf32>, tensor<f32>) -> tensor<1x4x24xf32>
    %19 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x4x24xf32>
    %21 = "stablehlo.maximum"(%20, %18) : (tensor<1x4x24xf32>, tensor<1x4x24xf32>) -> tensor<1x4x24xf32>
    %22 = "stablehlo.broadcast_in_dim"(%21) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x4x24xf32>) -> tensor<1x4x24x1xf32>
    %23 = "stablehlo.broadcast_in_dim"(%22) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x4x24x1xf32>) -> tensor<1x4x24x24xf32>
    %24 = "stablehlo.subtract"(%16, %23) : (tensor<1x4x24x24xf32>, tensor<1x4x24x24xf32>) -> tensor<1x4x24x24xf32>
    %25 = "stablehlo.exponential"(%24) : (tensor<1x4x24x24xf32>) -> tensor<1x4x24x24xf32>
    %26 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %27 = "stablehlo.reduce"(%25, %26) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %38 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%38) : (tensor<f32>) -> ()
    }) : (tensor<1x4x24x24xf32>, tensor<f32>) -> tensor<1x4x24xf32>
    %28 = "stablehlo.broadcast_in_dim"(%27) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x4x24xf32>) -> tensor<1x4x24x1xf32>
    %29 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x4x24x1xf32>) -> tensor<1x4x24x24xf32>
    %30 = "stablehlo.divide"(%25, %29) : (tensor<1x4x24x24xf32>, tensor<1x4x24x24xf32>) -> tensor<1x4x24x24xf32>
    %31 = "stablehlo.reshape"(%30) : (tensor<1x4x24x24xf32>) -> tensor<4x24x24xf32>
    %32 = "stablehlo.reshape"(%8) : (tensor<1x4x24x16xf32>) -> tensor<4x24x16xf32>
    %33 = "stablehlo.dot_general"(%31, %32) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x24x24xf32>, tensor<4x24x16xf32>) -> tensor<4x24x16xf32>
    %34 = "stablehlo.broadcast_in_dim"(%33) <{broadcast_dimensions = array<i64: 1, 2, 3>}> : (tensor<4x24x16xf32>) -> tensor<1x4x24x16xf32>
    %35 = "stablehlo.transpose"(%34) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<1x4x24x16xf32>) -> tensor<1x24x4x16xf32>
    %36 = "stablehlo.reshape"(%35) : (tensor<1x24x4x16xf32>) -> tensor<1x24x64xf32>
    %37 = "stablehlo.dot_general"(%36, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x24x64xf32>, tensor<64x64xf32>) -> tensor<1x24x64xf32>
    "func.return"(%37) : (tensor<1x24x64xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
