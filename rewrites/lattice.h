// The tile sizes the search may choose from.
#ifndef KIRSCH_REWRITES_LATTICE_H_
#define KIRSCH_REWRITES_LATTICE_H_

#include <cstdint>
#include <vector>

#include "spec/spec.h"
#include "spec/target.h"

namespace kirsch {

// Appends the tile sizes below spec.size[dim], ascending.
//   batch dims               1
//   output rows              every register-tile height, then 2^i and 3*2^i
//   output's vector dim      whole vectors: 1..6 of them, then 2^i and 3*2^i; multiples of the panel once packed;
//                            1..6 elements too where a dot product can compute them
//   reductions               2^i and 3*2^i from 4
void AppendTileSizes(const Spec& spec, int dim, const Target& target, std::vector<uint32_t>* sizes);

// Panel widths an operand that holds the output's vector dim may be packed into.
void AppendPanelWidths(const Spec& spec, const Target& target, std::vector<uint16_t>* widths);

}  // namespace kirsch

#endif  // KIRSCH_REWRITES_LATTICE_H_
