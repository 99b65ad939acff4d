// SPDX-License-Identifier: Apache-2.0
// Schedules of graphs: the decisions of a plan, to be changed and followed; and as text, to be kept and
// changed by hand:
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
//     leave 1: rhs                       contraction 1 reads its rhs as it lies
//     contraction 0                      a stage; below it the schedule of its spec (spec/language/schedule.h)
//       tile m 8
//     rows 1 lanes=16 unroll=4,2         a stage; how its row program is run
// clang-format on
//
// A group is a fusion group; the former word, slice, is read, too. Groups come in the order in which they are
// computed. Values are v with their place in the canonical graph (rewrites/graph/canonical_graph.h), which a
// schedule has as a comment at its head; the result is out.
// Whatever is left out is searched: operations behind the last group, and in a group what has no line.
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

// Positions are those of a text, for errors; what was never text has the first.

// Decisions for a contraction. Words for dims and operands depend on its op, which is known when the plan is
// followed. So what was text stays the lines for ParseSchedule until then, at their place in the whole text.
using ContractionSchedule = std::variant<Schedule, std::string>;
absl::StatusOr<Schedule> ReadSchedule(const ContractionSchedule& schedule, std::string_view source,
                                      OpKind op);

// Of one stage. Whether it suits the stage is not looked at.
struct StageSchedule {
  TextPosition position;
  int stage = 0;
  bool rows = false;
  RowSchedule row_schedule = {};         // of rows
  ContractionSchedule contraction = {};  // else
};

struct CopySchedule {
  TextPosition position;
  std::vector<int> readers = {};                     // stages
  std::optional<ContractionSchedule> decision = {};  // nothing: they read the matrix as it lies
};

// What an operation makes: a node of the canonical graph.
struct ScheduledValue {
  static constexpr int kResult = -1;  // of the graph

  int node = kResult;
  TextPosition position = {};

  int In(const Graph& graph) const { return node == kResult ? graph.result : node; }
};

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

  // Names the rewrite and its parameters.
  void SetRewrite(const AppliedRewrite& applied);
};

struct PlanSchedule {
  std::string source;  // what errors call the text
  int threads = 1;
  std::vector<ScheduledValue> folded = {};  // what is computed of constants ahead of all calls
  std::vector<GroupSchedule> groups = {};
};

// "v3", or "out".
std::string PrintValue(const ScheduledValue& value);
std::string NameOfValue(const Graph& graph, int node);
// "v3 out".
std::string NamesOfValues(const Graph& graph, const std::vector<int>& nodes);

// All decisions of a plan, as its text has them: that results replace nothing is pinned, that they do is not.
PlanSchedule MakeSchedule(const Plan& plan);

// The text of a plan's schedule, with what its graph is, and the cycles and the spec of each group and stage,
// as comments.
std::string PrintPlanSchedule(const Plan& plan);

// Reads what PrintPlanSchedule or a person wrote. Any text is safe to pass, and outlives the result.
// InvalidArgument, one line:
// "<source>:<line>:<column>: expected <what>, got <text>".
absl::StatusOr<PlanSchedule> ParsePlanSchedule(std::string_view text, std::string_view source);

// "matmul tile=64".
std::string PrintRewrite(const AppliedRewrite& rewrite);

// "matmul tile=64 keep=L2".
std::string PrintCandidate(const GroupCandidate& candidate);

// "lanes=16 unroll=4,2".
std::string PrintRowSchedule(const RowSchedule& schedule);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_LANGUAGE_PLAN_SCHEDULE_H_
