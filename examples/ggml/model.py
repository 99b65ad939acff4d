#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a model of TinyLlama-1.1B's shapes with random weights of f32 as a GGUF file (needs the packages gguf and numpy).

Usage: model.py OUTPUT [LAYERS]
"""
import sys

import gguf
import numpy

WIDTH, HIDDEN, HEADS, KV_HEADS, VOCABULARY = 2048, 5632, 32, 4, 32000


def write_parameters(writer, layers):
    writer.add_context_length(2048)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(layers)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_vocab_size(VOCABULARY)
    writer.add_tokenizer_model("no_vocab")  # tokens are numbers


def write_weights(writer, layers):
    random = numpy.random.default_rng(1)

    def matrix(name, rows, columns):
        values = random.standard_normal((rows, columns), dtype=numpy.float32)
        writer.add_tensor(name + ".weight", values / numpy.float32(columns**0.5))

    def ones(name):
        writer.add_tensor(name + ".weight", numpy.ones(WIDTH, dtype=numpy.float32))

    matrix("token_embd", VOCABULARY, WIDTH)
    for layer in range(layers):
        prefix = f"blk.{layer}."
        ones(prefix + "attn_norm")
        ones(prefix + "ffn_norm")
        for name, rows, columns in (
                ("attn_q", WIDTH, WIDTH), ("attn_k", WIDTH // HEADS * KV_HEADS, WIDTH), ("attn_v", WIDTH // HEADS * KV_HEADS, WIDTH),
                ("attn_output", WIDTH, WIDTH), ("ffn_gate", HIDDEN, WIDTH), ("ffn_up", HIDDEN, WIDTH), ("ffn_down", WIDTH, HIDDEN)):
            matrix(prefix + name, rows, columns)
    ones("output_norm")
    matrix("output", VOCABULARY, WIDTH)


def main():
    layers = int(sys.argv[2]) if len(sys.argv) > 2 else 22
    writer = gguf.GGUFWriter(sys.argv[1], "llama")
    write_parameters(writer, layers)
    write_weights(writer, layers)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
