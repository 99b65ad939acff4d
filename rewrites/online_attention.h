// Attention, softmax(q k^T) v, whose softmax is computed online: for each tile of rows, block of keys by
// block of keys, so that scores are a tile however many keys there are. What was summed up before is rescaled
// as the maximum of the rows' scores grows:
//
//   m' = max(m, maximum(s)),  p = exp(s - m'),  c = exp(m - m'),  l' = c l + sum(p),  o' = c o + p v
//
// and o / l is the result in the end. A maximum is no less than the least finite number, so that a block
// whose scores are all -inf adds nothing.
//
// spec/graph/reference.h bounds the errors of this form, too, from blocks of 8 keys on. The differences in
// the arguments of p and of all c that it is multiplied by add up to s minus the greatest of all, each being
// of one sign, and so do their roundings. What is left, a few units in the last place for each block, is less
// than what the bound allows the two sums beyond one rounding for each key.
#ifndef KIRSCH_REWRITES_ONLINE_ATTENTION_H_
#define KIRSCH_REWRITES_ONLINE_ATTENTION_H_

#include "rewrites/graph_rewrite.h"

namespace kirsch {

// Of a slice that is
//
// - a matmul, the scores;
// - elementwise operations on these, and, before the matmul, on what they take beside;
// - a softmax, perhaps a cast of it to another floating type;
// - a matmul by it from the left, of what the slice doesn't make;
// - operations that go by rows.
extern const GraphRewrite kOnlineAttention;

// The same for a number of keys that is known when the kernel runs (SliceProblem::varies): sums begin as 0,
// blocks are as many as there are, and what is left of the keys is taken in halves of a block, quarters and
// so on, each once or not at all. Stages say how many keys they are for (Stage::keys), and their operands
// begin with the first key of all. What repeats say is what is priced: one block of each smaller size, and as
// many whole ones as make it about the keys of the graph.
extern const GraphRewrite kAnyKeys;

// The same, but that what is left is taken at once, by programs for any number of keys below a block's
// (Stage::at_once). What is priced are the keys of the graph, of which the search looks only at blocks that
// leave at least half a block, so that programs for what is left are made for about as much as there may be.
// Not for types of which vectors can't be of a number of elements that is known when the kernel runs
// (LanesMayVary).
extern const GraphRewrite kAnyKeysAtOnce;

// Keys in the largest blocks that the search looks at.
int64_t LargestKeyBlock(const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_ONLINE_ATTENTION_H_
