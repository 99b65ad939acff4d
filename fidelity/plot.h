// A scatter plot of a corpus.
#ifndef KIRSCH_FIDELITY_PLOT_H_
#define KIRSCH_FIDELITY_PLOT_H_

#include <string>

#include "fidelity/corpus.h"

namespace kirsch {

// An SVG document: a dot for each program, measured over predicted cycles, both logarithmic, on its diagonal
// where the prediction is right; a colour for each level where operands wait. Choices are drawn larger.
std::string ScatterSvg(const Corpus& corpus);

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_PLOT_H_
