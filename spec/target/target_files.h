// SPDX-License-Identifier: Apache-2.0
// Gives the text of every file in spec/target/targets/, which is a part of the program: it must know its
// targets wherever it is installed. CMake generates the definition from target_files.cc.in.
#ifndef KIRSCH_SPEC_TARGET_TARGET_FILES_H_
#define KIRSCH_SPEC_TARGET_TARGET_FILES_H_

#include <string_view>

#include "absl/types/span.h"

namespace kirsch {

struct EmbeddedFile {
  std::string_view name;  // without ".json"
  std::string_view text;
};

// By their names, ascending.
absl::Span<const EmbeddedFile> TargetFiles();

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TARGET_TARGET_FILES_H_
