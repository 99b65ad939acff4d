// SPDX-License-Identifier: Apache-2.0
// Decides how a family's function finds the kernel for its sizes: by a choice for each size, one inside the
// other. The printers of C and of LLVM IR print the same choices. Internal to codegen/.
//
// For example, sizes m (a range of 64 values, taken by programs) and k (2 values, each a case) have the
// levels k, then m. From a member to the next value of k the stride is 1, to that of m it is 2.
#ifndef KIRSCH_CODEGEN_HEADER_SIZE_DISPATCH_H_
#define KIRSCH_CODEGEN_HEADER_SIZE_DISPATCH_H_

#include <cstddef>
#include <vector>

#include "codegen/header/header_file.h"

namespace kirsch {

// The levels of choices of one function for one target. Members are numbered with the last size running
// fastest.
class SizeDispatch {
 public:
  // The choice by one size.
  struct Level {
    size_t size;    // of HeaderFunction::sizes
    size_t stride;  // from a member to that with the next value
  };
  // Values first .. end - 1 that have the same kernels.
  struct Range {
    size_t first, end;  // of a size's values
  };

  // Both must outlive it.
  SizeDispatch(const HeaderFunction& function, const HeaderVariant& variant);

  // Returns the levels, the outermost first.
  const std::vector<Level>& levels() const { return levels_; }
  const VaryingSize& SizeOf(size_t level) const { return function_.sizes[levels_[level].size]; }

  // Returns the first level whose size is a range that kernels take. From it on, sizes are compared: a value
  // serves the sizes below it, too, down to the value before. Each value of the levels before it is a case.
  size_t first_compared() const { return first_compared_; }

  // Returns neighbouring values with the same kernels, of a level that is compared. `member`: the one with
  // the first values of this level's size and of those after it.
  std::vector<Range> RangesOf(size_t level, size_t member) const;

 private:
  bool SameKernels(size_t level, size_t a, size_t b) const;

  const HeaderFunction& function_;
  const HeaderVariant& variant_;
  std::vector<Level> levels_;
  size_t first_compared_ = 0;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_HEADER_SIZE_DISPATCH_H_
