// SPDX-License-Identifier: Apache-2.0
// Prints a corpus for people: a table as text, and a scatter plot.
#ifndef KIRSCH_FIDELITY_CORPUS_TEXT_H_
#define KIRSCH_FIDELITY_CORPUS_TEXT_H_

#include <cstdint>
#include <string>

#include "fidelity/corpus.h"

namespace kirsch {

// Returns the table. It has a line for each spec, and how far off predictions are by level, by operation and
// by split. Then come the specs where most is lost and the programs that are furthest off, with their
// schedules. `seed` draws the random split.
//
//                           level  n     tau    loss     predicted     measured    error  of all
//   matmul f32 64x64x64        L2   20   0.912    1.2%         12345        12800    -3.6%    8.1%
//
// `loss` is LossOfChoice. `predicted`, `measured` (in cycles) and `error` are of the choice, `of all` is the
// mean error of all programs.
std::string FormatTable(const Corpus& corpus, uint64_t seed);

// Returns measured against predicted cycles as an SVG document (page/predictions.h), grouped by the level of
// the operands.
std::string ScatterSvg(const Corpus& corpus);

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_CORPUS_TEXT_H_
