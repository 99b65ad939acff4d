/* SPDX-License-Identifier: Apache-2.0
 * A cost model and rewrites of one's own: functions that the searches of a context call, in this process.
 *
 *   price        what a step costs, instead of what the built-in model says, which is told
 *   tile_sizes   sizes of tiles beside those that the search tries
 *   allow        decisions that no program may take
 *
 * Each may be NULL. The search stays exact: it finds the cheapest of all programs that are allowed, by these
 * prices. Operands, steps and decisions are plain data, see the structs. docs/query.md has an example.
 *
 * All are called by any thread that searches, several at once, any number of times in any order. They return
 * the same for the same arguments, do not call Kirsch, and do not keep pointers that they get. */
#ifndef KIRSCH_EXTENSION_H_
#define KIRSCH_EXTENSION_H_

#include "kirsch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of the structs below, which the library fills: it refuses an extension of another number. */
#define KIRSCH_EXTENSION_ABI 1

enum { KIRSCH_MAX_CHILDREN = 3 };

/* Where a tile is. Registers come first, the slowest memory last. */
typedef enum kirsch_level {
  KIRSCH_REGISTERS = 0,
  KIRSCH_L1 = 1,
  KIRSCH_L2 = 2,
  KIRSCH_L3 = 3,
  KIRSCH_RAM = 4
} kirsch_level;

/* A tensor's tile in a step. */
typedef struct kirsch_tile {
  const char* name; /* "lhs", "rhs", "out"; of convolutions and epilogues as docs/spec.md has them */
  kirsch_type type;
  kirsch_level level;    /* where it is, and, of the output, where it is to be */
  int64_t rows, columns; /* columns are adjacent in memory, whatever dims they are */
  int is_copy;           /* 1: it lies in panels, or in registers, as a step before has put it */
} kirsch_tile;

/* What is left to be computed where a decision is taken: the whole problem at first, at last a register tile.
 * Of a matmul the dims are b, m, n and k. */
typedef struct kirsch_subproblem {
  const char* operation; /* "matmul" */
  int num_dims, num_tiles;
  const char* dim[KIRSCH_MAX_RANK];
  int64_t size[KIRSCH_MAX_RANK];     /* of each dim */
  kirsch_tile tile[KIRSCH_MAX_RANK]; /* inputs, the output, operands of the epilogue */
  int threads;                       /* that may share it */
} kirsch_subproblem;

typedef enum kirsch_decision_kind {
  KIRSCH_TILE = 1,       /* dim, size */
  KIRSCH_PARALLEL = 2,   /* dim, size, parts: tiles that groups of threads share out */
  KIRSCH_MOVE = 3,       /* operand, level; to registers also lanes: the register tile, with its epilogue */
  KIRSCH_PACK = 4,       /* operand, level, type, lanes: a copy in panels of so many columns */
  KIRSCH_MICROKERNEL = 5 /* the loop over the reduction; dim, size: how far ahead it prefetches, 0: not */
} kirsch_decision_kind;

/* Members that the kind does not list are 0. */
typedef struct kirsch_decision {
  kirsch_decision_kind kind;
  int dim, operand; /* in the arrays of the subproblem */
  kirsch_level level;
  int64_t size;
  int parts;
  kirsch_type type;
  int lanes;
} kirsch_decision;

/* Lines of a cache that are moved in each run of the step. */
typedef struct kirsch_transfer {
  kirsch_level from, to;
  int64_t lines_read, lines_written;
} kirsch_transfer;

/* A decision with what it does. */
typedef struct kirsch_step {
  const kirsch_subproblem* at;
  kirsch_decision decision;
  double cycles; /* of one run without its children, as the built-in model prices it */
  int num_children, num_transfers;
  int64_t trips[KIRSCH_MAX_CHILDREN];   /* of each child in a run; */
  int64_t in_turn[KIRSCH_MAX_CHILDREN]; /* so many one after another, where threads share them */
  kirsch_transfer transfer[KIRSCH_MAX_RANK];
  int64_t copied_elements; /* of a pack */
} kirsch_step;

typedef struct kirsch_extension {
  size_t struct_size; /* sizeof(kirsch_extension) */
  int abi;            /* KIRSCH_EXTENSION_ABI */
  /* Tables keep answers for them alone: another version answers otherwise. Letters, digits, '.', '-', '_'. */
  const char *name, *version;
  void* user; /* the functions' first argument */

  /* Returns the cycles of one run of the step without its children: from least_share to 1000 times
   * step->cycles, or of what costs less than a cycle, of one. A number outside ends kirsch_solve with an
   * error. */
  double (*price)(void* user, const kirsch_step* step);
  /* 0 to 1000: lower bounds are the built-in ones times this, so the search is the faster the higher it is.
   * 0: there are no bounds, and every program is looked at that is not dearer than another one so far. */
  double least_share;

  /* Returns 0 if no program may take the decision. */
  int (*allow)(void* user, const kirsch_subproblem* at, const kirsch_decision* decision);

  /* Writes at most `room` sizes for tiles along `dim`, and returns how many. Sizes that cut a panel, a block
   * or what else must stay whole are left out. */
  size_t (*tile_sizes)(void* user, const kirsch_subproblem* at, int dim, int64_t* sizes, size_t room);
} kirsch_extension;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* KIRSCH_EXTENSION_H_ */
