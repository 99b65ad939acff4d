// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "spec/epilogue.h"
#include "spec/program/program.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// Variables are printed as i and their number, buffers as b, kernels as k.
std::string Text(const Affine& affine) {
  std::string text;
  for (const Affine::Term& term : affine.terms)
    Append(&text, text.empty() ? "" : " + ", "i", term.index,
           term.times == kNoVar ? "" : Cat(" * i", term.times),
           term.coefficient == 1 ? "" : Cat(" * ", term.coefficient));
  if (text.empty()) return Cat(affine.constant);
  return affine.constant == 0 ? text : Cat(text, " + ", affine.constant);
}

// "(i0 + 7) / 8", or with "%" for what is left; a plain number if nothing is divided.
std::string Text(const Count& count) {
  const std::string of = Text(count.of);
  const std::string min_tail = count.min_tail == 0 ? "" : Cat(" keeping ", count.min_tail);
  return count.by == 1 ? of : Cat("(", of, ") ", count.left ? "%" : "/", " ", count.by, min_tail);
}

std::string Text(const TileShape& tile) {
  std::string text =
      Cat("tile ", Info(tile.tile.arithmetic).name, " ", tile.m, "x", tile.n.most(), " v", tile.tile.lanes,
          " ", tile.lhs.Name(), " * ", tile.rhs.Name(), " -> ", tile.out.Name());
  if (!tile.n.IsConstant()) Append(&text, " runtime n tail ", tile.n.most_of_symbol());
  if (tile.accumulate == 1) text += " accumulate";
  if (!tile.accumulate.IsConstant()) text += " runtime beta";
  if (!tile.k_tail.IsConstant()) text += " runtime k tail";
  if (tile.sum_levels != 0) Append(&text, " blocks ", tile.sum_levels);
  if (!tile.epilogue.empty())
    Append(&text, " epilogue=", PrintEpilogue(tile.epilogue, AccumulatorOf(tile.lhs.dtype)));
  if (tile.prefetch_out) text += " prefetch out";
  if (tile.prefetch_k() != 0) Append(&text, " prefetch k+", tile.prefetch_k());
  if (tile.prefetch_n() != 0)
    Append(&text, " prefetch n+", tile.prefetch_n(),
           tile.prefetches_in_order  ? " in order"
           : tile.prefetches_into_l2 ? " into L2"
                                     : "");
  if (tile.asked_lines != 0) Append(&text, " asks for ", tile.asked_lines, " lines of ", tile.asked.Name());
  return text;
}

std::string Text(const PackShape& pack) {
  const auto extent = [](const Size& size) {
    return size.symbol() == SizeSymbol::kCount ? "?" : Cat(size.most());
  };
  const bool has_last = pack.inner.symbol() == SizeSymbol::kLast;
  return Cat("pack ", extent(pack.outer), "x", extent(pack.inner), " ", pack.from.Name(),
             pack.inner_stride == 1 ? "" : Cat(" by ", pack.inner_stride), " -> ", pack.to.Name(),
             pack.exact ? " exactly" : "",
             has_last ? Cat(" runtime n tail ", pack.inner.most_of_symbol()) : "",
             pack.from_far ? " from far" : "");
}

std::string Text(const CopyShape& copy) {
  const std::string sizes =
      Cat(copy.planes, " of ", copy.height, "x", copy.width, " ", Info(copy.dtype).name);
  if (copy.transposes) return Cat("transpose ", sizes);
  const std::string images = copy.images == 1 && copy.padded_planes() == copy.planes
                                 ? ""
                                 : Cat(", planes ", copy.planes_before, " and ", copy.planes_after, ", ",
                                       copy.images, " images from ", copy.from_image, " apart");
  return Cat("pad ", sizes, " by ", copy.before, copy.after == copy.before ? "" : Cat(" and ", copy.after),
             ", rows ", copy.rows_before, " and ", copy.rows_after, ", from ", copy.from_plane, " apart",
             images);
}

std::string Text(const RowShape& rows) {
  std::string text = Cat("rows of ", rows.columns.IsConstant() ? "" : "up to ", rows.columns.most(), ":");
  for (const RowValue& value : rows.program.values)
    if (value.op != Operation::kLoad && value.op != Operation::kNumber)
      Append(&text, " ", Info(value.op).name);
  if (rows.program.reduces_rows) text += ", down the columns";
  if (rows.schedule.online) text += ", online";
  if (rows.in_place) text += ", in place";
  return text;
}

std::string Text(const TransformShape& transform) { return Cat("transform ", transform.Name()); }

std::string_view Name(Memory memory) {
  constexpr std::string_view kNames[] = {"own", "shared", "packed", "caller"};
  return kNames[static_cast<size_t>(memory)];
}

class ProgramPrinter {
 public:
  explicit ProgramPrinter(const Program& program) : program_(program) {}

  std::string Print() && {
    for (size_t i = 0; i < program_.symbols.size(); ++i) {
      const SymbolRange& range = program_.symbols[i];
      Line(Cat("size ", range.name, " = i", i, ": ", range.least, "..", range.most));
    }
    for (size_t i = 0; i < program_.buffers.size(); ++i) Print(i, program_.buffers[i]);
    for (size_t i = 0; i < program_.kernels.size(); ++i)
      Line(Cat("kernel k", i, ": ",
               std::visit([](const auto& shape) { return Text(shape); }, program_.kernels[i])));
    if (!program_.prepack.empty()) Nest("ahead", program_.prepack);
    Nest("program", program_.body);
    return std::move(text_);
  }

 private:
  void Print(size_t number, const Program::Buffer& buffer) {
    const bool caller = buffer.memory == Memory::kCaller;
    Line(Cat("buffer b", number, " ", buffer.name, ": ", Name(buffer.memory), ", ", buffer.bytes, " bytes",
             caller ? Cat(" of ", Info(buffer.dtype).name) : Cat(" at ", buffer.offset),
             buffer.constant ? ", constant" : ""));
  }

  void Print(const Body& body) {
    for (const Node& node : body) std::visit([&](const auto& shape) { Print(shape); }, node.shape);
  }
  void Print(const Loop& loop) {
    const std::string variable = Cat("i", loop.variable);
    if (!loop.first.empty()) Nest(Cat("first, ", variable, " = 0"), loop.first);
    Nest(Cat("loop ", variable, loop.first.empty() ? " < " : " from 1 < ", Text(loop.trips)), loop.body);
    if (!loop.rest.empty()) Nest(Cat("rest, ", variable, " = ", Text(loop.trips)), loop.rest);
  }
  void Print(const Let& let) { Nest(Cat("with i", let.variable, " = ", Text(let.value)), let.body); }
  void Print(const OneOf& one_of) {
    for (size_t i = 0; i < one_of.bodies.size(); ++i)
      Nest(Cat("if i", one_of.variable, " = ", one_of.least + static_cast<int64_t>(i)), one_of.bodies[i]);
  }
  void Print(const Task& task) { Nest(Cat("task ", Text(task.task)), task.body); }
  void Print(const Phase& phase) { Nest(Cat("phase ", phase.phase), phase.body); }
  void Print(const KernelRun& run) {
    std::string at;
    for (const OperandPlace& place : run.at) {
      Append(&at, at.empty() ? "" : ", ", "b", place.buffer);
      if (place.offset != Affine{}) Append(&at, " + ", Text(place.offset));
    }
    Line(Cat("k", run.kernel, "(", at, run.count == Whole(1) ? "" : Cat("; ", Text(run.count)),
             run.last == Affine{} ? "" : Cat("; last ", Text(run.last)),
             run.adds == Affine{} ? "" : Cat("; adds ", Text(run.adds)), ")"));
  }

  void Nest(const std::string& head, const Body& body) {
    Line(head + ":");
    ++depth_;
    Print(body);
    --depth_;
  }
  void Line(std::string_view line) { Append(&text_, std::string(2 * depth_, ' '), line, "\n"); }

  const Program& program_;
  std::string text_;
  size_t depth_ = 0;
};

}  // namespace

std::string PrintMemory(const Program& program) {
  std::vector<const Program::Buffer*> values;
  for (const Program::Buffer& buffer : program.buffers)
    if (buffer.memory != Memory::kCaller && !buffer.temporary) values.push_back(&buffer);
  std::ranges::stable_sort(
      values, [](const Program::Buffer* a, const Program::Buffer* b) { return a->bytes > b->bytes; });
  std::string text;
  for (const Program::Buffer* value : values)
    Append(&text, "buffer ", value->name, ": ", value->bytes, " bytes at ", value->offset,
           value->memory == Memory::kOwn ? "" : Cat(", ", Name(value->memory)), "\n");
  return text;
}

std::string PrintProgram(const Program& program) { return ProgramPrinter(program).Print(); }

}  // namespace kirsch
