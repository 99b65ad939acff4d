// The dot-product microkernel: lhs rows and rhs columns are contiguous along the reduction, so a whole vector
// of its steps is one multiply-add per output element; the lanes of each accumulator are summed at the end.
#include <algorithm>

#include "codegen/accumulators.h"
#include "codegen/epilogue_code.h"
#include "codegen/microkernels.h"
#include "codegen/procedure_builder.h"
#include "spec/check.h"

namespace kirsch {
namespace {

constexpr int kSums = 4;  // output elements that LaneSums makes at once
constexpr int64_t kLineBytes = 64;

class DotProduct {
 public:
  explicit DotProduct(const Microkernel& kernel)
      : kernel_(kernel),
        builder_(kernel.Name()),
        parameters_(builder_, kernel),
        accumulators_(builder_, kernel),
        lhs_(OperandVector(builder_, "a", kernel.lhs_lanes(), kernel)),
        sums_(builder_.Vector("sums", kernel.accumulator(), kSums)),
        old_(kernel.accumulate ? builder_.Vector("old", kernel.accumulator(), kSums) : kNoVar),
        epilogue_(builder_, kernel, parameters_.arguments, kSums) {
    KIRSCH_CHECK(kernel.lhs.order == Order::kRow && kernel.lhs.panel == 0);
    KIRSCH_CHECK(kernel.rhs.order == Order::kCol && kernel.rhs.panel == 0);
    if (kernel.tile.arithmetic == Arithmetic::kDotO8S8)
      excess_ = OperandVector(builder_, "excess", kernel.lhs_lanes(), kernel);
    for (int j = 0; j < kernel.tile.columns; ++j)
      rhs_.push_back(OperandVector(builder_, absl::StrCat("b", j), kernel.rhs_lanes(), kernel));
  }

  Procedure Build() && {
    const int whole = static_cast<int>(kernel_.step());
    accumulators_.Clear();
    if (excess_ != kNoVar) builder_.Do(Fill{excess_, kExcess});
    builder_.Loop(IndexOf(parameters_.trips), [&](VarId) { Vectors(kernel_.unroll, whole); });
    if (parameters_.rest != kNoVar)
      builder_.Loop(IndexOf(parameters_.rest), [&](VarId) { Vectors(1, whole); });
    if (kernel_.k_tail != 0) Vectors(1, static_cast<int>(kernel_.k_tail));
    accumulators_.SumSets();
    for (int i = 0; i < kernel_.tile.rows; ++i)
      for (int j = 0; j < kernel_.tile.columns; j += kSums) StoreGroup(i, j);
    return std::move(builder_).Build();
  }

 private:
  // `vectors` vectors of the reduction, the accumulator sets taking turns; `count` elements of each count.
  void Vectors(int vectors, int count) {
    for (int u = 0; u < vectors; ++u) {
      if (u > 0 && kernel_.fence_steps) builder_.Do(Fence{});
      const int64_t k = u * kernel_.step();
      for (int j = 0; j < kernel_.tile.columns; ++j)
        builder_.Do(Load{rhs_[static_cast<size_t>(j)], At(parameters_.rhs, kernel_.rhs.At(k, j)), count});
      if (kernel_.prefetches() && k % LineElements() == 0) PrefetchRhs(k);
      for (int i = 0; i < kernel_.tile.rows; ++i) {
        if (i > 0 && kernel_.fence_rows) builder_.Do(Fence{});
        builder_.Do(Load{lhs_, At(parameters_.lhs, kernel_.lhs.At(i, k)), count});
        for (int j = 0; j < kernel_.tile.columns; ++j)
          builder_.Do(
              MultiplyAdd{accumulators_.at(u % kernel_.k_split, i, j), lhs_, rhs_[static_cast<size_t>(j)]});
      }
      for (int j = 0; j < kernel_.tile.columns && excess_ != kNoVar; ++j)
        builder_.Do(MultiplyAdd{accumulators_.at(u % kernel_.k_split, kernel_.tile.rows, j), excess_,
                                rhs_[static_cast<size_t>(j)]});
    }
    const int64_t steps = vectors * kernel_.step();
    builder_.Do(Advance{parameters_.lhs, steps});
    builder_.Do(Advance{parameters_.rhs, steps});
  }

  int64_t LineElements() const { return kLineBytes / Bytes(kernel_.rhs.dtype); }

  // May point past the end of rhs: a prefetch of memory that isn't there does nothing.
  void PrefetchRhs(int64_t k) {
    for (int j = 0; j < kernel_.tile.columns; ++j)
      builder_.Do(
          Prefetch{At(parameters_.rhs, kernel_.rhs.At(k + kernel_.prefetch_k, j + kernel_.prefetch_n))});
  }

  // Output elements (i, j .. j + 3), as far as there are any.
  void StoreGroup(int i, int j) {
    const int count = std::min(kSums, kernel_.tile.columns - j);
    LaneSums sums{sums_, {kNoVar, kNoVar, kNoVar, kNoVar}};
    for (int e = 0; e < count; ++e) sums.from[static_cast<size_t>(e)] = accumulators_.at(0, i, j + e);
    builder_.Do(sums);
    const Address address = At(parameters_.out, kernel_.out.At(i, j));
    if (kernel_.accumulate) {
      builder_.Do(Load{old_, address, count});
      builder_.Do(Binary{BinaryOp::kAdd, sums_, sums_, old_});
    }
    builder_.Do(Store{epilogue_.Apply(sums_, i, j, count), address, count});
  }

  const Microkernel& kernel_;
  ProcedureBuilder builder_;
  const MicrokernelParameters parameters_;
  const AccumulatorSets accumulators_;
  const VarId lhs_, sums_, old_;
  EpilogueCode epilogue_;
  VarId excess_ = kNoVar;  // of lhs as o8
  std::vector<VarId> rhs_;
};

}  // namespace

Procedure DotProductProcedure(const Microkernel& kernel) { return DotProduct(kernel).Build(); }

}  // namespace kirsch
