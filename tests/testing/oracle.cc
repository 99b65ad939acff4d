// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/oracle.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <vector>

#include "codegen/verify/verify_data.h"
#include "spec/element.h"
#include "spec/element_array.h"
#include "spec/meaning/interpreter.h"
#include "spec/meaning/reference.h"
#include "spec/program/impl_program.h"

namespace kirsch::testing {
namespace {

constexpr double kOutputGap = -12345;
using Bytes8 = std::array<std::byte, 8>;

double InputGap(Dtype dtype) { return IsFloating(dtype) ? std::numeric_limits<double>::quiet_NaN() : 123; }

// Element number `index`, and nothing after it.
Bytes8 ElementAt(Dtype dtype, const std::vector<std::byte>& data, int64_t index) {
  const size_t bytes = static_cast<size_t>(Bytes(dtype));
  Bytes8 element = {};
  memcpy(element.data(), data.data() + static_cast<size_t>(index) * bytes, bytes);
  return element;
}

Bytes8 ElementOf(Dtype dtype, double value) {
  Bytes8 element = {};
  StoreElement(dtype, value, element.data(), 0);
  return element;
}

::testing::AssertionResult Compare(const Spec& spec, const Expected& expected,
                                   const std::vector<std::byte>& out) {
  const int output = spec.op_info().output();
  const Dtype dtype = spec.out().dtype;
  size_t element = 0;
  int64_t end_of_row = 0;
  ::testing::AssertionResult result = ::testing::AssertionSuccess();
  ForEachRun(spec, output, [&](int64_t offset, int64_t count) {
    for (int64_t i = end_of_row; result && i < offset; ++i)
      if (ElementAt(dtype, out, i) != ElementOf(dtype, kOutputGap))
        result = ::testing::AssertionFailure() << "the gap before row offset " << offset << " was written";
    for (int64_t i = 0; i < count; ++i, ++element)
      if (result && ElementAt(dtype, out, offset + i) != ElementOf(dtype, expected.value[element]))
        result = ::testing::AssertionFailure()
                 << "element " << element << ": expected " << expected.value[element] << ", got "
                 << LoadElement(dtype, out.data(), offset + i);
    end_of_row = offset + count;
  });
  return result;
}

absl::Status InterpretImpl(const Impl& impl, const Spec& spec, const Target& target,
                           const ConstOperands& inputs, void* out) {
  const Program program = WriteProgram(impl, target);
  std::vector<void*> callers(program.buffers.size());
  const auto output = static_cast<size_t>(impl.spec.op_info().output());
  // Inputs are never written through.
  for (size_t i = 0; i < static_cast<size_t>(impl.spec.op_info().num_operands); ++i)
    callers[i] = i == output ? out : const_cast<void*>(inputs[i]);
  std::vector<int64_t> sizes;
  for (size_t dim : SymbolicDims(impl)) sizes.push_back(spec.size[dim]);
  return Interpret(program, callers, 1, sizes);
}

::testing::AssertionResult InterpretedEqualsReference(const Impl& impl, const Spec& spec,
                                                      const Target& target, InputKind kind) {
  const size_t output = static_cast<size_t>(spec.op_info().output());
  std::vector<std::vector<std::byte>> operands;
  ConstOperands pointers = {};
  for (int operand = 0; operand < spec.op_info().num_operands; ++operand) {
    const size_t i = static_cast<size_t>(operand);
    const Dtype dtype = spec.operand[i].dtype;
    operands.emplace_back(static_cast<size_t>(RootElements(spec, operand) * Bytes(dtype)));
    FillOperand(spec, operand, kind, 1, i == output ? kOutputGap : InputGap(dtype), operands[i].data());
    pointers[i] = operands[i].data();
  }
  const Expected expected = Reference(spec, pointers);
  const absl::Status run = InterpretImpl(impl, spec, target, pointers, operands[output].data());
  if (!run.ok()) return ::testing::AssertionFailure() << run.ToString();
  return Compare(spec, expected, operands[output]);
}

}  // namespace

::testing::AssertionResult InterpretedEqualsReference(const Impl& impl, const Target& target) {
  return InterpretedEqualsReference(impl, impl.spec, target);
}

::testing::AssertionResult InterpretedEqualsReference(const Impl& range, const Spec& spec,
                                                      const Target& target) {
  for (InputKind kind : {InputKind::kIntegers, InputKind::kFullRange}) {
    if (!Suits(spec, kind)) continue;
    const ::testing::AssertionResult result = InterpretedEqualsReference(range, spec, target, kind);
    if (!result) return result;
  }
  return ::testing::AssertionSuccess();
}

}  // namespace kirsch::testing
