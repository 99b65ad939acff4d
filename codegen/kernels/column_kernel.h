// Row programs that reduce all rows, as procedures. Internal to codegen/.
#ifndef KIRSCH_CODEGEN_KERNELS_COLUMN_KERNEL_H_
#define KIRSCH_CODEGEN_KERNELS_COLUMN_KERNEL_H_

#include "codegen/kernels/row_kernel.h"
#include "codegen/loop/loop_program.h"

namespace kirsch {

// RowProcedure() of a program that `reduces_rows`.
Procedure ColumnProcedure(const RowKernel& kernel);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_KERNELS_COLUMN_KERNEL_H_
