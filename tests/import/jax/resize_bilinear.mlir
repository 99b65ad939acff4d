"builtin.module"() <{sym_name = "jit_resize_bilinear"}> ({
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<1x6x7x4xf32>) -> tensor<1x12x14x4xf32>, res_attrs = [{jax.result_info = "result"}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg17: tensor<1x6x7x4xf32>):
    %137 = "func.call"(%arg17) <{callee = @_resize}> : (tensor<1x6x7x4xf32>) -> tensor<1x12x14x4xf32>
    "func.return"(%137) : (tensor<1x12x14x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}], function_type = (tensor<1x6x7x4xf32>) -> tensor<1x12x14x4xf32>, res_attrs = [{}], sym_name = "_resize", sym_visibility = "private"}> ({
  ^bb0(%arg12: tensor<1x6x7x4xf32>):
    %14 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %15 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %16 = "stablehlo.maximum"(%14, %15) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %17 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<12xf32>
    %18 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %19 = "stablehlo.broadcast_in_dim"(%18) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<12xf32>
    %20 = "stablehlo.add"(%17, %19) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
    %21 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %22 = "stablehlo.broadcast_in_dim"(%21) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<12xf32>
    %23 = "stablehlo.multiply"(%20, %22) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
    %24 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %25 = "stablehlo.broadcast_in_dim"(%24) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<12xf32>
    %26 = "stablehlo.subtract"(%23, %25) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
    %27 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %28 = "stablehlo.broadcast_in_dim"(%27) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<12xf32>
    %29 = "stablehlo.subtract"(%26, %28) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
    %30 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<6xf32>
    %31 = "stablehlo.broadcast_in_dim"(%29) <{broadcast_dimensions = array<i64: 1>}> : (tensor<12xf32>) -> tensor<1x12xf32>
    %32 = "stablehlo.broadcast_in_dim"(%30) <{broadcast_dimensions = array<i64: 0>}> : (tensor<6xf32>) -> tensor<6x1xf32>
    %33 = "stablehlo.broadcast_in_dim"(%31) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x12xf32>) -> tensor<6x12xf32>
    %34 = "stablehlo.broadcast_in_dim"(%32) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<6x1xf32>) -> tensor<6x12xf32>
    %35 = "stablehlo.subtract"(%33, %34) : (tensor<6x12xf32>, tensor<6x12xf32>) -> tensor<6x12xf32>
    %36 = "stablehlo.abs"(%35) : (tensor<6x12xf32>) -> tensor<6x12xf32>
    %37 = "stablehlo.convert"(%16) : (tensor<f32>) -> tensor<f32>
    %38 = "stablehlo.broadcast_in_dim"(%37) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<6x12xf32>
    %39 = "stablehlo.divide"(%36, %38) : (tensor<6x12xf32>, tensor<6x12xf32>) -> tensor<6x12xf32>
    %40 = "stablehlo.abs"(%39) : (tensor<6x12xf32>) -> tensor<6x12xf32>
    %41 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %42 = "stablehlo.broadcast_in_dim"(%41) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<6x12xf32>
    %43 = "stablehlo.subtract"(%42, %40) : (tensor<6x12xf32>, tensor<6x12xf32>) -> tensor<6x12xf32>
    %44 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %45 = "stablehlo.broadcast_in_dim"(%44) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<6x12xf32>
    %46 = "stablehlo.maximum"(%45, %43) : (tensor<6x12xf32>, tensor<6x12xf32>) -> tensor<6x12xf32>
    %47 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %48 = "stablehlo.reduce"(%46, %47) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg15: tensor<f32>, %arg16: tensor<f32>):
      %136 = "stablehlo.add"(%arg15, %arg16) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%136) : (tensor<f32>) -> ()
    }) : (tensor<6x12xf32>, tensor<f32>) -> tensor<12xf32>
    %49 = "stablehlo.broadcast_in_dim"(%48) <{broadcast_dimensions = array<i64: 1>}> : (tensor<12xf32>) -> tensor<1x12xf32>
    %50 = "stablehlo.abs"(%49) : (tensor<1x12xf32>) -> tensor<1x12xf32>
    %51 = "stablehlo.constant"() <{value = dense<1.1920929E-4> : tensor<f32>}> : () -> tensor<f32>
    %52 = "stablehlo.broadcast_in_dim"(%51) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x12xf32>
    %53 = "stablehlo.compare"(%50, %52) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<1x12xf32>, tensor<1x12xf32>) -> tensor<1x12xi1>
    %54 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %55 = "stablehlo.broadcast_in_dim"(%54) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x12xf32>
    %56 = "stablehlo.compare"(%49, %55) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<1x12xf32>, tensor<1x12xf32>) -> tensor<1x12xi1>
    %57 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %58 = "func.call"(%56, %49, %57) <{callee = @_where}> : (tensor<1x12xi1>, tensor<1x12xf32>, tensor<i32>) -> tensor<1x12xf32>
    %59 = "stablehlo.broadcast_in_dim"(%58) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x12xf32>) -> tensor<6x12xf32>
    %60 = "stablehlo.divide"(%46, %59) : (tensor<6x12xf32>, tensor<6x12xf32>) -> tensor<6x12xf32>
    %61 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %62 = "func.call"(%53, %60, %61) <{callee = @_where_0}> : (tensor<1x12xi1>, tensor<6x12xf32>, tensor<i32>) -> tensor<6x12xf32>
    %63 = "stablehlo.constant"() <{value = dense<-5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %64 = "stablehlo.broadcast_in_dim"(%63) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<12xf32>
    %65 = "stablehlo.compare"(%29, %64) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xi1>
    %66 = "stablehlo.constant"() <{value = dense<5.500000e+00> : tensor<f32>}> : () -> tensor<f32>
    %67 = "stablehlo.broadcast_in_dim"(%66) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<12xf32>
    %68 = "stablehlo.compare"(%29, %67) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xi1>
    %69 = "stablehlo.and"(%65, %68) : (tensor<12xi1>, tensor<12xi1>) -> tensor<12xi1>
    %70 = "stablehlo.broadcast_in_dim"(%69) <{broadcast_dimensions = array<i64: 1>}> : (tensor<12xi1>) -> tensor<1x12xi1>
    %71 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %72 = "func.call"(%70, %62, %71) <{callee = @_where_0}> : (tensor<1x12xi1>, tensor<6x12xf32>, tensor<i32>) -> tensor<6x12xf32>
    %73 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %74 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %75 = "stablehlo.maximum"(%73, %74) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %76 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<14xf32>
    %77 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %78 = "stablehlo.broadcast_in_dim"(%77) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<14xf32>
    %79 = "stablehlo.add"(%76, %78) : (tensor<14xf32>, tensor<14xf32>) -> tensor<14xf32>
    %80 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %81 = "stablehlo.broadcast_in_dim"(%80) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<14xf32>
    %82 = "stablehlo.multiply"(%79, %81) : (tensor<14xf32>, tensor<14xf32>) -> tensor<14xf32>
    %83 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %84 = "stablehlo.broadcast_in_dim"(%83) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<14xf32>
    %85 = "stablehlo.subtract"(%82, %84) : (tensor<14xf32>, tensor<14xf32>) -> tensor<14xf32>
    %86 = "stablehlo.constant"() <{value = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %87 = "stablehlo.broadcast_in_dim"(%86) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<14xf32>
    %88 = "stablehlo.subtract"(%85, %87) : (tensor<14xf32>, tensor<14xf32>) -> tensor<14xf32>
    %89 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<7xf32>
    %90 = "stablehlo.broadcast_in_dim"(%88) <{broadcast_dimensions = array<i64: 1>}> : (tensor<14xf32>) -> tensor<1x14xf32>
    %91 = "stablehlo.broadcast_in_dim"(%89) <{broadcast_dimensions = array<i64: 0>}> : (tensor<7xf32>) -> tensor<7x1xf32>
    %92 = "stablehlo.broadcast_in_dim"(%90) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x14xf32>) -> tensor<7x14xf32>
    %93 = "stablehlo.broadcast_in_dim"(%91) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<7x1xf32>) -> tensor<7x14xf32>
    %94 = "stablehlo.subtract"(%92, %93) : (tensor<7x14xf32>, tensor<7x14xf32>) -> tensor<7x14xf32>
    %95 = "stablehlo.abs"(%94) : (tensor<7x14xf32>) -> tensor<7x14xf32>
    %96 = "stablehlo.convert"(%75) : (tensor<f32>) -> tensor<f32>
    %97 = "stablehlo.broadcast_in_dim"(%96) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<7x14xf32>
    %98 = "stablehlo.divide"(%95, %97) : (tensor<7x14xf32>, tensor<7x14xf32>) -> tensor<7x14xf32>
    %99 = "stablehlo.abs"(%98) : (tensor<7x14xf32>) -> tensor<7x14xf32>
    %100 = "stablehlo.constant"() <{value = dense<1.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %101 = "stablehlo.broadcast_in_dim"(%100) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<7x14xf32>
    %102 = "stablehlo.subtract"(%101, %99) : (tensor<7x14xf32>, tensor<7x14xf32>) -> tensor<7x14xf32>
    %103 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %104 = "stablehlo.broadcast_in_dim"(%103) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<7x14xf32>
    %105 = "stablehlo.maximum"(%104, %102) : (tensor<7x14xf32>, tensor<7x14xf32>) -> tensor<7x14xf32>
    %106 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %107 = "stablehlo.reduce"(%105, %106) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg13: tensor<f32>, %arg14: tensor<f32>):
      %135 = "stablehlo.add"(%arg13, %arg14) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%135) : (tensor<f32>) -> ()
    }) : (tensor<7x14xf32>, tensor<f32>) -> tensor<14xf32>
    %108 = "stablehlo.broadcast_in_dim"(%107) <{broadcast_dimensions = array<i64: 1>}> : (tensor<14xf32>) -> tensor<1x14xf32>
    %109 = "stablehlo.abs"(%108) : (tensor<1x14xf32>) -> tensor<1x14xf32>
    %110 = "stablehlo.constant"() <{value = dense<1.1920929E-4> : tensor<f32>}> : () -> tensor<f32>
    %111 = "stablehlo.broadcast_in_dim"(%110) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x14xf32>
    %112 = "stablehlo.compare"(%109, %111) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GT>}> : (tensor<1x14xf32>, tensor<1x14xf32>) -> tensor<1x14xi1>
    %113 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %114 = "stablehlo.broadcast_in_dim"(%113) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x14xf32>
    %115 = "stablehlo.compare"(%108, %114) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<1x14xf32>, tensor<1x14xf32>) -> tensor<1x14xi1>
    %116 = "stablehlo.constant"() <{value = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %117 = "func.call"(%115, %108, %116) <{callee = @_where_1}> : (tensor<1x14xi1>, tensor<1x14xf32>, tensor<i32>) -> tensor<1x14xf32>
    %118 = "stablehlo.broadcast_in_dim"(%117) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x14xf32>) -> tensor<7x14xf32>
    %119 = "stablehlo.divide"(%105, %118) : (tensor<7x14xf32>, tensor<7x14xf32>) -> tensor<7x14xf32>
    %120 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %121 = "func.call"(%112, %119, %120) <{callee = @_where_2}> : (tensor<1x14xi1>, tensor<7x14xf32>, tensor<i32>) -> tensor<7x14xf32>
    %122 = "stablehlo.constant"() <{value = dense<-5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
    %123 = "stablehlo.broadcast_in_dim"(%122) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<14xf32>
    %124 = "stablehlo.compare"(%88, %123) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<14xf32>, tensor<14xf32>) -> tensor<14xi1>
    %125 = "stablehlo.constant"() <{value = dense<6.500000e+00> : tensor<f32>}> : () -> tensor<f32>
    %126 = "stablehlo.broadcast_in_dim"(%125) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<14xf32>
    %127 = "stablehlo.compare"(%88, %126) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction LE>}> : (tensor<14xf32>, tensor<14xf32>) -> tensor<14xi1>
    %128 = "stablehlo.and"(%124, %127) : (tensor<14xi1>, tensor<14xi1>) -> tensor<14xi1>
    %129 = "stablehlo.broadcast_in_dim"(%128) <{broadcast_dimensions = array<i64: 1>}> : (tensor<14xi1>) -> tensor<1x14xi1>
    %130 = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> tensor<i32>
    %131 = "func.call"(%129, %121, %130) <{callee = @_where_2}> : (tensor<1x14xi1>, tensor<7x14xf32>, tensor<i32>) -> tensor<7x14xf32>
    %132 = "stablehlo.dot_general"(%131, %arg12) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]}> : (tensor<7x14xf32>, tensor<1x6x7x4xf32>) -> tensor<14x1x6x4xf32>
    %133 = "stablehlo.dot_general"(%132, %72) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0]>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]}> : (tensor<14x1x6x4xf32>, tensor<6x12xf32>) -> tensor<14x1x4x12xf32>
    %134 = "stablehlo.transpose"(%133) <{permutation = array<i64: 1, 3, 0, 2>}> : (tensor<14x1x4x12xf32>) -> tensor<1x12x14x4xf32>
    "func.return"(%134) : (tensor<1x12x14x4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<1x12xi1>, tensor<1x12xf32>, tensor<i32>) -> tensor<1x12xf32>, res_attrs = [{}], sym_name = "_where", sym_visibility = "private"}> ({
  ^bb0(%arg9: tensor<1x12xi1>, %arg10: tensor<1x12xf32>, %arg11: tensor<i32>):
    %11 = "stablehlo.convert"(%arg11) : (tensor<i32>) -> tensor<f32>
    %12 = "stablehlo.broadcast_in_dim"(%11) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x12xf32>
    %13 = "stablehlo.select"(%arg9, %arg10, %12) : (tensor<1x12xi1>, tensor<1x12xf32>, tensor<1x12xf32>) -> tensor<1x12xf32>
    "func.return"(%13) : (tensor<1x12xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<1x12xi1>, tensor<6x12xf32>, tensor<i32>) -> tensor<6x12xf32>, res_attrs = [{}], sym_name = "_where_0", sym_visibility = "private"}> ({
  ^bb0(%arg6: tensor<1x12xi1>, %arg7: tensor<6x12xf32>, %arg8: tensor<i32>):
    %7 = "stablehlo.convert"(%arg8) : (tensor<i32>) -> tensor<f32>
    %8 = "stablehlo.broadcast_in_dim"(%arg6) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x12xi1>) -> tensor<6x12xi1>
    %9 = "stablehlo.broadcast_in_dim"(%7) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<6x12xf32>
    %10 = "stablehlo.select"(%8, %arg7, %9) : (tensor<6x12xi1>, tensor<6x12xf32>, tensor<6x12xf32>) -> tensor<6x12xf32>
    "func.return"(%10) : (tensor<6x12xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<1x14xi1>, tensor<1x14xf32>, tensor<i32>) -> tensor<1x14xf32>, res_attrs = [{}], sym_name = "_where_1", sym_visibility = "private"}> ({
  ^bb0(%arg3: tensor<1x14xi1>, %arg4: tensor<1x14xf32>, %arg5: tensor<i32>):
    %4 = "stablehlo.convert"(%arg5) : (tensor<i32>) -> tensor<f32>
    %5 = "stablehlo.broadcast_in_dim"(%4) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<1x14xf32>
    %6 = "stablehlo.select"(%arg3, %arg4, %5) : (tensor<1x14xi1>, tensor<1x14xf32>, tensor<1x14xf32>) -> tensor<1x14xf32>
    "func.return"(%6) : (tensor<1x14xf32>) -> ()
  }) : () -> ()
  "func.func"() <{arg_attrs = [{}, {}, {}], function_type = (tensor<1x14xi1>, tensor<7x14xf32>, tensor<i32>) -> tensor<7x14xf32>, res_attrs = [{}], sym_name = "_where_2", sym_visibility = "private"}> ({
  ^bb0(%arg0: tensor<1x14xi1>, %arg1: tensor<7x14xf32>, %arg2: tensor<i32>):
    %0 = "stablehlo.convert"(%arg2) : (tensor<i32>) -> tensor<f32>
    %1 = "stablehlo.broadcast_in_dim"(%arg0) <{broadcast_dimensions = array<i64: 0, 1>}> : (tensor<1x14xi1>) -> tensor<7x14xi1>
    %2 = "stablehlo.broadcast_in_dim"(%0) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<7x14xf32>
    %3 = "stablehlo.select"(%1, %arg1, %2) : (tensor<7x14xi1>, tensor<7x14xf32>, tensor<7x14xf32>) -> tensor<7x14xf32>
    "func.return"(%3) : (tensor<7x14xf32>) -> ()
  }) : () -> ()
}) {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} : () -> ()
