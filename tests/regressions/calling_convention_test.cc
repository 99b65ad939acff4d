// SPDX-License-Identifier: Apache-2.0
// A function's parameters followed from how its kernel was solved: filters came before the image where the
// convolution was a matmul, and a kernel's x, w, b became lhs, rhs, arg1.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "library/kirsch.h"
#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "tests/testing/cli_testing.h"

namespace kirsch::testing {
namespace {

using ::testing::HasSubstr;

using Names = std::vector<std::string>;

// Of the prototype that begins so in the text: tensors by their names, without `_` behind them; no sizes, and
// not what comes behind the tensors.
Names TensorsOf(const std::string& text, const std::string& begin) {
  const size_t start = text.find(begin);
  if (start == std::string::npos) return {"no prototype"};
  const size_t first = start + begin.size(), end = text.find(')', first);
  Names names;
  for (const absl::string_view parameter : absl::StrSplit(text.substr(first, end - first), ", ")) {
    std::string name(parameter.substr(parameter.rfind(' ') + 1));
    if (parameter.find('*') == absl::string_view::npos || name == "scratch_memory" || name == "shared_memory")
      continue;
    while (name.back() == '_') name.pop_back();
    names.push_back(name);
  }
  return names;
}

struct Signature {
  Names tensors, packed;  // of NAME, of NAME_pack
  bool operator==(const Signature&) const = default;
};

// A text, what it is asked for with, and its parameters: all of them in the text's order, without out.
struct Asked {
  std::string text, options;
  std::string kernel = {};  // its name, if it is one of the language
  Names parameters = {};
  std::vector<bool> constant = {};
  bool family = false;

  Signature signature() const {
    Signature signature;
    for (size_t i = 0; i < parameters.size(); ++i)
      (constant[i] ? signature.packed : signature.tensors).push_back(parameters[i]);
    for (Names* names : {&signature.tensors, &signature.packed})
      if (!signature.packed.empty()) names->push_back("packed");
    signature.tensors.push_back("out");
    return signature;
  }
};

class CallingConvention : public CliTest {
 protected:
  std::string Request(const Asked& asked) const {
    const std::string rest = Cat(" --target haswell --no-db --no-verify --name f ", asked.options);
    if (asked.kernel.empty()) return Cat("synth '", asked.text, "'", rest);
    EXPECT_TRUE(WriteFile(Path("k.kirsch"), asked.text).ok());
    return Cat("synth -f ", Path("k.kirsch"), rest);
  }

  static Signature SignatureIn(const std::string& text, bool family) {
    Signature signature{TensorsOf(text, family ? " f(size_t" : "void f("), {}};
    if (text.find("void f_pack(") != std::string::npos) signature.packed = TensorsOf(text, "void f_pack(");
    return signature;
  }

  Signature InHeader(const Asked& asked) const {
    const Outcome outcome = Run(Request(asked));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return SignatureIn(outcome.out, asked.family);
  }

  Signature InDeclarations(const Asked& asked) const {
    const Outcome outcome = Run(Cat(Request(asked), " --emit ll --declarations ", Path("d.h")));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    const Signature signature = SignatureIn(*ReadFile(Path("d.h")), asked.family);
    if (!asked.family) {
      EXPECT_EQ(InCode(outcome.out, signature.tensors.size()), signature.tensors) << asked.text;
    }
    return signature;
  }

  // What the function itself calls its first parameters; packed is called as the operand that it is of.
  static Names InCode(const std::string& ir, size_t count) {
    const size_t start = ir.find("@f(");
    const std::string line = ir.substr(start, ir.find('\n', start) - start);
    const std::vector<std::string> parts = absl::StrSplit(line, '%');
    Names names;
    for (size_t i = 1; i <= count && i < parts.size(); ++i) {
      std::string name = parts[i].substr(0, parts[i].find_first_of(",)"));
      while (name.back() == '_') name.pop_back();
      names.push_back(ir.find("@f_pack(") != std::string::npos && i + 1 == count ? "packed" : name);
    }
    return names;
  }

  static Names InLibrary(const Asked& asked) {
    kirsch_request* request = nullptr;
    const char* const kernel = asked.kernel.empty() ? nullptr : asked.kernel.c_str();
    kirsch_error* const error = kirsch_parse(asked.text.c_str(), kernel, &request);
    if (error != nullptr) return {kirsch_error_message(error)};
    std::vector<size_t> sizes;
    for (size_t i = 0; i < kirsch_request_num_sizes(request); ++i)
      sizes.push_back(kirsch_request_value(request, i, 0));
    Names names;
    for (size_t i = 0; i < kirsch_request_num_operands(request); ++i) {
      kirsch_operand operand;
      EXPECT_EQ(kirsch_request_operand(request, sizes.data(), sizes.size(), i, &operand), nullptr);
      names.emplace_back(operand.name);
    }
    kirsch_request_destroy(request);
    return names;
  }

  void ExpectAgreement(const Asked& asked) const {
    SCOPED_TRACE(Cat(asked.text, " ", asked.options));
    const Signature expected = asked.signature();
    for (const Signature& signature : {InHeader(asked), InDeclarations(asked)}) {
      EXPECT_EQ(signature.tensors, expected.tensors);
      EXPECT_EQ(signature.packed, expected.packed);
    }
    Names all = asked.parameters;
    all.emplace_back("out");
    EXPECT_EQ(InLibrary(asked), all);
  }
};

TEST_F(CallingConvention, OfAConvolutionHoweverItIsSolved) {
  const std::string conv = "x3x17x23 filters=5 kernel=2x2 stride=5";
  const std::pair<std::string, std::string> roads[] = {
      {Cat("f32 1", conv), ""},
      {Cat("f32 1", conv), "--allow-winograd"},
      {Cat("f32 1", conv), "--threads 2"},
      {Cat("f32 1", conv, " pad=1"), ""},
      {Cat("f32 1", conv, " layout=nhwc"), ""},
      {Cat("f32 2", conv), ""},
      {Cat("u8*s8->s32 1", conv), ""},
  };
  for (const auto& [text, options] : roads)
    ExpectAgreement({Cat("conv2d ", text), options, "", {"image", "filters"}, {false, false}});
}

TEST_F(CallingConvention, OfAKernelOfTheLanguageItsOwnNames) {
  ExpectAgreement(
      {"kernel mlp(x: f32[32,51], w: f32[51,20], b: f32[20]) -> f32[32,20]:\n"
       "  y = matmul(x, w)\n  return relu(add(y, b))\n",
       "",
       "mlp",
       {"x", "w", "b"},
       {false, false, false}});
  ExpectAgreement(
      {"kernel mlp(packed: const f32[5,2], thread: f32[2], lhs: f32[3,5]) -> f32[3,2]:\n"
       "  return add(matmul(lhs, packed), thread)\n",
       "",
       "mlp",
       {"packed", "thread", "lhs"},
       {true, false, false}});
}

// Draws texts, of which it knows what they take.
class TextDrawer {
 public:
  Asked Draw() {
    switch (Number(0, 2)) {
      case 0:
        return Convolution();
      case 1:
        return Matmul();
      default:
        return Kernel();
    }
  }

 private:
  int Number(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<unsigned>(high - low + 1));
  }
  bool Chance() { return Number(0, 1) == 1; }

  // Steps, and what they take.
  std::string Epilogue(Names* names) {
    const std::pair<const char*, Names> steps[] = {{"", {}},
                                                   {" epilogue=add:n", {"bias"}},
                                                   {" epilogue=mul:m,add:mn", {"scale", "residual"}},
                                                   {" epilogue=add:scalar,relu,add:n", {"bias1", "bias2"}}};
    const auto& [text, taken] = steps[Number(0, 3)];
    names->insert(names->end(), taken.begin(), taken.end());
    return text;
  }

  Asked Convolution() {
    Asked asked;
    asked.family = Number(0, 3) == 0;
    const bool constant = Chance();
    const int kernel = Number(1, 3);
    asked.parameters = {"image", "filters"};
    asked.text = Cat("conv2d f32 ", asked.family ? "1..2" : Cat(Number(1, 2)), "x", Number(1, 3), "x",
                     Number(4, 9), "x", Number(4, 9), " filters=", Number(1, 5), " kernel=", kernel, "x",
                     kernel, Chance() ? " pad=1" : "", Chance() ? " layout=nhwc" : "",
                     constant ? " const-filters" : "", Epilogue(&asked.parameters));
    asked.options = kernel == 3 && Chance() ? "--allow-winograd" : "";
    asked.constant.resize(asked.parameters.size());
    asked.constant[1] = constant;
    return asked;
  }

  Asked Matmul() {
    Asked asked;
    asked.family = Number(0, 3) == 0;
    asked.parameters = {"lhs", "rhs"};
    const int constant = Number(-2, 1);
    asked.text =
        Cat("matmul f32 ", asked.family ? "1..3" : Cat(Number(1, 9)), "x", Number(1, 9), "x", Number(1, 20),
            Chance() ? " lhs=col" : "", Chance() ? " rhs=col" : "", Chance() ? " out=col" : "",
            constant == 0   ? " const-lhs"
            : constant == 1 ? " const-rhs"
                            : "",
            Epilogue(&asked.parameters));
    asked.options = Chance() ? "--threads 2" : "";
    asked.constant.resize(asked.parameters.size());
    if (constant >= 0) asked.constant[static_cast<size_t>(constant)] = true;
    return asked;
  }

  // Of one matmul, perhaps turned, or of more operations; parameters in any order.
  Asked Kernel() {
    const bool several = Chance(), family = Number(0, 3) == 0, constant = Chance();
    const std::string m = family ? "m" : Cat(Number(1, 6)), k = Cat(Number(1, 6)), n = Cat(Number(1, 20));
    std::vector<std::pair<std::string, std::string>> parameters = {
        {"x", Cat("f32[", m, ",", k, "]")},
        {"rhs", Cat(constant ? "const " : "", "f32[", k, ",", n, "]")},
        {"lhs", Cat("f32[", n, "]")},
        {"arg1", Cat("f32[", m, ",", n, "]")}};
    std::shuffle(parameters.begin(), parameters.end(), random_);
    Asked asked;
    asked.kernel = "drawn";
    asked.family = family;
    for (const auto& [name, type] : parameters) {
      asked.parameters.push_back(name);
      asked.constant.push_back(type.starts_with("const"));
    }
    const std::string list = absl::StrJoin(parameters, ", ", absl::PairFormatter(": "));
    const std::string value =
        several ? "softmax(add(mul(matmul(x, rhs), arg1), lhs))" : "add(mul(matmul(x, rhs), arg1), lhs)";
    asked.text = Cat("kernel drawn", family ? "[m = 1..2]" : "", "(", list, "):\n return ", value, "\n");
    return asked;
  }

  std::mt19937 random_{42};
};

TEST_F(CallingConvention, OfDrawnTextsFollowsFromTheText) {
  TextDrawer drawer;
  for (int i = 0; i < 24; ++i) ExpectAgreement(drawer.Draw());
}

// One caller, for whatever road the header was made by.
constexpr char kCaller[] = R"(#include "f.h"
#include <stdio.h>
int main(void) {
  static float image[3 * 17 * 23], filters[5 * 3 * 2 * 2], out[5 * 4 * 5];
  static _Alignas(64) char scratch[1 << 20];
  int i, o, c, y, x, ky, kx;
  if (!f_supported() || f_scratch_bytes() > sizeof(scratch)) return 77;
  for (i = 0; i < 3 * 17 * 23; ++i) image[i] = (float)(i % 7 - 3);
  for (i = 0; i < 5 * 3 * 2 * 2; ++i) filters[i] = (float)(i % 5 - 2);
  f(image, filters, out, scratch);
  for (o = 0; o < 5; ++o)
    for (y = 0; y < 4; ++y)
      for (x = 0; x < 5; ++x) {
        float sum = 0;
        for (c = 0; c < 3; ++c)
          for (ky = 0; ky < 2; ++ky)
            for (kx = 0; kx < 2; ++kx)
              sum += image[(c * 17 + y * 5 + ky) * 23 + x * 5 + kx] * filters[((o * 3 + c) * 2 + ky) * 2 + kx];
        if (out[(o * 4 + y) * 5 + x] != sum) return 1;
      }
  return 0;
}
)";

TEST_F(CallingConvention, OneCallerServesEveryRoad) {
  const std::string conv =
      "'conv2d f32 1x3x17x23 filters=5 kernel=2x2 stride=5' --name f --uniform --no-verify --no-db ";
  ASSERT_TRUE(WriteFile(Path("caller.c"), kCaller).ok());
  const std::string kernel =
      "kernel f(image: f32[1,3,17,23], filters: f32[5,3,2,2]):\n return conv2d(image, filters, stride=5)\n";
  ASSERT_TRUE(WriteFile(Path("f.kirsch"), kernel).ok());
  const std::string haswell = "--target haswell ", header = Cat("-o ", Path("f.h"));
  const auto calls = [&](const std::string& objects) {
    const std::string program = Path("caller");
    EXPECT_EQ(std::system(Cat("cc -std=c11 -O1 -o ", program, " ", Path("caller.c"), objects).c_str()), 0);
    return WEXITSTATUS(std::system(program.c_str()));
  };
  for (const std::string& road :
       {Cat(conv, haswell), Cat(conv, haswell, "--allow-winograd "), Cat(conv, "--target haswell,znver4 "),
        Cat("-f ", Path("f.kirsch"), " --uniform --no-verify --no-db ", haswell)}) {
    ASSERT_EQ(Run(Cat("synth ", road, header)).code, 0) << road;
    const int code = calls("");
    if (code == 77) GTEST_SKIP() << "this host lacks AVX2";
    EXPECT_EQ(code, 0) << road;
  }
  ASSERT_EQ(
      Run(Cat("synth ", conv, haswell, "--emit obj -o ", Path("f.o"), " --declarations ", Path("f.h"))).code,
      0);
  EXPECT_EQ(calls(Cat(" ", Path("f.o"))), 0);
}

// The function that finds a kernel knows which parameter is which.
TEST_F(CallingConvention, DispatchFindsKernelsWithNamesOfTheirOwn) {
  const char caller[] = R"(#include "d.h"
int main(void) {
  static float x[4 * 5], w[5 * 6], out[4 * 6];
  static _Alignas(64) char scratch[1 << 16];
  int i, m, k, n;
  if (!mine_supported() || d_scratch_bytes() > sizeof(scratch)) return 77;
  for (i = 0; i < 4 * 5; ++i) x[i] = (float)(i % 7 - 3);
  for (i = 0; i < 5 * 6; ++i) w[i] = (float)(i % 5 - 2);
  if (!d_matmul(d_f32, 4, 5, 6, 5, 6, 6, x, w, out, scratch, 0, 1)) return 2;
  for (m = 0; m < 4; ++m)
    for (n = 0; n < 6; ++n) {
      float sum = 0;
      for (k = 0; k < 5; ++k) sum += x[m * 5 + k] * w[k * 6 + n];
      if (out[m * 6 + n] != sum) return 1;
    }
  return 0;
}
)";
  ASSERT_TRUE(
      WriteFile(Path("d.kirsch"), "kernel mine(w: f32[5,6], x: f32[4,5]):\n return matmul(x, w)\n").ok());
  ASSERT_TRUE(WriteFile(Path("d.c"), caller).ok());
  ASSERT_EQ(Run(Cat("synth -f ", Path("d.kirsch"), " --dispatch --target haswell --no-db --no-verify -o ",
                    Path("d.h")))
                .code,
            0);
  ASSERT_EQ(std::system(Cat("cc -std=c11 -O1 -o ", Path("d"), " ", Path("d.c")).c_str()), 0);
  const int code = WEXITSTATUS(std::system(Path("d").c_str()));
  if (code == 77) GTEST_SKIP() << "this host lacks AVX2";
  EXPECT_EQ(code, 0);
}

TEST_F(CallingConvention, HeadersSayTheShapeOfEachParameter) {
  const std::string options = " --target haswell --no-db --no-verify";
  const std::string conv =
      Run(Cat("synth 'conv2d f32 1x3x17x23 filters=5 kernel=2x2 stride=5'", options)).out;
  EXPECT_THAT(conv, HasSubstr("// image: f32[1,3,17,23]\n// filters: f32[5,3,2,2]\n// out: f32[1,5,4,5]\n"));
  const std::string matmul = Run(Cat("synth 'matmul u8*s8->s32 4x8x16 rhs=col'", options)).out;
  EXPECT_THAT(matmul, HasSubstr("// lhs: u8, 4 x 8, row-major, leading dimension 8\n"
                                "// rhs: s8, 8 x 16, column-major, leading dimension 8\n"
                                "// out: s32, 4 x 16, row-major, leading dimension 16\n"));
  const std::string family = Run(Cat("synth 'conv2d f32 1..2x3x5x5 filters=4 kernel=1x1'", options)).out;
  EXPECT_THAT(family, HasSubstr("// image: f32[n,3,5,5]\n// filters: f32[4,3,1,1]\n// out: f32[n,4,5,5]\n"));
  ASSERT_TRUE(WriteFile(Path("k.kirsch"),
                        "kernel f(b: f32[4], w: const f32[3,4], x: f32[2,3]):\n"
                        " return add(matmul(x, w), b)\n")
                  .ok());
  EXPECT_THAT(Run(Cat("synth -f ", Path("k.kirsch"), options)).out,
              HasSubstr("// b: f32[4]\n// w: f32[3,4], rhs of the matmul, packed ahead\n"
                        "// x: f32[2,3], lhs of the matmul\n// out: f32[2,4]\n"));
}

}  // namespace
}  // namespace kirsch::testing
