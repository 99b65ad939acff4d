"builtin.module"() <{sym_name = "jit_embedding_positional"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}, {}], function_type = (tensor<24xi32>, tensor<100x32xf32>, tensor<64x32xf32>, tensor<32xf32>, tensor<32xf32>) -> tensor<24x32xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<24xi32>, %arg1: tensor<100x32xf32>, %arg2: tensor<64x32xf32>, %arg3: tensor<32xf32>, %arg4: tensor<32xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<24xi32>
    %2 = "stablehlo.compare"(%arg0, %1) <{compare_type = #stablehlo<comparison_type SIGNED>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<24xi32>, tensor<24xi32>) -> tensor<24xi1>
    %3 = "stablehlo.constant"() <{value = dense<100> : tensor<i32>}> : () -> tensor<i32>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<24xi32>
    %5 = "stablehlo.add"(%arg0, %4) : (tensor<24xi32>, tensor<24xi32>) -> tensor<24xi32>
    %6 = "stablehlo.select"(%2, %5, %arg0) : (tensor<24xi1>, tensor<24xi32>, tensor<24xi32>) -> tensor<24xi32>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64: 0>}> : (tensor<24xi32>) -> tensor<24x1xi32>
    %8 = "stablehlo.gather"(%arg1, %7) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 32>}> : (tensor<100x32xf32>, tensor<24x1xi32>) -> tensor<24x32xf32>
    %9 = "stablehlo.constant"() <{value = dense<5.65685415> : tensor<f32>}> : () -> tensor<f32>
    %10 = "stablehlo.broadcast_in_dim"(%9) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24x32xf32>
    %11 = "stablehlo.multiply"(%8, %10) : (tensor<24x32xf32>, tensor<24x32xf32>) -> tensor<24x32xf32>
    %12 = "stablehlo.slice"(%arg2) <{limit_indices = array<i64: 24, 32>, start_indices = array<i64: 0, 0>, strides = array<i64: 1, 1>}> : (tensor<64x32xf32>) -> tensor<24x32xf32>
    %13 = "stablehlo.add"(%11, %12) : (tensor<24x32xf32>, tensor<24x32xf32>) -> tensor<24x32xf32>
    %14 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %15 = "stablehlo.reduce"(%13, %14) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg7: tensor<f32>, %arg8: tensor<f32>):
      %44 = "stablehlo.add"(%arg7, %arg8) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%44) : (tensor<f32>) -> ()
    }) : (tensor<24x32xf32>, tensor<f32>) -> tensor<24xf32>
    %16 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64: 0>}> : (tensor<24xf32>) -> tensor<24x1xf32>
    %17 = "stablehlo.constant"() <{value = dense<3.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %18 = "stablehlo.broadcast_in_dim"(%17) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24x1xf32>
    %19 = "stablehlo.divide"(%16, %18) : (tensor<24x1xf32>, tensor<24x1xf32>) -> tensor<24x1xf32>
    %20 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<24x1xf32>) -> tensor<24x32xf32>
    %21 = "stablehlo.subtract"(%13, %20) : (tensor<24x32xf32>, tensor<24x32xf32>) -> tensor<24x32xf32>
    %22 = "stablehlo.multiply"(%21, %21) : (tensor<24x32xf32>, tensor<24x32xf32>) -> tensor<24x32xf32>
    %23 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %24 = "stablehlo.reduce"(%22, %23) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg5: tensor<f32>, %arg6: tensor<f32>):
      %43 = "stablehlo.add"(%arg5, %arg6) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%43) : (tensor<f32>) -> ()
    }) : (tensor<24x32xf32>, tensor<f32>) -> tensor<24xf32>
    %25 = "stablehlo.broadcast_in_dim"(%24) <{broadcast_dimensions = array<i64: 0>}> : (tensor<24xf32>) -> tensor<24x1xf32>
    %26 = "stablehlo.constant"() <{value = dense<3.200000e+01> : tensor<f32>}> : () -> tensor<f32>
    %27 = "stablehlo.broadcast_in_dim"(%26) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24x1xf32>
    %28 = "stablehlo.divide"(%25, %27) : (tensor<24x1xf32>, tensor<24x1xf32>) -> tensor<24x1xf32>
    %29 = "stablehlo.broadcast_in_dim"(%19) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<24x1xf32>) -> tensor<24x32xf32>
    %30 = "stablehlo.subtract"(%13, %29) : (tensor<24x32xf32>, tensor<24x32xf32>) -> tensor<24x32xf32>
    %31 = "stablehlo.constant"() <{value = dense<9.99999974E-6> : tensor<f32>}> : () -> tensor<f32>
    %32 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<24x1xf32>
    %33 = "stablehlo.add"(%28, %32) : (tensor<24x1xf32>, tensor<24x1xf32>) -> tensor<24x1xf32>
    %34 = "stablehlo.rsqrt"(%33) : (tensor<24x1xf32>) -> tensor<24x1xf32>
    %35 = "stablehlo.broadcast_in_dim"(%34) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<24x1xf32>) -> tensor<24x32xf32>
    %36 = "stablehlo.multiply"(%30, %35) : (tensor<24x32xf32>, tensor<24x32xf32>) -> tensor<24x32xf32>
    %37 = "stablehlo.broadcast_in_dim"(%arg3) <{broadcast_dimensions = array<i64: 1>}> : (tensor<32xf32>) -> tensor<1x32xf32>
    %38 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x32xf32>) -> tensor<24x32xf32>
    %39 = "stablehlo.multiply"(%36, %38) : (tensor<24x32xf32>, tensor<24x32xf32>) -> tensor<24x32xf32>
    %40 = "stablehlo.broadcast_in_dim"(%arg4) <{broadcast_dimensions = array<i64: 1>}> : (tensor<32xf32>) -> tensor<1x32xf32>
    %41 = "stablehlo.broadcast_in_dim"(%40) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x32xf32>) -> tensor<24x32xf32>
    %42 = "stablehlo.add"(%39, %41) : (tensor<24x32xf32>, tensor<24x32xf32>) -> tensor<24x32xf32>
    "func.return"(%42) : (tensor<24x32xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
