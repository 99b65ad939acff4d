// SPDX-License-Identifier: Apache-2.0
/* libkirsch from C. Prints nothing if all is well. Arguments: a directory for files. */
#include <kirsch.h>
#include <kirsch_extension.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

static void check_fine(kirsch_error* error, int line) {
  if (error == NULL) return;
  fprintf(stderr, "%s:%d: %s\n", __FILE__, line, kirsch_error_message(error));
  exit(1);
}
#define FINE(call) check_fine(call, __LINE__)

static void check_error(kirsch_error* error, kirsch_code code, const char* part, int line) {
  if (kirsch_error_code(error) != code || strstr(kirsch_error_message(error), part) == NULL) {
    fprintf(stderr, "%s:%d: error %d '%s', expected %d '%s'\n", __FILE__, line, (int)kirsch_error_code(error),
            kirsch_error_message(error), (int)code, part);
    exit(1);
  }
  CHECK(strchr(kirsch_error_message(error), '\n') == NULL);
  kirsch_error_free(error);
}
#define FAILS(call, code, part) check_error(call, code, part, __LINE__)

enum { MOST_OPERANDS = 8 };

/* Memory for the operands of a request, filled with small numbers. */
typedef struct problem {
  size_t num_operands;
  kirsch_operand operand[MOST_OPERANDS];
  void* memory[MOST_OPERANDS];
  size_t elements[MOST_OPERANDS];
} problem;

static size_t elements_of(const kirsch_operand* operand) {
  size_t last = 0;
  for (int axis = 0; axis < operand->rank; ++axis)
    last += (size_t)(operand->shape[axis] - 1) * (size_t)operand->stride[axis];
  return last + 1;
}

/* These tests' types. */
static double get(kirsch_type type, const void* memory, size_t i) {
  switch (type) {
    case KIRSCH_F32:
      return ((const float*)memory)[i];
    case KIRSCH_U8:
      return ((const uint8_t*)memory)[i];
    case KIRSCH_S8:
      return ((const int8_t*)memory)[i];
    default:
      CHECK(type == KIRSCH_S32);
      return ((const int32_t*)memory)[i];
  }
}

static void put(kirsch_type type, void* memory, size_t i, double value) {
  switch (type) {
    case KIRSCH_F32:
      ((float*)memory)[i] = (float)value;
      return;
    case KIRSCH_U8:
      ((uint8_t*)memory)[i] = (uint8_t)value;
      return;
    case KIRSCH_S8:
      ((int8_t*)memory)[i] = (int8_t)value;
      return;
    default:
      CHECK(type == KIRSCH_S32);
      ((int32_t*)memory)[i] = (int32_t)value;
  }
}

static problem problem_of(const kirsch_request* request, const size_t* sizes, size_t num_sizes) {
  problem made = {.num_operands = kirsch_request_num_operands(request)};
  CHECK(made.num_operands <= MOST_OPERANDS);
  for (size_t i = 0; i < made.num_operands; ++i) {
    kirsch_operand* const operand = &made.operand[i];
    FINE(kirsch_request_operand(request, sizes, num_sizes, i, operand));
    CHECK(operand->is_output == (i + 1 == made.num_operands));
    made.elements[i] = elements_of(operand);
    made.memory[i] = malloc(made.elements[i] * 4);
    for (size_t element = 0; element < made.elements[i]; ++element)
      put(operand->type, made.memory[i], element, (double)((element * 7 + i * 3) % 11));
  }
  return made;
}

static void free_problem(problem* given) {
  for (size_t i = 0; i < given->num_operands; ++i) free(given->memory[i]);
}

/* Of operands that have less than three axes, batch 0 is the only one. */
static size_t place(const kirsch_operand* operand, size_t batch, size_t row, size_t column) {
  const int64_t* const stride = operand->stride + operand->rank - 2;
  return (operand->rank == 3 ? batch * (size_t)operand->stride[0] : 0) + row * (size_t)stride[0] +
         column * (size_t)stride[1];
}

/* The product of small integers is exact. `before`: what out held. */
static void check_matmul(const problem* given, const double* before) {
  const kirsch_operand *lhs = &given->operand[0], *rhs = &given->operand[1];
  const kirsch_operand* out = &given->operand[given->num_operands - 1];
  const size_t batches = out->rank == 3 ? (size_t)out->shape[0] : 1;
  const size_t rows = (size_t)out->shape[out->rank - 2], columns = (size_t)out->shape[out->rank - 1];
  const size_t depth = (size_t)lhs->shape[lhs->rank - 1];
  for (size_t b = 0; b < batches; ++b)
    for (size_t m = 0; m < rows; ++m)
      for (size_t n = 0; n < columns; ++n) {
        const size_t at = place(out, b, m, n);
        double sum = out->is_read ? before[at] : 0;
        for (size_t k = 0; k < depth; ++k)
          sum += get(lhs->type, given->memory[0], place(lhs, b, m, k)) *
                 get(rhs->type, given->memory[1], place(rhs, b, k, n));
        CHECK(get(out->type, given->memory[given->num_operands - 1], at) == sum);
      }
}

static double* copy_of_out(const problem* given) {
  const size_t out = given->num_operands - 1;
  double* const copy = malloc(given->elements[out] * sizeof(double));
  for (size_t i = 0; i < given->elements[out]; ++i)
    copy[i] = get(given->operand[out].type, given->memory[out], i);
  return copy;
}

static kirsch_context* context;

static kirsch_request* parsed(const char* text) {
  kirsch_request* request = NULL;
  FINE(kirsch_parse(text, NULL, &request));
  return request;
}

static kirsch_solution* solved(const kirsch_request* request, const char* target, int threads) {
  const kirsch_solve_options options = {.struct_size = sizeof options, .target = target, .threads = threads};
  kirsch_solution* solution = NULL;
  FINE(kirsch_solve(context, request, &options, &solution));
  return solution;
}

static kirsch_kernel* compiled(const kirsch_request* request, int threads) {
  kirsch_solution* const solution = solved(request, NULL, threads);
  kirsch_kernel* kernel = NULL;
  FINE(kirsch_compile(solution, &kernel));
  kirsch_solution_destroy(solution);
  return kernel;
}

static kirsch_arguments arguments_of(const problem* given, const size_t* sizes, size_t num_sizes,
                                     const void* packed) {
  const kirsch_arguments arguments = {sizeof arguments,    sizes, num_sizes, given->memory,
                                      given->num_operands, packed};
  return arguments;
}

static void call_and_check(const kirsch_request* request, const kirsch_kernel* kernel, const size_t* sizes,
                           size_t num_sizes, const void* packed) {
  problem given = problem_of(request, sizes, num_sizes);
  double* const before = copy_of_out(&given);
  const kirsch_arguments arguments = arguments_of(&given, sizes, num_sizes, packed);
  FINE(kirsch_call(kernel, &arguments));
  check_matmul(&given, before);
  free(before);
  free_problem(&given);
}

static void check_matmuls(const char* text, int threads) {
  kirsch_request* const request = parsed(text);
  kirsch_kernel* const kernel = compiled(request, threads);
  CHECK(kirsch_kernel_threads(kernel) == (strstr(text, "column-blocks") != NULL ? 0 : threads));
  call_and_check(request, kernel, NULL, 0, NULL);
  call_and_check(request, kernel, NULL, 0, NULL); /* memory that was used before */
  kirsch_kernel_destroy(kernel);
  kirsch_request_destroy(request);
}

static void check_versions(void) {
  int major = 0, minor = 0, patch = 0;
  CHECK(sscanf(kirsch_version(), "%d.%d.%d", &major, &minor, &patch) == 3);
  CHECK(kirsch_api_version() == KIRSCH_API_MAJOR * 1000 + KIRSCH_API_MINOR);
  CHECK(strcmp(kirsch_type_name(KIRSCH_F8_E5M2), "f8_e5m2") == 0);
  CHECK(kirsch_type_name((kirsch_type)99) == NULL);
  CHECK(kirsch_error_code(NULL) == KIRSCH_OK && kirsch_error_message(NULL)[0] == '\0');
  kirsch_error_free(NULL);
}

static void check_bad_texts(void) {
  kirsch_request* request = NULL;
  FAILS(kirsch_parse("matmul f32 64x0x64", NULL, &request), KIRSCH_BAD_INPUT,
        "text:1:15: expected a size from 1 to 1048576, got '0'");
  CHECK(request == NULL);
  FAILS(kirsch_parse("", NULL, &request), KIRSCH_BAD_INPUT, "text:1:1: expected a kernel");
  FAILS(kirsch_parse(NULL, NULL, &request), KIRSCH_BAD_INPUT, "text: expected");
  FAILS(kirsch_parse("matmul f32 8x8x8", NULL, NULL), KIRSCH_BAD_INPUT, "expected an address");
  const char* const two = "a = matmul f32 8x8x8\nb = matmul f32 9x9x9\n";
  FAILS(kirsch_parse(two, NULL, &request), KIRSCH_BAD_INPUT,
        "expected the name of a kernel of the text (a b)");
  FAILS(kirsch_parse(two, "c", &request), KIRSCH_BAD_INPUT, "got 'c'");
  FINE(kirsch_parse(two, "b", &request));
  CHECK(strcmp(kirsch_request_name(request), "b") == 0);
  kirsch_operand operand;
  FINE(kirsch_request_operand(request, NULL, 0, 2, &operand));
  CHECK(operand.rank == 2 && operand.shape[0] == 9 && operand.stride[0] == 9 && operand.stride[1] == 1);
  CHECK(strcmp(operand.name, "out") == 0 && operand.is_output && !operand.is_read && !operand.is_constant);
  FAILS(kirsch_request_operand(request, NULL, 0, 3, &operand), KIRSCH_BAD_INPUT,
        "index: expected one below 3");
  const size_t sizes[] = {1};
  FAILS(kirsch_request_operand(request, sizes, 1, 0, &operand), KIRSCH_BAD_INPUT, "sizes: expected 0, got 1");
  kirsch_request_destroy(request);
}

static void check_bad_options(void) {
  kirsch_request* const request = parsed("matmul f32 8x8x8");
  kirsch_solution* solution = NULL;
  kirsch_solve_options options = {.struct_size = sizeof options, .target = "nosuch"};
  FAILS(kirsch_solve(context, request, &options, &solution), KIRSCH_BAD_INPUT, "nosuch");
  options.target = "haswell";
  options.threads = 256;
  FAILS(kirsch_solve(context, request, &options, &solution), KIRSCH_BAD_INPUT, "threads: expected 1 to 255");
  options.threads = 1;
  options.cold = "nosuch";
  FAILS(kirsch_solve(context, request, &options, &solution), KIRSCH_BAD_INPUT, "cold:1:1: expected");
  options.struct_size = 1;
  FAILS(kirsch_solve(context, request, &options, &solution), KIRSCH_BAD_INPUT, "struct_size");
  /* Of a caller that knows the first options only, the others are as if zero. */
  options.struct_size = offsetof(kirsch_solve_options, threads);
  FINE(kirsch_solve(context, request, &options, &solution));
  kirsch_solution_destroy(solution);
  kirsch_request_destroy(request);
}

static void check_bad_calls(void) {
  kirsch_request* const request = parsed("matmul f32 8x16x8");
  kirsch_kernel* const kernel = compiled(request, 1);
  problem given = problem_of(request, NULL, 0);
  kirsch_arguments arguments = arguments_of(&given, NULL, 0, NULL);
  arguments.num_operands = 2;
  FAILS(kirsch_call(kernel, &arguments), KIRSCH_BAD_INPUT, "operands: expected 3, got 2");
  arguments.num_operands = 3;
  void* const lhs = given.memory[0];
  given.memory[0] = (char*)lhs + 2;
  FAILS(kirsch_call(kernel, &arguments), KIRSCH_BAD_INPUT,
        "lhs: expected an address that is a multiple of 4");
  given.memory[0] = NULL;
  FAILS(kirsch_call(kernel, &arguments), KIRSCH_BAD_INPUT, "lhs: expected an address, got NULL");
  given.memory[0] = lhs;
  arguments.operands = NULL;
  FAILS(kirsch_call(kernel, &arguments), KIRSCH_BAD_INPUT, "operands: expected an address");
  FAILS(kirsch_kernel_pack(kernel, given.memory, 3, lhs), KIRSCH_BAD_INPUT, "constant operand");
  free_problem(&given);
  kirsch_kernel_destroy(kernel);
  kirsch_request_destroy(request);
}

/* What a CPU can't run is found out before it runs. */
static void check_other_cpus(void) {
  kirsch_request* const request = parsed("matmul s8*s8->s32 64x64x64");
  kirsch_solution* const solution = solved(request, "sierraforest", 1);
  CHECK(strcmp(kirsch_solution_target(solution), "sierraforest") == 0);
  kirsch_cost cost;
  FINE(kirsch_solution_cost(solution, NULL, 0, &cost));
  CHECK(cost.cycles > 0 && cost.seconds > 0 && cost.optimal == 1);
  char* text = NULL;
  FINE(kirsch_solution_header(solution, "other_name", &text));
  CHECK(strstr(text, "void other_name(const int8_t*") != NULL);
  kirsch_free_text(text);
  FAILS(kirsch_solution_header(solution, "while", &text), KIRSCH_BAD_INPUT, "name: expected");
  CHECK(text == NULL);
  FINE(kirsch_solution_explain(solution, &text));
  CHECK(strstr(text, "matmul s8*s8->s32 64x64x64") != NULL && strstr(text, "cycles") != NULL);
  kirsch_free_text(text);
  kirsch_kernel* kernel = NULL;
  kirsch_error* const error = kirsch_compile(solution, &kernel);
  CHECK((error == NULL) == (kernel != NULL)); /* some CPUs can */
  if (error != NULL) FAILS(error, KIRSCH_BAD_CPU, "this CPU can't run the code for sierraforest");
  kirsch_kernel_destroy(kernel);
  kirsch_solution_destroy(solution);
  kirsch_request_destroy(request);
}

static void check_family(void) {
  kirsch_request* const request = parsed("matmul f32 1..40x33x17 rhs=col");
  CHECK(kirsch_request_num_sizes(request) == 1 && strcmp(kirsch_request_size_name(request, 0), "m") == 0);
  CHECK(kirsch_request_num_values(request, 0) == 40 && kirsch_request_value(request, 0, 39) == 40);
  CHECK(kirsch_request_size_name(request, 1) == NULL && kirsch_request_num_values(request, 1) == 0);
  kirsch_solution* const solution = solved(request, NULL, 1);
  kirsch_kernel* kernel = NULL;
  FINE(kirsch_compile(solution, &kernel));
  for (size_t m = 1; m <= 40; ++m) call_and_check(request, kernel, &m, 1, NULL);
  kirsch_cost small, large;
  size_t m = 1;
  FINE(kirsch_solution_cost(solution, &m, 1, &small));
  m = 40;
  FINE(kirsch_solution_cost(solution, &m, 1, &large));
  CHECK(small.cycles < large.cycles);
  FAILS(kirsch_solution_cost(solution, NULL, 0, &large), KIRSCH_BAD_INPUT, "sizes: expected 1, got 0");
  problem given = problem_of(request, &m, 1);
  m = 41;
  const kirsch_arguments arguments = arguments_of(&given, &m, 1, NULL);
  FAILS(kirsch_call(kernel, &arguments), KIRSCH_BAD_INPUT, "m: expected one of 1..40, got 41");
  free_problem(&given);
  kirsch_kernel_destroy(kernel);
  kirsch_solution_destroy(solution);
  kirsch_request_destroy(request);
}

static void check_constants(const char* text, const size_t* sizes, size_t num_sizes) {
  kirsch_request* const request = parsed(text);
  kirsch_kernel* const kernel = compiled(request, 1);
  const size_t bytes = kirsch_kernel_packed_bytes(kernel);
  CHECK(bytes > 0 && bytes % 64 == 0);
  void* const packed = aligned_alloc(64, bytes);
  problem given = problem_of(request, sizes, num_sizes);
  CHECK(given.operand[1].is_constant && !given.operand[0].is_constant);
  FAILS(kirsch_kernel_pack(kernel, given.memory, 3, (char*)packed + 4), KIRSCH_BAD_INPUT, "packed: expected");
  FINE(kirsch_kernel_pack(kernel, given.memory, 3, packed));
  kirsch_arguments arguments = arguments_of(&given, sizes, num_sizes, NULL);
  FAILS(kirsch_call(kernel, &arguments), KIRSCH_BAD_INPUT, "packed: expected an address, got NULL");
  free_problem(&given);
  call_and_check(request, kernel, sizes, num_sizes, packed); /* the same numbers */
  free(packed);
  kirsch_kernel_destroy(kernel);
  kirsch_request_destroy(request);
}

/* One thread does the parts of three; memory is the caller's. */
static void check_parts(const char* text, int threads) {
  kirsch_request* const request = parsed(text);
  kirsch_kernel* const kernel = compiled(request, threads);
  const int columns = kirsch_kernel_threads(kernel) == 0;
  problem given = problem_of(request, NULL, 0);
  double* const before = copy_of_out(&given);
  const kirsch_arguments arguments = arguments_of(&given, NULL, 0, NULL);
  const size_t scratch = (kirsch_kernel_scratch_bytes(kernel) + 63) / 64 * 64 + 64;
  const size_t shared = (kirsch_kernel_shared_bytes(kernel) + 63) / 64 * 64 + 64;
  const size_t n = (size_t)given.operand[given.num_operands - 1].shape[1];
  kirsch_part part = {
      .struct_size = sizeof part, .scratch = aligned_alloc(64, scratch), .shared = aligned_alloc(64, shared)};
  for (part.phase = 0; part.phase < kirsch_kernel_phases(kernel); ++part.phase)
    for (size_t thread = 3; thread-- > 0;) {
      part.thread = columns ? n * thread / 3 : thread;
      part.num_threads = columns ? n * (thread + 1) / 3 : 3;
      FINE(kirsch_call_part(kernel, &arguments, &part));
    }
  check_matmul(&given, before);
  FAILS(kirsch_call_part(kernel, &arguments, &part), KIRSCH_BAD_INPUT, "phase: expected one below");
  part.phase = 0;
  part.thread = columns ? n : 3;
  part.num_threads = columns ? n + 1 : 3;
  FAILS(kirsch_call_part(kernel, &arguments, &part), KIRSCH_BAD_INPUT, "thread: expected");
  free(part.scratch);
  free(part.shared);
  free(before);
  free_problem(&given);
  kirsch_kernel_destroy(kernel);
  kirsch_request_destroy(request);
}

/* A kernel that is one matmul has its own parameters, in its order. */
static void check_graphs(void) {
  kirsch_request* request = parsed(
      "kernel dense(b: f32[24], w: f32[24,40], x: f32[12,40]) -> f32[12,24]:\n"
      "  y = matmul(x, transpose(w))\n"
      "  return relu(add(y, b))\n");
  CHECK(strcmp(kirsch_request_name(request), "dense") == 0 && kirsch_request_num_operands(request) == 4);
  problem given = problem_of(request, NULL, 0);
  CHECK(strcmp(given.operand[0].name, "b") == 0 && given.operand[0].rank == 1 &&
        given.operand[0].shape[0] == 24);
  CHECK(strcmp(given.operand[2].name, "x") == 0 && given.operand[2].shape[1] == 40);
  kirsch_kernel* const kernel = compiled(request, 2);
  const kirsch_arguments arguments = arguments_of(&given, NULL, 0, NULL);
  FINE(kirsch_call(kernel, &arguments));
  const float *const b = given.memory[0], *const w = given.memory[1], *const x = given.memory[2];
  for (size_t m = 0; m < 12; ++m)
    for (size_t n = 0; n < 24; ++n) {
      double sum = b[n];
      for (size_t k = 0; k < 40; ++k) sum += (double)x[m * 40 + k] * w[n * 40 + k];
      CHECK(((const float*)given.memory[3])[m * 24 + n] == fmax(sum, 0));
    }
  free_problem(&given);
  kirsch_kernel_destroy(kernel);
  kirsch_request_destroy(request);
  request = parsed("conv2d f32 1x8x10x10 filters=16 kernel=3x3 pad=1 layout=nhwc epilogue=add:n,relu");
  given = problem_of(request, NULL, 0);
  CHECK(given.operand[0].rank == 4 && given.operand[0].shape[3] == 8 && given.operand[1].shape[0] == 3);
  free_problem(&given);
  kirsch_request_destroy(request);
}

/* Answers are found again by another context; what is no table is refused. */
static void check_table(const char* directory) {
  char path[4096];
  CHECK(snprintf(path, sizeof path, "%s/answers.db", directory) < (int)sizeof path);
  remove(path);
  kirsch_request* const request = parsed("matmul f32 48x48x48");
  double cycles[2];
  for (int i = 0; i < 2; ++i) {
    const kirsch_context_options options = {
        .struct_size = sizeof options, .table = path, .search_threads = 1};
    kirsch_context* with_table = NULL;
    kirsch_solution* solution = NULL;
    kirsch_cost cost;
    FINE(kirsch_context_create(&options, &with_table));
    FINE(kirsch_solve(with_table, request, NULL, &solution));
    kirsch_context_destroy(with_table); /* a solution doesn't need it */
    FINE(kirsch_solution_cost(solution, NULL, 0, &cost));
    cycles[i] = cost.cycles;
    kirsch_solution_destroy(solution);
    FILE* const file = fopen(path, "rb");
    CHECK(file != NULL);
    fclose(file);
  }
  CHECK(cycles[0] == cycles[1]);
  FILE* const file = fopen(path, "wb");
  CHECK(file != NULL && fputs("no table at all, but long enough to be looked at", file) >= 0);
  fclose(file);
  const kirsch_context_options options = {.struct_size = sizeof options, .table = path};
  kirsch_context* with_table = NULL;
  kirsch_solution* solution = NULL;
  FINE(kirsch_context_create(&options, &with_table));
  FAILS(kirsch_solve(with_table, request, NULL, &solution), KIRSCH_BAD_TABLE, "answers.db");
  kirsch_context_destroy(with_table);
  kirsch_request_destroy(request);
}

static void count_remark(void* user, const char* text) {
  CHECK(strstr(text, "nothing is kept") != NULL);
  ++*(int*)user;
}

/* A table that can't be made is a remark. */
static void check_remarks(void) {
  int remarks = 0;
  const kirsch_context_options options = {.struct_size = sizeof options,
                                          .table = "/proc/nosuch/answers.db",
                                          .search_threads = 1,
                                          .remark = count_remark,
                                          .user = &remarks};
  kirsch_context* with_table = NULL;
  FINE(kirsch_context_create(&options, &with_table));
  kirsch_request* const request = parsed("matmul f32 8x8x8");
  kirsch_solution* solution = NULL;
  FINE(kirsch_solve(with_table, request, NULL, &solution));
  CHECK(remarks > 0);
  kirsch_solution_destroy(solution);
  kirsch_request_destroy(request);
  kirsch_context_destroy(with_table);
}

/* Extensions: every step costs so many times what the built-in model says; packs may be forbidden. */
static double scaled(void* user, const kirsch_step* step) {
  CHECK(step->at->num_dims > 0 && strcmp(step->at->operation, "matmul") == 0 && step->cycles >= 0);
  CHECK(strcmp(step->at->tile[1].name, "rhs") == 0 && step->at->tile[1].type == KIRSCH_F32);
  return *(const double*)user * step->cycles;
}
static int nothing(void* user, const kirsch_subproblem* at, const kirsch_decision* decision) {
  (void)user, (void)at, (void)decision;
  return 0;
}
static size_t too_many(void* user, const kirsch_subproblem* at, int dim, int64_t* sizes, size_t room) {
  (void)user, (void)at, (void)dim;
  memset(sizes, 0, room * sizeof *sizes);
  return room + 1;
}

static kirsch_context* extended(const kirsch_extension* extension, const char* table) {
  const kirsch_context_options options = {
      .struct_size = sizeof options, .table = table, .search_threads = 1, .extension = extension};
  kirsch_context* made = NULL;
  FINE(kirsch_context_create(&options, &made));
  return made;
}

static double cycles_in(const kirsch_context* in, const char* text) {
  kirsch_request* const request = parsed(text);
  const kirsch_solve_options options = {.struct_size = sizeof options, .target = "haswell"};
  kirsch_solution* solution = NULL;
  kirsch_cost cost;
  FINE(kirsch_solve(in, request, &options, &solution));
  FINE(kirsch_solution_cost(solution, NULL, 0, &cost));
  CHECK(cost.optimal);
  kirsch_solution_destroy(solution);
  kirsch_request_destroy(request);
  return cost.cycles;
}

static void fails_in(const kirsch_extension* extension, const char* text, const char* part) {
  kirsch_context* const made = extended(extension, NULL);
  kirsch_request* const request = parsed(text);
  kirsch_solution* solution = NULL;
  FAILS(kirsch_solve(made, request, NULL, &solution), KIRSCH_BAD_INPUT, part);
  CHECK(solution == NULL);
  kirsch_request_destroy(request);
  kirsch_context_destroy(made);
}

static void check_extensions(const char* directory) {
  double factor = 4; /* rounds nothing */
  const kirsch_extension plain = {.struct_size = sizeof plain,
                                  .abi = KIRSCH_EXTENSION_ABI,
                                  .name = "scaled",
                                  .version = "1",
                                  .user = &factor};
  kirsch_extension extension = plain;
  extension.price = scaled;
  char path[4096];
  CHECK(snprintf(path, sizeof path, "%s/extended.db", directory) < (int)sizeof path);
  remove(path);
  const double built_in = cycles_in(context, "matmul f32 24x32x40");
  for (int i = 0; i < 3; ++i) {
    extension.least_share = (double[]){4, 1, 0}[i];
    kirsch_context* const made = extended(&extension, path);
    CHECK(cycles_in(made, "matmul f32 24x32x40") == 4 * built_in);
    kirsch_context_destroy(made);
  }
  /* The table is of this version alone. */
  extension.version = "2";
  kirsch_context* const other = extended(&extension, path);
  kirsch_request* const request = parsed("matmul f32 24x32x40");
  kirsch_solution* solution = NULL;
  const kirsch_solve_options haswell = {.struct_size = sizeof haswell, .target = "haswell"};
  FAILS(kirsch_solve(other, request, &haswell, &solution), KIRSCH_BAD_TABLE, "extended.db");
  kirsch_request_destroy(request);
  kirsch_context_destroy(other);

  extension.least_share = 5;
  fails_in(&extension, "matmul f32 8x8x8", "extension 'scaled 2': price: expected ");
  extension.least_share = 0;
  factor = -1;
  fails_in(&extension, "matmul f32 8x8x8", "extension 'scaled 2': price: expected 0 to ");
  factor = NAN;
  fails_in(&extension, "matmul f32 8x8x8", ", got nan");
  extension = plain;
  extension.allow = nothing;
  fails_in(&extension, "matmul f32 8x8x8",
           "expected decisions that make a program, got none for 'matmul f32 8x8x8'");
  extension = plain;
  extension.tile_sizes = too_many;
  fails_in(&extension, "matmul f32 80x80x80", "tile_sizes: expected at most 64 sizes, got 65");
  fails_in(&plain, "matmul f32 1..4x8x8", "extension: expected a single matmul or convolution");
  fails_in(&plain, "softmax f32 4x8", "extension: expected a single matmul or convolution");

  kirsch_context* made = NULL;
  const kirsch_context_options options = {.struct_size = sizeof options, .extension = &extension};
  extension = plain;
  extension.abi = 7;
  FAILS(kirsch_context_create(&options, &made), KIRSCH_BAD_INPUT, "extension.abi: expected 1, got 7");
  extension = plain;
  extension.name = "a b";
  FAILS(kirsch_context_create(&options, &made), KIRSCH_BAD_INPUT, "extension.name: expected 1 to 64 letters");
  extension = plain;
  extension.version = NULL;
  FAILS(kirsch_context_create(&options, &made), KIRSCH_BAD_INPUT, "extension.version: ");
  extension = plain;
  extension.least_share = -1;
  FAILS(kirsch_context_create(&options, &made), KIRSCH_BAD_INPUT,
        "extension.least_share: expected 0 to 1000");
}

static kirsch_request* shared_request;
static kirsch_kernel* shared_kernel;

static int work(void* argument) {
  char text[64];
  snprintf(text, sizeof text, "matmul f32 %dx24x31", 5 + *(const int*)argument);
  for (int i = 0; i < 3; ++i) {
    check_matmuls(text, 1 + i % 2);
    call_and_check(shared_request, shared_kernel, NULL, 0, NULL);
  }
  return 0;
}

/* Threads compile kernels of their own, and call one that they share. */
static void check_threads(void) {
  shared_request = parsed("matmul f32 96x64x80");
  shared_kernel = compiled(shared_request, 2);
  thrd_t threads[4];
  int numbers[4];
  for (int i = 0; i < 4; ++i) {
    numbers[i] = i;
    CHECK(thrd_create(&threads[i], work, &numbers[i]) == thrd_success);
  }
  for (int i = 0; i < 4; ++i) CHECK(thrd_join(threads[i], NULL) == thrd_success);
  kirsch_kernel_destroy(shared_kernel);
  kirsch_request_destroy(shared_request);
}

int main(int argc, char** argv) {
  CHECK(argc == 2);
  check_versions();
  FINE(kirsch_context_create(NULL, &context));
  check_bad_texts();
  check_bad_options();
  check_bad_calls();
  check_other_cpus();
  check_matmuls("matmul f32 64x64x64", 1);
  check_matmuls("matmul f32 17x31x23 lhs=col accumulate ldc=29", 1);
  check_matmuls("matmul f32 300x16x5 out=col", 1);
  check_matmuls("matmul f32 3:20x16x12", 1);
  check_matmuls("matmul u8*s8->s32 33x64x48 rhs=col", 1);
  check_matmuls("matmul f32 128x96x160", 3);
  check_matmuls("matmul f32 64x64x256 column-blocks=64", 1);
  check_family();
  const size_t four = 4;
  check_constants("matmul f32 6x64x48 const-rhs", NULL, 0);
  check_constants("matmul f32 1..8x64x48 const-rhs", &four, 1);
  check_constants("matmul f32 6x64x48 out=col const-rhs", NULL, 0); /* solved as its transpose */
  check_parts("matmul f32 96x64x192", 3);
  check_parts("matmul f32 96x64x192 column-blocks=64", 1);
  check_graphs();
  check_table(argv[1]);
  check_remarks();
  check_extensions(argv[1]);
  check_threads();
  kirsch_context_destroy(context);
  return 0;
}
