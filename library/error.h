// SPDX-License-Identifier: Apache-2.0
// Statuses and exceptions as the errors of kirsch.h. Internal to library/.
#ifndef KIRSCH_LIBRARY_ERROR_H_
#define KIRSCH_LIBRARY_ERROR_H_

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <new>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "library/kirsch.h"

struct kirsch_error {
  kirsch_code code;
  std::string message;
};

namespace kirsch {

// What FailedPrecondition means where it comes up: a table that is none of ours, or a CPU that is too old.
enum class Precondition { kTable, kCpu };

// Null if it is OK.
kirsch_error* ErrorOf(const absl::Status& status, Precondition precondition = Precondition::kTable);
// There always is one, whatever memory is left; it is not freed.
kirsch_error* OutOfMemory();

// Calls `function`, which returns a Status. Nothing is thrown to a caller that may be C.
template <typename Function>
kirsch_error* Guarded(const Function& function, Precondition precondition = Precondition::kTable) {
  try {
    return ErrorOf(function(), precondition);
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  } catch (const std::exception& error) {
    return ErrorOf(absl::InternalError(error.what()));
  }
}

// The options that a caller gave, who may know fewer of them: those are as if zero. Null: all of them are.
template <typename Options>
absl::StatusOr<Options> OptionsOf(const Options* given) {
  Options options = {};
  if (given == nullptr) return options;
  if (given->struct_size < sizeof(size_t))
    return absl::InvalidArgumentError("struct_size: expected the size of the struct");
  std::memcpy(&options, given, std::min(given->struct_size, sizeof(Options)));
  return options;
}

// A copy that kirsch_free_text frees.
char* NewText(const std::string& text);

}  // namespace kirsch

#endif  // KIRSCH_LIBRARY_ERROR_H_
