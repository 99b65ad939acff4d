"builtin.module"() <{sym_name = "jit_attn"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<24x4x16xf32>, tensor<24x4x16xf32>, tensor<24x4x16xf32>) -> tensor<24x4x16xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg4: tensor<24x4x16xf32>, %arg5: tensor<24x4x16xf32>, %arg6: tensor<24x4x16xf32>):
    %13 = "stablehlo.dot_general"(%arg4, %arg5) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [1], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<24x4x16xf32>, tensor<24x4x16xf32>) -> tensor<4x24x24xf32>
    %14 = "stablehlo.constant"() <{value = dense<1.600000e+01> : tensor<f32>}> : () -> tensor<f32>
    %15 = "stablehlo.sqrt"(%14) : (tensor<f32>) -> tensor<f32>
    %16 = "stablehlo.convert"(%15) : (tensor<f32>) -> tensor<f32>
    %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x24x24xf32>
    %18 = "stablehlo.divide"(%13, %17) : (tensor<4x24x24xf32>, tensor<4x24x24xf32>) -> tensor<4x24x24xf32>
    %19 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<24x24xi1>
    %21 = "func.call"(%20) <{callee = @tril}> : (tensor<24x24xi1>) -> tensor<24x24xi1>
    %22 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %23 = "func.call"(%21, %18, %22) <{callee = @_where}> : (tensor<24x24xi1>, tensor<4x24x24xf32>, tensor<f32>) -> tensor<4x24x24xf32>
    %24 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %25 = "stablehlo.reduce"(%23, %24) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg9: tensor<f32>, %arg10: tensor<f32>):
      %41 = "stablehlo.maximum"(%arg9, %arg10) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%41) : (tensor<f32>) -> ()
    }) : (tensor<4x24x24xf32>, tensor<f32>) -> tensor<4x24xf32>
    %26 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %27 = "stablehlo.broadcast_in_dim"(%26) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x24xf32>
    %28 = "stablehlo.maximum"(%27, %25) : (tensor<4x24xf32>, tensor<4x24xf32>) -> tensor<4x24xf32>
    %29 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<4x24xf32>) -> tensor<4x24x1xf32>
    %30 = "stablehlo.broadcast_in_dim"(%29) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<4x24x1xf32>) -> tensor<4x24x24xf32>
    %31 = "stablehlo.subtract"(%23, %30) : (tensor<4x24x24xf32>, tensor<4x24x24xf32>) -> tensor<4x24x24xf32>
    %32 = "stablehlo.exponential"(%31) : (tensor<4x24x24xf32>) -> tensor<4x24x24xf32>
    %33 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %34 = "stablehlo.reduce"(%32, %33) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
      %40 = "stablehlo.add"(%arg7, %arg8) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%40) : (tensor<f32>) -> ()
    }) : (tensor<4x24x24xf32>, tensor<f32>) -> tensor<4x24xf32>
    %35 = "stablehlo.broadcast_in_dim"(%34) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<4x24xf32>) -> tensor<4x24x1xf32>
    %36 = "stablehlo.broadcast_in_dim"(%35) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<4x24x1xf32>) -> tensor<4x24x24xf32>
    %37 = "stablehlo.divide"(%32, %36) : (tensor<4x24x24xf32>, tensor<4x24x24xf32>) -> tensor<4x24x24xf32>
    %38 = "stablehlo.dot_general"(%arg6, %37) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [1], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<24x4x16xf32>, tensor<4x24x24xf32>) -> tensor<4x16x24xf32>
    %39 = "stablehlo.transpose"(%38) <{permutation = array<i64: 2, 0, 1>}> : (tensor<4x16x24xf32>) -> tensor<24x4x16xf32>
    "func.return"(%39) : (tensor<24x4x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<24x24xi1>) -> tensor<24x24xi1>, res_attrs = [{}], sym_name = "tril", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<24x24xi1>):
    %4 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<24x24xi32>
    %5 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %6 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<24x24xi32>
    %7 = "stablehlo.add"(%4, %6) : (tensor<24x24xi32>, tensor<24x24xi32>) -> tensor<24x24xi32>
    %8 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<24x24xi32>
    %9 = "stablehlo.compare"(%7, %8) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<24x24xi32>, tensor<24x24xi32>) -> tensor<24x24xi1>
    %10 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    %11 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<24x24xi1>
    %12 = "stablehlo.select"(%9, %arg3, %11) : (tensor<24x24xi1>, tensor<24x24xi1>, tensor<24x24xi1>) -> tensor<24x24xi1>
    "func.return"(%12) : (tensor<24x24xi1>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<24x24xi1>, tensor<4x24x24xf32>, tensor<f32>) -> tensor<4x24x24xf32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<24x24xi1>, %arg1: tensor<4x24x24xf32>, %arg2: tensor<f32>):
    %0 = "stablehlo.convert"(%arg2) : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<24x24xi1>) -> tensor<4x24x24xi1>
    %2 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x24x24xf32>
    %3 = "stablehlo.select"(%1, %arg1, %2) : (tensor<4x24x24xi1>, tensor<4x24x24xf32>, tensor<4x24x24xf32>) -> tensor<4x24x24xf32>
    "func.return"(%3) : (tensor<4x24x24xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
