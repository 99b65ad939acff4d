// SPDX-License-Identifier: Apache-2.0
// Makes the module kirsch._kirsch: solutions and kernels of libkirsch, for kirsch/__init__.py. Arrays are
// checked here, since the library only sees pointers.
//
//   kernel(x, w)  ->  views of x and w, sizes from their shapes, a check of shapes and strides
//                 ->  a new array, or `out`
//                 ->  kirsch_call, without Python's lock  ->  the array
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kirsch.hpp"
#include "tensor_view.h"

namespace kirsch_python {
namespace {

namespace py = pybind11;
using kirsch::Sizes;

// The package's class Error, for all errors but bad input. The module owns it.
PyObject* error_class = nullptr;

// Throws the error as Python has it: ValueError, MemoryError, or the package's Error with a code.
[[noreturn]] void Throw(const kirsch::Error& error) {
  if (error.code == KIRSCH_BAD_INPUT) throw py::value_error(error.message);
  if (error.code == KIRSCH_OUT_OF_MEMORY) throw std::bad_alloc();
  const py::object exception = py::reinterpret_borrow<py::object>(error_class)(error.message);
  exception.attr("code") = static_cast<int>(error.code);
  PyErr_SetObject(error_class, exception.ptr());
  throw py::error_already_set();
}

// Returns the value of a result; throws its error.
template <typename T>
T Value(kirsch::Result<T> result) {
  if (!result) Throw(result.error());
  return std::move(*result);
}

// An operand of a member, with shape and stride in elements as arrays have them.
struct Operand {
  std::string name;
  kirsch_type type;
  std::vector<int64_t> shape, stride;
  bool output, read, constant;
};

using Shapes = std::vector<Operand>;

// Returns an operand of blocks as one of bytes, which is how its arrays are: NumPy has no types of blocks.
// The axis along which blocks lie becomes the last one, as the package gguf has them.
//
//   rhs of q8_0 (256, 64), blocks of 32 along k, 34 bytes each  ->  u8 (64, 272), strides (272, 1)
Operand InBytes(Operand operand) {
  const auto block = static_cast<int64_t>(kirsch_type_block(operand.type));
  const auto bytes = static_cast<int64_t>(kirsch_type_bytes(operand.type));
  if (block <= 1) return operand;
  const auto along = std::find(operand.stride.begin(), operand.stride.end(), 1) - operand.stride.begin();
  std::rotate(operand.shape.begin() + along, operand.shape.begin() + along + 1, operand.shape.end());
  std::rotate(operand.stride.begin() + along, operand.stride.begin() + along + 1, operand.stride.end());
  for (int64_t& stride : operand.stride) stride = stride / block * bytes;
  operand.shape.back() = operand.shape.back() / block * bytes;
  operand.stride.back() = 1;
  operand.type = KIRSCH_U8;
  return operand;
}

// Returns the operands of the member with these sizes.
Shapes ShapesOf(const kirsch::Request& request, const Sizes& sizes) {
  Shapes shapes;
  for (const kirsch_operand& operand : Value(request.Operands(sizes)))
    shapes.push_back(InBytes({operand.name,
                              operand.type,
                              {operand.shape, operand.shape + operand.rank},
                              {operand.stride, operand.stride + operand.rank},
                              operand.is_output != 0,
                              operand.is_read != 0,
                              operand.is_constant != 0}));
  return shapes;
}

// Says how a size of a family shows in the shapes of operands: by the extents of one axis of an operand, each
// of which stands for a value of the size.
struct SizeAxis {
  size_t operand = 0, axis = 0;
  std::map<int64_t, size_t> values;
};

// A request with its family's sizes, and the shapes that its members have. What it keeps is changed while
// Python's lock is held only.
class Problem {
 public:
  explicit Problem(kirsch::Request request) : request_(std::move(request)) {
    for (size_t i = 0; i < kirsch_request_num_sizes(request_.get()); ++i) {
      names_.push_back(kirsch_request_size_name(request_.get(), i));
      values_.emplace_back();
      for (size_t j = 0; j < kirsch_request_num_values(request_.get(), i); ++j)
        values_.back().push_back(kirsch_request_value(request_.get(), i, j));
    }
  }

  const kirsch::Request& request() const { return request_; }
  const std::vector<std::string>& names() const { return names_; }

  // Returns all choices of sizes. The last size varies fastest.
  std::vector<Sizes> Members() const {
    std::vector<Sizes> members = {{}};
    for (const std::vector<size_t>& values : values_) {
      std::vector<Sizes> longer;
      for (const Sizes& member : members)
        for (size_t value : values) {
          longer.push_back(member);
          longer.back().push_back(value);
        }
      members = std::move(longer);
    }
    return members;
  }

  // Returns the first member's sizes; of no family, none.
  Sizes FirstSizes() const {
    Sizes sizes;
    for (const std::vector<size_t>& values : values_) sizes.push_back(values.front());
    return sizes;
  }

  // Returns the operands of a member. They are kept for the next call.
  const Shapes& Of(const Sizes& sizes) {
    const auto found = shapes_.find(sizes);
    return found != shapes_.end() ? found->second
                                  : shapes_.emplace(sizes, ShapesOf(request_, sizes)).first->second;
  }

  // Returns the sizes that follow from the shapes of inputs. The axes that tell them are found at the first
  // call.
  Sizes Infer(const std::vector<std::optional<TensorView>>& views) {
    if (names_.empty()) return {};
    if (axes_.empty()) {
      std::vector<SizeAxis> axes;  // all of them, or FindAxis throws
      for (size_t size = 0; size < names_.size(); ++size) axes.push_back(FindAxis(size));
      axes_ = std::move(axes);
    }
    Sizes sizes;
    for (size_t size = 0; size < names_.size(); ++size) sizes.push_back(SizeOf(size, views));
    return sizes;
  }

 private:
  // Returns an axis of an input that has another extent for each value of the size, whatever the other sizes
  // are. ValueError if there is none: the caller has to give sizes= then.
  //
  //   matmul f32 1..64x256x256: axis 0 of lhs has the extents 1 to 64, so it tells the size
  SizeAxis FindAxis(size_t size) {
    const Shapes first = ShapesOf(request_, FirstSizes());
    // The shapes for each value of the size, the other sizes being their first ones.
    std::vector<std::pair<size_t, Shapes>> shapes;
    for (size_t value : values_[size]) {
      Sizes sizes = FirstSizes();
      sizes[size] = value;
      shapes.emplace_back(value, ShapesOf(request_, sizes));
    }
    // Constants and outputs come with no call's inputs, so they tell nothing.
    for (size_t operand = 0; operand < first.size(); ++operand)
      for (size_t axis = 0; axis < first[operand].shape.size(); ++axis) {
        if (first[operand].output || first[operand].constant || DependsOnOthers(size, operand, axis))
          continue;
        SizeAxis found{operand, axis, {}};
        for (const auto& [value, operands] : shapes) found.values[operands[operand].shape[axis]] = value;
        if (found.values.size() == values_[size].size()) return found;
      }
    throw py::value_error(names_[size] +
                          ": does not follow from the shapes of the operands; expected sizes=");
  }

  // True if the axis changes with another size: the last value of each is compared with its first.
  bool DependsOnOthers(size_t size, size_t operand, size_t axis) const {
    const int64_t extent = ShapesOf(request_, FirstSizes())[operand].shape[axis];
    for (size_t other = 0; other < names_.size(); ++other) {
      Sizes sizes = FirstSizes();
      sizes[other] = values_[other].back();
      if (other != size && ShapesOf(request_, sizes)[operand].shape[axis] != extent) return true;
    }
    return false;
  }

  // Returns the value of the size for these inputs. ValueError if the family has none of that extent.
  size_t SizeOf(size_t size, const std::vector<std::optional<TensorView>>& views) const {
    const SizeAxis& axis = axes_[size];
    const std::vector<int64_t>& shape = views[axis.operand]->shape();
    const std::string name = NameOf(axis.operand);
    if (axis.axis >= shape.size())
      throw py::value_error(name + ": expected more than " + std::to_string(axis.axis) + " axes, got " +
                            std::to_string(shape.size()));
    // An extent that no member has is an error of the caller's, who sees which there are.
    const auto found = axis.values.find(shape[axis.axis]);
    if (found == axis.values.end())
      throw py::value_error(name + ": the kernel is for " + names_[size] + " from " +
                            std::to_string(values_[size].front()) + " to " +
                            std::to_string(values_[size].back()) + ", got shape " + TupleText(shape));
    return found->second;
  }

  std::string NameOf(size_t operand) const { return ShapesOf(request_, FirstSizes())[operand].name; }

  const kirsch::Request request_;
  std::vector<std::string> names_;
  std::vector<std::vector<size_t>> values_;
  std::vector<SizeAxis> axes_;
  std::map<Sizes, Shapes> shapes_;
};

// What is predicted of a call, with names that Python shows.
struct Cost {
  double cycles, seconds, gflops;
  bool optimal;
};

// A solution with its problem. Kernels and packed constants share it, so Python may drop them in any order.
class PySolution {
 public:
  PySolution(std::shared_ptr<Problem> problem, kirsch::Solution solution)
      : problem_(std::move(problem)), solution_(std::move(solution)) {}

  // Reads the text and searches. Other threads of Python run meanwhile; errors are thrown when the lock is
  // held again.
  static std::shared_ptr<PySolution> Solve(const std::string& text, const std::string& kernel,
                                           const std::string& table, const kirsch::SolveOptions& options) {
    auto problem = std::make_shared<Problem>(Value(kirsch::Request::Parse(text, kernel)));
    const kirsch::Context context = Value(kirsch::Context::Create(table));
    const auto solve = [&] {
      const py::gil_scoped_release release;
      return context.Solve(problem->request(), options);
    };
    return std::make_shared<PySolution>(problem, Value(solve()));
  }

  std::string Explain() const {
    // As with Solve, other threads of Python run while it searches.
    const auto explain = [&] {
      const py::gil_scoped_release release;
      return solution_.Explain();
    };
    return Value(explain());
  }
  // What the program is like, as a dict; of a family, the one for these sizes.
  py::object Query(const py::object& given) const {
    Sizes sizes;
    try {
      sizes = given.cast<Sizes>();
    } catch (const py::cast_error&) {
      throw py::type_error("sizes: expected a tuple of sizes");
    }
    return py::module_::import("json").attr("loads")(Value(solution_.Query(sizes)));
  }
  std::string Header(const std::string& name) const { return Value(solution_.Header(name)); }
  std::string Target() const { return solution_.target(); }
  std::string Name() const { return problem_->request().name(); }

  Cost MemberCost(const Sizes& sizes) const {
    const kirsch_cost cost = Value(solution_.Cost(sizes));
    return {cost.cycles, cost.seconds, cost.gflops, cost.optimal != 0};
  }
  // Returns the cost; of a family, a dict with a cost for each member, by the tuple of its sizes.
  py::object Costs() const {
    if (problem_->names().empty()) return py::cast(MemberCost({}));
    py::dict costs;
    for (const Sizes& sizes : problem_->Members()) costs[py::tuple(py::cast(sizes))] = MemberCost(sizes);
    return costs;
  }

  const kirsch::Solution& solution() const { return solution_; }
  const std::shared_ptr<Problem>& problem() const { return problem_; }

 private:
  const std::shared_ptr<Problem> problem_;
  const kirsch::Solution solution_;
};

// Constants, packed for the kernels of one solution. It knows that solution, so that no other kernel takes
// them.
class Packed {
 public:
  Packed(size_t bytes, std::shared_ptr<const PySolution> solution)
      : memory_(bytes + kAlignment), bytes_(bytes), solution_(std::move(solution)) {}
  // The first address in the memory that is aligned; there are so many bytes more than are needed.
  void* data() {
    const auto address = reinterpret_cast<uintptr_t>(memory_.data());
    return reinterpret_cast<void*>((address + kAlignment - 1) / kAlignment * kAlignment);
  }
  size_t bytes() const { return bytes_; }
  const PySolution* solution() const { return solution_.get(); }

 private:
  static constexpr size_t kAlignment = 64;
  std::vector<std::byte> memory_;
  const size_t bytes_;
  const std::shared_ptr<const PySolution> solution_;
};

// ValueError unless shape and strides are those that the kernel was made for. Strides of axes of one element
// mean nothing.
void CheckLies(const TensorView& view, const Operand& operand) {
  if (view.shape() != operand.shape)
    throw py::value_error(operand.name + ": expected shape " + TupleText(operand.shape) + ", got " +
                          TupleText(view.shape()));
  for (size_t axis = 0; axis < operand.shape.size(); ++axis)
    if (operand.shape[axis] > 1 && view.stride()[axis] != operand.stride[axis])
      throw py::value_error(operand.name + ": expected strides of " + TupleText(operand.stride) +
                            " elements, got " + TupleText(view.stride()));
}

// True if two pieces of memory have a byte in common.
bool Overlap(const void* a, size_t a_bytes, const void* b, size_t b_bytes) {
  const auto first = reinterpret_cast<uintptr_t>(a), second = reinterpret_cast<uintptr_t>(b);
  return first < second + b_bytes && second < first + a_bytes;
}

// Returns a new array that lies as the operand does. Memory between its elements is its own, too.
py::object NewArray(const Operand& operand) {
  const std::string dtype = NumpyNameOf(operand.type);
  const size_t bytes = ElementBytes(operand.type);
  const py::object memory =
      Numpy("empty")(SpanBytes(operand.shape, operand.stride, operand.type) / bytes, dtype);
  std::vector<int64_t> strides;
  for (int64_t stride : operand.stride) strides.push_back(stride * static_cast<int64_t>(bytes));
  return Numpy("ndarray")(py::tuple(py::cast(operand.shape)), dtype, memory, 0, py::tuple(py::cast(strides)));
}

// A compiled kernel that takes arrays.
class PyKernel {
 public:
  explicit PyKernel(std::shared_ptr<PySolution> solution)
      : solution_(std::move(solution)), kernel_(Compile(*solution_)) {}

  // Computes a call, and returns the output's array, or of several outputs a tuple of theirs, as `out` has
  // them. All that can be wrong is found before the kernel runs.
  py::object Call(const py::args& inputs, const py::object& out, const py::object& constants,
                  const py::object& sizes) const {
    Problem& problem = *solution_->problem();
    Packed* const packed = PackedOf(constants);
    std::vector<std::optional<TensorView>> views = ViewsOf(inputs, /*constants=*/false);
    const Sizes chosen = sizes.is_none() ? problem.Infer(views) : GivenSizes(sizes);
    const Shapes& operands = problem.Of(chosen);
    for (size_t i = 0; i < operands.size(); ++i)
      if (views[i]) CheckLies(*views[i], operands[i]);
    const std::vector<py::object> arrays = OutputsOf(out, operands);
    const size_t first = operands.size() - arrays.size();
    for (size_t i = 0; i < arrays.size(); ++i) {
      const Operand& result = operands[first + i];
      views[first + i].emplace(arrays[i], result.name, result.type);
      CheckOut(first + i, operands, views);
    }
    std::vector<const void*> pointers;
    for (const std::optional<TensorView>& view : views) pointers.push_back(view ? view->data() : nullptr);
    // The views hold the arrays, so their memory stays while the lock is free.
    const auto run = [&] {
      const py::gil_scoped_release release;
      return kernel_(pointers, chosen, packed != nullptr ? packed->data() : nullptr);
    };
    Value(run());
    return arrays.size() == 1 ? arrays.front() : py::object(py::tuple(py::cast(arrays)));
  }

  // Packs the constants, whose shapes are the same for all members.
  std::shared_ptr<Packed> Pack(const py::args& constants) const {
    const std::vector<std::optional<TensorView>> views = ViewsOf(constants, /*constants=*/true);
    const Shapes& operands = AnyMember();
    std::vector<const void*> pointers;
    for (size_t i = 0; i < operands.size(); ++i) {
      if (views[i]) CheckLies(*views[i], operands[i]);
      pointers.push_back(views[i] ? views[i]->data() : nullptr);
    }
    auto packed = std::make_shared<Packed>(kernel_.packed_bytes(), solution_);
    Value(kernel_.Pack(pointers, packed->data()));
    return packed;
  }

  const std::shared_ptr<PySolution>& solution() const { return solution_; }

 private:
  // Compiling takes a while, so other threads of Python run meanwhile.
  static kirsch::Kernel Compile(const PySolution& solution) {
    const auto compile = [&] {
      const py::gil_scoped_release release;
      return solution.solution().Compile();
    };
    return Value(compile());
  }

  // Returns the operands of a member: names, types and roles are those of all members.
  const Shapes& AnyMember() const { return solution_->problem()->Of(solution_->problem()->FirstSizes()); }

  // The arrays of the outputs: those that the caller gave, or new ones.
  static std::vector<py::object> OutputsOf(const py::object& out, const Shapes& operands) {
    std::vector<const Operand*> outputs;
    for (const Operand& operand : operands)
      if (operand.output) outputs.push_back(&operand);
    std::vector<py::object> arrays;
    if (out.is_none()) {
      for (const Operand* output : outputs) {
        // An output that is added to has no new array: it has to hold something.
        if (output->read)
          throw py::type_error(output->name + ": expected an array, as the kernel adds to what it holds");
        arrays.push_back(NewArray(*output));
      }
      return arrays;
    }
    if (outputs.size() == 1) return {out};
    if (!py::isinstance<py::sequence>(out) || py::len(out) != outputs.size())
      throw py::type_error("out: expected a tuple of " + std::to_string(outputs.size()) + " arrays");
    for (const py::handle array : out) arrays.push_back(py::reinterpret_borrow<py::object>(array));
    return arrays;
  }

  // Returns views of the constants, or of the other inputs, in their places among all operands. Places of
  // others, and those of outputs, stay empty.
  std::vector<std::optional<TensorView>> ViewsOf(const py::args& given, bool constants) const {
    const Shapes& operands = AnyMember();
    std::vector<std::optional<TensorView>> views(operands.size());
    size_t taken = 0;
    // Arrays are given in the operands' order; their names go into the error.
    std::string names;
    for (size_t i = 0; i < operands.size(); ++i) {
      if (operands[i].output || operands[i].constant != constants) continue;
      names += (names.empty() ? "" : ", ") + operands[i].name;
      if (taken < given.size())
        views[i].emplace(py::object(given[taken]), operands[i].name, operands[i].type);
      ++taken;
    }
    if (taken == 0 && constants) throw py::type_error("pack: expected a kernel with constants");
    if (taken != given.size())
      throw py::type_error(solution_->Name() + ": expected " + std::to_string(taken) + " arrays (" + names +
                           "), got " + std::to_string(given.size()));
    return views;
  }

  // Returns the sizes that a caller gave by name. TypeError if one is missing or too many are there.
  Sizes GivenSizes(const py::object& given) const {
    const auto sizes = given.cast<py::dict>();
    Sizes chosen;
    for (const std::string& name : solution_->problem()->names()) {
      if (!sizes.contains(name.c_str())) throw py::type_error("sizes: expected one for '" + name + "'");
      // Whatever is an index is a size, NumPy's integers, too.
      const py::object size = sizes[name.c_str()];
      const auto index = py::reinterpret_steal<py::object>(PyNumber_Index(size.ptr()));
      const size_t value = index ? PyLong_AsSize_t(index.ptr()) : 0;
      if (PyErr_Occurred() != nullptr) {
        PyErr_Clear();
        throw py::type_error("sizes: expected a whole number for '" + name + "'");
      }
      chosen.push_back(value);
    }
    if (sizes.size() != chosen.size())
      throw py::type_error("sizes: expected " + std::to_string(chosen.size()));
    return chosen;
  }

  // Constants are needed by kernels that have some, and by no others.
  Packed* PackedOf(const py::object& constants) const {
    if (!constants.is_none() && !py::isinstance<Packed>(constants))
      throw py::type_error("packed: expected what pack() returned");
    Packed* const packed = constants.is_none() ? nullptr : constants.cast<Packed*>();
    if ((packed != nullptr) != (kernel_.packed_bytes() > 0))
      throw py::type_error(packed != nullptr ? "packed: expected none, as the kernel has no constants"
                                             : "packed: expected what pack() returned");
    if (packed != nullptr && packed->solution() != solution_.get())
      throw py::value_error("packed: expected constants that were packed for this kernel");
    return packed;
  }

  // Checks an output's array as others are; it must be writable, and must not overlap an operand before it.
  static void CheckOut(size_t output, const Shapes& operands,
                       const std::vector<std::optional<TensorView>>& views) {
    const Operand& result = operands[output];
    const TensorView& out = *views[output];
    CheckLies(out, result);
    if (out.read_only()) throw py::value_error(result.name + ": expected an array that can be written");
    const size_t bytes = SpanBytes(result.shape, result.stride, result.type);
    for (size_t i = 0; i < output; ++i)
      if (views[i] && Overlap(out.data(), bytes, views[i]->data(),
                              SpanBytes(operands[i].shape, operands[i].stride, operands[i].type)))
        throw py::value_error(result.name + ": expected memory of its own, got some of " + operands[i].name);
  }

  const std::shared_ptr<PySolution> solution_;
  const kirsch::Kernel kernel_;
};

// Takes the arguments one by one, as kirsch/__init__.py passes them; their defaults are there.
std::shared_ptr<PySolution> Solve(const std::string& text, const std::string& target, int threads,
                                  const std::string& kernel, const std::string& table,
                                  const std::string& cold, double time_budget, bool allow_winograd,
                                  const std::string& schedule) {
  if (threads < 1) throw py::value_error("threads: expected 1 or more, got " + std::to_string(threads));
  kirsch::SolveOptions options;
  options.target = target;
  options.cold = cold;
  options.threads = threads;
  options.time_budget = time_budget;
  options.allow_winograd = allow_winograd;
  options.schedule = schedule;
  return PySolution::Solve(text, kernel, table, options);
}

}  // namespace

PYBIND11_MODULE(_kirsch, module) {
  module.attr("version") = kirsch_version();
  // Everything that is no bad input is a kirsch.Error, a RuntimeError.
  static py::exception<kirsch::Exception> error(module, "Error", PyExc_RuntimeError);
  error_class = error.ptr();
  py::class_<Cost>(module, "Cost", "What is predicted of one call.")
      .def_readonly("cycles", &Cost::cycles)
      .def_readonly("seconds", &Cost::seconds)
      .def_readonly("gflops", &Cost::gflops)
      .def_readonly("optimal", &Cost::optimal, "False if the search was stopped before it was done.")
      .def("__repr__", [](const Cost& cost) {
        return py::str("Cost(cycles={:.0f}, seconds={:.3g}, gflops={:.1f}, optimal={})")
            .format(cost.cycles, cost.seconds, cost.gflops, cost.optimal);
      });
  py::class_<Packed, std::shared_ptr<Packed>>(module, "Packed", "Constants, packed for a kernel.")
      .def_property_readonly("nbytes", &Packed::bytes);
  py::class_<PySolution, std::shared_ptr<PySolution>>(
      module, "Solution", "The program that was found for a kernel, without code.")
      .def("explain", &PySolution::Explain, "Why the program is what it is, a step a line.")
      .def("query", &PySolution::Query, py::arg("sizes") = py::tuple(),
           "What the program is like, as a dict; of a family, for a tuple of sizes.")
      .def("header", &PySolution::Header, py::arg("name") = "",
           "The kernel as a C header without dependencies.")
      .def_property_readonly("cost", &PySolution::Costs,
                             "The predicted Cost; of a family, a dict of them by tuples of sizes.")
      .def_property_readonly("name", &PySolution::Name)
      .def_property_readonly("target", &PySolution::Target)
      .def(
          "compile",
          [](std::shared_ptr<PySolution> self) { return std::make_shared<PyKernel>(std::move(self)); },
          "A Kernel that can be called.");
  py::class_<PyKernel, std::shared_ptr<PyKernel>>(module, "Kernel", "A compiled kernel, called with arrays.")
      .def("__call__", &PyKernel::Call, py::arg("out") = py::none(), py::arg("packed") = py::none(),
           py::arg("sizes") = py::none())
      .def("pack", &PyKernel::Pack, "Packs the constants, in their order, for calls with packed=.")
      .def("explain", [](const PyKernel& kernel) { return kernel.solution()->Explain(); })
      .def(
          "header",
          [](const PyKernel& kernel, const std::string& name) { return kernel.solution()->Header(name); },
          py::arg("name") = "")
      .def_property_readonly("cost", [](const PyKernel& kernel) { return kernel.solution()->Costs(); })
      .def_property_readonly("name", [](const PyKernel& kernel) { return kernel.solution()->Name(); })
      .def_property_readonly("target", [](const PyKernel& kernel) { return kernel.solution()->Target(); });
  module.def("solve", &Solve, py::arg("text"), py::arg("target"), py::arg("threads"), py::arg("kernel"),
             py::arg("table"), py::arg("cold"), py::arg("time_budget"), py::arg("allow_winograd"),
             py::arg("schedule"));
}

}  // namespace kirsch_python
