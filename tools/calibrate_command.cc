// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "calibrate/calibrate.h"
#include "calibrate/cost_key.h"
#include "codegen/llvm/host_cpu.h"
#include "memo/table_file.h"
#include "spec/target/host.h"
#include "spec/target/target_json.h"
#include "spec/target/targets.h"
#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "spec/text/status_macros.h"
#include "synthesis/tuning_report.h"
#include "tools/command.h"
#include "tools/interrupt.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/progress_line.h"

namespace kirsch {
namespace {

// The options of `kirsch target calibrate`. With `check` nothing is written.
struct CalibrateArguments {
  std::string output;               // empty: the host's own file
  std::string check;                // a target file to hold against the machine; empty: calibrate
  std::string from;                 // a table with what --tune measured; empty: none
  std::string measurements, refit;  // files
  std::string svg;                  // a drawing of measured over predicted cycles; empty: none
  bool quick = false, from_defaults = false;
};

// A file describes a machine if it is off by no more than this, or by no more than so many times what it was
// off by when it was made.
constexpr double kGoodError = 0.1, kGoodTimes = 2;

// The options of a measurement that shows its progress on `line`, and ends at Ctrl-C. Both outlive the
// result.
CalibrateOptions OptionsOf(const CalibrateArguments& arguments, ProgressLine& line,
                           const InterruptGuard& guard) {
  CalibrateOptions options;
  options.quick = arguments.quick;
  if (arguments.from_defaults) options.unknown = Origin::kDefault;
  // Ctrl-C ends the measuring with an error, and nothing is written.
  options.stop = [&guard] { return guard.interrupted().load(); };
  options.progress = [&line](int done, int all, std::string_view what) {
    line.Show(Cat("calibrating: ", done, " of ", all, " experiments; ", what));
  };
  return options;
}

// The file to write: the one named, or this machine's own, which `host` means from then on. Its directory is
// made if it is not there.
absl::StatusOr<std::string> OutputOf(const CalibrateArguments& arguments) {
  if (!arguments.output.empty()) return arguments.output;
  const std::string path = HostFile();
  if (path.empty())
    return absl::InvalidArgumentError(
        "target calibrate: there is no place for this machine's file (KIRSCH_CONFIG or HOME): expected -o "
        "FILE");
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (error)
    return absl::InvalidArgumentError(
        Cat("'", std::filesystem::path(path).parent_path().string(), "': ", error.message()));
  return path;
}

// Adds the programs that tuning has timed. Programs without a time were cut off by the end of the tuning.
void Remember(const TuningReport& report, std::vector<Remembered>* remembered) {
  for (const TuningReport::Program& program : report.programs) {
    if (program.cycles <= 0) continue;
    // One program: that of the schedule.
    Experiment experiment = {report.spec, 1, report.cold, program.schedule};
    remembered->push_back({std::move(experiment), program.cycles, program.spread});
  }
}

// Reads from a table what --tune measured on this machine with one thread: constants are fitted to it, too.
// NotFound if there are none.
absl::StatusOr<std::vector<Remembered>> RememberedIn(const std::string& path) {
  KIRSCH_ASSIGN_OR_RETURN(const std::unique_ptr<TableFile> table, TableFile::OpenExisting(path));
  // A table may have tunings of several machines.
  const std::string signature = Signature(ReadHost());
  std::vector<Remembered> remembered;
  KIRSCH_RETURN_IF_ERROR(
      table->ForEachText(TextKind::kTuned, [&](const std::string&, const std::string& text) {
        const std::optional<TuningReport> report = TuningReport::Parse(text);
        if (report && report->signature == signature && report->threads == 1) Remember(*report, &remembered);
        return absl::OkStatus();
      }));
  if (remembered.empty())
    return absl::NotFoundError(
        Cat(path, ": expected what --tune measured on this machine with one thread, got none of it"));
  return remembered;
}

// Reads what earlier runs have measured: by tuning (--from), or by a calibration (--refit). Measurements of
// another machine are refused.
absl::Status ReadEarlier(const CalibrateArguments& arguments, CalibrateOptions* options) {
  if (!arguments.from.empty()) {
    KIRSCH_ASSIGN_OR_RETURN(options->remembered, RememberedIn(arguments.from));
  }
  if (!arguments.refit.empty()) {
    KIRSCH_ASSIGN_OR_RETURN(const std::string text, ReadFile(arguments.refit));
    KIRSCH_ASSIGN_OR_RETURN(Measurements measurements, ParseMeasurements(text, arguments.refit));
    // Cycles measured on another machine say nothing of this one.
    if (measurements.signature != Signature(ReadHost()))
      return absl::InvalidArgumentError(Cat(arguments.refit, ": expected what was measured on this machine, ",
                                            Signature(ReadHost()), ", got ", measurements.signature));
    options->measurements = std::move(measurements);
  }
  return absl::OkStatus();
}

// Writes the target file, the drawing and the measurements, whichever are asked for.
absl::Status WriteAll(const Calibration& calibration, const std::string& output,
                      const CalibrateArguments& arguments) {
  absl::Status written = WriteOutput(output, PrintCalibration(calibration));
  if (written.ok() && !arguments.svg.empty())
    written = WriteOutput(arguments.svg, DrawCalibration(calibration));
  if (written.ok() && !arguments.measurements.empty())
    written = WriteOutput(arguments.measurements, PrintMeasurements(calibration.measurements));
  return written;
}

// Measures the machine and writes its target file. Steps: what the machine is, with constants to begin with;
// where the result goes; what earlier runs have measured; the measuring and fitting; files and a summary.
absl::StatusOr<int> RunCalibrate(const CalibrateArguments& arguments) {
  const Host host = ReadHost();
  const std::string cpu = DetectHostCpu().name;
  // This machine's features, caches and clock, with the constants of the nearest named target.
  absl::StatusOr<Target> base = HostTarget(host, cpu);
  if (!base.ok()) return base.status();
  if (arguments.from_defaults) base = WithDefaultCosts(*std::move(base));
  KIRSCH_ASSIGN_OR_RETURN(const std::string output, OutputOf(arguments));
  // Minutes of measuring are lost if the result can't be written, so look first.
  if (absl::Status writable =
          CheckOutputs({output, arguments.svg, arguments.measurements}, {arguments.from, arguments.refit});
      !writable.ok())
    return writable;
  ProgressLine line;
  const InterruptGuard guard;
  CalibrateOptions options = OptionsOf(arguments, line, guard);
  KIRSCH_RETURN_IF_ERROR(ReadEarlier(arguments, &options));
  absl::StatusOr<Calibration> calibration =
      Calibrate(*base, arguments.from_defaults ? "defaults" : NearestTarget(host, cpu), options);
  line.Erase();
  if (!calibration.ok()) return calibration.status();
  KIRSCH_RETURN_IF_ERROR(WriteAll(*calibration, output, arguments));
  // Standard output has the target file then, and nothing else.
  if (output == "-") return 0;
  std::fputs(Summarize(*calibration).c_str(), stdout);
  std::printf("written to %s%s\n", output.c_str(), output == HostFile() ? ", which is host from now on" : "");
  return 0;
}

// Measures how well a target file describes this machine. Exit code 1: it does not.
absl::StatusOr<int> RunCheck(const CalibrateArguments& arguments) {
  KIRSCH_ASSIGN_OR_RETURN(const std::string text, ReadFile(arguments.check));
  KIRSCH_ASSIGN_OR_RETURN(const TargetFile file, ParseTarget(text, arguments.check));
  // A calibrated file says how far off it was when it was made. Files written by hand say nothing.
  absl::StatusOr<double> promised = PromisedError(text, arguments.check);
  if (!promised.ok() && !absl::IsNotFound(promised.status())) return promised.status();
  ProgressLine line;
  const InterruptGuard guard;
  const absl::StatusOr<double> error = MeasureError(file.target, OptionsOf(arguments, line, guard));
  line.Erase();
  if (!error.ok()) return error.status();
  // A file counts as good if it is off by little, or by not much more than when it was made. A file that
  // promised 6 % may be off by 12 %, one that promised 3 % by 10 %.
  const double most = std::max(kGoodError, promised.ok() ? kGoodTimes * *promised : 0);
  std::string about =
      absl::StrFormat("%s: what it predicts is off by %.1f %% in the median", arguments.check, 100 * *error);
  if (promised.ok()) absl::StrAppendFormat(&about, ", when it was made by %.1f %%", 100 * *promised);
  std::printf("%s: it %s this machine\n", about.c_str(), *error <= most ? "describes" : "does not describe");
  return *error <= most ? 0 : 1;
}

}  // namespace

void AddCalibrateCommand(const Command& target_command, Run& run) {
  const Command command = target_command.AddCommand(
      "calibrate", "Measure this machine, and write the target file that host has from then on");
  // A group may be begun again: --help puts its options together.
  auto arguments = std::make_shared<CalibrateArguments>();
  command.BeginGroup(kOutputGroup);
  command.AddFile("-o,--output", arguments->output,
                  "The file (default: this machine's in the configuration directory; -: standard output)");
  command.BeginGroup(kSearchGroup);
  command.AddFlag("--quick", arguments->quick, "In about a minute instead of some 5, less exactly");
  command.AddFlag("--from-defaults", arguments->from_defaults,
                  "Begin with what a target file without costs has, not with the constants of the nearest "
                  "named target");
  command.AddFile(
      "--from", arguments->from,
      "Fit the constants to what --tune measured on this machine before, too: the table that has it");
  command.BeginGroup(kOutputGroup);
  const Option save = command.AddFile("--measurements", arguments->measurements,
                                      "Keep all that was measured in this file, for --refit");
  command.BeginGroup(kSearchGroup);
  command
      .AddFile("--refit", arguments->refit, "Measure nothing; fit the constants to what --measurements kept")
      .Excludes("--quick")
      .Excludes(save);
  command.BeginGroup(kOutputGroup);
  command.AddFile("--svg", arguments->svg, "Draw measured over predicted cycles to this SVG file");
  command.BeginGroup(kCheckGroup);
  command
      .AddFile("--check", arguments->check,
               "Write nothing; measure whether this target file still describes the machine (exit code 1: "
               "it does not)")
      .Excludes("--output")
      .Excludes("--from")
      .Excludes("--from-defaults")
      .Excludes("--measurements")
      .Excludes("--refit")
      .Excludes("--svg")
      .Excludes("--quick");
  command.AddToFooter(
      "Takes one core for itself, two for a moment; waits while others disturb it. The file is a target "
      "file: "
      "--target FILE takes it as well.");
  command.OnChosen([&run, arguments] {
    run = [arguments] { return arguments->check.empty() ? RunCalibrate(*arguments) : RunCheck(*arguments); };
  });
}

}  // namespace kirsch
