// A kernel to be found right or wrong: plain loops over operands of any types, with a flaw where one is asked
// for.
#ifndef KIRSCH_TESTS_TESTING_PLAIN_KERNEL_H_
#define KIRSCH_TESTS_TESTING_PLAIN_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>

#include "codegen/verify_run.h"
#include "spec/spec.h"

namespace kirsch::testing {

struct Flaw {
  // Makes something else of the (p)th product of element (i, j), of its sum up to there, of what is stored.
  std::function<double(int64_t i, int64_t j, int64_t p, double product)> product = nullptr;
  std::function<double(double sum)> sum = nullptr;
  std::function<double(int64_t i, int64_t j, double value)> value = nullptr;
  // After the run; where all operands are f32.
  std::function<void(float* lhs, float* rhs, float* out, float* scratch, size_t n_threads)> after = nullptr;
};

// Something compiled from a spec, as a kernel: `run` takes its operands as EpilogueKernelFunction does.
template <typename Function>
Kernel CompiledKernel(Function run, int64_t scratch_bytes) {
  Kernel kernel;
  kernel.name = "jit";
  kernel.scratch_bytes = scratch_bytes;
  kernel.run = [run](const KernelCall& call) {
    const auto tensor = [&](size_t i) { return i < call.tensors.size() ? call.tensors[i] : nullptr; };
    run(tensor(0), tensor(1), tensor(2), call.scratch, call.thread, call.n_threads, tensor(3), tensor(4),
        tensor(5));
  };
  return kernel;
}

// Computes a matmul without a batch. Its tasks are output rows; it wants 64 bytes of scratch memory.
Kernel PlainKernel(const Spec& spec, const Flaw& flaw = {});

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_PLAIN_KERNEL_H_
