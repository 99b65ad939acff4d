// SPDX-License-Identifier: Apache-2.0
/* Defines what a contender is asked for, and the interface of a peer plug-in: a shared library around one
 * peer, built from bench/contenders/peers/<peer>.cc and loaded at run time into a process of its own.
 *
 * A problem is a matrix multiplication,
 *
 *   out[b][i][j] (+)= sum over p of lhs[b][i][p] * rhs[b][p][j],  i < m, j < n, p < k, b < batch
 *
 * or a graph (graph_peer.h).
 *
 * Sums are f32, f64 for f64, or s32 for integers; the whole sum is rounded to bf16, to nearest even, or
 * saturated to s16 where the output is narrower. All sizes, leading dimensions and strides are in elements.
 * Single-threaded use only.
 */
#ifndef KIRSCH_BENCH_WORKLOAD_PEER_H_
#define KIRSCH_BENCH_WORKLOAD_PEER_H_

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum KirschType {
  KIRSCH_F32,
  KIRSCH_BF16,
  KIRSCH_F16,
  KIRSCH_U8,
  KIRSCH_S8,
  KIRSCH_S16,
  KIRSCH_S32,
  KIRSCH_F64 = 26,
  KIRSCH_LAST_TYPE = 255 /* there are more types, which no library takes */
} KirschType;

typedef struct KirschGraph KirschGraph;

typedef struct KirschProblem {
  const KirschGraph* graph; /* null: a matmul; else only the types (of the graph's first contraction) and the
                               threads are set besides */
  size_t batch, m, k, n;
  const void* lhs;
  const void* rhs;
  void* out; /* always row-major */
  KirschType lhs_type, rhs_type, out_type;
  int lhs_col, rhs_col;                      /* 0: rows are contiguous, 1: columns are */
  size_t lda, ldb, ldc;                      /* between consecutive rows (columns where *_col) */
  size_t lhs_stride, rhs_stride, out_stride; /* between consecutive matrices of the batch */
  int accumulate;                            /* out += ..., else out = ... */
  int threads;
} KirschProblem;

/* Is it a matmul of f32, or of f64? */
static inline int kirsch_is_f32(const KirschProblem* p) {
  return !p->graph && p->lhs_type == KIRSCH_F32 && p->rhs_type == KIRSCH_F32 && p->out_type == KIRSCH_F32;
}
static inline int kirsch_is_f64(const KirschProblem* p) {
  return !p->graph && p->lhs_type == KIRSCH_F64 && p->rhs_type == KIRSCH_F64 && p->out_type == KIRSCH_F64;
}

/* "onednn 2.6.3". */
const char* kirsch_peer_name(void);

/* The kernels the library takes on this CPU: "avx512_core"; empty where it does not say. */
const char* kirsch_peer_core(void);

/* Settings worth trying besides the default, "VAR=VALUE" separated by spaces; each gets a process of its own.
 */
const char* kirsch_peer_alternatives(void);

/* Ways to ask the library for a result, separated by spaces: "sgemm matmul". One whose name ends in "+packed"
 * takes weights (a matmul's rhs, of a graph parameters) that are already in a layout of the library's choice:
 * packing them is no part of a run. */
const char* kirsch_peer_methods(void);

/* Makes ready what a user would make once; null where the method does not take this problem. The problem and
 * its buffers outlive the handle. */
void* kirsch_peer_prepare(int method, const KirschProblem* problem);
void kirsch_peer_run(void* handle);
void kirsch_peer_release(void* handle);

/* The weights that a "+packed" method keeps: where part `number` of them is, and its bytes in `*bytes`; null
 * behind the last part. A plug-in without such a method may lack this function. */
const void* kirsch_peer_packed(void* handle, size_t number, size_t* bytes);

#ifdef __cplusplus
}
#endif

#endif /* KIRSCH_BENCH_WORKLOAD_PEER_H_ */
