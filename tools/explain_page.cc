// SPDX-License-Identifier: Apache-2.0
#include "tools/explain_page.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "page/chart.h"
#include "page/page.h"
#include "spec/text/cat.h"
#include "synthesis/explain/cycle_kinds.h"
#include "synthesis/shared_packing.h"
#include "tools/explain_boxes.h"

namespace kirsch {
namespace {

// What a page needs beside the explanation, in one form for programs and plans.
struct PageSummary {
  const Target* target = nullptr;
  double cycles = 0, gflops = 0, flops = 0;  // predicted; the operations of a call
  double bytes = 0;                          // of the operands, each once
  int threads = 1;
  Arithmetic best = Arithmetic::kFma;  // arithmetic that its operands may be multiplied by
  Traffic traffic = {};
  std::vector<double> by_kind = {};
};

// Adds what depends on the operands: their bytes, the threads, and the arithmetic that they may be multiplied
// by.
void AddOperands(const Explanation& program, PageSummary* summary) {
  const Spec& root = program.nodes.front().impl->spec;
  for (int operand = 0; operand < root.op_info().num_operands; ++operand)
    summary->bytes +=
        static_cast<double>(Bytes(root.tensor(operand).dtype, ExtentOf(root, operand).elements()));
  summary->threads = root.threads;
  summary->best = BestArithmetic(root, *summary->target);
}

void AddOperands(const ExplainedPlan& explained, PageSummary* summary) {
  const Graph& graph = explained.plan->graph;
  summary->bytes += CallersBytes(graph);
  summary->threads = explained.plan->threads;
}

// Gathers a summary from an explained program or plan.
PageSummary MakeSummary(const ExplainedMember& member) {
  const Synthesis& synthesis = *member.synthesis;
  PageSummary summary{&synthesis.target, member.cycles, synthesis.gflops(), Flops(synthesis.program)};
  std::visit([&](const auto& explained) { AddOperands(explained, &summary); }, member.explanation);
  summary.traffic = member.traffic;
  summary.by_kind = member.by_kind;
  return summary;
}

// A limit of the target, as a line of the roofline.
struct Roof {
  std::string name;
  double rate;  // GFLOP/s, or GB/s
};

// The arithmetic limits of all threads: for each width of vectors the plain multiply-adds, and the fastest
// arithmetic that the operands may be multiplied by. Equal rates are one roof.
//   rate = 2 operations * instructions a cycle * products a lane * lanes * GHz * threads
std::vector<Roof> ComputeRoofs(const PageSummary& summary) {
  const Dtype sum = Info(summary.best).accumulator();
  const Arithmetic plain = PlainArithmetic(IsFloating(sum) ? sum : Dtype::kF32);
  std::vector<Roof> roofs;
  for (const VectorUnit& unit : summary.target->vectors)
    for (Arithmetic arithmetic : {plain, summary.best}) {
      const Instruction& row = Info(arithmetic);
      const double rate = 2 * unit.rate(arithmetic).per_cycle * row.group * unit.lanes(row.accumulator()) *
                          summary.target->ghz * summary.threads;
      const bool known = std::ranges::any_of(roofs, [&](const Roof& roof) { return roof.rate == rate; });
      if (!known)
        roofs.push_back(
            {absl::StrFormat("%s, %d-bit vectors: %.0f", Info(arithmetic).name, 8 * unit.bytes, rate), rate});
    }
  return roofs;
}

// The limits of what each level can deliver, in GB/s: L1 by the core's loads, the others by their cycles for
// a line. What threads share does not grow with their number.
std::vector<Roof> MemoryRoofs(const PageSummary& summary) {
  const Target& target = *summary.target;
  const VectorUnit& unit = target.vectors.front();
  std::vector<Roof> roofs;
  const auto add = [&](Level level, double bytes_per_cycle) {
    const double rate = bytes_per_cycle * target.ghz;
    roofs.push_back({absl::StrFormat("%s, %.0f GB/s", Name(level), rate), rate});
  };
  add(Level::kL1, unit.loads_per_cycle * unit.bytes * summary.threads);
  for (Level level : {Level::kL2, Level::kL3, Level::kRam}) {
    const MemoryLevel& memory = target.at(level);
    const double per_line = std::max(memory.cycles_per_line / summary.threads, memory.shared_cycles_per_line);
    if (per_line > 0) add(level, target.line_bytes / per_line);
  }
  return roofs;
}

// One of the cheapest programs after the best, for comparison.
struct Ranked {
  double cycles = 0;
  Traffic traffic = {};
  std::vector<double> by_kind = {};
};

// The programs of --best, but for the best itself, as many as a picture has room for. Plans have none.
std::vector<Ranked> RankedOf(const ExplainedKernel& kernel) {
  constexpr size_t kShown = 10;
  std::vector<Ranked> ranked;
  if (!kernel.best || !std::holds_alternative<Impl>(kernel.best->programs.front().tree)) return ranked;
  const CostModel model(kernel.synthesis->target());
  for (size_t i = 1; i < std::min(kShown, kernel.best->programs.size()); ++i) {
    const RankedProgram& program = kernel.best->programs[i];
    const std::vector<ExplainedNode> nodes = ExplainNodes(std::get<Impl>(program.tree), model);
    ranked.push_back({program.cycles, TrafficOf(nodes), CyclesByKind(nodes)});
  }
  return ranked;
}

// Draws the roofline: rates over operations per byte moved, both axes logarithmic. A program is a point for
// each level: its rate, over its operations per byte that crosses that level. A point near its level's slope
// is bound by that level; one near a level line is bound by arithmetic.
//
//   GFLOP/s
//      |        ___________________  256-bit vectors
//      |       /    /    o  predicted, over the traffic from RAM
//      |   L1 /    / RAM
//      |     /    /
//      +---------------------------  operations per byte
std::string RooflineSvg(const PageSummary& summary, const std::vector<Ranked>& ranked,
                        const std::vector<MeasuredRate>& measured) {
  // The four series have colours by their place. A series without a name is not in the legend.
  XyChart chart;
  chart.name = "Roofline";
  chart.series = {"predicted", measured.empty() ? "" : "Kirsch, measured",
                  measured.empty() ? "" : "peers, measured", ranked.empty() ? "" : "next best, predicted"};
  // `x` and `y` gather what must be within the axes.
  std::vector<double> x = {summary.flops / summary.bytes}, y = {summary.gflops};
  const auto add = [&](double bytes, double gflops, int series, const std::string& title) {
    chart.points.push_back({summary.flops / bytes, gflops, series, title, series < 2});
    x.push_back(summary.flops / bytes);
    y.push_back(gflops);
  };
  for (Level level : {Level::kL2, Level::kL3, Level::kRam})
    if (summary.traffic.at(level) > 0)
      add(summary.traffic.at(level), summary.gflops, 0,
          absl::StrFormat("predicted: %.1f GFLOP/s, %s to and from %s", summary.gflops,
                          Amount(summary.traffic.at(level)), Name(level)));
  // Nothing comes from beyond L1, so the operands themselves stand for what is moved.
  if (chart.points.empty())
    add(summary.bytes, summary.gflops, 0,
        absl::StrFormat("predicted: %.1f GFLOP/s, from L1", summary.gflops));
  // The next best programs do the same operations, so rates are to each other as cycles.
  for (size_t i = 0; i < ranked.size(); ++i) {
    const double gflops = summary.gflops * summary.cycles / ranked[i].cycles;
    for (Level level : {Level::kL2, Level::kL3, Level::kRam})
      if (ranked[i].traffic.at(level) > 0)
        add(ranked[i].traffic.at(level), gflops, 3,
            absl::StrFormat("number %d: %.1f GFLOP/s, %s to and from %s", i + 2, gflops,
                            Amount(ranked[i].traffic.at(level)), Name(level)));
  }
  // What was measured stands over the bytes of the operands, each once.
  for (const MeasuredRate& rate : measured)
    add(rate.bytes, rate.gflops, rate.ours() ? 1 : 2,
        absl::StrFormat("%s: %.1f, measured", rate.name, rate.gflops));
  const std::vector<Roof> compute = ComputeRoofs(summary), memory = MemoryRoofs(summary);
  // The axes begin where the slopes are at a hundredth of the highest roof.
  const double highest = std::ranges::max_element(compute, {}, &Roof::rate)->rate;
  y.push_back(highest / 100);
  for (const Roof& roof : compute) y.push_back(roof.rate);
  for (const Roof& roof : memory) x.push_back(highest / 50 / roof.rate);
  x.push_back(4 * highest / memory.back().rate);
  chart.x = LogAxis("operations per byte moved", x);
  chart.y = LogAxis("GFLOP/s", y);
  chart.y.high = 2 * *std::ranges::max_element(y);
  // Arithmetic limits are level lines; memory limits rise until they meet the highest of them.
  for (const Roof& roof : compute)
    chart.lines.push_back({chart.x.low, roof.rate, chart.x.high, roof.rate, roof.name, roof.rate != highest});
  for (const Roof& roof : memory)
    chart.lines.push_back(
        {chart.y.low / roof.rate, chart.y.low, highest / roof.rate, highest, roof.name, false});
  return Svg(chart);
}

// A table of what crosses each level, and how long that would take at the level's full rate.
std::string TrafficHtml(const PageSummary& summary) {
  std::vector<std::vector<std::string>> rows = {{"level", "in", "back", "at its full rate"}};
  for (Level level : {Level::kL2, Level::kL3, Level::kRam}) {
    if (summary.traffic.at(level) == 0) continue;
    const double lines = summary.traffic.at(level) / summary.target->line_bytes;
    const double cycles = lines * summary.target->at(level).cycles_per_line / summary.threads;
    rows.push_back({std::string(Name(level)), Amount(summary.traffic.read[static_cast<size_t>(level)]),
                    Amount(summary.traffic.written[static_cast<size_t>(level)]),
                    absl::StrFormat("%.0f cycles, %.0f %%", cycles, 100 * cycles / summary.cycles)});
  }
  return rows.size() > 1 ? TableHtml(rows) : "<p>Nothing comes from beyond L1.</p>\n";
}

// Bars of what the cycles go to: of the chosen program, and of the next best ones below it.
std::string BarsSvg(const PageSummary& summary, const std::vector<Ranked>& ranked) {
  // Kinds are in the order of CycleKind, so colours are those of the icicle.
  StackedBars bars{"Cycles by what they go to", "cycles", CycleKinds(), {}};
  bars.rows.push_back({"chosen", absl::StrFormat("%.0f cycles", summary.cycles), summary.by_kind});
  for (size_t i = 0; i < ranked.size(); ++i)
    bars.rows.push_back({absl::StrFormat("number %d", i + 2),
                         absl::StrFormat("%+.0f cycles, %+.2f %%", ranked[i].cycles - summary.cycles,
                                         Margin(summary.cycles, ranked[i].cycles)),
                         ranked[i].by_kind});
  return Svg(bars);
}

// The section of one program:
//   headline
//   icicle of cycles
//   cycles by kind, traffic | roofline
std::string ProgramHtml(const ExplainedMember& member, const std::vector<Ranked>& ranked,
                        const std::vector<MeasuredRate>& measured) {
  const PageSummary summary = MakeSummary(member);
  const std::vector<IcicleBox> boxes =
      std::visit([](const auto& explained) { return BoxesOf(explained); }, member.explanation);
  return Cat("<h2>", Escaped(member.synthesis->name), "</h2>\n<p>",
             Escaped(absl::StrFormat(
                 "On %s: %.0f cycles predicted, %.1f GFLOP/s at %g GHz; no program costs less than "
                 "%.0f.",
                 summary.target->name, summary.cycles, summary.gflops, summary.target->ghz,
                 member.synthesis->bound_cycles)),
             "</p>\n<h3>Where the cycles go</h3>\n<p class=\"dim\">A box is as wide as the time it takes; "
             "what it is made "
             "of stands below it. Point at one, tap it, or walk with the arrow keys.</p>\n",
             IcicleHtml(boxes), "<div class=\"pair\">\n<section><h3>By kind</h3>\n", BarsSvg(summary, ranked),
             "<h3>Traffic</h3>\n", TrafficHtml(summary), "</section>\n<section><h3>Roofline</h3>\n",
             RooflineSvg(summary, ranked, measured), "</section>\n</div>\n");
}

// True if a result is of the kernel: by its text, or by the name that it has in its file.
bool IsOf(const MeasuredRate& rate, const ExplainedKernel& kernel) {
  const KernelRequest& request = kernel.synthesis->request;
  return rate.spec == request.text() || rate.spec == request.label;
}

}  // namespace

std::string NameOf(const ExplainedKernel& kernel) {
  const KernelRequest& request = kernel.synthesis->request;
  if (!request.label.empty()) return request.label;
  return request.text().find('\n') == std::string::npos ? request.text() : request.name;
}

bool IsMeasured(const ExplainedKernel& kernel, const std::vector<MeasuredRate>& measured) {
  return std::ranges::any_of(measured, [&](const MeasuredRate& rate) { return IsOf(rate, kernel); });
}

std::string ExplainPage(const std::vector<ExplainedKernel>& kernels,
                        const std::vector<MeasuredRate>& measured) {
  const std::string target = kernels.front().synthesis->target().name;
  std::string body = Cat("<h1>Why these programs</h1>\n<p class=\"dim\">Kirsch ", KIRSCH_VERSION, ", target ",
                         Escaped(target), "</p>\n");
  for (const ExplainedKernel& kernel : kernels) {
    // A report may be of many kernels.
    std::vector<MeasuredRate> of_kernel;
    for (const MeasuredRate& rate : measured)
      if (IsOf(rate, kernel)) of_kernel.push_back(rate);
    if (kernel.is_family())
      Append(&body, "<h2>", Escaped(NameOf(kernel)), "</h2>\n<pre>",
             Escaped(SharedPackingText(*kernel.synthesis)), Escaped(RegionTable(kernel.synthesis->regions)),
             "</pre>\n");
    const std::vector<Ranked> ranked = RankedOf(kernel);
    for (const ExplainedMember& member : kernel.members)
      Append(&body, ProgramHtml(member, ranked, of_kernel));
    // The text of `explain` is on the page as well, folded, for those who search or copy.
    Append(&body, "<details><summary>As text</summary><pre>", Escaped(ExplainText(kernel)),
           "</pre></details>\n");
  }
  return PageHtml(Cat("Kirsch: ", NameOf(kernels.front())), body);
}

}  // namespace kirsch
