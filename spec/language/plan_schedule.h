// SPDX-License-Identifier: Apache-2.0
// Reads and prints schedules of graphs: the decisions of a plan. In memory they can be changed and followed;
// as text they can be kept, and changed by hand:
//
// clang-format off
//   threads 2                            how many the plan is for; 1 if the line is missing
//   ahead v2                             operations on constants that are computed once for all calls
//   group v3 v4 out                      operations that are computed together, by what they make
//     each                               each thread does it for itself; else they share it
//     matmul tile=64 keep=L2             a rewrite with its parameters (rewrites/graph/graph_rewrite.h); the
//                                        fastest level that values between stages may stay in;
//                                        in-place=no: results replace nothing
//     copy 0 2: pack rhs L2 packed16 f32 contractions 0 and 2 read a copy that is made once
//     leave 1                            contraction 1 reads its matrix as it lies
//     contraction 0                      a stage; below it the schedule of its spec (spec/language/schedule.h)
//       tile m 8
//     rows 1 lanes=16 unroll=4,2         a stage; how its row program is run
// clang-format on
//
// Lines may also be one, with semicolons between. Named schedules (spec/language/schedule.h) stand before the
// contractions that use them.
//
// A group is a fusion group; the former word, slice, is read, too. Groups come in the order in which they are
// computed. Values are v with their place in the canonical graph (rewrites/graph/canonical_graph.h), which a
// schedule has as a comment at its head; the result is out.
//
// Lines may be left out: whatever has no line is searched. That goes for operations behind the last group,
// and within a group for its rewrite, its copies and its stages.
#ifndef KIRSCH_SPEC_LANGUAGE_PLAN_SCHEDULE_H_
#define KIRSCH_SPEC_LANGUAGE_PLAN_SCHEDULE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "spec/graph/row_schedule.h"
#include "spec/language/schedule.h"
#include "spec/level.h"
#include "spec/program/group_decision.h"
#include "spec/program/plan.h"
#include "spec/text/text.h"

namespace kirsch {

// Positions are those of a text, for errors. A schedule that was never text has the first position
// everywhere.

// The decisions for a contraction. Its words for dims and operands depend on its op, which is known when the
// plan is followed. Until then, a schedule that was text stays text: the lines for ParseSchedule, at their
// place in the whole text, and the named schedules before them.
struct ContractionText {
  std::string names, decisions = {};
};
using ContractionSchedule = std::variant<Schedule, ContractionText>;
// The decisions, parsed if they are still text. `source` is what errors call the text.
absl::StatusOr<Schedule> ReadSchedule(const ContractionSchedule& schedule, std::string_view source,
                                      OpKind op);

// The decisions for one stage. Whether they suit the stage is not looked at until the plan is followed.
struct StageSchedule {
  TextPosition position;
  int stage = 0;
  bool rows = false;
  RowSchedule row_schedule = {};         // of rows
  ContractionSchedule contraction = {};  // else
};

// A matrix that several contractions read: by a copy that is made once, or as it lies.
struct CopySchedule {
  TextPosition position;
  std::vector<int> readers = {};                     // stages
  std::optional<ContractionSchedule> decision = {};  // nothing: they read the matrix as it lies
};

// A value that an operation makes: a node of the canonical graph. "out" stands for its result whatever its
// number; of several results for the first one.
struct ScheduledValue {
  static constexpr int kResult = -1;  // of the graph

  int node = kResult;
  TextPosition position = {};

  int In(const Graph& graph) const { return node == kResult ? graph.results.front().value : node; }
};

// The decisions for a fusion group. Members that are empty are searched.
struct GroupSchedule {
  TextPosition position;
  std::vector<ScheduledValue> operations = {};
  bool each = false;
  Word rewrite = {};  // empty: searched. Names are the rewrite's, or into the text that was read
  std::vector<std::pair<Word, int64_t>> parameters = {};
  std::optional<Level> keep = {};
  std::optional<bool> in_place = {};
  std::vector<CopySchedule> copies = {};
  std::vector<StageSchedule> stages = {};

  // Sets the rewrite and its parameters, whose names live as long as the rewrite.
  void SetRewrite(const AppliedRewrite& applied);
};

// The decisions for a whole graph. What comes after the last group is searched.
struct PlanSchedule {
  std::string source;  // what errors call the text
  int threads = 1;
  std::vector<ScheduledValue> folded = {};  // what is computed of constants ahead of all calls
  std::vector<GroupSchedule> groups = {};
};

// "v3", or "out".
std::string PrintValue(const ScheduledValue& value);
// The same of a node of a graph: a parameter has its own name.
std::string NameOfValue(const Graph& graph, int node);
// "v3 out".
std::string NamesOfValues(const Graph& graph, const std::vector<int>& nodes);

// All decisions of a plan, as its text has them. That results replace nothing is pinned; that they do is not,
// as it means only that they may.
PlanSchedule MakeSchedule(const Plan& plan);

// Prints a plan's schedule. Comments say what its graph is, and the cycles and the spec of each group and
// stage, so that a person sees what to change.
std::string PrintPlanSchedule(const Plan& plan);

// Reads what PrintPlanSchedule or a person wrote. Any text is safe to pass; it must outlive the result, which
// has words of it. InvalidArgument, one line: "<source>:<line>:<column>: expected <what>, got <text>".
absl::StatusOr<PlanSchedule> ParsePlanSchedule(std::string_view text, std::string_view source);

// "matmul tile=64".
std::string PrintRewrite(const AppliedRewrite& rewrite);

// "matmul tile=64 keep=L2".
std::string PrintCandidate(const GroupCandidate& candidate);

// "lanes=16 unroll=4,2".
std::string PrintRowSchedule(const RowSchedule& schedule);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_PLAN_SCHEDULE_H_
