// SPDX-License-Identifier: Apache-2.0
#include "import/import_kernel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "spec/element_array.h"
#include "spec/language/kernel_file.h"
#include "spec/meaning/graph_reference.h"
#include "spec/text/cat.h"
#include "tests/testing/mlir_program.h"

namespace kirsch::testing {
namespace {

using ::testing::HasSubstr;

// The graph of a kernel's text.
Graph GraphOf(const std::string& text) {
  auto requests = ParseKernelFile(text, "k");
  EXPECT_TRUE(requests.ok()) << requests.status() << "\n" << text;
  requests->front().UseGraph();
  return requests->front().family.graphs()->member(0);
}

DenseTensor DrawTensor(const std::vector<int64_t>& shape, std::mt19937& random) {
  DenseTensor tensor{shape, {}};
  int64_t elements = 1;
  for (const int64_t size : shape) elements *= size;
  for (int64_t i = 0; i < elements; ++i)
    tensor.values.push_back(static_cast<float>(static_cast<int>(random() % 257) - 128) / 128);
  return tensor;
}

// The place in memory of each element of a tensor, those of a row after each other.
std::vector<int64_t> PlacesOf(const TensorType& type) {
  std::vector<int64_t> places;
  for (int64_t row = 0; row < GraphReference::Rows(type); ++row)
    for (int64_t i = 0; i < GraphReference::RowLength(type); ++i)
      places.push_back(GraphReference::StartOfRow(type, row) + i);
  return places;
}

// What the kernel computes for arguments that lie in memory as the program has them: results as the program
// wants them to lie.
std::vector<DenseTensor> ResultsOf(const Graph& graph, const std::vector<DenseTensor>& arguments) {
  std::vector<std::vector<float>> memory;
  std::vector<const void*> inputs;
  for (const DenseTensor& argument : arguments) {
    memory.emplace_back(argument.values.begin(), argument.values.end());
    // Indices are integers.
    if (graph.nodes[memory.size() - 1].type.dtype == Dtype::kS32)
      for (float& element : memory.back()) element = std::bit_cast<float>(static_cast<int32_t>(element));
  }
  for (const auto& values : memory) inputs.push_back(values.data());
  GraphReference reference(graph, inputs);
  std::vector<DenseTensor> results;
  for (const GraphResult& result : graph.results) {
    const TensorType& type = graph.TypeOf(result);
    const std::vector<int64_t> places = PlacesOf(type);
    DenseTensor tensor{{}, std::vector<double>(places.size(), std::numeric_limits<double>::quiet_NaN())};
    for (int64_t row = 0, next = 0; row < GraphReference::Rows(type); ++row)
      for (const Uncertain& element : reference.ResultRow(result, row))
        tensor.values[static_cast<size_t>(places[static_cast<size_t>(next++)])] = element.value;
    results.push_back(std::move(tensor));
  }
  return results;
}

// Programs that are imported compute what their definitions say; others are refused in one line with a place.
TEST(ImportKernel, DrawnProgramsAreRightOrRefused) {
  std::mt19937 random(20261129);
  int imported = 0;
  constexpr int kPrograms = 3000;
  for (int i = 0; i < kPrograms; ++i) {
    const MlirModule module = DrawMlirProgram(random);
    const auto kernels = ImportKernels(module, "m.mlir", "net");
    if (!kernels.ok()) {
      const std::string error(kernels.status().message());
      EXPECT_THAT(error, HasSubstr("m.mlir:"));
      EXPECT_THAT(error, HasSubstr("expected "));
      EXPECT_EQ(error.find('\n'), std::string::npos);
      continue;
    }
    ++imported;
    std::vector<DenseTensor> arguments;
    for (const auto& argument : module.functions[0].body.arguments)
      arguments.push_back(DrawTensor(argument.value.type.shape, random));
    const std::vector<DenseTensor> expected = Evaluate(module, arguments);
    // Constants of the program that are no numbers are further parameters.
    for (const KernelConstant& constant : kernels->front().constants) {
      arguments.push_back({constant.tensor.shape, {}});
      for (int64_t e = 0; e < constant.tensor.elements(); ++e)
        arguments.back().values.push_back(constant.tensor.at(e));
    }
    const std::vector<DenseTensor> found = ResultsOf(GraphOf(kernels->front().text), arguments);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t r = 0; r < expected.size(); ++r) {
      ASSERT_EQ(found[r].values.size(), expected[r].values.size());
      for (size_t e = 0; e < expected[r].values.size(); ++e) {
        const double want = expected[r].values[e];
        if (!std::isfinite(want)) continue;
        ASSERT_NEAR(found[r].values[e], want, 1e-4 * (1 + std::abs(want)))
            << "program " << i << ", result " << r << ", element " << e << "\n"
            << kernels->front().text;
      }
    }
  }
  EXPECT_GT(imported, kPrograms * 99 / 100);
  RecordProperty("imported", imported);
}

// Changes a number, a word, an operand or a size somewhere. Operands stay values that are defined before.
void Mutate(MlirModule* module, std::mt19937& random) {
  const auto pick = [&](auto& list) -> auto& { return list[random() % list.size()]; };
  std::vector<MlirOperation>& operations = module->functions[0].body.operations;
  MlirOperation& operation = pick(operations);
  MlirOperation& in_body = operation.regions.empty() ? operation : pick(operation.regions[0].operations);
  const std::vector<int64_t> numbers = {-1, 0, 1, 2, 3, 6, int64_t{1} << 40};
  switch (random() % 9) {
    case 0:
      if (!operation.results.empty()) {
        auto& shape = operation.results[0].type.shape;
        if (!shape.empty()) pick(shape) = pick(numbers);
      }
      return;
    case 1:
      if (!operation.results.empty()) operation.results[0].type.shape.push_back(pick(numbers));
      return;
    case 2:
      if (operation.operands.size() > 1) std::swap(operation.operands.front(), operation.operands.back());
      return;
    case 3:
      if (!operation.operands.empty() && operation.name != "func.return") operation.operands.pop_back();
      return;
    case 4:
      in_body.name = pick(operations).name;
      return;
    case 5:
      if (!in_body.operands.empty()) pick(in_body.operands) = in_body.operands.back();
      return;
    case 6:
      for (auto& [name, attribute] : operation.attributes)
        if (!attribute.numbers.empty() && random() % 2 == 0)
          pick(attribute.numbers) = static_cast<double>(pick(numbers));
      return;
    case 7:
      for (auto& [name, attribute] : operation.attributes)
        if (!attribute.maps.empty())
          if (MlirMap& map = pick(attribute.maps); !map.empty()) pick(pick(map)) = pick(numbers);
      return;
    default:
      for (auto& [name, attribute] : operation.attributes)
        if (!attribute.words.empty()) std::swap(attribute.words.front(), attribute.words.back());
  }
}

// Programs that MLIR would refuse, too, are kernels or one line.
TEST(ImportKernel, MutatedProgramsAreRefused) {
  std::mt19937 random(20261130);
  int imported = 0;
  constexpr int kPrograms = 6000;
  for (int i = 0; i < kPrograms; ++i) {
    MlirModule module = DrawMlirProgram(random);
    for (unsigned changes = random() % 2 + 1; changes > 0; --changes) Mutate(&module, random);
    const auto kernels = ImportKernels(module, "m.mlir", "net");
    imported += kernels.ok() ? 1 : 0;
    if (kernels.ok()) continue;
    const std::string error(kernels.status().message());
    EXPECT_THAT(error, HasSubstr("m.mlir:"));
    EXPECT_THAT(error, HasSubstr("expected "));
    EXPECT_EQ(error.find('\n'), std::string::npos);
  }
  RecordProperty("imported", imported);
}

// The kernel of `main` as text.
std::string TextOf(const MlirModule& module) {
  const auto kernels = ImportKernels(module, "m.mlir", "net");
  return kernels.ok() ? kernels->front().text : std::string(kernels.status().message());
}

// Reshapes and transpositions of heads are views: the weights are read by strides, and nothing is copied.
TEST(ImportKernel, HeadsAreStrides) {
  MlirBuilder b;
  const int x = b.Parameter({24, 64}), w = b.Parameter({64, 64});
  const int q = b.Reshape(b.Dot(x, w, {{}, {}, {1}, {0}}), {24, 4, 16});
  EXPECT_EQ(TextOf(b.Return({b.Transpose(q, {1, 0, 2})})),
            "kernel net(arg0: f32[1,24,64], arg1: f32[4,64,16] strides=[16,64,1]) -> f32[4,24,16]:\n"
            "  v1 = matmul(arg0, arg1)\n"
            "  return v1\n");
  // As they come from the projection, they lie side by side.
  EXPECT_THAT(TextOf(b.Return({q})), HasSubstr("-> f32[4,24,16] strides=[16,64,1]:"));
}

// What no strides say is a copy; of a parameter that is returned, only that.
TEST(ImportKernel, OtherOrdersAreCopies) {
  MlirBuilder b;
  const int x = b.Parameter({2, 5, 6, 16});
  const int pixels = b.Transpose(b.Reshape(x, {2, 5, 6, 2, 2, 4}), {0, 1, 3, 2, 4, 5});
  EXPECT_EQ(TextOf(b.Return({b.Reshape(pixels, {2, 10, 12, 4})})),
            "kernel net(arg0: f32[2,5,6,2,2,4]) -> f32[2,5,2,6,2,4]:\n"
            "  v1 = permute(arg0, [0,1,3,2,4,5])\n"
            "  return v1\n");
  EXPECT_EQ(TextOf(b.Return({b.Broadcast(b.Reduce(x, true, {0, 1, 2}), {3, 16}, {1}), x, x})),
            "kernel net(arg0: f32[2,5,6,16]) -> (f32[3,16], f32[2,5,6,16], f32[2,5,6,16]):\n"
            "  v1 = reduce_sum(arg0, axis=0, axis=1, axis=2)\n"
            "  v2 = reshape(v1, [1,16])\n"
            "  v3 = broadcast(v2, [3,16])\n"
            "  v4 = cast(arg0, f32)\n"
            "  v5 = cast(v4, f32)\n"
            "  return v3, v4, v5\n");
}

MlirAttribute NumbersOf(std::vector<double> list) {
  MlirAttribute attribute;
  attribute.numbers = std::move(list);
  return attribute;
}

// An image along whose axes index i is at (i * down + offset) / up of the other one, or nearest to that.
void ExpectResized(const std::string& mode, int up, int down, int offset, int border) {
  std::mt19937 random(1);
  const int height = (3 * up - offset + border) / down + 1, width = (5 * up - offset + border) / down + 1;
  MlirBuilder b;
  const int x = b.Parameter({1, 4, 6, 2});
  MlirAttribute word;
  word.words = {mode};
  const auto kernels =
      ImportKernels(b.Return({b.Add("tosa.resize", {x}, {1, height, width, 2},
                                    {{"mode", word},
                                     {"scale", NumbersOf({1.0 * up, 1.0 * down, 1.0 * up, 1.0 * down})},
                                     {"offset", NumbersOf({1.0 * offset, 1.0 * offset})},
                                     {"border", NumbersOf({1.0 * border, 1.0 * border})}})}),
                    "m.mlir", "net");
  ASSERT_TRUE(kernels.ok()) << kernels.status();
  std::vector<DenseTensor> arguments = {DrawTensor({1, 4, 6, 2}, random)};
  for (const KernelConstant& constant : kernels->front().constants) {
    arguments.push_back({constant.tensor.shape, {}});
    for (int64_t e = 0; e < constant.tensor.elements(); ++e)
      arguments.back().values.push_back(constant.tensor.at(e));
  }
  const std::vector<double> found = ResultsOf(GraphOf(kernels->front().text), arguments)[0].values;
  const auto at = [&](double row, double column, int channel) {
    const double place = (std::clamp(row, 0.0, 3.0) * 6 + std::clamp(column, 0.0, 5.0)) * 2 + channel;
    return arguments[0].values[static_cast<size_t>(place)];
  };
  for (int i = 0; i < height * width * 2; ++i) {
    const double row = (i / 2 / width * down + offset) / (1.0 * up),
                 column = (i / 2 % width * down + offset) / (1.0 * up), y = std::floor(row),
                 x0 = std::floor(column), dy = row - y, dx = column - x0;
    const int c = i % 2;
    const double blended = (1 - dy) * ((1 - dx) * at(y, x0, c) + dx * at(y, x0 + 1, c)) +
                           dy * ((1 - dx) * at(y + 1, x0, c) + dx * at(y + 1, x0 + 1, c));
    const double nearest = at(y + (dy >= 0.5 ? 1 : 0), x0 + (dx >= 0.5 ? 1 : 0), c);
    ASSERT_NEAR(found[static_cast<size_t>(i)], mode == "BILINEAR" ? blended : nearest, 1e-6)
        << mode << " " << i;
  }
}

TEST(ImportKernel, TosaImagesAreResizedByTheDefinition) {
  for (const char* mode : {"NEAREST_NEIGHBOR", "BILINEAR"}) {
    ExpectResized(mode, 3, 2, -1, 0);
    ExpectResized(mode, 2, 1, 0, 1);
    ExpectResized(mode, 4, 2, -1, 1);
    ExpectResized(mode, 1, 2, 1, 0);
  }
}

TEST(ImportKernel, TosaTakesElementsAndTheirPlaces) {
  MlirBuilder b;
  const int x = b.Parameter({3, 9, 8}), i = b.Parameter({3, 5}, "i32");
  const int rows = b.Add("tosa.gather", {x, i}, {3, 5, 8});
  const int place = b.Add("tosa.argmax", {rows}, {3, 5}, {{"axis", NumbersOf({2})}}, "i32");
  EXPECT_EQ(TextOf(b.Return({place})),
            "kernel net(arg0: f32[3,9,8], arg1: s32[3,5]) -> s32[3,5,1]:\n"
            "  v1 = take(arg0, arg1, axis=1)\n"
            "  v2 = argmax(v1, axis=2)\n"
            "  return v2\n");
  EXPECT_EQ(TextOf(b.Return({b.Add("tosa.tile", {x}, {3, 18, 8}, {{"multiples", NumbersOf({1, 2, 1})}})})),
            "kernel net(arg0: f32[3,9,8], arg1: s32[3,5]) -> f32[3,2,9,8]:\n"
            "  v1 = reshape(arg0, [3,1,9,8])\n"
            "  v2 = broadcast(v1, [3,2,9,8])\n"
            "  return v2\n");
}

// Integers have no comparisons and choices: those that indices take are made of others. Sums of as many
// elements as there are before each are running sums.
TEST(ImportKernel, IndicesAreIntegers) {
  MlirBuilder b;
  const int i = b.Parameter({7}, "i32"), j = b.Parameter({7}, "i32");
  MlirAttribute less;
  less.text = "#stablehlo<comparison_direction LT>";
  const int zero = b.Constant(0, {7}, "i32"),
            is = b.Add("stablehlo.compare", {i, zero}, {7}, {{"comparison_direction", less}}, "i1"),
            more = b.Add("stablehlo.compare", {i, j}, {7}, {{"comparison_direction", less}}, "i1");
  EXPECT_EQ(TextOf(b.Return({b.Add("stablehlo.select", {is, j, i}, {7}, {}, "i32")})),
            "kernel net(arg0: s32[7], arg1: s32[7]) -> s32[7]:\n"
            "  v1 = cast(arg0, f32)\n"
            "  v2 = less(v1, 0)\n"
            "  v3 = sub(arg1, arg0)\n"
            "  v4 = cast(v2, s32)\n"
            "  v5 = mul(v4, v3)\n"
            "  v6 = add(arg0, v5)\n"
            "  return v6\n");
  EXPECT_THAT(TextOf(b.Return({b.Add("stablehlo.convert", {more}, {7}, {}, "i32")})),
              HasSubstr("  v1 = max(arg0, arg1)\n"
                        "  v2 = sub(v1, arg0)\n"
                        "  v3 = cast(v2, f32)\n"
                        "  v4 = equal(v3, 0)\n"
                        "  v5 = sub(1, v4)\n"));
}

// What frameworks write out is the operation that it is.
TEST(ImportKernel, RecognisesSoftmax) {
  MlirBuilder b;
  const int x = b.Parameter({8, 64});
  const int most = b.Broadcast(b.Reduce(x, false, {1}), {8, 64}, {0});
  const int e = b.Add("stablehlo.exponential", {b.Add("stablehlo.subtract", {x, most}, {8, 64})}, {8, 64});
  const int sum = b.Broadcast(b.Reduce(e, true, {1}), {8, 64}, {0});
  EXPECT_THAT(TextOf(b.Return({b.Add("stablehlo.divide", {e, sum}, {8, 64})})),
              HasSubstr("v1 = softmax(arg0)\n"));
}

// Along another axis than the last there is no such operation.
TEST(ImportKernel, SoftmaxOfColumnsIsWrittenOut) {
  MlirBuilder b;
  const int x = b.Parameter({8, 64});
  const int most = b.Broadcast(b.Reduce(x, false, {0}), {8, 64}, {1});
  const int e = b.Add("stablehlo.exponential", {b.Add("stablehlo.subtract", {x, most}, {8, 64})}, {8, 64});
  const int sum = b.Broadcast(b.Reduce(e, true, {0}), {8, 64}, {1});
  EXPECT_THAT(TextOf(b.Return({b.Add("stablehlo.divide", {e, sum}, {8, 64})})),
              HasSubstr("v5 = div(v3, v4)\n"));
}

// A program of two matrices and what their product begins as, whose body is this.
MlirModule ContractionOf(const std::vector<MlirGeneric::Step>& body,
                         MlirMap of_lhs = {{1, 0, 0, 0}, {0, 0, 1, 0}}) {
  MlirBuilder b;
  const int x = b.Parameter({8, 16}), w = b.Parameter({16, 4}), begin = b.Parameter({8, 4});
  return b.Return({b.Generic({x, w, begin},
                             {{std::move(of_lhs), {{0, 0, 1, 0}, {0, 1, 0, 0}}, {{1, 0, 0, 0}, {0, 1, 0, 0}}},
                              {"parallel", "parallel", "reduction"},
                              body})});
}

// linalg's outputs are what a sum begins at.
TEST(ImportKernel, ContractionsAddToTheirOutputs) {
  EXPECT_THAT(TextOf(ContractionOf({{"arith.mulf", {0, 1}}, {"arith.addf", {2, 3}}})),
              HasSubstr("  v1 = matmul(arg0, arg1)\n  v2 = add(v1, arg2)\n  return v2\n"));
}

// What a side of the product does to its own elements is done before they are multiplied.
TEST(ImportKernel, SidesOfProductsAreElementwise) {
  EXPECT_THAT(TextOf(ContractionOf({{"math.tanh", {0}}, {"arith.mulf", {3, 1}}, {"arith.addf", {4, 2}}})),
              HasSubstr("  v1 = tanh(arg0)\n  v2 = matmul(v1, arg1)\n"));
}

TEST(ImportKernel, RefusesOtherBodies) {
  const char* const kExpected =
      "m.mlir:2:5: expected a body that adds an element to its output, or takes the larger one";
  EXPECT_EQ(TextOf(ContractionOf({{"arith.mulf", {0, 1}}, {"arith.mulf", {2, 3}}})), kExpected);
  EXPECT_EQ(TextOf(ContractionOf({{"arith.mulf", {0, 2}}, {"arith.addf", {2, 3}}})), kExpected);
  EXPECT_EQ(TextOf(ContractionOf({})), kExpected);
}

TEST(ImportKernel, RefusesOtherMaps) {
  const std::vector<MlirGeneric::Step> body = {{"arith.mulf", {0, 1}}, {"arith.addf", {2, 3}}};
  const char* const kExpected = "m.mlir:2:5: expected operand 0 with a map that is a projected permutation";
  EXPECT_EQ(TextOf(ContractionOf(body, {{1, 0, 0, 0}, {0, 0, 1, 1}})),
            "m.mlir:2:5: expected maps of a convolution, of one group or of one for each channel");
  EXPECT_EQ(TextOf(ContractionOf({{"arith.addf", {2, 0}}}, {{1, 0, 0, 0}, {0, 0, 2, 0}})), kExpected);
}

// Frameworks begin a maximum at the lowest finite number as well.
TEST(ImportKernel, MaximaBeginAtTheLowestNumber) {
  MlirBuilder b;
  const int x = b.Parameter({8, 16});
  MlirAttribute lowest;
  lowest.numbers = {std::numeric_limits<float>::lowest()};
  const int begin = b.Add("arith.constant", {}, {8}, {{"value", lowest}});
  const MlirGeneric most = {
      {{{1, 0, 0}, {0, 1, 0}}, {{1, 0, 0}}}, {"parallel", "reduction"}, {{"arith.maximumf", {0, 1}}}};
  EXPECT_THAT(TextOf(b.Return({b.Generic({x, begin}, most)})),
              HasSubstr("  v1 = reduce_max(arg0, axis=1)\n  return v1\n"));
}

// An image has to have the size that its windows cover, but for what a stride leaves over.
TEST(ImportKernel, RefusesImagesThatAreNotRead) {
  const MlirGeneric windows = {{{{1, 0, 0, 0, 0}, {0, 2, 0, 1, 0}, {0, 0, 1, 0, 0}},
                                {{0, 0, 0, 1, 0}, {0, 0, 1, 0, 0}},
                                {{1, 0, 0, 0, 0}, {0, 1, 0, 0, 0}}},
                               {"parallel", "parallel", "reduction", "reduction"},
                               {{"arith.mulf", {0, 1}}, {"arith.addf", {2, 3}}}};
  const auto text = [&](int64_t size) {
    MlirBuilder b;
    const int x = b.Parameter({2, size, 3}), w = b.Parameter({3, 3});
    MlirAttribute zero;
    zero.numbers = {0};
    return TextOf(
        b.Return({b.Generic({x, w, b.Add("arith.constant", {}, {2, 4}, {{"value", zero}})}, windows)}));
  };
  for (const int64_t size : {9, 10})
    EXPECT_THAT(text(size), HasSubstr("  v1 = conv1d(arg0, arg1, stride=2, layout=nwc)\n"));
  for (const int64_t size : {8, 11})
    EXPECT_EQ(text(size),
              "m.mlir:3:5: expected a result of the size that image, filters, strides and zeros give it");
}

// A matmul of one row by one column for each row of x would be no help.
TEST(ImportKernel, SumsOfSquaresAreReductions) {
  MlirBuilder b;
  const int x = b.Parameter({8, 16}), begin = b.Parameter({8});
  EXPECT_THAT(TextOf(b.Return({b.Generic({x, begin}, {{{{1, 0, 0}, {0, 1, 0}}, {{1, 0, 0}}},
                                                      {"parallel", "reduction"},
                                                      {{"arith.mulf", {0, 0}}, {"arith.addf", {2, 1}}}})})),
              HasSubstr("  v1 = mul(arg0, arg0)\n  v2 = reduce_sum(v1, axis=1)\n"));
}

// Zeros around an image are the convolution's own; filters of OHWI are read transposed.
TEST(ImportKernel, TosaConvolutionsHaveZerosAndBiases) {
  MlirBuilder b;
  const int x = b.Parameter({1, 8, 8, 3}), w = b.Parameter({16, 3, 3, 3}), bias = b.Parameter({16});
  const int y = b.Add(
      "tosa.conv2d", {x, w, bias}, {1, 4, 5, 16},
      {{"pad", NumbersOf({1, 0, 1, 2})}, {"stride", NumbersOf({2, 2})}, {"dilation", NumbersOf({1, 1})}});
  EXPECT_THAT(TextOf(b.Return({y})),
              HasSubstr("  v1 = conv2d(arg0, transpose(arg1), stride=2, pad=1,1,0,2, layout=nhwc)\n"
                        "  v2 = add(v1, arg2)\n"));
}

// Errors have the place of the operation in the file.
TEST(ImportKernel, RefusesAtTheOperation) {
  MlirBuilder b;
  const int x = b.Parameter({8, 64});
  const int y = b.Add("stablehlo.negate", {x}, {8, 64});
  EXPECT_EQ(TextOf(b.Return({b.Add("stablehlo.tan", {y}, {8, 64})})),
            "m.mlir:3:5: expected an operation that is imported, got 'stablehlo.tan'; did you mean "
            "'stablehlo.tanh'?");
}

TEST(ImportKernel, RefusesOtherShapes) {
  MlirBuilder b;
  const int x = b.Parameter({8, 64}), y = b.Parameter({64, 8});
  EXPECT_EQ(TextOf(b.Return({b.Add("stablehlo.add", {y, x}, {64, 8})})),
            "m.mlir:2:5: expected operands of the result's shape");
}

TEST(ImportKernel, RefusesWhatIsNoProgram) {
  MlirModule module;
  EXPECT_THAT(TextOf(module), HasSubstr("expected a function"));
  MlirBuilder b;
  const int x = b.Parameter({8, -1});
  EXPECT_THAT(TextOf(b.Return({b.Add("stablehlo.negate", {x}, {8, -1})})), HasSubstr("known sizes"));
}

}  // namespace
}  // namespace kirsch::testing
