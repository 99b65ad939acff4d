"builtin.module"() <{sym_name = "jit_act"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<8x64xf32>) -> tensor<8x64xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg12: tensor<8x64xf32>):
    %53 = "func.call"(%arg12) <{callee = @softplus}> : (tensor<8x64xf32>) -> tensor<8x64xf32>
    %54 = "func.call"(%arg12) <{callee = @elu}> : (tensor<8x64xf32>) -> tensor<8x64xf32>
    %55 = "stablehlo.add"(%53, %54) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %56 = "func.call"(%arg12) <{callee = @leaky_relu}> : (tensor<8x64xf32>) -> tensor<8x64xf32>
    %57 = "stablehlo.add"(%55, %56) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %58 = "func.call"(%arg12) <{callee = @hard_silu}> : (tensor<8x64xf32>) -> tensor<8x64xf32>
    %59 = "stablehlo.add"(%57, %58) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    "func.return"(%59) : (tensor<8x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<8x64xf32>) -> tensor<8x64xf32>, res_attrs = [{}], sym_name = "softplus", sym_visibility = "private"}> ({
  ^bb0(%arg11: tensor<8x64xf32>):
    %39 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %40 = "stablehlo.broadcast_in_dim"(%39) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x64xf32>
    %41 = "stablehlo.maximum"(%arg11, %40) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %42 = "stablehlo.broadcast_in_dim"(%39) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x64xf32>
    %43 = "stablehlo.subtract"(%arg11, %42) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %44 = "stablehlo.compare"(%43, %43) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xi1>
    %45 = "stablehlo.broadcast_in_dim"(%39) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x64xf32>
    %46 = "stablehlo.add"(%arg11, %45) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %47 = "stablehlo.abs"(%43) : (tensor<8x64xf32>) -> tensor<8x64xf32>
    %48 = "stablehlo.negate"(%47) : (tensor<8x64xf32>) -> tensor<8x64xf32>
    %49 = "stablehlo.exponential"(%48) : (tensor<8x64xf32>) -> tensor<8x64xf32>
    %50 = "stablehlo.log_plus_one"(%49) : (tensor<8x64xf32>) -> tensor<8x64xf32>
    %51 = "stablehlo.add"(%41, %50) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %52 = "stablehlo.select"(%44, %46, %51) : (tensor<8x64xi1>, tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    "func.return"(%52) : (tensor<8x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<8x64xf32>) -> tensor<8x64xf32>, res_attrs = [{}], sym_name = "elu", sym_visibility = "private"}> ({
  ^bb0(%arg10: tensor<8x64xf32>):
    %26 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %27 = "stablehlo.broadcast_in_dim"(%26) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x64xf32>
    %28 = "stablehlo.compare"(%arg10, %27) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xi1>
    %29 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %30 = "stablehlo.broadcast_in_dim"(%29) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x64xf32>
    %31 = "stablehlo.compare"(%arg10, %30) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xi1>
    %32 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %33 = "func.call"(%31, %32, %arg10) <{callee = @_where}> : (tensor<8x64xi1>, tensor<f32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %34 = "stablehlo.exponential_minus_one"(%33) : (tensor<8x64xf32>) -> tensor<8x64xf32>
    %35 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %36 = "stablehlo.broadcast_in_dim"(%35) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x64xf32>
    %37 = "stablehlo.multiply"(%36, %34) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %38 = "func.call"(%28, %arg10, %37) <{callee = @_where_0}> : (tensor<8x64xi1>, tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    "func.return"(%38) : (tensor<8x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<8x64xi1>, tensor<f32>, tensor<8x64xf32>) -> tensor<8x64xf32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg7: tensor<8x64xi1>, %arg8: tensor<f32>, %arg9: tensor<8x64xf32>):
    %23 = "stablehlo.convert"(%arg8) : (tensor<f32>) -> tensor<f32>
    %24 = "stablehlo.broadcast_in_dim"(%23) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x64xf32>
    %25 = "stablehlo.select"(%arg7, %24, %arg9) : (tensor<8x64xi1>, tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    "func.return"(%25) : (tensor<8x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<8x64xi1>, tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>, res_attrs = [{}], sym_name = "_where_0", sym_visibility = "private"}> ({
  ^bb0(%arg4: tensor<8x64xi1>, %arg5: tensor<8x64xf32>, %arg6: tensor<8x64xf32>):
    %22 = "stablehlo.select"(%arg4, %arg5, %arg6) : (tensor<8x64xi1>, tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    "func.return"(%22) : (tensor<8x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<8x64xf32>) -> tensor<8x64xf32>, res_attrs = [{}], sym_name = "leaky_relu", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<8x64xf32>):
    %15 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %16 = "stablehlo.broadcast_in_dim"(%15) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x64xf32>
    %17 = "stablehlo.compare"(%arg3, %16) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xi1>
    %18 = "stablehlo.constant"() <{value = dense<0.00999999977> : tensor<f32>}> : () -> tensor<f32>
    %19 = "stablehlo.broadcast_in_dim"(%18) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x64xf32>
    %20 = "stablehlo.multiply"(%19, %arg3) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %21 = "func.call"(%17, %arg3, %20) <{callee = @_where_0}> : (tensor<8x64xi1>, tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    "func.return"(%21) : (tensor<8x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<8x64xf32>) -> tensor<8x64xf32>, res_attrs = [{}], sym_name = "hard_silu", sym_visibility = "private"}> ({
  ^bb0(%arg2: tensor<8x64xf32>):
    %13 = "func.call"(%arg2) <{callee = @hard_sigmoid}> : (tensor<8x64xf32>) -> tensor<8x64xf32>
    %14 = "stablehlo.multiply"(%arg2, %13) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    "func.return"(%14) : (tensor<8x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<8x64xf32>) -> tensor<8x64xf32>, res_attrs = [{}], sym_name = "hard_sigmoid", sym_visibility = "private"}> ({
  ^bb0(%arg1: tensor<8x64xf32>):
    %6 = "stablehlo.constant"() <{value = dense<3.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %7 = "stablehlo.broadcast_in_dim"(%6) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x64xf32>
    %8 = "stablehlo.add"(%arg1, %7) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %9 = "func.call"(%8) <{callee = @relu6}> : (tensor<8x64xf32>) -> tensor<8x64xf32>
    %10 = "stablehlo.constant"() <{value = dense<6.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %11 = "stablehlo.broadcast_in_dim"(%10) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x64xf32>
    %12 = "stablehlo.divide"(%9, %11) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    "func.return"(%12) : (tensor<8x64xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<8x64xf32>) -> tensor<8x64xf32>, res_attrs = [{}], sym_name = "relu6", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<8x64xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x64xf32>
    %2 = "stablehlo.maximum"(%arg0, %1) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    %3 = "stablehlo.constant"() <{value = dense<6.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %4 = "stablehlo.broadcast_in_dim"(%3) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<8x64xf32>
    %5 = "stablehlo.minimum"(%2, %4) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
    "func.return"(%5) : (tensor<8x64xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
