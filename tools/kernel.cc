#include "tools/kernel.h"

#include <cstdio>
#include <string>

#include "spec/cat.h"
#include "spec/host.h"
#include "spec/identifier.h"
#include "spec/schedule.h"
#include "tools/terminal_line.h"

namespace kirsch {
namespace {

const char* OutcomeName(RungOutcome outcome) {
  switch (outcome) {
    case RungOutcome::kPassed:
      return "passed";
    case RungOutcome::kFailed:
      return "failed";
    case RungOutcome::kSkipped:
      return "skipped";
  }
  return "";
}

}  // namespace

std::string KernelName(const ParsedSpec& parsed) { return IdentifierOf(parsed.text); }

HeaderOptions HeaderOptionsFor(const Synthesis& synthesis, HeaderMode mode) {
  HeaderOptions options;
  options.mode = mode;
  options.swapped = synthesis.parsed.swapped;
  options.spec = synthesis.result.impl.spec;
  options.spec_text = synthesis.parsed.text;
  options.schedule = PrintSchedule(synthesis.result.impl);
  options.version = KIRSCH_VERSION;
  options.cycles = ToCycles(synthesis.result.cost);
  options.gflops = PredictedGflops(synthesis);
  options.packing = {synthesis.pack_cycles, synthesis.unpacked_cycles};
  return options;
}

VerifyReport VerifySynthesis(const Synthesis& synthesis, const HeaderOptions& header_options, Abi abi) {
  VerifyOptions options;
  options.header_options = header_options;
  options.abi = abi;
  if (const absl::Status supported = Supports(ReadHost(), synthesis.target); !supported.ok()) {
    options.cannot_run = std::string(supported.message());
    std::fprintf(stderr, "kirsch: %s\n", options.cannot_run.c_str());
  }
  TerminalLine line;
  line.Show("verifying");
  return VerifyKernel(synthesis.result.impl, synthesis.target, options);
}

void PrintVerdict(const VerifyReport& report) {
  if (!report.ok) {
    std::fprintf(stderr, "kirsch: verification failed: %s\n", report.first_mismatch.c_str());
    return;
  }
  std::string rungs;
  for (const RungReport& rung : report.rungs)
    Append(&rungs, rungs.empty() ? "" : ", ", rung.name, " ", OutcomeName(rung.outcome));
  std::fprintf(stderr, "verified: %s; largest error %.2g of at most %.2g\n", rungs.c_str(), report.max_error,
               report.error_bound);
}

nlohmann::ordered_json ReportJson(const VerifyReport& report) {
  nlohmann::ordered_json json = {{"ok", report.ok},
                                 {"max_error", report.max_error},
                                 {"error_bound", report.error_bound},
                                 {"first_mismatch", report.first_mismatch},
                                 {"rungs", nlohmann::ordered_json::array()}};
  for (const RungReport& rung : report.rungs)
    json["rungs"].push_back(
        {{"name", rung.name}, {"outcome", OutcomeName(rung.outcome)}, {"text", rung.text}});
  return json;
}

}  // namespace kirsch
