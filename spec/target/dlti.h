// SPDX-License-Identifier: Apache-2.0
// Reads and writes targets as attributes of MLIR's dialect DLTI (data layout and target information).
// Compilers that live in MLIR describe a CPU in these words. docs/targets.md has the keys.
//
//   #dlti.target_system_spec<"CPU" : #dlti.target_device_spec<
//     #dlti.dl_entry<"L2_cache_size_in_bytes", 2097152 : i64>, ...>>
#ifndef KIRSCH_SPEC_TARGET_DLTI_H_
#define KIRSCH_SPEC_TARGET_DLTI_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "spec/target.h"
#include "spec/target/target_json.h"

namespace kirsch {

// True of a path that ends in .mlir.
bool IsDltiFile(std::string_view path);

// Reads the first target_system_spec, or else the first target_device_spec, of a text that may be a whole
// module. Of several devices the one called CPU counts. Both spellings of entries are read. What an entry
// does not say is as in `base`, the JSON of a known target: that of wide vectors if max_vector_width is 512,
// else the default. Warnings, one line each, name the keys that are missing, and those that mean nothing.
// InvalidArgument with the place in the text, if it has no such attribute, or if a value is none.
absl::StatusOr<TargetFile> ParseDlti(std::string_view text, std::string_view file);

// Returns the attribute with every key, those that only Kirsch has as "kirsch/ghz". ParseDlti gives an equal
// target back.
std::string PrintDlti(const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_TARGET_DLTI_H_
