// SPDX-License-Identifier: Apache-2.0
// How a family's function finds the kernel for its sizes: a choice for each size, one inside the other.
// Internal to codegen/.
#ifndef KIRSCH_CODEGEN_HEADER_SIZE_DISPATCH_H_
#define KIRSCH_CODEGEN_HEADER_SIZE_DISPATCH_H_

#include <cstddef>
#include <vector>

#include "codegen/header/header_file.h"

namespace kirsch {

class SizeDispatch {
 public:
  struct Level {
    size_t size;    // of HeaderFunction::sizes
    size_t stride;  // from a member to that with the next value
  };
  struct Range {
    size_t first, end;  // of a size's values
  };

  // Both outlive it.
  SizeDispatch(const HeaderFunction& function, const HeaderVariant& variant);

  // The outermost first.
  const std::vector<Level>& levels() const { return levels_; }
  const VaryingSize& SizeOf(size_t level) const { return function_.sizes[levels_[level].size]; }

  // From this level on, sizes are those that kernels take: a value serves what is below it, down to the one
  // before. Of the others each value is a case.
  size_t first_compared() const { return first_compared_; }

  // Of a level that is compared: neighbouring values with the same kernels. `member`: that with the first
  // values of this level's size and those after it.
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
