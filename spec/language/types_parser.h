// SPDX-License-Identifier: Apache-2.0
// Text to the element types of an operation. The grammar is in docs/spec.md.
#ifndef KIRSCH_SPEC_LANGUAGE_TYPES_PARSER_H_
#define KIRSCH_SPEC_LANGUAGE_TYPES_PARSER_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "spec/epilogue.h"
#include "spec/lhs_as.h"
#include "spec/matmul_types.h"
#include "spec/text/text.h"

namespace kirsch {

// T, for T*T->T, or LHS*RHS->OUT, or LHS*RHS+SUMS->OUT. Errors, here and below, are as of ParseSpec, for the
// text that `source` names.
absl::StatusOr<MatmulTypes> ParseTypes(std::string_view source, const Word& word);

// The types that go together: "f32 bf16*bf16->f32 ...".
std::string MatmulTypesText();

// Do the types go together? With an epilogue, the inputs must for some output.
absl::Status CheckTypes(std::string_view source, const Word& word, const MatmulTypes& types,
                        const Epilogue& epilogue);

// What lhs may be rounded to. Whether operands' types allow that: WantedBesideRounding.
absl::StatusOr<LhsAs> ParseLhsAs(std::string_view source, const Word& word);

// May sums be added to the output? They are of the sums' type, which has to hold whatever the output may be.
absl::Status CheckAccumulation(std::string_view source, const Word& word, const MatmulTypes& types);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_TYPES_PARSER_H_
