// A peer plug-in (peers/peer.h) as a contender.
#ifndef KIRSCH_BENCH_CONTENDERS_PLUGIN_H_
#define KIRSCH_BENCH_CONTENDERS_PLUGIN_H_

#include <memory>
#include <string>

#include "bench/workload/contender.h"

namespace kirsch {

// `name` of the plug-in: "kirsch_peer_onednn".
std::unique_ptr<Contender> MakePluginContender(std::string name);

}  // namespace kirsch

#endif  // KIRSCH_BENCH_CONTENDERS_PLUGIN_H_
