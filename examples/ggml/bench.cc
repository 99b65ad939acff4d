// SPDX-License-Identifier: Apache-2.0
// Compares llama.cpp with its own backends and with Kirsch's, in one process. Prints tokens a second of
// prompts and of generation, which take turns, and how far apart the logits are.
//
//     bench MODEL BACKEND [THREADS [ROUNDS [PROMPT...]]]
//     bench quantize MODEL OUTPUT TYPE
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "ggml-backend.h"
#include "llama.h"

namespace {

// A round of generation is so many single tokens.
constexpr int kGenerated = 16;  // tokens of a round

// Other messages would mix with the figures.
void LogErrors(ggml_log_level level, const char* text, void* /*user*/) {
  if (level == GGML_LOG_LEVEL_ERROR) std::fputs(text, stderr);
}

// A model and its state. It uses the backends that are there when it is made.
class Engine {
 public:
  Engine(const char* path, int threads) {
    model_.reset(llama_model_load_from_file(path, llama_model_default_params()));
    if (model_ == nullptr) throw std::runtime_error(std::string("no model: ") + path);
    // Prompts, and what is generated behind them, have at most n_ctx tokens.
    llama_context_params parameters = llama_context_default_params();
    parameters.n_ctx = 1024;
    parameters.n_threads = parameters.n_threads_batch = threads;
    context_.reset(llama_init_from_model(model_.get(), parameters));
    if (context_ == nullptr) throw std::runtime_error("no context");
  }

  int vocabulary() const { return llama_vocab_n_tokens(llama_model_get_vocab(model_.get())); }

  // Begins anew: the KV cache is empty.
  void Forget() { llama_memory_clear(llama_get_memory(context_.get()), false); }

  // Computes the next tokens, which are the same for all engines. Returns the logits of the last one, or of
  // each.
  const float* Decode(int tokens, bool all_logits = false) {
    llama_batch batch = llama_batch_init(tokens, 0, 1);
    batch.n_tokens = tokens;
    // Tokens follow from their places, so no text has to be generated.
    const int first = llama_memory_seq_pos_max(llama_get_memory(context_.get()), 0) + 1;
    for (int i = 0; i < tokens; ++i) {
      batch.pos[i] = first + i;
      batch.token[i] = (first + i) * 7919 % vocabulary();
      batch.n_seq_id[i] = 1;
      batch.seq_id[i][0] = 0;
      batch.logits[i] = all_logits || i + 1 == tokens;
    }
    const int status = llama_decode(context_.get(), batch);
    llama_batch_free(batch);
    if (status != 0) throw std::runtime_error("llama_decode failed");
    return llama_get_logits(context_.get());
  }

 private:
  struct Free {
    void operator()(llama_model* model) const { llama_model_free(model); }
    void operator()(llama_context* context) const { llama_free(context); }
  };
  std::unique_ptr<llama_model, Free> model_;
  std::unique_ptr<llama_context, Free> context_;
};

struct Engines {
  Engine &theirs, &ours;
};

double Seconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Returns the value below which so large a share of the values lies.
double Quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1) + 0.5)];
}

// Prints medians of tokens a second, and how far the middle half of the rounds spreads, in per cent.
void Report(const std::string& what, const std::vector<double>& theirs, const std::vector<double>& ours) {
  const auto spread = [](const std::vector<double>& rates) {
    return 100 * (Quantile(rates, 0.75) - Quantile(rates, 0.25)) / Quantile(rates, 0.5);
  };
  // Each ratio is of the two runs of a round, one right after the other.
  std::vector<double> ratios;
  for (size_t i = 0; i < ours.size(); ++i) ratios.push_back(ours[i] / theirs[i]);
  std::printf("%-14s %9.2f %5.1f%% %9.2f %5.1f%% %7.3f %5.1f%%\n", what.c_str(), Quantile(theirs, 0.5),
              spread(theirs), Quantile(ours, 0.5), spread(ours), Quantile(ratios, 0.5), spread(ratios));
  std::fflush(stdout);
}

// Measures both engines in turns. `run` computes so many tokens; `prepare` comes before it, untimed.
void Measure(const std::string& what, Engines engines, int rounds, int tokens,
             const std::function<void(Engine&)>& prepare, const std::function<void(Engine&)>& run) {
  std::vector<double> theirs, ours;
  for (int round = -1; round < rounds; ++round) {  // the first one warms up
    for (const bool is_ours : {false, true}) {
      Engine& engine = is_ours ? engines.ours : engines.theirs;
      prepare(engine);
      const double rate = tokens / Seconds([&] { run(engine); });
      if (round >= 0) (is_ours ? ours : theirs).push_back(rate);
    }
  }
  Report(what, theirs, ours);
}

// Returns the index of the greatest logit, and how far the next one is below.
std::pair<int, float> Greatest(const float* logits, int count) {
  const int best = static_cast<int>(std::max_element(logits, logits + count) - logits);
  float next = -INFINITY;
  for (int i = 0; i < count; ++i)
    if (i != best) next = std::max(next, logits[i]);
  return {best, logits[best] - next};
}

// Compares the logits of both engines for the same tokens. Where another one is the greatest, it also prints
// how far ahead theirs was at most.
void Compare(Engines engines, int tokens) {
  const int count = engines.theirs.vocabulary();
  engines.theirs.Forget(), engines.ours.Forget();
  const float* theirs = engines.theirs.Decode(tokens, true);
  const float* ours = engines.ours.Decode(tokens, true);
  double worst = 0, squares = 0, all = 0;
  int other = 0;
  float widest = 0;
  for (int token = 0; token < tokens; ++token, theirs += count, ours += count) {
    for (int i = 0; i < count; ++i) {
      const double difference = std::abs(double{theirs[i]} - ours[i]);
      worst = std::isfinite(difference) ? std::max(worst, difference) : INFINITY;
      squares += difference * difference, all += double{theirs[i]} * theirs[i];
    }
    const auto [best, gap] = Greatest(theirs, count);
    if (Greatest(ours, count).first != best) ++other, widest = std::max(widest, gap);
  }
  std::printf("logits of %d tokens: largest difference %.2e, rms %.2e of %.2e; another greatest one for %d",
              tokens, worst, std::sqrt(squares / (double(tokens) * count)),
              std::sqrt(all / (double(tokens) * count)), other);
  if (other > 0) std::printf(", where theirs is at most %.2e ahead", widest);
  std::puts("");
}

// Theirs is made before our backend is loaded, so that it can't use it.
void Bench(const char* model, const char* backend, int threads, int rounds, const std::vector<int>& prompts) {
  Engine theirs(model, threads);
  if (ggml_backend_load(backend) == nullptr) throw std::runtime_error(std::string("no backend: ") + backend);
  Engine ours(model, threads);
  const Engines engines = {theirs, ours};
  std::printf("%s, %d threads, tokens/s\n%-14s %9s %6s %9s %6s %7s %6s\n", model, threads, "", "theirs",
              "spread", "ours", "spread", "ratio", "spread");
  for (const int prompt : prompts)
    Measure(
        "prompt of " + std::to_string(prompt), engines, rounds, prompt,
        [](Engine& engine) { engine.Forget(); }, [&](Engine& engine) { engine.Decode(prompt); });
  // Generation goes on behind a short prompt.
  const auto begin = [](Engine& engine) { engine.Forget(), engine.Decode(8); };
  Measure("generation", engines, rounds, kGenerated, begin, [](Engine& engine) {
    for (int i = 0; i < kGenerated; ++i) engine.Decode(1);
  });
  // A token as in generation, then 64 as in a prompt.
  Compare(engines, 1);
  Compare(engines, 64);
}

// Writes the model with all weights of one type.
int Quantize(const char* model, const char* output, const std::string& type) {
  const std::vector<std::pair<std::string, llama_ftype>> types = {
      {"f32", LLAMA_FTYPE_ALL_F32},        {"f16", LLAMA_FTYPE_MOSTLY_F16},
      {"bf16", LLAMA_FTYPE_MOSTLY_BF16},   {"q8_0", LLAMA_FTYPE_MOSTLY_Q8_0},
      {"q4_0", LLAMA_FTYPE_MOSTLY_Q4_0},   {"q4_1", LLAMA_FTYPE_MOSTLY_Q4_1},
      {"q4_k", LLAMA_FTYPE_MOSTLY_Q4_K_S}, {"q6_k", LLAMA_FTYPE_MOSTLY_Q6_K}};
  for (const auto& [name, number] : types) {
    if (name != type) continue;
    llama_model_quantize_params parameters = llama_model_quantize_default_params();
    parameters.ftype = number;
    // All matrices get this type; otherwise some would get a better one.
    parameters.pure = true;
    return llama_model_quantize(model, output, &parameters) == 0 ? 0 : 1;
  }
  throw std::runtime_error("expected a type of f32, f16, bf16, q8_0, q4_0, q4_1, q4_k, q6_k; got " + type);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fputs("usage: bench MODEL BACKEND [THREADS [ROUNDS [PROMPT...]]]\n", stderr), 2;
  llama_log_set(LogErrors, nullptr);
  llama_backend_init();
  try {
    if (argc == 5 && std::strcmp(argv[1], "quantize") == 0) return Quantize(argv[2], argv[3], argv[4]);
    std::vector<int> prompts;
    for (int i = 5; i < argc; ++i) prompts.push_back(std::atoi(argv[i]));
    if (prompts.empty()) prompts = {7, 33, 100, 512};
    Bench(argv[1], argv[2], argc > 3 ? std::atoi(argv[3]) : 1, argc > 4 ? std::atoi(argv[4]) : 5, prompts);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench: %s\n", error.what());
    return 1;
  }
}
