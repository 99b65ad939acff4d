// SPDX-License-Identifier: Apache-2.0
// Random kernels in the kernel language, drawn from its grammar and its rules of types and shapes
// (docs/spec.md): every operation, type and option, broadcasts of every form, sizes from 1, any rank,
// values that are used again, computed again or not at all, one result or several. It knows nothing of what
// plans can do. A kernel is a tree of our own, of which the text is one form, so that whoever reads the text
// is tested, too.
#ifndef KIRSCH_TESTS_TESTING_GRAMMAR_GRAPH_H_
#define KIRSCH_TESTS_TESTING_GRAMMAR_GRAPH_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace kirsch::testing {

struct GrammarArgument {
  int value = -1;      // of GrammarGraph::values
  std::string number;  // as it is written, if value < 0
};

// A parameter, or what an operation makes.
struct GrammarValue {
  std::string name;
  std::string type;            // of its elements: "f32"
  std::vector<uint32_t> dims;  // outermost first
  bool constant = false;       // a parameter that is known ahead
  std::string op;              // empty: a parameter
  std::vector<GrammarArgument> arguments;
  std::vector<std::pair<std::string, std::string>> options;  // ("axis", "0")
  std::vector<uint32_t> strides = {};                        // of a parameter or a result; empty: row by row

  int64_t elements() const;
  // Where the element lies that is number `element`, row by row; and how far the last one reaches.
  int64_t PlaceOf(int64_t element) const;
  int64_t span() const { return PlaceOf(elements() - 1) + 1; }
  double Option(const std::string& option, double otherwise) const;
};

struct GrammarGraph {
  std::vector<GrammarValue> values;  // the parameters first; arguments before what is made of them
  int parameters = 0;
  int result = 0;
  std::vector<int> others = {};  // further results, which are returned behind it

  const GrammarValue& at(int value) const { return values[static_cast<size_t>(value)]; }
  // In the order of the return.
  std::vector<int> results() const {
    std::vector<int> all = {result};
    all.insert(all.end(), others.begin(), others.end());
    return all;
  }
};

// Whether there are weights of blocks, and matmuls that may round lhs.
enum class GrammarWeights : uint8_t { kDense, kAny };

// A kernel of about so many operations, whose values have at most a few thousand elements.
GrammarGraph RandomGrammarGraph(int operations, std::mt19937& random,
                                GrammarWeights weights = GrammarWeights::kAny);

// The kernel as text: statements in any order that has arguments before their uses, values that are used once
// perhaps written where they are used.
std::string GrammarText(const GrammarGraph& graph, std::mt19937& random);

// A parameter in memory, whose gaps are all ones.
std::vector<std::byte> StoredParameter(const GrammarValue& parameter, const std::vector<double>& elements);

// Values of a type, many small, some zero, some of another magnitude: exact in the type.
std::vector<double> RandomElements(const GrammarValue& parameter, std::mt19937& random);

}  // namespace kirsch::testing

#endif  // KIRSCH_TESTS_TESTING_GRAMMAR_GRAPH_H_
