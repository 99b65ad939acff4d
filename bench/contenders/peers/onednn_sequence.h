// SPDX-License-Identifier: Apache-2.0
// Runs a sequence of oneDNN primitives, which are made once.
#ifndef KIRSCH_BENCH_CONTENDERS_PEERS_ONEDNN_SEQUENCE_H_
#define KIRSCH_BENCH_CONTENDERS_PEERS_ONEDNN_SEQUENCE_H_

#include <cstddef>
#include <cstdint>
#include <dnnl.hpp>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bench/contenders/peers/onednn.h"
#include "bench/contenders/peers/onednn_post_ops.h"

// The memory of each argument of a primitive (DNNL_ARG_SRC).
using Arguments = std::unordered_map<int, dnnl::memory>;

// Describes a row-major tensor. One without axes has one of size 1.
inline dnnl::memory::desc Plain(const std::vector<uint32_t>& sizes, dnnl::memory::data_type type) {
  dnnl::memory::dims dims(sizes.begin(), sizes.end()), strides(sizes.size(), 1);
  if (dims.empty()) dims = strides = {1};
  for (size_t axis = dims.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * dims[axis];
  return {dims, type, strides};
}

// Adds leading axes of size 1, up to `rank`: primitives want operands with as many axes.
inline dnnl::memory::desc Expanded(const dnnl::memory::desc& desc, size_t rank) {
  dnnl::memory::dims dims = desc.dims();
  while (dims.size() < rank) dims.insert(dims.begin(), 1);
  return desc.reshape(dims);
}

// Leaves the layout to the primitive.
inline dnnl::memory::desc AnyLayout(const dnnl::memory::desc& desc) {
  return {desc.dims(), desc.data_type(), dnnl::memory::format_tag::any};
}

// The steps of a graph. Derived classes add them; Run executes them in this order, on one stream.
class PrimitiveSequence : public OnednnHandle {
 public:
  void Run() override {
    for (const Step& step : steps_) step.primitive.execute(stream_, step.arguments);
    // The stream may run behind; a call ends when all of it is done.
    stream_.wait();
  }

 protected:
  using memory = dnnl::memory;

  PrimitiveSequence() : engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {}

  // Returns the same buffer, described in another way, and keeps it alive.
  memory Viewed(const memory& value, const memory::desc& desc) {
    kept_.push_back(value);
    return memory(desc, engine_, value.get_data_handle());
  }

  // Adds a primitive that is made already; the functions below make one and add it.
  void Add(dnnl::primitive primitive, Arguments arguments) {
    steps_.push_back({std::move(primitive), std::move(arguments)});
  }

  void Reorder(memory from, memory to) {
    Add(dnnl::reorder(from, to), {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}});
  }

  void Eltwise(const Function& function, memory from, memory to) {
    const dnnl::eltwise_forward::primitive_desc desc(
        dnnl::eltwise_forward::desc(dnnl::prop_kind::forward_inference, function.algorithm, from.get_desc(),
                                    function.alpha, function.beta),
        engine_);
    Add(dnnl::eltwise_forward(desc), {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
  }

  void Binary(dnnl::algorithm algorithm, memory a, memory b, memory to) {
    const dnnl::binary::primitive_desc desc(
        dnnl::binary::desc(algorithm, a.get_desc(), b.get_desc(), to.get_desc()), engine_);
    Add(dnnl::binary(desc), {{DNNL_ARG_SRC_0, a}, {DNNL_ARG_SRC_1, b}, {DNNL_ARG_DST, to}});
  }

  void Reduce(dnnl::algorithm algorithm, const memory& from, const memory& to) {
    const dnnl::reduction::primitive_desc desc(
        dnnl::reduction::desc(algorithm, from.get_desc(), to.get_desc(), 0, 0), engine_);
    Add(dnnl::reduction(desc), {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, to}});
  }

  dnnl::engine engine_;
  dnnl::stream stream_;

 private:
  // A primitive with the memory of its arguments, which stays the same in all runs.
  struct Step {
    dnnl::primitive primitive;
    Arguments arguments;
  };

  std::vector<memory> kept_;  // whose buffers others view
  std::vector<Step> steps_;
};

#endif  // KIRSCH_BENCH_CONTENDERS_PEERS_ONEDNN_SEQUENCE_H_
