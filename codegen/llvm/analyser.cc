// SPDX-License-Identifier: Apache-2.0
#include "codegen/llvm/analyser.h"

#include <memory>

#include "codegen/llvm/disassembler.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCSchedule.h"
#include "llvm/MCA/Context.h"
#include "llvm/MCA/CustomBehaviour.h"
#include "llvm/MCA/InstrBuilder.h"
#include "llvm/MCA/Pipeline.h"
#include "llvm/MCA/SourceMgr.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// Trips until the pipeline is in its steady state, and the trips beyond these, which are averaged.
constexpr unsigned kTripsBefore = 100, kTrips = 400;

constexpr unsigned kCallLatency = 100;  // the tool's default; loops have no calls

using Sequence = llvm::SmallVector<std::unique_ptr<llvm::mca::Instruction>>;

absl::Status AnalyserStatus(llvm::Error error) {
  return absl::FailedPreconditionError(Cat("LLVM's analyser: ", llvm::toString(std::move(error))));
}

// Returns the cycles of so many trips from an empty pipeline on.
absl::StatusOr<double> AnalyseSequence(const Disassembler& disassembler, const Sequence& sequence,
                                       unsigned trips) {
  const llvm::MCSubtargetInfo& subtarget = disassembler.subtarget();
  llvm::mca::CircularSourceMgr source(sequence, trips);
  llvm::mca::CustomBehaviour behaviour(subtarget, source, disassembler.instructions());
  llvm::mca::Context context(disassembler.registers(), subtarget);
  // Zeros leave the sizes of queues to the model of the CPU.
  const llvm::mca::PipelineOptions options(0, 0, subtarget.getSchedModel().IssueWidth, 0, 0, 0, true);
  const std::unique_ptr<llvm::mca::Pipeline> pipeline =
      context.createDefaultPipeline(options, source, behaviour);
  llvm::Expected<unsigned> cycles = pipeline->run();
  if (!cycles) return AnalyserStatus(cycles.takeError());
  return *cycles;
}

}  // namespace

absl::StatusOr<double> AnalysedCycles(const LoopCode& loop, const Target& target) {
  const Disassembler disassembler(target.cpu, "");
  const llvm::MCSubtargetInfo& subtarget = disassembler.subtarget();
  if (!subtarget.getSchedModel().hasInstrSchedModel())
    return absl::FailedPreconditionError(Cat("LLVM has no model of ", target.cpu));
  const llvm::mca::InstrumentManager instruments(subtarget, disassembler.instructions());
  llvm::mca::InstrBuilder builder(subtarget, disassembler.instructions(), disassembler.registers(),
                                  &disassembler.analysis(), instruments, kCallLatency);
  // The instructions of a trip, as the analyser has them; it repeats them.
  Sequence sequence;
  for (const MachineInstruction& instruction :
       disassembler.Decode(llvm::arrayRefFromStringRef(loop.bytes), 0)) {
    llvm::Expected<std::unique_ptr<llvm::mca::Instruction>> built =
        builder.createInstruction(instruction.inst, {});
    if (!built) return AnalyserStatus(built.takeError());
    sequence.push_back(std::move(*built));
  }
  // The first trips fill the pipeline, so they are subtracted: (cycles(500) - cycles(100)) / 400.
  KIRSCH_ASSIGN_OR_RETURN(const double before, AnalyseSequence(disassembler, sequence, kTripsBefore));
  KIRSCH_ASSIGN_OR_RETURN(const double all, AnalyseSequence(disassembler, sequence, kTripsBefore + kTrips));
  return (all - before) / kTrips;
}

}  // namespace kirsch
