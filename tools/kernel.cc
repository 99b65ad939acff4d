#include "tools/kernel.h"

#include <cstdio>
#include <string>

#include "absl/strings/ascii.h"
#include "spec/host.h"
#include "spec/schedule.h"

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

std::string KernelName(const ParsedSpec& parsed) {
  std::string name = parsed.text;
  for (char& c : name)
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

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
  return options;
}

VerifyReport VerifySynthesis(const Synthesis& synthesis, const HeaderOptions& header_options) {
  VerifyOptions options;
  options.header_options = header_options;
  if (const absl::Status supported = Supports(ReadHost(), synthesis.target); !supported.ok()) {
    options.cannot_run = std::string(supported.message());
    std::fprintf(stderr, "kirsch: %s\n", options.cannot_run.c_str());
  }
  return VerifyKernel(synthesis.result.impl, synthesis.target, options);
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
