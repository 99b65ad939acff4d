// SPDX-License-Identifier: Apache-2.0
// Computes attention, softmax(q k^T) v, with an online softmax: for each tile of rows, block of keys by block
// of keys. So the scores are a tile, however long the keys are, and never go to memory. As the maximum of a
// row's scores grows, what was summed up before is rescaled:
//
//     m' = max(m, maximum(s)),  p = exp(s - m'),  c = exp(m - m'),  l' = c l + sum(p),  o' = c o + p v
//
//   before -> after, for 1000 keys in blocks of 256:
//     s = matmul(q, kt)    ->  the first block:   s = q kt[:, 0:256];  m, p, l;       o = p v[0:256, :]
//     p = softmax(s)           2 more like it:    s = q kt[:, block];  m', p, c, l';  o = c o + p v[block, :]
//     o = matmul(p, v)         the last 232 keys: the same
//                              in the end:        o / l
//
// The maximum is never below the least finite number, so a block whose scores are all -inf adds nothing.
//
// spec/meaning/graph_reference.h bounds the errors of this form, too, from blocks of 8 keys on. Each p is
// multiplied by all later c. The differences in their arguments are of one sign, so they add up to s minus
// the greatest score of all, and so do their roundings. A few units in the last place are left for each
// block. They are less than the bound allows the two sums beyond one rounding for each key.
#ifndef KIRSCH_REWRITES_GRAPH_ONLINE_ATTENTION_H_
#define KIRSCH_REWRITES_GRAPH_ONLINE_ATTENTION_H_

#include <cstdint>

#include "spec/target.h"

namespace kirsch {

// Returns the keys in the largest blocks that the search looks at. A family of KV lengths chooses the member
// that it searches by it (search/families/plan_rules.cc).
int64_t LargestKeyBlock(const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_ONLINE_ATTENTION_H_
