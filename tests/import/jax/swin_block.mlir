"builtin.module"() <{sym_name = "jit_swin_block"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}, {}], function_type = (tensor<1x8x8x32xf32>, tensor<32xf32>, tensor<32xf32>, tensor<32x96xf32>, tensor<32x32xf32>) -> tensor<1x8x8x32xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<1x8x8x32xf32>, %arg1: tensor<32xf32>, %arg2: tensor<32xf32>, %arg3: tensor<32x96xf32>, %arg4: tensor<32x32xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.reduce"(%arg0, %0) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg11: tensor<f32>, %arg12: tensor<f32>):
      %71 = "stablehlo.add"(%arg11, %arg12) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%71) : (tensor<f32>) -> ()
    }) : (tensor<1x8x8x32xf32>, tensor<f32>) -> tensor<1x8x8xf32>
    %2 = "stablehlo.broadcast_in_dim"(%1) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x8x8xf32>) -> tensor<1x8x8x1xf32>
    %3 = "stablehlo.constant"() <{value = dense<3.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x8x8x1xf32>
    %5 = "stablehlo.divide"(%2, %4) : (tensor<1x8x8x1xf32>, tensor<1x8x8x1xf32>) -> tensor<1x8x8x1xf32>
    %6 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x8x8x1xf32>) -> tensor<1x8x8x32xf32>
    %7 = "stablehlo.subtract"(%arg0, %6) : (tensor<1x8x8x32xf32>, tensor<1x8x8x32xf32>) -> tensor<1x8x8x32xf32>
    %8 = "stablehlo.multiply"(%7, %7) : (tensor<1x8x8x32xf32>, tensor<1x8x8x32xf32>) -> tensor<1x8x8x32xf32>
    %9 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %10 = "stablehlo.reduce"(%8, %9) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg9: tensor<f32>, %arg10: tensor<f32>):
      %70 = "stablehlo.add"(%arg9, %arg10) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%70) : (tensor<f32>) -> ()
    }) : (tensor<1x8x8x32xf32>, tensor<f32>) -> tensor<1x8x8xf32>
    %11 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x8x8xf32>) -> tensor<1x8x8x1xf32>
    %12 = "stablehlo.constant"() <{value = dense<3.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %13 = "stablehlo.broadcast_in_dim"(%12) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x8x8x1xf32>
    %14 = "stablehlo.divide"(%11, %13) : (tensor<1x8x8x1xf32>, tensor<1x8x8x1xf32>) -> tensor<1x8x8x1xf32>
    %15 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x8x8x1xf32>) -> tensor<1x8x8x32xf32>
    %16 = "stablehlo.subtract"(%arg0, %15) : (tensor<1x8x8x32xf32>, tensor<1x8x8x32xf32>) -> tensor<1x8x8x32xf32>
    %17 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %18 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x8x8x1xf32>
    %19 = "stablehlo.add"(%14, %18) : (tensor<1x8x8x1xf32>, tensor<1x8x8x1xf32>) -> tensor<1x8x8x1xf32>
    %20 = "stablehlo.rsqrt"(%19) : (tensor<1x8x8x1xf32>) -> tensor<1x8x8x1xf32>
    %21 = "stablehlo.broadcast_in_dim"(%20) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x8x8x1xf32>) -> tensor<1x8x8x32xf32>
    %22 = "stablehlo.multiply"(%16, %21) : (tensor<1x8x8x32xf32>, tensor<1x8x8x32xf32>) -> tensor<1x8x8x32xf32>
    %23 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64: 3>}> : (tensor<32xf32>) -> tensor<1x1x1x32xf32>
    %24 = "stablehlo.broadcast_in_dim"(%23) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x32xf32>) -> tensor<1x8x8x32xf32>
    %25 = "stablehlo.multiply"(%22, %24) : (tensor<1x8x8x32xf32>, tensor<1x8x8x32xf32>) -> tensor<1x8x8x32xf32>
    %26 = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64: 3>}> : (tensor<32xf32>) -> tensor<1x1x1x32xf32>
    %27 = "stablehlo.broadcast_in_dim"(%26) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<1x1x1x32xf32>) -> tensor<1x8x8x32xf32>
    %28 = "stablehlo.add"(%25, %27) : (tensor<1x8x8x32xf32>, tensor<1x8x8x32xf32>) -> tensor<1x8x8x32xf32>
    %29 = "stablehlo.reshape"(%28) : (tensor<1x8x8x32xf32>) -> tensor<1x2x4x2x4x32xf32>
    %30 = "stablehlo.transpose"(%29) <{permutation = array<i64: 0, 1, 3, 2, 4, 5>}> : (tensor<1x2x4x2x4x32xf32>) -> tensor<1x2x2x4x4x32xf32>
    %31 = "stablehlo.reshape"(%30) : (tensor<1x2x2x4x4x32xf32>) -> tensor<4x16x32xf32>
    %32 = "stablehlo.dot_general"(%31, %arg3) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x16x32xf32>, tensor<32x96xf32>) -> tensor<4x16x96xf32>
    %33 = "stablehlo.reshape"(%32) : (tensor<4x16x96xf32>) -> tensor<4x16x3x2x16xf32>
    %34 = "stablehlo.transpose"(%33) <{permutation = array<i64: 2, 0, 3, 1, 4>}> : (tensor<4x16x3x2x16xf32>) -> tensor<3x4x2x16x16xf32>
    %35 = "stablehlo.slice"(%34) <{limit_indices = array<i64: 1, 4, 2, 16, 16>, start_indices = array<i64: 0, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>}> : (tensor<3x4x2x16x16xf32>) -> tensor<1x4x2x16x16xf32>
    %36 = "stablehlo.reshape"(%35) : (tensor<1x4x2x16x16xf32>) -> tensor<4x2x16x16xf32>
    %37 = "stablehlo.slice"(%34) <{limit_indices = array<i64: 2, 4, 2, 16, 16>, start_indices = array<i64: 1, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>}> : (tensor<3x4x2x16x16xf32>) -> tensor<1x4x2x16x16xf32>
    %38 = "stablehlo.reshape"(%37) : (tensor<1x4x2x16x16xf32>) -> tensor<4x2x16x16xf32>
    %39 = "stablehlo.slice"(%34) <{limit_indices = array<i64: 3, 4, 2, 16, 16>, start_indices = array<i64: 2, 0, 0, 0, 0>, strides = array<i64: 1, 1, 1, 1, 1>}> : (tensor<3x4x2x16x16xf32>) -> tensor<1x4x2x16x16xf32>
    %40 = "stablehlo.reshape"(%39) : (tensor<1x4x2x16x16xf32>) -> tensor<4x2x16x16xf32>
    %41 = "stablehlo.transpose"(%38) <{permutation = array<i64: 0, 1, 3, 2>}> : (tensor<4x2x16x16xf32>) -> tensor<4x2x16x16xf32>
    %42 = "stablehlo.dot_general"(%36, %41) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x2x16x16xf32>, tensor<4x2x16x16xf32>) -> tensor<4x2x16x16xf32>
    %43 = "stablehlo.constant"() <{value = dense<2.500000e-01> : tensor<f32>}> : () -> tensor<f32>
    %44 = "stablehlo.broadcast_in_dim"(%43) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x2x16x16xf32>
    %45 = "stablehlo.multiply"(%42, %44) : (tensor<4x2x16x16xf32>, tensor<4x2x16x16xf32>) -> tensor<4x2x16x16xf32>
    %46 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %47 = "stablehlo.reduce"(%45, %46) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
      %69 = "stablehlo.maximum"(%arg7, %arg8) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%69) : (tensor<f32>) -> ()
    }) : (tensor<4x2x16x16xf32>, tensor<f32>) -> tensor<4x2x16xf32>
    %48 = "stablehlo.constant"() <{value = dense<0xFF800000> : tensor<f32>}> : () -> tensor<f32>
    %49 = "stablehlo.broadcast_in_dim"(%48) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x2x16xf32>
    %50 = "stablehlo.maximum"(%49, %47) : (tensor<4x2x16xf32>, tensor<4x2x16xf32>) -> tensor<4x2x16xf32>
    %51 = "stablehlo.broadcast_in_dim"(%50) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<4x2x16xf32>) -> tensor<4x2x16x1xf32>
    %52 = "stablehlo.broadcast_in_dim"(%51) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<4x2x16x1xf32>) -> tensor<4x2x16x16xf32>
    %53 = "stablehlo.subtract"(%45, %52) : (tensor<4x2x16x16xf32>, tensor<4x2x16x16xf32>) -> tensor<4x2x16x16xf32>
    %54 = "stablehlo.exponential"(%53) : (tensor<4x2x16x16xf32>) -> tensor<4x2x16x16xf32>
    %55 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %56 = "stablehlo.reduce"(%54, %55) <{dimensions = array<i64: 3>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %68 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%68) : (tensor<f32>) -> ()
    }) : (tensor<4x2x16x16xf32>, tensor<f32>) -> tensor<4x2x16xf32>
    %57 = "stablehlo.broadcast_in_dim"(%56) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<4x2x16xf32>) -> tensor<4x2x16x1xf32>
    %58 = "stablehlo.broadcast_in_dim"(%57) <{broadcast_dimensions = array<i64: 0, 1, 2, 3>}> : (tensor<4x2x16x1xf32>) -> tensor<4x2x16x16xf32>
    %59 = "stablehlo.divide"(%54, %58) : (tensor<4x2x16x16xf32>, tensor<4x2x16x16xf32>) -> tensor<4x2x16x16xf32>
    %60 = "stablehlo.dot_general"(%59, %40) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0, 1], rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x2x16x16xf32>, tensor<4x2x16x16xf32>) -> tensor<4x2x16x16xf32>
    %61 = "stablehlo.transpose"(%60) <{permutation = array<i64: 0, 2, 1, 3>}> : (tensor<4x2x16x16xf32>) -> tensor<4x16x2x16xf32>
    %62 = "stablehlo.reshape"(%61) : (tensor<4x16x2x16xf32>) -> tensor<4x16x32xf32>
    %63 = "stablehlo.dot_general"(%62, %arg4) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<4x16x32xf32>, tensor<32x32xf32>) -> tensor<4x16x32xf32>
    %64 = "stablehlo.reshape"(%63) : (tensor<4x16x32xf32>) -> tensor<1x2x2x4x4x32xf32>
    %65 = "stablehlo.transpose"(%64) <{permutation = array<i64: 0, 1, 3, 2, 4, 5>}> : (tensor<1x2x2x4x4x32xf32>) -> tensor<1x2x4x2x4x32xf32>
    %66 = "stablehlo.reshape"(%65) : (tensor<1x2x4x2x4x32xf32>) -> tensor<1x8x8x32xf32>
    %67 = "stablehlo.add"(%arg0, %66) : (tensor<1x8x8x32xf32>, tensor<1x8x8x32xf32>) -> tensor<1x8x8x32xf32>
    "func.return"(%67) : (tensor<1x8x8x32xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
