// SPDX-License-Identifier: Apache-2.0
// llama2.c as it is and with Kirsch's matmul beside each other in one process: tokens a second, taking turns,
// and how far apart the logits are.
//
//     bench MODEL THEIRS OURS [ROUNDS]      THEIRS, OURS: the two libraries
#include <dlfcn.h>
#include <math.h>

#include RUN_C  // for its types

enum { kTokens = 32, kMostRounds = 100 };

typedef struct {
  float* (*forward)(Transformer*, int token, int position);
  Transformer transformer;
  double rates[kMostRounds];
} Engine;

static void Load(Engine* engine, const char* library, char* model) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == NULL) fprintf(stderr, "bench: %s\n", dlerror()), exit(1);
  engine->forward = dlsym(handle, "forward");
  build_transformer(&engine->transformer, model);
}

static int Token(const Engine* engine, int position) {
  return (position * 7919 + 1) % engine->transformer.config.vocab_size;
}

static double Seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec + 1e-9 * time.tv_nsec;
}

static double Rate(Engine* engine) {
  const double begin = Seconds();
  for (int i = 0; i < kTokens; ++i) engine->forward(&engine->transformer, Token(engine, i), i);
  return kTokens / (Seconds() - begin);
}

static int Ascending(const void* a, const void* b) {
  return (*(const double*)a > *(const double*)b) - (*(const double*)a < *(const double*)b);
}

// The median, and how far the middle half spreads.
static void Report(const char* name, double* values, int count) {
  qsort(values, count, sizeof *values, Ascending);
  printf("%s %.3f (%.1f %%)  ", name, values[count / 2],
         100 * (values[count * 3 / 4] - values[count / 4]) / values[count / 2]);
}

static void Compare(Engine* engines) {
  double worst = 0;
  int other = 0;
  for (int i = 0; i < kTokens; ++i) {
    const int vocabulary = engines[0].transformer.config.vocab_size;
    const float* theirs = engines[0].forward(&engines[0].transformer, Token(&engines[0], i), i);
    const float* ours = engines[1].forward(&engines[1].transformer, Token(&engines[1], i), i);
    for (int j = 0; j < vocabulary; ++j) worst = fmax(worst, fabs((double)theirs[j] - ours[j]));
    other += sample_argmax((float*)theirs, vocabulary) != sample_argmax((float*)ours, vocabulary);
  }
  printf("\nlogits of %d tokens: largest difference %.2e; another greatest one for %d\n", kTokens, worst,
         other);
}

int main(int argc, char** argv) {
  if (argc < 4) return fputs("usage: bench MODEL THEIRS OURS [ROUNDS]\n", stderr), 2;
  static Engine engines[2];
  double ratios[kMostRounds];
  const int rounds = argc > 4 ? atoi(argv[4]) : 9;
  if (rounds < 1 || rounds > kMostRounds) return fputs("bench: expected 1 to 100 rounds\n", stderr), 2;
  for (int i = 0; i < 2; ++i) Load(&engines[i], argv[2 + i], argv[1]), Rate(&engines[i]);
  for (int round = 0; round < rounds; ++round) {
    for (int i = 0; i < 2; ++i) engines[i].rates[round] = Rate(&engines[i]);
    ratios[round] = engines[1].rates[round] / engines[0].rates[round];
  }
  Report("tokens/s: theirs", engines[0].rates, rounds);
  Report("ours", engines[1].rates, rounds);
  Report("ratio", ratios, rounds);
  Compare(engines);
  return 0;
}
