// The kernel language: what it means, and what it says of what it doesn't take.
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "spec/cat.h"
#include "spec/kernel_file.h"

namespace kirsch {
namespace {

struct Read {
  std::string spec, operands;
  friend bool operator==(const Read&, const Read&) = default;
};

Read ReadOne(const std::string& text) {
  const auto requests = ParseKernelFile(text, "f");
  EXPECT_TRUE(requests.ok()) << requests.status() << "\n" << text;
  if (!requests.ok()) return {};
  EXPECT_EQ(requests->size(), 1u);
  return {requests->front().family.text(), requests->front().operands};
}

std::string ErrorOf(const std::string& text) {
  return std::string(ParseKernelFile(text, "f").status().message());
}

TEST(GraphTest, BecomesASpec) {
  EXPECT_EQ(ReadOne("kernel mlp(x: f32[32,512], w: f32[512,2048], b: f32[2048]) -> f32[32,2048]:\n"
                    "  y = matmul(x, w)\n"
                    "  return relu(add(y, b))  # bias\n"),
            (Read{"matmul f32 32x512x2048 epilogue=add:n,relu", "lhs = x, rhs = w, arg1 = b"}));
  EXPECT_EQ(ReadOne("kernel plain(x: f32[3,4], w: f32[4,5]) -> f32[3,5]:\n return matmul(x, w)"),
            (Read{"matmul f32 3x4x5", "lhs = x, rhs = w"}));
  EXPECT_EQ(ReadOne("kernel q(x: u8[6,7], w: s8[8,7], bias: s32[8], scale: f32[6,1]) -> u8[6,8]:\n"
                    "  sums = add(bias, matmul(x, transpose(w)))\n"
                    "  return cast(add(mul(cast(sums, f32), scale), -3.5), u8)\n"),
            (Read{"matmul u8*s8->u8 6x7x8 rhs=col epilogue=add:n,f32,mul:m,add:-3.5",
                  "lhs = x, rhs = w, arg1 = bias, arg2 = scale"}));
  EXPECT_EQ(
      ReadOne(
          "kernel t(x: bf16[7,6], w: bf16[7,8]) -> bf16[6,8]:\n return cast(matmul(transpose(x), w), bf16)"),
      (Read{"matmul bf16 6x7x8 lhs=col", "lhs = x, rhs = w"}));
  EXPECT_EQ(
      ReadOne("kernel r(r: f32[2,3,5], s: f32[], x: f32[2,3,4], w: f32[2,4,5]) -> f32[2,3,5]:\n"
              " return sub(r, mul(matmul(x, w), s))"),
      (Read{"matmul f32 2:3x4x5 epilogue=mul:scalar,mul:-1,add:mn", "lhs = x, rhs = w, arg1 = s, arg2 = r"}));
  EXPECT_EQ(ReadOne("kernel n(x: u8[3,4], w: s8[4,5]) -> u8[3,5]:\n return cast(matmul(x, w), u8)").spec,
            "matmul u8*s8->u8 3x4x5 epilogue=add:0");
  EXPECT_EQ(ReadOne("kernel n(x: u8[3,4], w: s8[4,5]) -> f32[3,5]:\n return cast(matmul(x, w), f32)").spec,
            "matmul u8*s8->f32 3x4x5 epilogue=f32");
}

TEST(GraphTest, StandsBesideSpecs) {
  const auto requests = ParseKernelFile(
      "kernel = matmul f32 1x2x3\n"
      "kernel f(x: f32[3,4], w: f32[4,5]) -> f32[3,5]:\n"
      "\n"
      "  return matmul(x, w)\n"
      "g = matmul f32 1..4x2x3\n",
      "f");
  ASSERT_TRUE(requests.ok()) << requests.status();
  ASSERT_EQ(requests->size(), 3u);
  EXPECT_EQ((*requests)[0].name, "kernel");
  EXPECT_EQ((*requests)[1].name, "f");
  EXPECT_EQ((*requests)[2].family.count(), 4);
}

TEST(GraphTest, ErrorsSayWhere) {
  const std::string head = "kernel f(x: f32[3,4], w: f32[4,5], b: f32[5]) -> f32[3,5]:\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"kernel f(x: f32[3,4]) -> f32[3]", "f:1:32: expected ':', got nothing"},
      {"kernel f(x: f33[3,4]) -> f32[3]:",
       "f:1:13: expected an element type (f32 bf16 f16 u8 s8 s16 s32), got 'f33'"},
      {"kernel f(x: f32[3,0]) -> f32[3]:", "f:1:19: expected a size from 1 to 1048576, got '0'"},
      {"kernel f(x: f32[3,4], x: f32[3]) -> f32[3]:", "f:1:23: expected a name that is not taken, got 'x'"},
      {"kernel f(add: f32[3]) -> f32[3]:",
       "f:1:10: expected a name (letters, digits, underscores; no digit first, no operation), got 'add'"},
      {head, "f:1:1: expected a line 'return ...' in f"},
      {head + " y = softmax(x)",
       "f:2:6: expected a value that is known, a number, or an operation (matmul transpose add sub mul max "
       "min relu "
       "cast), got 'softmax'"},
      {head + " return matmul(x, b)",
       "f:2:9: expected matrices [..,M,K] and [..,K,N] of types that go together, got f32[3,4] and f32[5]"},
      {head + " return add(x, b)",
       "f:2:9: expected tensors of one type whose shapes go together, got f32[3,4] and f32[5]"},
      {head + " return x", "f:2:9: expected f32[3,5], as f returns, got f32[3,4]"},
      {head + " return matmul(x, w)", "f:1:36: expected every parameter to be used once, b is not"},
      {head + " return add(add(matmul(x, w), b), b)",
       "f:1:36: expected every parameter to be used once, b is more often"},
      {head + " y = matmul(x, w)\n return add(y, y)",
       "f:3:9: expected elementwise operations on one matmul, the other operand being a parameter or a "
       "number, as yet"},
      {head + " return add(matmul(x, w), relu(b))", "f:2:27: expected a parameter or a number, as yet"},
      {head + " return add(matmul(relu(x), w), b)", "f:2:20: expected a matmul of parameters, as yet"},
      {head + " return matmul(x, w) 3", "f:2:22: expected the end of the line, got '3'"},
      {head + " return 3", "f:2:9: expected a tensor, got '3'"},
      {head + " return cast(cast(add(matmul(x, w), b), bf16), f32)",
       "f:2:14: expected no cast but from s32 to f32 before the last"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(ErrorOf(text), error) << text;
}

// Depth is bounded, and values that are shared are looked at once.
TEST(GraphTest, DeepAndSharedValuesAreRefusedAtOnce) {
  std::string nested;
  for (int i = 0; i < 100'000; ++i) nested += "relu(";
  EXPECT_EQ(ErrorOf("kernel f(x: f32[3,4]) -> f32[3,4]:\n return " + nested),
            "f:2:324: expected at most 64 values, got 'relu'");
  std::string shared = "kernel f(x: f32[4,4], y: f32[4,4], w: f32[4,4]) -> f32[4,4]:\n a0 = add(y, y)\n";
  for (int i = 1; i < 50; ++i) Append(&shared, " a", i, " = add(a", i - 1, ", a", i - 1, ")\n");
  EXPECT_EQ(ErrorOf(shared + " return add(matmul(x, w), a49)"),
            "f:51:8: expected a parameter or a number, as yet");
}

// Any text is an error of one line, or is read.
TEST(GraphTest, MutatedKernelsAreReadOrRefused) {
  const std::string seed =
      "kernel q(x: u8[6,7], w: s8[8,7], bias: s32[8]) -> u8[6,8]:\n"
      "  s = add(matmul(x, transpose(w)), bias)\n"
      "  return cast(mul(cast(s, f32), -0.5e-3), u8)\n";
  std::mt19937 random(5);
  const std::string signs = "()[],:=->\n .e0x9\x80";
  int read = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = seed;
    for (int i = 0; i <= round % 4; ++i) {
      const size_t at = random() % text.size();
      if (random() % 3 == 0)
        text.erase(at, 1 + random() % 4);
      else if (random() % 2 == 0)
        text[at] = signs[random() % signs.size()];
      else
        text.insert(at, 1, signs[random() % signs.size()]);
      if (text.empty()) text = seed;
    }
    const auto requests = ParseKernelFile(text, "f");
    read += requests.ok() ? 1 : 0;
    if (requests.ok()) continue;
    const std::string message(requests.status().message());
    ASSERT_EQ(message.find('\n'), std::string::npos) << message;
    ASSERT_EQ(message.rfind("f:", 0), 0u) << message;
  }
  EXPECT_GT(read, 100);
}

}  // namespace
}  // namespace kirsch
