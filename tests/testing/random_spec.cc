// SPDX-License-Identifier: Apache-2.0
#include "tests/testing/random_spec.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "spec/element_array.h"
#include "spec/language/epilogue_parser.h"
#include "spec/language/printer.h"
#include "spec/microkernel.h"
#include "spec/text/cat.h"
#include "tests/testing/targets.h"

namespace kirsch::testing {
namespace {

Layout Strided(Order order, uint32_t rows, uint32_t columns, uint32_t gap) {
  Layout layout;
  layout.order = order;
  layout.ld = (order == Order::kRow ? columns : rows) + gap;
  return layout;
}

uint32_t RandomSide(uint32_t max_side, std::mt19937_64* random) {
  const double exponent = std::uniform_real_distribution<double>(0, std::log2(max_side + 1.0))(*random);
  return std::min(max_side, static_cast<uint32_t>(std::exp2(exponent)));
}

uint32_t RandomGap(std::mt19937_64* random) {
  return (*random)() % 2 == 0 ? 0 : static_cast<uint32_t>((*random)() % 20);
}

Order RandomOrder(std::mt19937_64* random) { return (*random)() % 2 == 0 ? Order::kRow : Order::kCol; }

}  // namespace

std::vector<MatmulTypes> EveryTypes() {
  std::vector<MatmulTypes> all;
  for (const MatmulTypes& types : kMatmulTypes) {
    if (!TargetHas(PlainArithmetic(types.lhs), Avx2Target())) continue;
    all.push_back(types);
    if (types.lhs != types.rhs) all.push_back({types.rhs, types.lhs, types.out});
  }
  return all;
}

std::string NameOf(const MatmulTypes& types) {
  return Cat(Info(types.lhs).name, "_", Info(types.rhs).name, "_", Info(types.out).name);
}

Spec MatmulSpec(const MatmulShape& shape) {
  Spec spec;
  spec.accumulate = shape.accumulate;
  spec.operand[MatmulDims::kLhs].dtype = shape.types.lhs;
  spec.operand[MatmulDims::kRhs].dtype = shape.types.rhs;
  spec.operand[MatmulDims::kOut].dtype = shape.types.out;
  spec.size = {shape.b, shape.m, shape.k, shape.n};
  spec.operand[MatmulDims::kLhs].layout = Strided(shape.lhs, shape.m, shape.k, shape.lhs_gap);
  spec.operand[MatmulDims::kRhs].layout = Strided(shape.rhs, shape.k, shape.n, shape.rhs_gap);
  spec.operand[MatmulDims::kOut].layout = Strided(Order::kRow, shape.m, shape.n, shape.out_gap);
  if (shape.constant >= 0) spec.tensor(shape.constant).constant = 1;
  spec.lhs_as = shape.lhs_as;
  return spec;
}

Spec RandomMatmulSpec(const RandomSpecOptions& options, std::mt19937_64* random) {
  MatmulShape shape;
  do {
    shape.b = (*random)() % 4 == 0 ? static_cast<uint32_t>((*random)() % options.max_batch) + 1 : 1;
    shape.m = RandomSide(options.max_side, random);
    shape.k = RandomSide(options.max_side, random);
    shape.n = RandomSide(options.max_side, random);
  } while (2.0 * shape.b * shape.m * shape.k * shape.n > options.max_flops);
  shape.lhs = RandomOrder(random);
  shape.rhs = RandomOrder(random);
  shape.lhs_gap = RandomGap(random);
  shape.rhs_gap = RandomGap(random);
  shape.out_gap = RandomGap(random);
  shape.accumulate = (*random)() % 2 == 0;
  shape.types = options.types;
  for (LhsAs as : {LhsAs::kBf16, LhsAs::kF16})
    if (WantedBesideRounding(as, shape.types.lhs, shape.types.rhs).empty() && (*random)() % 2 == 0)
      shape.lhs_as = as;
  if (options.constants && (shape.b == 1 || options.constant_batches))
    shape.constant = static_cast<int>((*random)() % 3) - 1;
  return MatmulSpec(shape);
}

Spec WithSize(Spec spec, int dim, uint32_t size) {
  uint32_t& was = spec.size[static_cast<size_t>(dim)];
  for (int operand = 0; operand < spec.op_info().num_operands; ++operand) {
    Layout& layout = spec.tensor(operand).layout;
    if (InnerDim(spec, operand) == dim && layout.ld == was) layout.ld = size;
  }
  was = size;
  return spec;
}

Spec WithRandomEpilogue(const Spec& spec, std::mt19937_64* random) {
  const Dtype sum = AccumulatorOf(spec);
  Epilogue epilogue;
  const int steps = 1 + static_cast<int>((*random)() % 5);
  bool real = IsFloating(sum);
  while (epilogue.count < steps) {
    EpilogueStep step;
    step.op = static_cast<Operation>((*random)() % kStepOperations);
    if (Info(sum).own_sums && IsComposed(step.op)) continue;
    if (IsComposed(step.op) ? !real : step.op == Operation::kF32 && real) continue;
    if (Info(step.op).operands() == 2) step.operand = static_cast<EpilogueOperand>(1 + (*random)() % 5);
    if (step.HasOperand() && epilogue.operands() == kMaxEpilogueOperands) continue;
    const auto number = static_cast<int32_t>((*random)() % 7) - 3;
    if (step.operand == EpilogueOperand::kNumber)
      StoreElement(IsFloating(sum) || !real ? sum : Dtype::kF32, real ? 0.75 * number : number, &step.number,
                   0);
    real |= step.op == Operation::kF32;
    epilogue.steps[static_cast<size_t>(epilogue.count++)] = step;
  }
  Spec with = spec;
  with.op = OpWith(epilogue, spec.op_info().window, spec.op_info().base);
  do {
    with.out().dtype = Info(sum).own_sums ? sum : kCallersElements[(*random)() % kCallersElements.size()];
  } while (!MayStore(TypeAfter(epilogue, sum), with.out().dtype));
  with.accumulate &= Holds(sum, with.out().dtype);
  LayOutEpilogue(&with);
  return with;
}

std::string Describe(const Spec& spec) {
  std::ostringstream text;
  text << "matmul "
       << PrintTypes(
              {spec.operand[MatmulDims::kLhs].dtype, spec.operand[MatmulDims::kRhs].dtype, spec.out().dtype})
       << " b" << spec.size[MatmulDims::kB] << " " << spec.size[MatmulDims::kM] << "x"
       << spec.size[MatmulDims::kK] << "x" << spec.size[MatmulDims::kN];
  for (int operand = 0; operand < spec.op_info().num_operands; ++operand) {
    const Layout& layout = spec.tensor(operand).layout;
    text << " " << spec.op_info().operands[static_cast<size_t>(operand)].name << "="
         << (layout.order == Order::kRow ? "row" : "col") << "/" << layout.ld;
  }
  if (spec.accumulate) text << " accumulate";
  if (const int operand = ConstantOperand(spec); operand >= 0)
    text << " const-" << spec.op_info().operands[static_cast<size_t>(operand)].name;
  return text.str();
}

}  // namespace kirsch::testing
