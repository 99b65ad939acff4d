// SPDX-License-Identifier: Apache-2.0
// Runs `kirsch target list | show NAME | detect [-o FILE]`; `calibrate` is in calibrate_command.cc. A target
// is a CPU that kernels are made for.
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "spec/target/dlti.h"
#include "spec/target/target_json.h"
#include "spec/target/targets.h"
#include "spec/text/status_macros.h"
#include "tools/command.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/target_option.h"

namespace kirsch {
namespace {

// One line of the list. FLOP a cycle are those of f32 in the widest vectors: a multiply-add is two.
//   haswell          haswell         AVX2     16 registers of 32 bytes  32 f32 FLOP/cycle  3.4 GHz  4 cores
void PrintRow(const std::string& name, const Target& target) {
  const VectorUnit& widest = target.vectors.front();
  const int flops = static_cast<int>(2 * widest.fma_per_cycle * widest.bytes / 4);
  std::printf("%-16s %-15s %s  %d registers of %d bytes  %d f32 FLOP/cycle  %g GHz  %d cores\n", name.c_str(),
              target.cpu.c_str(), widest.masks ? "AVX-512" : "AVX2   ", widest.registers, widest.bytes, flops,
              target.ghz, target.cores);
}

// Lists the known targets, and what this machine would be.
absl::StatusOr<int> List() {
  for (const Target& target : NamedTargets()) PrintRow(target.name, target);
  KIRSCH_ASSIGN_OR_RETURN(Target host, LoadTarget("host"));
  PrintRow("host", host);
  return 0;
}

// Prints a target as a target file, all keys filled in. It may be changed and passed to --target.
absl::StatusOr<int> Show(const std::string& name, const std::string& output, bool dlti = false) {
  KIRSCH_RETURN_IF_ERROR(CheckOutputs({output}, TargetFilesIn(name)));
  KIRSCH_ASSIGN_OR_RETURN(Target target, LoadTarget(name));
  KIRSCH_RETURN_IF_ERROR(WriteOutput(output, dlti ? PrintDlti(target) : PrintTarget(target)));
  return 0;
}

}  // namespace

void AddTargetCommand(const Command& app, Run& run) {
  const Command command = app.AddCommand("target", "The CPUs kernels are made for");
  // `kirsch target` alone is an error that lists the subcommands.
  command.RequireCommand();
  command.AddCommand("list", "Name the known targets").OnChosen([&run] { run = List; });

  const Command show = command.AddCommand("show", "Print a target as a target file");
  auto name = std::make_shared<std::string>();
  show.Add("NAME", *name, "A known target, host, or a target file").Required();
  // Other compilers read a target as an attribute of MLIR.
  auto dlti = std::make_shared<bool>(false);
  show.AddChoice<bool>("--format", {{"json", false}, {"dlti", true}}, *dlti,
                       "json (the default), or dlti: an attribute of MLIR");
  show.OnChosen([&run, name, dlti] { run = [name, dlti] { return Show(*name, "-", *dlti); }; });

  const Command detect = command.AddCommand("detect", "Write the target file of this machine");
  auto output = std::make_shared<std::string>("-");
  detect.BeginGroup(kOutputGroup);
  detect.AddFile("-o,--output", *output, "The file (default: standard output)");
  // The target file of this machine is what `host` is.
  detect.OnChosen([&run, output] { run = [output] { return Show("host", *output); }; });

  AddCalibrateCommand(command, run);
}

}  // namespace kirsch
