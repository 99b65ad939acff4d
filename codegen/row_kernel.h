// Row programs as procedures of a loop program.
#ifndef KIRSCH_CODEGEN_ROW_KERNEL_H_
#define KIRSCH_CODEGEN_ROW_KERNEL_H_

#include <cstdint>
#include <string>
#include <vector>

#include "codegen/loop_program.h"
#include "spec/row_program.h"
#include "spec/row_schedule.h"

namespace kirsch {

struct RowKernel {
  RowProgram program;
  RowSchedule schedule;
  int64_t columns = 0;
  // From each row to the next, in elements; 0 for what is the same for all rows.
  std::vector<int64_t> input_row_strides, result_row_strides;
  // Pointers of results and inputs may be the same where MayBeInPlace() says so of them; else no two overlap.
  bool in_place = false;
  bool scales = false;  // the code may use AVX-512F's instruction for a * 2^n

  // Unique among kernels that differ, but for what hashes cannot tell apart.
  std::string Name() const;
  // Are there values in scratch memory?
  bool TakesScratch() const;
};

// The procedure: (inputs..., results...[, scratch], rows). `scratch`, if the kernel takes it, has
// ScratchElements() f32. Elements of a row are contiguous, and need no alignment.
Procedure RowProcedure(const RowKernel& kernel);

// ISA features that the procedure needs besides those of its vectors and masks.
std::vector<std::string> RowFeatures(const RowKernel& kernel);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_ROW_KERNEL_H_
