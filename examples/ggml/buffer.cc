// SPDX-License-Identifier: Apache-2.0
#include "buffer.h"

#include <cstdio>
#include <cstring>
#include <new>
#include <optional>

namespace kirsch_ggml {
namespace {

using products::Memory;

// Returns the interface's type; nothing for one that Kirsch doesn't know.
std::optional<kirsch_type> TypeOf(ggml_type type) {
  switch (type) {
    case GGML_TYPE_F32:
      return KIRSCH_F32;
    case GGML_TYPE_F16:
      return KIRSCH_F16;
    case GGML_TYPE_BF16:
      return KIRSCH_BF16;
    case GGML_TYPE_Q8_0:
      return KIRSCH_Q8_0;
    case GGML_TYPE_Q4_0:
      return KIRSCH_Q4_0;
    case GGML_TYPE_Q4_1:
      return KIRSCH_Q4_1;
    case GGML_TYPE_Q4_K:
      return KIRSCH_Q4_K;
    case GGML_TYPE_Q6_K:
      return KIRSCH_Q6_K;
    case GGML_TYPE_MXFP4:
      return KIRSCH_MXFP4;
    default:
      return std::nullopt;
  }
}

// ggml names the sizes of a matrix from the innermost on: ne[0] are the k, ne[1] the rows, which are the
// product's n.
products::Shape ShapeOf(const ggml_tensor& weights, kirsch_type type) {
  return products::Shape::Dense(type, static_cast<size_t>(weights.ne[0]), static_cast<size_t>(weights.ne[1]));
}

// ---------- buffers ----------

// Memory of weights, own or someone else's, and what has been packed from it.
struct Buffer {
  explicit Buffer(size_t bytes) : own(bytes), memory(own.data()) {}
  explicit Buffer(void* memory) : memory(memory) {}

  Memory own;
  void* memory;
  products::WeightsByAddress weights{products::Products::OfProcess()};
};

Buffer& BufferOf(ggml_backend_buffer_t buffer) { return *static_cast<Buffer*>(buffer->context); }

void Free(ggml_backend_buffer_t buffer) { delete &BufferOf(buffer); }

void* Base(ggml_backend_buffer_t buffer) { return BufferOf(buffer).memory; }

char* At(const ggml_tensor* tensor, size_t offset) { return static_cast<char*>(tensor->data) + offset; }

// Who writes to a matrix makes its packed copy stale, so that is forgotten.
void Fill(ggml_backend_buffer_t buffer, ggml_tensor* tensor, uint8_t value, size_t offset, size_t size) {
  std::memset(At(tensor, offset), value, size);
  BufferOf(buffer).weights.Forget(tensor->data);
}

void Write(ggml_backend_buffer_t buffer, ggml_tensor* tensor, const void* data, size_t offset, size_t size) {
  std::memcpy(At(tensor, offset), data, size);
  BufferOf(buffer).weights.Forget(tensor->data);
}

void Read(ggml_backend_buffer_t /*buffer*/, const ggml_tensor* tensor, void* data, size_t offset,
          size_t size) {
  std::memcpy(data, At(tensor, offset), size);
}

void Clear(ggml_backend_buffer_t buffer, uint8_t value) {
  std::memset(Base(buffer), value, buffer->size);
  BufferOf(buffer).weights.ForgetAll();
}

// Makes ggml's buffer, which owns ours from here on: Free deletes it.
ggml_backend_buffer_t NewBuffer(ggml_backend_buffer_type_t type, Buffer* buffer, size_t size) {
  ggml_backend_buffer_i interface = {};
  interface.free_buffer = Free;
  interface.get_base = Base;
  interface.memset_tensor = Fill;
  interface.set_tensor = Write;
  interface.get_tensor = Read;
  interface.clear = Clear;
  return ggml_backend_buffer_init(type, interface, buffer, size);
}

// ---------- their type ----------

const char* Name(ggml_backend_buffer_type_t /*type*/) { return "Kirsch"; }

size_t Alignment(ggml_backend_buffer_type_t /*type*/) { return 64; }

// The CPU's backend may read the weights in place.
bool IsHost(ggml_backend_buffer_type_t /*type*/) { return true; }

// Null: there is not enough memory.
ggml_backend_buffer_t Allocate(ggml_backend_buffer_type_t type, size_t size) try {
  return NewBuffer(type, new Buffer(size), size);
} catch (const std::bad_alloc&) {
  return nullptr;
}

}  // namespace

ggml_backend_buffer_type_t BufferType(ggml_backend_dev_t device) {
  static ggml_backend_buffer_type type = {
      {Name, Allocate, Alignment, /*get_max_size=*/nullptr, /*get_alloc_size=*/nullptr, IsHost},
      device,
      nullptr};
  return &type;
}

ggml_backend_buffer_t BufferAt(ggml_backend_dev_t device, void* memory, size_t bytes) {
  return NewBuffer(BufferType(device), new Buffer(memory), bytes);
}

bool HasProduct(const ggml_tensor& weights) {
  const std::optional<kirsch_type> type = TypeOf(weights.type);
  if (!type || !ggml_is_matrix(&weights) || !ggml_is_contiguous(&weights)) return false;
  const products::Shape shape = ShapeOf(weights, *type);
  const auto product = products::Products::OfProcess().Find(shape);
  if (!product)
    std::fprintf(stderr, "kirsch: %s: %s\n", shape.Text().c_str(), product.error().message.c_str());
  return product.ok();
}

kirsch::Result<products::Weights> WeightsOf(const ggml_tensor& weights) {
  return BufferOf(weights.buffer).weights.Find(ShapeOf(weights, TypeOf(weights.type).value()), weights.data);
}

}  // namespace kirsch_ggml
