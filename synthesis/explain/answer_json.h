// SPDX-License-Identifier: Apache-2.0
// Says what a program is like in numbers that another compiler can use: the answer of `kirsch query`, which
// makes no code. docs/query.md has an example.
#ifndef KIRSCH_SYNTHESIS_EXPLAIN_ANSWER_JSON_H_
#define KIRSCH_SYNTHESIS_EXPLAIN_ANSWER_JSON_H_

#include <cstdint>
#include <nlohmann/json_fwd.hpp>

#include "spec/program/program_tree.h"
#include "spec/target.h"
#include "synthesis/explain/best_programs.h"
#include "synthesis/family.h"

namespace kirsch {

// What a program costs, and how it comes about. Of a contraction:
//   {cycles, seconds, peak_share, bytes: {L3: {read, written}}, threads,
//    steps: [{step: "pack", operand, level, layout, type}, {step: "tile", dim, size, trips}, ...],
//    inner_tile: {rows, columns, lanes, instruction, registers, spills, ...}, knobs: {...}}
// `steps` are the decisions on the way to the register tile that takes most of the time, outermost first. Of
// a graph, `groups` have their rewrites, and `programs` each contraction with steps and knobs of its own.
//
// `knobs` are the decisions once more, as names and values: {tile_m_0: 64, tile_m_1: 8, pack_rhs:
// "packed16"}. The numbers count the tiles of a dim, from the outermost on.
nlohmann::ordered_json AnswerJson(const ProgramTree& program, const Target& target);

// The answer for a member: AnswerJson, and what is known of its search: {bound_cycles, stop, search_seconds}.
// Where members share programs, the steps are those of the largest size that the program is for.
nlohmann::ordered_json AnswerJson(const FamilySynthesis& solved, int64_t member);

// The other programs of the list, the best first: AnswerJson of each, {above}, a fraction of the best's
// cycles, and {instead_of, decision}: where it first departs from the best.
nlohmann::ordered_json AlternativesJson(const KBestResult& best, const Target& target);

}  // namespace kirsch

#endif  // KIRSCH_SYNTHESIS_EXPLAIN_ANSWER_JSON_H_
