// SPDX-License-Identifier: Apache-2.0
#include "codegen/header/dispatch.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_replace.h"
#include "codegen/header/cpu_checks.h"
#include "codegen/header/size_dispatch.h"
#include "spec/text/cat.h"
#include "spec/text/identifier.h"

namespace kirsch {
namespace {

// Sizes come before all other parameters.
std::string ParametersOf(const HeaderFunction& function) {
  std::string text;
  for (const VaryingSize& size : function.sizes) Append(&text, "size_t ", size.name, ", ");
  return text + CParameters(function.signature());
}

std::string Arguments(const HeaderFunction& function) {
  std::string text;
  for (const VaryingSize& size : function.sizes) Append(&text, size.name, ", ");
  return text + CArguments(function.signature());
}

// Only functions with sizes can refuse, so only these return whether they did.
const char* Result(const HeaderFunction& function) { return function.sizes.empty() ? "void " : "int "; }

// Returns the name of the function that has the kernels of one variant.
std::string VariantName(const HeaderFunction& function, const HeaderVariant& variant) {
  return Cat(function.name, "_", MakeIdentifier(variant.target.name));
}

// Returns the call of one kernel by a function that may take more than the kernel does. A kernel with a
// single task computes all of it whoever calls, so only thread 0 calls it. One with a single phase is called
// in the first phase only. `caller`: the function's signature; `sizes`: the names of the sizes that the
// kernel takes.
std::string KernelCall(const LoopProgram& program, CSignature caller, std::vector<std::string> sizes = {}) {
  std::vector<std::string> conditions;
  if (caller.threads && !program.TakesThreads()) conditions.push_back("thread == 0");
  if (caller.phases && !program.TakesPhases()) conditions.push_back("phase == 0");
  caller.scratch = program.TakesScratch();
  caller.threads = program.TakesThreads();
  caller.phases = program.TakesPhases();
  caller.sizes = std::move(sizes);
  return Cat(conditions.empty() ? "" : Cat("if (", Join(conditions, " && "), ") "), program.name, "(",
             CArguments(caller), ");");
}

// Prints the choice by sizes: a switch for each varying size, one inside the other; then comparisons of
// ranges that programs take. For example, m is taken by programs, k is not:
//   switch (k) {
//     case 256:
//       if (m < 1 || m > 64) return 0;
//       if (m <= 16) {
//         NAME_m1_k256_and_more(m, lhs, rhs, out);
//         return 1;
//       }
//       NAME_m17_k256_and_more(m, lhs, rhs, out);
//       return 1;
//     default:
//       return 0;
//   }
// Where several sizes are compared, a kernel may serve members here and there. So comparisons are an
// expression then, whose value is the kernel's number:
//   switch (m<=16?t<=4?0:1:
//   2) {
//     case 0: NAME_m1_t1_and_more(m, t, x, out); return 1;
class SwitchPrinter {
 public:
  SwitchPrinter(const HeaderFunction& function, const HeaderVariant& variant)
      : function_(function),
        variant_(variant),
        signature_(function.signature()),
        dispatch_(function, variant) {}

  std::string Print() {
    PrintSwitch(0, 0, 1);
    return std::move(text_);
  }

 private:
  // `member`: the one with the first values of this level's size and of those after it.
  void PrintSwitch(size_t level, size_t member, int depth) {
    if (level == dispatch_.first_compared()) return PrintCompared(level, member, depth);
    const VaryingSize& size = dispatch_.SizeOf(level);
    Line(depth, Cat("switch (", size.name, ") {"));
    for (uint32_t value : size.values) {
      Line(depth + 1, Cat("case ", value, ":"));
      PrintSwitch(level + 1, member, depth + 2);
      member += dispatch_.levels()[level].stride;
    }
    Line(depth + 1, "default:");
    Line(depth + 2, "return 0;");
    Line(depth, "}");
  }

  // Sizes that are out of range are refused first, so that the comparisons need not look for them.
  void PrintCompared(size_t level, size_t member, int depth) {
    for (size_t compared = level; compared < dispatch_.levels().size(); ++compared) {
      const VaryingSize& size = dispatch_.SizeOf(compared);
      const uint32_t least = size.values.front();
      Line(depth, Cat("if (", least > 0 ? Cat(size.name, " < ", least, " || ") : "", size.name, " > ",
                      size.values.back(), ") return 0;"));
    }
    if (level + 1 < dispatch_.levels().size())
      PrintNumbered(level, member, depth);
    else
      PrintRanges(level, member, depth);
  }

  void PrintNumbered(size_t level, size_t member, int depth) {
    std::map<size_t, size_t> members;  // of each kernel, one
    Line(depth, Cat("switch (", NumberText(level, member, &members), ") {"));
    for (const auto& [number, any] : members)
      Line(depth + 1, Cat("case ", number, ": ", CallText(any), " return 1;"));
    Line(depth, "}");
    Line(depth, "return 0;");
  }

  // An expression: the number of the kernel. `members` gets one of each kernel.
  std::string NumberText(size_t level, size_t member, std::map<size_t, size_t>* members) {
    if (level == dispatch_.levels().size()) {
      const size_t number = variant_.number_of(member);
      members->try_emplace(number, member);
      return Cat(number);
    }
    return RangesText(level, member, dispatch_.RangesOf(level, member), members);
  }

  // The same for some ranges of a size, which are halved: compilers nest expressions only so deep.
  template <typename Ranges>
  std::string RangesText(size_t level, size_t member, const Ranges& ranges,
                         std::map<size_t, size_t>* members) {
    if (ranges.size() == 1)
      return NumberText(level + 1, member + ranges.front().first * dispatch_.levels()[level].stride, members);
    const VaryingSize& size = dispatch_.SizeOf(level);
    const auto half = ranges.begin() + std::ssize(ranges) / 2;
    const std::string low = RangesText(level, member, Ranges(ranges.begin(), half), members);
    const std::string high = RangesText(level, member, Ranges(half, ranges.end()), members);
    return Cat(size.name, "<=", size.values[std::prev(half)->end - 1], "?", low,
               level + 1 < dispatch_.levels().size() ? ":\n" : ":", high);
  }

  // The last range needs no comparison.
  void PrintRanges(size_t level, size_t member, int depth) {
    if (level == dispatch_.levels().size()) return PrintCall(member, depth);
    const VaryingSize& size = dispatch_.SizeOf(level);
    for (const auto& [first, end] : dispatch_.RangesOf(level, member)) {
      const bool last = end == size.values.size();
      if (!last) Line(depth, Cat("if (", size.name, " <= ", size.values[end - 1], ") {"));
      PrintRanges(level + 1, member + first * dispatch_.levels()[level].stride, depth + !last);
      if (!last) Line(depth, "}");
    }
  }

  void PrintCall(size_t member, int depth) {
    Line(depth, CallText(member));
    Line(depth, "return 1;");
  }
  std::string CallText(size_t member) const {
    std::vector<std::string> sizes;
    if (variant_.shares())
      for (const SizeSum& sum : variant_.sizes_of[variant_.number_of(member)])
        sizes.push_back(SumText(function_.sizes, sum));
    return KernelCall(variant_.program(member), signature_, std::move(sizes));
  }

  void Line(int depth, const std::string& line) {
    Append(&text_, std::string(static_cast<size_t>(2 * depth), ' '), line, "\n");
  }

  const HeaderFunction& function_;
  const HeaderVariant& variant_;
  const CSignature signature_;
  const SizeDispatch dispatch_;
  std::string text_;
};

// One function for a variant and all sizes. It returns 1 if a kernel ran, 0 if there is none for the sizes.
std::string PrintSizeDispatcher(const HeaderFunction& function, const HeaderVariant& variant,
                                const std::string& name, const std::string& linkage) {
  return Cat("\n", linkage, "int ", name,
             FunctionText(ParametersOf(function), SwitchPrinter(function, variant).Print()));
}

// Returns a switch over the variants, with a statement for each. The last one is also for all that is left: a
// CPU that can't run it should have been kept away (NAME_supported).
template <typename Statement>
std::string VariantSwitch(const HeaderFunction& function, Statement statement) {
  std::string text = Cat("  switch (", function.name, "_choose()) {\n");
  for (size_t i = 0; i < function.variants.size(); ++i) {
    const bool last = i + 1 == function.variants.size();
    Append(&text, "    ", last ? "default" : Cat("case ", i + 1), ":\n      ",
           statement(function.variants[i]), "\n");
  }
  return text + "  }\n";
}

std::string PrintVariantDispatcher(const HeaderFunction& function, const std::string& linkage) {
  const bool sizes = !function.sizes.empty();
  const auto call = [&](const HeaderVariant& variant) {
    if (sizes) return Cat("return ", VariantName(function, variant), "(", Arguments(function), ");");
    return Cat(KernelCall(variant.programs.front(), function.signature()), "\n      return;");
  };
  return Cat("\n", linkage, Result(function), function.name,
             FunctionText(ParametersOf(function), VariantSwitch(function, call)));
}

// The first program packs for all of a variant: programs of a family take the same copy.
std::string PrintPackDispatcher(const HeaderFunction& function, const std::string& linkage) {
  if (!function.packs()) return "";
  const auto call = [&](const HeaderVariant& variant) {
    return Cat(PackName(variant.programs.front()), "(", CPackArguments(function.signature()), ");");
  };
  const auto case_of = [&](const HeaderVariant& variant) { return Cat(call(variant), "\n      return;"); };
  const std::string body = function.variants.size() > 1 ? VariantSwitch(function, case_of)
                                                        : Cat("  ", call(function.variants.front()), "\n");
  return Cat("\n", linkage, "void ", function.name, "_pack",
             FunctionText(CPackParameters(function.signature()), body));
}

constexpr char kChoiceFunction[] = R"(static int $NAME_choice;

static inline int $NAME_runs(int variant) {
  switch (variant) {
$CASES  }
  return 0;
}

// The variant that $NAME runs: the first that this CPU can. Threads that ask at once find the same.
static inline int $NAME_choose(void) {
  int variant = KIRSCH_LOAD($NAME_choice);
  if (variant == 0) {
    for (variant = 1; variant <= $COUNT && !$NAME_runs(variant);) ++variant;
    KIRSCH_STORE($NAME_choice, variant);
  }
  return variant;
}

)";

}  // namespace

std::string Declaration(const HeaderFunction& function) {
  return Cat(Result(function), function.name, "(", ParametersOf(function), ")");
}

std::string PackDeclaration(const HeaderFunction& function) {
  return Cat("void ", function.name, "_pack(", CPackParameters(function.signature()), ")");
}

std::string PrintPackedBytes(const HeaderFunction& function, const std::string& linkage) {
  if (!function.packs()) return "";
  const auto value = [](const HeaderVariant& variant) {
    return Cat("return ", variant.programs.front().packing->bytes, ";");
  };
  const std::string body = function.variants.size() > 1 ? VariantSwitch(function, value)
                                                        : Cat("  ", value(function.variants.front()), "\n");
  return Cat("// Bytes of what is packed.\n", linkage, "size_t ", function.name, "_packed_bytes(void) {\n",
             body, "}\n\n");
}

bool NeedsPermission(const HeaderFunction& function) {
  return std::ranges::any_of(function.variants,
                             [](const HeaderVariant& variant) { return NeedPermission(variant.features()); });
}

namespace {

// A choice made before is forgotten, as more variants may run now.
std::string PrintEnable(const HeaderFunction& function, const std::string& linkage) {
  if (!NeedsPermission(function)) return "";
  return Cat("// Asks the system to let this process use AMX. Call it before anything else of ",
             function.name, ".\n// What ", function.name, "_supported() says then.\n", linkage, "int ",
             function.name, "_enable(void) {\n  KIRSCH_PERMIT();\n",
             function.variants.size() > 1 ? Cat("  KIRSCH_STORE(", function.name, "_choice, 0);\n") : "",
             "  return ", function.name, "_supported();\n}\n\n");
}

}  // namespace

std::string PrintSupported(const HeaderFunction& function, const std::string& linkage) {
  const size_t count = function.variants.size();
  std::string choice, condition = CpuCondition(function.variants.front().features());
  if (count > 1) {
    std::string cases;
    for (size_t i = 0; i < count; ++i)
      Append(&cases, "    case ", i + 1, ":  // ", MakeIdentifier(function.variants[i].target.name),
             "\n      return ", CpuCondition(function.variants[i].features()), ";\n");
    choice = absl::StrReplaceAll(kChoiceFunction,
                                 {{"$NAME", function.name}, {"$CASES", cases}, {"$COUNT", Cat(count)}});
    condition = Cat(function.name, "_choose() <= ", count);
  }
  return Cat(choice, "// 1 if this CPU can run ", function.name, ", else 0.\n", linkage, "int ",
             function.name, "_supported(void) {\n  return ", condition, " ? 1 : 0;\n}\n\n",
             PrintEnable(function, linkage));
}

// Four cases. Without sizes and variants the kernel is the public function. With sizes only, or variants
// only, one function chooses. With both, the public function chooses the variant, which chooses by the sizes.
std::string PrintDispatchers(const HeaderFunction& function, const std::string& linkage) {
  const bool sizes = !function.sizes.empty(), variants = function.variants.size() > 1;
  if (sizes && !variants)
    return Cat(PrintSizeDispatcher(function, function.variants.front(), function.name, linkage),
               PrintPackDispatcher(function, linkage));
  std::string text;
  for (const HeaderVariant& variant : function.variants)
    if (sizes)
      text += PrintSizeDispatcher(function, variant, VariantName(function, variant), "static inline ");
  if (!variants) return text;
  return Cat(text, PrintVariantDispatcher(function, linkage), PrintPackDispatcher(function, linkage));
}

}  // namespace kirsch
