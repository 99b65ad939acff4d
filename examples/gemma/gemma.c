// The feed-forward blocks of a decoding step of Gemma 2B (18 layers, 2048 -> 16384 -> 2048, gated, bf16
// weights): how fast are they with our kernels, with a plain loop, and with OpenBLAS on f32 weights?
//   gemma [LAYERS]
#include <math.h>

#include "../common.h"
#include "kernels.h"

enum { kDim = 2048, kHidden = 16384, kMaxLayers = 18 };

// Weights of one layer. [out][in] is "columns": each output's weights are contiguous; [in][out] is "rows".
typedef struct {
  uint16_t *gate, *up, *down;                 // [out][in]
  uint16_t *gate_rows, *up_rows, *down_rows;  // [in][out]
} Layer;

typedef struct {
  float *gate, *up, *down;  // [out][in], one layer's: OpenBLAS has no kernel for bf16 weights
} WideLayer;

// gate and up = x * weights; then down's input; then out.
typedef void (*FeedForward)(float* out, const float* x, const Layer* layer);

static float gate[kHidden], up[kHidden];
static uint16_t narrow[kHidden];
static void* scratch;

// gate = gelu(gate) * up
static void Activate(void) {
  for (int i = 0; i < kHidden; ++i) {
    const float g = gate[i];
    gate[i] = 0.5f * g * (1 + tanhf(0.7978845608f * (g + 0.044715f * g * g * g))) * up[i];
  }
}

static void PlainMatmul(float* out, const float* x, const uint16_t* weights, int in, int count) {
  for (int i = 0; i < count; ++i) {
    const uint16_t* row = weights + (size_t)i * (size_t)in;
    float sum = 0;
    for (int j = 0; j < in; ++j) sum += FromBf16(row[j]) * x[j];
    out[i] = sum;
  }
}

static void Plain(float* out, const float* x, const Layer* layer) {
  PlainMatmul(gate, x, layer->gate, kDim, kHidden);
  PlainMatmul(up, x, layer->up, kDim, kHidden);
  Activate();
  PlainMatmul(out, gate, layer->down, kHidden, kDim);
}

static void KirschColumns(float* out, const float* x, const Layer* layer) {
  gate_columns(x, layer->gate, gate, scratch);
  gate_columns(x, layer->up, up, scratch);
  Activate();
  down_columns(gate, layer->down, out, scratch);
}

static void KirschRows(float* out, const float* x, const Layer* layer) {
  gate_rows(x, layer->gate_rows, gate, scratch);
  gate_rows(x, layer->up_rows, up, scratch);
  Activate();
  down_rows(gate, layer->down_rows, out, scratch);
}

static void KirschBf16(float* out, const float* x, const Layer* layer) {
  for (int i = 0; i < kDim; ++i) narrow[i] = ToBf16(x[i]);
  gate_bf16(narrow, layer->gate, gate, scratch);
  gate_bf16(narrow, layer->up, up, scratch);
  Activate();
  for (int i = 0; i < kHidden; ++i) narrow[i] = ToBf16(gate[i]);
  down_bf16(narrow, layer->down, out, scratch);
}

// All layers share these: 400 MB, which no cache holds either.
static WideLayer wide;
static Sgemv sgemv;

static void Blas(float* out, const float* x, const Layer* layer) {
  enum { kRowMajor = 101, kNoTranspose = 111 };
  (void)layer;
  sgemv(kRowMajor, kNoTranspose, kHidden, kDim, 1, wide.gate, kDim, x, 1, 0, gate, 1);
  sgemv(kRowMajor, kNoTranspose, kHidden, kDim, 1, wide.up, kDim, x, 1, 0, up, 1);
  Activate();
  sgemv(kRowMajor, kNoTranspose, kDim, kHidden, 1, wide.down, kHidden, gate, 1, 0, out, 1);
}

static uint16_t* RandomWeights(int in, int count, uint64_t* state) {
  const size_t elements = (size_t)in * (size_t)count;
  uint16_t* weights = (uint16_t*)Allocate(elements * 2);
  for (size_t i = 0; i < elements; ++i) weights[i] = ToBf16(Random(state, 1.7f / sqrtf((float)in)));
  return weights;
}

static uint16_t* Transposed(const uint16_t* weights, int in, int count) {
  uint16_t* rows = (uint16_t*)Allocate((size_t)in * (size_t)count * 2);
  for (int i0 = 0; i0 < count; i0 += 32)
    for (int j = 0; j < in; ++j)
      for (int i = i0; i < i0 + 32; ++i) rows[(size_t)j * (size_t)count + (size_t)i] = weights[(size_t)i * (size_t)in + (size_t)j];
  return rows;
}

static float* Widened(const uint16_t* weights) {
  const size_t elements = (size_t)kDim * kHidden;
  float* result = (float*)Allocate(elements * sizeof(float));
  for (size_t i = 0; i < elements; ++i) result[i] = FromBf16(weights[i]);
  return result;
}

// Seconds of a step through all layers; x is left as it ends.
static double Step(FeedForward feed_forward, const Layer* layers, int count, float* x) {
  static float out[kDim];
  const double start = Seconds();
  for (int l = 0; l < count; ++l) {
    feed_forward(out, x, &layers[l]);
    for (int i = 0; i < kDim; ++i) x[i] = 0.5f * (x[i] + out[i]);
  }
  return Seconds() - start;
}

int main(int argc, char** argv) {
  enum { kRounds = 7, kContenders = 5 };
  static const char* const kNames[kContenders] = {"plain loop, bf16 weights", "OpenBLAS, f32 weights",
                                                  "kirsch, [out][in] weights", "kirsch, [in][out] weights",
                                                  "kirsch, all bf16"};
  static double seconds[kContenders][kRounds];
  static float x[kDim];
  static Layer layers[kMaxLayers];
  const int count = argc > 1 ? atoi(argv[1]) : 6;
  if (count < 1 || count > kMaxLayers) {
    fprintf(stderr, "usage: gemma [LAYERS], from 1 to %d\n", kMaxLayers);
    return 2;
  }
  sgemv = FindSgemv();
  const size_t needs[] = {gate_columns_scratch_bytes(), down_columns_scratch_bytes(), gate_rows_scratch_bytes(),
                          down_rows_scratch_bytes(), gate_bf16_scratch_bytes(), down_bf16_scratch_bytes(), 64};
  size_t most = 0;
  for (size_t i = 0; i < sizeof needs / sizeof needs[0]; ++i) most = needs[i] > most ? needs[i] : most;
  scratch = Allocate(most);
  uint64_t state = 7;
  for (int l = 0; l < count; ++l) {
    Layer* layer = &layers[l];
    layer->gate = RandomWeights(kDim, kHidden, &state);
    layer->up = RandomWeights(kDim, kHidden, &state);
    layer->down = RandomWeights(kHidden, kDim, &state);
    layer->gate_rows = Transposed(layer->gate, kDim, kHidden);
    layer->up_rows = Transposed(layer->up, kDim, kHidden);
    layer->down_rows = Transposed(layer->down, kHidden, kDim);
  }
  if (sgemv != NULL) {
    wide.gate = Widened(layers[0].gate);
    wide.up = Widened(layers[0].up);
    wide.down = Widened(layers[0].down);
  }
  const FeedForward contenders[kContenders] = {Plain, sgemv != NULL ? Blas : NULL, KirschColumns, KirschRows, KirschBf16};
  double first[kContenders] = {0};
  for (int round = 0; round < kRounds; ++round)
    for (int c = 0; c < kContenders; ++c) {
      if (contenders[c] == NULL) continue;
      for (int i = 0; i < kDim; ++i) x[i] = (float)(i % 17) * 0.1f - 0.8f;
      seconds[c][round] = Step(contenders[c], layers, count, x);
      first[c] = x[0];
    }
  printf("feed-forward blocks of %d layers, %d rounds, one thread\n", count, kRounds);
  for (int c = 0; c < kContenders; ++c) {
    if (contenders[c] == NULL) {
      printf("  %-26s not found\n", kNames[c]);
      continue;
    }
    qsort(seconds[c], kRounds, sizeof(double), CompareDoubles);
    const double median = seconds[c][kRounds / 2];
    const double bytes = 3.0 * kDim * kHidden * (c == 1 ? 4 : 2) * count;
    printf("  %-26s %7.2f steps/s   weights read at %5.1f GB/s   x[0] = %.4f%s\n", kNames[c], 1 / median,
           bytes / median * 1e-9, first[c], c == 1 && count > 1 ? " (the first layer's weights in all)" : "");
  }
  return 0;
}
