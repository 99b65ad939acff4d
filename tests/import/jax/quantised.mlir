"builtin.module"() <{sym_name = "jit_quant"}> ({
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<8x64xui8>, tensor<64x32xi8>, tensor<32xf32>) -> tensor<8x32xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<8x64xui8>, %arg1: tensor<64x32xi8>, %arg2: tensor<32xf32>):
    %0 = "stablehlo.convert"(%arg0) : (tensor<8x64xui8>) -> tensor<8x64xi32>
    %1 = "stablehlo.convert"(%arg1) : (tensor<64x32xi8>) -> tensor<64x32xi32>
    %2 = "stablehlo.dot_general"(%0, %1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<8x64xi32>, tensor<64x32xi32>) -> tensor<8x32xi32>
    %3 = "stablehlo.convert"(%2) : (tensor<8x32xi32>) -> tensor<8x32xf32>
    %4 = "stablehlo.broadcast_in_dim"(%arg2) <{broadcast_dimensions = array<i64: 1>}> : (tensor<32xf32>) -> tensor<1x32xf32>
    %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x32xf32>) -> tensor<8x32xf32>
    %6 = "stablehlo.multiply"(%3, %5) : (tensor<8x32xf32>, tensor<8x32xf32>) -> tensor<8x32xf32>
    "func.return"(%6) : (tensor<8x32xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
