// SPDX-License-Identifier: Apache-2.0
// Lists the copies of an operand that some arithmetic reads faster than the operand as it lies. Internal to
// rewrites/.
#ifndef KIRSCH_REWRITES_SPEC_COPY_FORMS_H_
#define KIRSCH_REWRITES_SPEC_COPY_FORMS_H_

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "spec/layout.h"
#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

// Says how a copy may differ from its operand beside its panels.
struct CopyForm {
  Dtype dtype;
  int group;
  bool turned;  // the other axis becomes the contiguous one

  friend bool operator==(const CopyForm&, const CopyForm&) = default;
};
using CopyFormList = absl::InlinedVector<CopyForm, 4>;

// Returns all copies of the operand. They are for the best arithmetic. If that needs lhs in groups in which
// it does not lie, there are also those for the plain one, which takes any lhs. A copy may also round what
// may be rounded.
CopyFormList CopyForms(const Spec& spec, int operand, const Target& target);

// Returns the layout of a packed copy: panels along the output's vector dim, if the operand has it; else
// dense.
Layout CopyLayout(const Spec& spec, int operand, const CopyForm& form, uint8_t panel);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_SPEC_COPY_FORMS_H_
