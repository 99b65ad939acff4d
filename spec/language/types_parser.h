// SPDX-License-Identifier: Apache-2.0
// Reads the element types of an operation. The grammar is in docs/spec.md.
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

// Reads T, which stands for T*T->T, or LHS*RHS->OUT, or LHS*RHS+SUMS->OUT. Whether the types go together is
// not looked at. Errors, here and below, are as of ParseSpec, for the text that `source` names.
absl::StatusOr<MatmulTypes> ParseTypes(std::string_view source, const Word& word);

// Lists the types that go together, for help and messages: "f32 bf16*bf16->f32 ...".
std::string MatmulTypesText();

// An error unless there is such a matmul. With an epilogue, the inputs have to go together for some output,
// and the epilogue has to end in a type that may be stored in `types.out`.
absl::Status CheckTypes(std::string_view source, const Word& word, const MatmulTypes& types,
                        const Epilogue& epilogue);

// Reads what lhs may be rounded to. Whether operands' types allow that is WantedBesideRounding's to say.
absl::StatusOr<LhsAs> ParseLhsAs(std::string_view source, const Word& word);

// An error unless sums may be added to the output. They are of the sums' type, which has to hold whatever the
// output may be.
absl::Status CheckAccumulation(std::string_view source, const Word& word, const MatmulTypes& types);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_TYPES_PARSER_H_
