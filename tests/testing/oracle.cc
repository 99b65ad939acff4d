#include "tests/testing/oracle.h"

#include <limits>
#include <vector>

#include "codegen/verify_data.h"
#include "spec/interpreter.h"
#include "spec/reference.h"

namespace kirsch::testing {
namespace {

constexpr float kInputGap = std::numeric_limits<float>::quiet_NaN();
constexpr float kOutputGap = -12345;

::testing::AssertionResult Compare(const Spec& spec, const Expected& expected,
                                   const std::vector<float>& out) {
  const int output = spec.op_info().output();
  size_t element = 0;
  int64_t end_of_row = 0;
  ::testing::AssertionResult result = ::testing::AssertionSuccess();
  ForEachRun(spec, output, [&](int64_t offset, int64_t count) {
    for (int64_t i = end_of_row; result && i < offset; ++i)
      if (out[static_cast<size_t>(i)] != kOutputGap)
        result = ::testing::AssertionFailure() << "the gap before row offset " << offset << " was written";
    for (int64_t i = 0; i < count; ++i, ++element) {
      const float got = out[static_cast<size_t>(offset + i)];
      if (result && got != static_cast<float>(expected.value[element]))
        result = ::testing::AssertionFailure()
                 << "element " << element << ": expected " << expected.value[element] << ", got " << got;
    }
    end_of_row = offset + count;
  });
  return result;
}

}  // namespace

::testing::AssertionResult InterpretedEqualsReference(const Impl& impl, const Target& target) {
  const Spec& spec = impl.spec;
  const size_t output = static_cast<size_t>(spec.op_info().output());
  std::vector<std::vector<float>> operands;
  ConstOperands pointers = {};
  for (int operand = 0; operand < spec.op_info().num_operands; ++operand) {
    operands.emplace_back(static_cast<size_t>(RootElements(spec, operand)));
    std::vector<float>& data = operands.back();
    const float gap = static_cast<size_t>(operand) == output ? kOutputGap : kInputGap;
    FillOperand(spec, operand, InputKind::kIntegers, 1, gap, data.data());
    pointers[static_cast<size_t>(operand)] = data.data();
  }
  const Expected expected = Reference(spec, pointers);
  Interpret(impl, target, pointers, operands[output].data());
  return Compare(spec, expected, operands[output]);
}

}  // namespace kirsch::testing
