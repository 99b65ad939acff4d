// SPDX-License-Identifier: Apache-2.0
#include "spec/language/types_parser.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "spec/language/epilogue_parser.h"
#include "spec/language/printer.h"
#include "spec/text/cat.h"
#include "spec/text/nearest.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// The row of `table` that `word` names.
template <typename Table>
auto FindRow(std::string_view source, const Word& word, std::string_view what, const Table& table)
    -> absl::StatusOr<typename Table::value_type> {
  for (const auto& row : table)
    if (row.name == word.text) return row;
  const std::string names = Join(table, "|", [](const auto& row) { return row.name; });
  return ExpectedAt(source, word, Cat(what, " (", names, ")"), DidYouMean(word.text, NamesOf(table)));
}

// A type that callers may have; our own (o8, p8) are unknown words.
absl::StatusOr<Dtype> ParseDtype(std::string_view source, const Word& word) {
  std::vector<DtypeInfo> known;
  for (const DtypeInfo& info : kDtypes)
    if (IsOfCallers(info.dtype)) known.push_back(info);
  KIRSCH_ASSIGN_OR_RETURN(DtypeInfo info, FindRow(source, word, "an element type", known));
  return info.dtype;
}

// Types with the sums that `word` names. A matmul whose sums are of another type than usual has element types
// of its own (f16 with sums of f16 is h16), so that everything else can ask the types alone.
absl::StatusOr<MatmulTypes> WithSums(std::string_view source, const Word& word, const MatmulTypes& types) {
  KIRSCH_ASSIGN_OR_RETURN(const Dtype sums, ParseDtype(source, word));
  const std::optional<Dtype> lhs = SummedIn(types.lhs, sums), rhs = SummedIn(types.rhs, sums);
  if (!lhs || !rhs)
    return ExpectedAt(source, word,
                      Cat("a type that products of ", Info(types.lhs).name, " and ", Info(types.rhs).name,
                          " are summed in"));
  return MatmulTypes{*lhs, *rhs, SummedIn(types.out, sums).value_or(types.out)};
}

}  // namespace

absl::StatusOr<MatmulTypes> ParseTypes(std::string_view source, const Word& word) {
  const size_t times = word.text.find('*'), arrow = word.text.find("->");
  const bool single = times == std::string_view::npos && arrow == std::string_view::npos;
  if (!single && (times == std::string_view::npos || arrow == std::string_view::npos || arrow < times))
    return ExpectedAt(source, word, "element types as T, LHS*RHS->OUT or LHS*RHS+SUMS->OUT");
  // Without "+SUMS", the right factor ends at the arrow.
  const size_t plus = std::min(word.text.find('+'), arrow);
  absl::StatusOr<Dtype> lhs = ParseDtype(source, single ? word : word.Part(0, times));
  absl::StatusOr<Dtype> rhs = single ? lhs : ParseDtype(source, word.Part(times + 1, plus - times - 1));
  absl::StatusOr<Dtype> out = single ? lhs : ParseDtype(source, word.Part(arrow + 2));
  for (const absl::StatusOr<Dtype>* type : {&lhs, &rhs, &out})
    if (!type->ok()) return type->status();
  const MatmulTypes types = {*lhs, *rhs, *out};
  return plus == arrow ? types : WithSums(source, word.Part(plus + 1, arrow - plus - 1), types);
}

std::string MatmulTypesText() {
  const std::string known = Join(kMatmulTypes, " ", [](const MatmulTypes& row) { return PrintTypes(row); });
  // Types of blocks go together with the same others, so they are one entry.
  std::string blocks;
  for (const DtypeInfo& info : kDtypes)
    if (IsOfBlocks(info.dtype) && IsOfCallers(info.dtype))
      Append(&blocks, blocks.empty() ? "" : "|", info.name);
  return Cat(known, " f32|bf16*", blocks, "->f32");
}

absl::Status CheckTypes(std::string_view source, const Word& word, const MatmulTypes& types,
                        const Epilogue& epilogue) {
  // Behind an epilogue, a row counts for its inputs alone.
  const auto accepts = [&](const MatmulTypes& row) {
    return IsSupported({types.lhs, types.rhs, epilogue.empty() ? types.out : row.out});
  };
  if (std::ranges::none_of(kMatmulTypes, accepts))
    return ExpectedAt(source, word, Cat("types that go together (", MatmulTypesText(), ")"));
  if (epilogue.empty() || MayStore(TypeAfter(epilogue, AccumulatorOf(types.lhs)), types.out))
    return absl::OkStatus();
  // The inputs are fine. The message says what may be stored at this end.
  const Dtype end = TypeAfter(epilogue, AccumulatorOf(types.lhs));
  if (Info(end).own_sums)
    return ExpectedAt(source, word,
                      Cat("an output of ", Info(CallersType(end)).name, " after an epilogue that ends in ",
                          Info(CallersType(end)).name));
  return ExpectedAt(source, word,
                    end == Dtype::kF32
                        ? "an output of f32, bf16, u8, s8 or s16 after an epilogue that ends in f32"
                        : "an output of s32, u8, s8 or s16 after an epilogue that ends in s32");
}

absl::StatusOr<LhsAs> ParseLhsAs(std::string_view source, const Word& word) {
  for (LhsAs as : kRoundings)
    if (word.text == NameOf(as)) return as;
  return ExpectedAt(source, word,
                    Cat(NameOf(kRoundings[0]), ", ", NameOf(kRoundings[1]), " or ", NameOf(kRoundings[2])));
}

absl::Status CheckAccumulation(std::string_view source, const Word& word, const MatmulTypes& types) {
  if (Holds(AccumulatorOf(types.lhs), types.out)) return absl::OkStatus();
  return ExpectedAt(source, word,
                    IsFloating(types.lhs) ? "an output of floats, which sums of f32 can be added to"
                                          : "an output of integers, which sums of s32 can be added to");
}

}  // namespace kirsch
