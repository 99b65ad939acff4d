// SPDX-License-Identifier: Apache-2.0
// What a caller does with emitted files: includes what a header's comment asks for, declares the prototype it
// shows and links an object, has names of its own. KIRSCH_BINARY is the path of the program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "spec/graph/graph.h"
#include "spec/text/cat.h"
#include "spec/text/file.h"
#include "spec/text/identifier.h"
#include "tests/testing/cli_testing.h"
#include "tests/testing/temp_directory.h"

namespace kirsch {
namespace {

using ::testing::HasSubstr;
using testing::Outcome;

class EmittedCodeTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return directory_.File(name); }

  void Synth(const std::string& arguments) const {
    const Outcome outcome =
        kirsch::testing::RunKirsch("", Cat("synth --no-db --no-verify ", arguments), directory_.path());
    ASSERT_EQ(outcome.code, 0) << arguments << "\n" << outcome.err;
  }

  // What the command prints; a failure if it doesn't end well.
  std::string Shell(const std::string& command) const {
    const int status =
        std::system(Cat("cd ", directory_.path(), " && ", command, " >", Path("log"), " 2>&1").c_str());
    const std::string log = *ReadFile(Path("log"));
    EXPECT_EQ(status, 0) << command << "\n" << log;
    return log;
  }

  // The first line of the file that matches, with what matches.
  static std::smatch Find(const std::string& text, const char* pattern) {
    std::smatch match;
    EXPECT_TRUE(std::regex_search(text, match, std::regex(pattern))) << pattern;
    return match;
  }

  const testing::TempDirectory directory_;
};

std::vector<std::string> All(const std::string& text, const char* pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at)
    found.push_back((*at)[1]);
  return found;
}

TEST_F(EmittedCodeTest, BareCodeNeedsTheIncludesThatItsCommentNames) {
  for (const char* spec :
       {"matmul f32 9x10x11", "matmul bf16 9x10x11", "matmul u8*s8->s32 9x10x11",
        "matmul f32 9x10x11 const-rhs", "matmul u8*s8->u8 9x10x11 epilogue=f32,mul:n,add:3",
        "softmax f16 4x50", "conv2d f32 1x4x9x9 filters=8 kernel=3x3 pad=1"}) {
    Synth(Cat("'", spec, "' --target haswell --header-mode bare -o ", Path("k.h")));
    const std::string text = *ReadFile(Path("k.h"));
    const std::string comment = text.substr(0, text.find("\n//\n"));
    std::string source;
    for (const std::string& header : All(comment, "<([a-z]+\\.h)>"))
      Append(&source, "#include <", header, ">\n");
    ASSERT_TRUE(WriteFile(Path("k.c"), Cat(source, "#include \"k.h\"\n")).ok());
    const std::string features = Find(text, "// requires   (.*)\n")[1];
    Shell(Cat("cc -std=c99 -Wall -Wextra -Werror -Wno-unused-function -fsyntax-only -m",
              absl::StrReplaceAll(features, {{" ", " -m"}}), " k.c"));
  }
}

// A call of the function with this prototype: inputs in their order, and what its other parameters are
// called.
std::string CallOf(const std::string& prototype) {
  std::vector<std::string> arguments;
  int inputs = 0;
  for (const std::string& name : All(prototype, "([a-z_0-9]+)[,)]")) {
    const std::map<std::string, std::string> known = {{"out", "out"},
                                                      {"packed", "packed"},
                                                      {"thread", "0"},
                                                      {"n_threads", "1"},
                                                      {"first_column", "0"},
                                                      {"end_column", "1000"},
                                                      {"scratch_memory", "scratch"},
                                                      {"shared_memory", "shared"},
                                                      {"phase", "0"}};
    const auto found = known.find(name);
    arguments.push_back(found != known.end() ? found->second : Cat("in[", inputs++, "]"));
  }
  return absl::StrJoin(arguments, ", ");
}

// The same data through the header's function and the object's, which has the header's prototype.
TEST_F(EmittedCodeTest, ObjectsHaveTheHeadersPrototype) {
  for (const char* request :
       {"'matmul f32 5x6x7'", "'matmul f32 5x6x7 epilogue=add:n'",
        "'matmul f32 5x6x7 out=col epilogue=add:n,mul:m'", "'matmul f32 40x64x70' --threads 2",
        "'matmul f32 40x64x70 epilogue=add:mn,relu' --threads 2", "'matmul f32 300x300x300 epilogue=mul:m'",
        "'matmul f32 9x20x90 column-blocks=16 epilogue=add:n'",
        "'matmul f32 9x20x90 const-rhs epilogue=add:n'", "'reduce sum f32 3x40'",
        "'matmul f32 5x6x7' --uniform", "'matmul f32 5x6x7 const-rhs' --uniform --threads 2",
        "'reduce sum f32 3x40' --uniform --threads 2", "'attention f32 heads=2 tokens=20 dim=16'"}) {
    SCOPED_TRACE(request);
    Synth(Cat(request, " --target haswell -o ", Path("k.h")));
    Synth(Cat(request, " --target haswell --emit obj -o ", Path("k.o")));
    Synth(Cat(request, " --target haswell --emit asm -o ", Path("k.s")));
    Synth(Cat(request, " --target haswell --emit ll -o ", Path("k.ll")));
    const std::string header = *ReadFile(Path("k.h"));
    const auto prototype = Find(header, "// (void ([a-z_0-9]+)(\\(.*\\));)\n");
    const std::string name = prototype[2];
    for (const auto& [file, comment] : {std::pair{"k.s", "# "}, {"k.ll", "; "}})
      EXPECT_THAT(*ReadFile(Path(file)), HasSubstr(Cat(comment, prototype[1].str(), "\n")));
    const bool packs = header.find(Cat(name, "_pack(")) != std::string::npos;
    const std::string call = CallOf(prototype[3]),
                      pack = packs ? Cat("void ", name, "_pack(const float*, void*);\n") : "";
    const auto run = [&](const std::string& function, const char* result) {
      return Cat(packs ? Cat("  ", function, "_pack(in[1], packed);\n") : "", "  out = ", result, ";\n  ",
                 function, "(", call, ");\n");
    };
    ASSERT_TRUE(
        WriteFile(Path("main.c"),
                  Cat("#include <string.h>\n#define ", name, " of_header\n#define ", name,
                      "_pack of_header_pack\n#include \"k.h\"\n#undef ", name, "\n#undef ", name, "_pack\n",
                      prototype[1].str(), "\n", pack, "enum { kMost = 100000 };\n",
                      "static float in[8][kMost], first[kMost], second[kMost];\n",
                      "static _Alignas(64) char scratch[1 << 20], shared[1 << 20], packed[1 << 20];\n",
                      "int main(void) {\n  float* out;\n", "  for (int i = 0; i < 8; ++i)\n",
                      "    for (int j = 0; j < kMost; ++j) in[i][j] = (float)((i * 37 + j * 11) % 17 - 8);\n",
                      run("of_header", "first"), run(name, "second"),
                      "  int nothing = 1;\n  for (int j = 0; j < kMost; ++j) nothing &= first[j] == 0;\n",
                      "  return nothing || memcmp(first, second, sizeof(first)) != 0;\n}\n"))
            .ok());
    Shell("cc -O1 -Wno-unused-function -o main main.c k.o && ./main");
  }
}

// What a function leaves in memory and returns in all its phases and threads, for a size m; `out` is zeros.
constexpr char kFamilyCaller[] = R"(
#include <string.h>
#define NAME(suffix) NAME2(KERNEL, suffix)
#define NAME2(kernel, suffix) NAME3(kernel, suffix)
#define NAME3(kernel, suffix) kernel##suffix
#include HEADER
enum { kMost = 100000 };
static float in[8][kMost], out[kMost];
static _Alignas(64) char scratch[1 << 20], shared[1 << 20], packed[1 << 20];
int Run(size_t m, size_t thread, size_t phase) { return NAME()(CALL); }
void Pack(void) { PACK; }
static int Ran(size_t m, float* result) {
  int ran = 0;
  memset(out, 0, sizeof(out));
  for (size_t phase = 0; phase < 4; ++phase)
    for (size_t thread = 0; thread < THREADS; ++thread) ran += Run(m, thread, phase);
  memcpy(result, out, sizeof(out));
  return ran;
}
int Results(size_t m, float* result) {
  for (int i = 0; i < 8; ++i)
    for (int j = 0; j < kMost; ++j) in[i][j] = (float)((i * 37 + j * 11) % 17 - 8);
  Pack();
  memset(scratch, 7, sizeof(scratch));
  const int ran = Ran(m, result);
  for (size_t i = SCRATCH_BYTES; i < sizeof(scratch); ++i)
    if (scratch[i] != 7) return -1;
  return ran;
}
)";

constexpr char kFamilyMain[] = R"(
#include <stddef.h>
#include <string.h>
int hResults(size_t, float*);
int oResults(size_t, float*);
static float h[100000], o[100000];
int main(void) {
  int ran = 0;
  for (size_t m = 0; m < 45; ++m) {
    const int by_header = hResults(m, h);
    if (by_header < 0 || by_header != oResults(m, o) || memcmp(h, o, sizeof(h)) != 0) return 1;
    ran += by_header > 0;
  }
  return ran > 0 && ran < 44 ? 0 : 1;
}
)";

struct FamilyCall {
  std::string request;
  const char *arguments, *pack = "(void)0";
  int threads = 1;
};

class EmittedFamilyTest : public EmittedCodeTest {
 protected:
  // Every size, and those beside them, through the header's function and through the object's, which the
  // header of declarations declares.
  void ExpectAsHeader(const FamilyCall& call) const {
    SCOPED_TRACE(call.request);
    const std::string synth = Cat(call.request, " --target haswell -o ");
    Synth(Cat(synth, Path("k.h")));
    Synth(Cat(synth, Path("k.o"), " --emit obj --declarations ", Path("d.h")));
    Synth(Cat(synth, Path("k.s"), " --emit asm"));
    Synth(Cat(synth, Path("k.ll"), " --emit ll"));
    const std::string declarations = *ReadFile(Path("d.h"));
    EXPECT_EQ(declarations.find("static KIRSCH_NOINLINE"), std::string::npos);
    const std::smatch found = Find(declarations, "\n(int ([a-z_0-9]+)\\(.*\\);)\n");
    const std::string prototype = found[1], name = found[2];
    for (const auto& [file, comment] : {std::pair{"k.h", "// "}, {"k.s", "# "}, {"k.ll", "; "}})
      EXPECT_THAT(*ReadFile(Path(file)), HasSubstr(Cat(comment, prototype, "\n")));
    EXPECT_EQ(Shell("nm --defined-only --extern-only -f posix k.o | cut -d' ' -f1"),
              Cat(name, "\n", prototype.find("packed") == std::string::npos ? "" : name + "_pack\n"));
    const bool scratch = prototype.find("scratch_memory") != std::string::npos;
    CompileCaller(call, name, scratch, "k.h", "h");
    CompileCaller(call, name, scratch, "d.h", "o");
    ASSERT_TRUE(WriteFile(Path("main.c"), kFamilyMain).ok());
    Shell("cc -o main main.c hcaller.o ocaller.o k.o && ./main");
  }

 private:
  // Its functions' names begin with `prefix`.
  void CompileCaller(const FamilyCall& call, const std::string& name, bool scratch, const char* header,
                     const char* prefix) const {
    ASSERT_TRUE(WriteFile(Path("caller.c"), kFamilyCaller).ok());
    Shell(Cat("cc -c -O1 -Wall -Werror -Wno-unused -DKERNEL=", name, " '-DHEADER=\"", header,
              "\"' '-DSCRATCH=", scratch ? ", scratch" : "",
              "' '-DSCRATCH_BYTES=", scratch ? "NAME(_scratch_bytes)()" : "0", "' '-DCALL=", call.arguments,
              "' '-DPACK=", call.pack, "' -DTHREADS=", call.threads, " -DResults=", prefix,
              "Results -DRun=", prefix, "Run -DPack=", prefix, "Pack -o ", prefix, "caller.o caller.c"));
  }
};

TEST_F(EmittedFamilyTest, ObjectsOfMatmulsComputeWhatTheirHeadersDo) {
  for (const FamilyCall& call :
       {FamilyCall{"'matmul f32 1..40x64x70'", "m, in[0], in[1], out SCRATCH"},
        FamilyCall{"'matmul f32 5..20x64x70 epilogue=add:n'", "m, in[0], in[1], in[2], out SCRATCH"},
        FamilyCall{"'matmul f32 1..6x2..7x20'", "m, m + 1, in[0], in[1], out SCRATCH"},
        FamilyCall{"'matmul f32 1..20x100x200 rhs=col'", "m, in[0], in[1], out SCRATCH"},
        FamilyCall{"'matmul f32 30x24x1..40'", "m, in[0], in[1], out SCRATCH"},
        FamilyCall{"'matmul f32 1..20x64x70' --threads 2 --uniform",
                   "m, in[0], in[1], out, scratch, thread, THREADS, shared, phase", "(void)0", 2},
        FamilyCall{"'matmul f32 1..20x64x70 const-rhs'", "m, in[0], packed, out SCRATCH",
                   "NAME(_pack)(in[1], packed)"}})
    ExpectAsHeader(call);
}

TEST_F(EmittedFamilyTest, ObjectsOfGraphsComputeWhatTheirHeadersDo) {
  ExpectAsHeader({"'softmax f32 1|3..5|9x70'", "m, in[0], out SCRATCH"});
  ASSERT_TRUE(WriteFile(Path("k.kirsch"),
                        "kernel logits[m = 1..20](x: f32[m,48], w: const f32[48,70]):\n"
                        "  return softmax(matmul(x, w))\n")
                  .ok());
  ExpectAsHeader({Cat("-f ", Path("k.kirsch"), " --kernel logits"), "m, in[0], packed, out SCRATCH",
                  "NAME(_pack)(in[1], packed)"});
}

constexpr char kUniformCaller[] = R"(
#include <stdio.h>
#include HEADER
typedef void (*Kernel)(const float*, const float*, float*, void*, size_t, size_t, void*, size_t);
static float a[60 * 300], b[300 * 300], c[60 * 300];
static _Alignas(64) char scratch[1 << 20], shared[1 << 20];
// c += a b, by three threads one after the other.
static int Wrong(Kernel kernel, size_t phases, size_t memory, size_t m, size_t k, size_t n) {
  for (size_t i = 0; i < m * k; ++i) a[i] = (float)(i % 7) - 3;
  for (size_t i = 0; i < k * n; ++i) b[i] = (float)(i % 5) - 2;
  for (size_t i = 0; i < m * n; ++i) c[i] = 1;
  if (memory > sizeof(shared)) return 1;
  for (size_t phase = 0; phase < phases; ++phase)
    for (size_t thread = 0; thread < 3; ++thread) kernel(a, b, c, scratch, thread, 3, shared, phase);
  for (size_t i = 0; i < m * n; ++i) {
    float sum = INITIAL;
    for (size_t x = 0; x < k; ++x) sum += a[i / n * k + x] * b[x * n + i % n];
    if (c[i] != sum) return 1;
  }
  return 0;
}
int main(void) { return Wrong(KERNEL, PHASES(), SCRATCH() + SHARED(), M, K, N); }
)";

// Whether they are alone in their file, need scratch memory, have work for several threads, or are graphs.
TEST_F(EmittedCodeTest, UniformFunctionsAreCalledAlike) {
  struct Function {
    std::string name, text;
    int m, k, n, initial;
  };
  const std::vector<Function> functions = {
      {"tiny", "tiny = matmul f32 4x6x8 accumulate", 4, 6, 8, 1},
      {"large", "large = matmul f32 60x300x300 accumulate", 60, 300, 300, 1},
      {"graph", "kernel graph(x: f32[4,6], w: f32[6,8]) -> f32[4,8]:\n  return neg(neg(matmul(x, w)))", 4, 6,
       8, 0}};
  ASSERT_TRUE(WriteFile(Path("main.c"), kUniformCaller).ok());
  std::string all;
  for (const Function& function : functions) Append(&all, function.text, "\n");
  for (const char* targets : {"haswell", "haswell,znver4"}) {
    ASSERT_TRUE(WriteFile(Path("all.kirsch"), all).ok());
    Synth(Cat("-f ", Path("all.kirsch"), " --uniform --threads 2 --target ", targets, " -o ", Path("all.h")));
    for (const Function& function : functions) {
      ASSERT_TRUE(WriteFile(Path("alone.kirsch"), function.text + "\n").ok());
      Synth(Cat("-f ", Path("alone.kirsch"), " --uniform --threads 2 --target ", targets, " -o ",
                Path("alone.h")));
      const std::string& name = function.name;
      for (const char* header : {"all.h", "alone.h"})
        Shell(Cat("cc -std=c11 -O1 -Werror=incompatible-pointer-types -DHEADER='\"", header, "\"' -DKERNEL=",
                  name, " -DPHASES=", name, "_phases -DSCRATCH=", name, "_scratch_bytes -DSHARED=", name,
                  "_shared_bytes -DINITIAL=", function.initial, " -DM=", function.m, " -DK=", function.k,
                  " -DN=", function.n, " -o main main.c && ./main"));
    }
  }
}

// No name that is accepted stands for something else in a header, or in what it includes.
TEST_F(EmittedCodeTest, MacrosOfCompilersAndHeadersAreNoNames) {
  std::string source;
  for (const char* header : {"immintrin", "stddef", "stdint", "stdio", "stdlib", "string", "math"})
    Append(&source, "#include <", header, ".h>\n");
  ASSERT_TRUE(WriteFile(Path("m.h"), source).ok());
  for (const char* language : {"-x c -std=gnu99", "-x c++ -std=gnu++17"}) {
    const std::vector<std::string> macros =
        All(Shell(Cat("cc ", language, " -dM -E m.h")), "#define ([A-Za-z_0-9]+)");
    EXPECT_GT(macros.size(), 1000u);
    for (const std::string& macro : macros) EXPECT_FALSE(IsIdentifier(macro)) << macro;
  }
}

// What a function can't be called after the headers that a kernel's header includes.
TEST_F(EmittedCodeTest, WhatHeadersDeclareIsNoNameOfAKernel) {
  std::string includes;
  for (const char* header : {"immintrin", "stddef", "stdint", "stdio", "stdlib", "string"})
    Append(&includes, "#include <", header, ".h>\n");
  ASSERT_TRUE(WriteFile(Path("d.h"), includes).ok());
  for (const char* language : {"-x c -std=gnu11", "-x c++ -std=gnu++20"}) {
    std::vector<std::string> names;
    for (absl::string_view word :
         absl::StrSplit(Shell(Cat("cc ", language, " -E -P d.h | tr -cs A-Za-z0-9_ '\\n' | sort -u")), '\n'))
      if (IsKernelName({word.data(), word.size()})) names.emplace_back(word);
    std::string source = Cat(includes, "#line 1 \"names\"\n");
    for (const std::string& name : names) Append(&source, "void ", name, "(const float*, float*);\n");
    ASSERT_TRUE(WriteFile(Path("d.c"), source).ok());
    const std::string errors = Shell(Cat("(cc ", language, " -fsyntax-only -fmax-errors=0 d.c || true)"));
    for (const std::string& line : All(errors, "names:([0-9]+):[0-9]+: error"))
      ADD_FAILURE() << names[static_cast<size_t>(std::stoi(line)) - 1] << " is accepted";
    EXPECT_GT(names.size(), 50u);
  }
}

// Each word of a header and its self-test, and whatever it may be in C's library, as the name of a kernel and
// of a parameter, if it is accepted.
TEST_F(EmittedCodeTest, WhateverIsAcceptedAsANameCompiles) {
  ASSERT_TRUE(WriteFile(Path("seed.kirsch"),
                        "kernel g[m = 1..2](x: f32[m,40], w: f32[40,9]):\n return softmax(matmul(x, w))\n"
                        "e = matmul u8*s8->u8 1..2x9x9 epilogue=f32,mul:n,add:3\n"
                        "b = matmul bf16 3x4x5 const-rhs\n")
                  .ok());
  Synth(Cat("-f ", Path("seed.kirsch"), " --target haswell,znver4 --threads 2 -o ", Path("seed.h")));
  std::set<std::string> words;
  for (const std::string& word : All(*ReadFile(Path("seed.h")), "\\b([A-Za-z_][A-Za-z_0-9]*)\\b"))
    words.insert(word);
  for (const char* word :
       {"abs", "div", "exp", "index", "signal", "y1", "time", "read", "I", "N", "f", "e", "_x"})
    words.insert(word);
  std::string kernels, parameters, sum;
  int count = 0, in_kernel = 0;
  for (const std::string& word : words) {
    // Those of a kernel's code are another's where both are in one file.
    const bool generated =
        std::any_of(GeneratedSuffixes().begin(), GeneratedSuffixes().end(), [&](std::string_view suffix) {
          return word.size() > suffix.size() && word.substr(word.size() - suffix.size()) == suffix;
        });
    const bool of_target = word.find("_haswell") != word.npos || word.find("_znver4") != word.npos;
    if (IsKernelName(word) && !generated && !of_target && word.find("g_") != 0 && word.find("seed_") != 0 &&
        word.find("SEED") != 0)
      Append(&kernels, word, " = matmul f32 1..2x1x", ++count % 7 + 1, "\n");
    const bool operation = std::any_of(
        kOperations.begin(), kOperations.end(),
        [&](const OperationInfo& info) { return info.kind != OperationKind::kLeaf && info.name == word; });
    if (!IsIdentifier(word) || operation || word == "return" || word.size() > 20) continue;
    if (in_kernel == 0) Append(&parameters, "kernel params", ++count, "[rows0 = 1..2](");
    Append(&parameters, in_kernel == 0 ? "" : ", ", word, ": f32[rows0,9]");
    sum = in_kernel == 0 ? word : Cat("add(", sum, ", ", word, ")");
    if (++in_kernel == 10) {
      Append(&parameters, "):\n  return softmax(", sum, ")\n");
      in_kernel = 0;
    }
  }
  if (in_kernel > 0) Append(&parameters, "):\n  return softmax(", sum, ")\n");
  EXPECT_GT(count, 50);
  ASSERT_TRUE(WriteFile(Path("names.kirsch"), kernels + parameters).ok());
  Synth(Cat("-f ", Path("names.kirsch"), " --target haswell --threads 2 -o ", Path("names.h")));
  for (const char* language : {"cc -x c -std=c99", "c++ -x c++ -std=c++17"})
    Shell(Cat(language,
              " -Wall -Werror -Wno-unused-function -Wno-unknown-warning-option -fsyntax-only "
              "-DNAMES_SELF_TEST names.h"));
}

TEST_F(EmittedCodeTest, NamesThatGeneratedCodeHasAreRefused) {
  const auto refused = [&](const std::string& file, const std::string& options, const std::string& message) {
    ASSERT_TRUE(WriteFile(Path("a.kirsch"), file).ok());
    const std::string arguments = Cat("synth --no-db --no-verify -f ", Path("a.kirsch"), " ", options);
    testing::ExpectRefusal(kirsch::testing::RunKirsch("", arguments, directory_.path()), arguments,
                           Cat(Path("a.kirsch"), message));
  };
  refused("a = matmul f32 4x4x4 const-rhs\na_pack = matmul f32 4x4x4", "", ":2:1: expected another name");
  refused("kernel f(NULL: f32[4]):\n return relu(NULL)", "", ":1:10: expected a name");
  refused("kernel f(_Bool: f32[4]):\n return relu(_Bool)", "", ":1:10: expected a name");
  refused("kernel f(M_PI: f32[4]):\n return relu(M_PI)", "", ":1:10: expected a name");
  refused("kernel f(x: f32[4]):\n M_PI = relu(x)\n return M_PI", "", ":2:2: expected a name");
  refused("kernel tanh(x: f32[4]):\n return relu(x)", "", ":1:8: expected the kernel's name");
  refused("c = matmul f32 1..2x4x4\n c_m1 = matmul f32 4x4x4", "", ":2:2: expected another name than 'c_m1'");
  refused("c = matmul f32 2x4x4\nc_haswell = matmul f32 4x4x4", "--target haswell,znver4",
          ":2:1: expected another name than 'c_haswell'");
  refused("a_exp = matmul f32 2x4x4", "", ":1:1: expected another name than 'a_exp'");
  refused("set = matmul f32 2x4x4", "--prefix mem", ":1:1: --prefix: expected one with which 'memset'");
}

}  // namespace
}  // namespace kirsch
