// SPDX-License-Identifier: Apache-2.0
// libkirsch by its C++ wrapper. Prints nothing if all is well.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <kirsch.hpp>
#include <string>
#include <utility>
#include <vector>

#define CHECK(condition)                                                           \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::exit(1);                                                                \
    }                                                                              \
  } while (false)

namespace {

void CheckErrors(const kirsch::Context& context) {
  kirsch::Result<kirsch::Request> bad = kirsch::Request::Parse("matmul f32 8x8");
  CHECK(!bad && bad.error().code == KIRSCH_BAD_INPUT);
  CHECK(bad.error().message.find("text:1:12") == 0);
  bool thrown = false;
  try {
    bad.value();
  } catch (const kirsch::Exception& exception) {
    thrown = exception.code() == KIRSCH_BAD_INPUT && exception.what() == bad.error().message;
  }
  CHECK(thrown);
  kirsch::SolveOptions options;
  options.target = "nosuch";
  const kirsch::Request request = kirsch::Request::Parse("matmul f32 8x8x8").value();
  CHECK(context.Solve(request, options).error().message.find("nosuch") != std::string::npos);
}

void CheckFamily(const kirsch::Context& context) {
  const kirsch::Request request = kirsch::Request::Parse("softmax f32 1..4x100").value();
  const kirsch::Solution solution = context.Solve(request).value();
  CHECK(solution.Cost({1})->cycles < solution.Cost({4})->cycles);
  CHECK(!solution.Cost({5}));
  const kirsch::Kernel kernel = solution.Compile().value();
  for (size_t rows = 1; rows <= 4; ++rows) {
    const std::vector<kirsch_operand> operands = request.Operands({rows}).value();
    CHECK(operands.size() == 2 && operands[0].shape[0] == static_cast<int64_t>(rows));
    std::vector<float> x(rows * 100), y(rows * 100);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 13);
    CHECK(kernel({x.data(), y.data()}, {rows}));
    for (size_t row = 0; row < rows; ++row) {
      double sum = 0;
      for (size_t i = 0; i < 100; ++i) sum += std::exp(double{x[row * 100 + i]});
      for (size_t i = 0; i < 100; ++i)
        CHECK(std::abs(y[row * 100 + i] - std::exp(double{x[row * 100 + i]}) / sum) < 1e-6);
    }
  }
}

void CheckConstant(const kirsch::Context& context) {
  const kirsch::Request request = kirsch::Request::Parse("matmul f32 2x3x4 const-rhs").value();
  kirsch::Kernel made = context.Solve(request).value().Compile().value();
  const kirsch::Kernel kernel = std::move(made);
  const std::vector<float> lhs = {1, 2, 3, 4, 5, 6}, rhs(12, 2);
  std::vector<float> out(8);
  alignas(64) static std::byte packed[4096];
  CHECK(kernel.packed_bytes() <= sizeof packed);
  CHECK(kernel.Pack({nullptr, rhs.data(), nullptr}, packed));
  CHECK(kernel({lhs.data(), nullptr, out.data()}, {}, packed));
  for (size_t i = 0; i < 8; ++i) CHECK(out[i] == (i < 4 ? 12 : 30));
  CHECK(kernel({lhs.data(), nullptr, out.data()}).error().code == KIRSCH_BAD_INPUT);
}

}  // namespace

int main() {
  const kirsch::Context context = kirsch::Context::Create().value();
  CheckErrors(context);
  CheckFamily(context);
  CheckConstant(context);
  const kirsch::Request request = kirsch::Request::Parse("matmul f32 32x32x32").value();
  const kirsch::Solution solution = context.Solve(request).value();
  CHECK(solution.Header("mine")->find("void mine(") != std::string::npos);
  CHECK(solution.Explain()->find("matmul f32 32x32x32") != std::string::npos);
  CHECK(solution.Query()->find("\"inner_tile\"") != std::string::npos);
}
