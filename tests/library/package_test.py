# SPDX-License-Identifier: Apache-2.0
"""Installs the whole project, and builds and runs what uses the installed package only.

Usage: package_test.py SOURCE_DIRECTORY BUILD_DIRECTORY CMAKE C_COMPILER CXX_COMPILER
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile


def run(*command, **options):
    """Standard output and error of a command that has to succeed."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


SOURCES = ("KIRSCH_GGML_SOURCE", "KIRSCH_LLAMA2_SOURCE")


def sources():
    """What the environment says of where engines' sources are."""
    return [f"-D{name}={os.environ[name]}" for name in SOURCES if name in os.environ]


def engines():
    """Examples that can't be compiled without an engine's source."""
    if "KIRSCH_GGML_SOURCE" in os.environ:
        return ["examples/ggml"]
    print("examples/ggml is not compiled: KIRSCH_GGML_SOURCE is not set", file=sys.stderr)
    return []


def check_symbols(library):
    """Nothing but the functions of kirsch.h is to be seen of the library."""
    names = [line.split()[-1] for line in run("nm", "-D", "--defined-only", "--extern-only", library).splitlines()]
    others = [name for name in names if not name.startswith("kirsch_") and not name.startswith("KIRSCH_1")]
    assert len(names) > 20 and not others, f"{library} exports {others[:5]}"


def main():
    source, build, cmake, c_compiler, cxx_compiler = sys.argv[1:]
    source = pathlib.Path(source)
    with tempfile.TemporaryDirectory(dir=build) as directory:
        place = pathlib.Path(directory)
        prefix = place / "installed"
        run(cmake, "--install", build, "--prefix", prefix)
        assert (prefix / "bin/kirsch").exists()
        for name in ("kirsch.1", "tutorial.md", "CHANGELOG.md", "LICENSE", "synth.schema.json"):
            assert list(prefix.rglob(name)), f"{name} is not installed"
        (library,) = prefix.rglob("libkirsch.so")
        check_symbols(library)
        targets = "".join(path.read_text() for path in prefix.rglob("kirsch-targets*.cmake"))
        assert set(re.findall(r"add_library\((\S+)", targets)) == {"kirsch::kirsch"}
        # Copies, so that nothing of the source tree is found beside them.
        shutil.copytree(source / "tests/library/package", place / "test")
        shutil.copytree(source / "examples", place / "examples")
        for project in ("test", "examples/library", "examples/llama", "examples/products", "examples/llama2", *engines()):
            folder = place / project
            run(cmake, "-G", "Ninja", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={prefix}", *sources(),
                f"-DCMAKE_C_COMPILER={c_compiler}", f"-DCMAKE_CXX_COMPILER={cxx_compiler}", "-DCMAKE_BUILD_TYPE=Release")
            run(cmake, "--build", folder / "build")
        environment = dict(os.environ, KIRSCH_CONFIG="none", HOME=str(place), XDG_CACHE_HOME=str(place / "cache"))
        for program in ([place / "test/build/c_test", place], [place / "test/build/cpp_test"]):
            output = run(*program, env=environment)
            assert output == "", f"{program[0]} printed {output!r}"
        assert not (place / "cache").exists(), "the library wrote to the user's cache unasked"
        output = run(place / "examples/library/build/example", env=environment)
        assert "largest error" in output, output
        built_in, own = run(place / "examples/library/build/own_model", env=environment).split("own model: ")
        assert "tile_n_0" in own and built_in.split(": ", 1)[1] != own, built_in + own
        # Exits with 1 where its kernels choose other tokens than plain loops do.
        output = run(place / "examples/llama/build/forward", place / "examples/llama/layer.kirsch", "", 3, env=environment)
        assert "3 tokens, 0 of them others" in output, output
        run(place / "examples/products/build/products_test", env=environment)


if __name__ == "__main__":
    main()
