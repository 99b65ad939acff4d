#include "bench/workload/finished_sum.h"

#include <cstdint>

#include "spec/meaning/reference.h"
#include "spec/storage.h"

namespace kirsch {

Uncertain FinishedSum(const Workload& workload, size_t batch, size_t row, size_t column, Uncertain sum) {
  ConstOperands operands = {};
  for (size_t i = 0; i < workload.operands.size(); ++i) operands[i] = workload.operands[i].values;
  return ApplyEpilogue(*workload.spec, operands, static_cast<int64_t>(batch), static_cast<int64_t>(row),
                       static_cast<int64_t>(column), sum);
}

}  // namespace kirsch
