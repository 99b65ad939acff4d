// SPDX-License-Identifier: Apache-2.0
#include "tensor_view.h"

#include <dlpack/dlpack.h>

#include <array>
#include <string_view>

namespace kirsch_python {
namespace {

namespace py = pybind11;

// What other libraries call the elements of a type. A name of a type that they lack is empty, or that of the
// integers that hold its bits.
struct TypeNames {
  size_t bytes;
  const char *numpy, *extension;  // NumPy's own, and that of the package ml_dtypes
  uint8_t dlpack, dlpack_bits;    // codes of DLDataType: of the type, or of its bits
};

// By kirsch_type.
constexpr std::array<TypeNames, 9> kTypes = {{
    {4, "float32", "", kDLFloat, kDLFloat},
    {2, "uint16", "bfloat16", kDLBfloat, kDLUInt},
    {2, "float16", "", kDLFloat, kDLFloat},
    {1, "uint8", "", kDLUInt, kDLUInt},
    {1, "int8", "", kDLInt, kDLInt},
    {2, "int16", "", kDLInt, kDLInt},
    {4, "int32", "", kDLInt, kDLInt},
    {1, "uint8", "float8_e4m3fn", 10, kDLUInt},  // DLPack 1.1: kDLFloat8_e4m3fn
    {1, "uint8", "float8_e5m2", 12, kDLUInt},    // kDLFloat8_e5m2
}};

// Returns the row of a type. Types of 8 bits that the table lacks are arrays of their bits.
const TypeNames& NamesOf(kirsch_type type) {
  static constexpr TypeNames kBits = {1, "uint8", "", kDLUInt, kDLUInt};
  static constexpr TypeNames kF64 = {8, "float64", "", kDLFloat, kDLFloat};
  if (type == KIRSCH_F64) return kF64;
  const auto number = static_cast<size_t>(type);
  return number >= kTypes.size() && kirsch_type_bytes(type) == 1 ? kBits : kTypes.at(number);
}

// Throws a TypeError that says which arrays the operand takes, and what it got.
[[noreturn]] void Unexpected(const std::string& name, kirsch_type type, const std::string& got) {
  const std::string extension = NamesOf(type).extension;
  throw py::type_error(name + ": expected an array of " + kirsch_type_name(type) + " (" +
                       (extension.empty() ? "" : extension + " or ") + NamesOf(type).numpy + "), got " + got);
}

// Returns DLPack's type as people write it: "float64", "int8x4".
std::string DlpackText(const DLDataType& type) {
  constexpr std::array<const char*, 6> kNames = {"int", "uint", "float", "handle", "bfloat", "complex"};
  const std::string name =
      type.code < kNames.size() ? kNames[type.code] : "code " + std::to_string(type.code) + ", ";
  return name + std::to_string(type.bits) + (type.lanes == 1 ? "" : "x" + std::to_string(type.lanes));
}

// What Python's buffer protocol says of an array's elements and strides, while this lives. It knows NumPy's
// own types only; for others the array gives no buffer.
class Buffer {
 public:
  explicit Buffer(const py::handle& array) {
    taken_ = PyObject_GetBuffer(array.ptr(), &buffer_, PyBUF_STRIDES | PyBUF_FORMAT) == 0;
    if (!taken_) PyErr_Clear();
  }
  ~Buffer() {
    if (taken_) PyBuffer_Release(&buffer_);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  const Py_buffer* operator->() const { return &buffer_; }

  // True if elements are of this type, in this CPU's byte order. Several letters of a format may mean the
  // same integer, as int and long do, so their size decides.
  bool IsOf(const TypeNames& names) const {
    if (!taken_ || static_cast<size_t>(buffer_.itemsize) != names.bytes) return false;
    std::string_view format = buffer_.format;
    if (!format.empty() && std::string_view("@=<^").find(format[0]) != format.npos) format.remove_prefix(1);
    const char* const letters = names.numpy[0] == 'f' ? "efd" : names.numpy[0] == 'u' ? "BHIL" : "bhil";
    return format.size() == 1 && std::string_view(letters).find(format[0]) != format.npos;
  }

 private:
  Py_buffer buffer_ = {};
  bool taken_ = false;
};

// Returns the bits of an array that is of a type of ml_dtypes. Throws TypeError if it is of another type.
py::object ReadBits(const py::handle& array, const std::string& name, kirsch_type type) {
  const TypeNames& names = NamesOf(type);
  const py::object dtype = array.attr("dtype");
  const std::string got = py::str(dtype.attr("name")), order = py::str(dtype.attr("byteorder"));
  if (got == names.numpy && order == ">") Unexpected(name, type, got + " of another byte order");
  if (got != names.extension) Unexpected(name, type, got);
  return array.attr("view")(names.numpy);
}

// Takes a capsule's tensor over: it is released when Python lets go of the owner. By DLPack's rules the
// capsule is renamed, so that nobody else takes it.
py::object OwnerOf(const py::capsule& capsule, DLManagedTensor* tensor) {
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  return py::capsule(tensor, [](void* pointer) {
    auto* const managed = static_cast<DLManagedTensor*>(pointer);
    if (managed->deleter != nullptr) managed->deleter(managed);
  });
}

}  // namespace

py::object Numpy(const char* name) {
  // Imported once, and never destroyed.
  static const py::module_& numpy = *new py::module_(py::module_::import("numpy"));
  return numpy.attr(name);
}

size_t ElementBytes(kirsch_type type) { return NamesOf(type).bytes; }
const char* NumpyNameOf(kirsch_type type) { return NamesOf(type).numpy; }

std::string TupleText(const std::vector<int64_t>& numbers) {
  std::string text = "(";
  for (size_t i = 0; i < numbers.size(); ++i) text += (i > 0 ? ", " : "") + std::to_string(numbers[i]);
  return text + (numbers.size() == 1 ? ",)" : ")");
}

size_t SpanBytes(const std::vector<int64_t>& shape, const std::vector<int64_t>& stride, kirsch_type type) {
  // A kernel's strides are positive, so the last element is the one with the largest indices.
  int64_t last = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) last += (shape[axis] - 1) * stride[axis];
  return static_cast<size_t>(last + 1) * ElementBytes(type);
}

// NumPy's arrays have __dlpack__, too. They go by the buffer protocol, which also has read-only ones.
TensorView::TensorView(const py::handle& array, const std::string& name, kirsch_type type) {
  if (py::isinstance(array, Numpy("ndarray")))
    FromNumpy(array, name, type);
  else if (py::hasattr(array, "__dlpack__"))
    FromDlpack(array, name, type);
  else
    Unexpected(name, type, std::string(py::str(py::type::of(array).attr("__name__"))));
}

// An array of ml_dtypes comes back as one of its bits.
void TensorView::FromNumpy(const py::handle& given, const std::string& name, kirsch_type type) {
  const Buffer array(given);
  if (!array.IsOf(NamesOf(type))) return FromNumpy(ReadBits(given, name, type), name, type);
  // The view holds the array, not the buffer, which is released when this function returns.
  owner_ = py::reinterpret_borrow<py::object>(given);
  const auto bytes = static_cast<int64_t>(ElementBytes(type));
  for (int axis = 0; axis < array->ndim; ++axis) {
    shape_.push_back(array->shape[axis]);
    if (array->strides[axis] % bytes != 0)
      throw py::value_error(name + ": expected strides that are multiples of the element, got " +
                            std::to_string(array->strides[axis]) + " bytes");
    stride_.push_back(array->strides[axis] / bytes);
  }
  data_ = array->buf;
  read_only_ = array->readonly != 0;
}

// Checks the device, then the capsule, then the type; only what has passed is a view.
void TensorView::FromDlpack(const py::handle& given, const std::string& name, kirsch_type type) {
  // Memory of another device is refused before it is exported.
  const auto device = given.attr("__dlpack_device__")().cast<py::tuple>();
  if (device[0].cast<int>() != kDLCPU)
    throw py::type_error(name + ": expected an array in this CPU's memory, got one on DLPack's device " +
                         std::to_string(device[0].cast<int>()));
  const auto capsule = py::reinterpret_borrow<py::capsule>(given.attr("__dlpack__")());
  if (std::string_view(capsule.name() == nullptr ? "" : capsule.name()) != "dltensor")
    throw py::type_error(name + ": expected a capsule 'dltensor' from __dlpack__");
  // From here on the tensor is ours, also if its type is refused.
  auto* const managed = capsule.get_pointer<DLManagedTensor>();
  owner_ = OwnerOf(capsule, managed);
  const DLTensor& tensor = managed->dl_tensor;
  const bool fits =
      tensor.dtype.lanes == 1 && tensor.dtype.bits == 8 * ElementBytes(type) &&
      (tensor.dtype.code == NamesOf(type).dlpack || tensor.dtype.code == NamesOf(type).dlpack_bits);
  if (!fits) Unexpected(name, type, DlpackText(tensor.dtype));
  shape_.assign(tensor.shape, tensor.shape + tensor.ndim);
  // Without strides, a tensor lies row by row.
  if (tensor.strides != nullptr) {
    stride_.assign(tensor.strides, tensor.strides + tensor.ndim);
  } else {
    stride_.resize(shape_.size());
    for (size_t axis = shape_.size(), stride = 1; axis-- > 0; stride *= static_cast<size_t>(shape_[axis]))
      stride_[axis] = static_cast<int64_t>(stride);
  }
  data_ = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
}

}  // namespace kirsch_python
