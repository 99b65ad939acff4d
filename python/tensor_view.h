// SPDX-License-Identifier: Apache-2.0
// Arrays of Python as memory: NumPy's, and what any library exports by DLPack.
#ifndef KIRSCH_PYTHON_TENSOR_VIEW_H_
#define KIRSCH_PYTHON_TENSOR_VIEW_H_

#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "kirsch.h"

namespace kirsch_python {

// Memory of an array, which lives as long as the view. Strides are in elements.
class TensorView {
 public:
  // Throws TypeError, which says what `name` is expected to be, if `array` is none, or of elements that are
  // not of `type`. Of types that NumPy lacks, unsigned integers of the same size are taken for their bits.
  TensorView(const pybind11::handle& array, const std::string& name, kirsch_type type);

  void* data() const { return data_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  const std::vector<int64_t>& stride() const { return stride_; }
  bool read_only() const { return read_only_; }

 private:
  void FromNumpy(const pybind11::handle& array, const std::string& name, kirsch_type type);
  void FromDlpack(const pybind11::handle& array, const std::string& name, kirsch_type type);

  pybind11::object owner_;
  void* data_ = nullptr;
  std::vector<int64_t> shape_, stride_;
  bool read_only_ = false;
};

// What NumPy calls so. Its C interface is not used, so that one build is for all its versions, 1 and 2.
pybind11::object Numpy(const char* name);

size_t ElementBytes(kirsch_type type);

// What NumPy calls the elements of results of this type: "float32", "uint16" for bf16.
const char* NumpyNameOf(kirsch_type type);

// "(2, 3)"
std::string TupleText(const std::vector<int64_t>& numbers);

// The bytes from the first to the last element of what lies so.
size_t SpanBytes(const std::vector<int64_t>& shape, const std::vector<int64_t>& stride, kirsch_type type);

}  // namespace kirsch_python

#endif  // KIRSCH_PYTHON_TENSOR_VIEW_H_
