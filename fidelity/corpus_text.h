// SPDX-License-Identifier: Apache-2.0
// A corpus for people.
#ifndef KIRSCH_FIDELITY_CORPUS_TEXT_H_
#define KIRSCH_FIDELITY_CORPUS_TEXT_H_

#include <cstdint>
#include <string>

#include "fidelity/corpus.h"

namespace kirsch {

// A line for each spec; by level and operation how far off predictions are; the splits; and the specs where
// most is lost and the programs that are furthest off, with their schedules.
std::string FormatTable(const Corpus& corpus, uint64_t seed);

// As an SVG document, see page/predictions.h; by the levels where operands wait.
std::string ScatterSvg(const Corpus& corpus);

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_CORPUS_TEXT_H_
