// The interpreter: runs a program tree on real buffers straight from its meaning (impl.h), without the code
// generator. Tiles are views, packs are real copies into fresh buffers, a move into registers is a buffer of
// its own; moves below registers do nothing. It aborts (KIRSCH_CHECK) on a tree that is not a program of its
// spec: tiles that do not cover the dim, a view that leaves its buffer, a panel or group entered in its
// middle, a copy that is not of the type and layout that the specs below it say.
// Thread-safe.
#ifndef KIRSCH_SPEC_INTERPRETER_H_
#define KIRSCH_SPEC_INTERPRETER_H_

#include "spec/impl.h"
#include "spec/storage.h"
#include "spec/target.h"

namespace kirsch {

// Runs `impl`, whose spec is a root spec, on the caller's buffers; the output is written through `out`,
// inputs are read through `inputs` (whose output entry is ignored). Sums are kept in float, in the program's
// own order, or in integers modulo 2^32. Where an instruction of spec/microkernel.h adds several products at
// once, they are added one after the other.
void Interpret(const Impl& impl, const Target& target, const ConstOperands& inputs, void* out);

}  // namespace kirsch

#endif  // KIRSCH_SPEC_INTERPRETER_H_
