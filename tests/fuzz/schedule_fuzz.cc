// SPDX-License-Identifier: Apache-2.0
// Fuzzes the readers of schedules: of a spec's program, and of a graph's plan.
#include <cstddef>
#include <cstdint>
#include <string>

#include "spec/language/plan_schedule.h"
#include "spec/language/schedule.h"
#include "spec/text/cat.h"
#include "tests/fuzz/fuzz.h"

namespace kirsch {
namespace {

void Print(OpKind op, const Schedule& schedule, int depth, std::string* text) {
  Append(text, std::string(static_cast<size_t>(depth), ' '), PrintDecision(op, schedule), "\n");
  for (const Schedule& child : schedule.children) Print(op, child, depth + 1, text);
}

std::string Print(OpKind op, const Schedule& schedule) {
  std::string text;
  Print(op, schedule, 0, &text);
  return text;
}

void Read(std::string_view text, OpKind op) {
  const auto schedule = ParseSchedule(text, "s", op);
  testing::RequireOneLine(schedule.status(), "s:");
  if (!schedule.ok()) return;
  const std::string printed = Print(op, *schedule);
  const auto again = ParseSchedule(printed, "s", op);
  testing::Require(again.ok() && Print(op, *again) == printed, "the schedule that its text is", printed);
}

}  // namespace
}  // namespace kirsch

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const kirsch::OpKind op : {kirsch::OpKind::kMatmul, kirsch::OpKind::kDepthwise})
    kirsch::Read(text, op);
  kirsch::testing::RequireOneLine(kirsch::ParsePlanSchedule(text, "s").status(), "s:");
  return 0;
}
