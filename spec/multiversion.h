// SPDX-License-Identifier: Apache-2.0
// Compiles a function several times: KIRSCH_MULTIVERSION before it makes versions for AVX-512, AVX2 and the
// baseline, one of which is chosen when the program is loaded. It is for plain loops of the oracle, which
// must stay correct on any host and be quick on most.
#ifndef KIRSCH_SPEC_MULTIVERSION_H_
#define KIRSCH_SPEC_MULTIVERSION_H_

#define KIRSCH_MULTIVERSION __attribute__((target_clones("avx512f", "avx2", "default")))

#endif  // KIRSCH_SPEC_MULTIVERSION_H_
