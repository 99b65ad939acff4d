// SPDX-License-Identifier: Apache-2.0
#include "library/error.h"

#include <cstdlib>

namespace kirsch {
namespace {

// Returns the message as one line. Options are called as the interface calls them, without the dashes of the
// command line: "--threads: expected ..." becomes "threads: expected ...".
std::string MessageOf(const absl::Status& status) {
  std::string message(status.message());
  std::ranges::replace(message, '\n', ' ');
  return message.starts_with("--") ? message.substr(2) : message;
}

// Maps statuses to the few codes that callers can act on. A code that no function is meant to return is a
// fault.
kirsch_code ToCode(const absl::Status& status, Precondition precondition) {
  // What is wrong with the caller's input; with files and permissions; with the table; with the CPU or the
  // table; with memory. All else is a fault of ours.
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
      return KIRSCH_BAD_INPUT;
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnavailable:
      return KIRSCH_UNAVAILABLE;
    case absl::StatusCode::kDataLoss:
    case absl::StatusCode::kAlreadyExists:
      return KIRSCH_BAD_TABLE;
    case absl::StatusCode::kFailedPrecondition:
      return precondition == Precondition::kCpu ? KIRSCH_BAD_CPU : KIRSCH_BAD_TABLE;
    case absl::StatusCode::kResourceExhausted:
      return KIRSCH_OUT_OF_MEMORY;
    default:
      return KIRSCH_INTERNAL;
  }
}

}  // namespace

kirsch_error* ErrorOf(const absl::Status& status, Precondition precondition) {
  if (status.ok()) return nullptr;
  try {
    return new kirsch_error{ToCode(status, precondition), MessageOf(status)};
    // There is no memory for the error either.
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  }
}

kirsch_error* OutOfMemory() {
  // Made once, when it is first asked for.
  static kirsch_error error{KIRSCH_OUT_OF_MEMORY, "out of memory"};
  return &error;
}

char* NewText(const std::string& text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace kirsch
