// SPDX-License-Identifier: Apache-2.0
#include "codegen/loop/loop_text.h"

#include "absl/strings/str_cat.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

const std::string& NameOf(const Procedure& procedure, VarId id) {
  return procedure.vars[static_cast<size_t>(id)].name;
}

// Prints one procedure. There is an overload of Print for each alternative of Stmt, in their order.
class TextPrinter {
 public:
  TextPrinter(const LoopProgram& program, const Procedure& procedure)
      : program_(program), procedure_(procedure) {}

  std::string Print() {
    PrintBlock(procedure_.body);
    return std::move(text_);
  }

 private:
  static const char* Sign(BinaryOp op) {
    constexpr std::array<const char*, 9> kSigns = {" + ", " - ", " * ", " max ", " min ",
                                                   " / ", " & ", " | ", " ^ "};
    return kSigns[static_cast<size_t>(op)];
  }
  // A variable that is missing stands for zeros (Interleave, LaneSums).
  std::string Name(VarId id) const { return id == kNoVar ? "0" : NameOf(procedure_, id); }
  std::string At(const Address& address) const { return Cat("[", AddressText(procedure_, address), "]"); }
  int Lanes(VarId id) const { return procedure_.vars[static_cast<size_t>(id)].lanes; }

  template <typename... Parts>
  void Line(const Parts&... parts) {
    Append(&text_, std::string(static_cast<size_t>(2 * depth_), ' '), parts..., "\n");
  }
  void PrintBlock(const std::vector<Stmt>& block) {
    for (const Stmt& stmt : block) std::visit([this](const auto& op) { Print(op); }, stmt.op);
  }
  void PrintNested(const std::vector<Stmt>& block) {
    ++depth_;
    PrintBlock(block);
    --depth_;
  }
  // Returns which lanes an access covers, or nothing if it covers all.
  std::string Count(VarId vector, const LaneCount& count) const {
    if (count.index != kNoVar) return Cat(" lanes ", Name(count.index));
    return count.IsAll(Lanes(vector)) ? "" : Cat(" lanes ", count.most);
  }

  void Print(const Zero& op) { Line(Name(op.to), " = 0"); }
  void Print(const Load& op) { Line(Name(op.to), " = load ", At(op.from), Count(op.to, op.count)); }
  // Only a broadcast of less than a word says how many elements it has.
  void Print(const Broadcast& op) {
    const bool whole = op.count == WordElements(procedure_.vars[static_cast<size_t>(op.to)].dtype);
    Line(Name(op.to), " = broadcast ", At(op.from), whole ? "" : Cat(" elements ", op.count));
  }
  void Print(const BroadcastPower& op) { Line(Name(op.to), " = power of two ", At(op.from)); }
  void Print(const LoadNibbles& op) { Line(Name(op.to), " = nibbles ", At(op.from)); }
  void Print(const Store& op) {
    Line(op.streams ? "stream " : "store ", At(op.to), " = ", Name(op.from), Count(op.from, op.count));
  }
  void Print(const MultiplyAdd& op) { Line(Name(op.accumulator), " += ", Name(op.a), " * ", Name(op.b)); }
  void Print(const Binary& op) { Line(Name(op.to), " = ", Name(op.a), Sign(op.op), Name(op.b)); }
  void Print(const Fma& op) {
    if (op.sign == FmaSign::kNegate)
      return Line(Name(op.to), " = ", Name(op.c), " - ", Name(op.a), " * ", Name(op.b));
    Line(Name(op.to), " = ", Name(op.a), " * ", Name(op.b), op.sign == FmaSign::kAdd ? " + " : " - ",
         Name(op.c));
  }
  void Print(const SquareRoot& op) { Line(Name(op.to), " = sqrt ", Name(op.from)); }
  void Print(const RoundToInteger& op) {
    constexpr std::array<const char*, 3> kNames = {" = round ", " = floor ", " = ceil "};
    Line(Name(op.to), kNames[static_cast<size_t>(op.rounding)], Name(op.from));
  }
  void Print(const Scale& op) { Line(Name(op.to), " = ", Name(op.a), " * 2^", Name(op.exponent)); }
  void Print(const Lookup& op) {
    Line(Name(op.to), " = ", Name(op.from), " of {", Join(op.table, ", "), "}");
  }
  void Print(const FillBytes& op) { Line(Name(op.to), " = {", Join(op.bytes, ", "), "}"); }
  void Print(const LookupPair& op) {
    Line(Name(op.to), " = ", Name(op.from), " of ", Name(op.first), ", ", Name(op.second));
  }
  void Print(const Unpack& op) {
    Line(Name(op.to), " = ", op.second ? "second" : "first", " halves of ", Name(op.low), ", ",
         Name(op.high));
  }
  void Print(const ForUnpacking& op) {
    Line(Name(op.to), " = ", Name(op.from), " to be unpacked ", op.times, op.times == 1 ? " time" : " times");
  }
  void Print(const Shift& op) { Line(Name(op.to), " = ", Name(op.from), " shifted left by ", op.left); }
  void Print(const Bits& op) { Line(Name(op.to), " = bits of ", Name(op.from)); }
  void Print(const Select& op) {
    constexpr std::array<const char*, 3> kSigns = {" < ", " <= ", " == "};
    Line(Name(op.to), " = ", Name(op.x), kSigns[static_cast<size_t>(op.comparison)], Name(op.y), " ? ",
         Name(op.a), " : ", Name(op.b));
  }
  void Print(const FirstLanes& op) {
    Line(Name(op.to), " = ", Name(op.a), Count(op.a, op.count), ", then ", Name(op.b));
  }
  void Print(const Across& op) { Line(Name(op.to), " = across", Sign(op.op), Name(op.from)); }
  void Print(const Fill& op) { Line(Name(op.to), " = fill 0x", absl::Hex(op.word)); }
  void Print(const FillIndex& op) {
    Line(Name(op.to), op.ascending ? " = lanes from " : " = ", AffineText(procedure_, op.first));
  }
  void Print(const Convert& op) { Line(Name(op.to), " = convert ", Name(op.from)); }
  void Print(const LaneSums& op) { Line(Name(op.to), " = lane sums of ", Names(op.from)); }
  void Print(const Transpose& op) { Line("transpose ", Names(op.rows)); }
  void Print(const TransposeParts& op) { Line("transpose parts ", Names(op.rows)); }
  void Print(const Interleave& op) { Line(Name(op.to), " = interleaved ", Names(op.from)); }
  void Print(const GroupLane& op) {
    Line(Name(op.to), " = lane ", op.lane, " of each ", op.group, " of ", Name(op.from));
  }
  void Print(const Deinterleave& op) { Line("deinterleave ", Name(op.even), ", ", Name(op.odd)); }
  void Print(const SplitPairs& op) { Line(Name(op.even), ", ", Name(op.odd), " = split ", Name(op.from)); }
  void Print(const Fence&) { Line("fence"); }
  void Print(const Keep& op) { Line("keep ", Name(op.vector)); }
  void Print(const Prefetch& op) { Line(op.into_l2 ? "prefetch L2 " : "prefetch ", At(op.at)); }
  void Print(const ToLine& op) { Line(Name(op.index), " = to line ", Name(op.pointer)); }
  void Print(const TileConfigure& op) { Line("configure tiles of rows ", Join(op.rows, ", ")); }
  void Print(const TileRelease&) { Line("release tiles"); }
  void Print(const TileZero& op) { Line("tile", op.tile, " = 0"); }
  void Print(const TileLoad& op) {
    Line("tile", op.tile, " = load ", At(op.from), " rows apart ", AffineText(procedure_, op.stride));
  }
  void Print(const TileStore& op) {
    Line("store ", At(op.to), " = tile", op.tile, " rows apart ", AffineText(procedure_, op.stride));
  }
  void Print(const TileMultiplyAdd& op) {
    Line("tile", op.accumulator, " += tile", op.lhs, " * tile", op.rhs, " by ", Info(op.arithmetic).name);
  }
  void Print(const Drain&) { Line("drain"); }
  void Print(const Advance& op) { Line(Name(op.pointer), " += ", AffineText(procedure_, op.by)); }
  void Print(const Call& op) {
    std::vector<std::string> arguments;
    for (const Address& pointer : op.pointers) arguments.push_back(AddressText(procedure_, pointer));
    for (const Affine& count : op.counts) arguments.push_back(AffineText(procedure_, count));
    Line("call ", program_.procedures[static_cast<size_t>(op.procedure)].name, "(", Join(arguments, ", "),
         ")");
  }
  void Print(const Divide& op) {
    Line(Name(op.index), " = (", AffineText(procedure_, op.of), op.left ? ") % " : ") / ", op.by,
         op.min_tail == 0 ? "" : Cat(" keeping ", op.min_tail));
  }
  void Print(const LoadIndex& op) { Line(Name(op.index), " = index ", At(op.from), " below ", op.below); }
  void Print(const IfAny& op) {
    Line("if ", Name(op.index));
    PrintNested(op.body);
  }
  void Print(const Switch& op) {
    for (size_t i = 0; i < op.bodies.size(); ++i) {
      Line("if ", Name(op.index), " = ", op.least + static_cast<int64_t>(i));
      PrintNested(op.bodies[i]);
    }
  }
  void Print(const For& op) {
    Line("for ", Name(op.index), " < ", AffineText(procedure_, op.count));
    PrintNested(op.body);
  }
  void Print(const ForBlocks& op) {
    Line("for wanted ", Name(op.index), " < ", op.count);
    PrintNested(op.body);
  }
  void Print(const OnThread& op) {
    Line("task ", AffineText(procedure_, op.task));
    PrintNested(op.body);
  }
  void Print(const InPhase& op) {
    Line("phase ", op.phase);
    PrintNested(op.body);
  }

  // A list that is not full ends with zeros.
  std::string Names(const std::array<VarId, 4>& ids) const {
    return Cat(Name(ids[0]), ", ", Name(ids[1]), ", ", Name(ids[2]), ", ", Name(ids[3]));
  }

  const LoopProgram& program_;
  const Procedure& procedure_;
  std::string text_;
  int depth_ = 1;
};

}  // namespace

std::string AffineText(const Procedure& procedure, const Affine& affine) {
  std::vector<std::string> parts;
  for (const Affine::Term& term : affine.terms)
    parts.push_back(Cat(NameOf(procedure, term.index),
                        term.times == kNoVar ? "" : Cat(" * ", NameOf(procedure, term.times)),
                        term.coefficient == 1 ? "" : Cat(" * ", term.coefficient)));
  if (affine.constant != 0 || parts.empty()) parts.push_back(Cat(affine.constant));
  return Join(parts, " + ");
}

std::string AddressText(const Procedure& procedure, const Address& address) {
  const std::string& pointer = NameOf(procedure, address.pointer);
  if (address.offset.constant == 0 && address.offset.terms.empty()) return pointer;
  return Cat(pointer, " + ", AffineText(procedure, address.offset));
}

std::string ProcedureText(const LoopProgram& program, const Procedure& procedure) {
  std::vector<std::string> parameters;
  for (int i = 0; i < procedure.num_parameters; ++i) parameters.push_back(NameOf(procedure, i));
  return Cat(procedure.name, "(", Join(parameters, ", "), ")\n", TextPrinter(program, procedure).Print());
}

std::string LoopText(const LoopProgram& program) {
  std::string text = Cat(program.name, ": scratch ", program.scratch_bytes, " bytes, tasks ", program.tasks,
                         ", features ", Join(program.features, " "), "\n");
  if (program.packing)
    Append(&text, "tensor ", program.packing->place, " packed ahead into ", program.packing->bytes,
           " bytes by ", program.procedures[static_cast<size_t>(program.packing->procedure)].name, "\n");
  for (const Procedure& procedure : program.procedures) text += ProcedureText(program, procedure);
  return text;
}

namespace {

constexpr size_t kDigits = 16;

// FNV-1a. std::hash may differ between libraries and runs, which names of procedures must not.
uint64_t HashOf(const std::string& text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

}  // namespace

std::string HashedName(const std::string& stem, const std::string& text) {
  return Cat(stem, "_", absl::Hex(HashOf(text), absl::kZeroPad16));
}

std::string WithoutHash(const std::string& name) {
  const size_t end = name.rfind('_');
  const bool hashed = end != name.npos && name.size() - end - 1 == kDigits &&
                      name.find_first_not_of("0123456789abcdef", end + 1) == name.npos;
  return hashed ? name.substr(0, end) : name;
}

}  // namespace kirsch
