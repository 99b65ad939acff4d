// SPDX-License-Identifier: Apache-2.0
// Defines a computation whose results are known. Kernels are verified on it, whatever they were made from: it
// makes the inputs, and says what the output has to be and how far it may be off.
#ifndef KIRSCH_CODEGEN_VERIFY_KNOWN_PROBLEM_H_
#define KIRSCH_CODEGEN_VERIFY_KNOWN_PROBLEM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "codegen/samples/block_data.h"
#include "spec/dtype.h"

namespace kirsch {

// Returns the kind for people: "even floats".
const char* Name(InputKind kind);

// A tensor of a problem, as the kernel takes it.
struct ProblemTensor {
  std::string name;
  Dtype dtype = Dtype::kF32;
  int64_t elements = 0;  // in memory, from the first to the last
};

// Says which tensor an output is, and where its elements lie. Rows run along the last axis.
struct ProblemOutput {
  size_t tensor = 0;
  std::string name = "out";
  Dtype dtype = Dtype::kF32;
  std::vector<int64_t> sizes, strides;  // of each axis, outermost first; strides in elements

  // Rows are numbered over all axes but the last one, the innermost of them fastest.
  int64_t rows() const;
  int64_t row_length() const { return sizes.back(); }
  int64_t RowStart(int64_t row) const;                  // its first element
  std::string Name(int64_t row, int64_t column) const;  // "out[0][3][7]"
};

// Says what some rows of an output should be, for inputs of one kind and seed.
struct Oracle {
  std::vector<int64_t> rows;  // by number
  // Of each element, row after row:
  std::vector<double> value;
  std::vector<double> most;   // the most that it may be off; infinite: anything
  std::vector<double> scale;  // what errors are relative to; empty: `most`
  bool bits = false;          // elements that may not be off are right bit for bit, once they are rounded
};

// A problem: all inputs, then or between them the outputs. The content of tensors depends only on the
// problem, the kind and the seed. So the same values can be made again at another address. Thread-safe.
class KnownProblem {
 public:
  virtual ~KnownProblem() = default;
  KnownProblem(const KnownProblem&) = delete;
  KnownProblem& operator=(const KnownProblem&) = delete;

  const std::vector<ProblemTensor>& tensors() const { return tensors_; }
  const std::vector<ProblemOutput>& outputs() const { return outputs_; }
  // True if the tensor is one of the outputs.
  bool IsOutput(size_t tensor) const;
  double flops() const { return flops_; }
  // Returns what a run takes, in flops. Making and checking an element takes as long as several.
  double work() const;
  // The most that the error of an element may be, relative to Oracle::scale.
  double error_bound() const { return error_bound_; }

  // Returns three kinds of inputs: the one that errors show best on, the one that asks most of the
  // arithmetic, and another one. They may be equal.
  virtual std::array<InputKind, 3> Kinds() const = 0;

  // Returns how many rows of an output are compared at most. Problems of up to `most_flops_in_full`, or a
  // part of that, are compared in full.
  virtual int64_t MostRows(double most_flops_in_full) const = 0;

  // Makes a tensor. Of an output it makes the content before the run: numbers if the spec adds to them, or
  // else Poison.
  virtual void Fill(size_t tensor, InputKind kind, uint64_t seed, void* data) const = 0;

  // Returns what the rows of an output should be. `tensors`: as Fill made them for this kind.
  virtual Oracle Expect(InputKind kind, absl::Span<void* const> tensors, const ProblemOutput& output,
                        std::vector<int64_t> rows) const = 0;

  // True if the memory between the rows of an output is as Fill left it.
  virtual bool GapsIntact(const ProblemOutput&, const void*) const { return true; }

  // Says, for people, how all of the output is checked without a reference for each element; empty: it is
  // not. CheckWhole does so; DATA_LOSS if something is wrong.
  virtual std::string WholeCheck() const { return ""; }
  virtual absl::Status CheckWhole(InputKind, uint64_t, absl::Span<void* const>) const {
    return absl::OkStatus();
  }

 protected:
  KnownProblem() = default;

  std::vector<ProblemTensor> tensors_;
  std::vector<ProblemOutput> outputs_;
  double flops_ = 0, error_bound_ = 1;
};

// Poison is a NaN, or an integer that stands out. No kernel may compute from it, and it shows where none has
// written. FillPoison fills memory with it; Poison() is its value as a number.
void FillPoison(Dtype dtype, size_t bytes, void* data);
double Poison(Dtype dtype);

// Returns all rows if there are `most` or fewer. Else it returns up to `most`: the first, the last, and
// others drawn by `seed`. Ascending.
std::vector<int64_t> ChooseRows(int64_t all, int64_t most, uint64_t seed);

// Returns up to `most` rows in which elements are NaN, or as Poison left them: those with most such elements
// first.
std::vector<int64_t> SuspectRows(const ProblemOutput& shape, const void* out, size_t most);

// Compares the oracle's rows with the output. DATA_LOSS names the first element that is wrong. Where an
// expected value is NaN, or a bound is infinite, anything may come. *max_error is raised to the largest
// error, relative to the oracle's scale.
absl::Status CheckRows(const ProblemOutput& shape, const Oracle& oracle, const void* out, double* max_error);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_VERIFY_KNOWN_PROBLEM_H_
