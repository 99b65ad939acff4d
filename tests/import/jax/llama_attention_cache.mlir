"builtin.module"() <{sym_name = "jit_llama_attention_cache"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}, {}, {}, {}, {}, {}, {}], function_type = (tensor<4x64xf32>, tensor<64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<20x4x16xf32>, tensor<20x4x16xf32>, tensor<4x8xf32>, tensor<4x8xf32>) -> (tensor<4x64xf32>, tensor<24x4x16xf32>, tensor<24x4x16xf32>), res_attrs = [{jax.result_info = "result[0]"}, {jax.result_info = "result[1]"}, {jax.result_info = "result[2]"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg3: tensor<4x64xf32>, %arg4: tensor<64xf32>, %arg5: tensor<64x64xf32>, %arg6: tensor<64x64xf32>, %arg7: tensor<64x64xf32>, %arg8: tensor<64x64xf32>, %arg9: tensor<20x4x16xf32>, %arg10: tensor<20x4x16xf32>, %arg11: tensor<4x8xf32>, %arg12: tensor<4x8xf32>):
    %4 = "stablehlo.multiply"(%arg3, %arg3) : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
    %5 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.reduce"(%4, %5) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg17: tensor<f32>, %arg18: tensor<f32>):
      %101 = "stablehlo.add"(%arg17, %arg18) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%101) : (tensor<f32>) -> ()
    }) : (tensor<4x64xf32>, tensor<f32>) -> tensor<4xf32>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xf32>) -> tensor<4x1xf32>
    %8 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %9 = "stablehlo.broadcast_in_dim"(%8) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x1xf32>
    %10 = "stablehlo.divide"(%7, %9) : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
    %11 = "stablehlo.constant"() <{value = dense<9.99999997E-7> : tensor<f32>}> : () -> tensor<f32>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x1xf32>
    %13 = "stablehlo.add"(%10, %12) : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
    %14 = "stablehlo.rsqrt"(%13) : (tensor<4x1xf32>) -> tensor<4x1xf32>
    %15 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<4x1xf32>) -> tensor<4x64xf32>
    %16 = "stablehlo.multiply"(%arg3, %15) : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
    %17 = "stablehlo.broadcast_in_dim"(%arg4) <{broadcast_dimensions = array<i64: 1>}> : (tensor<64xf32>) -> tensor<1x64xf32>
    %18 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x64xf32>) -> tensor<4x64xf32>
    %19 = "stablehlo.multiply"(%16, %18) : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
    %20 = "stablehlo.dot_general"(%19, %arg5) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
    %21 = "stablehlo.reshape"(%20) : (tensor<4x64xf32>) -> tensor<4x4x16xf32>
    %22 = "stablehlo.dot_general"(%19, %arg6) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
    %23 = "stablehlo.reshape"(%22) : (tensor<4x64xf32>) -> tensor<4x4x16xf32>
    %24 = "stablehlo.dot_general"(%19, %arg7) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
    %25 = "stablehlo.reshape"(%24) : (tensor<4x64xf32>) -> tensor<4x4x16xf32>
    %26 = "stablehlo.slice"(%21) <{limit_indices = array<i64: 4, 4, 16>, start_indices = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 2>}> : (tensor<4x4x16xf32>) -> tensor<4x4x8xf32>
    %27 = "stablehlo.slice"(%21) <{limit_indices = array<i64: 4, 4, 16>, start_indices = array<i64: 0, 0, 1>, strides = array<i64: 1, 1, 2>}> : (tensor<4x4x16xf32>) -> tensor<4x4x8xf32>
    %28 = "stablehlo.broadcast_in_dim"(%arg11) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<4x8xf32>) -> tensor<4x1x8xf32>
    %29 = "stablehlo.broadcast_in_dim"(%arg12) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<4x8xf32>) -> tensor<4x1x8xf32>
    %30 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<4x1x8xf32>) -> tensor<4x4x8xf32>
    %31 = "stablehlo.multiply"(%26, %30) : (tensor<4x4x8xf32>, tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
    %32 = "stablehlo.broadcast_in_dim"(%29) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<4x1x8xf32>) -> tensor<4x4x8xf32>
    %33 = "stablehlo.multiply"(%27, %32) : (tensor<4x4x8xf32>, tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
    %34 = "stablehlo.subtract"(%31, %33) : (tensor<4x4x8xf32>, tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
    %35 = "stablehlo.broadcast_in_dim"(%29) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<4x1x8xf32>) -> tensor<4x4x8xf32>
    %36 = "stablehlo.multiply"(%26, %35) : (tensor<4x4x8xf32>, tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
    %37 = "stablehlo.broadcast_in_dim"(%28) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<4x1x8xf32>) -> tensor<4x4x8xf32>
    %38 = "stablehlo.multiply"(%27, %37) : (tensor<4x4x8xf32>, tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
    %39 = "stablehlo.add"(%36, %38) : (tensor<4x4x8xf32>, tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
    %40 = "stablehlo.broadcast_in_dim"(%34) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<4x4x8xf32>) -> tensor<4x4x8x1xf32>
    %41 = "stablehlo.broadcast_in_dim"(%39) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<4x4x8xf32>) -> tensor<4x4x8x1xf32>
    %42 = "stablehlo.concatenate"(%40, %41) <{dimension = 3 : i64}> : (tensor<4x4x8x1xf32>, tensor<4x4x8x1xf32>) -> tensor<4x4x8x2xf32>
    %43 = "stablehlo.reshape"(%42) : (tensor<4x4x8x2xf32>) -> tensor<4x4x16xf32>
    %44 = "stablehlo.slice"(%23) <{limit_indices = array<i64: 4, 4, 16>, start_indices = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 2>}> : (tensor<4x4x16xf32>) -> tensor<4x4x8xf32>
    %45 = "stablehlo.slice"(%23) <{limit_indices = array<i64: 4, 4, 16>, start_indices = array<i64: 0, 0, 1>, strides = array<i64: 1, 1, 2>}> : (tensor<4x4x16xf32>) -> tensor<4x4x8xf32>
    %46 = "stablehlo.broadcast_in_dim"(%arg11) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<4x8xf32>) -> tensor<4x1x8xf32>
    %47 = "stablehlo.broadcast_in_dim"(%arg12) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<4x8xf32>) -> tensor<4x1x8xf32>
    %48 = "stablehlo.broadcast_in_dim"(%46) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<4x1x8xf32>) -> tensor<4x4x8xf32>
    %49 = "stablehlo.multiply"(%44, %48) : (tensor<4x4x8xf32>, tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
    %50 = "stablehlo.broadcast_in_dim"(%47) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<4x1x8xf32>) -> tensor<4x4x8xf32>
    %51 = "stablehlo.multiply"(%45, %50) : (tensor<4x4x8xf32>, tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
    %52 = "stablehlo.subtract"(%49, %51) : (tensor<4x4x8xf32>, tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
    %53 = "stablehlo.broadcast_in_dim"(%47) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<4x1x8xf32>) -> tensor<4x4x8xf32>
    %54 = "stablehlo.multiply"(%44, %53) : (tensor<4x4x8xf32>, tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
    %55 = "stablehlo.broadcast_in_dim"(%46) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<4x1x8xf32>) -> tensor<4x4x8xf32>
    %56 = "stablehlo.multiply"(%45, %55) : (tensor<4x4x8xf32>, tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
    %57 = "stablehlo.add"(%54, %56) : (tensor<4x4x8xf32>, tensor<4x4x8xf32>) -> tensor<4x4x8xf32>
    %58 = "stablehlo.broadcast_in_dim"(%52) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<4x4x8xf32>) -> tensor<4x4x8x1xf32>
    %59 = "stablehlo.broadcast_in_dim"(%57) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<4x4x8xf32>) -> tensor<4x4x8x1xf32>
    %60 = "stablehlo.concatenate"(%58, %59) <{dimension = 3 : i64}> : (tensor<4x4x8x1xf32>, tensor<4x4x8x1xf32>) -> tensor<4x4x8x2xf32>
    %61 = "stablehlo.reshape"(%60) : (tensor<4x4x8x2xf32>) -> tensor<4x4x16xf32>
    %62 = "stablehlo.concatenate"(%arg9, %61) <{dimension = 0 : i64}> : (tensor<20x4x16xf32>, tensor<4x4x16xf32>) -> tensor<24x4x16xf32>
    %63 = "stablehlo.concatenate"(%arg10, %25) <{dimension = 0 : i64}> : (tensor<20x4x16xf32>, tensor<4x4x16xf32>) -> tensor<24x4x16xf32>
    %64 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<24xi32>
    %65 = "stablehlo.broadcast_in_dim"(%64) <{broadcast_dimensions = array<i64: 1>}> : (tensor<24xi32>) -> tensor<1x24xi32>
    %66 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<4xi32>
    %67 = "stablehlo.broadcast_in_dim"(%66) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xi32>) -> tensor<4x1xi32>
    %68 = "stablehlo.constant"() <{value = dense<20> : tensor<i32>}> : () -> tensor<i32>
    %69 = "stablehlo.broadcast_in_dim"(%68) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<4x1xi32>
    %70 = "stablehlo.add"(%67, %69) : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi32>
    %71 = "stablehlo.broadcast_in_dim"(%65) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x24xi32>) -> tensor<4x24xi32>
    %72 = "stablehlo.broadcast_in_dim"(%70) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<4x1xi32>) -> tensor<4x24xi32>
    %73 = "stablehlo.compare"(%71, %72) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<4x24xi32>, tensor<4x24xi32>) -> tensor<4x24xi1>
    %74 = "stablehlo.dot_general"(%43, %62) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [1], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x4x16xf32>, tensor<24x4x16xf32>) -> tensor<4x4x24xf32>
    %75 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %76 = "stablehlo.broadcast_in_dim"(%75) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x4x24xf32>
    %77 = "stablehlo.divide"(%74, %76) : (tensor<4x4x24xf32>, tensor<4x4x24xf32>) -> tensor<4x4x24xf32>
    %78 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %79 = "func.call"(%73, %77, %78) <{callee = @_where}> : (tensor<4x24xi1>, tensor<4x4x24xf32>, tensor<f32>) -> tensor<4x4x24xf32>
    %80 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %81 = "stablehlo.reduce"(%79, %80) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg15: tensor<f32>, %arg16: tensor<f32>):
      %100 = "stablehlo.maximum"(%arg15, %arg16) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%100) : (tensor<f32>) -> ()
    }) : (tensor<4x4x24xf32>, tensor<f32>) -> tensor<4x4xf32>
    %82 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %83 = "stablehlo.broadcast_in_dim"(%82) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x4xf32>
    %84 = "stablehlo.maximum"(%83, %81) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %85 = "stablehlo.broadcast_in_dim"(%84) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<4x4xf32>) -> tensor<4x4x1xf32>
    %86 = "stablehlo.broadcast_in_dim"(%85) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<4x4x1xf32>) -> tensor<4x4x24xf32>
    %87 = "stablehlo.subtract"(%79, %86) : (tensor<4x4x24xf32>, tensor<4x4x24xf32>) -> tensor<4x4x24xf32>
    %88 = "stablehlo.exponential"(%87) : (tensor<4x4x24xf32>) -> tensor<4x4x24xf32>
    %89 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %90 = "stablehlo.reduce"(%88, %89) <{dimensions = array<i64: 2>}> ({
    ^bb0(%arg13: tensor<f32>, %arg14: tensor<f32>):
      %99 = "stablehlo.add"(%arg13, %arg14) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%99) : (tensor<f32>) -> ()
    }) : (tensor<4x4x24xf32>, tensor<f32>) -> tensor<4x4xf32>
    %91 = "stablehlo.broadcast_in_dim"(%90) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<4x4xf32>) -> tensor<4x4x1xf32>
    %92 = "stablehlo.broadcast_in_dim"(%91) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<4x4x1xf32>) -> tensor<4x4x24xf32>
    %93 = "stablehlo.divide"(%88, %92) : (tensor<4x4x24xf32>, tensor<4x4x24xf32>) -> tensor<4x4x24xf32>
    %94 = "stablehlo.dot_general"(%63, %93) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [1], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<24x4x16xf32>, tensor<4x4x24xf32>) -> tensor<4x16x4xf32>
    %95 = "stablehlo.transpose"(%94) <{permutation = array<i64: 2, 0, 1>}> : (tensor<4x16x4xf32>) -> tensor<4x4x16xf32>
    %96 = "stablehlo.reshape"(%95) : (tensor<4x4x16xf32>) -> tensor<4x64xf32>
    %97 = "stablehlo.dot_general"(%96, %arg8) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
    %98 = "stablehlo.add"(%arg3, %97) : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
    "func.return"(%98, %62, %63) : (tensor<4x64xf32>, tensor<24x4x16xf32>, tensor<24x4x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<4x24xi1>, tensor<4x4x24xf32>, tensor<f32>) -> tensor<4x4x24xf32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<4x24xi1>, %arg1: tensor<4x4x24xf32>, %arg2: tensor<f32>):
    %0 = "stablehlo.convert"(%arg2) : (tensor<f32>) -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<4x24xi1>) -> tensor<4x4x24xi1>
    %2 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x4x24xf32>
    %3 = "stablehlo.select"(%1, %arg1, %2) : (tensor<4x4x24xi1>, tensor<4x4x24xf32>, tensor<4x4x24xf32>) -> tensor<4x4x24xf32>
    "func.return"(%3) : (tensor<4x4x24xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
