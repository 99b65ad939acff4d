// SPDX-License-Identifier: Apache-2.0
#include "bench/workload/workload.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <set>

#include "bench/machine/arena.h"
#include "codegen/samples/weight_scale.h"
#include "spec/storage.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// How an operand is stored: leading dimension, elements from one matrix of the batch to the next, and its
// order.
struct Stored {
  size_t ld, stride;
  int col;
};

Stored StoredOf(const Spec& spec, int operand) {
  const Layout& layout = spec.tensor(operand).layout;
  const size_t ld = layout.ld;
  return {ld, static_cast<size_t>(ExtentOf(spec, operand).outer) * ld, layout.order == Order::kCol};
}

KirschType TypeOf(const Spec& spec, int operand) { return KirschTypeOf(spec.tensor(operand).dtype); }

// Peers can only be asked for strided matrices whose rows do not overlap.
absl::Status CheckOperand(const Spec& spec, int operand) {
  const TensorSpec& tensor = spec.tensor(operand);
  // Messages name the operand as the language does.
  const std::string name{spec.op_info().operands[static_cast<size_t>(operand)].name};
  if (tensor.layout.kind != LayoutKind::kStrided)
    return absl::InvalidArgumentError(Cat("bench: ", name, ": expected a strided matrix"));
  if (tensor.layout.ld < ExtentOf(spec, operand).inner)
    return absl::InvalidArgumentError(Cat("bench: ", name, ": leading dimension ", tensor.layout.ld,
                                          ", expected at least ", ExtentOf(spec, operand).inner));
  return absl::OkStatus();
}

// Bound of the integers that sums are added to and that an epilogue takes: so little that sums stay what they
// are.
constexpr int64_t kMostAddedTo = 1000;

// Returns the type's range, but no further than `most` from 0. Floats have none.
IntegerRange RangeWithin(KirschType type, int64_t most) {
  if (!IsInteger(type)) return {};
  const Dtype dtype = static_cast<Dtype>(type);
  return {std::max(LeastOf(dtype), -most), std::min(MostOf(dtype), most)};
}

// Returns the range of an integer input of a matmul.
IntegerRange RangeOf(KirschType type, const Problem& problem) {
  const double k = static_cast<double>(problem.k);
  const auto symmetric = [](double limit, double most) {
    const int64_t high = static_cast<int64_t>(std::clamp(limit, 1.0, most));
    return IntegerRange{-high, high};
  };
  if (type == KIRSCH_U8) return {0, 255};
  // The product of two such values is at most 2^30 / k, so a sum of k products is at most 2^30.
  if (type == KIRSCH_S32) return symmetric(std::sqrt(0x1p30 / k), 0x1p15);
  // A sum of k products with a u8 has a standard deviation of 85 sqrt(k) times this.
  if (problem.out_type == KIRSCH_S16) return symmetric(0x1p15 / (85 * std::sqrt(k)), 127);
  return {-128, 127};
}

// Returns the problem with sizes and strides; pointers are still null.
absl::StatusOr<Problem> MakeProblem(const Spec& spec, int threads) {
  if (WithoutEpilogue(spec).op != OpKind::kMatmul || spec.block != 0)
    return absl::InvalidArgumentError("bench: expected a matmul without column-blocks");
  for (int operand = 0; operand <= spec.op_info().output(); ++operand)
    KIRSCH_RETURN_IF_ERROR(CheckOperand(spec, operand));
  // Peers write row-major results only.
  if (spec.out().layout.order != Order::kRow)
    return absl::InvalidArgumentError("bench: out: expected row order (a canonical spec)");
  const Stored lhs = StoredOf(spec, MatmulDims::kLhs);
  const Stored rhs = StoredOf(spec, MatmulDims::kRhs);
  const Stored out = StoredOf(spec, MatmulDims::kOut);
  Problem problem = {};
  problem.batch = spec.size[MatmulDims::kB];
  problem.m = spec.size[MatmulDims::kM];
  problem.k = spec.size[MatmulDims::kK];
  problem.n = spec.size[MatmulDims::kN];
  problem.lda = lhs.ld, problem.ldb = rhs.ld, problem.ldc = out.ld;
  problem.lhs_stride = lhs.stride, problem.rhs_stride = rhs.stride, problem.out_stride = out.stride;
  problem.lhs_type = TypeOf(spec, MatmulDims::kLhs);
  problem.rhs_type = TypeOf(spec, MatmulDims::kRhs);
  problem.out_type = TypeOf(spec, MatmulDims::kOut);
  problem.lhs_col = lhs.col, problem.rhs_col = rhs.col;
  problem.accumulate = spec.accumulate;
  problem.threads = threads;
  return problem;
}

// Takes the types of the graph's first contraction, by which the peak is chosen; f32 without a contraction.
void SetTypes(const Graph& graph, Problem& types) {
  for (const GraphNode& node : graph.nodes) {
    if (Info(node.op).kind != OperationKind::kContraction) continue;
    types.lhs_type = KirschTypeOf(graph.at(node.inputs[0]).type.dtype);
    types.rhs_type = KirschTypeOf(graph.at(node.inputs[1]).type.dtype);
    types.out_type = KirschTypeOf(node.type.dtype);
    return;
  }
}

// An operand of a graph; its values are within s16.
Workload::Operand OperandOf(const TensorType& type) {
  const KirschType element = KirschTypeOf(type.dtype);
  return {element, static_cast<size_t>(type.span()), RangeWithin(element, INT16_MAX)};
}

// Tells peers where the operands are. Called again whenever operands move.
void PointToOperands(Workload& workload) {
  std::vector<void*> places;
  for (const Workload::Operand& operand : workload.operands) places.push_back(operand.values);
  if (workload.graph != nullptr) {
    const auto results = places.begin() + workload.graph->graph.num_inputs();
    workload.graph->inputs.assign(places.begin(), results);
    workload.graph->results.assign(results, places.end());
  } else {
    workload.problem.lhs = places[0], workload.problem.rhs = places[1];
    workload.problem.out = places[MatmulDims::kOut];
  }
}

std::vector<size_t> OperandBytes(const Workload& workload) {
  std::vector<size_t> bytes;
  for (const Workload::Operand& operand : workload.operands) bytes.push_back(operand.bytes());
  return bytes;
}

}  // namespace

absl::StatusOr<Workload> MakeWorkload(const Spec& spec, int threads) {
  KIRSCH_ASSIGN_OR_RETURN(const Problem made, MakeProblem(spec, threads));
  const Problem& p = made;
  Workload workload;
  workload.problem = p;
  workload.spec = spec;
  workload.results = {MatmulDims::kOut};
  // Operands lie from their first element to the end of the last matrix, gaps included.
  workload.operands = {{p.lhs_type, p.batch * p.lhs_stride, RangeOf(p.lhs_type, p)},
                       {p.rhs_type, p.batch * p.rhs_stride, RangeOf(p.rhs_type, p)},
                       {p.out_type, p.batch * p.out_stride, RangeWithin(p.out_type, kMostAddedTo)}};
  // Only elements that are computed with count, not the gaps of leading dimensions.
  const auto bytes = [&p](size_t rows, size_t columns, KirschType type) {
    return static_cast<double>(Bytes(type, static_cast<size_t>(p.batch * rows * columns)));
  };
  workload.compulsory_bytes = bytes(p.m, p.k, p.lhs_type) + bytes(p.k, p.n, p.rhs_type) +
                              bytes(p.m, p.n, p.out_type) * (p.accumulate ? 2 : 1);
  // Operands of the epilogue come after the output, and are read once each.
  for (int i = MatmulDims::kOut + 1; i < spec.op_info().num_operands; ++i) {
    const KirschType type = TypeOf(spec, i);
    workload.operands.push_back(
        {type, static_cast<size_t>(RootElements(spec, i)), RangeWithin(type, kMostAddedTo)});
    workload.compulsory_bytes += static_cast<double>(workload.operands.back().bytes());
  }
  // A multiplication and an addition for each step of each sum.
  workload.operations = 2.0 * static_cast<double>(p.batch) * static_cast<double>(p.m) *
                        static_cast<double>(p.k) * static_cast<double>(p.n);
  return workload;
}

Workload MakeWorkload(const Graph& graph, int threads) {
  Workload workload;
  workload.graph = std::make_shared<KirschGraph>(KirschGraph{graph});
  workload.problem.graph = workload.graph.get();
  workload.problem.threads = threads;
  SetTypes(graph, workload.problem);
  for (int input = 0; input < graph.num_inputs(); ++input) {
    workload.operands.push_back(OperandOf(graph.at(input).type));
    workload.operands.back().scale = static_cast<float>(WeightScale(graph, input));
  }
  // The results come behind the parameters.
  for (const GraphResult& result : graph.results) {
    workload.results.push_back(workload.operands.size());
    workload.operands.push_back(OperandOf(graph.TypeOf(result)));
  }
  workload.compulsory_bytes = CallersBytes(graph);
  workload.operations = Flops(graph);
  return workload;
}

absl::StatusOr<Workload> MakeWorkload(const KernelMember& kernel, int threads) {
  if (const auto* const graph = std::get_if<Graph>(&kernel)) return MakeWorkload(*graph, threads);
  return MakeWorkload(std::get<ParsedSpec>(kernel).spec, threads);
}

size_t PlacedBytes(const Workload& workload) { return PlacedBytes(OperandBytes(workload)); }

void Place(void* memory, Workload& workload) {
  const std::vector<void*> places = PlaceBuffers(memory, OperandBytes(workload));
  for (size_t i = 0; i < places.size(); ++i) workload.operands[i].values = places[i];
  PointToOperands(workload);
}

namespace {

// Bit 63 stands for all operands from there on.
bool IsEvicted(const Workload& workload, size_t operand) {
  return (workload.evicted >> std::min<size_t>(operand, 63) & 1) != 0;
}

// A matmul has one constant operand at most, a graph any number.
bool IsConstant(const Workload& workload, size_t operand) {
  const int number = static_cast<int>(operand);
  if (workload.spec) return ConstantOperand(*workload.spec) == number;
  return !workload.IsResult(operand) && workload.graph->graph.IsConstant(number);
}

}  // namespace

std::vector<size_t> Weights(const Spec& spec) {
  const int constant = ConstantOperand(spec);
  return {static_cast<size_t>(constant < 0 ? MatmulDims::kRhs : constant)};
}

std::vector<size_t> Weights(const Graph& graph) {
  std::set<size_t> weights;
  for (int input = 0; input < graph.num_inputs(); ++input)
    if (graph.IsConstant(input)) weights.insert(static_cast<size_t>(input));
  if (!weights.empty()) return {weights.begin(), weights.end()};
  // The right factor of a contraction counts if it is a parameter, or is made of one by operations with one
  // input.
  for (const GraphNode& node : graph.nodes) {
    if (Info(node.op).kind != OperationKind::kContraction) continue;
    int right = node.inputs[1];
    while (graph.at(right).inputs.size() == 1) right = graph.at(right).inputs[0];
    if (right < graph.num_inputs()) weights.insert(static_cast<size_t>(right));
  }
  return {weights.begin(), weights.end()};
}

namespace {

std::vector<size_t> WeightsOf(const Workload& workload) {
  return workload.spec ? Weights(*workload.spec) : Weights(workload.graph->graph);
}

// Returns the bytes of the weights of so many copies, one copy after the other.
std::vector<size_t> RotatedBuffers(const Workload& workload, size_t copies) {
  std::vector<size_t> bytes;
  for (size_t copy = 0; copy < copies; ++copy)
    for (const size_t operand : WeightsOf(workload)) bytes.push_back(workload.operands[operand].bytes());
  return bytes;
}

}  // namespace

size_t RotatedBytes(const Workload& workload, size_t copies) {
  return PlacedBytes(RotatedBuffers(workload, copies));
}

std::vector<Workload> Rotated(const Workload& workload, size_t copies, void* memory) {
  const std::vector<void*> places = PlaceBuffers(memory, RotatedBuffers(workload, copies));
  // Everything but the weights is shared by all copies.
  std::vector<Workload> rotated(copies, workload);
  auto place = places.begin();
  for (Workload& copy : rotated) {
    // A graph's operands are in the KirschGraph, so each copy needs one of its own.
    if (workload.graph != nullptr) {
      copy.graph = std::make_shared<KirschGraph>(*workload.graph);
      copy.problem.graph = copy.graph.get();
    }
    for (const size_t operand : WeightsOf(workload)) copy.operands[operand].values = *place++;
    PointToOperands(copy);
  }
  return rotated;
}

void CopyWeights(const Workload& from, absl::Span<const Workload> to) {
  for (const size_t operand : WeightsOf(from))
    for (const Workload& copy : to)
      std::memcpy(copy.operands[operand].values, from.operands[operand].values,
                  from.operands[operand].bytes());
}

std::vector<absl::Span<const char>> EvictedMemory(const Workload& workload) {
  std::vector<absl::Span<const char>> memory;
  for (size_t i = 0; i < workload.operands.size(); ++i)
    if (IsEvicted(workload, i))
      memory.emplace_back(static_cast<const char*>(workload.operands[i].values),
                          workload.operands[i].bytes());
  return memory;
}

bool EvictsPacked(const Workload& workload) {
  if (workload.spec && ConstantOperand(*workload.spec) < 0) return IsEvicted(workload, MatmulDims::kRhs);
  // An input that is evicted; a constant operand; a constant operand that is evicted.
  bool any = false, constants = false, constant = false;
  for (size_t i = 0; i < workload.operands.size(); ++i) {
    any |= !workload.IsResult(i) && IsEvicted(workload, i);
    constants |= IsConstant(workload, i);
    constant |= IsConstant(workload, i) && IsEvicted(workload, i);
  }
  return constants ? constant : any;
}

void FillInputs(const Workload& workload) {
  for (size_t i = 0; i < workload.operands.size(); ++i) {
    const Workload::Operand& input = workload.operands[i];
    if (workload.IsResult(i)) continue;
    // The seed is the operand's number, so that no two operands are the same.
    FillElements(input.values, input.type, input.elements, i + 1, input.range, input.scale);
  }
}

void FillOutputs(const Workload& workload) {
  for (const size_t result : workload.results) {
    const Workload::Operand& out = workload.operands[result];
    if (workload.problem.accumulate)
      FillElements(out.values, out.type, out.elements, result + 1, out.range);
    else
      // All bits set are a NaN in every float type, and -1 in integers with a sign.
      std::memset(out.values, 0xff, out.bytes());
  }
}

}  // namespace kirsch
