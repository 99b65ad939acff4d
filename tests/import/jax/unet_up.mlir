"builtin.module"() <{sym_name = "jit_unet_up"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<1x6x6x8xf32>, tensor<1x12x12x4xf32>, tensor<3x3x12x8xf32>) -> tensor<1x12x12x8xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg2: tensor<1x6x6x8xf32>, %arg3: tensor<1x12x12x4xf32>, %arg4: tensor<3x3x12x8xf32>):
    %51 = "func.call"(%arg2) <{callee = @_resize}> : (tensor<1x6x6x8xf32>) -> tensor<1x12x12x8xf32>
    %52 = "stablehlo.concatenate"(%51, %arg3) <{dimension = 3 : i64}> : (tensor<1x12x12x8xf32>, tensor<1x12x12x4xf32>) -> tensor<1x12x12x12xf32>
    %53 = "stablehlo.convolution"(%52, %arg4) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64, lhs_dilation = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, false>, window_strides = array<i64: 1, 1>}> : (tensor<1x12x12x12xf32>, tensor<3x3x12x8xf32>) -> tensor<1x12x12x8xf32>
    %54 = "func.call"(%53) <{callee = @silu}> : (tensor<1x12x12x8xf32>) -> tensor<1x12x12x8xf32>
    "func.return"(%54) : (tensor<1x12x12x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<1x6x6x8xf32>) -> tensor<1x12x12x8xf32>, res_attrs = [{}], sym_name = "_resize", sym_visibility = "private"}> ({
  ^bb0(%arg1: tensor<1x6x6x8xf32>):
    %9 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<12xf32>
    %10 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %11 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<12xf32>
    %12 = "stablehlo.add"(%9, %11) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
    %13 = "stablehlo.constant"() <{value = dense<6.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %14 = "stablehlo.broadcast_in_dim"(%13) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<12xf32>
    %15 = "stablehlo.multiply"(%12, %14) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
    %16 = "stablehlo.constant"() <{value = dense<1.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %17 = "stablehlo.broadcast_in_dim"(%16) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<12xf32>
    %18 = "stablehlo.divide"(%15, %17) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
    %19 = "stablehlo.floor"(%18) : (tensor<12xf32>) -> tensor<12xf32>
    %20 = "stablehlo.convert"(%19) : (tensor<12xf32>) -> tensor<12xi32>
    %21 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %22 = "stablehlo.broadcast_in_dim"(%21) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<12xi32>
    %23 = "stablehlo.compare"(%20, %22) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
    %24 = "stablehlo.constant"() <{value = dense<6> : tensor<i32>}> : () -> tensor<i32>
    %25 = "stablehlo.broadcast_in_dim"(%24) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<12xi32>
    %26 = "stablehlo.add"(%20, %25) : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi32>
    %27 = "stablehlo.select"(%23, %26, %20) : (tensor<12xi1>, tensor<12xi32>, tensor<12xi32>) -> tensor<12xi32>
    %28 = "stablehlo.broadcast_in_dim"(%27) <{broadcast_dimensions = array<i64: 0>}> : (tensor<12xi32>) -> tensor<12x1xi32>
    %29 = "stablehlo.gather"(%arg1, %28) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2, 3], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1, 6, 8>}> : (tensor<1x6x6x8xf32>, tensor<12x1xi32>) -> tensor<1x12x6x8xf32>
    %30 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<12xf32>
    %31 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %32 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<12xf32>
    %33 = "stablehlo.add"(%30, %32) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
    %34 = "stablehlo.constant"() <{value = dense<6.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %35 = "stablehlo.broadcast_in_dim"(%34) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<12xf32>
    %36 = "stablehlo.multiply"(%33, %35) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
    %37 = "stablehlo.constant"() <{value = dense<1.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %38 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<12xf32>
    %39 = "stablehlo.divide"(%36, %38) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
    %40 = "stablehlo.floor"(%39) : (tensor<12xf32>) -> tensor<12xf32>
    %41 = "stablehlo.convert"(%40) : (tensor<12xf32>) -> tensor<12xi32>
    %42 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %43 = "stablehlo.broadcast_in_dim"(%42) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<12xi32>
    %44 = "stablehlo.compare"(%41, %43) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi1>
    %45 = "stablehlo.constant"() <{value = dense<6> : tensor<i32>}> : () -> tensor<i32>
    %46 = "stablehlo.broadcast_in_dim"(%45) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<12xi32>
    %47 = "stablehlo.add"(%41, %46) : (tensor<12xi32>, tensor<12xi32>) -> tensor<12xi32>
    %48 = "stablehlo.select"(%44, %47, %41) : (tensor<12xi1>, tensor<12xi32>, tensor<12xi32>) -> tensor<12xi32>
    %49 = "stablehlo.broadcast_in_dim"(%48) <{broadcast_dimensions = array<i64: 0>}> : (tensor<12xi32>) -> tensor<12x1xi32>
    %50 = "stablehlo.gather"(%29, %49) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1, 3], collapsed_slice_dims = [2], start_index_map = [2], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 12, 1, 8>}> : (tensor<1x12x6x8xf32>, tensor<12x1xi32>) -> tensor<1x12x12x8xf32>
    "func.return"(%50) : (tensor<1x12x12x8xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<1x12x12x8xf32>) -> tensor<1x12x12x8xf32>, res_attrs = [{}], sym_name = "silu", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<1x12x12x8xf32>):
    %0 = "stablehlo.negate"(%arg0) : (tensor<1x12x12x8xf32>) -> tensor<1x12x12x8xf32>
    %1 = "stablehlo.exponential"(%0) : (tensor<1x12x12x8xf32>) -> tensor<1x12x12x8xf32>
    %2 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %3 = "stablehlo.broadcast_in_dim"(%2) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x12x12x8xf32>
    %4 = "stablehlo.add"(%3, %1) : (tensor<1x12x12x8xf32>, tensor<1x12x12x8xf32>) -> tensor<1x12x12x8xf32>
    %5 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %6 = "stablehlo.broadcast_in_dim"(%5) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x12x12x8xf32>
    %7 = "stablehlo.divide"(%6, %4) : (tensor<1x12x12x8xf32>, tensor<1x12x12x8xf32>) -> tensor<1x12x12x8xf32>
    %8 = "stablehlo.multiply"(%arg0, %7) : (tensor<1x12x12x8xf32>, tensor<1x12x12x8xf32>) -> tensor<1x12x12x8xf32>
    "func.return"(%8) : (tensor<1x12x12x8xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
