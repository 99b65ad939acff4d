# SPDX-License-Identifier: Apache-2.0
"""Headers with --dispatch: compiled by GCC and Clang, as C and C++, every kernel found by its key against a plain loop between
guard pages, and everything declined that has no kernel. Weights of blocks are the package gguf's, as it decodes them.

Usage: matmul_dispatch_test.py KIRSCH_BINARY
"""
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

KERNELS = """\
# No kernel of the next two is a matmul that is found by its sizes.
softmax f32 4x32
batched = matmul f32 2:4x8x8
biased = matmul f32 4x8x8 epilogue=add:n
small = matmul f32 1..40x48x33
large = matmul f32 64x48x33
half = matmul bf16*bf16->f32 1..24x64x48 rhs=col
stays = matmul f32 1..16x40x56 const-rhs
wide = matmul u8*s8->s32 8x64x32 lda=70 ldc=36
added = matmul f32 3..12x20x24 accumulate out=col
blocks = matmul f32 2..9x32x256 column-blocks=64
padded = matmul f32*q8_0->f32 1..5x96x24 rhs=col ldb=128
integers = matmul f32*q8_0->f32 1..9x256x40 rhs=col lhs-as=q8_0
nibbles = matmul f32*q4_k->f32 2..6x512x33 rhs=col lhs-as=q8_0
ahead = matmul f32*q4_k->f32 1..4x256x20 rhs=col const-rhs
kernel ramp(x: f32[6,16], w: f32[16,10]) -> f32[6,10]:
  return relu(matmul(x, w))
"""

# Type, low and high m, k, n, leading dimensions (0: m), the operands' types, and what else there is: a (accumulate), l (lhs by
# columns), r (rhs by columns), o (out by columns), c (constant rhs), x (relu), q (lhs may become integers of 8 bits).
CASES = [
    ("f32", 1, 40, 48, 33, 48, 33, 33, "f32 f32 f32", ""),
    ("f32", 64, 64, 48, 33, 48, 33, 33, "f32 f32 f32", ""),
    ("bf16_bf16_f32_rhs_col", 1, 24, 64, 48, 64, 64, 48, "bf16 bf16 f32", "r"),
    ("f32_const_rhs", 1, 16, 40, 56, 40, 56, 56, "f32 f32 f32", "c"),
    ("u8_s8_s32", 8, 8, 64, 32, 70, 32, 36, "u8 s8 s32", ""),
    ("f32_out_col_accumulate", 3, 12, 20, 24, 20, 24, 0, "f32 f32 f32", "ao"),
    ("f32", 2, 9, 32, 256, 32, 256, 256, "f32 f32 f32", ""),
    ("f32_epilogue_relu", 6, 6, 16, 10, 16, 10, 10, "f32 f32 f32", "x"),
    ("f32_q8_0_f32_rhs_col", 1, 5, 96, 24, 96, 128, 24, "f32 q8_0 f32", "r"),
    ("f32_q8_0_f32_rhs_col_lhs_as_q8_0", 1, 9, 256, 40, 256, 256, 40, "f32 q8_0 f32", "rq"),
    ("f32_q4_k_f32_rhs_col_lhs_as_q8_0", 2, 6, 512, 33, 512, 512, 33, "f32 q4_k f32", "rq"),
    ("f32_q4_k_f32_rhs_col_const_rhs", 1, 4, 256, 20, 256, 256, 20, "f32 q4_k f32", "rc"),
]

PROGRAM = r"""
#include "model.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CHECK(condition) \
  do { if (!(condition)) { printf("%s:%d: case %zu, m %zu, %zu threads: not so: %s\n", __FILE__, __LINE__, number, m, threads, #condition); exit(1); } } while (0)

enum { F32, BF16, U8, S8, S32, Q8_0, Q4_K };
static const size_t bytes_of[] = {4, 2, 1, 1, 4, 34, 144}; /* of an element, or a block */
static const size_t block_of[] = {1, 1, 1, 1, 1, 32, 256};
$BLOCKS
static size_t golden(size_t block) { return block * 2654435761u >> 16 & 1; }
static size_t bytes(int dtype, size_t elements) { return elements / block_of[dtype] * bytes_of[dtype]; }
struct test_case { int type; size_t low, high, k, n, lda, ldb, ldc; int dtype[3]; const char* flags; };
static const struct test_case cases[] = {
$CASES};

static double get(int dtype, const void* at, size_t i) {
  if (dtype == Q8_0) return numbers_q8_0[golden(i / 32)][i % 32];
  if (dtype == Q4_K) return numbers_q4_k[golden(i / 256)][i % 256];
  if (dtype == F32) return ((const float*)at)[i];
  if (dtype == U8) return ((const unsigned char*)at)[i];
  if (dtype == S8) return ((const signed char*)at)[i];
  if (dtype == S32) return ((const int*)at)[i];
  {
    const unsigned bits = (unsigned)((const unsigned short*)at)[i] << 16;
    float value;
    memcpy(&value, &bits, 4);
    return value;
  }
}
static void put(int dtype, void* at, size_t i, double value) {
  if (dtype == Q8_0) memcpy((char*)at + bytes(dtype, i / 32 * 32), blocks_q8_0[golden(i / 32)], 34);
  if (dtype == Q4_K) memcpy((char*)at + bytes(dtype, i / 256 * 256), blocks_q4_k[golden(i / 256)], 144);
  if (dtype == F32) ((float*)at)[i] = (float)value;
  if (dtype == U8) ((unsigned char*)at)[i] = (unsigned char)value;
  if (dtype == S8) ((signed char*)at)[i] = (signed char)value;
  if (dtype == S32) ((int*)at)[i] = (int)value;
  if (dtype == BF16) {
    const float rounded = (float)value;
    unsigned bits;
    memcpy(&bits, &rounded, 4);
    ((unsigned short*)at)[i] = (unsigned short)(bits >> 16);
  }
}

/* Memory that ends (begins) where no access is allowed. */
#define PAGE ((size_t)4096)
struct guarded { char* pages; size_t length; char* data; };
static struct guarded guarded(size_t bytes, int at_end) {
  struct guarded made;
  made.length = (bytes + PAGE - 1) / PAGE * PAGE + 2 * PAGE;
  made.pages = (char*)mmap(NULL, made.length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made.pages == (char*)MAP_FAILED || mprotect(made.pages + PAGE, made.length - 2 * PAGE, PROT_READ | PROT_WRITE)) exit(1);
  made.data = made.pages + (at_end ? made.length - PAGE - bytes : PAGE);
  return made;
}

struct matrix { size_t rows, columns, row, column, elements; int dtype; struct guarded memory; };
static struct matrix matrix(int dtype, size_t rows, size_t columns, int by_column, size_t ld, int at_end, int seed) {
  struct matrix made = {rows, columns, by_column ? 1 : ld, by_column ? ld : 1, 0, dtype, {NULL, 0, NULL}};
  size_t i;
  made.elements = (rows - 1) * made.row + (columns - 1) * made.column + 1;
  made.memory = guarded(bytes(dtype, made.elements), at_end);
  for (i = 0; i < made.elements; ++i) put(dtype, made.memory.data, i, (double)((i * 5 + (size_t)seed) % 7) - (dtype == U8 ? 0 : 3));
  return made;
}
static double at(const struct matrix* m, size_t row, size_t column) { return get(m->dtype, m->memory.data, row * m->row + column * m->column); }
static void release(struct matrix* m) { munmap(m->memory.pages, m->memory.length); }

static int has(const struct test_case* c, char flag) { return strchr(c->flags, flag) != NULL; }

static void check(size_t number, size_t m, size_t threads, int at_end) {
  const struct test_case* const c = &cases[number];
  const size_t ldc = c->ldc ? c->ldc : m, scratch_bytes = (model_scratch_bytes() + 63) / 64 * 64;
  struct matrix lhs = matrix(c->dtype[0], m, c->k, has(c, 'l'), c->lda, at_end, 1);
  struct matrix rhs = matrix(c->dtype[1], c->k, c->n, has(c, 'r'), c->ldb, at_end, 2);
  struct matrix out = matrix(c->dtype[2], m, c->n, has(c, 'o'), ldc, at_end, 3);
  struct matrix before = matrix(c->dtype[2], m, c->n, has(c, 'o'), ldc, at_end, 3);
  struct guarded scratch = guarded(scratch_bytes ? scratch_bytes : 64, at_end), packed = {NULL, 0, NULL};
  const void* right = rhs.memory.data;
  size_t row, column, k, thread;
  if (has(c, 'c')) {
    const size_t bytes = model_matmul_packed_bytes(c->type, m, c->k, c->n);
    CHECK(bytes > 0 && bytes % 64 == 0);
    packed = guarded(bytes, at_end);
    CHECK(!model_matmul_pack(c->type, m, c->k, c->n, c->ldb + 1, NULL, NULL));
    CHECK(!model_matmul_pack(c->type, c->high + 1, c->k, c->n, c->ldb, NULL, NULL));
    CHECK(model_matmul_pack(c->type, m, c->k, c->n, c->ldb, rhs.memory.data, packed.data));
    right = packed.data;
  } else {
    CHECK(model_matmul_packed_bytes(c->type, m, c->k, c->n) == 0);
    CHECK(!model_matmul_pack(c->type, m, c->k, c->n, c->ldb, NULL, NULL));
  }
  for (thread = threads; thread-- > 0;) {
    memset(scratch.data, 0xff, scratch_bytes ? scratch_bytes : 64);
    CHECK(model_matmul(c->type, m, c->k, c->n, c->lda, has(c, 'c') ? 77 : c->ldb, ldc, lhs.memory.data, right, out.memory.data, scratch.data, thread, threads));
  }
  for (row = 0; row < m; ++row)
    for (column = 0; column < c->n; ++column) {
      double sum = has(c, 'a') ? at(&before, row, column) : 0, most = 0, off;
      for (k = 0; k < c->k; ++k) {
        sum += at(&lhs, row, k) * at(&rhs, k, column);
        most += 3 * fabs(at(&rhs, k, column)); /* no element of lhs is more */
      }
      if (has(c, 'x') && sum < 0) sum = 0;
      off = fabs(at(&out, row, column) - sum);
      CHECK(block_of[c->dtype[1]] == 1 ? off == 0 : off <= most * (has(c, 'q') ? 1.0 / 250 : 1e-5));
      put(out.dtype, out.memory.data, row * out.row + column * out.column, at(&before, row, column));
    }
  CHECK(memcmp(out.memory.data, before.memory.data, out.elements * bytes_of[out.dtype]) == 0); /* what lies between */
  release(&lhs), release(&rhs), release(&out), release(&before);
  munmap(scratch.pages, scratch.length);
  if (packed.pages) munmap(packed.pages, packed.length);
}

static bool is_one(int type, size_t m, size_t k, size_t n, size_t lda, size_t ldb, size_t ldc) {
  size_t i;
  for (i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    const struct test_case* const c = &cases[i];
    if (type == c->type && m >= c->low && m <= c->high && k == c->k && n == c->n && lda == c->lda &&
        (ldb == c->ldb || has(c, 'c')) && ldc == (c->ldc ? c->ldc : m)) return true;
  }
  return false;
}

/* Each number of a key that is one, changed: by one, and to that of another. Whatever is touched is a fault. */
static void check_declined(size_t number) {
  const struct test_case* const c = &cases[number];
  const size_t count = sizeof cases / sizeof cases[0], m = c->low, threads = 1;
  size_t which, other;
  int step, declined = 0;
  for (which = 0; which < 7; ++which)
    for (other = 0; other < count + 3; ++other) {
      size_t key[7];
      const struct test_case* const o = &cases[other % count];
      const size_t others[7] = {(size_t)o->type, o->high, o->k, o->n, o->lda, o->ldb, o->ldc};
      key[0] = (size_t)c->type, key[1] = m, key[2] = c->k, key[3] = c->n, key[4] = c->lda, key[5] = c->ldb, key[6] = c->ldc ? c->ldc : m;
      step = (int)(other - count) - 1;
      key[which] = other < count ? others[which] : key[which] + (size_t)step * (which == 0 ? 50 : 1);
      if (is_one((int)key[0], key[1], key[2], key[3], key[4], key[5], key[6])) continue;
      ++declined;
      CHECK(!model_matmul((int)key[0], key[1], key[2], key[3], key[4], key[5], key[6], NULL, NULL, NULL, NULL, 0, 1));
    }
  CHECK(declined > 20);
  CHECK(!model_matmul(c->type, 0, c->k, c->n, c->lda, c->ldb, c->ldc, NULL, NULL, NULL, NULL, 0, 1));
  CHECK(!model_matmul(c->type, m, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, 0, 1));
}

int main(void) {
  size_t number, m, threads;
  for (number = 0; number < sizeof cases / sizeof cases[0]; ++number) {
    for (m = cases[number].low; m <= cases[number].high; ++m)
      for (threads = 1; threads <= 3; threads += 2) check(number, m, threads, (int)(m % 2)), check(number, m, threads, (int)(m % 2) ^ 1);
    check_declined(number);
  }
  return 0;
}
"""


def run(*command, expected=0, **options):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != expected:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout[:3000]}")
    return done.stdout


def blocks_text():
    """Golden blocks and their elements as C arrays."""
    golden = {}
    for line in (pathlib.Path(__file__).parent.parent / "spec" / "data" / "golden_blocks.txt").read_text().splitlines():
        name, block, numbers = line.split()
        elements = [element for element, in struct.iter_unpack("<f", bytes.fromhex(numbers))]
        golden.setdefault(name, []).append((list(bytes.fromhex(block)), elements))
    text = ""
    for name in ["q8_0", "q4_k"]:
        for kind, array, rows in zip(("unsigned char", "double"), ("blocks", "numbers"), zip(*golden[name])):
            lines = ", ".join("{" + ", ".join(map(repr, row)) + "}" for row in rows)
            text += f"static const {kind} {array}_{name}[{len(rows)}][{len(rows[0])}] = {{{lines}}};\n"
    return text


def check_header(kirsch, place, options, compilers):
    (place / "model.kirsch").write_text(KERNELS)
    run(kirsch, "synth", "-f", place / "model.kirsch", "--dispatch", "--no-db", *options, "-o", place / "model.h")
    rows = ""
    for type_name, low, high, k, n, lda, ldb, ldc, dtypes, flags in CASES:
        rows += f'  {{model_{type_name}, {low}, {high}, {k}, {n}, {lda}, {ldb}, {ldc}, {{{", ".join(dtypes.upper().split())}}}, "{flags}"}},\n'
    (place / "test.c").write_text(PROGRAM.replace("$CASES", rows).replace("$BLOCKS", blocks_text()))
    for compiler, language in compilers:
        run(compiler, "-x", language, "-O1", "-Wall", "-Wextra", "-Werror", place / "test.c", "-o", place / "test", "-lm")
        run(place / "test")


def check_refused(kirsch, place, text, expected, *options):
    (place / "model.kirsch").write_text(text)
    output = run(kirsch, "synth", "-f", place / "model.kirsch", "--dispatch", "--target", "haswell", "--no-db", *options, expected=2)
    assert expected in output and output.count("\n") == 1, output


def main():
    kirsch = sys.argv[1]
    compilers = [("gcc", "c"), ("g++", "c++")]
    if shutil.which("clang-19"):
        compilers += [("clang-19", "c"), ("clang++-19", "c++")]
    with tempfile.TemporaryDirectory() as directory:
        place = pathlib.Path(directory)
        check_header(kirsch, place, ["--target", "haswell"], compilers)
        check_header(kirsch, place, ["--target", "haswell,znver4", "--uniform"], compilers[:1])
        check_header(kirsch, place, ["--target", "haswell", "--no-verify"], compilers[:1])
        check_refused(kirsch, place, "softmax f32 4x32\n", "--dispatch: expected a matmul without a batch")
        check_refused(kirsch, place, "a = matmul f32 1..8x16x16\nb = matmul f32 8..9x16x16 rhs=row\n", "got 'a' and 'b' with a size in common")
        check_refused(kirsch, place, "model = matmul f32 8x16x16\n", "expected another name than 'model'")
        check_refused(kirsch, place, "model_matmul = matmul f32 8x16x16\n", "expected another name than 'model_matmul'")
        check_refused(kirsch, place, "a = matmul f32 8x16x16\n", "--header-mode", "--header-mode", "bare")
        check_refused(kirsch, place, "a = matmul f32 8x16x16\n", "--emit header or c", "--emit", "asm")
        assert "--dispatch: expected -f FILE" in run(kirsch, "synth", "matmul f32 8x16x16", "--dispatch", expected=2)


if __name__ == "__main__":
    main()
