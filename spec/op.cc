#include "spec/op.h"

#include <memory>
#include <mutex>

#include "spec/check.h"

namespace kirsch {

namespace internal {
constinit std::array<std::atomic<const OpInfo*>, kMaxOps> op_table = {&kMatmulInfo};
}  // namespace internal

namespace {

constexpr std::array<std::string_view, kMaxEpilogueOperands> kNames = {"arg1", "arg2", "arg3"};

// Vectors are matrices that don't vary along the other axis.
OperandInfo InfoOf(EpilogueOperand operand, std::string_view name) {
  OperandInfo info{name, 3, {}};
  const bool all = operand == EpilogueOperand::kAll;
  if (all) info.axes[0] = Along(MatmulDims::kB);
  if (all || operand == EpilogueOperand::kRows) info.axes[1] = Along(MatmulDims::kM);
  if (all || operand == EpilogueOperand::kColumns) info.axes[2] = Along(MatmulDims::kN);
  return info;
}

OpInfo MatmulWith(const Epilogue& epilogue) {
  OpInfo info = kMatmulInfo;
  info.epilogue = epilogue;
  for (const EpilogueStep& step : epilogue) {
    if (!step.HasOperand()) continue;
    const auto number = static_cast<size_t>(info.num_operands - kMatmulInfo.num_operands);
    info.operands[static_cast<size_t>(info.num_operands++)] = InfoOf(step.operand, kNames[number]);
  }
  return info;
}

}  // namespace

OpKind OpWith(const Epilogue& epilogue) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  KIRSCH_CHECK(epilogue.operands() <= kMaxEpilogueOperands);
  for (size_t op = 0; op < kMaxOps; ++op) {
    const OpInfo* const known = internal::op_table[op].load(std::memory_order_relaxed);
    if (known == nullptr) {
      static std::array<std::unique_ptr<const OpInfo>, kMaxOps> rows;
      rows[op] = std::make_unique<const OpInfo>(MatmulWith(epilogue));
      internal::op_table[op].store(rows[op].get(), std::memory_order_release);
    }
    if (known == nullptr || known->epilogue == epilogue) return static_cast<OpKind>(op);
  }
  KIRSCH_CHECK(false && "too many epilogues");
}

}  // namespace kirsch
