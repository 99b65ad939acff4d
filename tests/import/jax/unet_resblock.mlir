"builtin.module"() <{sym_name = "jit_unet_resblock"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}, {}, {}, {}, {}, {}, {}], function_type = (tensor<1x8x8x8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<3x3x8x16xf32>, tensor<32xf32>, tensor<32x16xf32>, tensor<16xf32>, tensor<16xf32>, tensor<3x3x16x16xf32>, tensor<1x1x8x16xf32>) -> tensor<1x8x8x16xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg3: tensor<1x8x8x8xf32>, %arg4: tensor<8xf32>, %arg5: tensor<8xf32>, %arg6: tensor<3x3x8x16xf32>, %arg7: tensor<32xf32>, %arg8: tensor<32x16xf32>, %arg9: tensor<16xf32>, %arg10: tensor<16xf32>, %arg11: tensor<3x3x16x16xf32>, %arg12: tensor<1x1x8x16xf32>):
    %27 = "stablehlo.reshape"(%arg3) : (tensor<1x8x8x8xf32>) -> tensor<1x64x4x2xf32>
    %28 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %29 = "stablehlo.reduce"(%27, %28) <{dimensions = array<i64: 1, 3>}> ({
    ^bb0(%arg19: tensor<f32>, %arg20: tensor<f32>):
      %103 = "stablehlo.add"(%arg19, %arg20) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%103) : (tensor<f32>) -> ()
    }) : (tensor<1x64x4x2xf32>, tensor<f32>) -> tensor<1x4xf32>
    %30 = "stablehlo.broadcast_in_dim"(%29) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<1x4xf32>) -> tensor<1x1x4x1xf32>
    %31 = "stablehlo.constant"() <{value = dense<1.280000e+02> : tensor<f32>}> : () -> tensor<f32>
    %32 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1x4x1xf32>
    %33 = "stablehlo.divide"(%30, %32) : (tensor<1x1x4x1xf32>, tensor<1x1x4x1xf32>) -> tensor<1x1x4x1xf32>
    %34 = "stablehlo.broadcast_in_dim"(%33) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x4x1xf32>) -> tensor<1x64x4x2xf32>
    %35 = "stablehlo.subtract"(%27, %34) : (tensor<1x64x4x2xf32>, tensor<1x64x4x2xf32>) -> tensor<1x64x4x2xf32>
    %36 = "stablehlo.multiply"(%35, %35) : (tensor<1x64x4x2xf32>, tensor<1x64x4x2xf32>) -> tensor<1x64x4x2xf32>
    %37 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %38 = "stablehlo.reduce"(%36, %37) <{dimensions = array<i64: 1, 3>}> ({
    ^bb0(%arg17: tensor<f32>, %arg18: tensor<f32>):
      %102 = "stablehlo.add"(%arg17, %arg18) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%102) : (tensor<f32>) -> ()
    }) : (tensor<1x64x4x2xf32>, tensor<f32>) -> tensor<1x4xf32>
    %39 = "stablehlo.broadcast_in_dim"(%38) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<1x4xf32>) -> tensor<1x1x4x1xf32>
    %40 = "stablehlo.constant"() <{value = dense<1.280000e+02> : tensor<f32>}> : () -> tensor<f32>
    %41 = "stablehlo.broadcast_in_dim"(%40) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1x4x1xf32>
    %42 = "stablehlo.divide"(%39, %41) : (tensor<1x1x4x1xf32>, tensor<1x1x4x1xf32>) -> tensor<1x1x4x1xf32>
    %43 = "stablehlo.broadcast_in_dim"(%33) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x4x1xf32>) -> tensor<1x64x4x2xf32>
    %44 = "stablehlo.subtract"(%27, %43) : (tensor<1x64x4x2xf32>, tensor<1x64x4x2xf32>) -> tensor<1x64x4x2xf32>
    %45 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %46 = "stablehlo.broadcast_in_dim"(%45) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1x4x1xf32>
    %47 = "stablehlo.add"(%42, %46) : (tensor<1x1x4x1xf32>, tensor<1x1x4x1xf32>) -> tensor<1x1x4x1xf32>
    %48 = "stablehlo.rsqrt"(%47) : (tensor<1x1x4x1xf32>) -> tensor<1x1x4x1xf32>
    %49 = "stablehlo.broadcast_in_dim"(%48) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x4x1xf32>) -> tensor<1x64x4x2xf32>
    %50 = "stablehlo.multiply"(%44, %49) : (tensor<1x64x4x2xf32>, tensor<1x64x4x2xf32>) -> tensor<1x64x4x2xf32>
    %51 = "stablehlo.reshape"(%50) : (tensor<1x64x4x2xf32>) -> tensor<1x8x8x8xf32>
    %52 = "stablehlo.broadcast_in_dim"(%arg4) <{broadcast_dimensions = array<i64: 3>}> : (tensor<8xf32>) -> tensor<1x1x1x8xf32>
    %53 = "stablehlo.broadcast_in_dim"(%52) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x8xf32>) -> tensor<1x8x8x8xf32>
    %54 = "stablehlo.multiply"(%51, %53) : (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    %55 = "stablehlo.broadcast_in_dim"(%arg5) <{broadcast_dimensions = array<i64: 3>}> : (tensor<8xf32>) -> tensor<1x1x1x8xf32>
    %56 = "stablehlo.broadcast_in_dim"(%55) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x8xf32>) -> tensor<1x8x8x8xf32>
    %57 = "stablehlo.add"(%54, %56) : (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    %58 = "func.call"(%57) <{callee = @silu}> : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    %59 = "stablehlo.convolution"(%58, %arg6) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<1x8x8x8xf32>, tensor<3x3x8x16xf32>) -> tensor<1x8x8x16xf32>
    %60 = "func.call"(%arg7) <{callee = @silu_0}> : (tensor<32xf32>) -> tensor<32xf32>
    %61 = "stablehlo.dot_general"(%60, %arg8) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<32xf32>, tensor<32x16xf32>) -> tensor<16xf32>
    %62 = "stablehlo.broadcast_in_dim"(%61) <{broadcast_dimensions = array<i64: 3>}> : (tensor<16xf32>) -> tensor<1x1x1x16xf32>
    %63 = "stablehlo.broadcast_in_dim"(%62) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x16xf32>) -> tensor<1x8x8x16xf32>
    %64 = "stablehlo.add"(%59, %63) : (tensor<1x8x8x16xf32>, tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
    %65 = "stablehlo.reshape"(%64) : (tensor<1x8x8x16xf32>) -> tensor<1x64x4x4xf32>
    %66 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %67 = "stablehlo.reduce"(%65, %66) <{dimensions = array<i64: 1, 3>}> ({
    ^bb0(%arg15: tensor<f32>, %arg16: tensor<f32>):
      %101 = "stablehlo.add"(%arg15, %arg16) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%101) : (tensor<f32>) -> ()
    }) : (tensor<1x64x4x4xf32>, tensor<f32>) -> tensor<1x4xf32>
    %68 = "stablehlo.broadcast_in_dim"(%67) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<1x4xf32>) -> tensor<1x1x4x1xf32>
    %69 = "stablehlo.constant"() <{value = dense<2.560000e+02> : tensor<f32>}> : () -> tensor<f32>
    %70 = "stablehlo.broadcast_in_dim"(%69) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1x4x1xf32>
    %71 = "stablehlo.divide"(%68, %70) : (tensor<1x1x4x1xf32>, tensor<1x1x4x1xf32>) -> tensor<1x1x4x1xf32>
    %72 = "stablehlo.broadcast_in_dim"(%71) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x4x1xf32>) -> tensor<1x64x4x4xf32>
    %73 = "stablehlo.subtract"(%65, %72) : (tensor<1x64x4x4xf32>, tensor<1x64x4x4xf32>) -> tensor<1x64x4x4xf32>
    %74 = "stablehlo.multiply"(%73, %73) : (tensor<1x64x4x4xf32>, tensor<1x64x4x4xf32>) -> tensor<1x64x4x4xf32>
    %75 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %76 = "stablehlo.reduce"(%74, %75) <{dimensions = array<i64: 1, 3>}> ({
    ^bb0(%arg13: tensor<f32>, %arg14: tensor<f32>):
      %100 = "stablehlo.add"(%arg13, %arg14) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%100) : (tensor<f32>) -> ()
    }) : (tensor<1x64x4x4xf32>, tensor<f32>) -> tensor<1x4xf32>
    %77 = "stablehlo.broadcast_in_dim"(%76) <{broadcast_dimensions = array<i64: 0, 2>}> : (tensor<1x4xf32>) -> tensor<1x1x4x1xf32>
    %78 = "stablehlo.constant"() <{value = dense<2.560000e+02> : tensor<f32>}> : () -> tensor<f32>
    %79 = "stablehlo.broadcast_in_dim"(%78) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1x4x1xf32>
    %80 = "stablehlo.divide"(%77, %79) : (tensor<1x1x4x1xf32>, tensor<1x1x4x1xf32>) -> tensor<1x1x4x1xf32>
    %81 = "stablehlo.broadcast_in_dim"(%71) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x4x1xf32>) -> tensor<1x64x4x4xf32>
    %82 = "stablehlo.subtract"(%65, %81) : (tensor<1x64x4x4xf32>, tensor<1x64x4x4xf32>) -> tensor<1x64x4x4xf32>
    %83 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %84 = "stablehlo.broadcast_in_dim"(%83) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x1x4x1xf32>
    %85 = "stablehlo.add"(%80, %84) : (tensor<1x1x4x1xf32>, tensor<1x1x4x1xf32>) -> tensor<1x1x4x1xf32>
    %86 = "stablehlo.rsqrt"(%85) : (tensor<1x1x4x1xf32>) -> tensor<1x1x4x1xf32>
    %87 = "stablehlo.broadcast_in_dim"(%86) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x4x1xf32>) -> tensor<1x64x4x4xf32>
    %88 = "stablehlo.multiply"(%82, %87) : (tensor<1x64x4x4xf32>, tensor<1x64x4x4xf32>) -> tensor<1x64x4x4xf32>
    %89 = "stablehlo.reshape"(%88) : (tensor<1x64x4x4xf32>) -> tensor<1x8x8x16xf32>
    %90 = "stablehlo.broadcast_in_dim"(%arg9) <{broadcast_dimensions = array<i64: 3>}> : (tensor<16xf32>) -> tensor<1x1x1x16xf32>
    %91 = "stablehlo.broadcast_in_dim"(%90) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x16xf32>) -> tensor<1x8x8x16xf32>
    %92 = "stablehlo.multiply"(%89, %91) : (tensor<1x8x8x16xf32>, tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
    %93 = "stablehlo.broadcast_in_dim"(%arg10) <{broadcast_dimensions = array<i64: 3>}> : (tensor<16xf32>) -> tensor<1x1x1x16xf32>
    %94 = "stablehlo.broadcast_in_dim"(%93) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x16xf32>) -> tensor<1x8x8x16xf32>
    %95 = "stablehlo.add"(%92, %94) : (tensor<1x8x8x16xf32>, tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
    %96 = "func.call"(%95) <{callee = @silu_1}> : (tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
    %97 = "stablehlo.convolution"(%96, %arg11) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<1x8x8x16xf32>, tensor<3x3x16x16xf32>) -> tensor<1x8x8x16xf32>
    %98 = "stablehlo.convolution"(%arg3, %arg12) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<1x8x8x8xf32>, tensor<1x1x8x16xf32>) -> tensor<1x8x8x16xf32>
    %99 = "stablehlo.add"(%97, %98) : (tensor<1x8x8x16xf32>, tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
    "func.return"(%99) : (tensor<1x8x8x16xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>, res_attrs = [{}], sym_name = "silu", sym_visibility = "private"}> ({
  ^bb0(%arg2: tensor<1x8x8x8xf32>):
    %18 = "stablehlo.negate"(%arg2) : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    %19 = "stablehlo.exponential"(%18) : (tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    %20 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %21 = "stablehlo.broadcast_in_dim"(%20) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x8x8x8xf32>
    %22 = "stablehlo.add"(%21, %19) : (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    %23 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %24 = "stablehlo.broadcast_in_dim"(%23) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x8x8x8xf32>
    %25 = "stablehlo.divide"(%24, %22) : (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    %26 = "stablehlo.multiply"(%arg2, %25) : (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
    "func.return"(%26) : (tensor<1x8x8x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<32xf32>) -> tensor<32xf32>, res_attrs = [{}], sym_name = "silu_0", sym_visibility = "private"}> ({
  ^bb0(%arg1: tensor<32xf32>):
    %9 = "stablehlo.negate"(%arg1) : (tensor<32xf32>) -> tensor<32xf32>
    %10 = "stablehlo.exponential"(%9) : (tensor<32xf32>) -> tensor<32xf32>
    %11 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %13 = "stablehlo.add"(%12, %10) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %14 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %15 = "stablehlo.broadcast_in_dim"(%14) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<32xf32>
    %16 = "stablehlo.divide"(%15, %13) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    %17 = "stablehlo.multiply"(%arg1, %16) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
    "func.return"(%17) : (tensor<32xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>, res_attrs = [{}], sym_name = "silu_1", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<1x8x8x16xf32>):
    %0 = "stablehlo.negate"(%arg0) : (tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
    %1 = "stablehlo.exponential"(%0) : (tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
    %2 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x8x8x16xf32>
    %4 = "stablehlo.add"(%3, %1) : (tensor<1x8x8x16xf32>, tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
    %5 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x8x8x16xf32>
    %7 = "stablehlo.divide"(%6, %4) : (tensor<1x8x8x16xf32>, tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
    %8 = "stablehlo.multiply"(%arg0, %7) : (tensor<1x8x8x16xf32>, tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32>
    "func.return"(%8) : (tensor<1x8x8x16xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
