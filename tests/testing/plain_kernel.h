// SPDX-License-Identifier: Apache-2.0
// A kernel to be found right or wrong: plain loops over operands of any types, with a flaw where one is asked
// for.
#ifndef KIRSCH_TESTS_TESTING_PLAIN_KERNEL_H_
#define KIRSCH_TESTS_TESTING_PLAIN_KERNEL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "codegen/llvm/jit.h"
#include "codegen/loop/loop_program.h"
#include "codegen/verify/verify_run.h"
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

// What was compiled from a spec as a kernel, whose tensors are the spec's operands in their roles: the result
// is the third of them, and the last that the code takes.
inline Kernel CompiledKernel(const JitKernel& code, const LoopProgram& program) {
  Kernel kernel;
  kernel.name = "jit";
  kernel.scratch_bytes = program.scratch_bytes;
  kernel.phases = program.phases;
  kernel.shared_bytes = program.shared_bytes;
  kernel.run = [run = code.Caller()](KernelCall call) {
    std::vector<void*> tensors(call.tensors.begin(), call.tensors.end());
    if (tensors.size() > 3) std::rotate(tensors.begin() + 2, tensors.begin() + 3, tensors.end());
    call.tensors = tensors;
    run(call);
  };
  return kernel;
}

// Computes a matmul without a batch. Its tasks are output rows; it wants 64 bytes of scratch memory.
Kernel PlainKernel(const Spec& spec, const Flaw& flaw = {});

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_PLAIN_KERNEL_H_
