// SPDX-License-Identifier: Apache-2.0
// What is chosen by numbers of rows at run time, as procedures.
#include "codegen/loop/choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>

#include "codegen/loop/loop_text.h"
#include "codegen/loop/procedure_builder.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

int Count(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

constexpr int64_t kHeight = 3, kStride = 100, kBlock = 16;  // of tiles; of rows of both operands; of columns

// What an entry has of any number of rows: whole tiles, then what is left, `left` rows apart.
class Entry {
 public:
  Entry() {
    from_ = builder_.PointerParameter("from", Dtype::kF32, false);
    to_ = builder_.PointerParameter("to", Dtype::kF32, true);
    rows_ = builder_.IndexParameter("m");
  }
  // Columns from `first` on, block by block.
  void Columns(int64_t first, int64_t left, int64_t adds = 0) {
    builder_.Loop(Constant(4), [&](VarId block) {
      Rows(IndexOf(rows_), Plus(Constant(first), block, kBlock), left, {adds, adds});
    });
  }
  // `adds`: whether whole tiles add to the output, and whether what is left does.
  void Rows(const Affine& rows, const Affine& at, int64_t left, std::array<int64_t, 2> adds) {
    const VarId whole = builder_.Quotient(rows, kHeight, false);
    builder_.Loop(IndexOf(whole), [&](VarId tile) { Tile(Plus(at, tile, kHeight * kStride), adds[0]); });
    const VarId rest = builder_.Quotient(rows, kHeight, true);
    builder_.SwitchOn(rest, 1, kHeight - 1, [&](size_t row) {
      Tile(Plus(Plus(at, static_cast<int64_t>(row) * left), whole, kHeight * kStride), adds[1]);
    });
  }
  // Blocks of so many rows, of a single tile each, and then what is left in tiles.
  void Blocks(int64_t height) {
    const VarId blocks = builder_.Quotient(IndexOf(rows_), height, false);
    builder_.Loop(IndexOf(blocks), [&](VarId block) { Tile(Plus({}, block, height * kStride), 0); });
    const VarId left = builder_.Quotient(IndexOf(rows_), height, true);
    builder_.WithAny(left, [&] { Rows(IndexOf(left), Plus({}, blocks, height * kStride), kStride, {0, 0}); });
  }
  ProcedureBuilder& builder() { return builder_; }
  VarId rows() const { return rows_; }

  LoopProgram Build() && {
    ProcedureBuilder tile("tile");
    tile.PointerParameter("lhs", Dtype::kF32, false);
    tile.PointerParameter("out", Dtype::kF32, true);
    tile.IndexParameter("trips");
    tile.IndexParameter(kAddsParameter);
    LoopProgram program;
    program.name = "entry";
    program.procedures.push_back(std::move(builder_).Build());
    program.procedures.push_back(std::move(tile).Build());
    return program;
  }

 private:
  void Tile(const Affine& at, int64_t adds) {
    builder_.Do(Call{1, {{from_, at}, {to_, at}}, {Constant(7), Constant(adds)}});
  }

  ProcedureBuilder builder_{"entry"};
  VarId from_, to_, rows_;
};

TEST(Choices, EqualOnesAreOneProcedure) {
  Entry entry;
  entry.Columns(0, kStride);
  entry.Columns(64, kStride, 1);
  LoopProgram program = std::move(entry).Build();
  ShareChoices(&program);
  ASSERT_EQ(program.procedures.size(), 3u);
  const std::string name = program.procedures[2].name;
  EXPECT_EQ(ProcedureText(program, program.procedures[0]),
            "entry(from, to, m)\n"
            "  for i3 < 4\n"
            "    call " +
                name +
                "(from + i3 * 16, to + i3 * 16, m, 0)\n"
                "  for i7 < 4\n"
                "    call " +
                name + "(from + i7 * 16 + 64, to + i7 * 16 + 64, m, 1)\n");
  EXPECT_EQ(ProcedureText(program, program.procedures[2]),
            name +
                "(lhs, out, size, add)\n"
                "  whole4 = (size) / 3\n"
                "  for i5 < whole4\n"
                "    call tile(lhs + i5 * 300, out + i5 * 300, 7, add)\n"
                "  left6 = (size) % 3\n"
                "  if left6 = 1\n"
                "    call tile(lhs + whole4 * 300, out + whole4 * 300, 7, add)\n"
                "  if left6 = 2\n"
                "    call tile(lhs + whole4 * 300 + 100, out + whole4 * 300 + 100, 7, add)\n");
}

TEST(Choices, OthersAreNot) {
  Entry entry;
  entry.Columns(0, kStride);
  entry.Columns(0, 2 * kStride);
  LoopProgram program = std::move(entry).Build();
  ShareChoices(&program);
  ASSERT_EQ(program.procedures.size(), 4u);
  EXPECT_NE(program.procedures[2].name, program.procedures[3].name);
}

// Places of lhs and of out that differ by something else are no other places.
TEST(Choices, OperandsOfOneBufferAreParameters) {
  Entry entry;
  entry.Columns(0, kStride);
  entry.Columns(0, kStride);
  LoopProgram program = std::move(entry).Build();
  int64_t distance = 0;
  for (Stmt& stmt : program.procedures[0].body) {
    For& columns = std::get<For>(stmt.op);
    distance += 5000;
    const auto read_output = [&](Stmt& call) {
      Address& lhs = std::get<Call>(call.op).pointers[0];
      lhs = {1, Plus(lhs.offset, distance)};
    };
    read_output(std::get<For>(columns.body[1].op).body.front());
    for (auto& body : std::get<Switch>(columns.body.back().op).bodies) read_output(body.front());
  }
  ShareChoices(&program);
  ASSERT_EQ(program.procedures.size(), 3u);
  EXPECT_THAT(ProcedureText(program, program.procedures[0]),
              AllOf(HasSubstr("(to + i3 * 16 + 5000, to + i3 * 16, m, 0)"),
                    HasSubstr("(to + i7 * 16 + 10000, to + i7 * 16, m, 0)")));
}

// The first block of a reduction, and then in a loop the others, which add to the output.
TEST(Choices, EndWithWhatFollowsFromTheirNumbers) {
  Entry entry;
  const Affine rows = IndexOf(entry.rows());
  entry.Rows(rows, Constant(0), kStride, {0, 0});
  entry.builder().Loop(Constant(3), [&](VarId block) {
    entry.Rows(rows, Plus(Constant(kBlock), block, kBlock), kStride, {1, 1});
  });
  LoopProgram program = std::move(entry).Build();
  ShareChoices(&program);
  ASSERT_EQ(program.procedures.size(), 3u);
  const std::string name = program.procedures[2].name;
  EXPECT_EQ(ProcedureText(program, program.procedures[0]),
            "entry(from, to, m)\n"
            "  call " +
                name +
                "(from, to, m, 0)\n"
                "  for i6 < 3\n"
                "    call " +
                name + "(from + i6 * 16 + 16, to + i6 * 16 + 16, m, 1)\n");
}

TEST(Choices, OnlySomeOfWhoseTilesAddTakeNothing) {
  Entry entry;
  entry.Rows(IndexOf(entry.rows()), Constant(0), kStride, {0, 1});
  LoopProgram program = std::move(entry).Build();
  ShareChoices(&program);
  ASSERT_EQ(program.procedures.size(), 3u);
  const std::string text = ProcedureText(program, program.procedures[2]);
  EXPECT_THAT(text, HasSubstr("(lhs, out, size)\n"));
  EXPECT_EQ(Count(text, ", 7, 0)"), 1);
  EXPECT_EQ(Count(text, ", 7, 1)"), 2);
}

TEST(Choices, AreSharedInsideOfOthers) {
  Entry entry;
  entry.Blocks(10 * kHeight);
  entry.Blocks(20 * kHeight);
  LoopProgram program = std::move(entry).Build();
  ShareChoices(&program);
  ASSERT_EQ(program.procedures.size(), 5u);  // the tiles of what is left, and blocks of both heights
  const std::string tiles = Cat("call ", program.procedures[2].name, "(");
  EXPECT_EQ(Count(ProcedureText(program, program.procedures[2]), "call tiles_"), 0);
  for (size_t blocks : {3u, 4u}) {
    const std::string text = ProcedureText(program, program.procedures[blocks]);
    EXPECT_EQ(Count(text, "call tiles_"), 1);
    EXPECT_EQ(Count(text, tiles), 1);
  }
}

// Of kernels alone, in loops or not, nothing is to be chosen.
TEST(Choices, CountsOfOneCallStayBesideIt) {
  Entry entry;
  entry.builder().Loop(Constant(4), [&](VarId) {
    const VarId steps = entry.builder().Quotient(IndexOf(entry.rows()), 16, false);
    entry.builder().Do(Call{1, {At(0), At(1)}, {IndexOf(steps), Constant(0)}});
  });
  LoopProgram program = std::move(entry).Build();
  ShareChoices(&program);
  EXPECT_EQ(program.procedures.size(), 2u);
}

TEST(Choices, PlacesOfOneBufferMayAlias) {
  Entry entry;
  entry.Columns(0, kStride);
  LoopProgram program = std::move(entry).Build();
  for (Stmt& stmt : program.procedures[0].body) {
    Switch& rest = std::get<Switch>(std::get<For>(stmt.op).body.back().op);
    Call& call = std::get<Call>(rest.bodies[0].back().op);
    call.pointers[0] = {call.pointers[1].pointer, Constant(5000)};  // from where it is stored to
  }
  ShareChoices(&program);
  const Procedure& procedure = program.procedures.back();
  ASSERT_EQ(procedure.num_parameters, 5);
  for (size_t pointer : {0u, 1u, 2u}) EXPECT_TRUE(procedure.vars[pointer].may_alias);
}

TEST(Choices, TasksStayInTheEntry) {
  Entry entry;
  entry.builder().OnThreadOf(Constant(0), [&] { entry.Columns(0, kStride); });
  LoopProgram program = std::move(entry).Build();
  ShareChoices(&program);
  const std::string text = ProcedureText(program, program.procedures[0]);
  EXPECT_EQ(Count(text, "task 0"), 1);
  EXPECT_THAT(text, HasSubstr("call tiles_"));
  EXPECT_THAT(text, Not(HasSubstr("left")));
}

}  // namespace
}  // namespace kirsch
