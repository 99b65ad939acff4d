// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/text_kernel.h"

#include <array>
#include <cstring>
#include <map>
#include <utility>

#include "codegen/llvm/jit.h"
#include "codegen/lower.h"
#include "codegen/verify/guarded_buffer.h"
#include "codegen/verify/verify_fault.h"
#include "cost/cost_model.h"
#include "memo/hash_memo.h"
#include "search/solver/search.h"
#include "spec/check.h"
#include "spec/language/schedule.h"
#include "spec/text/cat.h"
#include "tests/testing/kernel_header.h"
#include "tests/testing/plain_number.h"
#include "tests/testing/plan_testing.h"

namespace kirsch::testing {
namespace {

// Memory between guard pages that is full of NaN.
GuardedBuffer NewBuffer(int64_t bytes) {
  absl::StatusOr<GuardedBuffer> buffer = GuardedBuffer::Create(static_cast<size_t>(bytes), Placement::kAtEnd);
  KIRSCH_CHECK(buffer.ok());
  memset(buffer->data(), 0xff, buffer->bytes());
  return *std::move(buffer);
}
GuardedBuffer NewLines(int64_t bytes) { return NewBuffer((bytes + 63) / 64 * 64); }

// The memory of one run.
class Arena {
 public:
  Arena(const GrammarGraph& graph, const std::vector<std::vector<double>>& parameters) {
    for (int result : graph.results()) {
      results_.push_back(&graph.at(result));
      outs_.push_back(NewBuffer(results_.back()->span() * PlainTypeOf(results_.back()->type).bytes));
    }
    for (size_t i = 0; i < parameters.size(); ++i) {
      const GrammarValue& parameter = graph.values[i];
      inputs_.push_back(Stored(parameter, parameters[i]));
      inputs_.back().SetReadOnly(true);
      by_name_[parameter.name] = inputs_.back().data();
    }
  }

  std::vector<void*> outs() const {
    std::vector<void*> outs;
    for (const GuardedBuffer& out : outs_) outs.push_back(out.data());
    return outs;
  }
  void* at(const std::string& name) const { return by_name_.at(name); }

  std::vector<double> Results() const {
    std::vector<double> elements;
    for (size_t result = 0; result < results_.size(); ++result)
      for (int64_t i = 0; i < results_[result]->elements(); ++i)
        elements.push_back(LoadPlain(PlainTypeOf(results_[result]->type), outs_[result].data(),
                                     results_[result]->PlaceOf(i)));
    return elements;
  }

 private:
  static GuardedBuffer Stored(const GrammarValue& parameter, const std::vector<double>& elements) {
    const std::vector<std::byte> bytes = StoredParameter(parameter, elements);
    GuardedBuffer buffer = NewBuffer(static_cast<int64_t>(bytes.size()));
    memcpy(buffer.data(), bytes.data(), bytes.size());
    return buffer;
  }

  std::vector<const GrammarValue*> results_;
  std::vector<GuardedBuffer> outs_, inputs_;
  std::map<std::string, void*> by_name_;
};

// Every thread's part of every phase; `call` takes scratch, thread, shared, phase.
template <typename Call>
absl::Status RunThreads(const LoopProgram& program, size_t threads, const Call& call) {
  const GuardedBuffer shared = NewLines(program.shared_bytes);
  for (int phase = 0; phase < program.phases; ++phase)
    for (size_t thread = 0; thread < threads; ++thread) {
      const GuardedBuffer scratch = NewLines(program.scratch_bytes);
      const std::optional<Fault> fault =
          CatchFault([&] { call(scratch.data(), thread, shared.data(), static_cast<size_t>(phase)); });
      if (fault.has_value()) return absl::InternalError(Cat("died of signal ", fault->signal));
      if (!scratch.SlackIntact() || !shared.SlackIntact())
        return absl::InternalError("wrote beside its memory");
    }
  return absl::OkStatus();
}

absl::Status RunProgram(const LoopProgram& program, const JitKernel& jit, const Arena& arena,
                        size_t threads) {
  const auto tensors_of = [&](const std::vector<EntryTensor>& list) {
    std::vector<void*> tensors;
    for (const EntryTensor& tensor : list)
      if (tensor.name.front() == 'p' && tensor.name != "packed") tensors.push_back(arena.at(tensor.name));
    return tensors;
  };
  std::vector<void*> tensors = tensors_of(program.tensors);
  const GuardedBuffer packed = NewLines(program.packing ? program.packing->bytes : 0);
  if (program.packing) {
    std::vector<void*> constants = tensors_of(program.packing->constants);
    constants.push_back(packed.data());
    if (CatchFault([&] { jit.Packer()(constants); })) return absl::InternalError("died as it packed");
    tensors.push_back(packed.data());
  }
  for (void* out : arena.outs()) tensors.push_back(out);
  return RunThreads(program, threads, [&](void* scratch, size_t thread, void* shared, size_t phase) {
    jit.Caller()({tensors, scratch, thread, threads, shared, phase});
  });
}

}  // namespace

absl::StatusOr<TextKernel> TextKernel::Create(const std::string& text, const std::string& source,
                                              const Target& target, int threads) {
  absl::StatusOr<std::vector<KernelRequest>> requests = ParseKernelFile(text, source);
  if (!requests.ok()) return requests.status();
  TextKernel kernel(requests->front(), target);
  if (kernel.request_.family.graphs()) {
    absl::StatusOr<PlanResult> result;
    {
      const CostModel model(target);
      HashMemo memo;
      PlanOptions options;
      options.threads = threads;
      SearchStages(model, memo, &options);
      result = Require(SearchPlan(kernel.request_.family.graphs()->member(0), source, model, options));
    }
    if (!result.ok()) return result.status();
    kernel.plan_ = std::move(result->plan);
    kernel.program_ = Lower(*kernel.plan_, target, "kernel");
  } else {
    const ParsedSpec parsed = kernel.request_.family.specs()->member(0);
    Spec root = parsed.spec;
    root.threads = static_cast<uint8_t>(threads);
    const CostModel model(target);
    HashMemo memo;
    kernel.impl_ = Search(PlaceOperands(root, Residency::kWarm, target), model, memo, {}).impl;
    kernel.program_ = Lower(*kernel.impl_, target, "kernel", {.tensors = parsed.parameters});
  }
  return kernel;
}

VerifyReport TextKernel::Verify(bool header) const {
  if (plan_) return VerifyPlan(*plan_, target_, header);
  VerifyOptions options;
  options.header = header;
  return VerifyKernel(*impl_, target_, options);
}

absl::StatusOr<std::vector<double>> TextKernel::Run(const GrammarGraph& graph,
                                                    const std::vector<std::vector<double>>& parameters,
                                                    size_t threads) const {
  absl::StatusOr<std::unique_ptr<JitKernel>> jit = JitCompile(program_, target_);
  if (!jit.ok()) return jit.status();
  const Arena arena(graph, parameters);
  const size_t runs = program_.SharesWork() ? threads : 1;
  const absl::Status status = RunProgram(program_, **jit, arena, runs);
  if (!status.ok()) return status;
  return arena.Results();
}

std::string TextKernel::Description() const { return plan_ ? PrintPlan(*plan_) : request_.family.text(); }

}  // namespace kirsch::testing
