"builtin.module"() <{sym_name = "jit_vit_patchify"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}, {}], function_type = (tensor<2x32x32x3xf32>, tensor<192x48xf32>, tensor<48xf32>, tensor<16x48xf32>) -> tensor<2x16x48xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<2x32x32x3xf32>, %arg1: tensor<192x48xf32>, %arg2: tensor<48xf32>, %arg3: tensor<16x48xf32>):
    %0 = "stablehlo.reshape"(%arg0) : (tensor<2x32x32x3xf32>) -> tensor<2x4x8x4x8x3xf32>
    %1 = "stablehlo.transpose"(%0) <{permutation = array<i64: 0, 1, 3, 2, 4, 5>}> : (tensor<2x4x8x4x8x3xf32>) -> tensor<2x4x4x8x8x3xf32>
    %2 = "stablehlo.reshape"(%1) : (tensor<2x4x4x8x8x3xf32>) -> tensor<2x16x192xf32>
    %3 = "stablehlo.dot_general"(%2, %arg1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2x16x192xf32>, tensor<192x48xf32>) -> tensor<2x16x48xf32>
    %4 = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64: 2>}> : (tensor<48xf32>) -> tensor<1x1x48xf32>
    %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x1x48xf32>) -> tensor<2x16x48xf32>
    %6 = "stablehlo.add"(%3, %5) : (tensor<2x16x48xf32>, tensor<2x16x48xf32>) -> tensor<2x16x48xf32>
    %7 = "stablehlo.broadcast_in_dim"(%arg3) <{broadcast_dimensions = array<i64: 1, 2>}> : (tensor<16x48xf32>) -> tensor<1x16x48xf32>
    %8 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64: 0, 1, 2>}> : (tensor<1x16x48xf32>) -> tensor<2x16x48xf32>
    %9 = "stablehlo.add"(%6, %8) : (tensor<2x16x48xf32>, tensor<2x16x48xf32>) -> tensor<2x16x48xf32>
    "func.return"(%9) : (tensor<2x16x48xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
