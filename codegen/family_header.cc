#include "codegen/family_header.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "codegen/header_file.h"
#include "codegen/lower.h"
#include "codegen/self_test.h"
#include "spec/check.h"

namespace kirsch {
namespace {

const char* DimName(int dim) {
  constexpr const char* kNames[kFamilyDims] = {"b", "m", "k", "n"};
  return kNames[dim];
}

// "matmul_f32_1to64x8x8_m5"
std::string MemberName(const SpecFamily& family, const UserSizes& sizes) {
  std::string name = IdentifierOf(family.text());
  for (int dim : family.varying()) absl::StrAppend(&name, "_", DimName(dim), sizes[static_cast<size_t>(dim)]);
  return name;
}

// "int NAME(size_t m, const float* lhs, ...)"
std::string Declaration(const SpecFamily& family, const HeaderFile& file) {
  std::string text = absl::StrCat("int ", file.name, "(");
  for (int dim : family.varying()) absl::StrAppend(&text, "size_t ", DimName(dim), ", ");
  CSignature signature = SignatureOf(*file.kernels[0].program, file.kernels[0].swapped);
  signature.scratch = file.scratch_bytes() > 0;
  signature.threads = file.threads();
  return absl::StrCat(text, CParameters(signature), ")");
}

// The call of one kernel. One with a single task computes all of it whoever calls, so one thread does.
std::string CallText(const HeaderFile& file, const LoopProgram& program) {
  const bool alone = file.threads() && !TakesThreads(program);
  return absl::StrCat(alone ? "if (thread == 0) " : "", program.name, "(",
                      CArguments(TakesScratch(program), TakesThreads(program)), ");");
}

// A switch for each varying size, one inside the other, over the members from `first` on.
class SwitchPrinter {
 public:
  SwitchPrinter(const SpecFamily& family, const HeaderFile& file)
      : family_(family), file_(file), dims_(family.varying()) {}

  std::string Print() {
    PrintSwitch(0, 1);
    return std::move(text_);
  }

 private:
  void PrintSwitch(size_t level, int depth) {
    if (level == dims_.size()) {
      Line(depth, CallText(file_, *file_.kernels[next_++].program));
      return Line(depth, "return 1;");
    }
    const SizeRange& range = family_.ranges()[static_cast<size_t>(dims_[level])];
    Line(depth, absl::StrCat("switch (", DimName(dims_[level]), ") {"));
    for (uint32_t size = range.low; size <= range.high; ++size) {
      Line(depth + 1, absl::StrCat("case ", size, ":"));
      PrintSwitch(level + 1, depth + 2);
    }
    Line(depth + 1, "default:");
    Line(depth + 2, "return 0;");
    Line(depth, "}");
  }

  void Line(int depth, const std::string& line) {
    absl::StrAppend(&text_, std::string(static_cast<size_t>(2 * depth), ' '), line, "\n");
  }

  const SpecFamily& family_;
  const HeaderFile& file_;
  const std::vector<int> dims_;
  size_t next_ = 0;  // the kernel of the next innermost case
  std::string text_;
};

std::string SizesText(const SpecFamily& family) {
  std::string text;
  for (int dim : family.varying()) {
    const SizeRange& range = family.ranges()[static_cast<size_t>(dim)];
    absl::StrAppend(&text, text.empty() ? "" : ", ", range.low, " <= ", DimName(dim), " <= ", range.high);
  }
  return text;
}

std::string CommentText(const SpecFamily& family, const Target& target, const FamilyHeaderOptions& options,
                        const HeaderFile& file) {
  std::string text =
      absl::StrCat(file.name, ": ", family.text(), "\n\n", OriginText(target, options.version), "kernels    ",
                   file.kernels.size(), ", one for each size\n", RequirementsText(file));
  absl::StrAppend(
      &text, "\n", Declaration(family, file), ";\n", "Returns 1 if ", SizesText(family),
      ": the product is computed. Else 0: nothing was touched.\n",
      "Operands are as in the specification above (lhs m x k, rhs k x n, out m x n), their leading\n"
      "dimensions those of the sizes given unless it fixes them: by default the operands of every\n"
      "member are contiguous at its own sizes. No operand overlaps another.\n");
  if (file.scratch_bytes() > 0)
    absl::StrAppend(
        &text, "scratch_memory: ", file.name,
        "_scratch_bytes() bytes (enough for every size), 64-byte aligned, of this thread alone.\n");
  if (file.threads())
    text +=
        "Thread 0 <= thread < n_threads does its share; all threads together compute the result. Sizes\n"
        "with a single task are thread 0's.\n";
  return absl::StrCat(text, InclusionText(file), "\n", options.regions);
}

// For every varying size, those beside its range, the others being the least.
std::vector<UserSizes> SizesOutside(const SpecFamily& family) {
  std::vector<UserSizes> outside;
  for (int dim : family.varying()) {
    const SizeRange& range = family.ranges()[static_cast<size_t>(dim)];
    for (uint32_t size : {range.low - 1, range.high + 1}) {
      outside.push_back(family.sizes(0));
      outside.back()[static_cast<size_t>(dim)] = size;
    }
  }
  return outside;
}

}  // namespace

std::string IdentifierOf(const std::string& text) {
  std::string name = absl::StrReplaceAll(text, {{"..", "to"}});
  for (char& c : name)
    if (!absl::ascii_isalnum(static_cast<unsigned char>(c))) c = '_';
  return name;
}

std::vector<FamilyKernel> LowerFamily(const SpecFamily& family, absl::Span<const Impl* const> impls,
                                      const Target& target) {
  KIRSCH_CHECK(static_cast<int64_t>(impls.size()) == family.count());
  std::vector<FamilyKernel> kernels;
  for (size_t i = 0; i < impls.size(); ++i) {
    const auto index = static_cast<int64_t>(i);
    kernels.push_back({Lower(*impls[i], target, MemberName(family, family.sizes(index))), impls[i]->spec,
                       family.member(index).swapped});
  }
  return kernels;
}

std::string PrintFamilyHeader(const SpecFamily& family, absl::Span<const FamilyKernel> kernels,
                              const Target& target, const FamilyHeaderOptions& options) {
  KIRSCH_CHECK(static_cast<int64_t>(kernels.size()) == family.count());
  HeaderFile file;
  file.name = IdentifierOf(family.text());
  file.mode = options.mode;
  file.external = options.external;
  SelfTest test;
  test.file = &file;
  test.dims = family.varying();
  test.refused = SizesOutside(family);
  for (const FamilyKernel& kernel : kernels) {
    file.kernels.push_back({&kernel.program, kernel.swapped});
    test.problems.push_back({kernel.spec, kernel.swapped});
  }
  file.dispatcher =
      absl::StrCat(Declaration(family, file), " {\n", SwitchPrinter(family, file).Print(), "}\n");
  file.comment = CommentText(family, target, options, file);
  file.self_test = PrintSelfTest(test);
  return PrintHeaderFile(file);
}

}  // namespace kirsch
