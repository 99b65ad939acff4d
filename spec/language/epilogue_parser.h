// SPDX-License-Identifier: Apache-2.0
// Reads epilogues: "f32,mul:n,add:3,relu". The grammar is in docs/spec.md.
#ifndef KIRSCH_SPEC_LANGUAGE_EPILOGUE_PARSER_H_
#define KIRSCH_SPEC_LANGUAGE_EPILOGUE_PARSER_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "spec/epilogue.h"
#include "spec/text/text.h"

namespace kirsch {

// Reads the steps in `word`. `sum` is the type of the sums, from which the type at each step follows: numbers
// are parsed as that type. Errors are as of ParseSpec, for the text that `source` names.
absl::StatusOr<Epilogue> ParseEpilogue(std::string_view source, const Word& word, Dtype sum);

// Lists the steps there are, for help and for messages: "f32 relu add:X ..., where X is ...".
std::string StepsText();

// True if a value of type `from`, at the end of an epilogue, may be stored in an output of type `out`. Sums
// of f64 and of f16 are stored as they are; others may be narrowed.
bool MayStore(Dtype from, Dtype out);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_EPILOGUE_PARSER_H_
