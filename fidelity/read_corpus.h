// SPDX-License-Identifier: Apache-2.0
// Corpora that were measured before: what of them depends on no cost model.
#ifndef KIRSCH_FIDELITY_READ_CORPUS_H_
#define KIRSCH_FIDELITY_READ_CORPUS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "fidelity/corpus.h"

namespace kirsch {

// The specs of a corpus (ToJson), and of their programs the schedules and what was measured; predictions,
// terms and levels are left empty (see price.h). `file` is what errors call it: InvalidArgument, one line
// with the place. Any text is safe to pass.
absl::StatusOr<Corpus> ParseCorpus(std::string_view text, std::string_view file);

// The corpora of these files as one, at least one. Programs of the same spec come together, whichever file
// they are in; all must have been measured with as many threads, and all cold or all warm.
absl::StatusOr<Corpus> ReadCorpora(const std::vector<std::string>& paths);

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_READ_CORPUS_H_
