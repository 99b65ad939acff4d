// SPDX-License-Identifier: Apache-2.0
/* Kirsch as a library: from the text of a tensor kernel to machine code in this process, to what it is
 * predicted to cost, or to a C header.
 *
 *     text             --kirsch_parse-->    kirsch_request
 *     kirsch_request   --kirsch_solve-->    kirsch_solution
 *     kirsch_solution  --kirsch_compile-->  kirsch_kernel
 *
 * A request says what is computed and what the operands are; a solution is the program that the search found,
 * with its predicted cost, and needs no code; a kernel is code that can be called. Each may be destroyed as
 * soon as the next is made.
 *
 * Errors are values: functions that may fail return NULL, or an error that the caller frees; what they would
 * have made is NULL then. No function prints, ends the process, throws, or changes how signals are handled.
 * (Bugs of Kirsch's own, a broken invariant, abort as any failed assertion does.) A handle or a result that
 * is NULL is an error, KIRSCH_BAD_INPUT. Functions that only tell something say NULL or 0 of a handle that is
 * NULL, and to destroy it does nothing.
 *
 * Threads: functions of different handles may be called at once, and so may all functions that take a handle
 * as `const`, the call of one kernel by several threads among them. Handles are destroyed when nothing uses
 * them.
 *
 * Memory: strings that functions return by `char**` are freed with kirsch_free_text. Names that are returned
 * as `const char*` live as long as the handle they were asked of.
 *
 * C99 and C++17. */
#ifndef KIRSCH_H_
#define KIRSCH_H_

#include <stddef.h>
#include <stdint.h>

/* The version of this interface: what is called with one of a major version can be called with any later one
 * of it. The shared library is called after the major version. */
#define KIRSCH_API_MAJOR 2
#define KIRSCH_API_MINOR 0

#if defined(KIRSCH_BUILDING)
#define KIRSCH_PUBLIC __attribute__((visibility("default")))
#else
#define KIRSCH_PUBLIC
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---------- versions ---------- */

/* The version of Kirsch that this process runs, "0.1.0". */
KIRSCH_PUBLIC const char* kirsch_version(void);
/* The version of the interface that it has: KIRSCH_API_MAJOR * 1000 + KIRSCH_API_MINOR of its header. */
KIRSCH_PUBLIC int kirsch_api_version(void);

/* ---------- errors ---------- */

typedef enum kirsch_code {
  KIRSCH_OK = 0,
  KIRSCH_BAD_INPUT = 1,   /* a text, an option, or an operand is not what was expected */
  KIRSCH_BAD_CPU = 2,     /* this CPU lacks instructions that the code needs */
  KIRSCH_UNAVAILABLE = 3, /* a file can't be read or written */
  KIRSCH_BAD_TABLE = 4,   /* the table is damaged, or was made for another CPU or version */
  KIRSCH_OUT_OF_MEMORY = 5,
  KIRSCH_INTERNAL = 6 /* a fault of Kirsch's, or of LLVM's */
} kirsch_code;

typedef struct kirsch_error kirsch_error;

/* NULL is KIRSCH_OK. */
KIRSCH_PUBLIC kirsch_code kirsch_error_code(const kirsch_error* error);
/* One line, for people: what, where ("text:1:15" is line 1, column 15), what was expected. "" of NULL. Lives
 * as long as the error. */
KIRSCH_PUBLIC const char* kirsch_error_message(const kirsch_error* error);
/* Of NULL: nothing. */
KIRSCH_PUBLIC void kirsch_error_free(kirsch_error* error);
KIRSCH_PUBLIC void kirsch_free_text(char* text);

/* ---------- requests: what is to be computed ---------- */

typedef struct kirsch_request kirsch_request;

/* Reads a shorthand ("matmul f32 64x64x64"), or a file's text of these and of kernels in the kernel language;
 * the grammar is in docs/spec.md. Any text is safe to pass. `kernel`: which of several kernels, by its
 * name; NULL if there is one. */
KIRSCH_PUBLIC kirsch_error* kirsch_parse(const char* text, const char* kernel, kirsch_request** request);
KIRSCH_PUBLIC void kirsch_request_destroy(kirsch_request* request);

/* The kernel's name, a C identifier. */
KIRSCH_PUBLIC const char* kirsch_request_name(const kirsch_request* request);

/* Of a family, the sizes that vary: so many, their names, and the values that each has, ascending. 0, NULL
 * where there is no such size or value. */
KIRSCH_PUBLIC size_t kirsch_request_num_sizes(const kirsch_request* request);
KIRSCH_PUBLIC const char* kirsch_request_size_name(const kirsch_request* request, size_t size);
KIRSCH_PUBLIC size_t kirsch_request_num_values(const kirsch_request* request, size_t size);
KIRSCH_PUBLIC size_t kirsch_request_value(const kirsch_request* request, size_t size, size_t index);

/* Types of elements. The numbers never change. */
typedef enum kirsch_type {
  KIRSCH_F32 = 0,
  KIRSCH_BF16 = 1, /* the upper half of an f32 */
  KIRSCH_F16 = 2,
  KIRSCH_U8 = 3,
  KIRSCH_S8 = 4,
  KIRSCH_S16 = 5,
  KIRSCH_S32 = 6,
  KIRSCH_F8_E4M3 = 7, /* the OCP's, as the next */
  KIRSCH_F8_E5M2 = 8,
  /* Of weights alone: blocks of elements of a row that share scales, as ggml stores them. Shapes and strides
     count elements, of which every row has whole blocks. */
  KIRSCH_Q8_0 = 10,
  KIRSCH_Q4_0 = 11,
  KIRSCH_Q4_1 = 12,
  KIRSCH_Q4_K = 13,
  KIRSCH_Q6_K = 14,
  KIRSCH_MXFP4 = 15,
  KIRSCH_SFP8 = 16, /* gemma.cpp's; whole blocks of 32, too, though each element stands by itself */
  KIRSCH_F64 = 26
} kirsch_type;

/* Elements of a block, 1 where each lies by itself, and bytes of one; 0 of what is no type. */
KIRSCH_PUBLIC size_t kirsch_type_block(kirsch_type type);
KIRSCH_PUBLIC size_t kirsch_type_bytes(kirsch_type type);

/* "bf16"; NULL of what is none. */
KIRSCH_PUBLIC const char* kirsch_type_name(kirsch_type type);

enum { KIRSCH_MAX_RANK = 8 }; /* what tensors have at most */

/* An operand: where its elements lie, and what the kernel does with it. */
typedef struct kirsch_operand {
  const char* name; /* as in the text; of a shorthand "lhs", "rhs", "bias", "out" and the like */
  kirsch_type type;
  int rank; /* 0: a single element */
  /* The element at indices i is number i[0] * stride[0] + i[1] * stride[1] + ... of the memory. */
  int64_t shape[KIRSCH_MAX_RANK], stride[KIRSCH_MAX_RANK];
  int is_output;   /* of the last operand, or of the last ones, if the kernel has several results */
  int is_read;     /* 0: what it holds before a call is not looked at */
  int is_constant; /* packed once with kirsch_kernel_pack */
} kirsch_operand;

/* Inputs in their order, then the outputs. */
KIRSCH_PUBLIC size_t kirsch_request_num_operands(const kirsch_request* request);
/* `sizes`: the values of a family's sizes, num_sizes of them; NULL where there are none. */
KIRSCH_PUBLIC kirsch_error* kirsch_request_operand(const kirsch_request* request, const size_t* sizes,
                                                   size_t num_sizes, size_t index, kirsch_operand* operand);

/* ---------- contexts: where answers are kept ---------- */

typedef struct kirsch_context kirsch_context;

typedef struct kirsch_context_options {
  size_t struct_size; /* sizeof(kirsch_context_options) */
  /* A table of solved problems, as `kirsch --db` takes it: a file, or a directory (that ends in '/') with a
   * file for each target. It is made if there is none. NULL: no table; nothing is kept on disk. */
  const char* table;
  int search_threads; /* that a search uses; 0: as many as the machine has cores */
  /* Is told what is worth a remark, as a table that can't be written. Any thread may call it, also several at
   * once. NULL: nobody is told. */
  void (*remark)(void* user, const char* text);
  void* user;
} kirsch_context_options;

/* `options` may be NULL. */
KIRSCH_PUBLIC kirsch_error* kirsch_context_create(const kirsch_context_options* options,
                                                  kirsch_context** context);
KIRSCH_PUBLIC void kirsch_context_destroy(kirsch_context* context);

/* ---------- solutions: how it is computed ---------- */

typedef struct kirsch_solution kirsch_solution;

typedef struct kirsch_solve_options {
  size_t struct_size; /* sizeof(kirsch_solve_options) */
  const char* target; /* a known CPU, the path of a target file, or "host"; NULL: "host" */
  int threads;        /* that the kernel is for, 1 to 255; 0: 1 */
  double time_budget; /* seconds after which the search gives its best program so far; 0: none */
  const char* cold;   /* operands that come from RAM, as "rhs,out"; "*": all; NULL: none */
  int allow_winograd; /* 3x3 convolutions of f32 may be computed by Winograd's algorithm, less exactly */
  const char*
      schedule; /* decisions that are given, a line each (docs/query.md); NULL: all are searched for */
} kirsch_solve_options;

/* Searches, or finds in the table, the cheapest program, of a family those of all members. No code is made.
 * `options` may be NULL. */
KIRSCH_PUBLIC kirsch_error* kirsch_solve(const kirsch_context* context, const kirsch_request* request,
                                         const kirsch_solve_options* options, kirsch_solution** solution);
KIRSCH_PUBLIC void kirsch_solution_destroy(kirsch_solution* solution);

/* The target's name: of "host" that of this CPU. */
KIRSCH_PUBLIC const char* kirsch_solution_target(const kirsch_solution* solution);

/* What is predicted of one call. */
typedef struct kirsch_cost {
  double cycles, seconds; /* seconds at the target's clock */
  double gflops;          /* 10^9 multiplications and additions a second */
  int optimal; /* 1: the search was not stopped before it knew that nothing is cheaper (by the model) */
} kirsch_cost;

/* `sizes`, `num_sizes`: as in kirsch_request_operand. */
KIRSCH_PUBLIC kirsch_error* kirsch_solution_cost(const kirsch_solution* solution, const size_t* sizes,
                                                 size_t num_sizes, kirsch_cost* cost);

/* What the program is like, as the JSON object that `kirsch query` prints as an answer (docs/query.md). No
 * code is made, and nothing is searched. `sizes`, `num_sizes`: as in kirsch_request_operand. */
KIRSCH_PUBLIC kirsch_error* kirsch_solution_query(const kirsch_solution* solution, const size_t* sizes,
                                                  size_t num_sizes, char** json);

/* What `kirsch explain` prints: the program, a step a line, with what each costs and why. It searches again,
 * as what came from a table explains nothing. */
KIRSCH_PUBLIC kirsch_error* kirsch_solution_explain(const kirsch_solution* solution, char** text);

/* The kernel as a C header without dependencies (docs/headers.md), for the solution's target, whatever CPU
 * this is. `name`: what the function is called; NULL: as the request. It is not verified. */
KIRSCH_PUBLIC kirsch_error* kirsch_solution_header(const kirsch_solution* solution, const char* name,
                                                   char** text);

/* ---------- kernels: code that is called ---------- */

typedef struct kirsch_kernel kirsch_kernel;

/* Compiles the solution's code, of a family that of all members, for this process. KIRSCH_BAD_CPU if this CPU
 * can't run it. */
KIRSCH_PUBLIC kirsch_error* kirsch_compile(const kirsch_solution* solution, kirsch_kernel** kernel);
KIRSCH_PUBLIC void kirsch_kernel_destroy(kirsch_kernel* kernel);

typedef struct kirsch_arguments {
  size_t struct_size;  /* sizeof(kirsch_arguments) */
  const size_t* sizes; /* of a family; else NULL */
  size_t num_sizes;
  /* A pointer for each operand of the request, in their order: to element 0, aligned to the element. Those of
   * constants are not looked at, `packed` stands for them. Operands lie as kirsch_request_operand says; an
   * output overlaps no other operand. */
  void* const* operands;
  size_t num_operands;
  const void* packed; /* what kirsch_kernel_pack wrote; NULL without constants */
} kirsch_arguments;

/* Computes, in this thread and, of a kernel for several threads, in so many of the kernel's own; returns when
 * all is done. Scratch memory is the kernel's. Only pointers and numbers are checked, before anything is
 * touched. */
KIRSCH_PUBLIC kirsch_error* kirsch_call(const kirsch_kernel* kernel, const kirsch_arguments* arguments);

/* Bytes of the packed constants, 64-byte aligned; 0 without any. The same for all members of a family. */
KIRSCH_PUBLIC size_t kirsch_kernel_packed_bytes(const kirsch_kernel* kernel);
/* Packs the constants among the operands, a pointer for each operand in their order; the others are not
 * looked at. `packed` then is for calls of this kernel, and of any that is compiled from the same solution.
 */
KIRSCH_PUBLIC kirsch_error* kirsch_kernel_pack(const kirsch_kernel* kernel, void* const* operands,
                                               size_t num_operands, void* packed);

/* For callers with threads and memory of their own. */

/* Threads that the kernel was made for; 0: it takes ranges of columns (column-blocks), see kirsch_call_part.
 */
KIRSCH_PUBLIC int kirsch_kernel_threads(const kirsch_kernel* kernel);
/* Bytes of each thread's scratch memory, and of what all threads share, 64-byte aligned: the most that any
 * member of the family needs. */
KIRSCH_PUBLIC size_t kirsch_kernel_scratch_bytes(const kirsch_kernel* kernel);
KIRSCH_PUBLIC size_t kirsch_kernel_shared_bytes(const kirsch_kernel* kernel);
KIRSCH_PUBLIC size_t kirsch_kernel_phases(const kirsch_kernel* kernel);

typedef struct kirsch_part {
  size_t struct_size;         /* sizeof(kirsch_part) */
  size_t thread, num_threads; /* of column-blocks: the first column and the end of those wanted */
  size_t phase;
  void* scratch; /* this thread's own, kirsch_kernel_scratch_bytes bytes; NULL if that is 0 */
  void* shared;  /* the same of all threads; NULL if that is 0 bytes */
} kirsch_part;

/* One thread's share of a call: every thread calls it for each phase, with a barrier in between; one thread
 * may do the shares of all, phase by phase. Nothing waits, and nothing is allocated but a list of pointers.
 */
KIRSCH_PUBLIC kirsch_error* kirsch_call_part(const kirsch_kernel* kernel, const kirsch_arguments* arguments,
                                             const kirsch_part* part);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* KIRSCH_H_ */
