// SPDX-License-Identifier: Apache-2.0
#include "codegen/c/c_printer.h"

#include <algorithm>
#include <array>
#include <concepts>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "codegen/c/c_index_names.h"
#include "codegen/c/c_macros.h"
#include "codegen/c/c_signature.h"
#include "codegen/c/c_vectors.h"
#include "codegen/loop/loop_text.h"
#include "spec/text/cat.h"

namespace kirsch {
namespace {

// True if the statement gives the vector another value. Most statements call what they set `to`.
bool Sets(const Stmt& stmt, VarId var) {
  return std::visit(
      [var](const auto& op) {
        if constexpr (requires {
                        { op.to } -> std::convertible_to<VarId>;
                      })
          return op.to == var;
        if constexpr (requires { op.odd; }) return op.even == var || op.odd == var;
        return false;
      },
      stmt.op);
}

// True if the statement multiplies by the broadcast, which is the first factor.
bool Multiplies(const Stmt& stmt, VarId var) {
  const auto* const op = std::get_if<MultiplyAdd>(&stmt.op);
  return op != nullptr && op->a == var;
}

// True if the multiply-add of that number is the last of at least two with the same broadcast, `var`. With 32
// registers a trip adds to each sum several times. GCC then lets the last multiply-add overwrite the
// broadcast, and copies the sum to where it belongs. Multiply-adds of integers have no such form. A broadcast
// that is used once may be in memory.
bool LastOfSeveral(const std::vector<Stmt>& block, size_t number, VarId var) {
  for (size_t i = number + 1; i < block.size() && !Sets(block[i], var); ++i)
    if (Multiplies(block[i], var)) return false;
  for (size_t i = number; i > 0 && !Sets(block[i - 1], var); --i)
    if (Multiplies(block[i - 1], var)) return true;
  return false;
}

// True if one of the first `number` statements adds to the accumulator.
bool AddsBefore(const std::vector<Stmt>& block, size_t number, VarId accumulator) {
  return std::any_of(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(number),
                     [=](const Stmt& stmt) {
                       const auto* const op = std::get_if<MultiplyAdd>(&stmt.op);
                       return op != nullptr && op->accumulator == accumulator;
                     });
}

// Returns the 64 bytes that configure tiles, as a string of octal escapes: a constant that needs no variable.
std::string TileConfiguration(const TileRows& rows) {
  std::string text = "\"";
  for (uint8_t byte : TileConfigurationBytes(rows)) Append(&text, "\\", byte >> 6, byte >> 3 & 7, byte & 7);
  return text + "\"";
}

// Prints the body of one function: declarations of its vectors, then a line or a block for each statement.
// Parameters, attributes and names are for the callers.
class FunctionPrinter {
 public:
  // `callees`: the C names of the procedures that this one may call.
  FunctionPrinter(const LoopProgram& program, const Procedure& procedure, const CStyle& style,
                  const std::vector<std::string>& callees)
      : program_(program),
        procedure_(WithScopedNames(procedure)),
        style_(style),
        callees_(callees),
        vectors_(program, style.macros) {}

  std::string Print() {
    DeclareVectors();
    PrintBlock(procedure_.body);
    return std::move(text_);
  }

 private:
  const std::string& Name(VarId id) const { return procedure_.vars[static_cast<size_t>(id)].name; }
  const Var& VarOf(VarId id) const { return procedure_.vars[static_cast<size_t>(id)]; }
  Dtype MemoryType(const Address& address) const { return VarOf(address.pointer).dtype; }
  CCount PrintCount(const LaneCount& count) const {
    return {count.most, count.index == kNoVar ? "" : Name(count.index)};
  }
  std::string Text(const Affine& affine) const { return AffineText(procedure_, affine); }
  // Prints the constant even if it is 0. So all rows of a register tile read alike, and c_macros.h finds that
  // they differ in numbers only.
  std::string Text(const Address& address) const {
    return Cat(AddressText(procedure_, address), address.offset.constant == 0 ? " + 0" : "");
  }

  template <typename... Parts>
  void Line(const Parts&... parts) {
    Append(&text_, std::string(static_cast<size_t>(2 * depth_), ' '), parts..., "\n");
  }

  // Declares neighbours of one type together, on one line.
  void DeclareVectors() {
    for (size_t i = 0; i < procedure_.vars.size(); ++i)
      if (procedure_.vars[i].type == VarType::kVector) {
        const std::string type = vectors_.VariableType(procedure_.vars[i]);
        std::string names = procedure_.vars[i].name;
        while (i + 1 < procedure_.vars.size() && IsVectorOf(procedure_.vars[i + 1], type))
          Append(&names, ", ", procedure_.vars[++i].name);
        Line(type, " ", names, ";");
      }
    // An array on the stack is declared as vectors, so that it is aligned to them. A pointer to its elements
    // gets the variable's name.
    for (const Var& var : procedure_.vars) {
      if (var.elements == 0) continue;
      Line(CVectorType(var), " ", var.name, "_vectors[", var.elements / var.lanes, "];");
      Line(CType(var.dtype), "* const ", var.name, " = (", CType(var.dtype), "*)", var.name, "_vectors;");
    }
  }

  bool IsVectorOf(const Var& var, const std::string& type) const {
    return var.type == VarType::kVector && vectors_.VariableType(var) == type;
  }

  // Loads and multiply-adds are printed with a view of their block: whether the compiler needs a hint depends
  // on the statements around them.
  void PrintBlock(const std::vector<Stmt>& block) {
    for (size_t i = 0; i < block.size(); ++i) {
      std::visit(
          [&](const auto& op) {
            if constexpr (std::same_as<decltype(op), const MultiplyAdd&>)
              PrintMultiplyAdd(block, i, op);
            else if constexpr (std::same_as<decltype(op), const Load&>)
              PrintLoad(block, i, op);
            else
              Print(op);
          },
          block[i].op);
    }
  }
  void PrintNested(const std::vector<Stmt>& block) {
    ++depth_;
    PrintBlock(block);
    --depth_;
    Line("}");
  }

  // Prints the statements of one operation. Several are put into a block of their own, so that their
  // temporaries may have the same names everywhere.
  void PrintStatements(const std::vector<std::string>& statements) {
    if (statements.size() == 1) return Line(statements[0]);
    Line("{");
    ++depth_;
    for (const std::string& statement : statements) Line(statement);
    --depth_;
    Line("}");
  }
  // Returns null where there is no vector.
  std::array<const Var*, 4> VarsOf(const std::array<VarId, 4>& ids) const {
    std::array<const Var*, 4> vars = {};
    for (size_t i = 0; i < ids.size(); ++i)
      if (ids[i] != kNoVar) vars[i] = &VarOf(ids[i]);
    return vars;
  }

  void Set(VarId to, const std::string& value) { Line(vectors_.Set(VarOf(to), value)); }

  void Print(const Zero& op) { Set(op.to, vectors_.Zero(VarOf(op.to))); }
  void Print(const Broadcast& op) {
    Set(op.to, op.as ? vectors_.BroadcastBytes(VarOf(op.to), Text(op.from), *op.as)
                     : vectors_.Broadcast(VarOf(op.to), Text(op.from), MemoryType(op.from), op.count));
  }
  // A pointer to bytes is cast to the type of what is stored.
  void Print(const Store& op) {
    if (op.streams) return Line(vectors_.Stream(VarOf(op.from), Text(op.to)));
    const std::string to = op.as ? Cat("(", CType(*op.as), "*)(", Text(op.to), ")") : Text(op.to);
    PrintStatements(
        vectors_.Store(VarOf(op.from), to, op.as.value_or(MemoryType(op.to)), PrintCount(op.count)));
  }
  // Prints the load of that number. Two sums of integers, or of h16, may take the same vector of rhs. GCC
  // would make it a memory operand of both, and load it twice. LOADED keeps it in a register.
  void PrintLoad(const std::vector<Stmt>& block, size_t number, const Load& op) {
    const std::string from = op.as ? Cat("(const ", CType(*op.as), "*)(", Text(op.from), ")") : Text(op.from);
    Set(op.to, vectors_.Load(VarOf(op.to), from, op.as.value_or(MemoryType(op.from)), PrintCount(op.count)));
    if (SumsOfWords(block, number, op.to) > 1) Line(vectors_.Loaded(VarOf(op.to)), ";");
  }
  // Returns how many of these sums take the value that the statement has given to `rhs`.
  int SumsOfWords(const std::vector<Stmt>& block, size_t number, VarId rhs) const {
    int sums = 0;
    for (size_t i = number + 1; i < block.size() && !Sets(block[i], rhs); ++i) {
      const auto* const op = std::get_if<MultiplyAdd>(&block[i].op);
      if (op == nullptr || op->b != rhs) continue;
      const Dtype sum = VarOf(op->accumulator).dtype;
      sums += sum == Dtype::kS32 || sum == Dtype::kF16Sums ? 1 : 0;
    }
    return sums;
  }
  // `KEPT` is for files with mask registers only: with 16 registers GCC makes no such copies.
  void PrintMultiplyAdd(const std::vector<Stmt>& block, size_t number, const MultiplyAdd& op) {
    Line(vectors_.MultiplyAdd(VarOf(op.accumulator), VarOf(op.a), VarOf(op.b),
                              AddsBefore(block, number, op.accumulator)));
    if (program_.masks && IsFloating(VarOf(op.accumulator).dtype) && LastOfSeveral(block, number, op.a))
      Line(vectors_.Kept(VarOf(op.a)), ";");
  }
  void Print(const Binary& op) { Set(op.to, vectors_.Binary(op.op, VarOf(op.a), VarOf(op.b))); }
  void Print(const Fma& op) { Set(op.to, vectors_.Fma(op.sign, VarOf(op.a), VarOf(op.b), VarOf(op.c))); }
  void Print(const SquareRoot& op) { Set(op.to, vectors_.Sqrt(VarOf(op.from))); }
  void Print(const RoundToInteger& op) { Set(op.to, vectors_.RoundToInteger(VarOf(op.from), op.rounding)); }
  void Print(const Scale& op) { Set(op.to, vectors_.Scale(VarOf(op.a), VarOf(op.exponent))); }
  void Print(const BroadcastPower& op) { Set(op.to, vectors_.BroadcastPower(VarOf(op.to), Text(op.from))); }
  void Print(const LoadNibbles& op) { Set(op.to, vectors_.LoadNibbles(VarOf(op.to), Text(op.from))); }
  void Print(const Lookup& op) { Set(op.to, vectors_.Lookup(VarOf(op.from), op.table)); }
  void Print(const FillBytes& op) { Set(op.to, vectors_.FillBytes(op.bytes)); }
  void Print(const LookupPair& op) {
    Set(op.to, vectors_.LookupPair(VarOf(op.from), VarOf(op.first), VarOf(op.second)));
  }
  void Print(const Unpack& op) {
    Set(op.to, vectors_.Unpack(VarOf(op.to), VarOf(op.low), VarOf(op.high), op.second));
  }
  void Print(const ForUnpacking& op) { Set(op.to, vectors_.ForUnpacking(VarOf(op.from), op.times)); }
  void Print(const Shift& op) { Set(op.to, vectors_.Shift(VarOf(op.from), op.left)); }
  void Print(const Bits& op) { Set(op.to, vectors_.Bits(VarOf(op.to), VarOf(op.from))); }
  void Print(const Select& op) {
    Set(op.to, vectors_.Select(op.comparison, VarOf(op.x), VarOf(op.y), VarOf(op.a), VarOf(op.b)));
  }
  void Print(const FirstLanes& op) {
    Set(op.to, vectors_.FirstLanes(VarOf(op.a), VarOf(op.b), PrintCount(op.count)));
  }
  void Print(const Across& op) { PrintStatements(vectors_.Across(op.op, VarOf(op.to), VarOf(op.from))); }
  void Print(const Fill& op) { Set(op.to, vectors_.Fill(VarOf(op.to), op.word)); }
  void Print(const FillIndex& op) {
    Set(op.to, vectors_.FillIndex(VarOf(op.to), Text(op.first), op.ascending));
  }
  void Print(const Convert& op) { Set(op.to, vectors_.Convert(VarOf(op.to), VarOf(op.from))); }
  void Print(const LaneSums& op) { PrintStatements(vectors_.LaneSums(VarOf(op.to), VarsOf(op.from))); }
  void Print(const Transpose& op) { PrintStatements(vectors_.Transpose(VarsOf(op.rows))); }
  void Print(const TransposeParts& op) { PrintStatements(vectors_.TransposeParts(VarsOf(op.rows))); }
  // Without `KEPT` GCC makes what is joined of all vectors before it joins any, which takes twice the
  // registers.
  void Print(const Interleave& op) {
    Set(op.to, vectors_.Interleave(VarOf(op.to), VarsOf(op.from)));
    if (program_.masks) Line(vectors_.Kept(VarOf(op.to)), ";");
  }
  void Print(const GroupLane& op) { Set(op.to, vectors_.GroupLane(VarOf(op.from), op.group, op.lane)); }
  void Print(const Deinterleave& op) {
    PrintStatements(vectors_.Deinterleave(VarOf(op.even), VarOf(op.odd)));
  }
  void Print(const SplitPairs& op) {
    Set(op.even, vectors_.Half(VarOf(op.from), 0));
    Set(op.odd, vectors_.Half(VarOf(op.from), 1));
  }

  void Print(const Fence&) { Line(style_.fence); }
  void Print(const Keep&) {}  // C compilers choose well
  void Print(const Prefetch& op) {
    Line("_mm_prefetch((const char*)(", Text(op.at), "), _MM_HINT_T", op.into_l2 ? 1 : 0, ");");
  }
  void Print(const TileConfigure& op) { Line("_tile_loadconfig(", TileConfiguration(op.rows), ");"); }
  void Print(const TileRelease&) { Line("_tile_release();"); }
  void Print(const TileZero& op) { Line("_tile_zero(", Tile(op.tile), ");"); }
  void Print(const TileLoad& op) {
    Line("_tile_loadd(", Tile(op.tile), ", ", Text(op.from), ", ", BytesOf(op.stride, op.from), ");");
  }
  void Print(const TileStore& op) {
    Line("_tile_stored(", Tile(op.tile), ", ", Text(op.to), ", ", BytesOf(op.stride, op.to), ");");
  }
  void Print(const TileMultiplyAdd& op) {
    const TileEncoding& encoding = Info(op.arithmetic).tiles;
    Line(op.exchanged ? encoding.exchanged_c : encoding.c, "(", Tile(op.accumulator), ", ", Tile(op.lhs),
         ", ", Tile(op.rhs), ");");
  }
  // Returns the number of a tile register. GCC pastes it into the text of an instruction, so it must not
  // become a parameter of a macro: that could be a sum. With macros it is a name, KIRSCH_TILE3, in which
  // c_pattern.h finds no number.
  std::string Tile(int number) const { return Cat(style_.macros.empty() ? "" : "KIRSCH_TILE", number); }
  // Intrinsics of tiles take distances in bytes.
  std::string BytesOf(const Affine& elements, const Address& address) const {
    const int64_t bytes = Bytes(MemoryType(address));
    return elements.IsConstant() ? Cat(elements.constant * bytes) : Cat("(", Text(elements), ") * ", bytes);
  }
  // From 64-byte line to line: the negative address modulo 64 is the bytes to the next line.
  void Print(const ToLine& op) {
    Line("const size_t ", Name(op.index), " = (0 - (size_t)", Name(op.pointer), ") % 64 / sizeof(float);");
  }
  void Print(const Drain&) { Line("_mm_sfence();"); }
  void Print(const Advance& op) { Line(Name(op.pointer), " += ", Text(op.by), ";"); }

  // A pointer is cast where the callee's type is another one.
  void Print(const Call& op) {
    const Procedure& callee = program_.procedures[static_cast<size_t>(op.procedure)];
    std::string arguments;
    for (size_t i = 0; i < op.pointers.size(); ++i) {
      const Address& pointer = op.pointers[i];
      const Var& parameter = callee.vars[i];
      Append(&arguments, i == 0 ? "" : ", ");
      if (parameter.dtype != MemoryType(pointer))
        Append(&arguments, parameter.stored ? "(" : "(const ", CType(parameter.dtype), "*)");
      Append(&arguments, AddressText(procedure_, pointer));
    }
    for (const Affine& count : op.counts) Append(&arguments, ", ", Text(count));
    Line(callees_[static_cast<size_t>(op.procedure)], "(", arguments, ");");
  }

  // Prints a quotient or a remainder. With a minimum tail, so much is set aside before the division:
  //   whole = (of) < 16 ? 0 : ((of) - 16) / 32
  //   left  = (of) < 16 ? (of) : 16 + ((of) - 16) % 32
  void Print(const Divide& op) {
    const std::string of = Cat("(", Text(op.of), ")");
    if (op.min_tail == 0)
      return Line("const size_t ", Name(op.index), " = ", of, op.left ? " % " : " / ", op.by, ";");
    const std::string more = Cat("(", of, " - ", op.min_tail, ")");
    Line("const size_t ", Name(op.index), " = ", of, " < ", op.min_tail, " ? ", op.left ? of : "0", " : ",
         op.left ? Cat(op.min_tail, " + ", more, " % ") : Cat(more, " / "), op.by, ";");
  }
  void Print(const LoadIndex& op) {
    const std::string loaded = Cat("*(", Text(op.from), ")");
    Line("const size_t ", Name(op.index), " = ", loaded, " < 0 ? 0 : ", loaded, " > ", op.below - 1, " ? ",
         op.below - 1, " : (size_t)", loaded, ";");
  }
  void Print(const IfAny& op) {
    Line("if (", Name(op.index), " != 0) {");
    PrintNested(op.body);
  }
  void Print(const Switch& op) {
    Line("switch (", Name(op.index), ") {");
    ++depth_;
    for (size_t i = 0; i < op.bodies.size(); ++i) {
      Line("case ", op.least + static_cast<int64_t>(i), ": {");
      ++depth_;
      PrintBlock(op.bodies[i]);
      Line("break;");
      --depth_;
      Line("}");
    }
    --depth_;
    Line("}");
  }
  void Print(const For& op) {
    const std::string& index = Name(op.index);
    Line("for (size_t ", index, " = 0; ", index, " < ", Text(op.count), "; ++", index, ") {");
    PrintNested(op.body);
  }

  // A task is done by one thread, or, of blocks, if its first column is among the wanted ones.
  void Print(const OnThread& op) {
    const std::string task = Cat("(", Text(op.task), ")");
    if (program_.block == 0) {
      Line("if (", task, " % ", kThreads, " == ", kThread, ") {");
    } else {
      const std::string column = Cat(task, " * ", program_.block);
      Line("if (", column, " >= ", kFirstColumn, " && ", column, " < ", kEndColumn, ") {");
    }
    PrintNested(op.body);
  }
  // The first block is the first one that begins at or behind first_column, so the division rounds up.
  void Print(const ForBlocks& op) {
    const std::string& index = Name(op.index);
    const int64_t block = program_.block;
    Line("for (size_t ", index, " = ", kFirstColumn, " / ", block, " + (", kFirstColumn, " % ", block,
         " != 0); ", index, " < ", op.count, " && ", index, " * ", block, " < ", kEndColumn, "; ++", index,
         ") {");
    PrintNested(op.body);
  }
  void Print(const InPhase& op) {
    Line("if (", kPhase, " == ", op.phase, ") {");
    PrintNested(op.body);
  }

  const LoopProgram& program_;
  const Procedure procedure_;
  const CStyle& style_;
  const std::vector<std::string>& callees_;
  const CVectors vectors_;
  std::string text_;
  int depth_ = 1;
};

// The attribute lets a function have instructions that the rest of the file is not compiled for.
std::string TargetAttribute(const LoopProgram& program, const CStyle& style) {
  if (!style.attributes) return "";
  return Cat("KIRSCH_TARGET(\"", Join(program.features, ","), "\")\n");
}

// A procedure's pointers, then its counts. Unlike the parameters of entries they have no `__restrict`.
std::string HelperParameters(const Procedure& procedure) {
  std::string parameters;
  for (int i = 0; i < procedure.num_parameters; ++i) {
    const Var& var = procedure.vars[static_cast<size_t>(i)];
    const std::string type =
        var.type == VarType::kIndex ? "size_t " : Cat(var.stored ? "" : "const ", CType(var.dtype), "* ");
    Append(&parameters, i == 0 ? "" : ", ", type, var.name);
  }
  return parameters;
}

// Collects the procedures of several programs, each distinct one once. Members of a family call many equal
// kernels.
class HelperPool {
 public:
  explicit HelperPool(const CStyle& style) : style_(style) {}

  // The C names of the program's procedures, by number.
  std::vector<std::string> Add(const LoopProgram& program) {
    std::vector<std::string> names = {program.name};
    for (size_t i = 1; i < program.procedures.size(); ++i)
      names.push_back(PacksConstants(program, i) ? PackName(program)
                                                 : NameOf(program, program.procedures[i], names));
    return names;
  }

  std::vector<CFunction> Take() && { return std::move(functions_); }

 private:
  // Prints the procedure and returns its name in C. `callees`: the names of the procedures before it, which
  // are all that it may call. Each program names its procedures for itself, so two of one name may differ:
  // the second version is called <name>_2. A number also stands for a hash, as macros can have numbers.
  std::string NameOf(const LoopProgram& program, const Procedure& procedure,
                     const std::vector<std::string>& callees) {
    const std::string attribute = TargetAttribute(program, style_);
    const std::string rest = FunctionText(HelperParameters(procedure),
                                          FunctionPrinter(program, procedure, style_, callees).Print());
    const std::string stem = Cat(style_.helper_name, "_", WithoutHash(procedure.name));
    for (size_t version = 1;; ++version) {
      const std::string name = version == 1 ? stem : Cat(stem, "_", version);
      if (std::ranges::find(style_.taken, name) != style_.taken.end()) continue;
      const auto [known, is_new] = texts_.try_emplace(name, attribute + rest);
      if (is_new) functions_.push_back({Cat(style_.private_prefix, attribute, "void "), name, rest});
      if (known->second == attribute + rest) return name;
    }
  }

  const CStyle& style_;
  std::map<std::string, std::string> texts_;  // by name: all but the name
  std::vector<CFunction> functions_;
};

// Prints the function that the user calls, or that a dispatcher chooses. Scratch, shared and packed memory
// come as void*. The body begins with typed pointers to them, which have the names that the loop program
// gives its parameters.
CFunction PrintEntry(const CKernel& kernel, const CStyle& style, const std::vector<std::string>& callees) {
  const LoopProgram& program = *kernel.program;
  const Procedure& entry = program.procedures[0];
  const CSignature signature = MakeSignature(program);
  CFunction function;
  function.before = Cat(kernel.dispatched ? style.private_prefix : style.public_prefix,
                        TargetAttribute(program, style), "void ");
  function.name = program.name;
  function.by_macro = kernel.dispatched;
  std::string text;
  const Var& scratch = entry.vars[static_cast<size_t>(program.scratch())];
  if (program.scratch_bytes > 0)
    Append(&text, "  ", CType(scratch.dtype), "* ", scratch.name, " = (", CType(scratch.dtype),
           "*)scratch_memory;\n");
  if (program.phases > 1) {
    const Var& shared = entry.vars[static_cast<size_t>(program.shared())];
    const std::string type = Cat(CType(shared.dtype), "*");
    Append(&text, "  ", type, " ", shared.name, " = (", type, ")shared_memory;\n");
  }
  if (program.packing) {
    const Var& packed = entry.vars[static_cast<size_t>(program.packing->place)];
    const std::string type = Cat("const ", CType(packed.dtype), "*");
    Append(&text, "  ", type, " ", packed.name, " = (", type, ")packed;\n");
  }
  text += FunctionPrinter(program, entry, style, callees).Print();
  function.after = FunctionText(CParameters(signature), text);
  return function;
}

// Prints the function that packs constants. Of a contraction's single matrix it is one call of the procedure
// that copies. Otherwise it is a procedure of its own, which calls those that copy.
CFunction PrintPack(const CKernel& kernel, const CStyle& style, const std::vector<std::string>& callees) {
  const LoopProgram& program = *kernel.program;
  const size_t number = static_cast<size_t>(program.packing->procedure);
  const Procedure& procedure = program.procedures[number];
  const CSignature signature = MakeSignature(program);
  const Var& packed = procedure.vars[signature.constants.size()];
  const std::string pointer = Cat("(", CType(packed.dtype), "*)packed");
  const std::string body = PacksConstants(program, number)
                               ? Cat("  ", CType(packed.dtype), "* ", packed.name, " = ", pointer, ";\n",
                                     FunctionPrinter(program, procedure, style, callees).Print())
                               : Cat("  ", callees[number], "((const ", CType(procedure.vars[0].dtype), "*)",
                                     TensorNames(signature.constants), ", ", pointer, ");\n");
  return {Cat(kernel.dispatched ? style.private_prefix : style.public_prefix, TargetAttribute(program, style),
              "void "),
          PackName(program), FunctionText(CPackParameters(signature), body),
          /*by_macro=*/false};
}

// True if the code is longer than one kernel's, which people may want to read. Then it is printed as macros.
bool IsLong(const std::vector<CFunction>& functions) {
  constexpr size_t kLong = size_t{64} << 10;  // bytes
  size_t bytes = 0;
  for (const CFunction& function : functions) bytes += function.after.size();
  return bytes > kLong;
}

}  // namespace

std::string PrintC(absl::Span<const CKernel> kernels, const CStyle& style) {
  HelperPool helpers(style);
  std::vector<CFunction> entries;
  for (const CKernel& kernel : kernels) {
    const std::vector<std::string> callees = helpers.Add(*kernel.program);
    entries.push_back(PrintEntry(kernel, style, callees));
    if (kernel.program->packing && kernel.packs) entries.push_back(PrintPack(kernel, style, callees));
  }
  // Procedures come before the entries that call them: C wants declarations first.
  std::vector<CFunction> functions = std::move(helpers).Take();
  functions.insert(functions.end(), std::make_move_iterator(entries.begin()),
                   std::make_move_iterator(entries.end()));
  return PrintFunctions(functions, IsLong(functions) ? style.code_macros : "");
}

}  // namespace kirsch
