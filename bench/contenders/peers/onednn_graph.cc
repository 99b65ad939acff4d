// SPDX-License-Identifier: Apache-2.0
// Computes graphs by oneDNN: a primitive for each operation, made once. Elementwise operations after a matmul
// or a convolution become its post-ops, where it takes them.
//
// Values have the graph's plain layouts. A method may let convolutions and matmuls choose theirs, and pays
// for the reorders, except for those of weights ("+packed").
#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/contenders/peers/onednn_sequence.h"
#include "bench/workload/element.h"
#include "bench/workload/graph_peer.h"

namespace {

using dnnl::memory;
using kirsch::Graph;
using kirsch::GraphNode;
using kirsch::ImageLayout;
using kirsch::Info;
using kirsch::Operation;
using kirsch::OperationKind;
using Dims = memory::dims;

// How much of the layouts is left to the primitives. Which choice is the fastest depends on the graph.
struct Method {
  const char* name;
  bool any_weights;  // filters or rhs are in the layout that the primitive likes best
  bool any_images;   // images of convolutions, too
  bool packed;       // weights that are parameters were reordered before
};
constexpr Method kMethods[] = {
    {"plain", false, false, false},
    {"reorder-weights", true, false, false},
    {"reorder-all", true, true, false},
    {"weights+packed", true, false, true},
    {"reorder-images+packed", true, true, true},
};

// A graph as a sequence of primitives.
class GraphHandle : public PrimitiveSequence {
 public:
  GraphHandle(const Method& method, const KirschGraph& problem)
      : method_(method), problem_(problem), graph_(problem.graph) {}

  // Makes the sequence. Throws dnnl::error where there is no primitive for an operation. False where the
  // method turns out to be the same as another one.
  bool Prepare() {
    const size_t count = graph_.nodes.size();
    values_.resize(count);
    users_.resize(count);
    for (size_t node = 0; node < count; ++node)
      for (int input : graph_.nodes[node].inputs)
        users_[static_cast<size_t>(input)].push_back(static_cast<int>(node));
    chain_end_.assign(count, -1);
    chain_start_.assign(count, -1);
    // Nodes are in an order in which operands come first.
    for (size_t node = 0; node < count; ++node) Emit(static_cast<int>(node));
    const memory::desc out = PlainDesc(graph_.only_result());
    // The result may be a view, or in another layout: then it is copied.
    if (Value(graph_.only_result()).get_data_handle() != problem_.results.front() ||
        Value(graph_.only_result()).get_desc() != out)
      Reorder(Value(graph_.only_result()), memory(out, engine_, problem_.results.front()));
    return !method_.any_weights || reordered_weights_ || (method_.any_images && reordered_images_);
  }

 private:
  // --- Values.

  memory& Value(int node) { return values_[static_cast<size_t>(node)]; }
  const GraphNode& At(int node) const { return graph_.at(node); }

  memory::desc PlainDesc(int node) const {
    return Plain(At(node).type.dims, DnnlTypeOf(kirsch::KirschTypeOf(At(node).type.dtype)));
  }

  // Returns memory for a value: the output itself for the result.
  memory NewValue(int node) {
    if (node == graph_.only_result()) return memory(PlainDesc(node), engine_, problem_.results.front());
    return memory(PlainDesc(node), engine_);
  }

  // Returns the memory of `input` where `node` may write over it, else new memory. It may if nobody else
  // reads the input, and if it is no parameter, no view, and of the same type.
  memory InPlaceOf(int input, int node) {
    // All of these must hold; the result of the graph has memory of its own.
    const bool last = users_[static_cast<size_t>(input)].size() == 1 && node != graph_.only_result() &&
                      input != graph_.only_result() && Info(At(input).op).kind != OperationKind::kLeaf &&
                      Value(input).get_desc() == PlainDesc(node) && At(input).op != Operation::kTranspose;
    return last ? Value(input) : NewValue(node);
  }

  // Returns a value in plain row-major order and of that type, with the axes of `rank`: leading ones of size
  // 1 are added.
  memory Whole(int node, size_t rank, memory::data_type type) {
    memory value = Value(node);
    const memory::desc wanted = Plain(At(node).type.dims, type);
    if (value.get_desc() != wanted) {
      const memory plain(wanted, engine_);
      Reorder(value, plain);
      value = plain;
    }
    return Viewed(value, Expanded(wanted, rank));
  }

  // Adds the primitives of a node.
  void Emit(int node) {
    const GraphNode& of = At(node);
    // A member of a contraction's chain is computed with it, where the last member stands.
    if (chain_start_[static_cast<size_t>(node)] >= 0) {
      if (chain_end_[static_cast<size_t>(chain_start_[static_cast<size_t>(node)])] == node)
        EmitContraction(chain_start_[static_cast<size_t>(node)], node);
      return;
    }
    switch (Info(of.op).kind) {
      case OperationKind::kLeaf:
        if (of.op == Operation::kInput)
          Value(node) = memory(PlainDesc(node), engine_, problem_.inputs[static_cast<size_t>(node)]);
        return;
      // A transpose is a view with two axes exchanged.
      case OperationKind::kTranspose: {
        std::vector<int> order(of.type.dims.size());
        std::iota(order.begin(), order.end(), 0);
        std::swap(order[order.size() - 1], order[order.size() - 2]);
        Value(node) = Viewed(Value(of.inputs[0]), Value(of.inputs[0]).get_desc().permute_axes(order));
        return;
      }
      case OperationKind::kContraction:
        return ChooseChain(node);
      case OperationKind::kCast:
        Value(node) = NewValue(node);
        return Reorder(Value(of.inputs[0]), Value(node));
      case OperationKind::kElementwise:
        return EmitElementwise(node);
      case OperationKind::kReduction:
        return EmitReduction(node);
      case OperationKind::kRowwise:
        return EmitRows(node);
      case OperationKind::kAlongAxis:
      case OperationKind::kRearrange:
        throw dnnl::error(dnnl_unimplemented, "nothing along one axis here, and no copies");
    }
  }

  // Adds a primitive of one argument if there is a function for it, or else one of two.
  void EmitElementwise(int node) {
    const GraphNode& of = At(node);
    const size_t rank = std::max<size_t>(1, of.type.dims.size());
    // Operands are converted to the type of the result first.
    const memory::data_type type = PlainDesc(node).data_type();
    for (size_t side = 0; side < of.inputs.size(); ++side) {
      const std::optional<Function> function = FunctionOf(graph_, of, side);
      if (!function) continue;
      const int input = of.inputs[side];
      const memory from = Whole(input, rank, type);
      Value(node) = InPlaceOf(input, node);
      return Eltwise(*function, from, Value(node));
    }
    if (of.inputs.size() < 2) throw dnnl::error(dnnl_unimplemented, "no primitive for this function");
    // oneDNN repeats only the second operand, so the one to be repeated goes there if it may.
    int a = of.inputs[0], b = of.inputs[1];
    if (Commutes(of.op) && At(a).type.dims != of.type.dims) std::swap(a, b);
    memory first = Whole(a, rank, type);
    if (At(a).type.dims != of.type.dims) {  // oneDNN repeats only the second
      const memory::desc whole = PlainDesc(node);
      const memory zeros(whole, engine_), spread(whole, engine_);
      std::memset(zeros.get_data_handle(), 0, whole.get_size());
      Binary(dnnl::algorithm::binary_add, zeros, first, spread);
      first = spread;
    }
    Value(node) = NewValue(node);
    Binary(BinaryOf(of.op), first, Whole(b, rank, type), Value(node));
  }

  void EmitReduction(int node) {
    const GraphNode& of = At(node);
    if (IsPlace(of.op)) throw dnnl::error(dnnl_unimplemented, "no places of elements");
    const memory from = Whole(of.inputs[0], of.type.dims.size(), memory::data_type::f32);
    const dnnl::algorithm algorithm = of.op == Operation::kReduceSum   ? dnnl::algorithm::reduction_sum
                                      : of.op == Operation::kReduceMax ? dnnl::algorithm::reduction_max
                                                                       : dnnl::algorithm::reduction_mean;
    Value(node) = NewValue(node);
    Reduce(algorithm, from, Value(node));
  }

  // Adds the primitives of softmax and norms, along the last axis.
  void EmitRows(int node) {
    const GraphNode& of = At(node);
    const int input = of.inputs[0], axis = static_cast<int>(of.type.dims.size()) - 1;
    const memory from = Whole(input, of.type.dims.size(), memory::data_type::f32);
    if (of.op == Operation::kSoftmax) {
      Value(node) = InPlaceOf(input, node);
      const dnnl::softmax_v2_forward::primitive_desc desc(
          dnnl::softmax_v2_forward::desc(dnnl::prop_kind::forward_inference,
                                         dnnl::algorithm::softmax_accurate, from.get_desc(),
                                         Value(node).get_desc(), axis),
          engine_);
      return Add(dnnl::softmax_v2_forward(desc), {{DNNL_ARG_SRC, from}, {DNNL_ARG_DST, Value(node)}});
    }
    of.op == Operation::kLayernorm ? EmitLayernorm(node, from) : EmitRmsnorm(node, from);
  }

  // Adds an axis to a vector: primitives of norms want two axes at least.
  memory TwoAxes(const memory& value) { return Viewed(value, Expanded(value.get_desc(), 2)); }

  // Adds a layernorm with the given flags and further arguments.
  void Normalize(int node, const memory& from, const memory::desc& statistics,
                 dnnl::normalization_flags flags, Arguments arguments) {
    Value(node) = NewValue(node);
    const dnnl::layer_normalization_forward::primitive_desc desc(
        dnnl::layer_normalization_forward::desc(dnnl::prop_kind::forward_inference, from.get_desc(),
                                                statistics, static_cast<float>(At(node).number), flags),
        engine_);
    arguments[DNNL_ARG_SRC] = from;
    arguments[DNNL_ARG_DST] = TwoAxes(Value(node));
    arguments[DNNL_ARG_SCALE] = Whole(At(node).inputs[1], 1, memory::data_type::f32);
    Add(dnnl::layer_normalization_forward(desc), std::move(arguments));
  }

  // Describes the statistics of a norm: a number for each row.
  static memory::desc StatisticsOf(const memory::desc& desc) {
    const Dims dims = desc.dims();
    return Plain(std::vector<uint32_t>(dims.begin(), dims.end() - 1), memory::data_type::f32);
  }

  void EmitLayernorm(int node, const memory& value) {
    const memory from = TwoAxes(value);
    Normalize(node, from, StatisticsOf(from.get_desc()),
              dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift,
              {{DNNL_ARG_SHIFT, Whole(At(node).inputs[2], 1, memory::data_type::f32)}});
  }

  // Adds an rmsnorm, for which oneDNN 2.6 has no primitive. It is a layernorm with given statistics: a mean
  // of zero, and the mean of the squares as its variance.
  void EmitRmsnorm(int node, const memory& value) {
    const memory from = TwoAxes(value);
    const memory::desc statistics = StatisticsOf(from.get_desc());
    // Memory for the statistics, made once; the zeros never change.
    const memory squares(from.get_desc(), engine_), mean(statistics, engine_), zero(statistics, engine_);
    std::memset(zero.get_data_handle(), 0, statistics.get_size());
    Eltwise({dnnl::algorithm::eltwise_square, 0, 0}, from, squares);
    Dims kept = from.get_desc().dims();
    kept.back() = 1;
    Reduce(dnnl::algorithm::reduction_mean, squares, Viewed(mean, statistics.reshape(kept)));
    Normalize(node, from, statistics,
              dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_global_stats,
              {{DNNL_ARG_MEAN, zero}, {DNNL_ARG_VARIANCE, mean}});
  }

  // --- Contractions.

  // Finds the elementwise operations that follow a contraction and can be its post-ops. Each is the only use
  // of the value before it, and none is in another contraction's chain. The chain is computed where the last
  // of them stands, since the other operands of all of them are known there.
  void ChooseChain(int node) {
    if (IsTransposedConvolution(At(node).op))
      throw dnnl::error(dnnl_unimplemented, "no transposed convolutions here");
    std::vector<int> chain = {node};
    // The next operation of the chain; -1 if it ends here.
    const auto next = [&]() -> int {
      const std::vector<int>& users = users_[static_cast<size_t>(chain.back())];
      if (users.size() != 1 || chain.back() == graph_.only_result() || chain.size() > 8) return -1;
      const int user = users.front();
      const GraphNode& of = At(user);
      const bool free = chain_start_[static_cast<size_t>(user)] < 0;
      return free && Info(of.op).kind == OperationKind::kElementwise && of.type.dims == At(node).type.dims &&
                     CanFollow(graph_, of, chain.back())
                 ? user
                 : -1;
    };
    for (int user = next(); user >= 0; user = next()) chain.push_back(user);
    // From the longest chain down, the first one with a good primitive.
    for (; chain.size() > 1 && !Probe(chain); chain.pop_back()) {
    }
    for (int member : chain) chain_start_[static_cast<size_t>(member)] = node;
    chain_end_[static_cast<size_t>(node)] = chain.back();
    if (chain.size() == 1) EmitContraction(node, node);
  }

  // True if there is a primitive with these post-ops that is fast and right. Reference implementations
  // ("ref...") are slow. Convolutions as a GEMM apply post-ops with tensors wrongly in oneDNN 2.6.
  bool Probe(const std::vector<int>& chain) {
    try {
      const Contraction made = MakeContraction(chain.front(), chain.back());
      const bool tensors =
          std::any_of(made.extra.begin(), made.extra.end(), [](int node) { return node >= 0; });
      const bool gemm =
          IsConvolution(At(chain.front()).op) && made.implementation.find("gemm") != std::string::npos;
      return made.implementation.rfind("ref", 0) != 0 && !(gemm && tensors);
    } catch (const dnnl::error&) {
      return false;
    }
  }

  // A primitive for a contraction with its post-ops, before its memory is chosen.
  struct Contraction {
    dnnl::primitive primitive;
    std::string implementation;
    memory::desc lhs, rhs, out;                    // as the primitive wants them
    memory::desc plain_lhs, plain_rhs, plain_out;  // the graph's, with the primitive's axes
    std::vector<int> extra;                        // nodes that the post-ops read, one each; -1: none
    std::vector<memory::desc> extra_descs;
    int bias = -1;  // the node that is added as a bias; -1: none
    memory::desc bias_desc;
  };

  // True if the operation adds an f32 for each filter, or column, to the contraction. Primitives have an
  // argument for it, so it need not be a post-op.
  bool AddsBias(const GraphNode& contraction, const GraphNode& of, size_t side) const {
    if (of.op != Operation::kAdd || of.type.dtype != kirsch::Dtype::kF32 || FunctionOf(graph_, of, side))
      return false;
    // The axes of the channels, of which blocks have two; all others must have one element in the operand.
    const bool convolution = IsConvolution(contraction.op);
    const size_t rank = contraction.type.dims.size();
    const auto of_channels = [&](size_t axis) {
      const bool first = convolution && contraction.conv.layout != ImageLayout::kNhwc;
      return (axis == 1 && first) ||
             (axis == rank - 1 && (!first || ChannelBlock(contraction.conv.layout) != 0));
    };
    std::vector<uint32_t> dims = At(of.inputs[1 - side]).type.dims;
    dims.insert(dims.begin(), rank - dims.size(), 1);
    for (size_t axis = 0; axis < rank; ++axis)
      if (dims[axis] != (of_channels(axis) ? contraction.type.dims[axis] : 1)) return false;
    return true;
  }

  // A bias of a convolution has one axis, that of a matmul as many as its output.
  void SetBias(const GraphNode& contraction, int node, Contraction& made) const {
    made.bias = node;
    const auto count = static_cast<memory::dim>(At(node).type.elements());
    Dims dims(IsConvolution(contraction.op) ? 1 : contraction.type.dims.size(), 1);
    dims.back() = count;
    made.bias_desc = Plain(std::vector<uint32_t>(dims.begin(), dims.end()), memory::data_type::f32);
  }

  // Returns the numbers of an image's axes, the first of them being `first`, and then `more`.
  static std::vector<int> Order(const GraphNode& conv, int first, std::initializer_list<int> more) {
    std::vector<int> order(Info(conv.op).image_axes);
    std::iota(order.begin(), order.end(), first);
    order.insert(order.end(), more);
    return order;
  }

  // Returns a tensor whose axes are in blocks: the blocks row by row, and within each the axes of `inner`,
  // the outermost first. Example: {0, 16} for filters of a depthwise convolution in blocks of 16 groups.
  static memory::desc Blocked(const Dims& dims, const std::vector<std::pair<int, memory::dim>>& inner) {
    memory::desc desc = Plain(std::vector<uint32_t>(dims.begin(), dims.end()), memory::data_type::f32);
    dnnl_blocking_desc_t& blocking = desc.data.format_desc.blocking;
    memory::dim stride = 1;
    Dims blocks = dims;
    for (const auto& [axis, size] : inner) {
      blocking.inner_idxs[blocking.inner_nblks] = axis;
      blocking.inner_blks[blocking.inner_nblks++] = size;
      blocks[static_cast<size_t>(axis)] /= size;
      stride *= size;
    }
    for (size_t axis = dims.size(); axis-- > 0; stride *= blocks[axis]) blocking.strides[axis] = stride;
    return desc;
  }

  // Permutes the axes of an image to what oneDNN wants, whatever the layout in memory is: N, C, H, W. An
  // operand of an epilogue may have one channel for all.
  memory::desc ImageAxes(const GraphNode& conv, const memory::desc& desc) const {
    if (const memory::dim block = kirsch::ChannelBlock(conv.conv.layout); block != 0) {
      Dims dims = desc.dims();
      const memory::dim channels = dims.back();
      dims.pop_back();
      dims[1] *= channels;
      return channels == 1 ? desc.reshape(dims) : Blocked(dims, {{1, block}});
    }
    if (conv.conv.layout != ImageLayout::kNhwc) return desc;
    std::vector<int> order = Order(conv, 2, {1});
    order.insert(order.begin(), 0);
    return desc.permute_axes(order);
  }

  // Permutes the axes of filters to G, O, I, H, W; without groups there is no G.
  memory::desc FilterAxes(const GraphNode& conv, const memory::desc& plain) const {
    Dims dims = plain.dims();
    const auto groups = static_cast<memory::dim>(conv.conv.groups);
    if (const memory::dim block = kirsch::ChannelBlock(conv.conv.layout); block != 0) {
      // [O / block, I / block, H, W, block of I, block of O], or, if there is one I of each group, 1 and 1.
      const memory::dim input = dims[dims.size() - 2];
      dims.resize(dims.size() - 2);
      dims[0] *= block;
      dims[1] *= input;
      if (groups == 1) return Blocked(dims, {{1, block}, {0, block}});
      dims[0] /= groups;
      dims.insert(dims.begin(), groups);
      return input == 1 ? Blocked(dims, {{0, block}}) : Blocked(dims, {{2, block}, {1, block}});
    }
    if (conv.conv.layout == ImageLayout::kNhwc) {
      if (groups == 1) return plain.permute_axes(Order(conv, 2, {1, 0}));
      dims.back() /= groups;
      dims.insert(dims.end() - 1, groups);
      return plain.reshape(dims).permute_axes(Order(conv, 3, {2, 0, 1}));
    }
    if (groups == 1) return plain;
    dims.front() /= groups;
    dims.insert(dims.begin(), groups);
    return plain.reshape(dims);
  }

  // Makes the post-ops of a chain, and notes in `made` which nodes they read.
  dnnl::primitive_attr PostOps(const GraphNode& contraction, int start, int end, Contraction& made) {
    dnnl::post_ops post_ops;
    for (int node = start; node != end;) {
      const int user = users_[static_cast<size_t>(node)].front();
      const GraphNode& of = At(user);
      const size_t side = of.inputs[0] == node ? 0 : 1;
      // A bias can only be added first.
      if (node == start && AddsBias(contraction, of, side)) {
        SetBias(contraction, of.inputs[1 - side], made);
      } else if (const std::optional<Function> function = FunctionOf(graph_, of, side)) {
        post_ops.append_eltwise(1, function->algorithm, function->alpha, function->beta);
        made.extra.push_back(-1);
        made.extra_descs.emplace_back();
      } else {
        const int other = of.inputs[1 - side];
        memory::desc desc =
            Expanded(Plain(At(other).type.dims, PlainDesc(user).data_type()), contraction.type.dims.size());
        if (IsConvolution(contraction.op)) desc = ImageAxes(contraction, desc);
        post_ops.append_binary(BinaryOf(of.op), desc);
        made.extra.push_back(other);
        made.extra_descs.push_back(desc);
      }
      node = user;
    }
    dnnl::primitive_attr attributes;
    attributes.set_post_ops(post_ops);
    return attributes;
  }

  // Makes a primitive for a contraction and its chain up to `end`.
  Contraction MakeContraction(int start, int end) {
    const GraphNode& of = At(start);
    Contraction made;
    const dnnl::primitive_attr attributes = PostOps(of, start, end, made);
    made.plain_lhs = Value(of.inputs[0]).get_desc();
    made.plain_rhs = Value(of.inputs[1]).get_desc();
    made.plain_out = PlainDesc(end);
    of.op == Operation::kMatmul ? MakeMatmul(attributes, made) : MakeConvolution(of, attributes, made);
    return made;
  }

  // Matmuls may choose a layout for weights of two axes only.
  void MakeMatmul(const dnnl::primitive_attr& attributes, Contraction& made) {
    const bool any = method_.any_weights && made.plain_rhs.dims().size() == 2;
    const bool bytes = made.plain_rhs.data_type() == dnnl::memory::data_type::s8;
    if (bytes && !MultipliesBytes()) throw dnnl::error(dnnl_unimplemented, "no exact products of bytes");
    const dnnl::matmul::primitive_desc desc(
        dnnl::matmul::desc(made.plain_lhs, any ? AnyLayout(made.plain_rhs) : made.plain_rhs, made.bias_desc,
                           made.plain_out),
        attributes, engine_);
    made.lhs = made.plain_lhs, made.rhs = desc.weights_desc(), made.out = made.plain_out;
    made.implementation = desc.impl_info_str();
    made.primitive = dnnl::matmul(desc);
  }

  void MakeConvolution(const GraphNode& of, const dnnl::primitive_attr& attributes, Contraction& made) {
    made.plain_lhs = ImageAxes(of, made.plain_lhs);
    made.plain_out = ImageAxes(of, made.plain_out);
    made.plain_rhs = FilterAxes(of, made.plain_rhs);
    const size_t axes = Info(of.op).image_axes;
    Dims strides, dilations, before, after;
    for (size_t i = 0; i < axes; ++i) {
      const kirsch::AxisOptions& options = of.conv.axes[kirsch::ImageAxes::kCount - axes + i];
      const Dims filters = made.plain_rhs.dims();
      const memory::dim kernel = filters[filters.size() - axes + i], stride = options.stride,
                        dilation = options.dilation, pad = options.before;
      strides.push_back(stride);
      // For oneDNN a dilation of 0 is a dense kernel.
      dilations.push_back(dilation - 1);
      before.push_back(pad);
      // Padding behind the image, as much as the output's size takes; it may be negative.
      after.push_back((made.plain_out.dims()[i + 2] - 1) * stride + (kernel - 1) * dilation + 1 -
                      made.plain_lhs.dims()[i + 2] - pad);
    }
    const auto layout = [&](const memory::desc& desc, bool any) { return any ? AnyLayout(desc) : desc; };
    const dnnl::convolution_forward::primitive_desc desc(
        dnnl::convolution_forward::desc(
            dnnl::prop_kind::forward_inference, dnnl::algorithm::convolution_direct,
            layout(made.plain_lhs, method_.any_images), layout(made.plain_rhs, method_.any_weights),
            made.bias_desc, layout(made.plain_out, method_.any_images), strides, dilations, before, after),
        attributes, engine_);
    made.lhs = desc.src_desc(), made.rhs = desc.weights_desc(), made.out = desc.dst_desc();
    made.implementation = desc.impl_info_str();
    made.primitive = dnnl::convolution_forward(desc);
  }

  // Adds a contraction with the reorders that its layouts need.
  void EmitContraction(int start, int end) {
    const GraphNode& of = At(start);
    const Contraction made = MakeContraction(start, end);
    Value(end) = NewValue(end);
    const memory plain_out = Viewed(Value(end), made.plain_out);
    const memory out = made.out == made.plain_out ? plain_out : memory(made.out, engine_);
    // A method that reorders nothing is the same as "plain".
    reordered_images_ |= made.lhs != made.plain_lhs || made.out != made.plain_out;
    reordered_weights_ |= made.rhs != made.plain_rhs;
    // Operands in the primitive's layouts, and the output in its own.
    Arguments arguments = {{DNNL_ARG_SRC, Laid(Viewed(Value(of.inputs[0]), made.plain_lhs), made.lhs, false)},
                           {DNNL_ARG_WEIGHTS, Laid(Viewed(Value(of.inputs[1]), made.plain_rhs), made.rhs,
                                                   method_.packed && IsParameter(of.inputs[1]))},
                           {DNNL_ARG_DST, out}};
    for (size_t i = 0; i < made.extra.size(); ++i) {
      if (made.extra[i] < 0) continue;
      const memory whole = Whole(made.extra[i], of.type.dims.size(), made.extra_descs[i].data_type());
      arguments[DNNL_ARG_ATTR_MULTIPLE_POST_OP(static_cast<int>(i)) | DNNL_ARG_SRC_1] =
          Viewed(whole, made.extra_descs[i]);
    }
    if (made.bias >= 0)
      arguments[DNNL_ARG_BIAS] =
          Viewed(Whole(made.bias, of.type.dims.size(), memory::data_type::f32), made.bias_desc);
    Add(made.primitive, std::move(arguments));
    // Other operations want the plain layout back.
    if (made.out != made.plain_out) Reorder(out, plain_out);
  }

  bool IsParameter(int node) const {
    return At(node).op == Operation::kInput ||
           (At(node).op == Operation::kTranspose && IsParameter(At(node).inputs[0]));
  }

  // Returns the value in the layout that the primitive wants. A packed one is reordered now, any other in
  // every run.
  memory Laid(const memory& value, const memory::desc& wanted, bool packed) {
    if (value.get_desc() == wanted) return value;
    if (packed) return Packed(value, wanted, engine_, stream_);
    const memory laid(wanted, engine_);
    Reorder(value, laid);
    return laid;
  }

  const Method& method_;
  const KirschGraph& problem_;
  const Graph& graph_;
  std::vector<memory> values_;           // of each node
  std::vector<std::vector<int>> users_;  // of each node
  std::vector<int> chain_end_;           // of a contraction: the last node of its post-ops
  std::vector<int> chain_start_;         // of a node of such a chain: the contraction; else -1
  bool reordered_weights_ = false, reordered_images_ = false;
};

}  // namespace

std::string GraphMethods() {
  std::string all;
  for (const Method& method : kMethods) all += std::string(" ") + method.name;
  return all;
}

// Takes only graphs of one result whose tensors lie row by row, and whose matmuls have as many matrices on
// either side.
std::unique_ptr<OnednnHandle> PrepareGraph(int method, const KirschGraph& graph) {
  if (graph.graph.results.size() != 1) return nullptr;
  for (const GraphNode& node : graph.graph.nodes) {
    if (!node.type.dense()) return nullptr;
    for (int input : node.op == Operation::kMatmul ? node.inputs : std::vector<int>{}) {
      const size_t rank = node.type.dims.size();
      if (rank > 2 && graph.graph.at(input).type.dims[rank - 3] != node.type.dims[rank - 3]) return nullptr;
    }
  }
  auto handle = std::make_unique<GraphHandle>(kMethods[method], graph);
  return handle->Prepare() ? std::move(handle) : nullptr;
}
