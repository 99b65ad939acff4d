#include "bench/peers.h"

#include <array>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "bench/cblas.h"
#include "bench/plugin.h"

namespace kirsch {
namespace {

struct Known {
  const char* name;
  bool plugin;                           // else a library with a CBLAS interface
  std::array<const char*, 3> libraries;  // plug-ins: each is a build; else the first that loads
  const char* setting = nullptr;         // of its environment
};

constexpr std::array<Known, 7> kKnown = {{
    {"openblas", false, {"libopenblas.so.0", "libopenblas.so"}},
    {"blis", false, {"libblis.so.4", "libblis.so.3", "libblis.so"}},
    {"onednn", true, {"kirsch_peer_onednn"}},
    {"onednn:noamx", true, {"kirsch_peer_onednn"}, "ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16"},
    {"libxsmm", true, {"kirsch_peer_libxsmm"}},
    {"eigen", true, {"kirsch_peer_eigen_haswell", "kirsch_peer_eigen_skylake-avx512"}},
    {"mkl", false, {"libmkl_rt.so.2", "libmkl_rt.so.1", "libmkl_rt.so"}},
}};

Worker::Factory Cblas(std::vector<std::string> libraries, const std::vector<Problem>& problems) {
  return [libraries = std::move(libraries), &problems] {
    return MakeRunner(MakeCblasContender(libraries), problems);
  };
}

Worker::Factory Plugin(std::string name, const std::vector<Problem>& problems) {
  return [name = std::move(name), &problems] { return MakeRunner(MakePluginContender(name), problems); };
}

}  // namespace

absl::StatusOr<Peer> FindPeer(const std::string& name, const std::vector<Problem>& problems) {
  Peer peer{name, {}, {}};
  if (absl::string_view path = name; absl::ConsumePrefix(&path, "cblas:") && !path.empty()) {
    peer.builds.push_back(Cblas({std::string(path)}, problems));
    return peer;
  }
  for (const Known& known : kKnown) {
    if (known.name != name) continue;
    std::vector<std::string> libraries;
    for (const char* library : known.libraries)
      if (library != nullptr) libraries.emplace_back(library);
    if (!known.plugin) peer.builds.push_back(Cblas(libraries, problems));
    if (known.plugin)
      for (const std::string& library : libraries) peer.builds.push_back(Plugin(library, problems));
    if (known.setting != nullptr) peer.environment.emplace_back(known.setting);
    return peer;
  }
  const std::string names = absl::StrJoin(
      kKnown, ", ", [](std::string* out, const Known& known) { absl::StrAppend(out, known.name); });
  return absl::InvalidArgumentError(
      absl::StrCat("--against: unknown peer '", name, "', expected one of ", names, ", cblas:PATH"));
}

}  // namespace kirsch
