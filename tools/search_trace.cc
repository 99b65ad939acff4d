// SPDX-License-Identifier: Apache-2.0
#include "tools/search_trace.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "spec/language/printer.h"
#include "spec/language/schedule.h"
#include "spec/text/cat.h"
#include "tools/output.h"

namespace kirsch {
namespace {

// What the trace calls an event, and what its cost means there:
//   asked    budget_cycles   the spec is searched for a program that costs less
//   pruned   bound_cycles    it, or the decision, costs at least so much, which is too much
//   won      cycles          the decision is the spec's best; so much its program costs
struct EventWords {
  const char *event, *cost;
};
EventWords WordsOf(SearchEventKind kind) {
  switch (kind) {
    case SearchEventKind::kAsked:
      return {"asked", "budget_cycles"};
    case SearchEventKind::kPruned:
      return {"pruned", "bound_cycles"};
    case SearchEventKind::kWon:
      return {"won", "cycles"};
  }
  return {};
}

}  // namespace

// Lines are made at once, as the event's spec and decision are the search's own.
void SearchTraceFile::Add(const SearchEvent& event) {
  // Beyond the limit events are only counted.
  if (++events_ > kMostTracedEvents) return;
  const EventWords words = WordsOf(event.kind);
  nlohmann::ordered_json json = {{"event", words.event}, {"spec", PrintSpec(event.spec)}};
  // A spec that fills RAM has no limit of lines.
  if (event.available != kUnlimited) json["lines_left"] = event.available;
  if (event.decision != nullptr) json["decision"] = PrintDecision(event.spec.op, *event.decision);
  // An infinite cost is null: there was no budget.
  json[words.cost] = nullptr;
  if (event.cost < kInfiniteCost) json[words.cost] = ToCycles(event.cost);
  Append(&lines_, json.dump(), "\n");
}

absl::Status SearchTraceFile::Write(const std::string& path) const {
  const nlohmann::ordered_json end = {
      {"event", "end"}, {"events", events_}, {"written", std::min(events_, kMostTracedEvents)}};
  return WriteOutput(path, Cat(lines_, end.dump(), "\n"));
}

}  // namespace kirsch
