// SPDX-License-Identifier: Apache-2.0
// Reads corpora that were measured before, but only what depends on no cost model.
#ifndef KIRSCH_FIDELITY_READ_CORPUS_H_
#define KIRSCH_FIDELITY_READ_CORPUS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "fidelity/corpus.h"

namespace kirsch {

// Reads a corpus that ToJson wrote: its specs, the schedules of their programs, and what was measured.
// Predictions, terms and levels are left empty (see price.h). `file` is what errors call it: InvalidArgument,
// one line with the place. Any text is safe to pass.
absl::StatusOr<Corpus> ParseCorpus(std::string_view text, std::string_view file);

// Reads one file or several as one corpus. Programs of the same spec come together, whichever file they are
// in. All files must have been measured with as many threads, and all cold or all warm; else InvalidArgument.
absl::StatusOr<Corpus> ReadCorpora(const std::vector<std::string>& paths);

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_READ_CORPUS_H_
