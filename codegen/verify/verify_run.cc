// SPDX-License-Identifier: Apache-2.0
#include "codegen/verify/verify_run.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "codegen/verify/verify_fault.h"
#include "spec/program/memory.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// Says what an access did: "wrote 4 bytes before the start of out". Within the data only a write to read-only
// memory faults.
std::string Explain(const Fault& fault, const GuardedBuffer& buffer, const std::string& name) {
  const char* const at = static_cast<const char*>(fault.address);
  const char* const start = static_cast<const char*>(buffer.data());
  const char* const end = start + buffer.bytes();
  const char* const did = fault.write ? "wrote " : "read ";
  if (at < start) return Cat(did, start - at, " bytes before the start of ", name);
  if (at >= end) return Cat(did, at - end, " bytes after the end of ", name);
  return Cat(did, "byte ", at - start, " of ", name, ", an input");
}

// Returns memory of whole lines that ends at a guard page, full of NaN. Both ends are aligned, so up to 63
// bytes behind what the kernel asked for are not guarded.
absl::StatusOr<GuardedBuffer> WorkMemory(int64_t bytes) {
  const auto whole = static_cast<size_t>(WholeLines(bytes));
  absl::StatusOr<GuardedBuffer> memory = GuardedBuffer::Create(whole, Placement::kAtEnd);
  if (memory.ok()) FillPoison(Dtype::kF32, whole, memory->data());
  return memory;
}

// RESOURCE_EXHAUSTED if the tensors take more than the machine has. The system gives addresses for more, but
// to touch them would end the process.
absl::Status CheckMemory(const KnownProblem& problem) {
  int64_t bytes = 0;
  for (const ProblemTensor& tensor : problem.tensors()) bytes += Bytes(tensor.dtype, tensor.elements);
  if (bytes / sysconf(_SC_PAGESIZE) < sysconf(_SC_PHYS_PAGES)) return absl::OkStatus();
  return absl::ResourceExhaustedError(Cat("no memory for all tensors, which take ", bytes, " bytes"));
}

// One run. Memory of the kernel's own is in areas_ as long as it is in use. So faults can be explained, and
// writes beside it found.
class GuardedRun {
 public:
  GuardedRun(const KnownProblem& problem, const Kernel& kernel, const VerifyTrial& trial,
             const Operands& operands)
      : problem_(problem), kernel_(kernel), trial_(trial), operands_(operands) {}

  absl::Status Run() {
    if (kernel_.pack) KIRSCH_RETURN_IF_ERROR(Pack());
    KIRSCH_ASSIGN_OR_RETURN(GuardedBuffer shared, WorkMemory(kernel_.shared_bytes));
    areas_.emplace_back("the shared memory", &shared);
    const std::vector<void*> tensors = Tensors();
    // The last thread goes first, so that a missing phase shows.
    for (int phase = 0; phase < kernel_.phases; ++phase)
      for (size_t thread = trial_.n_threads; thread-- > 0;) {
        const KernelCall call{tensors,          nullptr,       thread,
                              trial_.n_threads, shared.data(), static_cast<size_t>(phase)};
        KIRSCH_RETURN_IF_ERROR(Run(call));
      }
    return CheckOutside();
  }

 private:
  using Area = std::pair<std::string, const GuardedBuffer*>;

  // Packs as the kernel says, into memory that is read-only from then on.
  absl::Status Pack() {
    KIRSCH_ASSIGN_OR_RETURN(GuardedBuffer packed, WorkMemory(kernel_.packed_bytes));
    packed_.emplace(std::move(packed));
    areas_.emplace_back("the packed memory", &*packed_);
    std::vector<void*> tensors;
    for (size_t tensor : kernel_.packed) tensors.push_back(operands_.at(tensor).data());
    tensors.push_back(packed_->data());
    if (const auto fault = CatchFault([&] { kernel_.pack(tensors); })) return FaultError(*fault);
    packed_->SetReadOnly(true);
    return CheckBeside(areas_);
  }

  // Returns the kernel's tensors: the problem's without those that are packed, and the packed memory in its
  // place.
  std::vector<void*> Tensors() const {
    std::vector<void*> tensors;
    for (size_t i = 0; i < problem_.tensors().size(); ++i)
      if (std::ranges::find(kernel_.packed, i) == kernel_.packed.end())
        tensors.push_back(operands_.at(i).data());
    if (packed_)
      tensors.insert(tensors.begin() + static_cast<std::ptrdiff_t>(kernel_.packed_place), packed_->data());
    return tensors;
  }

  absl::Status Run(KernelCall call) {
    KIRSCH_ASSIGN_OR_RETURN(const GuardedBuffer scratch, WorkMemory(kernel_.scratch_bytes));
    areas_.emplace_back("the scratch memory", &scratch);
    call.scratch = scratch.data();
    const std::optional<Fault> fault = CatchFault([&] { kernel_.run(call); });
    absl::Status status = fault ? FaultError(*fault) : CheckBeside(areas_);
    if (status.ok() && kernel_.complaint) status = kernel_.complaint();
    areas_.pop_back();
    return status;
  }

  // Finds the buffer that the address is in, or whose guard pages it is in.
  absl::Status FaultError(const Fault& fault) const {
    for (size_t i = 0; i < problem_.tensors().size(); ++i)
      if (operands_.at(i).Owns(fault.address))
        return absl::OutOfRangeError(Explain(fault, operands_.at(i), problem_.tensors()[i].name));
    for (const auto& [name, area] : areas_)
      if (area->Owns(fault.address)) return absl::OutOfRangeError(Explain(fault, *area, name));
    return absl::OutOfRangeError(Cat("died of signal ", fault.signal, " (", strsignal(fault.signal), ")"));
  }

  static absl::Status CheckBeside(const std::vector<Area>& areas) {
    for (const auto& [name, area] : areas)
      if (!area->SlackIntact()) return absl::OutOfRangeError(Cat("wrote beside ", name));
    return absl::OkStatus();
  }

  // Everything around and between the rows of the outputs must be as it was.
  absl::Status CheckOutside() const {
    for (const ProblemOutput& output : problem_.outputs()) {
      const GuardedBuffer& out = operands_.at(output.tensor);
      KIRSCH_RETURN_IF_ERROR(CheckBeside({{output.name, &out}}));
      if (!problem_.GapsIntact(output, out.data()))
        return absl::OutOfRangeError(Cat("wrote between the rows of ", output.name));
    }
    return absl::OkStatus();
  }

  const KnownProblem& problem_;
  const Kernel& kernel_;
  const VerifyTrial& trial_;
  const Operands& operands_;
  std::optional<GuardedBuffer> packed_;
  std::vector<Area> areas_;  // besides the tensors
};

}  // namespace

absl::StatusOr<Operands> Operands::Create(const KnownProblem& problem, const VerifyTrial& trial) {
  KIRSCH_RETURN_IF_ERROR(CheckMemory(problem));
  Operands operands;
  for (size_t tensor = 0; tensor < problem.tensors().size(); ++tensor) {
    const ProblemTensor& info = problem.tensors()[tensor];
    const size_t element = static_cast<size_t>(Bytes(info.dtype));
    KIRSCH_ASSIGN_OR_RETURN(GuardedBuffer buffer,
                            GuardedBuffer::Create(static_cast<size_t>(Bytes(info.dtype, info.elements)),
                                                  trial.placement, trial.shift * element));
    problem.Fill(tensor, trial.kind, trial.seed, buffer.data());
    // A kernel that writes to an input faults.
    if (!problem.IsOutput(tensor)) buffer.SetReadOnly(true);
    operands.buffers_.push_back(std::move(buffer));
  }
  return operands;
}

bool Operands::SuitAlso(const VerifyTrial& one, const VerifyTrial& other) {
  return one.kind == other.kind && one.seed == other.seed && one.placement == other.placement &&
         one.shift == other.shift;
}

void Operands::Refill(const KnownProblem& problem, const VerifyTrial& trial) const {
  for (const ProblemOutput& output : problem.outputs())
    problem.Fill(output.tensor, trial.kind, trial.seed, at(output.tensor).data());
}

std::vector<void*> Operands::pointers() const {
  std::vector<void*> pointers;
  for (const GuardedBuffer& buffer : buffers_) pointers.push_back(buffer.data());
  return pointers;
}

absl::Status RunGuarded(const KnownProblem& problem, const Kernel& kernel, const VerifyTrial& trial,
                        const Operands& operands) {
  return GuardedRun(problem, kernel, trial, operands).Run();
}

}  // namespace kirsch
