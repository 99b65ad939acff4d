// SPDX-License-Identifier: Apache-2.0
#include "tools/spec_help.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "spec/dtype.h"
#include "spec/language/epilogue_parser.h"
#include "spec/language/functions.h"
#include "spec/language/graph_shorthand.h"
#include "spec/language/parser.h"
#include "spec/language/types_parser.h"
#include "spec/operation.h"
#include "spec/text/cat.h"
#include "spec/text/text.h"

namespace kirsch {
namespace {

constexpr size_t kWidth = 100;  // of a line

// Shorthands of graphs have an example in their row. A matmul has these.
constexpr std::array<std::string_view, 4> kMatmulExamples = {
    "matmul f32 64x64x64",
    "matmul f32 128x512x2048 epilogue=add:n,gelu",
    "matmul u8*s8->u8 128x512x2048 epilogue=add:n,f32,mul:n,add:3",
    "matmul f32 1..64x256x256",
};
constexpr std::string_view kKernelExample =
    "kernel mlp(x: f32[32,512], w: f32[512,2048], b: f32[2048]): return gelu(add(matmul(x, w), b))";

// The kinds of functions of the kernel language, with the words for them, in the order of the text.
constexpr std::array<std::pair<OperationKind, std::string_view>, 8> kKinds = {{
    {OperationKind::kContraction, "products"},
    {OperationKind::kElementwise, "elementwise"},
    {OperationKind::kReduction, "reductions"},
    {OperationKind::kRowwise, "by rows"},
    {OperationKind::kTranspose, "axes"},
    {OperationKind::kRearrange, "copies"},
    {OperationKind::kAlongAxis, "along one"},
    {OperationKind::kCast, "types"},
}};

// Lays words out behind a title, in lines of kWidth characters at most. Lines after the first begin below the
// first word.
//     products     matmul(x,y,lhs_as=) conv1d(x,y,stride=,pad=,dilation=,groups=,layout=)
//                  conv2d(x,y,stride=,pad=,dilation=,groups=,layout=)
std::string Paragraph(std::string_view title, std::string_view words, size_t indent) {
  std::string text, line = Cat("  ", title);
  line.resize(std::max(indent, line.size() + 2), ' ');
  bool empty = true;  // the line
  for (const Word& word : SplitWords(words)) {
    if (!empty && line.size() + 1 + word.text.size() > kWidth) {
      Append(&text, line, "\n");
      line.assign(indent, ' ');
      empty = true;
    }
    Append(&line, empty ? "" : " ", word.text);
    empty = false;
  }
  return Cat(text, line.substr(0, line.find_last_not_of(' ') + 1), "\n");
}

// A function with its arguments and options: "layernorm(x,y,z,eps=1e-05)". An option that has a usual value
// shows it.
std::string Signature(const OperationInfo& info) {
  std::vector<std::string> arguments;
  // Arguments are x, y and z: no function takes more.
  for (int i = 0; i < info.arguments; ++i) arguments.emplace_back(1, "xyz"[i]);
  if (info.op == Operation::kCast) arguments.emplace_back("TYPE");
  if (info.kind == OperationKind::kRearrange)
    arguments.emplace_back(info.op == Operation::kPermute ? "[AXES]" : "[SIZES]");
  for (std::string_view option : OptionsOf(info.op))
    arguments.push_back(option == info.option.name ? Cat(option, "=", PrintNumber(info.option.usual))
                                                   : Cat(option, "="));
  return Cat(info.name, "(", Join(arguments, ","), ")");
}

// The functions of the kernel language, a paragraph for each kind.
std::string FunctionsText() {
  std::string text;
  for (const auto& [kind, title] : kKinds) {
    std::vector<std::string> functions;
    for (std::string_view name : FunctionNames())
      if (const OperationInfo* const info = FindFunction(name); info->kind == kind)
        functions.push_back(Signature(*info));
    Append(&text, Paragraph(title, Join(functions, " "), 15));
  }
  return text;
}

// What a type is: "4 bytes, a float: exponent of 8 bits, mantissa of 23". Types that no result can have are
// marked as weights.
std::string TypeText(const DtypeInfo& info) {
  std::string text = Cat(info.bytes, info.bytes == 1 ? " byte" : " bytes");
  if (info.block > 1) {
    text = Cat("weights in blocks of ", info.block, ", of ", text, " each");
  } else if (info.exponent > 0) {
    Append(&text, ", a float: exponent of ", info.exponent, " bits, mantissa of ", info.mantissa);
  } else {
    Append(&text, ", an integer", info.has_sign ? "" : " without sign");
  }
  return info.is_result || info.block > 1 ? text : Cat(text, "; weights");
}

// The types that callers may use.
std::string TypesText() {
  std::string text;
  for (const DtypeInfo& info : kDtypes)
    if (IsOfCallers(info.dtype)) Append(&text, Paragraph(info.name, TypeText(info), 15));
  return text;
}

// The shorthand of a matmul has a grammar of its own.
std::string MatmulText() {
  std::string forms;
  for (std::string_view name : ContractionsOfSizes())
    forms += Paragraph(name, Cat("TYPES [BATCH:]MxKxN [OPTIONS] ", FindContraction(name)->meaning), 13);
  return Cat(forms, Paragraph("  TYPES", Cat(MatmulTypesText(), " (T alone: T*T->T)"), 13),
             Paragraph("  OPTIONS", Join(MatmulOptions(), " "), 13),
             Paragraph("  STEPS", Cat("with commas between: ", StepsText()), 13));
}

// An example for each shorthand, in quotes, as a shell needs them.
std::string ExamplesText() {
  std::string text;
  const auto add = [&](std::string_view example) { Append(&text, "  '", example, "'\n"); };
  for (std::string_view example : kMatmulExamples) add(example);
  for (const ShorthandUsage& shorthand : GraphShorthands()) add(shorthand.example);
  add(kKernelExample);
  return text;
}

}  // namespace

// Operations, the kernel language, types, and examples, in this order.
std::string SpecHelp() {
  std::string text = "A SPEC says what to compute. It is one argument, so quote it.\n\nOperations:\n";
  Append(&text, MatmulText());
  for (const ShorthandUsage& shorthand : GraphShorthands())
    Append(&text, Paragraph(shorthand.name, shorthand.arguments, 13));
  Append(&text, "  A size may be a range, as in 1..64: a family, one function for all these sizes.\n\n");
  Append(&text,
         "Kernels of several operations, in a file (-f FILE) or as SPEC:\n"
         "  kernel NAME(PARAMETER: TYPE[SIZE,...], ...): NAME = VALUE; ...; return VALUE\n"
         "  Several results have names: return NAME, NAME\n",
         FunctionsText(), "\nTypes of elements:\n", TypesText(), "\nExamples:\n", ExamplesText());
  return text;
}

}  // namespace kirsch
