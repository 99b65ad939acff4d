// SPDX-License-Identifier: Apache-2.0
#include "import/operation_names.h"

#include <algorithm>
#include <array>

#include "spec/text/nearest.h"

namespace kirsch {
namespace {

using enum ImportedKind;

constexpr auto kRows = std::to_array<ImportedOperation>({
    // StableHLO.
    {"stablehlo.add", kElementwise, "add($0, $1)"},
    {"stablehlo.subtract", kElementwise, "sub($0, $1)"},
    {"stablehlo.multiply", kElementwise, "mul($0, $1)"},
    {"stablehlo.divide", kElementwise, "div($0, $1)"},
    {"stablehlo.maximum", kElementwise, "max($0, $1)"},
    {"stablehlo.minimum", kElementwise, "min($0, $1)"},
    {"stablehlo.power", kElementwise, "pow($0, $1)"},
    {"stablehlo.negate", kElementwise, "neg($0)"},
    {"stablehlo.abs", kElementwise, "abs($0)"},
    {"stablehlo.sign", kElementwise, "sign($0)"},
    {"stablehlo.exponential", kElementwise, "exp($0)"},
    {"stablehlo.exponential_minus_one", kElementwise, "expm1($0)"},
    {"stablehlo.log", kElementwise, "log($0)"},
    {"stablehlo.log_plus_one", kElementwise, "log1p($0)"},
    {"stablehlo.sqrt", kElementwise, "sqrt($0)"},
    {"stablehlo.rsqrt", kElementwise, "rsqrt($0)"},
    {"stablehlo.tanh", kElementwise, "tanh($0)"},
    {"stablehlo.logistic", kElementwise, "sigmoid($0)"},
    {"stablehlo.sine", kElementwise, "sin($0)"},
    {"stablehlo.cosine", kElementwise, "cos($0)"},
    {"stablehlo.floor", kElementwise, "floor($0)"},
    {"stablehlo.ceil", kElementwise, "ceil($0)"},
    {"stablehlo.round_nearest_even", kElementwise, "round($0)"},
    {"stablehlo.select", kElementwise, "select($0, $1, $2)"},
    {"stablehlo.clamp", kElementwise, "min(max($1, $0), $2)"},
    // Of truth values, which are 1 and 0.
    {"stablehlo.and", kElementwise, "mul($0, $1)"},
    {"stablehlo.or", kElementwise, "max($0, $1)"},
    {"stablehlo.not", kElementwise, "sub(1, $0)"},
    {"stablehlo.compare", kCompare},
    {"stablehlo.convert", kConvert},
    {"stablehlo.constant", kConstant},
    {"stablehlo.iota", kIota},
    {"stablehlo.broadcast_in_dim", kBroadcast},
    {"stablehlo.transpose", kTranspose},
    {"stablehlo.reshape", kReshape},
    {"stablehlo.reduce", kReduce},
    {"stablehlo.dot_general", kDot},
    {"stablehlo.convolution", kConvolution},
    // CHLO, which is what JAX has beside it. erfc is no operation here, but a part of gelu (idioms.h).
    {"chlo.square", kElementwise, "mul($0, $0)"},
    {"chlo.erf", kElementwise, "erf($0)"},
    {"chlo.erfc", kElementwise, "erfc($0)"},
});

}  // namespace

const ImportedOperation* FindImported(std::string_view name) {
  const auto found =
      std::find_if(kRows.begin(), kRows.end(), [&](const auto& row) { return row.name == name; });
  return found == kRows.end() ? nullptr : &*found;
}

std::vector<std::string_view> ImportedNames() { return NamesOf(kRows); }

}  // namespace kirsch
