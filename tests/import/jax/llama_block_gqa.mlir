"builtin.module"() <{sym_name = "jit_llama_block_gqa"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}], function_type = (tensor<16x64xf32>, tensor<64xf32>, tensor<64x64xf32>, tensor<64x32xf32>, tensor<64x32xf32>, tensor<64x64xf32>, tensor<16x8xf32>, tensor<16x8xf32>, tensor<64xf32>, tensor<64x96xf32>, tensor<64x96xf32>, tensor<96x64xf32>) -> tensor<16x64xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg5: tensor<16x64xf32>, %arg6: tensor<64xf32>, %arg7: tensor<64x64xf32>, %arg8: tensor<64x32xf32>, %arg9: tensor<64x32xf32>, %arg10: tensor<64x64xf32>, %arg11: tensor<16x8xf32>, %arg12: tensor<16x8xf32>, %arg13: tensor<64xf32>, %arg14: tensor<64x96xf32>, %arg15: tensor<64x96xf32>, %arg16: tensor<96x64xf32>):
    %22 = "stablehlo.multiply"(%arg5, %arg5) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %23 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %24 = "stablehlo.reduce"(%22, %23) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg23: tensor<f32>, %arg24: tensor<f32>):
      %135 = "stablehlo.add"(%arg23, %arg24) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%135) : (tensor<f32>) -> ()
    }) : (tensor<16x64xf32>, tensor<f32>) -> tensor<16xf32>
    %25 = "stablehlo.broadcast_in_dim"(%24) <{broadcast_dimensions = array<i64: 0>}> : (tensor<16xf32>) -> tensor<16x1xf32>
    %26 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %27 = "stablehlo.broadcast_in_dim"(%26) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x1xf32>
    %28 = "stablehlo.divide"(%25, %27) : (tensor<16x1xf32>, tensor<16x1xf32>) -> tensor<16x1xf32>
    %29 = "stablehlo.constant"() <{value = dense<9.99999997E-7> : tensor<f32>}> : () -> tensor<f32>
    %30 = "stablehlo.broadcast_in_dim"(%29) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x1xf32>
    %31 = "stablehlo.add"(%28, %30) : (tensor<16x1xf32>, tensor<16x1xf32>) -> tensor<16x1xf32>
    %32 = "stablehlo.rsqrt"(%31) : (tensor<16x1xf32>) -> tensor<16x1xf32>
    %33 = "stablehlo.broadcast_in_dim"(%32) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x1xf32>) -> tensor<16x64xf32>
    %34 = "stablehlo.multiply"(%arg5, %33) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %35 = "stablehlo.broadcast_in_dim"(%arg6) <{broadcast_dimensions = array<i64: 1>}> : (tensor<64xf32>) -> tensor<1x64xf32>
    %36 = "stablehlo.broadcast_in_dim"(%35) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x64xf32>) -> tensor<16x64xf32>
    %37 = "stablehlo.multiply"(%34, %36) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %38 = "stablehlo.dot_general"(%37, %arg7) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<16x64xf32>
    %39 = "stablehlo.reshape"(%38) : (tensor<16x64xf32>) -> tensor<16x4x16xf32>
    %40 = "stablehlo.slice"(%39) <{limit_indices = array<i64: 16, 4, 16>, start_indices = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 2>}> : (tensor<16x4x16xf32>) -> tensor<16x4x8xf32>
    %41 = "stablehlo.slice"(%39) <{limit_indices = array<i64: 16, 4, 16>, start_indices = array<i64: 0, 0, 1>, strides = array<i64: 1, 1, 2>}> : (tensor<16x4x16xf32>) -> tensor<16x4x8xf32>
    %42 = "stablehlo.broadcast_in_dim"(%arg11) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<16x8xf32>) -> tensor<16x1x8xf32>
    %43 = "stablehlo.broadcast_in_dim"(%arg12) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<16x8xf32>) -> tensor<16x1x8xf32>
    %44 = "stablehlo.broadcast_in_dim"(%42) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x1x8xf32>) -> tensor<16x4x8xf32>
    %45 = "stablehlo.multiply"(%40, %44) : (tensor<16x4x8xf32>, tensor<16x4x8xf32>) -> tensor<16x4x8xf32>
    %46 = "stablehlo.broadcast_in_dim"(%43) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x1x8xf32>) -> tensor<16x4x8xf32>
    %47 = "stablehlo.multiply"(%41, %46) : (tensor<16x4x8xf32>, tensor<16x4x8xf32>) -> tensor<16x4x8xf32>
    %48 = "stablehlo.subtract"(%45, %47) : (tensor<16x4x8xf32>, tensor<16x4x8xf32>) -> tensor<16x4x8xf32>
    %49 = "stablehlo.broadcast_in_dim"(%43) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x1x8xf32>) -> tensor<16x4x8xf32>
    %50 = "stablehlo.multiply"(%40, %49) : (tensor<16x4x8xf32>, tensor<16x4x8xf32>) -> tensor<16x4x8xf32>
    %51 = "stablehlo.broadcast_in_dim"(%42) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x1x8xf32>) -> tensor<16x4x8xf32>
    %52 = "stablehlo.multiply"(%41, %51) : (tensor<16x4x8xf32>, tensor<16x4x8xf32>) -> tensor<16x4x8xf32>
    %53 = "stablehlo.add"(%50, %52) : (tensor<16x4x8xf32>, tensor<16x4x8xf32>) -> tensor<16x4x8xf32>
    %54 = "stablehlo.broadcast_in_dim"(%48) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x4x8xf32>) -> tensor<16x4x8x1xf32>
    %55 = "stablehlo.broadcast_in_dim"(%53) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x4x8xf32>) -> tensor<16x4x8x1xf32>
    %56 = "stablehlo.concatenate"(%54, %55) <{dimension = 3 : i64}> : (tensor<16x4x8x1xf32>, tensor<16x4x8x1xf32>) -> tensor<16x4x8x2xf32>
    %57 = "stablehlo.reshape"(%56) : (tensor<16x4x8x2xf32>) -> tensor<16x4x16xf32>
    %58 = "stablehlo.dot_general"(%37, %arg8) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
    %59 = "stablehlo.reshape"(%58) : (tensor<16x32xf32>) -> tensor<16x2x16xf32>
    %60 = "stablehlo.slice"(%59) <{limit_indices = array<i64: 16, 2, 16>, start_indices = array<i64: 0, 0, 0>, strides = array<i64: 1, 1, 2>}> : (tensor<16x2x16xf32>) -> tensor<16x2x8xf32>
    %61 = "stablehlo.slice"(%59) <{limit_indices = array<i64: 16, 2, 16>, start_indices = array<i64: 0, 0, 1>, strides = array<i64: 1, 1, 2>}> : (tensor<16x2x16xf32>) -> tensor<16x2x8xf32>
    %62 = "stablehlo.broadcast_in_dim"(%arg11) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<16x8xf32>) -> tensor<16x1x8xf32>
    %63 = "stablehlo.broadcast_in_dim"(%arg12) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<16x8xf32>) -> tensor<16x1x8xf32>
    %64 = "stablehlo.broadcast_in_dim"(%62) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x1x8xf32>) -> tensor<16x2x8xf32>
    %65 = "stablehlo.multiply"(%60, %64) : (tensor<16x2x8xf32>, tensor<16x2x8xf32>) -> tensor<16x2x8xf32>
    %66 = "stablehlo.broadcast_in_dim"(%63) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x1x8xf32>) -> tensor<16x2x8xf32>
    %67 = "stablehlo.multiply"(%61, %66) : (tensor<16x2x8xf32>, tensor<16x2x8xf32>) -> tensor<16x2x8xf32>
    %68 = "stablehlo.subtract"(%65, %67) : (tensor<16x2x8xf32>, tensor<16x2x8xf32>) -> tensor<16x2x8xf32>
    %69 = "stablehlo.broadcast_in_dim"(%63) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x1x8xf32>) -> tensor<16x2x8xf32>
    %70 = "stablehlo.multiply"(%60, %69) : (tensor<16x2x8xf32>, tensor<16x2x8xf32>) -> tensor<16x2x8xf32>
    %71 = "stablehlo.broadcast_in_dim"(%62) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x1x8xf32>) -> tensor<16x2x8xf32>
    %72 = "stablehlo.multiply"(%61, %71) : (tensor<16x2x8xf32>, tensor<16x2x8xf32>) -> tensor<16x2x8xf32>
    %73 = "stablehlo.add"(%70, %72) : (tensor<16x2x8xf32>, tensor<16x2x8xf32>) -> tensor<16x2x8xf32>
    %74 = "stablehlo.broadcast_in_dim"(%68) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x2x8xf32>) -> tensor<16x2x8x1xf32>
    %75 = "stablehlo.broadcast_in_dim"(%73) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<16x2x8xf32>) -> tensor<16x2x8x1xf32>
    %76 = "stablehlo.concatenate"(%74, %75) <{dimension = 3 : i64}> : (tensor<16x2x8x1xf32>, tensor<16x2x8x1xf32>) -> tensor<16x2x8x2xf32>
    %77 = "stablehlo.reshape"(%76) : (tensor<16x2x8x2xf32>) -> tensor<16x2x16xf32>
    %78 = "stablehlo.dot_general"(%37, %arg9) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x64xf32>, tensor<64x32xf32>) -> tensor<16x32xf32>
    %79 = "stablehlo.reshape"(%78) : (tensor<16x32xf32>) -> tensor<16x2x16xf32>
    %80 = "stablehlo.reshape"(%57) : (tensor<16x4x16xf32>) -> tensor<16x2x2x16xf32>
    %81 = "stablehlo.dot_general"(%77, %80) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [1], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x2x16xf32>, tensor<16x2x2x16xf32>) -> tensor<2x16x16x2xf32>
    %82 = "stablehlo.transpose"(%81) <{permutation = array<i64: 0, 3, 2, 1>}> : (tensor<2x16x16x2xf32>) -> tensor<2x2x16x16xf32>
    %83 = "stablehlo.constant"() <{value = dense<4.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %84 = "stablehlo.broadcast_in_dim"(%83) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2x16x16xf32>
    %85 = "stablehlo.divide"(%82, %84) : (tensor<2x2x16x16xf32>, tensor<2x2x16x16xf32>) -> tensor<2x2x16x16xf32>
    %86 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
    %87 = "stablehlo.broadcast_in_dim"(%86) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<16x16xi1>
    %88 = "func.call"(%87) <{callee = @tril}> : (tensor<16x16xi1>) -> tensor<16x16xi1>
    %89 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %90 = "func.call"(%88, %85, %89) <{callee = @_where}> : (tensor<16x16xi1>, tensor<2x2x16x16xf32>, tensor<f32>) -> tensor<2x2x16x16xf32>
    %91 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %92 = "stablehlo.reduce"(%90, %91) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg21: tensor<f32>, %arg22: tensor<f32>):
      %134 = "stablehlo.maximum"(%arg21, %arg22) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%134) : (tensor<f32>) -> ()
    }) : (tensor<2x2x16x16xf32>, tensor<f32>) -> tensor<2x2x16xf32>
    %93 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %94 = "stablehlo.broadcast_in_dim"(%93) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2x16xf32>
    %95 = "stablehlo.maximum"(%94, %92) : (tensor<2x2x16xf32>, tensor<2x2x16xf32>) -> tensor<2x2x16xf32>
    %96 = "stablehlo.broadcast_in_dim"(%95) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x2x16xf32>) -> tensor<2x2x16x1xf32>
    %97 = "stablehlo.broadcast_in_dim"(%96) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x2x16x1xf32>) -> tensor<2x2x16x16xf32>
    %98 = "stablehlo.subtract"(%90, %97) : (tensor<2x2x16x16xf32>, tensor<2x2x16x16xf32>) -> tensor<2x2x16x16xf32>
    %99 = "stablehlo.exponential"(%98) : (tensor<2x2x16x16xf32>) -> tensor<2x2x16x16xf32>
    %100 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %101 = "stablehlo.reduce"(%99, %100) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg19: tensor<f32>, %arg20: tensor<f32>):
      %133 = "stablehlo.add"(%arg19, %arg20) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%133) : (tensor<f32>) -> ()
    }) : (tensor<2x2x16x16xf32>, tensor<f32>) -> tensor<2x2x16xf32>
    %102 = "stablehlo.broadcast_in_dim"(%101) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<2x2x16xf32>) -> tensor<2x2x16x1xf32>
    %103 = "stablehlo.broadcast_in_dim"(%102) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<2x2x16x1xf32>) -> tensor<2x2x16x16xf32>
    %104 = "stablehlo.divide"(%99, %103) : (tensor<2x2x16x16xf32>, tensor<2x2x16x16xf32>) -> tensor<2x2x16x16xf32>
    %105 = "stablehlo.dot_general"(%79, %104) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [1], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [3]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x2x16xf32>, tensor<2x2x16x16xf32>) -> tensor<2x16x2x16xf32>
    %106 = "stablehlo.transpose"(%105) <{permutation = array<i64: 3, 0, 2, 1>}> : (tensor<2x16x2x16xf32>) -> tensor<16x2x2x16xf32>
    %107 = "stablehlo.reshape"(%106) : (tensor<16x2x2x16xf32>) -> tensor<16x64xf32>
    %108 = "stablehlo.dot_general"(%107, %arg10) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x64xf32>, tensor<64x64xf32>) -> tensor<16x64xf32>
    %109 = "stablehlo.add"(%arg5, %108) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %110 = "stablehlo.multiply"(%109, %109) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %111 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %112 = "stablehlo.reduce"(%110, %111) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg17: tensor<f32>, %arg18: tensor<f32>):
      %132 = "stablehlo.add"(%arg17, %arg18) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%132) : (tensor<f32>) -> ()
    }) : (tensor<16x64xf32>, tensor<f32>) -> tensor<16xf32>
    %113 = "stablehlo.broadcast_in_dim"(%112) <{broadcast_dimensions = array<i64: 0>}> : (tensor<16xf32>) -> tensor<16x1xf32>
    %114 = "stablehlo.constant"() <{value = dense<6.400000e+01> : tensor<f32>}> : () -> tensor<f32>
    %115 = "stablehlo.broadcast_in_dim"(%114) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x1xf32>
    %116 = "stablehlo.divide"(%113, %115) : (tensor<16x1xf32>, tensor<16x1xf32>) -> tensor<16x1xf32>
    %117 = "stablehlo.constant"() <{value = dense<9.99999997E-7> : tensor<f32>}> : () -> tensor<f32>
    %118 = "stablehlo.broadcast_in_dim"(%117) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x1xf32>
    %119 = "stablehlo.add"(%116, %118) : (tensor<16x1xf32>, tensor<16x1xf32>) -> tensor<16x1xf32>
    %120 = "stablehlo.rsqrt"(%119) : (tensor<16x1xf32>) -> tensor<16x1xf32>
    %121 = "stablehlo.broadcast_in_dim"(%120) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<16x1xf32>) -> tensor<16x64xf32>
    %122 = "stablehlo.multiply"(%109, %121) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %123 = "stablehlo.broadcast_in_dim"(%arg13) <{broadcast_dimensions = array<i64: 1>}> : (tensor<64xf32>) -> tensor<1x64xf32>
    %124 = "stablehlo.broadcast_in_dim"(%123) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x64xf32>) -> tensor<16x64xf32>
    %125 = "stablehlo.multiply"(%122, %124) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    %126 = "stablehlo.dot_general"(%125, %arg14) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x64xf32>, tensor<64x96xf32>) -> tensor<16x96xf32>
    %127 = "func.call"(%126) <{callee = @silu}> : (tensor<16x96xf32>) -> tensor<16x96xf32>
    %128 = "stablehlo.dot_general"(%125, %arg15) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x64xf32>, tensor<64x96xf32>) -> tensor<16x96xf32>
    %129 = "stablehlo.multiply"(%127, %128) : (tensor<16x96xf32>, tensor<16x96xf32>) -> tensor<16x96xf32>
    %130 = "stablehlo.dot_general"(%129, %arg16) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<16x96xf32>, tensor<96x64xf32>) -> tensor<16x64xf32>
    %131 = "stablehlo.add"(%109, %130) : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
    "func.return"(%131) : (tensor<16x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<16x16xi1>) -> tensor<16x16xi1>, res_attrs = [{}], sym_name = "tril", sym_visibility = "private"}> ({
  ^bb0(%arg4: tensor<16x16xi1>):
    %13 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<16x16xi32>
    %14 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %15 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<16x16xi32>
    %16 = "stablehlo.add"(%13, %15) : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi32>
    %17 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<16x16xi32>
    %18 = "stablehlo.compare"(%16, %17) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<16x16xi32>, tensor<16x16xi32>) -> tensor<16x16xi1>
    %19 = "stablehlo.constant"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> tensor<16x16xi1>
    %21 = "stablehlo.select"(%18, %arg4, %20) : (tensor<16x16xi1>, tensor<16x16xi1>, tensor<16x16xi1>) -> tensor<16x16xi1>
    "func.return"(%21) : (tensor<16x16xi1>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<16x16xi1>, tensor<2x2x16x16xf32>, tensor<f32>) -> tensor<2x2x16x16xf32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg1: tensor<16x16xi1>, %arg2: tensor<2x2x16x16xf32>, %arg3: tensor<f32>):
    %9 = "stablehlo.convert"(%arg3) : (tensor<f32>) -> tensor<f32>
    %10 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 2, 3>}> : (tensor<16x16xi1>) -> tensor<2x2x16x16xi1>
    %11 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<2x2x16x16xf32>
    %12 = "stablehlo.select"(%10, %arg2, %11) : (tensor<2x2x16x16xi1>, tensor<2x2x16x16xf32>, tensor<2x2x16x16xf32>) -> tensor<2x2x16x16xf32>
    "func.return"(%12) : (tensor<2x2x16x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<16x96xf32>) -> tensor<16x96xf32>, res_attrs = [{}], sym_name = "silu", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<16x96xf32>):
    %0 = "stablehlo.negate"(%arg0) : (tensor<16x96xf32>) -> tensor<16x96xf32>
    %1 = "stablehlo.exponential"(%0) : (tensor<16x96xf32>) -> tensor<16x96xf32>
    %2 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x96xf32>
    %4 = "stablehlo.add"(%3, %1) : (tensor<16x96xf32>, tensor<16x96xf32>) -> tensor<16x96xf32>
    %5 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<16x96xf32>
    %7 = "stablehlo.divide"(%6, %4) : (tensor<16x96xf32>, tensor<16x96xf32>) -> tensor<16x96xf32>
    %8 = "stablehlo.multiply"(%arg0, %7) : (tensor<16x96xf32>, tensor<16x96xf32>) -> tensor<16x96xf32>
    "func.return"(%8) : (tensor<16x96xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
