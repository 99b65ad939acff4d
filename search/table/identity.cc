// SPDX-License-Identifier: Apache-2.0
#include <xxhash.h>

#include <string>

#include "absl/strings/str_format.h"
#include "search/table/answer.h"
#include "search/table/fingerprints.h"
#include "spec/extension.h"
#include "spec/target/target_json.h"

namespace kirsch {
namespace {

// 128 bits of a text, as 32 hexadecimal digits.
std::string Fingerprint(const std::string& text) {
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  return absl::StrFormat("%016x%016x", hash.high64, hash.low64);
}

}  // namespace

TableIdentity IdentityOf(const Target& target) {
  // The search doesn't look at the name, the clock or the number of cores. Without them in the fingerprint, a
  // table serves all targets that differ in nothing else.
  Target seen = target;
  seen.name = seen.cpu = "";
  seen.ghz = 1;
  seen.cores = 1;
  // An extension's answers are its own.
  const std::string own = target.extension == nullptr ? "" : target.extension->Identity();
  return {target.name, PrintTarget(target), Fingerprint(PrintTarget(seen) + own), kRulesFingerprint,
          kCostFingerprint};
}

}  // namespace kirsch
