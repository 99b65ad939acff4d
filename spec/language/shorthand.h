// SPDX-License-Identifier: Apache-2.0
// Lists the words of the shorthand that its parser and its printer share. The grammar is in docs/spec.md.
// Names of ops, of types and of operands are in the tables of spec/op.h and spec/dtype.h.
#ifndef KIRSCH_SPEC_LANGUAGE_SHORTHAND_H_
#define KIRSCH_SPEC_LANGUAGE_SHORTHAND_H_

#include <array>
#include <string_view>

#include "spec/layout.h"

namespace kirsch {

inline constexpr std::array<std::string_view, 3> kLdWords = {"lda", "ldb", "ldc"};  // per operand of matmul
inline constexpr std::string_view kAccumulateWord = "accumulate";
inline constexpr std::string_view kConstantPrefix = "const-";  // then an input's name
inline constexpr std::string_view kFixedOrderWord = "fixed-order";
inline constexpr std::string_view kLhsAsWord = "lhs-as";
inline constexpr std::string_view kLhsAsOption = "lhs_as";  // the same in the kernel language
inline constexpr std::string_view kBlocksWord = "column-blocks";
inline constexpr std::string_view kEpilogueWord = "epilogue";

inline constexpr std::string_view kConstantFiltersWord = "const-filters";

inline constexpr std::string_view kConstantWord = "const";  // before a parameter's type

inline constexpr std::string_view kGroupSign = "x";  // packed32x2: groups of two
inline constexpr std::string_view kColSuffix = "-col";

constexpr std::string_view OrderWord(Order order) { return order == Order::kRow ? "row" : "col"; }

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_SHORTHAND_H_
