#include "codegen/c_printer.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "codegen/loop_text.h"
#include "spec/check.h"

namespace kirsch {
namespace {

std::string VectorType(int lanes) { return lanes == 4 ? "__m128" : lanes == 8 ? "__m256" : "__m512"; }

// "_mm256_name"
std::string Intrinsic(int lanes, const char* name) {
  return absl::StrCat(lanes == 4 ? "_mm_" : lanes == 8 ? "_mm256_" : "_mm512_", name);
}

std::string MaskRegister(int lanes, int count) {
  return absl::StrCat("(__mmask", lanes == 16 ? 16 : 8, ")0x", absl::Hex((1 << count) - 1));
}

// The vector operand of AVX2's maskload and maskstore: the sign bit says whether the lane is accessed.
std::string MaskVector(int lanes, int count) {
  std::string mask = absl::StrCat(Intrinsic(lanes, "setr_epi32"), "(");
  for (int lane = 0; lane < lanes; ++lane)
    absl::StrAppend(&mask, lane == 0 ? "" : ", ", lane < count ? -1 : 0);
  return mask + ")";
}

class FunctionPrinter {
 public:
  // `callees`: the C names of the program's procedures; only the entry calls any.
  FunctionPrinter(const LoopProgram& program, const Procedure& procedure, const CStyle& style,
                  const std::vector<std::string>& callees = {})
      : program_(program), procedure_(procedure), style_(style), callees_(callees) {}

  std::string Print() {
    DeclareVectors();
    PrintBlock(procedure_.body);
    return std::move(text_);
  }

 private:
  const std::string& Name(VarId id) const { return procedure_.vars[static_cast<size_t>(id)].name; }
  int LanesOf(VarId id) const { return procedure_.vars[static_cast<size_t>(id)].lanes; }
  std::string Text(const Affine& affine) const { return AffineText(procedure_, affine); }
  std::string Text(const Address& address) const { return AddressText(procedure_, address); }

  template <typename... Parts>
  void Line(const Parts&... parts) {
    absl::StrAppend(&text_, std::string(static_cast<size_t>(2 * depth_), ' '), parts..., "\n");
  }

  void DeclareVectors() {
    for (const Var& var : procedure_.vars)
      if (var.type == VarType::kVector) Line(VectorType(var.lanes), " ", var.name, ";");
  }

  void PrintBlock(const std::vector<Stmt>& block) {
    for (const Stmt& stmt : block) std::visit([this](const auto& op) { Print(op); }, stmt.op);
  }
  void PrintNested(const std::vector<Stmt>& block) {
    ++depth_;
    PrintBlock(block);
    --depth_;
    Line("}");
  }

  void Print(const Zero& op) { Line(Name(op.to), " = ", Intrinsic(LanesOf(op.to), "setzero_ps"), "();"); }

  void Print(const Load& op) {
    const int lanes = LanesOf(op.to);
    const std::string from = Text(op.from);
    std::string value;
    if (op.count == lanes) {
      value = absl::StrCat(Intrinsic(lanes, "loadu_ps"), "(", from, ")");
    } else if (op.count == 1 && lanes == 4) {
      value = absl::StrCat("_mm_load_ss(", from, ")");
    } else if (program_.masks) {
      value = absl::StrCat(Intrinsic(lanes, "maskz_loadu_ps"), "(", MaskRegister(lanes, op.count), ", ", from,
                           ")");
    } else {
      value =
          absl::StrCat(Intrinsic(lanes, "maskload_ps"), "(", from, ", ", MaskVector(lanes, op.count), ")");
    }
    Line(Name(op.to), " = ", value, ";");
  }

  void Print(const Broadcast& op) {
    Line(Name(op.to), " = ", Intrinsic(LanesOf(op.to), "set1_ps"), "(*(", Text(op.from), "));");
  }

  void Print(const Store& op) {
    const int lanes = LanesOf(op.from);
    const std::string to = Text(op.to);
    if (op.count == lanes) return Line(Intrinsic(lanes, "storeu_ps"), "(", to, ", ", Name(op.from), ");");
    if (op.count == 1 && lanes == 4) return Line("_mm_store_ss(", to, ", ", Name(op.from), ");");
    Line(Intrinsic(lanes, program_.masks ? "mask_storeu_ps" : "maskstore_ps"), "(", to, ", ",
         program_.masks ? MaskRegister(lanes, op.count) : MaskVector(lanes, op.count), ", ", Name(op.from),
         ");");
  }

  void Print(const Fma& op) {
    Line(Name(op.accumulator), " = ", Intrinsic(LanesOf(op.accumulator), "fmadd_ps"), "(", Name(op.a), ", ",
         Name(op.b), ", ", Name(op.accumulator), ");");
  }

  void Print(const Add& op) {
    Line(Name(op.to), " = ", Intrinsic(LanesOf(op.to), "add_ps"), "(", Name(op.a), ", ", Name(op.b), ");");
  }

  // As in the LLVM printer: halves are added until 4 lanes are left, then two horizontal additions.
  void Print(const LaneSums& op) {
    Line("{");
    ++depth_;
    for (size_t i = 0; i < op.from.size(); ++i) {
      if (op.from[i] == kNoVar) {
        Line("const __m128 q", i, " = _mm_setzero_ps();");
        continue;
      }
      std::string value = Name(op.from[i]);
      if (LanesOf(op.from[i]) == 16) {
        Line("const __m256 h", i, " = _mm256_add_ps(", Half(value, 0), ", ", Half(value, 1), ");");
        value = absl::StrCat("h", i);
      }
      Line("const __m128 q", i, " = _mm_add_ps(_mm256_castps256_ps128(", value, "), _mm256_extractf128_ps(",
           value, ", 1));");
    }
    Line(Name(op.to), " = _mm_hadd_ps(_mm_hadd_ps(q0, q1), _mm_hadd_ps(q2, q3));");
    --depth_;
    Line("}");
  }

  // Unmasked, this would trip GCC 12's warning about uninitialised variables in its own header.
  static std::string Half(const std::string& value, int half) {
    return absl::StrCat("_mm256_castpd_ps(_mm512_maskz_extractf64x4_pd(0xff, _mm512_castps_pd(", value, "), ",
                        half, "))");
  }

  void Print(const Transpose& op) {
    Line("_MM_TRANSPOSE4_PS(", Name(op.rows[0]), ", ", Name(op.rows[1]), ", ", Name(op.rows[2]), ", ",
         Name(op.rows[3]), ");");
  }

  void Print(const Fence&) { Line(style_.fence); }
  void Print(const Prefetch& op) { Line("_mm_prefetch((const char*)(", Text(op.at), "), _MM_HINT_T0);"); }
  void Print(const Advance& op) { Line(Name(op.pointer), " += ", op.by, ";"); }

  void Print(const Call& op) {
    std::string arguments;
    for (const Address& pointer : op.pointers)
      absl::StrAppend(&arguments, arguments.empty() ? "" : ", ", Text(pointer));
    for (int64_t count : op.counts) absl::StrAppend(&arguments, ", ", count);
    Line(callees_[static_cast<size_t>(op.procedure)], "(", arguments, ");");
  }

  void Print(const For& op) {
    const std::string& index = Name(op.index);
    Line("for (size_t ", index, " = 0; ", index, " < ", Text(op.count), "; ++", index, ") {");
    PrintNested(op.body);
  }

  void Print(const OnThread& op) {
    Line("if ((", Text(op.task), ") % n_threads == thread) {");
    PrintNested(op.body);
  }

  const LoopProgram& program_;
  const Procedure& procedure_;
  const CStyle& style_;
  const std::vector<std::string>& callees_;
  std::string text_;
  int depth_ = 1;
};

std::string TargetAttribute(const LoopProgram& program, const CStyle& style) {
  if (!style.attributes) return "";
  return absl::StrCat("KIRSCH_TARGET(\"", absl::StrJoin(program.features, ","), "\")\n");
}

std::string HelperParameters(const Procedure& procedure) {
  std::string parameters;
  for (int i = 0; i < procedure.num_parameters; ++i) {
    const Var& var = procedure.vars[static_cast<size_t>(i)];
    const std::string type = var.type == VarType::kIndex
                                 ? "size_t "
                                 : absl::StrCat(var.stored ? "" : "const ", CType(var.dtype), "* ");
    absl::StrAppend(&parameters, i == 0 ? "" : ", ", type, var.name);
  }
  return parameters;
}

// The procedures of several programs, each distinct one once.
class HelperPool {
 public:
  explicit HelperPool(const CStyle& style) : style_(style) {}

  // The C names of the program's procedures, by number.
  std::vector<std::string> Add(const LoopProgram& program) {
    std::vector<std::string> names = {program.name};
    for (size_t i = 1; i < program.procedures.size(); ++i)
      names.push_back(NameOf(program, program.procedures[i]));
    return names;
  }

  const std::string& text() const { return text_; }

 private:
  std::string NameOf(const LoopProgram& program, const Procedure& procedure) {
    const std::string attribute = TargetAttribute(program, style_);
    const std::string rest = absl::StrCat("(", HelperParameters(procedure), ") {\n",
                                          FunctionPrinter(program, procedure, style_).Print(), "}\n\n");
    std::string name = absl::StrCat(style_.helper_name, "_", procedure.name);
    // Programs name their procedures for themselves: the same name need not be the same code.
    std::vector<std::string>& versions = versions_[name];
    const size_t version =
        static_cast<size_t>(std::find(versions.begin(), versions.end(), attribute + rest) - versions.begin());
    if (version > 0) absl::StrAppend(&name, "_", version + 1);
    if (version == versions.size()) {
      versions.push_back(attribute + rest);
      absl::StrAppend(&text_, style_.private_prefix, attribute, "void ", name, rest);
    }
    return name;
  }

  const CStyle& style_;
  std::map<std::string, std::vector<std::string>> versions_;  // all but the name
  std::string text_;
};

std::string PrintEntry(const CKernel& kernel, const CStyle& style, const std::vector<std::string>& callees) {
  const LoopProgram& program = *kernel.program;
  Procedure entry = program.procedures[0];
  // The user's names.
  if (kernel.swapped) std::swap(entry.vars[EntryParameter::kLhs].name, entry.vars[EntryParameter::kRhs].name);
  std::string text = absl::StrCat(kernel.dispatched ? style.private_prefix : style.public_prefix,
                                  TargetAttribute(program, style), "void ", program.name, "(",
                                  CParameters(SignatureOf(program, kernel.swapped)), ") {\n");
  const Var& scratch = entry.vars[EntryParameter::kScratch];
  if (TakesScratch(program))
    absl::StrAppend(&text, "  ", CType(scratch.dtype), "* ", scratch.name, " = (", CType(scratch.dtype),
                    "*)scratch_memory;\n");
  return absl::StrCat(text, FunctionPrinter(program, entry, style, callees).Print(), "}\n");
}

}  // namespace

std::string CType(Dtype dtype) {
  KIRSCH_CHECK(dtype == Dtype::kF32);
  return "float";
}

CSignature SignatureOf(const LoopProgram& program, bool swapped) {
  const std::vector<Var>& vars = program.procedures[0].vars;
  CSignature signature;
  for (size_t operand = 0; operand < signature.dtypes.size(); ++operand)  // the first parameters
    signature.dtypes[operand] = vars[operand].dtype;
  if (swapped) std::swap(signature.dtypes[EntryParameter::kLhs], signature.dtypes[EntryParameter::kRhs]);
  signature.scratch = TakesScratch(program);
  signature.threads = TakesThreads(program);
  return signature;
}

std::string CParameters(const CSignature& signature) {
  const auto pointer = [&](int operand) {
    return absl::StrCat(CType(signature.dtypes[static_cast<size_t>(operand)]), "* __restrict ");
  };
  return absl::StrCat("const ", pointer(EntryParameter::kLhs), "lhs, const ", pointer(EntryParameter::kRhs),
                      "rhs, ", pointer(EntryParameter::kOut), "out",
                      signature.scratch ? ", void* __restrict scratch_memory" : "",
                      signature.threads ? ", size_t thread, size_t n_threads" : "");
}

std::string CArguments(const CSignature& signature) {
  return absl::StrCat("lhs, rhs, out", signature.scratch ? ", scratch_memory" : "",
                      signature.threads ? ", thread, n_threads" : "");
}

std::string PrintC(absl::Span<const CKernel> kernels, const CStyle& style) {
  HelperPool helpers(style);
  std::string entries;
  for (const CKernel& kernel : kernels)
    absl::StrAppend(&entries, entries.empty() ? "" : "\n",
                    PrintEntry(kernel, style, helpers.Add(*kernel.program)));
  return helpers.text() + entries;
}

}  // namespace kirsch
