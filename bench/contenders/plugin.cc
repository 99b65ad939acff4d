// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "absl/strings/str_split.h"
#include "bench/contenders/contenders.h"
#include "bench/machine/shared_library.h"
#include "spec/text/cat.h"
#include "spec/text/status_macros.h"

namespace kirsch {
namespace {

// Lists are texts with spaces in the C interface.
std::vector<std::string> Words(const char* text) { return absl::StrSplit(text, ' ', absl::SkipEmpty()); }

// A plug-in as a contender: it translates to the C interface of bench/workload/peer.h.
class PluginContender : public Contender {
 public:
  explicit PluginContender(std::string name) : name_(std::move(name)) {}

  ~PluginContender() override { Release(); }

  absl::StatusOr<ContenderInfo> Load() override {
    KIRSCH_ASSIGN_OR_RETURN(void* const library, OpenLibrary({PluginPath(name_)}));
    // Only the three functions that do the work are required.
    prepare_ = Symbol<decltype(kirsch_peer_prepare)>(library, "kirsch_peer_prepare");
    run_ = Symbol<decltype(kirsch_peer_run)>(library, "kirsch_peer_run");
    release_ = Symbol<decltype(kirsch_peer_release)>(library, "kirsch_peer_release");
    packed_ = Symbol<decltype(kirsch_peer_packed)>(library, "kirsch_peer_packed");
    // A plug-in that does not say something says nothing.
    const auto text = [&](const char* function) {
      auto* get = Symbol<const char*()>(library, function);
      return get == nullptr ? "" : get();
    };
    if (prepare_ == nullptr || run_ == nullptr || release_ == nullptr)
      return absl::NotFoundError(Cat(name_, ": not a peer plug-in"));
    return ContenderInfo{text("kirsch_peer_name"), text("kirsch_peer_core"),
                         Words(text("kirsch_peer_methods")), Words(text("kirsch_peer_alternatives"))};
  }

  absl::Status Prepare(const Workload& workload, size_t, size_t method) override {
    // One handle at a time: a peer's packed weights may be large.
    Release();
    handle_ = prepare_(static_cast<int>(method), &workload.problem);
    // Null is how a plug-in declines a problem.
    if (handle_ == nullptr) return absl::UnimplementedError("not a problem for this method");
    return absl::OkStatus();
  }

  std::vector<absl::Span<const char>> Own() const override {
    std::vector<absl::Span<const char>> own;
    if (packed_ == nullptr) return own;
    size_t bytes = 0;
    // Parts are asked for one by one until there is none.
    for (size_t part = 0; const void* begin = packed_(handle_, part, &bytes); ++part)
      own.emplace_back(static_cast<const char*>(begin), bytes);
    return own;
  }

  void Run() override { run_(handle_); }

 private:
  void Release() {
    if (handle_ != nullptr) release_(std::exchange(handle_, nullptr));
  }

  std::string name_;
  decltype(kirsch_peer_prepare)* prepare_ = nullptr;
  decltype(kirsch_peer_run)* run_ = nullptr;
  decltype(kirsch_peer_release)* release_ = nullptr;
  decltype(kirsch_peer_packed)* packed_ = nullptr;  // null: the plug-in packs nothing
  void* handle_ = nullptr;
};

}  // namespace

std::unique_ptr<Contender> MakePluginContender(std::string name) {
  return std::make_unique<PluginContender>(std::move(name));
}

}  // namespace kirsch
