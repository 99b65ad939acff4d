// SPDX-License-Identifier: Apache-2.0
#include "library/error.h"

#include <cstdlib>
#include <utility>

namespace kirsch {
namespace {

// Options are called by what the interface calls them, not by the command line's words.
std::string MessageOf(const absl::Status& status) {
  std::string message(status.message());
  std::replace(message.begin(), message.end(), '\n', ' ');
  return message.starts_with("--") ? message.substr(2) : message;
}

kirsch_code ToCode(const absl::Status& status, Precondition precondition) {
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
  } catch (const std::bad_alloc&) {
    return OutOfMemory();
  }
}

kirsch_error* OutOfMemory() {
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
