# SPDX-License-Identifier: Apache-2.0
"""The Python package against NumPy in double."""
import os
import pathlib
import subprocess
import sys
import threading

import numpy as np
import pytest

import kirsch

RANDOM = np.random.default_rng(1)


def small(shape, dtype):
    """Small integers, of which sums are exact in every type."""
    low = 0 if np.dtype(dtype).kind == "u" else -4
    return RANDOM.integers(low, 5, shape).astype(dtype)


def bf16_bits(values):
    """Numbers that bf16 has, as the unsigned integers that hold them."""
    return (np.ascontiguousarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def from_bf16(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def f8_value(bits, exponent_bits, mantissa_bits):
    """By the OCP's definition; no NaNs, no infinities."""
    sign = -1.0 if bits >> 7 else 1.0
    exponent = (bits >> mantissa_bits) & ((1 << exponent_bits) - 1)
    mantissa = bits & ((1 << mantissa_bits) - 1)
    bias = (1 << (exponent_bits - 1)) - 1
    if exponent == 0:
        return sign * mantissa * 2.0 ** (1 - bias - mantissa_bits)
    return sign * (1 + mantissa / 2.0**mantissa_bits) * 2.0 ** (exponent - bias)


def product(a, b):
    return a.astype(np.float64) @ b.astype(np.float64)


@pytest.mark.parametrize("types, lhs, rhs, out", [
    ("f32", "f4", "f4", "f4"),
    ("f64", "f8", "f8", "f8"),
    ("f16*f16->f32", "f2", "f2", "f4"),
    ("f32*f16->f32", "f4", "f2", "f4"),
    ("u8*s8->s32", "u1", "i1", "i4"),
    ("s8*s8->s32", "i1", "i1", "i4"),
    ("u8*s8->s16", "u1", "i1", "i2"),
    ("s32", "i4", "i4", "i4"),
])
def test_types(types, lhs, rhs, out):
    kernel = kirsch.compile(f"matmul {types} 17x40x23")
    a, b = small((17, 40), lhs), small((40, 23), rhs)
    result = kernel(a, b)
    assert result.dtype == np.dtype(out) and result.shape == (17, 23)
    assert np.array_equal(result, product(a, b))


@pytest.mark.parametrize("types", ["bf16*bf16->f32", "bf16", "f32*bf16->f32", "f32*bf16->bf16"])
def test_bf16(types):
    kernel = kirsch.compile(f"matmul {types} 9x32x16")
    a, b = small((9, 32), "f4"), small((32, 16), "f4")
    result = kernel(a if types.startswith("f32") else bf16_bits(a), bf16_bits(b))
    expected = product(a, b)
    if types.endswith("f32"):
        assert result.dtype == np.float32 and np.array_equal(result, expected)
    else:
        assert result.dtype == np.uint16
        assert np.max(np.abs(from_bf16(result) - expected)) <= np.max(np.abs(expected)) / 256


@pytest.mark.parametrize("name, exponent, mantissa", [("f8_e4m3", 4, 3), ("f8_e5m2", 5, 2)])
def test_f8_weights(name, exponent, mantissa):
    kernel = kirsch.compile(f"matmul f32*{name}->f32 1x1x120")
    bits = np.arange(120, dtype=np.uint8)  # all that are no infinities or NaNs, and positive
    result = kernel(np.ones((1, 1), np.float32), bits.reshape(1, 120))
    assert [float(x) for x in result[0]] == [f8_value(int(x), exponent, mantissa) for x in bits]


def test_layouts():
    kernel = kirsch.compile("matmul f32 6x7x5 lhs=col ldb=9 out=col ldc=8 accumulate")
    a, b = np.asfortranarray(small((6, 7), "f4")), small((7, 9), "f4")[:, :5]
    before = small((5, 8), "f4")
    out = before.copy()[:, :6].T
    result = kernel(a, b, out=out)
    assert result is out
    assert np.array_equal(out, before[:, :6].T + product(a, b))
    assert np.array_equal(out.base[:, 6:], before[:, 6:])  # what lies between
    with pytest.raises(TypeError, match="out: expected an array, as the kernel adds to what it holds"):
        kernel(a, b)


def test_result_lies_as_the_kernel_says():
    a, b = small((6, 7), "f4"), small((7, 5), "f4")
    result = kirsch.compile("matmul f32 6x7x5 out=col ldc=8")(a, b)
    assert result.strides == (4, 32) and np.array_equal(result, product(a, b))


def test_batch_and_epilogue():
    a, b, bias = small((3, 8, 16), "f4"), small((3, 16, 24), "f4"), small(24, "f4")
    assert np.array_equal(kirsch.compile("matmul f32 3:8x16x24")(a, b), product(a, b))
    kernel = kirsch.compile("matmul f32 8x16x24 epilogue=add:n,relu")
    assert np.array_equal(kernel(a[0], b[0], bias), np.maximum(product(a[0], b[0]) + bias, 0))


GRAPH = """
kernel mlp(bias: f32[96], w: f32[64,96], x: f32[8,64], v: f32[96,32]) -> f32[8,32]:
  h = relu(add(matmul(x, w), bias))
  return matmul(h, v)
kernel attend[keys = 1..3|8](q: f32[4,16], k: f32[keys,16], v: f32[keys,16]) -> f32[4,16]:
  p = softmax(matmul(q, transpose(k)))
  return matmul(p, v)
"""


def test_graph():
    kernel = kirsch.compile(GRAPH, kernel="mlp", threads=2)
    bias, w, x, v = small(96, "f4"), small((64, 96), "f4"), small((8, 64), "f4"), small((96, 32), "f4")
    assert np.array_equal(kernel(bias, w, x, v), product(np.maximum(product(x, w) + bias, 0), v))


def test_graph_family():
    kernel = kirsch.compile(GRAPH, kernel="attend")
    assert sorted(kernel.cost) == [(1,), (2,), (3,), (8,)]
    q = RANDOM.standard_normal((4, 16)).astype(np.float32)
    for keys in (1, 3, 8):
        k, v = RANDOM.standard_normal((2, keys, 16)).astype(np.float32)
        scores = np.exp(product(q, k.T))
        expected = product(scores / scores.sum(axis=1, keepdims=True), v)
        assert np.max(np.abs(kernel(q, k, v) - expected)) < 1e-5
    k = np.zeros((4, 16), np.float32)
    with pytest.raises(ValueError, match=r"k: the kernel is for keys from 1 to 8, got shape \(4, 16\)"):
        kernel(q, k, k)


def test_sums_of_sizes():
    """A size that only sums have is said by the caller; without it every call is refused alike."""
    kernel = kirsch.compile("kernel f[q = 1..2, p = 0..2, t = q + p](x: f32[t], y: f32[2,q]):\n v = relu(x)\n w = neg(y)\n return v, w")
    x, y = np.arange(2, dtype=np.float32), np.ones((2, 1), np.float32)
    for _ in range(2):
        with pytest.raises(ValueError, match="p: does not follow from the shapes"):
            kernel(x, y)
    for wrong in (-4, "1", 1.5, 2**64):
        with pytest.raises(TypeError, match="sizes: expected a whole number for 'p'"):
            kernel(x, y, sizes={"q": 1, "p": wrong})
    with pytest.raises(ValueError, match="threads: expected 1 or more, got 0"):
        kirsch.solve("matmul f32 1x1x1", threads=0)
    v, w = kernel(x, y, sizes={"q": np.int64(1), "p": 1})
    assert np.array_equal(v, x) and np.array_equal(w, -y)


def test_convolution():
    kernel = kirsch.compile("conv2d f32 1x8x9x9 filters=4 kernel=3x3 pad=1 layout=nhwc")
    x, w = small((1, 9, 9, 8), "f4"), small((3, 3, 8, 4), "f4")
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    expected = sum(product(padded[:, i:i + 9, j:j + 9], w[i, j]) for i in range(3) for j in range(3))
    assert np.array_equal(kernel(x, w), expected)


def test_convolution_of_three_axes():
    kernel = kirsch.compile("conv3d f32 1x4x5x6x7 filters=8 kernel=2x1x3 stride=1x2x1 layout=ndhwc")
    x, w = small((1, 5, 6, 7, 4), "f4"), small((2, 1, 3, 4, 8), "f4")
    expected = sum(product(x[:, d:d + 4, 0:6:2, j:j + 5], w[d, 0, j]) for d in range(2) for j in range(3))
    assert np.array_equal(kernel(x, w), expected)


def test_family():
    kernel = kirsch.compile("matmul f32 1..20x32x24")
    b = small((32, 24), "f4")
    for rows in (1, 7, 20):
        a = small((rows, 32), "f4")
        assert np.array_equal(kernel(a, b), product(a, b))
        assert np.array_equal(kernel(a, b, sizes={"m": rows}), product(a, b))
    assert kernel.cost[(1,)].cycles < kernel.cost[(20,)].cycles
    with pytest.raises(ValueError, match="lhs: the kernel is for m from 1 to 20, got shape"):
        kernel(small((21, 32), "f4"), b)
    with pytest.raises(ValueError, match=r"lhs: expected shape \(3, 32\), got \(3, 31\)"):
        kernel(small((3, 31), "f4"), b)


def test_constants():
    kernel = kirsch.compile("matmul f32 1..16x48x32 const-rhs")
    w = small((48, 32), "f4")
    packed = kernel.pack(w)
    assert packed.nbytes >= w.nbytes
    for rows in (1, 16):
        a = small((rows, 48), "f4")
        assert np.array_equal(kernel(a, packed=packed), product(a, w))
    for constants in (None, w):
        with pytest.raises(TypeError, match=r"packed: expected what pack\(\) returned"):
            kernel(a, packed=constants)
    other = kirsch.compile("matmul f32 1..16x48x32 const-rhs")
    with pytest.raises(ValueError, match="packed for this kernel"):
        other(a, packed=packed)
    with pytest.raises(TypeError, match=r"expected 1 arrays \(rhs\), got 0"):
        kernel.pack()


def test_constants_of_graphs():
    """One buffer of all constants serves all members; the other parameters keep their order."""
    kernel = kirsch.compile("""
kernel ffn[tokens = 1..4|16](x: f32[tokens,64], w: const f32[64,96], b: f32[96], v: const f32[96,32]) -> f32[tokens,32]:
  h = relu(add(matmul(x, w), b))
  return matmul(h, v)
""")
    w, b, v = small((64, 96), "f4"), small(96, "f4"), small((96, 32), "f4")
    packed = kernel.pack(w, v)
    for tokens in (1, 3, 16):
        x = small((tokens, 64), "f4")
        assert np.array_equal(kernel(x, b, packed=packed), product(np.maximum(product(x, w) + b, 0), v))


def test_graphs_of_f64():
    kernel = kirsch.compile(
        "kernel f[m = 1..9](x: f64[m,33], w: const f64[33,20], b: f32[20]) -> (f64[m,20], f32[m,20]): "
        "y = softmax(add(matmul(x, w), cast(b, f64))); z = cast(y, f32); return y, z"
    )
    w, b = RANDOM.standard_normal((33, 20)), RANDOM.standard_normal(20).astype("f4")
    packed = kernel.pack(w)
    for m in (1, 9):
        x = RANDOM.standard_normal((m, 33))
        powers = np.exp(x @ w + b)
        expected = powers / powers.sum(1, keepdims=True)
        y, z = kernel(x, b, packed=packed)
        assert y.dtype == np.float64 and z.dtype == np.float32
        np.testing.assert_allclose(y, expected, rtol=1e-13)
        np.testing.assert_allclose(z, expected, rtol=1e-7)


def test_several_results():
    kernel = kirsch.compile(
        "kernel f(x: f32[6,8], w: const f32[8,5]) -> (f32[6,5], f32[6,5] strides=[7,1], f32[1,5]): "
        "y = matmul(x, w); z = relu(y); s = reduce_sum(y, axis=0); return z, y, s"
    )
    x, w = small((6, 8), "f4"), small((8, 5), "f4")
    packed = kernel.pack(w)
    y = x @ w
    expected = np.maximum(y, 0), y, y.sum(0, keepdims=True)
    results = kernel(x, packed=packed)
    assert isinstance(results, tuple) and results[1].strides == (28, 4)
    own = tuple(np.empty_like(result) for result in expected)
    own = own[0], np.empty((6, 7), np.float32)[:, :5], own[2]
    assert kernel(x, packed=packed, out=own)[1] is own[1]
    for got in (results, own):
        for result, value in zip(got, expected, strict=True):
            np.testing.assert_allclose(result, value, rtol=1e-5)
    for out, error, message in [
        (own[0], TypeError, "out: expected a tuple of 3 arrays"),
        ((own[0], own[1]), TypeError, "out: expected a tuple of 3 arrays"),
        ((own[0], own[1], own[0][:1]), ValueError, "s: expected memory of its own, got some of z"),
    ]:
        with pytest.raises(error, match=message):
            kernel(x, packed=packed, out=out)


def test_query():
    best = kirsch.solve("matmul f32 64x64x64", target="haswell").query()
    given = kirsch.solve("matmul f32 64x64x64", target="haswell", schedule="tile n 16").query()
    assert best["cycles"] == kirsch.solve("matmul f32 64x64x64", target="haswell").cost.cycles <= given["cycles"]
    assert given["steps"][0] == {"step": "tile", "dim": "n", "size": 16, "trips": 4}
    named = kirsch.solve("matmul f32 64x64x64", target="haswell",
                         schedule="schedule inner = ...; move out VRF vectors8\ntile n ?; inner").query()
    assert best["cycles"] <= named["cycles"] and named["steps"][0]["dim"] == "n"
    family = kirsch.solve("matmul f32 1..4x64x64", target="haswell")
    assert family.query(sizes=(3,))["cycles"] == family.cost[(3,)].cycles
    with pytest.raises(TypeError, match="sizes: expected a tuple of sizes"):
        family.query(sizes=3)
    with pytest.raises(ValueError, match="schedule:1:8: expected a positive number, got '0'"):
        kirsch.solve("matmul f32 64x64x64", schedule="tile n 0")


def test_constant_batches():
    kernel = kirsch.compile("matmul f32 3:4x16x24 const-rhs")
    a, b = small((3, 4, 16), "f4"), small((3, 16, 24), "f4")
    assert np.array_equal(kernel(a, packed=kernel.pack(b)), product(a, b))


def test_threads():
    kernel = kirsch.compile("matmul f32 96x64x128", threads=2)
    a, b = small((96, 64), "f4"), small((64, 128), "f4")
    expected, wrong = product(a, b), []

    def work(number):
        own = kirsch.compile(f"matmul f32 {8 + number}x64x128")
        for _ in range(20):
            if not np.array_equal(kernel(a, b), expected) or not np.array_equal(own(a[:8 + number], b), expected[:8 + number]):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_fork():
    """A child process has none of its parent's threads."""
    kernel = kirsch.compile("matmul f32 96x64x128", threads=2)
    a, b = small((96, 64), "f4"), small((64, 128), "f4")
    kernel(a, b)
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(kernel(a, b), product(a, b)) else 1)
    assert os.waitpid(child, 0)[1] == 0


class Exporter:
    """A tensor of another library."""

    def __init__(self, array, device=(1, 0)):
        self.array, self.device, self.exported = array, device, 0

    def __dlpack__(self, stream=None):
        self.exported += 1
        return self.array.__dlpack__()

    def __dlpack_device__(self):
        return self.device


def test_dlpack():
    kernel = kirsch.compile("matmul f32 6x7x5 rhs=col")
    a, b = small((6, 7), "f4"), np.asfortranarray(small((7, 5), "f4"))
    out = np.zeros((6, 5), np.float32)
    exporters = [Exporter(a), Exporter(b), Exporter(out)]
    before = sys.getrefcount(a)
    for _ in range(3):
        result = kernel(*exporters[:2], out=exporters[2])
    assert result is exporters[2] and np.array_equal(out, product(a, b))
    assert [exporter.exported for exporter in exporters] == [3, 3, 3]
    assert sys.getrefcount(a) == before  # tensors are given back
    with pytest.raises(TypeError, match="lhs: expected an array in this CPU's memory, got one on DLPack's device 2"):
        kernel(Exporter(a, device=(2, 0)), b)
    with pytest.raises(TypeError, match=r"lhs: expected an array of f32 \(float32\), got float64"):
        kernel(Exporter(a.astype("f8")), b)


@pytest.mark.parametrize("arguments, error, message", [
    (lambda a, b: (a,), TypeError, r"expected 2 arrays \(lhs, rhs\), got 1"),
    (lambda a, b: (a, b, b), TypeError, r"expected 2 arrays \(lhs, rhs\), got 3"),
    (lambda a, b: (a.astype("f8"), b), TypeError, r"lhs: expected an array of f32 \(float32\), got float64"),
    (lambda a, b: (a.astype(">f4"), b), TypeError, r"lhs: expected .* of another byte order"),
    (lambda a, b: (a, 3.0), TypeError, r"rhs: expected an array of f32 \(float32\), got float"),
    (lambda a, b: (a, b.T), ValueError, r"rhs: expected shape \(16, 4\), got \(4, 16\)"),
    (lambda a, b: (a, np.asfortranarray(b)), ValueError, r"rhs: expected strides of \(4, 1\) elements, got \(1, 16\)"),
    (lambda a, b: (np.frombuffer(bytes(8 * 16 * 4 + 1), np.uint8)[1:].view("f4").reshape(8, 16), b), ValueError,
     "lhs: expected an address that is a multiple of 4"),
])
def test_bad_arguments(arguments, error, message):
    kernel = kirsch.compile("matmul f32 8x16x4")
    with pytest.raises(error, match=message) as raised:
        kernel(*arguments(small((8, 16), "f4"), small((16, 4), "f4")))
    assert "\n" not in str(raised.value)


def test_bad_out():
    kernel = kirsch.compile("matmul f32 8x8x8")
    a, b = small((8, 8), "f4"), small((8, 8), "f4")
    fixed = np.zeros((8, 8), np.float32)
    fixed.flags.writeable = False
    for out, error, message in [
        (a, ValueError, "out: expected memory of its own, got some of lhs"),
        (fixed, ValueError, "out: expected an array that can be written"),
        (np.zeros((8, 9), np.float32), ValueError, r"out: expected shape \(8, 8\), got \(8, 9\)"),
        (np.zeros((8, 8)), TypeError, "out: expected an array of f32"),
        (3, TypeError, "out: expected an array of f32"),
    ]:
        with pytest.raises(error, match=message):
            kernel(a, b, out=out)


def test_bad_requests(tmp_path):
    with pytest.raises(ValueError, match="text:1:15: expected a size from 1 to 1048576, got '0'"):
        kirsch.compile("matmul f32 64x0x64")
    with pytest.raises(ValueError, match="nosuch"):
        kirsch.compile("matmul f32 8x8x8", target="nosuch")
    with pytest.raises(ValueError, match="threads: expected 1 to 255"):
        kirsch.compile("matmul f32 8x8x8", threads=1000)
    with pytest.raises(ValueError, match=r"expected the name of a kernel of the text \(mlp attend\)"):
        kirsch.compile(GRAPH)
    table = tmp_path / "table.db"
    table.write_text("no table, but long enough to be looked at")
    with pytest.raises(kirsch.Error, match="table.db") as raised:
        kirsch.solve("matmul f32 8x8x8", table=str(table))
    assert raised.value.code == 4


def test_without_code(tmp_path):
    """Costs, reasons and headers for CPUs that this one need not be."""
    table = tmp_path / "table.db"
    solution = kirsch.solve("matmul f32 64x64x64", target="skylake-avx512", table=str(table))
    again = kirsch.solve("matmul f32 64x64x64", target="skylake-avx512", table=str(table))
    assert table.stat().st_size > 0 and solution.cost.cycles == again.cost.cycles
    assert solution.target == "skylake-avx512" and solution.name == "matmul_f32_64x64x64"
    assert solution.cost.cycles > 64**3 / 32 and solution.cost.optimal and solution.cost.gflops > 1
    assert "cycles=" in repr(solution.cost)
    assert "matmul f32 64x64x64" in solution.explain()
    header = solution.header("product")
    assert "void product(const float* KIRSCH_RESTRICT" in header or "void product(const float*" in header
    source = tmp_path / "test.c"
    source.write_text(header)
    subprocess.run(["cc", "-fsyntax-only", "-x", "c", str(source)], check=True)
    with pytest.raises(ValueError, match="name: expected a name"):
        solution.header("no name")
    kernel = kirsch.compile("matmul f32 64x64x64")
    assert kernel.cost.cycles > 0 and "matmul f32 64x64x64" in kernel.explain()
    assert f"void {kernel.name}(" in kernel.header() and kernel.target


def test_prints_nothing(tmp_path):
    """Of its own, whatever it is asked for, and the user's cache is left alone."""
    program = ("import kirsch, numpy\n"
               "k = kirsch.compile('matmul f32 1..80x256x256', threads=2)\n"
               "k(numpy.ones((8, 256), 'f4'), numpy.ones((256, 256), 'f4'))\n"
               "k.explain(), k.header()\n")
    environment = dict(os.environ, HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path / "cache"))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, env=environment, check=True)
    assert done.stdout == done.stderr == b"" and not list(tmp_path.iterdir())


def test_version():
    assert len(kirsch.__version__.split(".")) == 3
    assert pathlib.Path(kirsch.__file__).name == "__init__.py"


def q8_0_blocks(codes, scales):
    """Rows of blocks: an f16 and 32 bytes each."""
    rows, k = codes.shape
    bits = scales.astype(np.float16).view(np.uint8).reshape(rows, k // 32, 2)
    return np.concatenate([bits, codes.view(np.uint8).reshape(rows, k // 32, 32)], axis=2).reshape(rows, k // 32 * 34)


@pytest.mark.parametrize("text, packs", [
    ("matmul f32*q8_0->f32 3x64x20 rhs=col", False),
    ("matmul f32*q8_0->f32 1..5x64x20 rhs=col", False),
    ("matmul f32*q8_0->f32 3x64x20 rhs=col const-rhs", True),
    ("kernel layer(x: f32[3,64], w: q8_0[20,64]):\n  return matmul(x, transpose(w))", False),
])
def test_blocks_are_rows_of_bytes(text, packs):
    codes = RANDOM.integers(-4, 5, (20, 64)).astype(np.int8)
    scales = 2.0 ** RANDOM.integers(-2, 3, (20, 2))
    weights = q8_0_blocks(codes, scales)
    a = small((3, 64), "f4")
    kernel = kirsch.compile(text)
    result = kernel(a, packed=kernel.pack(weights)) if packs else kernel(a, weights)
    assert np.array_equal(result, product(a, (codes * np.repeat(scales, 32, axis=1)).T))
    with pytest.raises(ValueError, match=r"expected shape \(20, 68\), got \(68, 20\)"):
        kernel.pack(weights.T) if packs else kernel(a, weights.T)
