// SPDX-License-Identifier: Apache-2.0
// Takes Python's arrays apart, so that kernels read and write their memory in place: NumPy's, and those of
// any library that exports DLPack.
//
//   numpy.ones((64, 128), "float32")[:, ::2]  ->  shape (64, 64), stride (128, 2), in elements
#ifndef KIRSCH_PYTHON_TENSOR_VIEW_H_
#define KIRSCH_PYTHON_TENSOR_VIEW_H_

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kirsch.h"

namespace kirsch_python {

// The memory of an array, which lives as long as the view does. Strides are in elements, and nothing is
// copied. Made and destroyed while Python's lock is held.
class TensorView {
 public:
  // `type` is what the kernel expects, `name` the operand's, for errors. Throws TypeError if `array` is no
  // array, or its elements are of another type; ValueError if its strides are no multiples of the element.
  // For types that NumPy lacks, unsigned integers of the same size are taken for their bits.
  TensorView(const pybind11::handle& array, const std::string& name, kirsch_type type);

  // The address of the element whose indices are all 0.
  void* data() const { return data_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  const std::vector<int64_t>& stride() const { return stride_; }
  bool read_only() const { return read_only_; }

 private:
  // Each fills in all members, for one kind of array.
  void FromNumpy(const pybind11::handle& array, const std::string& name, kirsch_type type);
  void FromDlpack(const pybind11::handle& array, const std::string& name, kirsch_type type);

  pybind11::object owner_;  // keeps the memory alive
  void* data_ = nullptr;
  std::vector<int64_t> shape_, stride_;
  bool read_only_ = false;
};

// Returns what NumPy calls `name`. Its C interface is not used, so that one build is for all its versions, 1
// and 2.
pybind11::object Numpy(const char* name);

// Returns the bytes of an element. Types of blocks have none: arrays of these are of bytes (InBytes).
size_t ElementBytes(kirsch_type type);

// Returns NumPy's name for the elements of results of this type: "float32"; "uint16" for bf16.
const char* NumpyNameOf(kirsch_type type);

// Returns the numbers as Python prints a tuple: "(2, 3)", "(2,)".
std::string TupleText(const std::vector<int64_t>& numbers);

// Returns the bytes from the first to the last element of an array with such strides, gaps included.
size_t SpanBytes(const std::vector<int64_t>& shape, const std::vector<int64_t>& stride, kirsch_type type);

}  // namespace kirsch_python

#endif  // KIRSCH_PYTHON_TENSOR_VIEW_H_
