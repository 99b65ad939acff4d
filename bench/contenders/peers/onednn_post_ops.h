// SPDX-License-Identifier: Apache-2.0
// Translates the elementwise operations of graphs to those of oneDNN.
#ifndef KIRSCH_BENCH_CONTENDERS_PEERS_ONEDNN_POST_OPS_H_
#define KIRSCH_BENCH_CONTENDERS_PEERS_ONEDNN_POST_OPS_H_

#include <cfloat>
#include <cstddef>
#include <dnnl.hpp>
#include <optional>

#include "spec/graph/graph.h"

// A function of one argument, as oneDNN has it: an algorithm with two numbers.
struct Function {
  dnnl::algorithm algorithm;
  float alpha, beta;
};

// True if the operands may be exchanged. oneDNN's second operand is special: it alone is repeated.
inline bool Commutes(kirsch::Operation op) {
  using kirsch::Operation;
  return op == Operation::kAdd || op == Operation::kMul || op == Operation::kMax || op == Operation::kMin;
}

// Returns the algorithm for two tensors.
inline dnnl::algorithm BinaryOf(kirsch::Operation op) {
  using kirsch::Operation;
  switch (op) {
    case Operation::kAdd:
      return dnnl::algorithm::binary_add;
    case Operation::kSub:
      return dnnl::algorithm::binary_sub;
    case Operation::kMul:
      return dnnl::algorithm::binary_mul;
    case Operation::kDiv:
      return dnnl::algorithm::binary_div;
    case Operation::kMax:
      return dnnl::algorithm::binary_max;
    default:
      return dnnl::algorithm::binary_min;
  }
}

// Returns the function that an operation with a number is. Input `side` is the tensor: x - 3 has side 0, and
// is linear with 1 and -3; 3 - x has side 1, and is linear with -1 and 3.
inline std::optional<Function> WithNumber(kirsch::Operation op, size_t side, float number) {
  using dnnl::algorithm;
  using kirsch::Operation;
  switch (op) {
    case Operation::kAdd:
      return Function{algorithm::eltwise_linear, 1, number};
    case Operation::kSub:
      return side == 0 ? Function{algorithm::eltwise_linear, 1, -number}
                       : Function{algorithm::eltwise_linear, -1, number};
    case Operation::kMul:
      return Function{algorithm::eltwise_linear, number, 0};
    case Operation::kDiv:
      return side == 0 ? Function{algorithm::eltwise_linear, 1 / number, 0}
                       : Function{algorithm::eltwise_pow, number, -1};
    case Operation::kMax:
      return Function{algorithm::eltwise_clip, number, FLT_MAX};
    case Operation::kMin:
      return Function{algorithm::eltwise_clip, -FLT_MAX, number};
    default:
      return std::nullopt;
  }
}

// Returns the operation as a function of input `side`; the other input, if there is one, is a number. Nothing
// for two tensors, and for erf, which oneDNN lacks.
inline std::optional<Function> FunctionOf(const kirsch::Graph& graph, const kirsch::GraphNode& node,
                                          size_t side) {
  using dnnl::algorithm;
  using kirsch::Operation;
  // With two inputs, one of them must be a number.
  if (node.inputs.size() == 2) {
    const kirsch::GraphNode& other = graph.at(node.inputs[1 - side]);
    if (other.op != Operation::kNumber) return std::nullopt;
    return WithNumber(node.op, side, static_cast<float>(other.number));
  }
  switch (node.op) {
    case Operation::kNeg:
      return Function{algorithm::eltwise_linear, -1, 0};
    case Operation::kSqrt:
      return Function{algorithm::eltwise_sqrt, 0, 0};
    case Operation::kExp:
      return Function{algorithm::eltwise_exp, 0, 0};
    case Operation::kTanh:
      return Function{algorithm::eltwise_tanh, 0, 0};
    case Operation::kSigmoid:
      return Function{algorithm::eltwise_logistic, 0, 0};
    case Operation::kRelu:
      return Function{algorithm::eltwise_relu, 0, 0};
    case Operation::kLeakyRelu:
      return Function{algorithm::eltwise_relu, static_cast<float>(node.number), 0};
    case Operation::kGelu:
      return Function{algorithm::eltwise_gelu_erf, 0, 0};
    case Operation::kGeluTanh:
      return Function{algorithm::eltwise_gelu_tanh, 0, 0};
    case Operation::kSilu:
      return Function{algorithm::eltwise_swish, 1, 0};
    default:
      return std::nullopt;
  }
}

// True if a primitive that ends with the value `before` can apply the operation as its next post-op: to that
// value and a number, or to that value first and another tensor.
inline bool CanFollow(const kirsch::Graph& graph, const kirsch::GraphNode& node, int before) {
  const size_t side = node.inputs[0] == before ? 0 : 1;
  if (FunctionOf(graph, node, side)) return true;
  if (node.inputs.size() != 2 || node.inputs[0] == node.inputs[1]) return false;
  // The other tensor is the second operand of a post-op.
  return side == 0 || Commutes(node.op);
}

#endif  // KIRSCH_BENCH_CONTENDERS_PEERS_ONEDNN_POST_OPS_H_
