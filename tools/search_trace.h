// SPDX-License-Identifier: Apache-2.0
// Writes what a search did to the file of --trace, a JSON object on each line. It is for those who want to
// know why the search did not choose a program.
//   {"event":"pruned","spec":"matmul f32 8x8x8 ...","decision":"tile m 1","bound_cycles":191.96875}
#ifndef KIRSCH_TOOLS_SEARCH_TRACE_H_
#define KIRSCH_TOOLS_SEARCH_TRACE_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "search/solver/trace.h"

namespace kirsch {

// Keeps the first kMostTracedEvents events of all searches of a command, in memory until Write.
class SearchTraceFile {
 public:
  // What searches call with each event. It points to this object, which must stay in place as long as it is
  // used.
  SearchTrace Recorder() {
    return [this](const SearchEvent& event) { Add(event); };
  }
  // Writes all lines. The last one says how many events there were, and how many of them the file has.
  absl::Status Write(const std::string& path) const;

 private:
  void Add(const SearchEvent& event);

  std::string lines_;
  int64_t events_ = 0;
};

// Events of all searches that are kept; later ones are only counted.
inline constexpr int64_t kMostTracedEvents = 200'000;

}  // namespace kirsch

#endif  // KIRSCH_TOOLS_SEARCH_TRACE_H_
