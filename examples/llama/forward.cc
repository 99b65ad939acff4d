// SPDX-License-Identifier: Apache-2.0
// Runs a network in the shape of stories15M, token by token: one kernel for each layer (layer.kirsch), beside
// plain loops in double. Weights are random, so the text means nothing; both have to choose the same tokens.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <kirsch.hpp>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr size_t kWidth = 288, kHeads = 6, kHead = 48, kHidden = 768, kLayers = 6, kTokens = 32000;
constexpr size_t kCached = 256;  // positions
constexpr double kEps = 1e-5;

using Floats = std::vector<float>;
using Doubles = std::vector<double>;

Floats Random(size_t count, double scale) {
  static std::mt19937 random(1);
  std::uniform_real_distribution<double> draw(-scale, scale);
  Floats floats(count);
  for (float& x : floats) x = static_cast<float>(draw(random));
  return floats;
}
Floats Weights(size_t rows, size_t columns) {
  return Random(rows * columns, std::sqrt(3.0 / static_cast<double>(rows)));
}

struct Layer {
  Floats norm1 = Floats(kWidth, 1), norm2 = Floats(kWidth, 1);
  Floats wq = Weights(kWidth, kWidth), wk = Weights(kWidth, kWidth), wv = Weights(kWidth, kWidth);
  Floats wo = Weights(kWidth, kWidth), w1 = Weights(kWidth, kHidden), w2 = Weights(kHidden, kWidth),
         w3 = Weights(kWidth, kHidden);
};

struct Network {
  std::vector<Layer> layers = std::vector<Layer>(kLayers);
  Floats embedding = Random(kTokens * kWidth, 1), norm = Floats(kWidth, 1), head = Weights(kWidth, kTokens);
};

// The angle by which pair `pair` of a head turns at a position.
double Angle(size_t position, size_t pair) {
  return static_cast<double>(position) * std::pow(1e4, -2.0 * static_cast<double>(pair) / kHead);
}

// The network in double, by its definition.
class Plain {
 public:
  explicit Plain(const Network& network) : network_(network), keys_(kLayers), values_(kLayers) {}

  Doubles Logits(size_t token, size_t position) {
    Doubles x(&network_.embedding[token * kWidth], &network_.embedding[token * kWidth] + kWidth);
    for (size_t i = 0; i < kLayers; ++i) x = Apply(network_.layers[i], keys_[i], values_[i], position, x);
    return Product(Normed(x, network_.norm), network_.head);
  }

 private:
  static Doubles Normed(const Doubles& x, const Floats& scale) {
    double squares = 0;
    for (double each : x) squares += each * each;
    Doubles normed;
    for (size_t i = 0; i < x.size(); ++i)
      normed.push_back(x[i] / std::sqrt(squares / static_cast<double>(x.size()) + kEps) * scale[i]);
    return normed;
  }
  static Doubles Product(const Doubles& x, const Floats& w) {
    Doubles product(w.size() / x.size());
    for (size_t k = 0; k < x.size(); ++k)
      for (size_t j = 0; j < product.size(); ++j) product[j] += x[k] * w[k * product.size() + j];
    return product;
  }
  static Doubles Sum(Doubles a, const Doubles& b) {
    for (size_t i = 0; i < a.size(); ++i) a[i] += b[i];
    return a;
  }
  static Doubles Turned(const Doubles& x, size_t position) {
    Doubles turned(x.size());
    for (size_t i = 0; i < x.size(); i += 2) {
      const double angle = Angle(position, i % kHead / 2), c = std::cos(angle), s = std::sin(angle);
      turned[i] = x[i] * c - x[i + 1] * s;
      turned[i + 1] = x[i + 1] * c + x[i] * s;
    }
    return turned;
  }

  // A position of the cache has the keys, or the values, of all heads.
  static Doubles Apply(const Layer& layer, std::vector<Doubles>& keys, std::vector<Doubles>& values,
                       size_t position, const Doubles& x) {
    const Doubles h = Normed(x, layer.norm1), q = Turned(Product(h, layer.wq), position);
    keys.push_back(Turned(Product(h, layer.wk), position));
    values.push_back(Product(h, layer.wv));
    Doubles attended(kWidth);
    for (size_t head = 0; head < kHeads; ++head) {
      Doubles scores(position + 1);
      double sum = 0;
      for (size_t t = 0; t <= position; ++t)
        for (size_t i = head * kHead; i < (head + 1) * kHead; ++i) scores[t] += q[i] * keys[t][i];
      for (double& score : scores) sum += score = std::exp(score / std::sqrt(double{kHead}));
      for (size_t t = 0; t <= position; ++t)
        for (size_t i = head * kHead; i < (head + 1) * kHead; ++i)
          attended[i] += scores[t] / sum * values[t][i];
    }
    const Doubles y = Sum(x, Product(attended, layer.wo)), g = Normed(y, layer.norm2);
    Doubles gate = Product(g, layer.w1);
    const Doubles up = Product(g, layer.w3);
    for (size_t i = 0; i < kHidden; ++i) gate[i] *= up[i] / (1 + std::exp(-gate[i]));
    return Sum(y, Product(gate, layer.w2));
  }

  const Network& network_;
  std::vector<std::vector<Doubles>> keys_, values_;  // of each layer, for each position
};

using Memory = std::unique_ptr<void, decltype(&std::free)>;
Memory Aligned(size_t bytes) { return {std::aligned_alloc(64, (bytes + 63) / 64 * 64), std::free}; }

// The network by two kernels. The layer's has its weights packed, once for each layer.
class ByKernels {
 public:
  ByKernels(const Network& network, const kirsch::Context& context, const std::string& text)
      : network_(network), layer_(Kernel(context, text, "layer")), head_(Kernel(context, text, "head")) {
    // A pair of columns changes places, one of them negated: the other half of a rotation.
    for (size_t i = 0; i < kHead; i += 2) {
      swap_[(i + 1) * kHead + i] = -1;
      swap_[i * kHead + i + 1] = 1;
    }
    for (const Layer& layer : network.layers) {
      packed_.push_back(Aligned(layer_.packed_bytes()));
      layer_.Pack(Operands(layer, nullptr, 0, nullptr), packed_.back().get()).value();
    }
    packed_head_ = Aligned(head_.packed_bytes());
    head_.Pack({nullptr, nullptr, network.head.data(), nullptr}, packed_head_.get()).value();
  }

  Floats Logits(size_t token, size_t position) {
    for (size_t i = 0; i < kHead; ++i) {
      cos_[i] = static_cast<float>(std::cos(Angle(position, i / 2)));
      sin_[i] = static_cast<float>(std::sin(Angle(position, i / 2)));
    }
    const float* x = &network_.embedding[token * kWidth];
    for (size_t i = 0; i < kLayers; ++i) {
      // A call reads one of both, and writes the other.
      float* const y = between_[i % 2].data();
      layer_(Operands(network_.layers[i], x, i, y), {}, packed_[i].get()).value();
      Keep(i, position);
      x = y;
    }
    mask_[position] = 0;  // from now on it is in the cache
    Floats logits(kTokens);
    head_({x, network_.norm.data(), nullptr, logits.data()}, {}, packed_head_.get()).value();
    return logits;
  }

 private:
  static kirsch::Kernel Kernel(const kirsch::Context& context, const std::string& text,
                               const std::string& name) {
    const kirsch::Solution solution = context.Solve(kirsch::Request::Parse(text, name).value()).value();
    std::printf("%s on %s: %.1f us predicted\n", name.c_str(), solution.target().c_str(),
                1e6 * solution.Cost().value().seconds);
    return solution.Compile().value();
  }

  // In the order of the text.
  std::vector<const void*> Operands(const Layer& layer, const float* x, size_t number, float* y) const {
    return {x,
            layer.norm1.data(),
            layer.norm2.data(),
            cos_.data(),
            sin_.data(),
            swap_.data(),
            layer.wq.data(),
            layer.wk.data(),
            layer.wv.data(),
            layer.wo.data(),
            layer.w1.data(),
            layer.w2.data(),
            layer.w3.data(),
            keys_[number].data(),
            values_[number].data(),
            mask_.data(),
            y,
            key_.data(),
            value_.data()};
  }

  // Puts what the layer made of the token into its cache.
  void Keep(size_t number, size_t position) {
    for (size_t head = 0; head < kHeads; ++head) {
      const size_t at = (head * kCached + position) * kHead;
      std::copy_n(&key_[head * kHead], kHead, &keys_[number][at]);
      std::copy_n(&value_[head * kHead], kHead, &values_[number][at]);
    }
  }

  const Network& network_;
  const kirsch::Kernel layer_, head_;
  std::vector<Memory> packed_;
  Memory packed_head_ = {nullptr, std::free};
  // The caches of all layers: heads, positions, elements.
  std::vector<Floats> keys_ = std::vector<Floats>(kLayers, Floats(kHeads* kCached* kHead)), values_ = keys_;
  Floats mask_ = Floats(kCached, -INFINITY);
  Floats key_ = Floats(kWidth), value_ = Floats(kWidth);  // of the token
  Floats cos_ = Floats(kHead), sin_ = Floats(kHead), swap_ = Floats(kHead * kHead);
  std::vector<Floats> between_ = std::vector<Floats>(2, Floats(kWidth));
};

std::string ReadText(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// True if both chose the same tokens.
bool Example(const std::string& path, const std::string& table, size_t positions) {
  const Network network;
  Plain plain(network);
  ByKernels kernels(network, kirsch::Context::Create(table).value(), ReadText(path));
  size_t token = 1, different = 0;
  double error = 0, seconds = 0;
  for (size_t position = 0; position < positions; ++position) {
    const Doubles right = plain.Logits(token, position);
    const auto start = std::chrono::steady_clock::now();
    const Floats logits = kernels.Logits(token, position);
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (size_t i = 0; i < kTokens; ++i) error = std::max(error, std::abs(logits[i] - right[i]));
    token = static_cast<size_t>(std::max_element(right.begin(), right.end()) - right.begin());
    if (static_cast<size_t>(std::max_element(logits.begin(), logits.end()) - logits.begin()) != token)
      ++different;
  }
  std::printf("%zu tokens, %zu of them others than plain loops choose; largest error %.1e; %.2f ms a token\n",
              positions, different, error, 1e3 * seconds / static_cast<double>(positions));
  return different == 0;
}

}  // namespace

// Arguments: layer.kirsch; a file in which answers are kept; how many tokens, at most kCached.
int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: forward LAYER.KIRSCH TABLE TOKENS\n");
    return 2;
  }
  try {
    return Example(argv[1], argv[2], std::min<size_t>(kCached, std::strtoul(argv[3], nullptr, 10))) ? 0 : 1;
  } catch (const kirsch::Exception& exception) {
    std::fprintf(stderr, "%s\n", exception.what());
    return 1;
  }
}
