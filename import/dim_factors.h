// SPDX-License-Identifier: Apache-2.0
// Splits the dims of tensors into factors, as far as reshapes of a program ask for it.
//
// MLIR reshapes values; the kernel language has no reshape. A kernel's values therefore have an axis for
// each factor from the beginning: where [24,64] becomes [24,4,16], the 64 is two factors, 4 and 16, in this
// value and in all that it is made of. Then a reshape, like a transposition or a broadcast, is another
// view of the same value, and no operation.
//
//   q = dot(x[24,64], w[64,64])   reshape q to [24,4,16]   =>   w is [64,(4,16)], and q is [24,(4,16)]
//
// Dims of size 1 have no factors, so tensors that differ in these alone are alike.
#ifndef KIRSCH_IMPORT_DIM_FACTORS_H_
#define KIRSCH_IMPORT_DIM_FACTORS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kirsch {

class DimFactors {
 public:
  // A list of factors, the outermost first. What it means may be split further by later calls of Unify.
  using List = std::vector<int>;

  // The dim of a tensor: a factor that is not split yet, or none.
  List Dim(int64_t size);

  // Splits factors until both lists are the same sequence, and makes the factors of one those of the other:
  // what is split later is split in both. False if the sizes do not divide each other; then the lists are
  // split as far as they went.
  bool Unify(const List& a, const List& b);

  // The list with all splits made, and the size of one of its factors.
  List Split(const List& list) const;
  int64_t size(int factor) const { return factors_[static_cast<size_t>(factor)].size; }

 private:
  struct Factor {
    int64_t size;
    int same = -1;               // another that this one has become
    int outer = -1, inner = -1;  // what it has been split into
  };

  void Append(int factor, List* list) const;
  int New(int64_t size);

  std::vector<Factor> factors_;
};

}  // namespace kirsch

#endif  // KIRSCH_IMPORT_DIM_FACTORS_H_
