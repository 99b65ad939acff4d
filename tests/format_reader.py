# SPDX-License-Identifier: Apache-2.0
"""Reads a table as memo/FORMAT.md describes it, and prints what `kirsch db export` prints.

It also forms every page anew as a writer would, and compares.

format_reader.py TABLE: the lines. format_reader.py --test KIRSCH DIRECTORY: makes a small table with the program
KIRSCH in DIRECTORY and compares. Nothing here is shared with the program: the standard library and libzstd only.
"""

import ctypes
import itertools
import json
import pathlib
import re
import sqlite3
import subprocess
import sys

MASK = (1 << 64) - 1
P1, P2, P3, P4, P5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
                      0x27D4EB2F165667C5)

USUAL = [*range(1, 15), 16, 24, 32, 40, 48, 64, 80, 96, *(1 << i for i in range(7, 21))]
DIMS = ["b", "m", "k", "n"]
OPERANDS = ["lhs", "rhs", "out"]
AXES = {"lhs": ("m", "k"), "rhs": ("k", "n"), "out": ("m", "n")}
STEP_OPERANDS = ["", "number", "scalar", "m", "n", "mn"]
LONG_NUMBER = 6  # of 64 bits


def words_of(what):
    """The words that FORMAT.md's table of codes has for `what`, in the order of their codes."""
    text = (pathlib.Path(__file__).parent.parent / "memo" / "FORMAT.md").read_text()
    row = re.search(rf"^\| {what} \| (.*) \|$", text, re.MULTILINE).group(1)
    codes = [code.split() for code in re.sub(r" \([^)]*\)", "", row).split(", ")]
    assert [int(number) for number, _ in codes] == list(range(len(codes))), row
    return [word for _, word in codes]


LEVELS, LAYOUTS, ORDERS, STEPS, DTYPES = map(words_of, ("level", "layout kind", "order", "step", "dtype"))


def rotate(x, bits):
    return ((x << bits) | (x >> (64 - bits))) & MASK


def mix(lane, word):
    return rotate((lane + word * P2) & MASK, 31) * P1 & MASK


def xxh64(data, seed):
    little = lambda at, size: int.from_bytes(data[at:at + size], "little")
    at = 0
    if len(data) >= 32:
        lanes = [(seed + P1 + P2) & MASK, (seed + P2) & MASK, seed, (seed - P1) & MASK]
        while at + 32 <= len(data):
            lanes = [mix(lane, little(at + 8 * i, 8)) for i, lane in enumerate(lanes)]
            at += 32
        h = sum(rotate(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            h = ((h ^ mix(0, lane)) * P1 + P4) & MASK
    else:
        h = (seed + P5) & MASK
    h = (h + len(data)) & MASK
    while at + 8 <= len(data):
        h = (rotate(h ^ mix(0, little(at, 8)), 27) * P1 + P4) & MASK
        at += 8
    if at + 4 <= len(data):
        h = (rotate(h ^ (little(at, 4) * P1 & MASK), 23) * P2 + P3) & MASK
        at += 4
    for byte in data[at:]:
        h = rotate(h ^ (byte * P5 & MASK), 11) * P1 & MASK
    h = (h ^ (h >> 33)) * P2 & MASK
    h = (h ^ (h >> 29)) * P3 & MASK
    return h ^ (h >> 32)


def checksum(first, then):
    h = xxh64(then, xxh64(first, 0))
    return h - (1 << 64) if h >> 63 else h


def decompress(frame):
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    size = zstd.ZSTD_getFrameContentSize(frame, ctypes.c_size_t(len(frame)))
    assert size <= 1 << 30, "a frame without its size"
    out = ctypes.create_string_buffer(size)
    got = zstd.ZSTD_decompress(out, ctypes.c_size_t(size), frame, ctypes.c_size_t(len(frame)))
    assert got == size, "not a frame"
    return out.raw


class Numbers:
    def __init__(self, data):
        self.data, self.at = data, 0

    def next(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed(self):
        value = self.next()
        return value // 2 if value % 2 == 0 else -(value + 1) // 2

    def list(self, length):
        return [self.next() for _ in range(length)]

    def end(self):
        assert self.at == len(self.data), "bytes after the end"


def size_at(index):
    if index < len(USUAL):
        return USUAL[index]
    size = index - len(USUAL) + 1
    for usual in USUAL:
        size += usual <= size
    return size


def read_key(data):
    numbers = Numbers(data)
    plane = numbers.list(numbers.next())
    block = numbers.list(numbers.next())
    numbers.end()
    return plane, block


def read_page(data):
    """Boxes: (low corner, high corner, decision)."""
    numbers = Numbers(data)
    coordinates = numbers.next()
    decisions = [numbers.list(12) for _ in range(numbers.next())]
    count = numbers.next()
    chosen = numbers.list(count)
    lows, highs = [], []
    for _ in range(coordinates):
        low, column = 0, []
        for _ in range(count):
            low += numbers.signed()
            column.append(low)
        lows.append(column)
        highs.append([low + more for low, more in zip(column, numbers.list(count))])
    numbers.end()
    return list(zip(zip(*lows), zip(*highs), (decisions[i] for i in chosen)))


def varint(value):
    out = b""
    while value >= 128:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def signed(value):
    return varint(2 * value if value >= 0 else -2 * value - 1)


def one_form(boxes):
    """The bytes of the page that holds the points of these boxes."""
    boxes = [[list(point), list(point), decision] for low, high, decision in boxes
             for point in itertools.product(*(range(a, b + 1) for a, b in zip(low, high)))]
    coordinates = len(boxes[0][0])
    for i in reversed(range(coordinates)):
        others = lambda box: (box[2], [(low, high) for j, (low, high) in enumerate(zip(*box[:2])) if j != i])
        joined = []
        for box in sorted(boxes, key=lambda box: (others(box), box[0][i])):
            if joined and others(joined[-1]) == others(box) and joined[-1][1][i] + 1 == box[0][i]:
                joined[-1][1][i] = box[1][i]
            else:
                joined.append(box)
        boxes = joined
    boxes.sort(key=lambda box: box[0][::-1])
    decisions = sorted({tuple(box[2]) for box in boxes})
    out = varint(coordinates) + varint(len(decisions)) + b"".join(varint(field) for decision in decisions for field in decision) + varint(len(boxes))
    out += b"".join(varint(decisions.index(tuple(box[2]))) for box in boxes)
    for i in range(coordinates):
        lows = [box[0][i] for box in boxes]
        out += b"".join(signed(low - before) for before, low in zip([0, *lows], lows))
        out += b"".join(varint(box[1][i] - box[0][i]) for box in boxes)
    return out


def layout_text(kind, order, panel, group):
    text = LAYOUTS[kind] if kind else ORDERS[order]
    return text + (str(panel) if panel else "") + (f"x{group}" if group > 1 else "") + ("-col" if kind and order else "")


def decision_text(decision):
    kind, dim, operand, level, size, parts, layout, order, panel, group, _, dtype = decision
    if kind == 1:
        return f"tile {DIMS[dim]} {size}"
    if kind == 2:
        return f"parallel {DIMS[dim]} {size} {parts}"
    if kind in (3, 4):
        text = f"{'move' if kind == 3 else 'pack'} {OPERANDS[operand]} {LEVELS[level]}"
        text += " " + layout_text(layout, order, panel, group) if kind == 4 or level == 0 else ""
        return text + (" " + DTYPES[dtype] if kind == 4 else "")
    assert kind == 5, kind
    return f"microkernel {DIMS[dim]} {size}" if size else "microkernel"


def box_json(plane, low, high, decision):
    op, *rest = plane
    box = {"op": "depthwise" if op & 4 else "matmul"}
    if op & 2:
        operand, *rest = rest
        axes = []
        for _ in range(3 if op & 4 else 2):
            count = max(2 * rest[0] - 1, 0)
            digits = [*rest[1:count], 0, rest[count]] if count else []  # the last one's count is left out
            axes.append([digits[i:i + 2] for i in range(0, len(digits), 2)])
            rest = rest[count + 1:]
        box["window"] = {"operand": OPERANDS[operand], "axes": axes[:2]} | ({"filters": axes[2]} if op & 4 else {})
    if op & 1:
        count, *rest = rest
        box["epilogue"] = []
        for _ in range(count):
            step, operand, number, *rest = rest
            if operand == LONG_NUMBER:
                operand, number, rest = 1, number | rest[0] << 32, rest[1:]
            box["epilogue"].append((STEPS[step], STEP_OPERANDS[operand], number))
    in_memory = sum(operand not in ("", "number") for _, operand, _ in box.get("epilogue", []))
    accumulate, threads, active_threads, fixed_order, lhs_as, block, block_rows, *rest = rest
    assert op < 8 and len(rest) == 24 + in_memory and len(low) == 8, plane
    box |= {"accumulate": bool(accumulate), "threads": threads, "active_threads": active_threads, "fixed_order": bool(fixed_order),
            "lhs_as": ["itself", "bf16", "q8_0", "f16"][lhs_as], "block": block, "block_rows": bool(block_rows), "operands": {}}
    for i, name in enumerate(OPERANDS):
        dtype, level, moved, constant, kind, order, panel, group = rest[8 * i:8 * i + 8]
        box["operands"][name] = {"dtype": DTYPES[dtype], "level": LEVELS[level], "moved": moved,
                                 "constant": bool(constant),
                                 "layout": LAYOUTS[kind], "order": ORDERS[order], "panel": panel, "group": group}
    ranges = [range(a, b + 1) for a, b in zip(low, high)]
    box["sizes"] = {name: [size_at(i) for i in r] for name, r in zip(DIMS, ranges)}
    box["ld"] = {name: [size_at(i - 1) if i else None for i in r] for name, r in zip(OPERANDS, ranges[4:])}
    for name in OPERANDS:  # another than the length of the axis it steps over; out's is longer
        inner = box["sizes"][AXES[name][box["operands"][name]["order"] == "row"]]
        assert all(ld is None or ld > max(inner) or (name != "out" and ld not in inner) for ld in box["ld"][name]), box
    box["available"] = [low[7], high[7]]
    box["decision"] = decision_text(decision)
    return json.dumps(box, separators=(",", ":"))


def check_pages(data):
    size = int.from_bytes(data[16:18], "big")
    assert data[20] == 8 and size >= 512 and len(data) % size == 0, "no whole pages with checksums"
    for number, page in enumerate((data[at:at + size] for at in range(0, len(data), size)), 1):
        told = int.from_bytes(page[-8:], "little")
        assert told == xxh64(page[:-8], number) or not any(page), f"page {number} is damaged"


def read_table(path):
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    query = lambda sql: database.execute(sql).fetchall()
    assert query("PRAGMA application_id") == [(0x4B525343,)], "not a table"
    assert query("PRAGMA user_version") == [(11,)], "another format"
    assert query("PRAGMA journal_mode") == [("wal",)]
    check_pages(pathlib.Path(path).read_bytes())
    identity = dict(query("SELECT name, value FROM identity"))
    prints = "".join(identity[name + "_fingerprint"] for name in ("target", "rules", "cost"))
    assert int(identity["checksum"]) == checksum(identity["target"].encode(), prints.encode()), "damaged identity"
    lines = []
    for key, told, data in query("SELECT key, checksum, data FROM pages ORDER BY key"):
        assert told == checksum(key, data), "damaged page"
        plane, block = read_key(key)
        boxes = read_page(decompress(data))
        assert one_form(boxes) == decompress(data), "a page that is not in its one form"
        for low, high, decision in boxes:
            for corner in low, high:
                assert [i // 1024 for i in corner[:-1]] == block, "a point on the wrong page"
            lines.append(box_json(plane, low, high, decision) + "\n")
    for question, told, data in query("SELECT question, checksum, data FROM plans ORDER BY question"):
        assert told == checksum(question, data), "damaged plan"
        plan = {"plan": question.decode(), "schedule": decompress(data).decode()}
        lines.append(json.dumps(plan, separators=(",", ":")) + "\n")
    for question, told, data in query("SELECT question, checksum, data FROM tuned ORDER BY question"):
        assert told == checksum(question, data), "damaged tuning"
        tuned = {"tuned": question.decode(), "report": json.loads(decompress(data))}
        lines.append(json.dumps(tuned, separators=(",", ":")) + "\n")
    for question, told, data in query("SELECT question, checksum, data FROM bounds ORDER BY question"):
        assert told == checksum(question, data), "damaged bound"
        plane, position = ([int(number) for number in part.split(" ")] for part in question.decode().split(";"))
        box_json(plane, position, position, [5] + 11 * [0])  # is there such a point?
        cost = int(decompress(data))
        assert cost > 0
        lines.append(json.dumps({"bound": question.decode(), "cost": cost}, separators=(",", ":")) + "\n")
    return "".join(lines)


def test(kirsch, directory):
    assert xxh64(b"", 0) == 0xEF46DB3751D8E999 and xxh64(b"abc", 0) == 0x44BC2CF5AD770999
    path = pathlib.Path(directory) / "format_reader_test.db"
    for old in path.parent.glob(path.name + "*"):
        old.unlink()
    run = lambda *arguments: subprocess.run([kirsch, *arguments], check=True, capture_output=True, text=True).stdout
    sizes = [[f"{m}x{k}x{n}"] for m in (3, 4, 5, 6) for k in (5, 6, 7) for n in (8, 9, 10)]  # neighbours: boxes
    for spec, *options in (*sizes, ["17x31x23"], ["1..40x64x80"], ["17x31x23 fixed-order epilogue=add:n,mul:0.5,relu"], ["17x70x923 column-blocks=100"], ["40x50x60 lhs=col ldc=77 accumulate"], ["2:9x200x9 rhs=col lda=201"],
                           ["100x1000x100", "--cold"], ["256x256x256", "--threads", "2"], ["1x70x900"],
                           ["90x15x91 rhs=col"], ["bf16*bf16->f32 20x40x70"], ["u8*s8->s32 33x34x35 rhs=col"],
                           ["f32*bf16->f32 1x70x90"], ["40x41x42 const-rhs"], ["f32*q4_0->f32 1x512x64 rhs=col const-rhs lhs-as=q8_0"],
                           ["f32*q4_k->f32 1x512x64 rhs=col const-rhs lhs-as=q8_0"], ["9x20x9 lhs=col const-lhs"],
                           ["conv2d f32 1x20x18x16 filters=40 kernel=3x3 layout=nhwc epilogue=relu"],
                           ["conv2d f32 1x20x18x16 filters=40 kernel=3x3 stride=2 dilation=2 layout=nchw"],
                           ["conv2d f32 1x40x9x10 filters=40 kernel=3x3 pad=1 groups=40 layout=nhwc"]):
        types, spec = spec.split(" ", 1) if "*" in spec else ("f32", spec)
        spec = spec if spec.startswith("conv2d") else f"matmul {types} {spec}"
        for target in "haswell", "znver4":
            run("synth", spec, *options, "--target", target, "--no-verify", "--emit", "c" if "pad=" in spec else "schedule",
                "--db", str(path) if target == "znver4" else str(path) + ".haswell")
    for table in path, pathlib.Path(str(path) + ".haswell"):
        expected = run("db", "export", str(table))
        got = read_table(table)
        assert got == expected, f"{table}: FORMAT.md and the program differ"
        words = {line.split('"decision":"')[1].split()[0].rstrip('"}') for line in expected.splitlines() if '"decision":"' in line}
        bounds = expected.count('{"bound":')
        print(f"{len(expected.splitlines())} lines agree, {bounds} bounds: {sorted(words)}")
        assert bounds > 0
        assert words >= {"tile", "parallel", "move", "pack", "microkernel"}, words


if __name__ == "__main__":
    if sys.argv[1] == "--test":
        test(*sys.argv[2:])
    else:
        sys.stdout.write(read_table(sys.argv[1]))
