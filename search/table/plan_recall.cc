// SPDX-License-Identifier: Apache-2.0
#include "search/table/plan_recall.h"

#include <optional>
#include <vector>

#include "rewrites/graph/canonical_graph.h"
#include "spec/element.h"
#include "spec/language/along_axis_options.h"
#include "spec/language/convolution_options.h"
#include "spec/language/shorthand.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// One operation on one line: its name, inputs and type, and those attributes that are not at their defaults.
std::string Describe(const GraphNode& node) {
  std::string text = Cat(Info(node.op).name, "(", Join(node.inputs, ","), ")", PrintTensorType(node.type));
  if (!node.axes.empty()) Append(&text, " axes=", Join(node.axes, ","));
  AlongAxis along = node.along;
  for (const AlongAxisOption& option : AlongAxisOptionsOf(node.op))
    Append(&text, " ", option.name, "=", option.of(along));
  const bool own = node.op == Operation::kNumber || node.type.dtype == Dtype::kF64 ||
                   AccumulatorOf(node.type.dtype) == Dtype::kS32;
  const Dtype type = own ? node.type.dtype : Dtype::kF32;
  if (node.number != 0) Append(&text, " number=", WordOf(type, node.number));
  if (node.lhs_as != LhsAs::kItself) Append(&text, " ", kLhsAsOption, "=", NameOf(node.lhs_as));
  if (Info(node.op).image_axes > 0)
    for (const OptionText& option :
         PrintOptions(node.conv, Info(node.op).image_axes, Info(node.op).transposed))
      Append(&text, " ", option.name, "=", option.value);
  return text + (node.constant ? " const" : "");
}

// The usual residency has no text.
std::string ResidencyText(Residency residency) {
  if (residency == Residency::kWarm) return "";
  return residency == Residency::kCold ? " cold" : Cat(" cold=", residency.in_ram());
}

}  // namespace

std::string PlanQuestion(const Graph& graph, const PlanOptions& options) {
  const Graph canonical = CanonicalGraph(graph);
  // Results are told by their values, not by their names, as parameters are.
  std::string text = Cat("threads=", options.threads, ResidencyText(options.residency),
                         options.fuse ? "" : " no-fusion", options.allow_winograd ? " winograd" : "",
                         " result=", Join(canonical.results, ",", &GraphResult::value));
  for (const GraphNode& node : canonical.nodes) Append(&text, "\n", Describe(node));
  if (options.folded) Append(&text, "\nahead ", Join(*options.folded, ","));
  for (const auto& [constant, copies] : options.packing)
    Append(&text, "\npacked ", constant, ": ", Join(PrintCopies(copies), "; "));
  return text;
}

absl::StatusOr<OrNoPlan<PlanResult>> AnswerPlan(const Graph& graph, std::string_view source,
                                                const CostModel& model, const PlanOptions& options,
                                                Table* table) {
  if (table == nullptr) return SearchPlan(graph, source, model, options);
  const std::string question = PlanQuestion(graph, options);
  KIRSCH_ASSIGN_OR_RETURN(const std::optional<std::string> known, table->FindText(TextKind::kPlan, question));
  // Known: follow the schedule. To the caller this is a plan from the table, not one that a schedule pinned.
  if (known) {
    KIRSCH_ASSIGN_OR_RETURN(const PlanSchedule schedule, ParsePlanSchedule(*known, "the table"));
    PlanOptions recalling = options;
    recalling.schedule = &schedule;
    KIRSCH_ASSIGN_OR_RETURN(PlanResult result, Require(SearchPlan(graph, source, model, recalling)));
    result.stop = StopReason::kOptimal;
    result.from_table = true;
    return result;
  }
  // Not known: search, and remember the plan only if nothing cut the search short and there is a plan.
  KIRSCH_ASSIGN_OR_RETURN(OrNoPlan<PlanResult> answer, SearchPlan(graph, source, model, options));
  const auto* const result = std::get_if<PlanResult>(&answer);
  if (result == nullptr || result->stop != StopReason::kOptimal || result->plan.nests.empty()) return answer;
  KIRSCH_RETURN_IF_ERROR(table->AddText(TextKind::kPlan, question, PrintPlanSchedule(result->plan)));
  return answer;
}

}  // namespace kirsch
