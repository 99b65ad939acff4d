// SPDX-License-Identifier: Apache-2.0
// Says how the operands of a product lie for the arithmetic that may multiply them. Internal to rewrites/.
#ifndef KIRSCH_REWRITES_SPEC_OPERAND_ORDER_H_
#define KIRSCH_REWRITES_SPEC_OPERAND_ORDER_H_

#include <optional>

#include "spec/instruction.h"
#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

inline const TensorSpec& Operand(const Spec& spec, int operand) { return spec.tensor(operand); }

// True if neighbours along the dim are neighbours in memory; of a window, within a run.
bool ContiguousAlong(const Spec& spec, int operand, int dim);

// True if lhs can be read as the arithmetic takes it: in groups of steps, where it has groups. No group may
// be in two runs of a window.
bool LhsSuits(const Spec& spec, Arithmetic arithmetic);

// True if rows of lhs have become integers that share scales.
inline bool AreIntegers(const Spec& spec) { return IsRounded(Operand(spec, MatmulDims::kLhs).dtype); }

// True if lhs has been rounded for another rhs than this one: rhs has to go into panels then.
bool IsMeantForPanels(const Spec& spec);

// Returns the arithmetic of a matrix unit for these types; nothing if there is none.
std::optional<Arithmetic> TilesOf(const Spec& spec, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_SPEC_OPERAND_ORDER_H_
