# SPDX-License-Identifier: Apache-2.0
"""Are programs that JAX prints computed right once they are imported?

jax_programs_test.py KIRSCH. Each file of jax/ is what JAX 0.10 printed, in generic form, of a function that has the name of
the file and computes what the function of that name below does with NumPy, in double. The package kirsch has to be on
PYTHONPATH. Exit code 77: this CPU, or this build, lacks what it takes.
"""
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

KIRSCH = sys.argv[1]
HERE = pathlib.Path(__file__).parent


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def silu(x):
    return x * sigmoid(x)


def gelu_tanh(x):
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


def rms(x):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)


def convolve(x, w, stride, groups=1):
    """Images [n,h,w,c] by filters [kh,kw,c/groups,f]; as many zeros around as SAME has for 3x3 of any stride here."""
    n, height, width, channels = x.shape
    kh, kw, per_group, filters = w.shape
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    out = np.zeros((n, (height - 1) // stride + 1, (width - 1) // stride + 1, filters))
    for i in range(out.shape[1]):
        for j in range(out.shape[2]):
            patch = padded[:, i * stride:i * stride + kh, j * stride:j * stride + kw]
            for f in range(filters):
                begin = f // (filters // groups) * per_group
                out[:, i, j, f] = (patch[..., begin:begin + per_group] * w[..., f]).sum((1, 2, 3))
    return out


def attention(q, k, v, mask=0.0):
    """Of [tokens,heads,e]."""
    scores = np.einsum("qhd,khd->hqk", q, k) / np.sqrt(q.shape[-1]) + mask
    return np.einsum("hqk,khd->qhd", softmax(scores), v)


def heads(x, w, count):
    return (x @ w).reshape(x.shape[0], count, -1)


# --- The programs ---

def mlp(x, w1, b1, w2, b2):
    return gelu_tanh(x @ w1 + b1) @ w2 + b2


def gated_mlp(x, w1, w3, w2):
    return (silu(x @ w1) * (x @ w3)) @ w2


def layernorm(x, scale, shift):
    d = x - x.mean(-1, keepdims=True)
    return d / np.sqrt((d * d).mean(-1, keepdims=True) + 1e-5) * scale + shift


def rmsnorm(x, scale):
    return rms(x) * scale


def attention_causal(q, k, v):
    return attention(q, k, v, np.where(np.tril(np.ones((24, 24))), 0, -np.inf))


def mha(x, wq, wk, wv, wo):
    return (attention(*(heads(x[0], w, 4) for w in (wq, wk, wv))).reshape(24, 64) @ wo)[None]


def flax_mha(x, wq, wk, wv, wo):
    return attention(*(heads(x, w.reshape(64, 64), 4) for w in (wq, wk, wv))).reshape(24, 64) @ wo.reshape(64, 64)


def block(x, scale, w1, w3, w2):
    return x + gated_mlp(rmsnorm(x, scale), w1, w3, w2)


def conv(x, w, b):
    return np.maximum(convolve(x, w, 1) + b, 0)


def depthwise(x, w, b):
    return np.maximum(convolve(x, w, 1, groups=16) + b, 0)


def conv_nchw(x, w, b):
    y = convolve(x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0), 2)
    return np.maximum(y + b, 0).transpose(0, 3, 1, 2)


def quantised(x, w, scale):
    return (x @ w) * scale


def log_softmax(x):
    return np.log(softmax(x))


def activations(x):
    softplus = np.log1p(np.exp(x))
    elu = np.where(x > 0, x, np.expm1(x))
    return softplus + elu + np.where(x > 0, x, 0.01 * x) + x * np.clip(x + 3, 0, 6) / 6


def two_results(x, w):
    y = x @ w
    return y, y.sum(0)


def rotate(x, cosines, sines):
    a, b = np.split(x, 2, -1)
    return np.concatenate([a * cosines - b * sines, b * cosines + a * sines], -1)


def rotary(x, cosines, sines):
    return rotate(x, cosines[:, None], sines[:, None])


def qkv_attention(x, w, wo):
    return attention(*(y.reshape(24, 4, 16) for y in np.split(x @ w, 3, -1))).reshape(24, 64) @ wo


def qkv_rotary(x, w, wo, cosines, sines):
    q, k, v = (x[0] @ w).reshape(24, 3, 4, 16).transpose(1, 0, 2, 3)
    q, k = (rotary(y, cosines, sines) for y in (q, k))
    return (attention_causal(q, k, v).reshape(24, 64) @ wo)[None]


def batched_mha(x, wq, wk, wv, wo):
    flat = [w.reshape(64, 64) for w in (wq, wk, wv, wo)]
    return np.stack([attention(*(heads(one, w, 4) for w in flat[:3])).reshape(24, 64) @ flat[3] for one in x])


def swiglu(x, w, w2):
    gate, up = np.split(x @ w, 2, -1)
    return silu(gate) * up @ w2


def pool(x, size, stride, before, after, reduce):
    """Windows of [n,h,w,c] along both axes of the image. What is around it is no number, and passed over."""
    padded = np.pad(x, ((0, 0), (before[0], after[0]), (before[1], after[1]), (0, 0)), constant_values=np.nan)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (size, size), (1, 2))[:, ::stride, ::stride]
    return reduce(windows, axis=(-2, -1))


def max_pool_block(x, w, b):
    return pool(conv(x, w, b), 2, 2, (0, 0), (0, 0), np.nanmax)


def avg_pool_block(x, scale):
    return pool(x, 3, 2, (1, 0), (1, 1), np.nanmean) * scale


def max_pool_nchw(x):
    return pool(x.transpose(0, 2, 3, 1), 3, 2, (1, 1), (1, 1), np.nanmax).transpose(0, 3, 1, 2)


def padded_conv(x, w):
    # As many zeros as SAME has are in convolve; one more pixel before each axis, and one behind the width.
    padded = np.pad(x, ((0, 0), (1, 0), (0, 1), (0, 0)))
    return convolve(padded, w, 2)[:, :5, :5]


def rolled(x, y):
    return np.roll(x, 3, 1) * y + np.roll(x, -1, 0)


def shifted(x, w):
    return x * w + np.pad(x, ((1, 0), (0, 0)))[:-1] * (1 - w)


def interleaved(x, cosines, sines):
    a, b = x[:, ::2], x[:, 1::2]
    return a * cosines - b * sines, b * cosines + a * sines


def cls_token(x, token, position):
    return np.concatenate([token, x]) + position


def pooled_head(x, w, b):
    return x.mean((1, 2)) @ w + b


def nearest(x, c):
    return ((x[:, None] - c[None])**2).sum(-1).min(-1)


def padded_repeats(x, y):
    return np.pad(np.broadcast_to(x, (4, 1, 3)), ((0, 0), (1, 1), (0, 0))) + y


def rotate_pairs(x, cosines, sines):
    """Of [tokens,heads,e]: pairs are side by side."""
    a, b, cosines, sines = x[..., ::2], x[..., 1::2], cosines[:, None], sines[:, None]
    return np.stack([a * cosines - b * sines, a * sines + b * cosines], -1).reshape(x.shape)


def interleaved_rope(x, cosines, sines):
    return rotate_pairs(x, cosines, sines)


def llama_attention_cache(x, scale, wq, wk, wv, wo, keys, values, cosines, sines):
    q, k, v = (heads(rms(x) * scale, w, 4) for w in (wq, wk, wv))
    k = np.concatenate([keys, rotate_pairs(k, cosines, sines)])
    v = np.concatenate([values, v])
    mask = np.where(np.arange(24) <= np.arange(4)[:, None] + 20, 0, -np.inf)
    return x + attention(rotate_pairs(q, cosines, sines), k, v, mask).reshape(4, 64) @ wo, k, v


def llama_block_gqa(x, scale1, wq, wk, wv, wo, cosines, sines, scale2, w1, w3, w2):
    h = rms(x) * scale1
    q, k, v = heads(h, wq, 4), heads(h, wk, 2), heads(h, wv, 2)
    q, k = (rotate_pairs(y, cosines, sines) for y in (q, k))
    mask = np.where(np.tril(np.ones((16, 16))), 0, -np.inf)
    x = x + attention(q, k.repeat(2, 1), v.repeat(2, 1), mask).reshape(16, 64) @ wo
    return x + gated_mlp(rms(x) * scale2, w1, w3, w2)


def pixels(x, size):
    """Of [n,h,w,c]: squares of channels become squares of pixels."""
    n, height, width, c = x.shape
    x = x.reshape(n, height, width, size, size, c // size**2).transpose(0, 1, 3, 2, 4, 5)
    return x.reshape(n, height * size, width * size, -1)


def depth_to_space(x):
    return pixels(x, 2)


def pixel_shuffle_nchw(x):
    return x.reshape(1, 4, 2, 2, 5, 6).transpose(0, 1, 4, 2, 5, 3).reshape(1, 4, 10, 12)


def patches(x, size):
    n, height, width, c = x.shape
    x = x.reshape(n, height // size, size, width // size, size, c).transpose(0, 1, 3, 2, 4, 5)
    return x.reshape(n, -1, size * size * c)


def vit_patchify(x, w, b, position):
    return patches(x, 8) @ w + b + position


def swin_block(x, scale, shift, wqkv, wo):
    windows = patches(layernorm(x, scale, shift), 4).reshape(4, 16, 32)
    outs = [attention(*np.moveaxis((w @ wqkv).reshape(16, 3, 2, 16), 1, 0)).reshape(16, 32) @ wo for w in windows]
    return x + np.stack(outs).reshape(1, 2, 2, 4, 4, 32).transpose(0, 1, 3, 2, 4, 5).reshape(1, 8, 8, 32)


def group_norm(x, scale, shift, groups):
    g = x.reshape(x.shape[0], -1, groups, x.shape[-1] // groups)
    d = g - g.mean((1, 3), keepdims=True)
    return (d / np.sqrt((d * d).mean((1, 3), keepdims=True) + 1e-5)).reshape(x.shape) * scale + shift


def unet_resblock(x, scale1, shift1, w1, time, wt, scale2, shift2, w2, ws):
    h = convolve(silu(group_norm(x, scale1, shift1, 4)), w1, 1) + silu(time) @ wt
    return convolve(silu(group_norm(h, scale2, shift2, 4)), w2, 1) + x @ ws[0, 0]


def unet_up(x, skip, w):
    return silu(convolve(np.concatenate([x.repeat(2, 1).repeat(2, 2), skip], -1), w, 1))


def repeat_upsample(x):
    return x.repeat(2, 1).repeat(2, 2)


def resize_bilinear(x):
    for axis in (1, 2):
        size = x.shape[axis]
        at = (np.arange(2 * size) + 0.5) / 2 - 0.5
        low = np.floor(at)
        share = (at - low).reshape([-1 if i == axis else 1 for i in range(4)])
        a, b = (x.take(np.clip(low + i, 0, size - 1).astype(int), axis) for i in (0, 1))
        x = a * (1 - share) + b * share
    return x


def moe_gate(x, w):
    p = softmax(x @ w)
    return p.argmax(-1), p.max(-1)


def bert_embeddings(ids, types, words, kinds, position, scale, shift):
    return layernorm(words[ids.astype(int)] + kinds[types.astype(int)] + position[:12], scale, shift)


def embedding_positional(ids, table, position, scale, shift):
    return layernorm(table[ids.astype(int)] * np.sqrt(32) + position[:24], scale, shift)


def bert_layer(x, mask, wq, wk, wv, wo, bq, bk, bv, bo, scale1, shift1, scale2, shift2, w1, b1, w2, b2):
    def one(x, hidden):
        q, k, v = ((x @ w + b).reshape(16, 4, 16) for w, b in ((wq, bq), (wk, bk), (wv, bv)))
        h = layernorm(x + attention(q, k, v, hidden).reshape(16, 64) @ wo + bo, scale1, shift1)
        gelu = np.vectorize(lambda y: y / 2 * math.erfc(-y / math.sqrt(2)))
        return layernorm(h + gelu(h @ w1 + b1) @ w2 + b2, scale2, shift2)
    return np.stack([one(*pair) for pair in zip(x, (1 - mask) * -1e9)])


def cumsum_positions(mask):
    return mask.cumsum(-1) * mask - 1


def cross_entropy(logits, labels):
    return -log_softmax(logits)[np.arange(12), labels.astype(int)]


def cnn_head_nchw(x, w, k):
    y = np.maximum(convolve(x.transpose(0, 2, 3, 1), k.transpose(2, 3, 1, 0), 1), 0)
    return y.transpose(0, 3, 1, 2).reshape(2, 128) @ w


TENSOR = r"(\w+)\[([\d,]*)\](?: strides=\[([\d,]*)\])?"


# What integers are below: indices of tables. Others are masks, of 0 and 1.
BELOW = {"embedding_positional": 100, "cross_entropy": 32}
NUMBERS = {"float": np.float32, "int": np.int32, "f32": np.float32, "s32": np.int32}


def numbers(text):
    return tuple(int(number) for number in text.split(",") if number)


def view(memory, size, strides):
    """The array in memory as the kernel has its axes."""
    if not strides:
        return memory.reshape(numbers(size))
    return np.lib.stride_tricks.as_strided(memory, numbers(size), [n * memory.itemsize for n in numbers(strides)])


def imported(path, directory):
    """The kernel's text, and the values of its constants."""
    constants = pathlib.Path(directory) / "constants.h"
    done = subprocess.run([KIRSCH, "import", path, "--constants", constants], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    arrays = re.findall(r"= \{([^}]*)\}", constants.read_text())
    types = re.findall(r"static const (\w+)", constants.read_text())
    values = [np.array([float(word) for word in array.replace("f,", ",").split(",") if word.strip()]).astype(NUMBERS[type_])
              for type_, array in zip(types, arrays)]
    return done.stdout, values


def drawn(random, dtype, size, below):
    shape = numbers(size)
    if dtype in ("u8", "s8"):
        return random.integers(0 if dtype == "u8" else -128, 128, shape).astype(np.uint8 if dtype == "u8" else np.int8)
    if dtype == "i32":
        return random.integers(0, below, shape).astype(np.int32)
    return (random.standard_normal(shape) / 2).astype(np.float32)


def largest_error(path, directory, random):
    """Of the kernel's results, beside those of the function that has the file's name."""
    import kirsch
    text, constants = imported(path, directory)
    kernel = kirsch.compile(text)
    parameters, results = re.match(r"kernel \w+\((.*?)\) -> (.*):\n", text).groups()
    # What the program calls its parameters, in its shapes: their first lines in the file have them.
    shapes = re.search(r"function_type = \(([^)]*)\)", path.read_text()).group(1)
    arguments = [drawn(random, {"ui8": "u8", "i8": "s8"}.get(element, element), sizes.replace("x", ","), BELOW.get(path.stem, 2))
                 for sizes, element in re.findall(r"tensor<([\dx]*)x(\w+)>", shapes)]
    memory = [np.ascontiguousarray(argument) for argument in arguments] + constants
    operands = [view(array, size, strides)
                for array, (_, size, strides) in zip(memory, re.findall(r"\w+: (?:const )?" + TENSOR, parameters))]
    wanted = globals()[path.stem](*(argument.astype(np.float64) for argument in arguments))
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    places = [np.full(want.size, -1, NUMBERS[type_]) for want, (type_, _, _) in zip(wanted, re.findall(TENSOR, results))]
    outs = tuple(view(place, size, strides) for place, (_, size, strides) in zip(places, re.findall(TENSOR, results)))
    kernel(*operands, out=outs if len(outs) > 1 else outs[0])
    return max(float(np.abs(place.reshape(want.shape) - want).max() / (1 + np.abs(want).max()))
               for place, want in zip(places, wanted))


def main():
    import kirsch
    try:
        kirsch.compile("matmul f32 2x2x2")
    except kirsch.Error as error:
        print(f"skipped: {error}")
        return 77
    random = np.random.default_rng(1)
    failed = 0
    with tempfile.TemporaryDirectory() as directory:
        for path in sorted(HERE.glob("jax/*.mlir")):
            error = largest_error(path, directory, random)
            print(f"{path.stem}: {error:.2g}")
            failed += not error < 1e-5
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
