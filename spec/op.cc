// SPDX-License-Identifier: Apache-2.0
#include "spec/op.h"

#include <deque>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "spec/check.h"

namespace kirsch {

namespace internal {
template <size_t... op>
constexpr OpPage PageOfBasicOps(std::index_sequence<op...>) {
  return {kBasicOps[op]...};
}
constinit OpPage first_op_page = PageOfBasicOps(std::make_index_sequence<kBasicOps.size()>());
constinit std::array<std::atomic<OpPage*>, kOpPages> op_pages = {&first_op_page};
}  // namespace internal

namespace {

constexpr std::array<std::string_view, kMaxEpilogueOperands> kNames = {"arg1", "arg2", "arg3"};

// How the iteration space indexes an operand of the epilogue. Vectors are matrices that don't vary along the
// other axis.
OperandInfo InfoOf(EpilogueOperand operand, std::string_view name) {
  OperandInfo info{name, 3, {}};
  const bool all = operand == EpilogueOperand::kAll;
  if (all) info.axes[0] = Along(MatmulDims::kB);
  if (all || operand == EpilogueOperand::kRows) info.axes[1] = Along(MatmulDims::kM);
  if (all || operand == EpilogueOperand::kColumns) info.axes[2] = Along(MatmulDims::kN);
  return info;
}

// The basic operation's row with the epilogue's operands behind its own.
OpInfo InfoWith(OpKind base, const Epilogue& epilogue, const Window& window) {
  OpInfo info = Info(base);
  info.epilogue = epilogue;
  info.window = window;
  for (const EpilogueStep& step : epilogue) {
    if (!step.HasOperand()) continue;
    const auto number = static_cast<size_t>(info.num_operands - kMaxMatrices);
    info.operands[static_cast<size_t>(info.num_operands++)] = InfoOf(step.operand, kNames[number]);
  }
  return info;
}

// The rows that were added; guarded by the mutex of OpWith.
class Rows {
 public:
  // The number of the row, which is added if it is new. Rows that it refers to come first.
  OpKind With(OpKind base, const Epilogue& epilogue, const Window& window) {
    if (epilogue.empty() && window.empty()) return base;
    const Key key = MakeKey(base, epilogue, window);
    if (const auto known = numbers_.find(key); known != numbers_.end()) return known->second;
    OpInfo info = InfoWith(base, epilogue, window);
    if (!epilogue.empty()) info.sums = With(base, {}, window);
    if (!window.empty()) AddNarrowed(&info);
    const auto own = static_cast<OpKind>(count_);
    if (epilogue.empty()) info.sums = own;
    if (window.empty() || info.lanewise()) info.strided = own;
    if (!window.empty()) {
      info.narrowed[Last(window.axes[0])][Last(window.axes[1])] = own;
    }
    Add(info);
    numbers_.emplace(key, own);
    return own;
  }

 private:
  using Key = std::vector<uint32_t>;

  // Readers may look while a row is added. So a pointer is stored, with release, when what it points to is
  // complete.
  void Add(const OpInfo& info) {
    using internal::kOpsPerPage;
    KIRSCH_CHECK(count_ < kOpsPerPage * internal::kOpPages);
    if (count_ % kOpsPerPage == 0)
      internal::op_pages[count_ / kOpsPerPage].store(&pages_.emplace_back(), std::memory_order_release);
    (*internal::op_pages[count_ / kOpsPerPage])[count_ % kOpsPerPage].store(&rows_.emplace_back(info),
                                                                            std::memory_order_release);
    ++count_;
  }

  // Everything in which two rows of one base may differ. Unused digits are zeros, so the key says how many
  // there are.
  static Key MakeKey(OpKind base, const Epilogue& epilogue, const Window& window) {
    Key key = {static_cast<uint32_t>(base), static_cast<uint32_t>(window.operand)};
    for (const DigitAxis& axis : {window.axes[0], window.axes[1], window.filters})
      for (const Digit& digit : axis.digit) key.insert(key.end(), {digit.count, digit.stride});
    for (const EpilogueStep& step : epilogue)
      key.insert(key.end(), {static_cast<uint32_t>(step.op), static_cast<uint32_t>(step.operand),
                             static_cast<uint32_t>(step.number), static_cast<uint32_t>(step.number >> 32)});
    return key;
  }

  static size_t Last(const DigitAxis& axis) { return static_cast<size_t>(axis.digits - 1); }

  // Adds the rows for tiles whose indices have fewer digits. A lanewise lhs stays a window with one digit
  // each.
  void AddNarrowed(OpInfo* info) {
    const Window& window = info->window;
    const bool stays = info->lanewise();
    if (!stays) info->strided = With(info->base, info->epilogue, {});
    for (int rows = 1; rows <= window.axes[0].digits; ++rows)
      for (int columns = 1; columns <= window.axes[1].digits; ++columns) {
        const Window narrow{window.operand,
                            {window.axes[0].Truncated(rows), window.axes[1].Truncated(columns)},
                            window.filters};
        if (narrow == window) continue;
        info->narrowed[static_cast<size_t>(rows - 1)][static_cast<size_t>(columns - 1)] =
            narrow.IsStrided() && !stays ? info->strided : With(info->base, info->epilogue, narrow);
      }
  }

  size_t count_ = kBasicOps.size();
  std::map<Key, OpKind> numbers_;
  std::deque<OpInfo> rows_;
  std::deque<internal::OpPage> pages_;  // but the first
};

}  // namespace

OpKind OpWith(const Epilogue& epilogue, const Window& window, OpKind base) {
  static std::mutex mutex;
  static Rows rows;
  const std::lock_guard<std::mutex> lock(mutex);
  KIRSCH_CHECK(epilogue.operands() <= kMaxEpilogueOperands);
  KIRSCH_CHECK(Info(base).lanewise() ? window.operand == MatmulDims::kLhs
                                     : window.empty() || !window.IsStrided());
  return rows.With(base, epilogue, window);
}

}  // namespace kirsch
