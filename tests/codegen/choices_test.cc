// What is chosen by numbers of rows at run time, as procedures.
#include "codegen/loop/choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "codegen/loop/loop_text.h"
#include "codegen/loop/procedure_builder.h"

namespace kirsch {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

int Count(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

constexpr int64_t kHeight = 3, kStride = 100, kBlock = 16;  // of tiles; of rows of both operands; of columns

// Columns from `first` on, block by block, of any number of rows: whole tiles, then what is left, `left` rows
// apart.
class Entry {
 public:
  Entry() {
    from_ = builder_.PointerParameter("from", Dtype::kF32, false);
    to_ = builder_.PointerParameter("to", Dtype::kF32, true);
    rows_ = builder_.IndexParameter("m");
  }
  void Columns(int64_t first, int64_t left) {
    builder_.Loop(Constant(4), [&](VarId block) {
      const Affine column = Plus(Constant(first), block, kBlock);
      const VarId whole = builder_.Quotient(IndexOf(rows_), kHeight, false);
      builder_.Loop(IndexOf(whole), [&](VarId tile) { Tile(Plus(column, tile, kHeight * kStride)); });
      const VarId rest = builder_.Quotient(IndexOf(rows_), kHeight, true);
      builder_.SwitchOn(rest, 1, kHeight - 1, [&](size_t row) {
        Tile(Plus(Plus(column, static_cast<int64_t>(row) * left), whole, kHeight * kStride));
      });
    });
  }
  ProcedureBuilder& builder() { return builder_; }

  LoopProgram Build() && {
    ProcedureBuilder tile("tile");
    tile.PointerParameter("lhs", Dtype::kF32, false);
    tile.PointerParameter("out", Dtype::kF32, true);
    tile.IndexParameter("trips");
    LoopProgram program;
    program.name = "entry";
    program.procedures.push_back(std::move(builder_).Build());
    program.procedures.push_back(std::move(tile).Build());
    return program;
  }

 private:
  void Tile(const Affine& at) { builder_.Do(Call{1, {{from_, at}, {to_, at}}, {Constant(7)}}); }

  ProcedureBuilder builder_{"entry"};
  VarId from_, to_, rows_;
};

TEST(Choices, EqualOnesAreOneProcedure) {
  Entry entry;
  entry.Columns(0, kStride);
  entry.Columns(64, kStride);
  LoopProgram program = std::move(entry).Build();
  ShareChoices(&program);
  ASSERT_EQ(program.procedures.size(), 3u);
  const std::string name = program.procedures[2].name;
  EXPECT_EQ(ProcedureText(program, program.procedures[0]),
            "entry(from, to, m)\n"
            "  for i3 < 4\n"
            "    call " +
                name +
                "(from + i3 * 16, to + i3 * 16, m)\n"
                "  for i7 < 4\n"
                "    call " +
                name + "(from + i7 * 16 + 64, to + i7 * 16 + 64, m)\n");
  EXPECT_EQ(ProcedureText(program, program.procedures[2]),
            name +
                "(lhs, out, size)\n"
                "  whole3 = (size) / 3\n"
                "  for i4 < whole3\n"
                "    call tile(lhs + i4 * 300, out + i4 * 300, 7)\n"
                "  left5 = (size) % 3\n"
                "  if left5 = 1\n"
                "    call tile(lhs + whole3 * 300, out + whole3 * 300, 7)\n"
                "  if left5 = 2\n"
                "    call tile(lhs + whole3 * 300 + 100, out + whole3 * 300 + 100, 7)\n");
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
  ASSERT_EQ(procedure.num_parameters, 4);
  EXPECT_FALSE(procedure.vars[0].may_alias);
  EXPECT_TRUE(procedure.vars[1].may_alias);
  EXPECT_TRUE(procedure.vars[2].may_alias);
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
