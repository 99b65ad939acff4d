// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "spec/language/parser.h"
#include "spec/language/printer.h"
#include "spec/language/types_parser.h"
#include "spec/matmul_types.h"
#include "spec/text/cat.h"
#include "tests/testing/table_words.h"

namespace kirsch {
namespace {

using ::testing::ElementsAre;

ParsedSpec Parse(std::string_view text) {
  absl::StatusOr<ParsedSpec> parsed = ParseSpec(text);
  EXPECT_TRUE(parsed.ok()) << text << ": " << parsed.status();
  return parsed.ok() ? *parsed : ParsedSpec{};
}

std::string ErrorOf(std::string_view text) { return std::string(ParseSpec(text).status().message()); }

std::vector<uint32_t> SizesOf(const Spec& spec) { return {spec.size.begin(), spec.size.begin() + 4}; }

TEST(SpecParserTest, ReadsPlainMatmul) {
  const ParsedSpec parsed = Parse("matmul f32 64x32x16");
  EXPECT_FALSE(parsed.swapped);
  EXPECT_FALSE(parsed.spec.accumulate);
  EXPECT_EQ(parsed.spec.threads, 1);
  EXPECT_THAT(SizesOf(parsed.spec), ElementsAre(1, 64, 32, 16));
  EXPECT_EQ(parsed.spec.operand[0].layout, (Layout{LayoutKind::kStrided, Order::kRow, 0, 1, 32}));
  EXPECT_EQ(parsed.spec.operand[1].layout, (Layout{LayoutKind::kStrided, Order::kRow, 0, 1, 16}));
  EXPECT_EQ(parsed.spec.operand[2].layout, (Layout{LayoutKind::kStrided, Order::kRow, 0, 1, 16}));
  EXPECT_EQ(parsed.spec.operand[2].level, Level::kRam);
}

TEST(SpecParserTest, ReadsOptionsInAnyOrder) {
  const ParsedSpec parsed = Parse(" matmul\tf32 3:64x32x16 accumulate ldc=20 lhs=col lda=70\n");
  EXPECT_TRUE(parsed.spec.accumulate);
  EXPECT_EQ(parsed.spec.operand[0].layout, (Layout{LayoutKind::kStrided, Order::kCol, 0, 1, 70}));
  EXPECT_EQ(parsed.spec.operand[2].layout.ld, 20u);
  EXPECT_EQ(parsed.text, "matmul f32 3:64x32x16 lhs=col lda=70 ldc=20 accumulate");
}

TEST(SpecParserTest, LeavesOutDefaults) {
  EXPECT_EQ(Parse("matmul f32 1:064x32x16 lhs=row rhs=row out=row lda=32 ldb=16 ldc=16").text,
            "matmul f32 64x32x16");
}

TEST(SpecParserTest, ColumnMajorOutputIsTheTransposedProblem) {
  const ParsedSpec parsed = Parse("matmul f32 64x32x16 rhs=col out=col lda=40 ldb=50 ldc=70");
  EXPECT_TRUE(parsed.swapped);
  EXPECT_EQ(parsed.text, "matmul f32 64x32x16 rhs=col out=col lda=40 ldb=50 ldc=70");
  EXPECT_EQ(PrintSpec(parsed.spec), "matmul f32 16x32x64 rhs=col lda=50 ldb=40 ldc=70");
}

// All types there are, lhs and rhs in either order; the transposed problem has them exchanged.
TEST(SpecParserTest, ReadsAndPrintsTypes) {
  std::set<std::string> texts;
  for (const MatmulTypes& row : kMatmulTypes)
    for (const MatmulTypes& types : {row, MatmulTypes{row.rhs, row.lhs, row.out}}) {
      const std::string text = Cat("matmul ", PrintTypes(types), " 64x32x16");
      texts.insert(text);
      const ParsedSpec parsed = Parse(text);
      EXPECT_EQ(parsed.text, text);
      EXPECT_EQ(PrintSpec(parsed.spec), text);
      EXPECT_EQ(parsed.spec.operand[0].dtype, types.lhs);
      EXPECT_EQ(parsed.spec.operand[1].dtype, types.rhs);
      EXPECT_EQ(parsed.spec.out().dtype, types.out);
      const ParsedSpec swapped = Parse(Cat(text, " out=col"));
      EXPECT_TRUE(swapped.swapped);
      EXPECT_EQ(swapped.spec.operand[0].dtype, types.rhs) << text;
      EXPECT_EQ(swapped.spec.operand[1].dtype, types.lhs) << text;
    }
  EXPECT_GE(texts.size(), 25u);  // none is lost
  EXPECT_EQ(Parse("matmul bf16*bf16->bf16 2x2x2").text, "matmul bf16 2x2x2");
  EXPECT_EQ(Parse("matmul s32*s32->s32 2x2x2").text, "matmul s32 2x2x2");
}

// The transposed problem has the other operand constant.
TEST(SpecParserTest, ReadsAndPrintsConstants) {
  const std::string text = "matmul f32 64x32x16 rhs=col accumulate const-rhs";
  const ParsedSpec parsed = Parse("matmul f32 64x32x16 const-rhs accumulate rhs=col");
  EXPECT_EQ(parsed.text, text);
  EXPECT_EQ(PrintSpec(parsed.spec), text);
  EXPECT_EQ(ConstantOperand(parsed.spec), MatmulDims::kRhs);
  EXPECT_EQ(ConstantOperand(Parse("matmul f32 64x32x16 const-lhs").spec), MatmulDims::kLhs);
  EXPECT_EQ(ConstantOperand(Parse("matmul f32 64x32x16").spec), -1);
  const ParsedSpec swapped = Parse("matmul f32 64x32x16 out=col const-rhs");
  EXPECT_TRUE(swapped.swapped);
  EXPECT_EQ(ConstantOperand(swapped.spec), MatmulDims::kLhs);
  EXPECT_FALSE(parsed.spec == Parse("matmul f32 64x32x16 rhs=col accumulate").spec);
}

// What may be multiplied, in the order of the tables, the types of blocks together.
TEST(SpecParserTest, TypesThatGoTogether) {
  EXPECT_THAT(MatmulTypesText(), ::testing::StartsWith("f32 bf16*bf16->f32 bf16 f32*bf16->f32 "));
  EXPECT_THAT(MatmulTypesText(), ::testing::HasSubstr(" f32*f8_e4m3->f32 bf16*f8_e4m3->f32 "));
  EXPECT_THAT(MatmulTypesText(), ::testing::HasSubstr(" f32|bf16*q8_0|q4_0|"));
}

TEST(SpecParserTest, SaysWhatIsWrongAndWhere) {
  const std::string types = testing::TypeWords("|");
  const std::pair<const char*, std::string> cases[] = {
      {"", "spec:1:1: expected an operation (matmul|conv1d|conv2d|conv3d), got nothing"},
      {"matmull f32 2x2x2",
       "spec:1:1: expected an operation (matmul|conv1d|conv2d|conv3d), got 'matmull'; did you mean "
       "'matmul'?"},
      {"matmul f128 2x2x2", Cat("spec:1:8: expected an element type (", types, "), got 'f128'")},
      {"matmul", Cat("spec:1:7: expected an element type (", types, "), got nothing")},
      {"matmul bf16*bf16",
       "spec:1:8: expected element types as T, LHS*RHS->OUT or LHS*RHS+SUMS->OUT, got 'bf16*bf16'"},
      {"matmul bf16->f32",
       "spec:1:8: expected element types as T, LHS*RHS->OUT or LHS*RHS+SUMS->OUT, got 'bf16->f32'"},
      {"matmul f32->f32*f32",
       "spec:1:8: expected element types as T, LHS*RHS->OUT or LHS*RHS+SUMS->OUT, got 'f32->f32*f32'"},
      {"matmul u8*s9->s32 2x2x2", Cat("spec:1:11: expected an element type (", types, "), got 's9'")},
      {"matmul u8*s8-> 2x2x2", Cat("spec:1:15: expected an element type (", types, "), got nothing")},
      {"matmul f16*bf16->f32 2x2x2",
       Cat("spec:1:8: expected types that go together (", MatmulTypesText(), "), got 'f16*bf16->f32'")},
      {"matmul f32", "spec:1:11: expected sizes as MxKxN or BATCH:MxKxN, got nothing"},
      {"matmul f32 4x4", "spec:1:12: expected sizes as MxKxN or BATCH:MxKxN, got '4x4'"},
      {"matmul f32 4x4x4x4", "spec:1:12: expected sizes as MxKxN or BATCH:MxKxN, got '4x4x4x4'"},
      {"matmul f32 4x0x4", "spec:1:14: expected a size from 1 to 1048576, got '0'"},
      {"matmul f32 4x4x-1", "spec:1:16: expected a size from 1 to 1048576, got '-1'"},
      {"matmul f32 4x4x+1", "spec:1:16: expected a size from 1 to 1048576, got '+1'"},
      {"matmul f32 0:4x4x4", "spec:1:12: expected a size from 1 to 1048576, got '0'"},
      {"matmul f32 4x4x1048577", "spec:1:16: expected a size from 1 to 1048576, got '1048577'"},
      {"matmul f32 18446744073709551617x4x4",
       "spec:1:12: expected a size from 1 to 1048576, got '18446744073709551617'"},
      {"matmul f32 1048576x8192x1",
       "spec:1:12: expected at most 4294967296 elements in lhs, got '1048576x8192x1'"},
      {"matmul f32 4x4x4 lda=3",
       "spec:1:22: expected a leading dimension of lhs from 4 to 1073741824, got '3'"},
      {"matmul f32 4x4x4 ldc=4294967296",
       "spec:1:22: expected a leading dimension of out from 4 to 1073741824, got '4294967296'"},
      {"matmul f32 4x4x4 ldb=",
       "spec:1:22: expected a leading dimension of rhs from 4 to 1073741824, got nothing"},
      {"matmul f32 4x4x4 lhs=diag", "spec:1:22: expected row or col, got 'diag'"},
      {"matmul f32 4x4x4 lhs=col lhs=row", "spec:1:26: expected each option once, got 'lhs=row'"},
      {"matmul f32 4x4x4\n fast",
       "spec:2:2: expected an option (lhs=row|col rhs=row|col out=row|col lda=N ldb=N ldc=N accumulate "
       "const-lhs "
       "const-rhs fixed-order lhs-as=bf16|f16|q8_0 column-blocks=N epilogue=STEPS), got 'fast'"},
      {"matmul f32 4x4x4 accumulate=1",
       "spec:1:18: expected an option (lhs=row|col rhs=row|col out=row|col lda=N ldb=N ldc=N accumulate "
       "const-lhs "
       "const-rhs fixed-order lhs-as=bf16|f16|q8_0 column-blocks=N epilogue=STEPS), got 'accumulate=1'; did "
       "you mean 'accumulate'?"},
      {"matmul f32 4x4x4 const-out",
       "spec:1:18: expected an option (lhs=row|col rhs=row|col out=row|col lda=N ldb=N ldc=N accumulate "
       "const-lhs "
       "const-rhs fixed-order lhs-as=bf16|f16|q8_0 column-blocks=N epilogue=STEPS), got 'const-out'"},
      {"matmul f32 4x4x4 const-rhs const-lhs",
       "spec:1:28: expected one constant operand (of two, the product would be constant, too), got "
       "'const-lhs'"},
      {"matmul f32 4x4x4 const-rhs const-rhs", "spec:1:28: expected each option once, got 'const-rhs'"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(ErrorOf(text), error) << text;
}

TEST(SpecParserTest, QuotesHostileTextOnOneLine) {
  const std::string error = ErrorOf(std::string("mat\0\x1b[2J\xff", 9) + std::string(1000, 'x'));
  EXPECT_THAT(
      error,
      ::testing::StartsWith(
          "spec:1:1: expected an operation (matmul|conv1d|conv2d|conv3d), got 'mat\\x00\\x1b[2J\\xff"));
  EXPECT_LT(error.size(), 150u);
}

// The address of every element of every matrix of a batch.
std::vector<int64_t> AddressesOf(const Spec& spec, int operand) {
  const TileExtent extent = ExtentOf(spec, operand);
  const Layout& layout = spec.tensor(operand).layout;
  const bool row = layout.order == Order::kRow;
  const int64_t rows = row ? extent.outer : extent.inner, columns = row ? extent.inner : extent.outer;
  std::vector<int64_t> addresses;
  for (int64_t b = 0; b < extent.batch; ++b)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        addresses.push_back(b * extent.outer * layout.ld + (row ? i * layout.ld + j : j * layout.ld + i));
  return addresses;
}

// What a parsed spec computes, as addresses: for each user's (b, m, n) and k, where lhs, rhs and out lie.
std::vector<int64_t> MeaningOf(const ParsedSpec& parsed) {
  const Spec& spec = parsed.spec;
  const std::vector<int64_t> lhs = AddressesOf(spec, 0), rhs = AddressesOf(spec, 1),
                             out = AddressesOf(spec, 2);
  const int64_t B = spec.size[0], M = spec.size[1], K = spec.size[2], N = spec.size[3];
  std::vector<int64_t> meaning;
  const int64_t rows = parsed.swapped ? N : M, columns = parsed.swapped ? M : N;
  for (int64_t b = 0; b < B; ++b)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        for (int64_t k = 0; k < K; ++k) {
          const int64_t m = parsed.swapped ? j : i, n = parsed.swapped ? i : j;
          const int64_t from_lhs = lhs[static_cast<size_t>((b * M + m) * K + k)];
          const int64_t from_rhs = rhs[static_cast<size_t>((b * K + k) * N + n)];
          meaning.push_back(parsed.swapped ? from_rhs : from_lhs);
          meaning.push_back(parsed.swapped ? from_lhs : from_rhs);
          meaning.push_back(out[static_cast<size_t>((b * M + m) * N + n)]);
        }
  return meaning;
}

struct Asked {
  int b, m, k, n;
  bool col[3];
  int extra[3];  // leading dimension beyond the least

  int Rows(int operand) const { return operand == 1 ? k : m; }
  int Columns(int operand) const { return operand == 0 ? k : n; }
  int Ld(int operand) const { return (col[operand] ? Rows(operand) : Columns(operand)) + extra[operand]; }

  std::string Text() const {
    std::string text = Cat("matmul f32 ", b, ":", m, "x", k, "x", n);
    const char* names[] = {"lhs", "rhs", "out"};
    for (int i = 0; i < 3; ++i)
      Append(&text, " ", names[i], col[i] ? "=col" : "=row", " ld",
             std::string(1, static_cast<char>('a' + i)), "=", Ld(i));
    return text;
  }

  int64_t Address(int operand, int batch, int i, int j) const {
    const int outer = col[operand] ? Columns(operand) : Rows(operand);
    return int64_t{batch} * outer * Ld(operand) + (col[operand] ? j * Ld(operand) + i : i * Ld(operand) + j);
  }

  // As MeaningOf, straight from the definition.
  std::vector<int64_t> Meaning() const {
    std::vector<int64_t> meaning;
    for (int batch = 0; batch < b; ++batch)
      for (int i = 0; i < m; ++i)
        for (int j = 0; j < n; ++j)
          for (int l = 0; l < k; ++l)
            for (int64_t address :
                 {Address(0, batch, i, l), Address(1, batch, l, j), Address(2, batch, i, j)})
              meaning.push_back(address);
    return meaning;
  }
};

std::vector<Asked> AllSmallRequests() {
  std::vector<Asked> all;
  for (int sizes = 0; sizes < 2 * 3 * 3 * 3; ++sizes)
    for (int orders = 0; orders < 8; ++orders)
      for (int extras = 0; extras < 8; ++extras)
        all.push_back({1 + sizes % 2,
                       1 + sizes / 2 % 3,
                       1 + sizes / 6 % 3,
                       1 + sizes / 18,
                       {(orders & 1) != 0, (orders & 2) != 0, (orders & 4) != 0},
                       {extras & 1 ? 2 : 0, extras & 2 ? 2 : 0, extras & 4 ? 2 : 0}});
  return all;
}

TEST(CanonicalSpecTest, KeepsEveryElementInItsPlace) {
  for (const Asked& asked : AllSmallRequests())
    EXPECT_EQ(MeaningOf(Parse(asked.Text())), asked.Meaning()) << asked.Text();
}

TEST(CanonicalSpecTest, OutputIsRowMajor) {
  for (const Asked& asked : AllSmallRequests()) {
    const Spec spec = Parse(asked.Text()).spec;
    EXPECT_EQ(spec.out().layout.order, Order::kRow) << asked.Text();
    const bool column = spec.size[MatmulDims::kN] == 1 && spec.size[MatmulDims::kM] > 1;
    if (column) {
      EXPECT_GT(spec.out().layout.ld, 1u) << asked.Text();
    }
  }
}

// Equal memory, equal spec: the same shape with the same addresses is one Spec, however it was asked for.
TEST(CanonicalSpecTest, EqualMemoryGivesEqualSpecs) {
  std::map<std::pair<std::vector<int>, std::vector<int64_t>>, ParsedSpec> seen;
  int met_again = 0;
  for (const Asked& asked : AllSmallRequests()) {
    const ParsedSpec parsed = Parse(asked.Text());
    const auto [it, is_new] = seen.insert({{{asked.b, asked.m, asked.k, asked.n}, asked.Meaning()}, parsed});
    EXPECT_TRUE(it->second.spec == parsed.spec) << it->second.text << " and " << parsed.text;
    EXPECT_EQ(it->second.swapped, parsed.swapped) << it->second.text << " and " << parsed.text;
    met_again += is_new ? 0 : 1;
  }
  EXPECT_GT(met_again, 500);
}

TEST(CanonicalSpecTest, VectorsHaveOneForm) {
  const std::pair<const char*, const char*> cases[] = {
      {"matmul f32 1x64x8 lhs=col lda=1", "matmul f32 1x64x8"},
      {"matmul f32 1x64x8 lda=100", "matmul f32 1x64x8"},
      {"matmul f32 8x64x1", "matmul f32 1x64x8 rhs=col"},
      {"matmul f32 8x64x1 ldc=3", "matmul f32 8x64x1 rhs=col ldc=3"},
      {"matmul f32 1x64x1 out=col", "matmul f32 1x64x1 rhs=col"},
      {"matmul f32 2:1x64x8 lda=100", "matmul f32 2:1x64x8 lda=100"},  // the next matrix is 100 elements on
  };
  for (const auto& [asked, canonical] : cases) EXPECT_EQ(PrintSpec(Parse(asked).spec), canonical) << asked;
}

TEST(CanonicalSpecTest, IsIdempotentAndPrintingRoundTrips) {
  for (const Asked& asked : AllSmallRequests()) {
    const ParsedSpec parsed = Parse(asked.Text());
    EXPECT_EQ(Parse(parsed.text), parsed) << asked.Text();
    const ParsedSpec again = Parse(PrintSpec(parsed.spec));
    EXPECT_TRUE(again.spec == parsed.spec) << asked.Text();
    EXPECT_FALSE(again.swapped) << asked.Text();
    EXPECT_EQ(again.text, PrintSpec(parsed.spec));
  }
}

TEST(SpecPrinterTest, ShowsWhatOnlySpecsInsideAProgramHave) {
  Spec spec = Parse("matmul f32 6x256x16").spec;
  spec.operand[0].level = Level::kL2;
  spec.operand[1].level = Level::kL1;
  spec.operand[1].layout = {LayoutKind::kPacked, Order::kRow, 16, 1, 0};
  spec.operand[2].level = Level::kVrf;
  spec.operand[2].layout = {LayoutKind::kVectors, Order::kRow, 8, 0};
  spec.active_threads = 2;
  EXPECT_EQ(PrintSpec(spec),
            "matmul f32 6x256x16 lhs=row@L2 rhs=packed16@L1 out=vectors8@VRF active-threads=2");
  spec.operand[1].layout = {LayoutKind::kPacked, Order::kCol, 16, 4, 0};
  spec.operand[2].layout.group = 4;
  EXPECT_EQ(PrintSpec(spec),
            "matmul f32 6x256x16 lhs=row@L2 rhs=packed16x4-col@L1 out=vectors8x4@VRF active-threads=2");
}

}  // namespace
}  // namespace kirsch
