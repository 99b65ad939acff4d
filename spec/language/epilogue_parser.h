// SPDX-License-Identifier: Apache-2.0
// Text to epilogues: "f32,mul:n,add:3,relu". The grammar is in docs/spec.md.
#ifndef KIRSCH_SPEC_LANGUAGE_EPILOGUE_PARSER_H_
#define KIRSCH_SPEC_LANGUAGE_EPILOGUE_PARSER_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "spec/epilogue.h"
#include "spec/text/text.h"

namespace kirsch {

// `sum`: the type of the sums. Errors are as of ParseSpec, for the text that `source` names.
absl::StatusOr<Epilogue> ParseEpilogue(std::string_view source, const Word& word, Dtype sum);

// The steps there are: "f32 relu add:X ..., where X is ...".
std::string StepsText();

// True if a value of type `from`, f32 or s32, may be stored in an output of type `out`.
bool MayStore(Dtype from, Dtype out);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_EPILOGUE_PARSER_H_
