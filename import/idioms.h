// SPDX-License-Identifier: Apache-2.0
// Recognises expressions that the kernel language has an operation for, as frameworks write softmax and
// activations out. What the search knows of that operation (online attention, epilogues, error bounds) is
// lost otherwise.
#ifndef KIRSCH_IMPORT_IDIOMS_H_
#define KIRSCH_IMPORT_IDIOMS_H_

#include <optional>

#include "import/kernel_writer.h"

namespace kirsch {

// The operation that is the same as `value`, whose arguments are in `writer`; nothing if there is none, or if
// `value` itself is that.
//
//   div(e, reduce_sum(e)), e = exp(sub(x, reduce_max(x)))   =>   softmax(x), along the last axis
std::optional<KernelValue> FindIdiom(const KernelWriter& writer, const KernelValue& value);

}  // namespace kirsch

#endif  // KIRSCH_IMPORT_IDIOMS_H_
