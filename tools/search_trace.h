// SPDX-License-Identifier: Apache-2.0
// --trace FILE: what a search did, a JSON object on each line.
#ifndef KIRSCH_TOOLS_SEARCH_TRACE_H_
#define KIRSCH_TOOLS_SEARCH_TRACE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "search/solver/trace.h"

namespace kirsch {

// Keeps the first kMostTracedEvents events of all searches of a command.
class SearchTraceFile {
 public:
  // Not to be copied while it is in use.
  SearchTrace Recorder() {
    return [this](const SearchEvent& event) { Add(event); };
  }
  // All lines; the last one says how many events there were, and how many of these the file has.
  absl::Status Write(const std::string& path) const;

 private:
  void Add(const SearchEvent& event);

  std::string lines_;
  int64_t events_ = 0;
};

inline constexpr int64_t kMostTracedEvents = 200'000;

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_SEARCH_TRACE_H_
