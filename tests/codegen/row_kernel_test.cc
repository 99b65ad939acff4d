// SPDX-License-Identifier: Apache-2.0
// Row programs: their passes, and their code in both forms against a slow evaluator.
#include "codegen/kernels/row_kernel.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <variant>
#include <vector>

#include "absl/strings/str_join.h"
#include "codegen/c/c_printer.h"
#include "codegen/llvm/emit.h"
#include "spec/text/cat.h"
#include "tests/testing/row_testing.h"

namespace kirsch::testing {
namespace {

TEST(RowPassesTest, SoftmaxTakesThreePassesOrTwo) {
  const RowProgram softmax = Softmax();
  const RowPasses offline = FindPasses(softmax, {});
  ASSERT_EQ(offline.passes.size(), 3u);
  EXPECT_EQ(offline.passes[0].computed, std::vector<int>({0}));
  EXPECT_EQ(offline.passes[1].computed, std::vector<int>({0, 2, 3}));
  EXPECT_EQ(offline.passes[2].computed, std::vector<int>({0, 2, 3, 7}));
  EXPECT_EQ(offline.row_values[2], std::vector<int>({6}));

  RowSchedule online;
  online.online = true;
  const RowPasses two = FindPasses(softmax, online);
  ASSERT_EQ(two.passes.size(), 2u);
  EXPECT_TRUE(two.passes[0].online);
  EXPECT_TRUE(two.passes[0].reductions.empty());

  RowSchedule kept;
  kept.kept.assign(softmax.values.size(), RowSchedule::kRecomputed);
  kept.kept[kSoftmaxExp] = 0;
  const RowPasses third = FindPasses(softmax, kept);
  EXPECT_EQ(third.passes[1].kept, std::vector<int>({kSoftmaxExp}));
  EXPECT_EQ(third.passes[2].read, std::vector<int>({kSoftmaxExp}));
  EXPECT_EQ(third.passes[2].computed, std::vector<int>({7}));
}

TEST(RowPassesTest, InPlaceOnlyIfNothingIsReadAfterTheStore) {
  const RowProgram softmax = Softmax();
  EXPECT_TRUE(MayBeInPlace(softmax, {}, 0, 0));
  RowSchedule kept;
  kept.kept.assign(softmax.values.size(), RowSchedule::kRecomputed);
  kept.kept[kSoftmaxExp] = 0;
  EXPECT_TRUE(MayBeInPlace(softmax, kept, 0, 0));
  kept.kept[kSoftmaxExp] = RowSchedule::kRecomputed;
  kept.kept[2] = 0;  // the differences, read in all later passes
  EXPECT_TRUE(MayBeInPlace(softmax, kept, 0, 0));

  RowProgramBuilder b;  // x, stored as it is, is read again
  const int x = b.Input();
  b.Result(b.Op(Operation::kNeg, x));
  b.Result(b.Op(Operation::kSub, x, b.Op(Operation::kSum, x)));
  EXPECT_FALSE(MayBeInPlace(b.program(), {}, 0, 0));
  EXPECT_TRUE(MayBeInPlace(b.program(), {}, 1, 0));
}

TEST(RowPassesTest, WhatCannotBeKept) {
  const RowProgram softmax = Softmax();
  RowSchedule schedule;
  schedule.unroll = {1, 1, 1};
  EXPECT_TRUE(IsSound(softmax, schedule));
  schedule.kept.assign(softmax.values.size(), RowSchedule::kRecomputed);
  schedule.kept[kSoftmaxExp] = 0;
  EXPECT_TRUE(IsSound(softmax, schedule));
  schedule.kept[2] = 0;  // two in one place
  EXPECT_FALSE(IsSound(softmax, schedule));
  schedule.kept[2] = RowSchedule::kRecomputed;
  schedule.kept[4] = RowSchedule::kInScratch;  // the sum: one for the row
  EXPECT_FALSE(IsSound(softmax, schedule));
  schedule.kept[4] = RowSchedule::kRecomputed;
  schedule.unroll = {1, 1};
  EXPECT_FALSE(IsSound(softmax, schedule));
}

class RowKernelTest : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (!MissingOnHost(target_.features).empty()) GTEST_SKIP() << "the host lacks the instructions";
  }
  static Target MakeTarget() {
    Target target = TestTarget(GetParam());
    target.features.push_back("f16c");
    if (GetParam()) target.features.push_back("avx512bw");
    return target;
  }
  int lanes() const { return GetParam() ? 16 : 8; }
  void CheckOperation(Operation op, Dtype type);
  void CheckAnyColumns(const RowProgram& softmax);
  void CheckNotFinite(const RowProgram& softmax);
  // 400 of them, on at most so many rows.
  void CheckRandomPrograms(uint32_t seed, bool reduces_rows, int64_t most_rows, Dtype real = Dtype::kF32);
  RowSchedule Plain(const RowProgram& program, int unroll) const {
    RowSchedule schedule;
    schedule.lanes = lanes() * Bytes(Dtype::kF32) / Bytes(RealOf(program));
    schedule.unroll.assign(FindPasses(program, schedule).passes.size(), unroll);
    return schedule;
  }

  const Target target_ = MakeTarget();
};

INSTANTIATE_TEST_SUITE_P(All, RowKernelTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "Avx512" : "Avx2"; });

TEST_P(RowKernelTest, EveryOperationWithEveryRest) {
  for (const Dtype type : {Dtype::kF32, Dtype::kF64})
    for (const Operation op : RowOperations(type)) CheckOperation(op, type);
}

void RowKernelTest::CheckOperation(Operation op, Dtype type) {
  const OperationInfo& info = Info(op);
  RowProgramBuilder b;
  const auto input = [&] { return b.Input({type}, type); };
  const int x = input();
  const int y = info.operands() > 1 ? input() : -1, z = info.operands() > 2 ? input() : -1;
  const bool of_positive = info.arguments == 1 && info.meaning != nullptr && std::isnan(info.meaning(-2, 0));
  b.Result(b.Op(info.op, of_positive ? b.Op(Operation::kMul, x, x) : x, y, z), type);
  for (int64_t columns = 1; columns <= 2 * 2 * lanes() + 1; columns += info.op == Operation::kExp ? 1 : 3) {
    RowCase row_case(b.program(), Plain(b.program(), 2), 2, columns, 3, target_);
    row_case.Fill(7);
    row_case.RunJit();
    ASSERT_TRUE(row_case.Matches()) << info.name;
  }
}

// The condition is 0 for about half of the elements. Each value is one for the row in some of the programs.
TEST_P(RowKernelTest, SelectsByComparisons) {
  for (const Operation comparison : {Operation::kLess, Operation::kLessEqual, Operation::kEqual})
    for (int per_row = 0; per_row < 8; ++per_row) {
      RowProgramBuilder b;
      const auto input = [&](int number) {
        return b.Input({Dtype::kF32, (per_row >> number & 1) == 0, true});
      };
      const int x = input(0), y = input(1), z = input(2);
      const int condition = b.Op(comparison, b.Op(Operation::kRound, x), b.Op(Operation::kRound, y));
      b.Result(b.Op(Operation::kSelect, condition, y, z));
      RowCase row_case(b.program(), Plain(b.program(), 2), 3, 2 * lanes() + 3, 1, target_);
      row_case.Fill(5);
      row_case.RunJit();
      ASSERT_TRUE(row_case.Matches()) << Info(comparison).name << " " << per_row;
    }
}

TEST_P(RowKernelTest, EveryTypeWithEveryRest) {
  for (Dtype type : kCallersElements)
    for (int64_t columns = 1; columns <= lanes() + 1; ++columns) {
      RowProgramBuilder b;
      const int x = b.Input({type, true, true});
      b.Result(b.Op(Operation::kMul, x, b.Number(100)), Info(type).is_result ? type : Dtype::kF32);
      RowCase row_case(b.program(), Plain(b.program(), 2), 3, columns, 1, target_);
      row_case.Fill(3);
      row_case.RunJit();
      ASSERT_TRUE(row_case.Matches()) << Info(type).name;
    }
}

// Narrower floats become f64, and f64 becomes them.
TEST_P(RowKernelTest, EveryTypeBesideF64WithEveryRest) {
  for (Dtype type : {Dtype::kF64, Dtype::kF32, Dtype::kBf16, Dtype::kF16, Dtype::kF8E4M3, Dtype::kF8E5M2})
    for (bool along_columns : {true, false})
      for (int64_t columns = 1; columns <= lanes() + 1; ++columns) {
        RowProgramBuilder b;
        const int x = b.Input({type, along_columns, true}, Dtype::kF64),
                  y = b.Input({Dtype::kF64}, Dtype::kF64);
        b.Result(b.Op(Operation::kMul, x, y), Info(type).is_result ? type : Dtype::kF64);
        RowCase row_case(b.program(), Plain(b.program(), 2), 3, columns, 1, target_);
        row_case.Fill(3);
        row_case.RunJit();
        ASSERT_TRUE(row_case.Matches()) << Info(type).name;
      }
}

void RowKernelTest::CheckRandomPrograms(uint32_t seed, bool reduces_rows, int64_t most_rows, Dtype real) {
  RandomRows random(seed, real);
  for (int round = 0; round < 400; ++round) {
    RowProgram program = random.Program();
    program.reduces_rows = reduces_rows;
    const RowSchedule schedule = random.Schedule(program, GetParam());
    RowCase row_case(program, schedule, 1 + random.Below(most_rows), 1 + random.Below(150), random.Below(3),
                     target_);
    if (round % 2 == 1 && row_case.MayHaveAnyColumns())
      row_case.CompileForAnyColumns(row_case.kernel().columns + random.Below(100));
    row_case.Fill(static_cast<uint32_t>(round));
    row_case.RunJit();
    ASSERT_TRUE(row_case.Matches()) << "round " << round;
  }
}

TEST_P(RowKernelTest, RandomProgramsAndSchedules) { CheckRandomPrograms(20260101, false, 3); }

TEST_P(RowKernelTest, RandomProgramsDownTheColumns) { CheckRandomPrograms(20260102, true, 9); }

TEST_P(RowKernelTest, RandomProgramsOfF64) {
  CheckRandomPrograms(20260103, false, 3, Dtype::kF64);
  CheckRandomPrograms(20260104, true, 9, Dtype::kF64);
}

// Rows begin and end everywhere in a line.
TEST_P(RowKernelTest, ResultsPastTheCaches) {
  for (int unroll : {1, 2, 4})
    for (int64_t columns = 1; columns <= 16 + 2 * unroll * lanes() + 17; columns += columns < 40 ? 1 : 5) {
      RowSchedule schedule = Plain(Softmax(), unroll);
      schedule.prefetch = 256;
      schedule.streamed = 0;
      RowCase row_case(Softmax(), schedule, 17, columns, static_cast<int>(columns % 2), target_);
      row_case.Fill(2);
      row_case.RunJit();
      ASSERT_TRUE(row_case.Matches());
    }
}

TEST_P(RowKernelTest, InstructionsOfWhatComesFromFarAway) {
  RowSchedule schedule = Plain(Softmax(), 2);
  const auto assembly = [&] {
    const RowCase row_case(Softmax(), schedule, 2, 200, 0, target_);
    return *EmitAssembly(row_case.Program("rows"), target_);
  };
  for (const char* instruction : {"prefetcht1", "vmovntps", "sfence"})
    EXPECT_EQ(assembly().find(instruction), std::string::npos) << instruction;
  schedule.prefetch = 256;
  schedule.streamed = 0;
  for (const char* instruction : {"prefetcht1", "vmovntps", "sfence"})
    EXPECT_NE(assembly().find(instruction), std::string::npos) << instruction;
}

// Elements from where their pointers are, at the beginning of a loop, to what is asked for.
std::set<int64_t> PrefetchOffsets(const std::vector<Stmt>& body) {
  std::set<int64_t> offsets;
  for (const Stmt& statement : body) {
    if (const auto* prefetch = std::get_if<Prefetch>(&statement.op))
      offsets.insert(prefetch->at.offset.constant);
    if (const auto* loop = std::get_if<For>(&statement.op)) offsets.merge(PrefetchOffsets(loop->body));
  }
  return offsets;
}

TEST_P(RowKernelTest, PrefetchesSkipWhatLiesBetweenRows) {
  RowSchedule schedule = Plain(Softmax(), 1);
  schedule.prefetch = 1024;  // 256 elements: of 64 columns 4 rows, of 100 at least 3
  const auto offsets = [&](int64_t columns, int64_t stride) {
    RowKernel kernel;
    kernel.program = Softmax();
    kernel.schedule = schedule;
    kernel.columns = columns;
    kernel.input_row_strides = {stride};
    kernel.result_row_strides = {columns};
    return *PrefetchOffsets(RowProcedure(kernel).body).begin();
  };
  EXPECT_EQ(offsets(64, 64), 256);
  EXPECT_EQ(offsets(64, 0), 256);
  EXPECT_EQ(offsets(64, 500), 4 * 500);
  EXPECT_EQ(offsets(100, 500), 3 * 500);
  EXPECT_EQ(offsets(512, 2000), 2000);
}

TEST_P(RowKernelTest, ElementsThatAreNeededTwiceAreNotStreamedOver) {
  RowSchedule schedule = Plain(Softmax(), 1);
  schedule.streamed = 0;
  EXPECT_TRUE(IsSound(Softmax(), schedule));
  EXPECT_FALSE(MayBeInPlace(Softmax(), schedule, 0, 0));
  schedule.kept.assign(Softmax().values.size(), RowSchedule::kRecomputed);
  schedule.kept[kSoftmaxExp] = 0;
  EXPECT_FALSE(IsSound(Softmax(), schedule));
  schedule.kept[kSoftmaxExp] = RowSchedule::kInScratch;
  EXPECT_TRUE(IsSound(Softmax(), schedule));
}

TEST_P(RowKernelTest, InPlace) {
  for (int64_t columns : {1, 37, 64, 200})
    for (int kept : {RowSchedule::kRecomputed, RowSchedule::kInScratch, 0}) {
      RowSchedule schedule = Plain(Softmax(), 2);
      schedule.kept.assign(Softmax().values.size(), RowSchedule::kRecomputed);
      schedule.kept[kSoftmaxExp] = kept;
      RowCase row_case(Softmax(), schedule, 3, columns, 0, target_);
      row_case.kernel().in_place = true;
      row_case.Fill(5);
      row_case.RunJit();
      ASSERT_TRUE(row_case.Matches());
    }
}

// One kernel for any number, each of which is tried; values kept in a row of scratch memory and in the
// result.
TEST_P(RowKernelTest, AnyNumberOfColumns) {
  CheckAnyColumns(Softmax());
  CheckAnyColumns(Softmax(Dtype::kF64));
}

void RowKernelTest::CheckAnyColumns(const RowProgram& softmax) {
  const int64_t most = 2 * 3 * lanes() + 5;
  for (int kept : {RowSchedule::kRecomputed, RowSchedule::kInScratch, 0})
    for (bool online : {false, true})
      for (int64_t columns = 1; columns <= most; ++columns) {
        RowSchedule schedule = Plain(softmax, 3);
        schedule.online = online;
        schedule.unroll = online ? std::vector<int>{2, 1} : std::vector<int>{3, 1, 2};
        if (!online) {
          schedule.kept.assign(softmax.values.size(), RowSchedule::kRecomputed);
          schedule.kept[kSoftmaxExp] = kept;
        }
        RowCase row_case(softmax, schedule, 3, columns, 2, target_);
        ASSERT_TRUE(row_case.MayHaveAnyColumns());
        row_case.CompileForAnyColumns(most);
        row_case.Fill(static_cast<uint32_t>(columns));
        row_case.RunJit();
        ASSERT_TRUE(row_case.Matches()) << "kept " << kept;
      }
}

// The greatest element, 1 of the exponentials, comes first or in the middle; the others are a tenth of that.
// (A single chain is off by up to 1.5e-4.)
TEST_P(RowKernelTest, LongOnlineSumsAreInBlocks) {
  constexpr int64_t kColumns = 1000001;
  const double tenth = static_cast<float>(std::log(0.1)), sum = 1 + (kColumns - 1) * std::exp(tenth);
  RowSchedule schedule = Plain(Softmax(), 2);
  schedule.online = true;
  schedule.unroll = {3, 1};
  for (bool any_columns : {false, true})
    for (int64_t greatest : {int64_t{0}, kColumns / 2}) {
      RowCase row_case(Softmax(), schedule, 1, kColumns, 0, target_);
      if (any_columns) row_case.CompileForAnyColumns(kColumns + 5);
      for (int64_t column = 0; column < kColumns; ++column)
        row_case.input(0).Set(0, column, column == greatest ? 0 : tenth);
      row_case.RunJit();
      EXPECT_NEAR(row_case.result(0).at(0, greatest) * sum, 1, 2e-5);
    }
}

TEST_P(RowKernelTest, SoftmaxOfWhatIsNotFinite) {
  CheckNotFinite(Softmax());
  CheckNotFinite(Softmax(Dtype::kF64));
}

void RowKernelTest::CheckNotFinite(const RowProgram& softmax) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (bool online : {false, true})
    for (int64_t columns : {7, 16, 100}) {
      RowSchedule schedule = Plain(softmax, 2);
      schedule.online = online;
      schedule.unroll.resize(online ? 2 : 3);
      RowCase row_case(softmax, schedule, 4, columns, 0, target_);
      row_case.Fill(1);
      row_case.input(0).Set(0, columns / 2, -kInfinity);
      row_case.input(0).Set(1, columns / 2, kInfinity);
      row_case.input(0).Set(2, columns / 2, NAN);
      for (int64_t column = 0; column < columns; ++column) row_case.input(0).Set(3, column, -kInfinity);
      row_case.RunJit();
      EXPECT_EQ(row_case.result(0).at(0, columns / 2), 0);
      for (int64_t column = 0; column < columns; ++column) {
        EXPECT_TRUE(std::isfinite(row_case.result(0).at(0, column)));
        for (int64_t row : {2, 3}) EXPECT_TRUE(std::isnan(row_case.result(0).at(row, column))) << row;
      }
      EXPECT_TRUE(std::isnan(row_case.result(0).at(1, columns / 2)));
    }
}

TEST_P(RowKernelTest, ResultsOfTheRow) {
  RowProgramBuilder b;
  const int x = b.Input({Dtype::kBf16, true, true}), y = b.Input({Dtype::kF32, false, true});
  b.Result(b.Op(Operation::kAdd, b.Op(Operation::kSum, x), y), Dtype::kBf16);
  b.Result(b.Op(Operation::kMaximum, x));
  for (int64_t columns : {1, 40, 130}) {
    RowCase row_case(b.program(), Plain(b.program(), 3), 5, columns, 2, target_);
    row_case.Fill(11);
    row_case.RunJit();
    EXPECT_TRUE(row_case.Matches());
  }
}

// C functions have those parameters only that are used.
template <size_t... kIndex>
void CallC(void* symbol, const std::vector<const void*>& arguments, std::index_sequence<kIndex...>) {
  using Any = const void*;
  reinterpret_cast<void (*)(decltype((void)kIndex, Any())...)>(symbol)(arguments[kIndex]...);
}

TEST_P(RowKernelTest, CHasTheSameBits) {
  std::string directory = (std::filesystem::temp_directory_path() / "kirsch-rows-XXXXXX").string();
  directory = mkdtemp(directory.data());
  std::vector<std::unique_ptr<RowCase>> cases;
  std::vector<LoopProgram> programs;
  RandomRows random(4), of_f64(5, Dtype::kF64);
  for (int round = 0; round < 100; ++round) {
    const bool wide = round >= 60;
    RandomRows& draws = wide ? of_f64 : random;
    RowProgram program = round == 0    ? Softmax()
                         : round == 1  ? LayerNorm(90)
                         : round == 60 ? Softmax(Dtype::kF64)
                                       : draws.Program();
    program.reduces_rows = round % 3 == 2;
    cases.push_back(
        std::make_unique<RowCase>(program, draws.Schedule(program, GetParam()), 2, 90, 1, target_));
    cases.back()->Fill(static_cast<uint32_t>(round));
    if (round % 2 == 0 && cases.back()->MayHaveAnyColumns()) cases.back()->CompileForAnyColumns(99);
    programs.push_back(cases.back()->Program(Cat("rows", round)));
  }
  std::vector<CKernel> kernels;
  for (const LoopProgram& program : programs) kernels.push_back({&program});
  const CStyle style = {"", "static __attribute__((noinline)) ", "helper", {}, "", false};
  std::ofstream(directory + "/rows.c") << "#include <immintrin.h>\n#include <stddef.h>\n#include <stdint.h>\n"
                                       << PrintC(kernels, style);
  int compilers = 0;
  for (const char* compiler : {"gcc", "clang-19"}) {
    if (std::system(Cat("command -v ", compiler, " > /dev/null 2>&1").c_str()) != 0) continue;
    ++compilers;
    const std::string library = Cat(directory, "/", compiler, ".so");
    const std::string command = Cat(compiler,
                                    " -std=c99 -O2 -shared -fPIC -Wall -Wextra -Werror -Wno-psabi "
                                    "-Wno-unused-parameter -Wno-unused-but-set-parameter -m",
                                    absl::StrJoin(target_.features, " -m"), " ", directory, "/rows.c -o ",
                                    library, " > ", directory, "/log 2>&1");
    if (std::system(command.c_str()) != 0) {
      std::ifstream log(directory + "/log");
      FAIL() << command << "\n" << std::string(std::istreambuf_iterator<char>(log), {}).substr(0, 3000);
    }
    void* handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(handle, nullptr) << dlerror();
    for (size_t i = 0; i < cases.size(); ++i) {
      void* const symbol = dlsym(handle, programs[i].name.c_str());
      ASSERT_NE(symbol, nullptr);
      cases[i]->RunJit();
      const std::vector<std::string> expected = cases[i]->ResultBytes();
      cases[i]->Run([&](const void* lhs, const void* rhs, void* out, void* scratch, const void* a,
                        const void* b, const void* c) {
        std::vector<const void*> arguments = {lhs, rhs};
        const std::vector<const void*> more = {a, b, c};
        arguments.insert(arguments.end(), more.begin(),
                         more.begin() + static_cast<std::ptrdiff_t>(programs[i].tensors.size()) - 3);
        arguments.push_back(out);
        arguments.push_back(scratch);
        arguments.resize(7);  // beyond what it takes: not looked at
        CallC(symbol, arguments, std::make_index_sequence<7>());
      });
      EXPECT_EQ(cases[i]->ResultBytes(), expected) << compiler << ": " << programs[i].name;
    }
    dlclose(handle);
  }
  std::filesystem::remove_all(directory);
  if (compilers == 0) GTEST_SKIP() << "no C compiler";
}

}  // namespace
}  // namespace kirsch::testing
