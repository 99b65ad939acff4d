// SPDX-License-Identifier: Apache-2.0
// The text of spec/target/targets/*.json; CMake generates the definition.
#ifndef KIRSCH_SPEC_TARGET_TARGET_FILES_H_
#define KIRSCH_SPEC_TARGET_TARGET_FILES_H_

#include <string_view>

#include "absl/types/span.h"

namespace kirsch {

struct EmbeddedFile {
  std::string_view name;  // without ".json"
  std::string_view text;
};

absl::Span<const EmbeddedFile> TargetFiles();

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TARGET_TARGET_FILES_H_
