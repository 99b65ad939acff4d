// SPDX-License-Identifier: Apache-2.0
// Programs, interpreted: those of random kernels and of random trees compute what they should, read nothing
// before it is written, and no two values that are in use share a byte; what breaks these rules is found out.
#include "spec/program/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "spec/element_array.h"
#include "spec/meaning/graph_reference.h"
#include "spec/meaning/interpreter.h"
#include "spec/program/plan_program.h"
#include "spec/program/program_builder.h"
#include "spec/program/program_memory.h"
#include "spec/text/cat.h"
#include "tests/testing/grammar_graph.h"
#include "tests/testing/plan_testing.h"

namespace kirsch {
namespace {

using ::testing::HasSubstr;

// The bytes of each of a graph's parameters, drawn at random.
std::vector<std::vector<std::byte>> RandomTensors(const testing::GrammarGraph& drawn, std::mt19937& random) {
  std::vector<std::vector<std::byte>> tensors;
  for (int i = 0; i < drawn.parameters; ++i)
    tensors.push_back(testing::StoredParameter(drawn.at(i), testing::RandomElements(drawn.at(i), random)));
  return tensors;
}

// Compares all elements of a result.
void ExpectElements(GraphReference& reference, const Graph& graph, const GraphResult& result, const void* out,
                    const std::string& text) {
  const TensorType& type = graph.TypeOf(result);
  for (int64_t row = 0; row < GraphReference::Rows(type); ++row) {
    const std::vector<Uncertain> expected = reference.ResultRow(result, row);
    for (int64_t i = 0; i < GraphReference::RowLength(type); ++i) {
      const double got = LoadElement(type.dtype, out, GraphReference::StartOfRow(type, row) + i);
      const Uncertain& want = expected[static_cast<size_t>(i)];
      if (!std::isfinite(want.error) || (std::isnan(want.value) && std::isnan(got)) || want.value == got)
        continue;
      ASSERT_LE(std::abs(got - want.value), want.error) << text << "\n"
                                                        << result.name << ", row " << row << ", column " << i;
    }
  }
}

// Interprets the plan of `text` on so many threads, and compares all elements.
void ExpectRight(const std::string& text, const Plan& plan, std::vector<std::vector<std::byte>> tensors,
                 const Target& target, int threads) {
  const Program program = WriteProgram(plan, target);
  std::vector<const void*> inputs;
  std::vector<void*> callers(program.buffers.size());
  for (size_t i = 0; i < tensors.size(); ++i) inputs.push_back(callers[i] = tensors[i].data());
  std::vector<std::vector<std::byte>> outs;
  for (const GraphResult& result : plan.graph.results) {
    const TensorType& type = plan.graph.TypeOf(result);
    outs.emplace_back(static_cast<size_t>(type.span() * Bytes(type.dtype)), std::byte{0xff});
    callers[tensors.size() + outs.size() - 1] = outs.back().data();
  }
  ASSERT_EQ(Interpret(program, callers, threads), absl::OkStatus()) << text << "\n" << PrintPlan(plan);
  GraphReference reference(plan.graph, inputs, WinogradConvolutions(plan));
  for (size_t i = 0; i < outs.size(); ++i)
    ExpectElements(reference, plan.graph, plan.graph.results[i], outs[i].data(),
                   Cat(text, "\n", PrintProgram(program)));
}

class ProgramTest : public ::testing::TestWithParam<Target> {};

// Kernels of so many operations in each round.
void ExpectRandomKernelsRight(int rounds, int (*operations)(int round), const Target& target) {
  int interpreted = 0;
  for (int round = 0; round < rounds; ++round) {
    std::mt19937 random(static_cast<uint32_t>(round) + 1);
    const testing::GrammarGraph drawn = testing::RandomGrammarGraph(operations(round), random);
    std::string text = testing::GrammarText(drawn, random);
    while (text.back() == '\n') text.pop_back();
    const auto graph = ParseGraph(Split({text, {}}, '\n'), "test");
    if (!graph.ok()) continue;  // a family, or what the language refuses
    const int threads = 1 + round % 3;
    const auto result = testing::PlanOf(*graph, testing::WithFreeThreads(target), threads);
    if (!result.ok()) continue;
    SCOPED_TRACE(round);
    ++interpreted;
    ExpectRight(text, result->plan, RandomTensors(drawn, random), target, threads);
    if (::testing::Test::HasFatalFailure()) return;
  }
  EXPECT_GT(interpreted, rounds / 2);
}

TEST(SizeTest, IsAConstantOrFollowsItsSymbol) {
  SymbolValues values;
  values[SizeSymbol::kRows] = 5;
  const Size constant = 8, rows(SizeSymbol::kRows, 515, 8, 3);  // of 64 rows at most
  EXPECT_TRUE(constant.IsConstant());
  EXPECT_EQ(constant.At(values), 8);
  EXPECT_EQ(constant, 8);
  EXPECT_FALSE(rows.IsConstant());
  EXPECT_EQ(rows.At(values), 43);
  EXPECT_EQ(rows.most_of_symbol(), 64);
  EXPECT_EQ(int64_t{rows}, 515) << "as a number it is the most that it can be";
  EXPECT_NE(rows, 515) << "but it is no constant";
  EXPECT_NE(rows, Size(SizeSymbol::kKeys, 515, 8, 3));
}

TEST(KernelShapeTest, SizesAreReplacedByTheirValues) {
  PackShape pack;
  pack.outer = Size(SizeSymbol::kCount, 64);
  pack.inner = 32;
  const KernelShape kernel = pack;
  EXPECT_TRUE(Takes(kernel, SizeSymbol::kCount));
  EXPECT_FALSE(Takes(kernel, SizeSymbol::kLast));
  SymbolValues values;
  values[SizeSymbol::kCount] = 17;
  const KernelShape known = ForValues(kernel, values);
  EXPECT_EQ(std::get<PackShape>(known).outer, 17);
  EXPECT_EQ(std::get<PackShape>(known).inner, 32);
  EXPECT_FALSE(Takes(known, SizeSymbol::kCount));
}

TEST_P(ProgramTest, RandomKernelsAreRightOnAnyNumberOfThreads) {
  ExpectRandomKernelsRight(testing::Rounds(60), [](int round) { return 1 + round % 6; }, GetParam());
}

TEST_P(ProgramTest, RandomKernelsOfManyOperationsAreRight) {
  ExpectRandomKernelsRight(testing::Rounds(6), [](int round) { return 17 + round * 7 % 44; }, GetParam());
}

INSTANTIATE_TEST_SUITE_P(Isa, ProgramTest, ::testing::Values(testing::Avx2Target(), testing::Avx512Target()),
                         [](const auto& info) { return info.index == 0 ? "Avx2" : "Avx512"; });

// out[i] = in[i] + 1, row by row.
RowShape AddOne(int64_t columns) {
  RowShape rows;
  rows.program.inputs = {{}};
  rows.program.values = {
      {Operation::kLoad, -1, -1, 0, 0}, {Operation::kNumber, -1, -1, -1, 1}, {Operation::kAdd, 0, 1}};
  rows.program.results = {{2, Dtype::kF32}};
  rows.schedule.unroll = {1};
  rows.columns = columns;
  rows.input_row_strides = rows.result_row_strides = {columns};
  return rows;
}

class HandMade : public ::testing::Test {
 protected:
  static constexpr int64_t kColumns = 3, kMost = 9;
  HandMade() {
    in_ = builder_.AddBuffer({"in", Dtype::kF32, Memory::kCaller, false, false, Bytes(kMost), 0});
    out_ = builder_.AddBuffer({"out", Dtype::kF32, Memory::kCaller, true, false, Bytes(kMost), 0});
    builder_.program().named = true;
    for (size_t i = 0; i < input_.size(); ++i) input_[i] = static_cast<float>(i);
  }
  static int64_t Bytes(int64_t rows) { return rows * kColumns * 4; }
  int Own(int64_t rows, int64_t offset) {
    builder_.program().own_bytes = std::max(builder_.program().own_bytes, offset + Bytes(rows));
    return builder_.AddBuffer({"own", Dtype::kF32, Memory::kOwn, true, false, Bytes(rows), offset});
  }
  void Add(int from, int to, Count rows = Whole(1), Affine at = {}) {
    builder_.AddRun(AddOne(kColumns), {{from, at}, {to, at}}, rows);
  }
  absl::Status Run(std::vector<int64_t> sizes = {}) {
    program_ = std::move(builder_).Build();
    std::vector<void*> callers(program_.buffers.size());
    callers[0] = input_.data();
    callers[1] = output_.data();
    return Interpret(program_, callers, 1, sizes);
  }

  ProgramBuilder builder_;
  int in_ = 0, out_ = 0;
  Program program_;
  std::array<float, kMost * kColumns> input_ = {}, output_ = {};
};

TEST_F(HandMade, AValueThatIsWrittenAndReadIsFine) {
  const int own = Own(1, 0);
  Add(in_, own);
  Add(own, out_);
  EXPECT_EQ(Run(), absl::OkStatus());
  EXPECT_EQ(output_[2], 4);
}

TEST_F(HandMade, WhatIsReadBeforeItIsWrittenIsFound) {
  const int own = Own(2, 0);
  Add(in_, own);
  Add(own, out_, Whole(2));
  EXPECT_THAT(Run().ToString(), HasSubstr("reads what has not been written"));
}

TEST_F(HandMade, ValuesThatShareBytesAreFound) {
  const int first = Own(1, 0), second = Own(1, Bytes(1) - 4);
  Add(in_, first);
  Add(in_, second);
  Add(first, out_);
  EXPECT_THAT(Run().ToString(), HasSubstr("has been written over"));
}

TEST_F(HandMade, LeavingABufferIsFound) {
  Add(in_, out_, Whole(kMost), Constant(1));
  EXPECT_THAT(Run().ToString(), HasSubstr("leaves its buffer (in"));
}

TEST_F(HandMade, WritingAParameterIsFound) {
  Add(in_, in_);
  EXPECT_THAT(Run().ToString(), HasSubstr("writes what is only read (in"));
}

TEST_F(HandMade, AResultHoldsNothingAtFirst) {
  Add(out_, out_);
  EXPECT_THAT(Run().ToString(), HasSubstr("reads what has not been written"));
}

// Tiles of 4 rows, and what is left, for any number of rows; one copy of the first tile's is made in its
// trip.
TEST_F(HandMade, SizesMayBeKnownAtRunTimeOnly) {
  const VarId m = builder_.program().variables++;
  builder_.program().symbols = {{"m", 1, kMost}};
  builder_.AddLoop(
      {IndexOf(m), 4, false}, [&](VarId tile) { Add(in_, out_, Whole(4), Plus({}, tile, 4 * kColumns)); },
      [&](VarId tile) { Add(in_, out_, {IndexOf(m), 4, true}, Plus({}, tile, 4 * kColumns)); });
  program_ = std::move(builder_).Build();
  for (int64_t rows = 1; rows <= kMost; ++rows) {
    output_.fill(-1);
    std::vector<void*> callers = {input_.data(), output_.data()};
    ASSERT_EQ(Interpret(program_, callers, 1, {rows}), absl::OkStatus());
    for (int64_t i = 0; i < kMost * kColumns; ++i)
      EXPECT_EQ(output_[static_cast<size_t>(i)], i < rows * kColumns ? static_cast<float>(i + 1) : -1)
          << rows;
  }
}

TEST_F(HandMade, TheFirstTripMayBeAnother) {
  const int own = Own(1, 0);
  builder_.AddLoop(Whole(3), [&](VarId trip) { Add(own, out_, Whole(1), Plus({}, trip, 0)); });
  Loop& written = std::get<Loop>(builder_.program().body.front().shape);
  written.first = written.body;
  KernelRun make = std::get<KernelRun>(written.body.front().shape);
  make.at = {{in_, {}}, {own, {}}};
  written.first.insert(written.first.begin(), Node{make});
  EXPECT_EQ(Run(), absl::OkStatus());
  EXPECT_EQ(output_[1], 3);
  EXPECT_THAT(PrintProgram(program_), HasSubstr("first, i"));
}

// Four runs, the middle two perhaps repeated: in -> a -> b -> c -> out.
class Lifetimes : public HandMade {
 protected:
  void Write(int64_t repeats) {
    const int a = Own(1, 0), b = Own(1, 0), c = Own(1, 0);
    Add(in_, a);
    const auto middle = [&](VarId) {
      Add(a, b);
      Add(b, c);
    };
    repeats == 1 ? middle(kNoVar) : builder_.AddLoop(Whole(repeats), middle);
    Add(c, out_);
    PlaceBuffers(&builder_.program());
  }
};

TEST_F(Lifetimes, ValuesWhoseTimesDoNotMeetShareBytes) {
  Write(1);
  EXPECT_EQ(builder_.program().own_bytes, 2 * 64);
  EXPECT_EQ(Run(), absl::OkStatus());
}

// What was there before a loop is there until the last trip is done, what it makes for later from the first.
TEST_F(Lifetimes, LoopsKeepWhatTheyUse) {
  Write(3);
  EXPECT_EQ(builder_.program().own_bytes, 3 * 64);
  EXPECT_EQ(Run(), absl::OkStatus());
}

// Shown to matter: with the memory of straight code, the loop reads what it has written over.
TEST_F(Lifetimes, AndHaveTo) {
  Write(3);
  for (Program::Buffer& buffer : builder_.program().buffers)
    if (buffer.offset == 2 * 64) buffer.offset = 0;
  EXPECT_FALSE(Run().ok());
}

}  // namespace
}  // namespace kirsch
