"builtin.module"() <{sym_name = "jit_qkv_rotary"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}, {}], function_type = (tensor<1x24x64xf32>, tensor<64x192xf32>, tensor<64x64xf32>, tensor<24x8xf32>, tensor<24x8xf32>) -> tensor<1x24x64xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg4: tensor<1x24x64xf32>, %arg5: tensor<64x192xf32>, %arg6: tensor<64x64xf32>, %arg7: tensor<24x8xf32>, %arg8: tensor<24x8xf32>):
    %13 = "stablehlo.dot_general"(%arg4, %arg5) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x24x64xf32>, tensor<64x192xf32>) -> tensor<1x24x192xf32>
    %14 = "stablehlo.reshape"(%13) : (tensor<1x24x192xf32>) -> tensor<1x24x3x4x16xf32>
    %15 = "stablehlo.slice"(%14) <{limit_indices = array<i64: 1, 24, 1, 4, 16>, start_indices = array<i64: 0, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>}> : (tensor<1x24x3x4x16xf32>) -> tensor<1x24x1x4x16xf32>
    %16 = "stablehlo.reshape"(%15) : (tensor<1x24x1x4x16xf32>) -> tensor<1x24x4x16xf32>
    %17 = "stablehlo.slice"(%14) <{limit_indices = array<i64: 1, 24, 2, 4, 16>, start_indices = array<i64: 0, 0, 1, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>}> : (tensor<1x24x3x4x16xf32>) -> tensor<1x24x1x4x16xf32>
    %18 = "stablehlo.reshape"(%17) : (tensor<1x24x1x4x16xf32>) -> tensor<1x24x4x16xf32>
    %19 = "stablehlo.slice"(%14) <{limit_indices = array<i64: 1, 24, 3, 4, 16>, start_indices = array<i64: 0, 0, 2, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>}> : (tensor<1x24x3x4x16xf32>) -> tensor<1x24x1x4x16xf32>
    %20 = "stablehlo.reshape"(%19) : (tensor<1x24x1x4x16xf32>) -> tensor<1x24x4x16xf32>
    %21 = "stablehlo.broadcast_in_dim"(%arg7) <{broadcast_dimensions = array<i64: 1, 3>}> : (tensor<24x8xf32>) -> tensor<1x24x1x8xf32>
    %22 = "stablehlo.broadcast_in_dim"(%arg8) <{broadcast_dimensions = array<i64: 1, 3>}> : (tensor<24x8xf32>) -> tensor<1x24x1x8xf32>
    %23 = "stablehlo.slice"(%16) <{limit_indices = array<i64: 1, 24, 4, 8>, start_indices = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<1x24x4x16xf32>) -> tensor<1x24x4x8xf32>
    %24 = "stablehlo.slice"(%16) <{limit_indices = array<i64: 1, 24, 4, 16>, start_indices = array<i64: 0, 0, 0, 8>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<1x24x4x16xf32>) -> tensor<1x24x4x8xf32>
    %25 = "stablehlo.broadcast_in_dim"(%21) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x24x1x8xf32>) -> tensor<1x24x4x8xf32>
    %26 = "stablehlo.multiply"(%23, %25) : (tensor<1x24x4x8xf32>, tensor<1x24x4x8xf32>) -> tensor<1x24x4x8xf32>
    %27 = "stablehlo.broadcast_in_dim"(%22) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x24x1x8xf32>) -> tensor<1x24x4x8xf32>
    %28 = "stablehlo.multiply"(%24, %27) : (tensor<1x24x4x8xf32>, tensor<1x24x4x8xf32>) -> tensor<1x24x4x8xf32>
    %29 = "stablehlo.subtract"(%26, %28) : (tensor<1x24x4x8xf32>, tensor<1x24x4x8xf32>) -> tensor<1x24x4x8xf32>
    %30 = "stablehlo.broadcast_in_dim"(%21) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x24x1x8xf32>) -> tensor<1x24x4x8xf32>
    %31 = "stablehlo.multiply"(%24, %30) : (tensor<1x24x4x8xf32>, tensor<1x24x4x8xf32>) -> tensor<1x24x4x8xf32>
    %32 = "stablehlo.broadcast_in_dim"(%22) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x24x1x8xf32>) -> tensor<1x24x4x8xf32>
    %33 = "stablehlo.multiply"(%23, %32) : (tensor<1x24x4x8xf32>, tensor<1x24x4x8xf32>) -> tensor<1x24x4x8xf32>
    %34 = "stablehlo.add"(%31, %33) : (tensor<1x24x4x8xf32>, tensor<1x24x4x8xf32>) -> tensor<1x24x4x8xf32>
    %35 = "stablehlo.concatenate"(%29, %34) <{dimension = 3 : i64}> : (tensor<1x24x4x8xf32>, tensor<1x24x4x8xf32>) -> tensor<1x24x4x16xf32>
    %36 = "stablehlo.broadcast_in_dim"(%arg7) <{broadcast_dimensions = array<i64: 1, 3>}> : (tensor<24x8xf32>) -> tensor<1x24x1x8xf32>
    %37 = "stablehlo.broadcast_in_dim"(%arg8) <{broadcast_dimensions = array<i64: 1, 3>}> : (tensor<24x8xf32>) -> tensor<1x24x1x8xf32>
    %38 = "stablehlo.slice"(%18) <{limit_indices = array<i64: 1, 24, 4, 8>, start_indices = array<i64: 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<1x24x4x16xf32>) -> tensor<1x24x4x8xf32>
    %39 = "stablehlo.slice"(%18) <{limit_indices = array<i64: 1, 24, 4, 16>, start_indices = array<i64: 0, 0, 0, 8>, strides = array<i64: 1, 1, 1, 1>}> : (tensor<1x24x4x16xf32>) -> tensor<1x24x4x8xf32>
    %40 = "stablehlo.broadcast_in_dim"(%36) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x24x1x8xf32>) -> tensor<1x24x4x8xf32>
    %41 = "stablehlo.multiply"(%38, %40) : (tensor<1x24x4x8xf32>, tensor<1x24x4x8xf32>) -> tensor<1x24x4x8xf32>
    %42 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x24x1x8xf32>) -> tensor<1x24x4x8xf32>
    %43 = "stablehlo.multiply"(%39, %42) : (tensor<1x24x4x8xf32>, tensor<1x24x4x8xf32>) -> tensor<1x24x4x8xf32>
    %44 = "stablehlo.subtract"(%41, %43) : (tensor<1x24x4x8xf32>, tensor<1x24x4x8xf32>) -> tensor<1x24x4x8xf32>
    %45 = "stablehlo.broadcast_in_dim"(%36) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x24x1x8xf32>) -> tensor<1x24x4x8xf32>
    %46 = "stablehlo.multiply"(%39, %45) : (tensor<1x24x4x8xf32>, tensor<1x24x4x8xf32>) -> tensor<1x24x4x8xf32>
    %47 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x24x1x8xf32>) -> tensor<1x24x4x8xf32>
    %48 = "stablehlo.multiply"(%38, %47) : (tensor<1x24x4x8xf32>, tensor<1x24x4x8xf32>) -> tensor<1x24x4x8xf32>
    %49 = "stablehlo.add"(%46, %48) : (tensor<1x24x4x8xf32>, tensor<1x24x4x8xf32>) -> tensor<1x24x4x8xf32>
    %50 = "stablehlo.concatenate"(%44, %49) <{dimension = 3 : i64}> : (tensor<1x24x4x8xf32>, tensor<1x24x4x8xf32>) -> tensor<1x24x4x16xf32>
    %51 = "stablehlo.dot_general"(%35, %50) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 2], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x24x4x16xf32>, tensor<1x24x4x16xf32>) -> tensor<1x4x24x24xf32>
    %52 = "stablehlo.constant"() <{value = dense<2.500000e-01> : tensor<f32>}> : () -> tensor<f32>
    %53 = "stablehlo.broadcast_in_dim"(%52) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x4x24x24xf32>
    %54 = "stablehlo.multiply"(%51, %53) : (tensor<1x4x24x24xf32>, tensor<1x4x24x24xf32>) -> tensor<1x4x24x24xf32>
    %55 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %56 = "stablehlo.broadcast_in_dim"(%55) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<24x24xi1>
    %57 = "func.call"(%56) <{callee = @tril}> : (tensor<24x24xi1>) -> tensor<24x24xi1>
    %58 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %59 = "func.call"(%57, %54, %58) <{callee = @_where}> : (tensor<24x24xi1>, tensor<1x4x24x24xf32>, tensor<f32>) -> tensor<1x4x24x24xf32>
    %60 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %61 = "stablehlo.reduce"(%59, %60) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg11: tensor<f32>, %arg12: tensor<f32>):
      %79 = "stablehlo.maximum"(%arg11, %arg12) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%79) : (tensor<f32>) -> ()
    }) : (tensor<1x4x24x24xf32>, tensor<f32>) -> tensor<1x4x24xf32>
    %62 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %63 = "stablehlo.broadcast_in_dim"(%62) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x4x24xf32>
    %64 = "stablehlo.maximum"(%63, %61) : (tensor<1x4x24xf32>, tensor<1x4x24xf32>) -> tensor<1x4x24xf32>
    %65 = "stablehlo.broadcast_in_dim"(%64) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x4x24xf32>) -> tensor<1x4x24x1xf32>
    %66 = "stablehlo.broadcast_in_dim"(%65) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x4x24x1xf32>) -> tensor<1x4x24x24xf32>
    %67 = "stablehlo.subtract"(%59, %66) : (tensor<1x4x24x24xf32>, tensor<1x4x24x24xf32>) -> tensor<1x4x24x24xf32>
    %68 = "stablehlo.exponential"(%67) : (tensor<1x4x24x24xf32>) -> tensor<1x4x24x24xf32>
    %69 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %70 = "stablehlo.reduce"(%68, %69) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg9: tensor<f32>, %arg10: tensor<f32>):
      %78 = "stablehlo.add"(%arg9, %arg10) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%78) : (tensor<f32>) -> ()
    }) : (tensor<1x4x24x24xf32>, tensor<f32>) -> tensor<1x4x24xf32>
    %71 = "stablehlo.broadcast_in_dim"(%70) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x4x24xf32>) -> tensor<1x4x24x1xf32>
    %72 = "stablehlo.broadcast_in_dim"(%71) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x4x24x1xf32>) -> tensor<1x4x24x24xf32>
    %73 = "stablehlo.divide"(%68, %72) : (tensor<1x4x24x24xf32>, tensor<1x4x24x24xf32>) -> tensor<1x4x24x24xf32>
    %74 = "stablehlo.dot_general"(%20, %73) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 2], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x24x4x16xf32>, tensor<1x4x24x24xf32>) -> tensor<1x4x16x24xf32>
    %75 = "stablehlo.transpose"(%74) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<1x4x16x24xf32>) -> tensor<1x24x4x16xf32>
    %76 = "stablehlo.reshape"(%75) : (tensor<1x24x4x16xf32>) -> tensor<1x24x64xf32>
    %77 = "stablehlo.dot_general"(%76, %arg6) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<1x24x64xf32>, tensor<64x64xf32>) -> tensor<1x24x64xf32>
    "func.return"(%77) : (tensor<1x24x64xf32>) -> ()
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
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<24x24xi1>, tensor<1x4x24x24xf32>, tensor<f32>) -> tensor<1x4x24x24xf32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<24x24xi1>, %arg1: tensor<1x4x24x24xf32>, %arg2: tensor<f32>):
    %0 = "stablehlo.convert"(%arg2) : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = array<i64: 2, 3>}> : (tensor<24x24xi1>) -> tensor<1x4x24x24xi1>
    %2 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x4x24x24xf32>
    %3 = "stablehlo.select"(%1, %arg1, %2) : (tensor<1x4x24x24xi1>, tensor<1x4x24x24xf32>, tensor<1x4x24x24xf32>) -> tensor<1x4x24x24xf32>
    "func.return"(%3) : (tensor<1x4x24x24xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
