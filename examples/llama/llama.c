// A transformer's forward pass in the manner of llama2.c, with random weights: how fast are its matmuls when
// they are a plain loop, OpenBLAS's, or ours (f32 weights, and bf16 weights)?
//   llama [MODEL [TOKENS]]     MODEL: 110M (stories110M) or 7B (the shapes of the 7B model's layers, 2 of them)
#include <math.h>

#include "../common.h"
#include "kernels.h"

typedef struct {
  const char* name;
  int dim, hidden, layers, heads, vocabulary;
} Config;

static const Config kConfigs[] = {
    {"110M", 768, 2048, 12, 12, 32000},
    {"7B", 4096, 11008, 2, 32, 32000},
};

enum { kMaxTokens = 1024 };

// A matrix of weights, [out][in], in both types.
typedef struct {
  int in, out;
  float* f32;
  uint16_t* bf16;
} Matrix;

// out = weights * x.
typedef void (*Matmul)(float* out, const float* x, const Matrix* weights);

static void PlainMatmul(float* out, const float* x, const Matrix* weights) {
  for (int i = 0; i < weights->out; ++i) {
    const float* row = weights->f32 + (size_t)i * (size_t)weights->in;
    float sum = 0;
    for (int j = 0; j < weights->in; ++j) sum += row[j] * x[j];
    out[i] = sum;
  }
}

static Sgemv sgemv;
static void BlasMatmul(float* out, const float* x, const Matrix* weights) {
  enum { kRowMajor = 101, kNoTranspose = 111 };
  sgemv(kRowMajor, kNoTranspose, weights->out, weights->in, 1, weights->f32, weights->in, x, 1, 0, out, 1);
}

// The kernels of kernels.kirsch by shape.
#define KERNELS(K) \
  K(768, 768) K(768, 2048) K(2048, 768) K(768, 32000) K(4096, 4096) K(4096, 11008) K(11008, 4096) K(4096, 32000)

static void* scratch;
static void AllocateScratch(void) {
  size_t most = 0;
#define MOST(in, out)                                                                        \
  if (f32_##in##x##out##_scratch_bytes() > most) most = f32_##in##x##out##_scratch_bytes();  \
  if (bf16_##in##x##out##_scratch_bytes() > most) most = bf16_##in##x##out##_scratch_bytes();
  KERNELS(MOST)
#undef MOST
  scratch = Allocate(most == 0 ? 64 : most);
}

static void KirschMatmul(float* out, const float* x, const Matrix* weights) {
#define CALL(rows, columns)                                  \
  if (weights->in == rows && weights->out == columns) {      \
    f32_##rows##x##columns(x, weights->f32, out, scratch);   \
    return;                                                  \
  }
  KERNELS(CALL)
#undef CALL
  abort();
}

static void KirschBf16Matmul(float* out, const float* x, const Matrix* weights) {
#define CALL(rows, columns)                                   \
  if (weights->in == rows && weights->out == columns) {       \
    bf16_##rows##x##columns(x, weights->bf16, out, scratch);  \
    return;                                                   \
  }
  KERNELS(CALL)
#undef CALL
  abort();
}

typedef struct {
  Matrix query, key, value, output, gate, up, down;
  float *norm_attention, *norm_feed_forward;
} Layer;

typedef struct {
  Config config;
  Layer* layers;
  Matrix classifier;
  float *embedding, *norm;
  // The keys and values of all positions, [layer][position][dim].
  float *keys, *values;
} Model;

static Matrix RandomMatrix(int in, int out, uint64_t* state) {
  const size_t elements = (size_t)in * (size_t)out;
  Matrix matrix = {in, out, (float*)Allocate(elements * sizeof(float)), (uint16_t*)Allocate(elements * 2)};
  const float scale = 1.7f / sqrtf((float)in);
  for (size_t i = 0; i < elements; ++i) {
    matrix.bf16[i] = ToBf16(Random(state, scale));
    matrix.f32[i] = FromBf16(matrix.bf16[i]);  // so that all compute the same
  }
  return matrix;
}

static float* Filled(size_t count, float value) {
  float* data = (float*)Allocate(count * sizeof(float));
  for (size_t i = 0; i < count; ++i) data[i] = value;
  return data;
}

static Model RandomModel(Config config) {
  uint64_t state = 42;
  const int dim = config.dim, hidden = config.hidden;
  Model model = {config, (Layer*)Allocate((size_t)config.layers * sizeof(Layer)),
                 RandomMatrix(dim, config.vocabulary, &state), NULL, Filled((size_t)dim, 1), NULL, NULL};
  for (int i = 0; i < config.layers; ++i) {
    const Layer layer = {RandomMatrix(dim, dim, &state),    RandomMatrix(dim, dim, &state),
                         RandomMatrix(dim, dim, &state),    RandomMatrix(dim, dim, &state),
                         RandomMatrix(dim, hidden, &state), RandomMatrix(dim, hidden, &state),
                         RandomMatrix(hidden, dim, &state), Filled((size_t)dim, 1),
                         Filled((size_t)dim, 1)};
    model.layers[i] = layer;
  }
  const size_t cache = (size_t)config.layers * kMaxTokens * (size_t)dim;
  model.embedding = model.classifier.f32;  // shared, as in llama2.c
  model.keys = Filled(cache, 0);
  model.values = Filled(cache, 0);
  return model;
}

static void Normalize(float* out, const float* x, const float* weight, int count) {
  float squares = 0;
  for (int i = 0; i < count; ++i) squares += x[i] * x[i];
  const float factor = 1 / sqrtf(squares / (float)count + 1e-5f);
  for (int i = 0; i < count; ++i) out[i] = weight[i] * (factor * x[i]);
}

static void Rotate(float* x, int position, int dim, int head) {
  for (int i = 0; i < dim; i += 2) {
    const float angle = (float)position * powf(10000, -(float)(i % head) / (float)head);
    const float cosine = cosf(angle), sine = sinf(angle), a = x[i], b = x[i + 1];
    x[i] = a * cosine - b * sine;
    x[i + 1] = a * sine + b * cosine;
  }
}

static void Softmax(float* x, int count) {
  float largest = x[0], sum = 0;
  for (int i = 1; i < count; ++i) largest = x[i] > largest ? x[i] : largest;
  for (int i = 0; i < count; ++i) sum += x[i] = expf(x[i] - largest);
  for (int i = 0; i < count; ++i) x[i] /= sum;
}

static void Attend(float* out, const float* query, const float* keys, const float* values, int position,
                   const Config* config) {
  const int head = config->dim / config->heads;
  float scores[kMaxTokens];
  for (int h = 0; h < config->heads; ++h) {
    const int first = h * head;
    for (int t = 0; t <= position; ++t) {
      float sum = 0;
      for (int i = first; i < first + head; ++i) sum += query[i] * keys[(size_t)t * (size_t)config->dim + (size_t)i];
      scores[t] = sum / sqrtf((float)head);
    }
    Softmax(scores, position + 1);
    for (int i = first; i < first + head; ++i) out[i] = 0;
    for (int t = 0; t <= position; ++t)
      for (int i = first; i < first + head; ++i)
        out[i] += scores[t] * values[(size_t)t * (size_t)config->dim + (size_t)i];
  }
}

// The logits for the token at `position`.
static void Forward(const Model* model, Matmul matmul, int token, int position, float* logits) {
  const Config* config = &model->config;
  const int dim = config->dim, hidden = config->hidden;
  static float x[11008], normed[11008], query[11008], attended[11008], gate[11008], up[11008];
  memcpy(x, model->embedding + (size_t)token * (size_t)dim, (size_t)dim * sizeof(float));
  for (int l = 0; l < config->layers; ++l) {
    const Layer* layer = &model->layers[l];
    const size_t cache = (size_t)l * kMaxTokens * (size_t)dim, here = cache + (size_t)position * (size_t)dim;
    Normalize(normed, x, layer->norm_attention, dim);
    matmul(query, normed, &layer->query);
    matmul(model->keys + here, normed, &layer->key);
    matmul(model->values + here, normed, &layer->value);
    Rotate(query, position, dim, dim / config->heads);
    Rotate(model->keys + here, position, dim, dim / config->heads);
    Attend(attended, query, model->keys + cache, model->values + cache, position, config);
    matmul(normed, attended, &layer->output);
    for (int i = 0; i < dim; ++i) x[i] += normed[i];
    Normalize(normed, x, layer->norm_feed_forward, dim);
    matmul(gate, normed, &layer->gate);
    matmul(up, normed, &layer->up);
    for (int i = 0; i < hidden; ++i) gate[i] = gate[i] / (1 + expf(-gate[i])) * up[i];
    matmul(normed, gate, &layer->down);
    for (int i = 0; i < dim; ++i) x[i] += normed[i];
  }
  Normalize(x, x, model->norm, dim);
  matmul(logits, x, &model->classifier);
}

// Tokens per second: of `tokens` tokens, each the likeliest after the one before it. *last: the last of them.
static double Generate(const Model* model, Matmul matmul, int tokens, int* last) {
  static float logits[32000];
  int token = 1;
  const double start = Seconds();
  for (int position = 0; position < tokens; ++position) {
    Forward(model, matmul, token, position, logits);
    token = 0;
    for (int i = 1; i < model->config.vocabulary; ++i)
      if (logits[i] > logits[token]) token = i;
  }
  *last = token;
  return tokens / (Seconds() - start);
}

static double Bytes(const Config* config, size_t element) {
  const double dim = config->dim, hidden = config->hidden;
  return (double)element * (config->layers * (4 * dim * dim + 3 * dim * hidden) + dim * config->vocabulary);
}

// Several rounds, everybody in turn, so that a busy machine hits all alike; medians.
static void Compare(const Model* model, int tokens) {
  enum { kRounds = 5, kContenders = 4 };
  static const char* const kNames[kContenders] = {"plain loop, f32", "OpenBLAS, f32", "kirsch, f32", "kirsch, bf16"};
  const Matmul matmuls[kContenders] = {PlainMatmul, sgemv != NULL ? BlasMatmul : NULL, KirschMatmul, KirschBf16Matmul};
  double speed[kContenders][kRounds];
  int last[kContenders];
  for (int round = 0; round < kRounds; ++round)
    for (int i = 0; i < kContenders; ++i)
      if (matmuls[i] != NULL) speed[i][round] = Generate(model, matmuls[i], tokens, &last[i]);
  printf("%s: %d tokens, %d rounds, one thread\n", model->config.name, tokens, kRounds);
  for (int i = 0; i < kContenders; ++i) {
    if (matmuls[i] == NULL) {
      printf("  %-16s not found\n", kNames[i]);
      continue;
    }
    qsort(speed[i], kRounds, sizeof(double), CompareDoubles);
    const double median = speed[i][kRounds / 2];
    const double bytes = Bytes(&model->config, i == 3 ? 2 : 4);
    printf("  %-16s %7.2f tokens/s   weights read at %5.1f GB/s   last token %d\n", kNames[i], median,
           median * bytes * 1e-9, last[i]);
  }
}

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "110M";
  const int tokens = argc > 2 ? atoi(argv[2]) : 0;
  sgemv = FindSgemv();
  AllocateScratch();
  for (size_t i = 0; i < sizeof kConfigs / sizeof kConfigs[0]; ++i)
    if (strcmp(kConfigs[i].name, name) == 0) {
      const Model model = RandomModel(kConfigs[i]);
      Compare(&model, tokens > 0 && tokens <= kMaxTokens ? tokens : i == 0 ? 64 : 8);
      return 0;
    }
  fprintf(stderr, "usage: llama [110M|7B [TOKENS]], at most %d tokens\n", kMaxTokens);
  return 2;
}
