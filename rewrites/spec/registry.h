// SPDX-License-Identifier: Apache-2.0
// Lists all rewrites of specs, so that nobody else has to name them. Each is defined at the end of its own
// file, which says what it does.
#ifndef KIRSCH_REWRITES_SPEC_REGISTRY_H_
#define KIRSCH_REWRITES_SPEC_REGISTRY_H_

#include "rewrites/spec/spec_rewrite.h"

namespace kirsch {

// In the order in which decisions are enumerated, by which ties are decided.
// clang-format off
#define KIRSCH_SPEC_REWRITES(REWRITE) \
  REWRITE(kPackAhead) \
  REWRITE(kColumnBlocks) \
  REWRITE(kParallelTile) \
  REWRITE(kMicrokernel) \
  REWRITE(kMoveToRegisters) \
  REWRITE(kTile) \
  REWRITE(kMove) \
  REWRITE(kPack)
// clang-format on

#define KIRSCH_DECLARE_SPEC_REWRITE(rewrite) extern const SpecRewrite rewrite;
KIRSCH_SPEC_REWRITES(KIRSCH_DECLARE_SPEC_REWRITE)
#undef KIRSCH_DECLARE_SPEC_REWRITE

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_SPEC_REGISTRY_H_
