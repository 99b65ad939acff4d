// SPDX-License-Identifier: Apache-2.0
// A computation whose results are known: what kernels are verified on, whatever they were made from.
#ifndef KIRSCH_CODEGEN_VERIFY_KNOWN_PROBLEM_H_
#define KIRSCH_CODEGEN_VERIFY_KNOWN_PROBLEM_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "codegen/samples/block_data.h"
#include "spec/dtype.h"

namespace kirsch {

// "even floats"
const char* Name(InputKind kind);

struct ProblemTensor {
  std::string name;
  Dtype dtype = Dtype::kF32;
  int64_t elements = 0;  // in memory, from the first to the last
};

// Where the elements of an output lie. Rows run along the last axis.
struct OutputShape {
  Dtype dtype = Dtype::kF32;
  std::vector<int64_t> sizes, strides;  // of each axis, outermost first; strides in elements

  int64_t rows() const;
  int64_t row_length() const { return sizes.back(); }
  int64_t RowStart(int64_t row) const;                  // its first element
  std::string Name(int64_t row, int64_t column) const;  // "out[0][3][7]"
};

// What some rows of an output should be, for inputs of one kind and seed.
struct Oracle {
  std::vector<int64_t> rows;  // by number
  // Of each element, row after row:
  std::vector<double> value;
  std::vector<double> most;   // that it may be off
  std::vector<double> scale;  // what errors are relative to; empty: `most`
  bool bits = false;          // what may not be off is right bit for bit, after the rounding of the output
};

// All inputs, then or between them the output. What tensors hold depends only on the problem, the kind and
// the seed, so the same values can be made again at another address. Thread-safe.
class KnownProblem {
 public:
  virtual ~KnownProblem() = default;
  KnownProblem(const KnownProblem&) = delete;
  KnownProblem& operator=(const KnownProblem&) = delete;

  const std::vector<ProblemTensor>& tensors() const { return tensors_; }
  size_t output() const { return output_; }
  const OutputShape& shape() const { return shape_; }
  double flops() const { return flops_; }
  // What a run takes, in flops: making and checking an element takes as long as several.
  double work() const;
  // The most that the error of an element may be, relative to Oracle::scale.
  double error_bound() const { return error_bound_; }

  // Of inputs: those that errors show best on, those that ask most of the arithmetic, and others.
  virtual std::array<InputKind, 3> Kinds() const = 0;

  // Rows that are compared, where a product of less than `most_flops_in_full` is compared in full.
  virtual int64_t MostRows(double most_flops_in_full) const = 0;

  // Makes a tensor; of the output what it holds before the run: what is added to, or else Poison.
  virtual void Fill(size_t tensor, InputKind kind, uint64_t seed, void* data) const = 0;

  // `tensors`: as Fill made them for this kind.
  virtual Oracle Expect(InputKind kind, absl::Span<void* const> tensors, std::vector<int64_t> rows) const = 0;

  // Is what lies between the rows of the output as Fill left it?
  virtual bool GapsIntact(const void*) const { return true; }

  // How all of an output is checked without a reference for each element, and a check of it; empty, OK: not.
  virtual std::string WholeCheck() const { return ""; }
  virtual absl::Status CheckWhole(InputKind, uint64_t, absl::Span<void* const>) const {
    return absl::OkStatus();
  }

 protected:
  KnownProblem() = default;

  std::vector<ProblemTensor> tensors_;
  size_t output_ = 0;
  OutputShape shape_;
  double flops_ = 0, error_bound_ = 1;
};

// What no kernel may compute from, and what shows where none has written: NaN, or an integer that stands out.
void FillPoison(Dtype dtype, size_t bytes, void* data);
double Poison(Dtype dtype);

// All rows if `most` or fewer; else `most` of them: the first, the last, and others drawn by `seed`;
// ascending.
std::vector<int64_t> ChooseRows(int64_t all, int64_t most, uint64_t seed);

// Up to `most` rows in which elements are NaN or as Poison left them, those with most of these first.
std::vector<int64_t> SuspectRows(const OutputShape& shape, const void* out, size_t most);

// OK if every element of the oracle's rows is as it says; else the first that is not. Of what no f32 holds
// (an expected NaN, an infinite bound) anything may come. *max_error is raised to the largest error, relative
// to the oracle's scale.
absl::Status CheckRows(const OutputShape& shape, const Oracle& oracle, const void* out, double* max_error);

}  // namespace kirsch

#endif  // KIRSCH_CODEGEN_VERIFY_KNOWN_PROBLEM_H_
