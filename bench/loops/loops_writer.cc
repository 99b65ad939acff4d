// SPDX-License-Identifier: Apache-2.0
#include "bench/loops/loops_writer.h"

#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// The beginning of every file: conversions between types that C lacks, and the type of cblas_sgemm. `real`
// and M, which it uses, are defined before it.
constexpr char kPrelude[] = R"(#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
static inline real widen_bf16(uint16_t x) {
  const uint32_t bits = (uint32_t)x << 16;
  float f;
  memcpy(&f, &bits, 4);
  return f;
}
static inline uint16_t to_bf16(real x) {
  const float f = (float)x;
  uint32_t bits;
  memcpy(&bits, &f, 4);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
static inline real rounded_bf16(real x) { return widen_bf16(to_bf16(x)); }
static inline real rounded_f16(real x) { return (real)(_Float16)x; }
static inline int32_t saturated(double x, double low, double high) {
  const double whole = rint(x);
  return (int32_t)(whole < low ? low : whole > high ? high : whole);
}
static inline real widen_float(unsigned x, int exponent, int mantissa, int infinities) {
  const int field = (int)(x >> mantissa & ((1u << exponent) - 1)), fraction = (int)(x & ((1u << mantissa) - 1));
  const int largest = (1 << exponent) - 1, most = (1 << mantissa) - 1;
  real value = M(ldexp)((real)(field ? fraction + most + 1 : fraction),
                        (field ? field : 1) - largest / 2 - mantissa);
  if (field == largest && (infinities || fraction == most)) value = fraction ? (real)NAN : (real)INFINITY;
  return x >> (exponent + mantissa) ? -value : value;
}
#define HIGHEST ((real)3.402823466e38)
typedef void sgemm_fn(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float* a, int lda,
                      const float* b, int ldb, float beta, float* c, int ldc);
)";

// An operation on numbers that only floats have becomes a function, so that its arguments are written only
// once.
std::string FunctionName(const OperationInfo& info) { return Cat("apply_", std::string(info.name)); }

// The functions of all such operations, by the C text of their rows in kOperations.
std::string Functions() {
  std::string text;
  for (const OperationInfo& info : kOperations) {
    if (info.kind != OperationKind::kElementwise || info.integers) continue;
    Append(&text, "static inline real ", FunctionName(info), "(real x", info.operands() > 1 ? ", real y" : "",
           info.operands() > 2 ? ", real z" : "", ") { return ",
           absl::StrReplaceAll(info.c, {{"$x", "x"}, {"$y", "y"}, {"$z", "z"}}), "; }\n");
  }
  return text;
}

// An element as a number: C has no bf16 and no floats of a byte.
std::string Widened(Dtype dtype, const std::string& element) {
  if (dtype == Dtype::kBf16) return Cat("widen_bf16(", element, ")");
  if (IsFloating(dtype) && Bytes(dtype) == 1)
    return Cat("widen_float(", element, ", ", Info(dtype).exponent, ", ", Info(dtype).mantissa, ", ",
               Info(dtype).infinities ? 1 : 0, ")");
  return Cat("(", IsFloating(dtype) ? "real" : "int32_t", ")", element);
}

// Returns the value of a cast, as it is computed with: rounded to the type, but held in a wider one.
std::string CastTo(Dtype from, Dtype to, const std::string& value) {
  const auto saturated = [&](double low, double high) {
    return absl::StrFormat("saturated(%s, %.0f, %.0f)", value, low, high);
  };
  if (to == Dtype::kF32) return Cat("(real)", value);
  if (IsFloating(to)) return Cat("rounded_", std::string(Info(to).name), "(", value, ")");
  if (to == Dtype::kS32 && !IsFloating(from)) return value;
  return saturated(static_cast<double>(LeastOf(to)), static_cast<double>(MostOf(to)));
}

// Bytes of `real` in the text.
size_t RealBytes(LoopsKind kind) { return kind == LoopsKind::kReference ? 8 : 4; }

}  // namespace

std::string CType(Dtype dtype, bool parameter) {
  if (IsOfBlocks(dtype)) return "float";
  if (dtype == Dtype::kF32) return parameter ? "float" : "real";
  if (dtype == Dtype::kF16) return "_Float16";
  const bool has_sign = Info(dtype).has_sign && !IsFloating(dtype);
  return Cat(has_sign ? "int" : "uint", 8 * Bytes(dtype), "_t");
}

LoopsWriter::LoopsWriter(const Graph& graph, LoopsKind kind, bool parallel)
    : graph_(graph), kind_(kind), parallel_(parallel), storage_(PlanStorage(graph, RealBytes(kind))) {
  const bool wide = kind == LoopsKind::kReference;
  // The text begins with the type of all sums, and with M(exp), which is exp or expf.
  text_ = Cat("typedef ", wide ? "double" : "float", " real;\n#define M(function) function",
              wide ? "" : "##f", "\n", kPrelude, Functions(), "void ", kLoopsEntry,
              "(const void* const* inputs, void* const* results, char* scratch, sgemm_fn* sgemm) {\n");
  // Both may be without use, which compilers complain of.
  Line("(void)scratch, (void)sgemm;");
}

LoopsCode LoopsWriter::Finish() && { return {Cat(text_, "}\n"), storage_.bytes + columns_bytes_}; }

void LoopsWriter::Line(const std::string& text) { Append(&text_, std::string(indent_, ' '), text, "\n"); }

void LoopsWriter::Open(const std::string& text) {
  Line(Cat(text, " {"));
  indent_ += 2;
}

void LoopsWriter::Close(size_t blocks) {
  for (; blocks > 0; --blocks) {
    indent_ -= 2;
    Line("}");
  }
}

std::string LoopsWriter::For(const std::string& index, int64_t count) {
  return absl::StrFormat("for (ptrdiff_t %s = 0; %s < %d; ++%s)", index, index, count, index);
}

Names LoopsWriter::OpenLoops(const std::vector<uint32_t>& dims, size_t outer) {
  Names index(outer, "0");
  std::vector<size_t> axes;
  // Axes with one element have no loop.
  for (size_t axis = 0; axis < outer; ++axis)
    if (dims[axis] > 1) axes.push_back(axis);
  // All outer loops become one, so that there are enough iterations for all threads.
  if (parallel_ && !axes.empty()) Line(Cat("#pragma omp parallel for collapse(", axes.size(), ")"));
  for (size_t axis : axes) {
    index[axis] = Cat("i", axis);
    Line(For(index[axis], dims[axis]));
  }
  Open("");
  return index;
}

LoopsWriter::View LoopsWriter::ViewOf(int node) const {
  // A transpose swaps the last two axes of what it views, which may be a view as well.
  if (graph_.at(node).op != Operation::kTranspose) return {node, graph_.at(node).type.Strides()};
  View view = ViewOf(graph_.at(node).inputs[0]);
  std::swap(view.strides[view.strides.size() - 1], view.strides[view.strides.size() - 2]);
  return view;
}

void LoopsWriter::Declare(int node) {
  const GraphNode& of = graph_.at(node);
  const bool input = of.op == Operation::kInput;
  if (!input && !HasLoops(node)) return;
  const std::string type = CType(of.type.dtype, input);
  // Parameters and results are the caller's memory, all else is scratch.
  const std::optional<size_t> result = graph_.FindResult(node);
  const std::string place = input    ? Cat("inputs[", node, "]")
                            : result ? Cat("results[", *result, "]")
                                     : Cat("scratch + ", storage_.offset[static_cast<size_t>(node)]);
  Line(Cat(input ? "const " : "", type, "* const v", node, " = (", input ? "const " : "", type, "*)(", place,
           ");"));
}

std::string LoopsWriter::Element(const View& view, const Names& index) const {
  Names terms;
  for (size_t axis = 0; axis < index.size(); ++axis) {
    // Terms of 0 are left out, so that the text stays readable.
    if (index[axis] == "0") continue;
    terms.push_back(view.strides[axis] == 1 ? index[axis]
                                            : Cat("(", index[axis], ") * ", view.strides[axis]));
  }
  return Cat("v", view.base, "[", terms.empty() ? "0" : absl::StrJoin(terms, " + "), "]");
}

std::string LoopsWriter::Value(int node, const Names& index) const {
  const GraphNode& of = graph_.at(node);
  // A number of the graph is written as a constant.
  if (of.op == Operation::kNumber)
    return !IsFloating(of.type.dtype) ? absl::StrFormat("(int32_t)%.0f", of.number)
           : std::isinf(of.number)    ? of.number < 0 ? "-(real)INFINITY" : "(real)INFINITY"
                                      : absl::StrFormat("(real)%.9g", of.number);
  // Shapes are aligned at their last axes. An axis with one element is repeated.
  Names own(index.end() - static_cast<ptrdiff_t>(of.type.dims.size()), index.end());
  for (size_t axis = 0; axis < own.size(); ++axis)
    if (of.type.dims[axis] == 1) own[axis] = std::string("0");
  if (storage_.inlined[static_cast<size_t>(node)]) return Pointwise(of, own);
  return Widened(of.type.dtype, Element(ViewOf(node), own));
}

// An operation with a number has it in the node, in place of a second operand.
std::string LoopsWriter::Pointwise(const GraphNode& node, const Names& index) const {
  const std::string first = Value(node.inputs[0], index);
  if (node.op == Operation::kCast)
    return CastTo(graph_.at(node.inputs[0]).type.dtype, node.type.dtype, first);
  const OperationInfo& info = Info(node.op);
  const std::string second = node.inputs.size() > 1 ? Value(node.inputs[1], index)
                             : info.operands() == 2 ? absl::StrFormat("(real)%.9g", node.number)
                                                    : "";
  // Operations that integers have, too, are written in place: a function would fix the type of their
  // arguments.
  if (info.integers) return absl::StrReplaceAll(info.c, {{"$x", first}, {"$y", second}});
  const std::string third = node.inputs.size() > 2 ? Value(node.inputs[2], index) : "";
  return Cat(FunctionName(info), "(", first, second.empty() ? "" : ", ", second, third.empty() ? "" : ", ",
             third, ")");
}

void LoopsWriter::DeclareColumns(const std::string& name, size_t elements) {
  Line(Cat("float* const ", name, " = (float*)(scratch + ", storage_.bytes + columns_bytes_, ");"));
  // Columns come behind all values, each on whole lines.
  columns_bytes_ += (elements * sizeof(float) + 63) / 64 * 64;
}

}  // namespace kirsch
