// SPDX-License-Identifier: Apache-2.0
// Declares what the parts of the oneDNN plug-in share: products in onednn.cc, graphs in onednn_graph.cc.
#ifndef KIRSCH_BENCH_CONTENDERS_PEERS_ONEDNN_H_
#define KIRSCH_BENCH_CONTENDERS_PEERS_ONEDNN_H_

#include <dnnl.hpp>
#include <memory>
#include <string>
#include <vector>

#include "bench/workload/peer.h"

// Returns oneDNN's type; `undef` where it has none.
dnnl::memory::data_type DnnlTypeOf(KirschType type);

// True if products of bytes are exact on this CPU. Without VNNI the sum of two products is saturated
// half-way, which is another computation.
bool MultipliesBytes();

// A handle of the plug-in. kirsch_peer_run runs it.
class OnednnHandle {
 public:
  virtual ~OnednnHandle() = default;
  virtual void Run() = 0;

  // Returns `from` in another layout, and keeps that for as long as the handle lives. The reorder is done at
  // once, so it is no part of a run.
  dnnl::memory Packed(dnnl::memory from, const dnnl::memory::desc& layout, const dnnl::engine& engine,
                      dnnl::stream& stream) {
    dnnl::memory& to = packed_.emplace_back(layout, engine);
    dnnl::reorder(from, to).execute(stream, from, to);
    stream.wait();
    return to;
  }

  // All that was packed, for kirsch_peer_packed.
  const std::vector<dnnl::memory>& packed() const { return packed_; }

 private:
  std::vector<dnnl::memory> packed_;
};

// Returns the methods for graphs, with a space before each.
std::string GraphMethods();
// Returns a handle for a method, by its number among those of graphs; null where the method is the same as
// another one. Throws dnnl::error where there is no primitive for an operation, a type or a layout.
std::unique_ptr<OnednnHandle> PrepareGraph(int method, const KirschGraph& graph);

#endif  // KIRSCH_BENCH_CONTENDERS_PEERS_ONEDNN_H_
