// SPDX-License-Identifier: Apache-2.0
// Runs `kirsch db export [FILE]`: prints a table as text, a line of JSON for each box, plan, tuning and
// bound. So other programs can read a table without knowing its pages.
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "spec/language/schedule.h"
#include "spec/language/shorthand.h"
#include "spec/text/cat.h"
#include "spec/text/json_text.h"
#include "spec/text/status_macros.h"
#include "tools/db_command.h"
#include "tools/options.h"
#include "tools/output.h"

namespace kirsch {
namespace {

using nlohmann::ordered_json;

struct ExportArguments {
  TableChoice table;
  std::string output = "-";
};

// What a box says of an operand. Sizes and strides stand beside it, as they vary within the box.
ordered_json OperandJson(const TensorSpec& tensor) {
  const Layout& layout = tensor.layout;
  ordered_json json;
  json["dtype"] = std::string(Info(tensor.dtype).name);
  json["level"] = std::string(Name(tensor.level));
  json["moved"] = tensor.resident;
  json["constant"] = tensor.constant != 0;
  json["layout"] = layout.kind == LayoutKind::kStrided ? "strided" : std::string(Info(layout.kind).word);
  json["order"] = std::string(OrderWord(layout.order));
  json["panel"] = layout.panel;
  json["group"] = layout.group;
  return json;
}

// [[count, stride], ...] of the digits that an index along the axis has. A count of 0 stands for all.
ordered_json AxisJson(const DigitAxis& axis) {
  ordered_json digits = ordered_json::array();
  for (int level = 0; level < axis.digits; ++level)
    digits.push_back(
        {axis.digit[static_cast<size_t>(level)].count, axis.digit[static_cast<size_t>(level)].stride});
  return digits;
}

// A window is the operand of a convolution that is a matmul: its axes, rows first, then columns.
ordered_json WindowJson(const OpInfo& op) {
  ordered_json json;
  json["operand"] = std::string(op.operands[static_cast<size_t>(op.window.operand)].name);
  json["axes"] = {AxisJson(op.window.axes[0]), AxisJson(op.window.axes[1])};
  if (op.lanewise()) json["filters"] = AxisJson(op.window.filters);
  return json;
}

// The sizes in a box. Coordinates are indices into the sizes that there may be; readers want the sizes.
ordered_json Sizes(uint32_t low, uint32_t high) {
  ordered_json sizes = ordered_json::array();
  for (uint32_t index = low; index <= high; ++index) sizes.push_back(SizeAt(index));
  return sizes;
}

// The leading dimensions in a box. Null stands for rows without gaps, whose leading dimension follows from
// the sizes.
ordered_json LeadingDimensions(uint32_t low, uint32_t high) {
  ordered_json lds = ordered_json::array();
  for (uint32_t contiguity = low; contiguity <= high; ++contiguity)
    lds.push_back(contiguity == 0 ? ordered_json(nullptr) : ordered_json(SizeAt(contiguity - 1)));
  return lds;
}

// One line of the export: a box of specs and its decision. `spec` is one corner; the parts that vary are
// lists.
//   {"op":"matmul","accumulate":false,"threads":1, ... "sizes":{"b":[1],"m":[8], ...}, ... "decision":"..."}
ordered_json BoxJson(const Spec& spec, const Page::Box& box, const Decision& decision) {
  const OpInfo& op = spec.op_info();
  ordered_json json;
  json["op"] = std::string(op.name);
  if (!op.window.empty()) json["window"] = WindowJson(op);
  // Each step: what it does, its operand, and its number, if it has one.
  for (const EpilogueStep& step : op.epilogue)
    json["epilogue"].push_back({std::string(Name(step.op)),
                                std::string(kEpilogueOperands[static_cast<size_t>(step.operand)].name),
                                step.number});
  json["accumulate"] = spec.accumulate;
  json["threads"] = spec.threads;
  json["active_threads"] = spec.active_threads;
  json["fixed_order"] = spec.fixed_order != 0;
  json["lhs_as"] = NameOf(spec.lhs_as);
  json["block"] = spec.block;
  json["block_rows"] = spec.block_rows != 0;
  for (int i = 0; i <= op.output(); ++i) {
    const auto operand = static_cast<size_t>(i);
    json["operands"][std::string(op.operands[operand].name)] = OperandJson(spec.operand[operand]);
  }
  // The coordinates of a box are in this order: sizes of the dims, leading dimensions of the operands, lines.
  size_t coordinate = 0;
  for (int dim = 0; dim < op.num_dims; ++dim, ++coordinate)
    json["sizes"][std::string(op.dims[static_cast<size_t>(dim)].name)] =
        Sizes(box.low[coordinate], box.high[coordinate]);
  for (int i = 0; i <= op.output(); ++i, ++coordinate)
    json["ld"][std::string(op.operands[static_cast<size_t>(i)].name)] =
        LeadingDimensions(box.low[coordinate], box.high[coordinate]);
  json["available"] = {box.low[coordinate], box.high[coordinate]};
  json["decision"] = PrintDecision(spec.op, decision);
  return json;
}

// Appends the boxes of a page. DataLoss if a corner is no spec.
absl::Status AppendPage(const TableFile& file, const TableFile::StoredPage& stored, std::string* text) {
  const Page& page = stored.page;
  for (const Page::Box& box : page.boxes()) {
    // All specs of a box have the same form, so its low corner stands for them.
    const std::optional<Question> corner =
        QuestionAt({stored.key.plane, {box.low.begin(), box.low.begin() + page.coordinates()}});
    if (!corner) return absl::DataLossError(Cat("'", file.path(), "': damaged: an entry that is no spec"));
    Append(text, JsonText(BoxJson(corner->spec, box, page.decisions()[box.decision])), "\n");
  }
  return absl::OkStatus();
}

// The command. The text is complete before anything is written, so an error leaves no half of a file.
absl::StatusOr<int> Export(const ExportArguments& arguments, const DbOptions& db) {
  KIRSCH_RETURN_IF_ERROR(CheckOutputs({arguments.output}, InputsOf(arguments.table, db)));
  KIRSCH_ASSIGN_OR_RETURN(std::unique_ptr<TableFile> file, OpenChoice(arguments.table, db));
  std::string text;
  absl::Status status =
      file->ForEachPage([&](const TableFile::StoredPage& page) { return AppendPage(*file, page, &text); });
  if (status.ok())
    status =
        file->ForEachText(TextKind::kPlan, [&](const std::string& question, const std::string& schedule) {
          Append(&text, JsonText(ordered_json{{"plan", question}, {"schedule", schedule}}), "\n");
          return absl::OkStatus();
        });
  if (status.ok())
    status = file->ForEachText(TextKind::kTuned, [&](const std::string& question, const std::string& report) {
      // A tuning is JSON already, and becomes a part of the line.
      const ordered_json parsed = ordered_json::parse(report, nullptr, /*allow_exceptions=*/false);
      if (parsed.is_discarded())
        return absl::DataLossError(Cat("'", file->path(), "': damaged: a tuning that is no JSON"));
      Append(&text, JsonText(ordered_json{{"tuned", question}, {"report", parsed}}), "\n");
      return absl::OkStatus();
    });
  if (status.ok())
    status = file->ForEachText(TextKind::kBound, [&](const std::string& question, const std::string& answer) {
      KIRSCH_ASSIGN_OR_RETURN(const Cost bound, ParseBound(answer));
      Append(&text, JsonText(ordered_json{{"bound", question}, {"cost", bound}}), "\n");
      return absl::OkStatus();
    });
  if (status.ok()) status = WriteOutput(arguments.output, text);
  if (!status.ok()) return status;
  return 0;
}

}  // namespace

void AddDbExport(const Command& db_command, const DbOptions& db, Run& run) {
  const Command command = db_command.AddCommand(
      "export", "Print a table as text: a line of JSON for each box, plan, tuning and bound");
  auto arguments = std::make_shared<ExportArguments>();
  AddTableChoice(command, arguments->table);
  command.BeginGroup(kOutputGroup);
  command.AddFile("-o,--output", arguments->output, "The file (default: standard output)");
  command.OnChosen([&run, &db, arguments] { run = [arguments, &db] { return Export(*arguments, db); }; });
}

}  // namespace kirsch
