#include "codegen/microkernels.h"

#include "absl/strings/str_cat.h"
#include "spec/check.h"

namespace kirsch {
namespace {

// FMAs in a trip of the main loop, at least: enough that the loop's own instructions disappear beside them.
constexpr int kBodyFmas = 24;
constexpr int kMaxUnroll = 8;

}  // namespace

std::string Microkernel::Name() const {
  const bool dot = tile.form == LayoutKind::kPartialSums;
  std::string name = absl::StrCat(dot ? "dot_" : "fma_", tile.rows, "x", n, "_v", tile.lanes, "_", lhs.Name(), "_",
                                  rhs.Name(), "_", out.Name());
  if (k_tail != 0) absl::StrAppend(&name, "_k", k_tail);
  if (accumulate) absl::StrAppend(&name, "_add");
  if (prefetch_out) absl::StrAppend(&name, "_far");
  return name;
}

int Microkernel::Unroll() const {
  int unroll = k_split;
  while (unroll < kMaxUnroll && unroll * tile.accumulators() < kBodyFmas) unroll *= 2;
  return unroll;
}

std::vector<int64_t> Microkernel::Counts(int64_t k) const {
  const int64_t steps = tile.form == LayoutKind::kPartialSums ? k / tile.lanes : k;
  if (Unroll() == 1) return {steps};
  return {steps / Unroll(), steps % Unroll()};
}

Procedure MicrokernelProcedure(const Microkernel& kernel) {
  switch (kernel.tile.form) {
    case LayoutKind::kVectors: return OuterProductProcedure(kernel);
    case LayoutKind::kPartialSums: return DotProductProcedure(kernel);
    case LayoutKind::kStrided:
    case LayoutKind::kPacked: break;
  }
  KIRSCH_CHECK(false && "not a register layout");
}

}  // namespace kirsch
