// SPDX-License-Identifier: Apache-2.0
// What a user of the library adds to the search in his own process: prices of steps, sizes of tiles, and
// decisions that programs must not take. rewrites/ and cost/ ask it wherever a target has one.
//
//   EnumerateDecisions --> AppendTileSizes, Allows        CostModel::Base --> Price
//
// A decision is asked about any number of times, by any thread, and must have the same answer each time.
#ifndef KIRSCH_SPEC_EXTENSION_H_
#define KIRSCH_SPEC_EXTENSION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "spec/decision.h"
#include "spec/expansion.h"
#include "spec/spec.h"

namespace kirsch {

class Extension {
 public:
  virtual ~Extension() = default;

  // Name and version. It is part of a table's identity, so nobody else's answers are taken for its own.
  virtual std::string Identity() const = 0;

  // No price is below this share of the built-in model's, which is 0 or more. Lower bounds are scaled by it.
  virtual double least_share() const = 0;

  // Returns the cycles of one run of a step without its children. `cycles`: what the built-in model says.
  virtual double Price(const Spec& spec, const Decision& decision, const Expansion& expansion,
                       double cycles) const = 0;

  // False: no program takes this decision.
  virtual bool Allows(const Spec& spec, const Decision& decision) const = 0;

  // Appends tile sizes along `dim`. Those that are not legal, or that there are already, are left out later.
  virtual void AppendTileSizes(const Spec& spec, int dim, std::vector<uint32_t>* sizes) const = 0;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_EXTENSION_H_
