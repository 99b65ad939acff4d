// SPDX-License-Identifier: Apache-2.0
// Passes errors on to the caller. Nearly every function that reads input does so after each call; written
// out, it is half of the function.
#ifndef KIRSCH_SPEC_TEXT_STATUS_MACROS_H_
#define KIRSCH_SPEC_TEXT_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"

// Returns the absl::Status from the function at hand if it is an error.
#define KIRSCH_RETURN_IF_ERROR(...)                                                   \
  do {                                                                                \
    if (absl::Status passed_on_ = (__VA_ARGS__); !passed_on_.ok()) return passed_on_; \
  } while (false)

// Takes the value out of an absl::StatusOr, or returns its error from the function at hand:
//   KIRSCH_ASSIGN_OR_RETURN(const Graph graph, ParseGraph(text, source));
#define KIRSCH_ASSIGN_OR_RETURN(declaration, ...) \
  KIRSCH_ASSIGN_OR_RETURN_BY_(KIRSCH_JOIN_(passed_on_, __LINE__), declaration, __VA_ARGS__)
#define KIRSCH_ASSIGN_OR_RETURN_BY_(result, declaration, ...) \
  auto result = (__VA_ARGS__);                                \
  if (!result.ok()) return std::move(result).status();        \
  declaration = *std::move(result)

// The line's number is expanded on the way from one to the other, as it is not where it is joined.
#define KIRSCH_JOIN_(a, b) KIRSCH_JOINED_(a, b)
#define KIRSCH_JOINED_(a, b) a##b

#endif  // KIRSCH_SPEC_TEXT_STATUS_MACROS_H_
