// SPDX-License-Identifier: Apache-2.0
// What the parts of the oneDNN plug-in share.
#ifndef KIRSCH_BENCH_CONTENDERS_PEERS_ONEDNN_H_
#define KIRSCH_BENCH_CONTENDERS_PEERS_ONEDNN_H_

#include <dnnl.hpp>
#include <memory>
#include <string>
#include <vector>

#include "bench/workload/peer.h"

// Undefined where oneDNN has no such type.
dnnl::memory::data_type DnnlTypeOf(KirschType type);

// Without VNNI the sum of two products of bytes is saturated half-way, which is another computation.
bool MultipliesBytes();

// What kirsch_peer_run runs.
class OnednnHandle {
 public:
  virtual ~OnednnHandle() = default;
  virtual void Run() = 0;

  // `from` in another layout, from now on.
  dnnl::memory Packed(dnnl::memory from, const dnnl::memory::desc& layout, const dnnl::engine& engine,
                      dnnl::stream& stream) {
    dnnl::memory& to = packed_.emplace_back(layout, engine);
    dnnl::reorder(from, to).execute(stream, from, to);
    stream.wait();
    return to;
  }

  const std::vector<dnnl::memory>& packed() const { return packed_; }

 private:
  std::vector<dnnl::memory> packed_;
};

// The methods for graphs, a space before each, and a handle for one of them, by its number among these; null
// where the method is another one. Throws dnnl::error where there is no primitive for an operation, a type or
// a layout.
std::string GraphMethods();
std::unique_ptr<OnednnHandle> PrepareGraph(int method, const KirschGraph& graph);

#endif  // KIRSCH_BENCH_CONTENDERS_PEERS_ONEDNN_H_
