// SPDX-License-Identifier: Apache-2.0
// Lets the callbacks of kirsch_extension.h take part in a search. Internal to library/.
#ifndef KIRSCH_LIBRARY_EXTENSION_H_
#define KIRSCH_LIBRARY_EXTENSION_H_

#include <mutex>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "library/kirsch_extension.h"
#include "spec/extension.h"

namespace kirsch {

// The callbacks of a program, checked. A value: it keeps copies of the texts.
class Callbacks {
 public:
  // InvalidArgument if a member can't be right.
  static absl::StatusOr<Callbacks> Read(const kirsch_extension& given);

  const kirsch_extension& functions() const { return functions_; }  // its texts may be gone
  const std::string& identity() const { return identity_; }

 private:
  kirsch_extension functions_ = {};
  std::string identity_;  // "name version"
};

// The callbacks as one request's search asks them. Prices that are not allowed are replaced by the nearest
// that is, so that the search goes on; status() tells of the first one.
class CallbackExtension : public Extension {
 public:
  explicit CallbackExtension(Callbacks callbacks) : callbacks_(std::move(callbacks)) {}

  std::string Identity() const override { return callbacks_.identity(); }
  double least_share() const override;
  double Price(const Spec& spec, const Decision& decision, const Expansion& expansion,
               double cycles) const override;
  bool Allows(const Spec& spec, const Decision& decision) const override;
  void AppendTileSizes(const Spec& spec, int dim, std::vector<uint32_t>* sizes) const override;

  // InvalidArgument if a callback has returned what it must not.
  absl::Status status() const;

 private:
  void Blame(std::string problem) const;

  const Callbacks callbacks_;
  mutable std::mutex mutex_;
  mutable std::string problem_;  // the first one; guarded by mutex_
};

}  // namespace kirsch

#endif  // KIRSCH_LIBRARY_EXTENSION_H_
