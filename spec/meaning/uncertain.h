// A value that may be off.
#ifndef KIRSCH_SPEC_MEANING_UNCERTAIN_H_
#define KIRSCH_SPEC_MEANING_UNCERTAIN_H_

namespace kirsch {

// A value that may be off by `error`.
struct Uncertain {
  double value = 0;
  double error = 0;
};

}  // namespace kirsch

#endif  // KIRSCH_SPEC_MEANING_UNCERTAIN_H_
