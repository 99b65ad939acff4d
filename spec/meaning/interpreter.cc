// SPDX-License-Identifier: Apache-2.0
#include "spec/meaning/interpreter.h"

#include <variant>

#include "spec/check.h"
#include "spec/meaning/interpret_kernel.h"
#include "spec/meaning/interpreter_memory.h"

namespace kirsch {
namespace {

// Walks the program's text. Threads run one after the other, which is one of the orders that the program
// allows.
class Interpreter {
 public:
  Interpreter(const Program& program, const std::vector<void*>& callers, int threads,
              const std::vector<int64_t>& sizes, const AccessObserver& observe)
      : program_(program),
        memory_(program, callers, observe),
        threads_(threads),
        variables_(static_cast<size_t>(program.variables)) {
    KIRSCH_CHECK(sizes.size() == program.symbols.size());
    std::ranges::copy(sizes, variables_.begin());
  }

  // The prepack runs once, outside of all threads.
  absl::Status Run() && {
    Do(program_.prepack);
    if (program_.phases == 1) {
      OnAllThreads(program_.body);
    } else {
      for (const Node& node : program_.body) OnAllThreads(std::get<Phase>(node.shape).body);
    }
    return memory_.status();
  }

 private:
  // Runs a phase: all of it for thread 0, then for thread 1, and so on.
  void OnAllThreads(const Body& body) {
    // Every thread begins each phase with nothing in its own memory.
    for (thread_ = 0; thread_ < threads_; ++thread_) {
      memory_.ForgetOwn();
      Do(body);
    }
  }

  void Do(const Body& body) {
    for (const Node& node : body) {
      // After an error nothing more is run, since its results would mean nothing.
      if (!memory_.status().ok()) return;
      std::visit([&](const auto& shape) { Do(shape); }, node.shape);
    }
  }

  void Do(const Loop& loop) {
    const int64_t trips = Resolve(loop.trips);
    for (int64_t trip = 0; trip < trips; ++trip) {
      Variable(loop.variable) = trip;
      Do(trip == 0 && !loop.first.empty() ? loop.first : loop.body);
    }
    // The rest runs for variable = trips, if the division leaves anything.
    Variable(loop.variable) = trips;
    if (Resolve({loop.trips.of, loop.trips.by, true}) != 0) Do(loop.rest);
  }

  void Do(const Let& let) {
    Variable(let.variable) = Resolve(let.value);
    Do(let.body);
  }

  void Do(const OneOf& one_of) {
    const int64_t number = Variable(one_of.variable) - one_of.least;
    KIRSCH_CHECK(number >= 0 && number < static_cast<int64_t>(one_of.bodies.size()));
    Do(one_of.bodies[static_cast<size_t>(number)]);
  }

  // Runs the task if it is this thread's. In a program in blocks every block is wanted, so every thread runs
  // all of them.
  void Do(const Task& task) {
    if (program_.block != 0 || !program_.SharesWork() || Resolve(task.task) % threads_ == thread_)
      Do(task.body);
  }

  void Do(const Phase&) { KIRSCH_BUG("a phase is outermost"); }

  void Do(const KernelRun& run) {
    const KernelShape& general = program_.kernels[static_cast<size_t>(run.kernel)];
    // Kernels are interpreted for constants only. Without symbols their shapes are constants already.
    SymbolValues values;
    values[SizeSymbol::kCount] = Resolve(run.count);
    values[SizeSymbol::kLast] = Resolve(run.last);
    values[SizeSymbol::kAdds] = Resolve(run.adds);
    if (!program_.symbols.empty()) values[SizeSymbol::kStride] = variables_.front();
    const KernelShape kernel = program_.symbols.empty() ? general : ForValues(general, values);
    const std::vector<Dtype> types = OperandTypes(kernel);
    KIRSCH_CHECK(types.size() == run.at.size());
    InterpretedOperands at;
    // Offsets become numbers of elements.
    for (size_t i = 0; i < run.at.size(); ++i)
      at.push_back({run.at[i].buffer, Resolve(run.at[i].offset), types[i]});
    std::visit([&](const auto& shape) { InterpretKernel(shape, at, Resolve(run.count), &memory_); }, kernel);
  }

  int64_t& Variable(VarId variable) { return variables_[static_cast<size_t>(variable)]; }

  // The value of an expression or a count, for the variables as they are at this point.
  int64_t Resolve(const Affine& affine) {
    return Evaluate(affine, [this](VarId index) { return Variable(index); });
  }
  int64_t Resolve(const Count& count) { return count.Of(Resolve(count.of)); }

  const Program& program_;
  InterpreterMemory memory_;
  const int threads_;
  int thread_ = 0;
  std::vector<int64_t> variables_;
};

}  // namespace

absl::Status Interpret(const Program& program, const std::vector<void*>& callers, int threads,
                       const std::vector<int64_t>& sizes, const AccessObserver& observe) {
  return Interpreter(program, callers, threads, sizes, observe).Run();
}

}  // namespace kirsch
