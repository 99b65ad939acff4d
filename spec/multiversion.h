// SPDX-License-Identifier: Apache-2.0
// KIRSCH_MULTIVERSION before a function: compile it for AVX-512, AVX2 and the baseline, and choose when the
// program is loaded. For plain loops of the oracle, which must stay correct on any host and be quick on most.
#ifndef KIRSCH_SPEC_MULTIVERSION_H_
#define KIRSCH_SPEC_MULTIVERSION_H_

#define KIRSCH_MULTIVERSION __attribute__((target_clones("avx512f", "avx2", "default")))

#endif  // KIRSCH_SPEC_MULTIVERSION_H_
