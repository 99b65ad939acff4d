// SPDX-License-Identifier: Apache-2.0
// Implements a backend of ggml: products by matrices of weights, computed by kernels that Kirsch makes when a
// model is loaded.
//
// llama.cpp loads it as it is (GGML_BACKEND_PATH, or ggml_backend_load). The device is an accelerator like a
// BLAS. It has a type of buffers for weights: plain memory, from which it packs matrices where its kernels
// read copies better. All that is no product by weights is left to the CPU's backend.
//
//   a model is loaded:    Supports is asked for each product    ->  HasProduct makes the kernel
//   the first prompt:     Compute  ->  Multiply  ->  WeightsOf   ->  packs the matrix, once
//   later:                Compute  ->  Multiply  ->  the packed matrix
#include <cstdio>
#include <cstring>
#include <exception>

#include "buffer.h"
#include "ggml-backend-impl.h"

namespace kirsch_ggml {
namespace {

using products::Workers;

// ---------- computing ----------

const char* Name(ggml_backend_t /*backend*/) { return "Kirsch"; }

// The backend's threads and their memory, which ggml keeps as a pointer.
Workers*& WorkersOf(ggml_backend_t backend) { return reinterpret_cast<Workers*&>(backend->context); }

void Free(ggml_backend_t backend) {
  delete WorkersOf(backend);
  delete backend;
}

// ggml finds this function by its name (Function). All later products share their work among so many threads.
void SetThreads(ggml_backend_t backend, int threads) {
  if (static_cast<size_t>(threads) == WorkersOf(backend)->threads()) return;
  delete WorkersOf(backend);
  WorkersOf(backend) = new Workers(static_cast<size_t>(threads));
}

// Writes to standard error why a product failed. Returns false.
bool Failed(const ggml_tensor& out, const kirsch::Error& error) {
  std::fprintf(stderr, "kirsch: %s: %s\n", out.name, error.message.c_str());
  return false;
}

// Computes the product `out`: its first source are the weights, its second one the activations.
bool Multiply(const ggml_tensor& out, Workers& workers) {
  const ggml_tensor& weights = *out.src[0];
  const ggml_tensor& lhs = *out.src[1];
  // All rows of the activations, of whatever batch, are rows of one product: the weights are the same for
  // all.
  const kirsch::Result<products::Weights> known = WeightsOf(weights);
  if (!known) return Failed(out, known.error());
  const kirsch::Result<kirsch::Done> done =
      known->product->Run(static_cast<size_t>(ggml_nrows(&lhs)), lhs.data, known->packed, out.data, workers);
  return done.ok() || Failed(out, done.error());
}

// Computes a graph's products. Its other nodes compute nothing (Supports).
ggml_status Compute(ggml_backend_t backend, ggml_cgraph* graph) {
  for (int i = 0; i < ggml_graph_n_nodes(graph); ++i) {
    const ggml_tensor& node = *ggml_graph_node(graph, i);
    if (node.op == GGML_OP_MUL_MAT && !Multiply(node, *WorkersOf(backend))) return GGML_STATUS_FAILED;
  }
  return GGML_STATUS_SUCCESS;
}

// ---------- the device ----------

const char* DeviceName(ggml_backend_dev_t /*device*/) { return "Kirsch"; }

const char* Description(ggml_backend_dev_t /*device*/) { return "kernels of Kirsch"; }

// The device has no memory of its own.
void DeviceMemory(ggml_backend_dev_t /*device*/, size_t* free, size_t* total) { *free = *total = 0; }

enum ggml_backend_dev_type Type(ggml_backend_dev_t /*device*/) { return GGML_BACKEND_DEVICE_TYPE_ACCEL; }

void Properties(ggml_backend_dev_t device, ggml_backend_dev_props* properties) {
  *properties = {};
  properties->name = DeviceName(device);
  properties->description = Description(device);
  properties->type = Type(device);
  // Files of weights may stay where they are mapped (BufferFrom).
  properties->caps.buffer_from_host_ptr = properties->caps.mmap_support = true;
}

// Begins with one thread, until ggml sets another number.
ggml_backend_t NewBackend(ggml_backend_dev_t device, const char* /*parameters*/) {
  // Tells this backend from all others.
  static ggml_guid guid = {0x6b, 0x69, 0x72, 0x73, 0x63, 0x68, 0x20, 0x70,
                           0x72, 0x6f, 0x64, 0x75, 0x63, 0x74, 0x73, 0x21};
  ggml_backend_i interface = {};
  interface.get_name = Name;
  interface.free = Free;
  interface.graph_compute = Compute;
  return new ggml_backend{&guid, interface, device, new Workers(1)};
}

// True for products by weights that lie, or might, in one of our buffers, and that there is a kernel for.
// Leaves, which compute nothing, are supported as well.
bool Supports(ggml_backend_dev_t device, const ggml_tensor* op) {
  if (op->op == GGML_OP_NONE) return true;
  if (op->op != GGML_OP_MUL_MAT) return false;
  const ggml_tensor& weights = *op->src[0];
  const ggml_tensor& lhs = *op->src[1];
  return weights.op == GGML_OP_NONE && weights.buffer != nullptr &&
         weights.buffer->buft == BufferType(device) &&
         weights.buffer->usage != GGML_BACKEND_BUFFER_USAGE_COMPUTE && lhs.type == GGML_TYPE_F32 &&
         ggml_is_contiguous(&lhs) && op->type == GGML_TYPE_F32 && HasProduct(weights);
}

// Any memory that the CPU reads will do for activations and results.
bool SupportsBuffers(ggml_backend_dev_t /*device*/, ggml_backend_buffer_type_t type) {
  return ggml_backend_buft_is_host(type);
}

ggml_backend_buffer_t BufferFrom(ggml_backend_dev_t device, void* memory, size_t bytes,
                                 size_t /*max_tensor*/) {
  return BufferAt(device, memory, bytes);
}

constexpr ggml_backend_device_i kDevice = {DeviceName,
                                           Description,
                                           DeviceMemory,
                                           Type,
                                           Properties,
                                           NewBackend,
                                           BufferType,
                                           /*get_host_buffer_type=*/nullptr,
                                           BufferFrom,
                                           Supports,
                                           SupportsBuffers,
                                           /*offload_op=*/nullptr,
                                           /*event_new=*/nullptr,
                                           /*event_free=*/nullptr,
                                           /*event_synchronize=*/nullptr};

// ---------- how it is found ----------

const char* RegistryName(ggml_backend_reg_t /*registry*/) { return "Kirsch"; }

size_t Devices(ggml_backend_reg_t /*registry*/) { return 1; }

ggml_backend_dev_t Device(ggml_backend_reg_t registry, size_t /*index*/) {
  static ggml_backend_device device = {kDevice, registry, nullptr};
  return &device;
}

// Functions that ggml asks for by name; null: there is none of that name.
void* Function(ggml_backend_reg_t /*registry*/, const char* name) {
  return std::strcmp(name, "ggml_backend_set_n_threads") == 0 ? reinterpret_cast<void*>(SetThreads) : nullptr;
}

// What ggml finds when it loads the library. Null where the environment's table can't be used.
ggml_backend_reg_t Registry() try {
  products::Products::OfProcess();
  static ggml_backend_reg registry = {
      GGML_BACKEND_API_VERSION, {RegistryName, Devices, Device, Function}, nullptr};
  return &registry;
} catch (const std::exception& error) {
  std::fprintf(stderr, "kirsch: %s\n", error.what());
  return nullptr;
}

}  // namespace
}  // namespace kirsch_ggml

GGML_BACKEND_DL_IMPL(kirsch_ggml::Registry)
