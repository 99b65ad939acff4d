// SPDX-License-Identifier: Apache-2.0
// Attention, softmax(q k^T) v, whose softmax is computed online: for each tile of rows, block of keys by
// block of keys, so that scores are a tile however many keys there are. What was summed up before is rescaled
// as the maximum of the rows' scores grows:
//
//   m' = max(m, maximum(s)),  p = exp(s - m'),  c = exp(m - m'),  l' = c l + sum(p),  o' = c o + p v
//
// and o / l is the result in the end. A maximum is no less than the least finite number, so that a block
// whose scores are all -inf adds nothing.
//
// spec/meaning/graph_reference.h bounds the errors of this form, too, from blocks of 8 keys on. The
// differences in the arguments of p and of all c that it is multiplied by add up to s minus the greatest of
// all, each being of one sign, and so do their roundings. What is left, a few units in the last place for
// each block, is less than what the bound allows the two sums beyond one rounding for each key.
#ifndef KIRSCH_REWRITES_GRAPH_ONLINE_ATTENTION_H_
#define KIRSCH_REWRITES_GRAPH_ONLINE_ATTENTION_H_

#include "rewrites/graph/graph_rewrite.h"

namespace kirsch {

// Keys in the largest blocks that the search looks at.
int64_t LargestKeyBlock(const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_GRAPH_ONLINE_ATTENTION_H_
