// The epilogue of a microkernel: what is done to a vector of sums before it is stored. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_EPILOGUE_CODE_H_
#define KIRSCH_CODEGEN_EPILOGUE_CODE_H_

#include <cstdint>
#include <vector>

#include "codegen/microkernels.h"
#include "codegen/procedure_builder.h"

namespace kirsch {

class EpilogueCode {
 public:
  // `arguments`: the pointers of kernel.arguments. Sums come as vectors of `lanes`.
  EpilogueCode(ProcedureBuilder& builder, const Microkernel& kernel, const std::vector<VarId>& arguments,
               int lanes);

  // The vector to store for the sums of elements (row, column), (row, column + 1), ... `count` of which
  // exist. `sums` may be overwritten.
  VarId Apply(VarId sums, int row, int64_t column, int count);

 private:
  VarId Vector(const char* name, Dtype dtype, VarId* made);
  Address AddressOf(size_t argument, int row, int64_t column) const;
  void LoadOperand(const EpilogueStep& step, VarId to);
  VarId Stored(VarId x);

  struct Place {
    int row;
    int64_t column;
    int count;
  };

  ProcedureBuilder& builder_;
  const Microkernel& kernel_;
  const std::vector<VarId>& arguments_;
  const int lanes_;
  // Made when they are first needed.
  VarId real_ = kNoVar;                                     // what a sum of integers is converted to
  VarId integer_ = kNoVar;                                  // what floats become in the end
  VarId integer_operand_ = kNoVar, real_operand_ = kNoVar;  // of a step
  VarId addend_ = kNoVar;                                   // of a fused step
  Place place_ = {};
  size_t next_argument_ = 0;
};

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_EPILOGUE_CODE_H_
