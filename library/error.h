// SPDX-License-Identifier: Apache-2.0
// Turns statuses and exceptions into the errors of kirsch.h. Nothing is thrown across the interface, as its
// callers may be written in C. Internal to library/.
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

// The error behind the interface's pointer. kirsch_error_free deletes it, unless it is OutOfMemory().
struct kirsch_error {
  kirsch_code code;
  std::string message;
};

namespace kirsch {

// Says what FailedPrecondition means where it comes up: a table that is none of ours, or a CPU that is too
// old.
enum class Precondition { kTable, kCpu };

// Returns a new error for the status, which the caller owns; null if the status is OK.
kirsch_error* ErrorOf(const absl::Status& status, Precondition precondition = Precondition::kTable);
// Returns the error for too little memory. There always is one, whatever memory is left; it is not freed.
kirsch_error* OutOfMemory();

// Calls `function`, which returns a Status. Nothing is thrown to a caller that may be C: an exception of ours
// is a fault, KIRSCH_INTERNAL.
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

// Returns the options that a caller gave. A caller that was compiled with an older header knows fewer of
// them: those are zero. Null: all of them are. InvalidArgument if struct_size can't be right.
//
//   sizeof is 48 here, 40 in the caller's header:  40 bytes are copied, the last member is 0
template <typename Options>
absl::StatusOr<Options> OptionsOf(const Options* given) {
  Options options = {};
  if (given == nullptr) return options;
  if (given->struct_size < sizeof(size_t))
    return absl::InvalidArgumentError("struct_size: expected the size of the struct");
  std::memcpy(&options, given, std::min(given->struct_size, sizeof(Options)));
  return options;
}

// Returns a copy that kirsch_free_text frees. Throws std::bad_alloc.
char* NewText(const std::string& text);

}  // namespace kirsch

#endif  // KIRSCH_LIBRARY_ERROR_H_
