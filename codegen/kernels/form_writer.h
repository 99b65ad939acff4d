// SPDX-License-Identifier: Apache-2.0
// Holds what the writers of all forms of microkernels begin with. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_KERNELS_FORM_WRITER_H_
#define KIRSCH_CODEGEN_KERNELS_FORM_WRITER_H_

#include "codegen/kernels/accumulators.h"
#include "codegen/kernels/microkernels.h"
#include "codegen/kernels/tile_sums.h"
#include "codegen/loop/procedure_builder.h"

namespace kirsch {

// A writer writes one kernel, which must outlive it.
class FormWriter {
 protected:
  explicit FormWriter(const Microkernel& kernel)
      : kernel_(kernel), builder_(kernel.Name()), parameters_(builder_, kernel) {}

  int64_t Lane(int j) const { return int64_t{j} * kernel_.tile.lanes; }
  Affine LhsAt(int64_t row, int64_t k) const { return kernel_.lhs.At(row, k, parameters_.size); }
  Affine RhsAt(int64_t k, int64_t column) const { return kernel_.rhs.At(k, column, parameters_.size); }
  // Returns the place of a byte of row i of lhs, which is of blocks.
  Address LhsByte(int i, int byte) const {
    return At(parameters_.lhs, Bytes(kernel_.lhs.dtype, kernel_.lhs.At(i, 0)) + byte);
  }

  const Microkernel& kernel_;
  ProcedureBuilder builder_;
  const MicrokernelParameters parameters_;
};

// Of the forms whose accumulators are vectors: all but that of matrix units.
class VectorFormWriter : protected FormWriter {
 protected:
  explicit VectorFormWriter(const Microkernel& kernel)
      : FormWriter(kernel),
        accumulators_(builder_, kernel),
        sums_(builder_, kernel, accumulators_),
        excess_(kernel.tile.instruction().has_excess()
                    ? OperandVector(builder_, "excess", kernel.lhs_lanes(), kernel)
                    : kNoVar) {}

  // Lhs as o8 is 128 too much. An additional row of the tile sums this excess times rhs; no other lhs has
  // one.
  void FillExcess() {
    if (excess_ != kNoVar) builder_.Do(Fill{excess_, kExcess});
  }
  void SumExcess(int set, const RhsVectors& rhs) {
    for (int j = 0; j < kernel_.tile.columns && excess_ != kNoVar; ++j)
      builder_.Do(MultiplyAdd{accumulators_.at(set, kernel_.tile.rows, j), excess_, rhs.at(j, 0)});
  }

  const AccumulatorSets accumulators_;
  const TileSums sums_;

 private:
  const VarId excess_;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_FORM_WRITER_H_
