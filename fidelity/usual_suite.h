// bench/suites/fidelity.json, as part of the library: specs of all kinds, with operands in every level.
#ifndef KIRSCH_FIDELITY_USUAL_SUITE_H_
#define KIRSCH_FIDELITY_USUAL_SUITE_H_

namespace kirsch {

const char* UsualSuite();

}  // namespace kirsch

#endif  // KIRSCH_FIDELITY_USUAL_SUITE_H_
