# SPDX-License-Identifier: Apache-2.0
"""Installs the package into a virtual environment with pip, from the build directory, and uses it there.

Usage: install.py SOURCE_DIRECTORY BUILD_DIRECTORY
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROGRAM = """
import kirsch, numpy, pathlib, sys
assert pathlib.Path(kirsch.__file__).is_relative_to(sys.prefix), kirsch.__file__
kernel = kirsch.compile("matmul f32 8x16x4")
out = kernel(numpy.ones((8, 16), "float32"), numpy.full((16, 4), 2, "float32"))
assert (out == 32).all()
print(kirsch.__version__)
"""


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{done.stdout}")
    return done.stdout


def copy_source(source, copy):
    """What is built of the package, as setuptools writes beside it."""
    copy.mkdir()
    for name in ("pyproject.toml", "setup.py"):
        shutil.copy(source / name, copy / name)
    shutil.copytree(source / "python", copy / "python")


def main():
    source, build = map(pathlib.Path, sys.argv[1:])
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with tempfile.TemporaryDirectory(dir=build) as directory:
        place = pathlib.Path(directory)
        run(sys.executable, "-m", "venv", "--system-site-packages", place / "venv")
        copy_source(source, place / "source")
        python = place / "venv/bin/python"
        run(python, "-m", "pip", "install", "--no-build-isolation", "--no-index", "--no-deps", ".", cwd=place / "source",
            env=dict(environment, KIRSCH_BUILD_DIRECTORY=str(build)))
        version = run(python, "-c", PROGRAM, cwd=place, env=environment).strip()
        assert version == (build / "CMakeCache.txt").read_text().split("CMAKE_PROJECT_VERSION:STATIC=")[1].split("\n")[0]


if __name__ == "__main__":
    main()
