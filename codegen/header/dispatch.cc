#include "codegen/header/dispatch.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "codegen/header/cpu_checks.h"
#include "spec/text/cat.h"
#include "spec/text/identifier.h"

namespace kirsch {
namespace {

std::string Parameters(const HeaderFunction& function) {
  std::string text;
  for (const VaryingSize& size : function.sizes) Append(&text, "size_t ", size.name, ", ");
  return text + CParameters(function.signature());
}

std::string Arguments(const HeaderFunction& function) {
  std::string text;
  for (const VaryingSize& size : function.sizes) Append(&text, size.name, ", ");
  return text + CArguments(function.signature());
}

// The function that has the kernels of one variant.
std::string VariantName(const HeaderFunction& function, const HeaderVariant& variant) {
  return Cat(function.name, "_", IdentifierOf(variant.target.name));
}

// The call of one kernel. One with a single task computes all of it whoever calls, so one thread does; and
// one with a single phase does so in the first. `caller`: the function's signature.
std::string KernelCall(const LoopProgram& program, CSignature caller) {
  std::vector<std::string> conditions;
  if (caller.threads && !TakesThreads(program)) conditions.push_back("thread == 0");
  if (caller.phases && program.phases == 1) conditions.push_back("phase == 0");
  caller.scratch = TakesScratch(program);
  caller.threads = TakesThreads(program);
  caller.phases = program.phases > 1;
  return Cat(conditions.empty() ? "" : Cat("if (", absl::StrJoin(conditions, " && "), ") "), program.name,
             "(", CArguments(caller), ");");
}

// A switch for each varying size, one inside the other, over the members from the first on.
class SwitchPrinter {
 public:
  SwitchPrinter(const HeaderFunction& function, const HeaderVariant& variant)
      : function_(function), variant_(variant), signature_(function.signature()) {}

  std::string Print() {
    PrintSwitch(0, 1);
    return std::move(text_);
  }

 private:
  void PrintSwitch(size_t level, int depth) {
    if (level == function_.sizes.size()) {
      Line(depth, KernelCall(variant_.programs[next_++], signature_));
      return Line(depth, "return 1;");
    }
    const VaryingSize& size = function_.sizes[level];
    Line(depth, Cat("switch (", size.name, ") {"));
    for (uint32_t value : size.values) {
      Line(depth + 1, Cat("case ", value, ":"));
      PrintSwitch(level + 1, depth + 2);
    }
    Line(depth + 1, "default:");
    Line(depth + 2, "return 0;");
    Line(depth, "}");
  }

  void Line(int depth, const std::string& line) {
    Append(&text_, std::string(static_cast<size_t>(2 * depth), ' '), line, "\n");
  }

  const HeaderFunction& function_;
  const HeaderVariant& variant_;
  const CSignature signature_;
  size_t next_ = 0;  // the kernel of the next innermost case
  std::string text_;
};

// Where the function takes scratch memory that none of these kernels need.
std::string IgnoredScratch(const HeaderFunction& function, bool needed) {
  return function.signature().scratch && !needed ? "  (void)scratch_memory;\n" : "";
}

std::string PrintSizeDispatcher(const HeaderFunction& function, const HeaderVariant& variant,
                                const std::string& name, const std::string& linkage) {
  return Cat(
      "\n", linkage, "int ", name, "(", Parameters(function), ") {\n",
      IgnoredScratch(function, std::any_of(variant.programs.begin(), variant.programs.end(), TakesScratch)),
      SwitchPrinter(function, variant).Print(), "}\n");
}

// A switch over the variants, with a statement for each. The last one's is for all that is left: a CPU that
// can't run it should have been kept away.
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
  return Cat("\n", linkage, Declaration(function), " {\n",
             IgnoredScratch(function, sizes || function.scratch_bytes() > 0), VariantSwitch(function, call),
             "}\n");
}

std::string PrintPackDispatcher(const HeaderFunction& function, const std::string& linkage) {
  const CSignature signature = function.signature();
  if (signature.constants.empty()) return "";
  const auto call = [&](const HeaderVariant& variant) {
    return Cat(PackName(variant.programs.front()), "(", CPackArguments(signature), ");\n      return;");
  };
  return Cat("\n", linkage, PackDeclaration(function), " {\n", VariantSwitch(function, call), "}\n");
}

constexpr char kChoice[] = R"(static int $NAME_choice;

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
  return Cat(function.sizes.empty() ? "void " : "int ", function.name, "(", Parameters(function), ")");
}

std::string PackDeclaration(const HeaderFunction& function) {
  return Cat("void ", function.name, "_pack(", CPackParameters(function.signature()), ")");
}

std::string PrintPackedBytes(const HeaderFunction& function, const std::string& linkage) {
  if (function.signature().constants.empty()) return "";
  const auto value = [](const HeaderVariant& variant) {
    return Cat("return ", variant.programs.front().packing->bytes, ";");
  };
  const std::string body = function.variants.size() > 1 ? VariantSwitch(function, value)
                                                        : Cat("  ", value(function.variants.front()), "\n");
  return Cat("// Bytes of what is packed.\n", linkage, "size_t ", function.name, "_packed_bytes(void) {\n",
             body, "}\n\n");
}

std::string PrintSupported(const HeaderFunction& function, const std::string& linkage) {
  const size_t count = function.variants.size();
  std::string choice, condition = CpuCondition(function.variants.front().features());
  if (count > 1) {
    std::string cases;
    for (size_t i = 0; i < count; ++i)
      Append(&cases, "    case ", i + 1, ":  // ", IdentifierOf(function.variants[i].target.name),
             "\n      return ", CpuCondition(function.variants[i].features()), ";\n");
    choice =
        absl::StrReplaceAll(kChoice, {{"$NAME", function.name}, {"$CASES", cases}, {"$COUNT", Cat(count)}});
    condition = Cat(function.name, "_choose() <= ", count);
  }
  return Cat(choice, "// 1 if this CPU can run ", function.name, ", else 0.\n", linkage, "int ",
             function.name, "_supported(void) {\n  return ", condition, " ? 1 : 0;\n}\n\n");
}

std::string PrintDispatchers(const HeaderFunction& function, const std::string& linkage) {
  const bool sizes = !function.sizes.empty(), variants = function.variants.size() > 1;
  if (sizes && !variants)
    return PrintSizeDispatcher(function, function.variants.front(), function.name, linkage);
  std::string text;
  for (const HeaderVariant& variant : function.variants)
    if (sizes)
      text += PrintSizeDispatcher(function, variant, VariantName(function, variant), "static inline ");
  if (!variants) return text;
  return Cat(text, PrintVariantDispatcher(function, linkage), PrintPackDispatcher(function, linkage));
}

}  // namespace kirsch
