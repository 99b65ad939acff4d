#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a model of stories110M's shapes with random weights, as llama2.c reads it (needs numpy).

Usage: model.py OUTPUT
"""
import struct
import sys

import numpy

WIDTH, HIDDEN, LAYERS, HEADS, VOCABULARY, LENGTH = 768, 2048, 12, 12, 32000, 1024


def main():
    random = numpy.random.default_rng(1)
    with open(sys.argv[1], "wb") as file:

        def matrices(count, rows, columns):
            for _ in range(count):
                values = random.standard_normal((rows, columns), dtype=numpy.float32)
                file.write((values / numpy.float32(columns**0.5)).tobytes())

        def ones(count):
            file.write(numpy.ones(count, dtype=numpy.float32).tobytes())

        file.write(struct.pack("7i", WIDTH, HIDDEN, LAYERS, HEADS, HEADS, VOCABULARY, LENGTH))
        matrices(1, VOCABULARY, WIDTH)  # of tokens, and of logits
        ones(LAYERS * WIDTH)
        matrices(4 * LAYERS, WIDTH, WIDTH)  # wq, wk, wv, wo
        ones(LAYERS * WIDTH)
        matrices(LAYERS, HIDDEN, WIDTH)
        matrices(LAYERS, WIDTH, HIDDEN)
        matrices(LAYERS, HIDDEN, WIDTH)
        ones(WIDTH)
        ones(LENGTH * WIDTH // HEADS)  # two tables that are skipped


if __name__ == "__main__":
    main()
