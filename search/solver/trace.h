// SPDX-License-Identifier: Apache-2.0
// Reports what a search does, event by event, to those who want to follow it (`--trace`). Only the calling
// thread's work is reported, and not the quick first program.
#ifndef KIRSCH_SEARCH_SOLVER_TRACE_H_
#define KIRSCH_SEARCH_SOLVER_TRACE_H_

#include <cstdint>
#include <functional>

#include "cost/cost.h"
#include "memo/memo.h"
#include "spec/decision.h"
#include "spec/spec.h"

namespace kirsch {

enum class SearchEventKind : uint8_t {
  kAsked,   // the spec is searched for a program that costs less than `cost`
  kPruned,  // it, or the decision if there is one, costs at least `cost`, which is too much
  kWon,     // the decision is the spec's best, and its program costs `cost`
};

// One event. Its references are valid during the call only.
struct SearchEvent {
  SearchEventKind kind;
  const Spec& spec;
  Lines available;  // at the level that the spec fills
  Cost cost;
  const Decision* decision = nullptr;  // null: the event is about the spec as a whole
};

// Called by the thread that searches.
using SearchTrace = std::function<void(const SearchEvent&)>;

}  // namespace kirsch

#endif  // KIRSCH_SEARCH_SOLVER_TRACE_H_
