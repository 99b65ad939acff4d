// Running a kernel that is not trusted: its buffers guarded, and a fault caught and explained instead of
// ending the process. Runs are serialised across threads, because fault handlers belong to the whole process.
#ifndef KIRSCH_CODEGEN_VERIFY_RUN_H_
#define KIRSCH_CODEGEN_VERIFY_RUN_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "codegen/guarded_buffer.h"
#include "codegen/verify_data.h"
#include "spec/spec.h"
#include "spec/storage.h"

namespace kirsch {

// Something that claims to compute a root spec: called as one thread of `n_threads`, operands in the spec's
// roles.
struct Kernel {
  std::string name;
  std::function<void(const void* lhs, const void* rhs, void* out, void* scratch, size_t thread,
                     size_t n_threads, const void* arg1, const void* arg2, const void* arg3)>
      run;
  int64_t scratch_bytes = 0;  // per thread
  // Where it takes an operand packed: which, the function that packs it, and bytes of the result.
  int packed_operand = -1;
  std::function<void(const void* operand, void* packed)> pack = {};
  int64_t packed_bytes = 0;
};

// How the buffers lie and how the work is split in one run.
struct Trial {
  InputKind kind = InputKind::kIntegers;
  uint64_t seed = 1;
  Placement placement = Placement::kAtEnd;
  size_t shift = 0;  // elements between data and guard page: with kAtStart, the operands' misalignment
  size_t n_threads = 1;
};

// The operands of one trial. Inputs are read-only; NaN lies between their rows, or an integer that stands
// out. The output holds the spec's prior output if it accumulates, else the same; a pattern lies between its
// rows.
class Operands {
 public:
  static absl::StatusOr<Operands> Create(const Spec& root, const Trial& trial);

  const GuardedBuffer& at(int operand) const { return buffers_[static_cast<size_t>(operand)]; }
  GuardedBuffer& at(int operand) { return buffers_[static_cast<size_t>(operand)]; }
  ConstOperands pointers() const;

  // OK if nothing but output elements was written: says what was otherwise.
  absl::Status CheckOutside(const Spec& root) const;

 private:
  std::vector<GuardedBuffer> buffers_;
};

// If the kernel takes an operand packed, packs it first, into a guarded buffer that is then read-only. Runs
// the kernel once as each of `trial.n_threads` threads, last thread first, each with scratch memory of its
// own that is full of NaN, whatever floats are read from it. An error says how the kernel broke the rules: a
// fault with the access that caused it, or a write where nothing was to be written.
absl::Status RunGuarded(const Spec& root, const Kernel& kernel, const Trial& trial, Operands* operands);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_VERIFY_RUN_H_
