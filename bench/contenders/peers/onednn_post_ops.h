// SPDX-License-Identifier: Apache-2.0
// The elementwise operations of graphs as oneDNN has them.
#ifndef KIRSCH_BENCH_CONTENDERS_PEERS_ONEDNN_POST_OPS_H_
#define KIRSCH_BENCH_CONTENDERS_PEERS_ONEDNN_POST_OPS_H_

#include <cfloat>
#include <cstddef>
#include <dnnl.hpp>
#include <optional>

#include "spec/graph/graph.h"

// Of one argument.
struct Function {
  dnnl::algorithm algorithm;
  float alpha, beta;
};

inline bool Commutes(kirsch::Operation op) {
  using kirsch::Operation;
  return op == Operation::kAdd || op == Operation::kMul || op == Operation::kMax || op == Operation::kMin;
}

// Of two tensors.
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

// An operation with a number, input `side` being the tensor.
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

// The operation as a function of input `side`, the other being a number if there is one. None for two
// tensors, and for erf, which oneDNN lacks.
inline std::optional<Function> FunctionOf(const kirsch::Graph& graph, const kirsch::GraphNode& node,
                                          size_t side) {
  using dnnl::algorithm;
  using kirsch::Operation;
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

// Whether a primitive that ends with the value `before` can apply the operation as its next post-op: to it
// and a number, or to it first and another tensor.
inline bool CanFollow(const kirsch::Graph& graph, const kirsch::GraphNode& node, int before) {
  const size_t side = node.inputs[0] == before ? 0 : 1;
  if (FunctionOf(graph, node, side)) return true;
  if (node.inputs.size() != 2 || node.inputs[0] == node.inputs[1]) return false;
  return side == 0 || Commutes(node.op);
}

#endif  // KIRSCH_BENCH_CONTENDERS_PEERS_ONEDNN_POST_OPS_H_
