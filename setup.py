"""Builds the Python package by CMake. KIRSCH_BUILD_DIRECTORY: where the project has been built already."""
import os
import pathlib
import re
import subprocess
import sys

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = pathlib.Path(__file__).resolve().parent


class CMakeBuild(build_ext):
    """Installs CMake's component `python` where setuptools expects the module."""

    def build_extension(self, extension):
        directory = os.environ.get("KIRSCH_BUILD_DIRECTORY")
        if not directory:
            directory = str(pathlib.Path(self.build_temp).resolve())
            subprocess.run(["cmake", "-S", ROOT, "-B", directory, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                            f"-DKIRSCH_PYTHON={sys.executable}"], check=True)
            subprocess.run(["cmake", "--build", directory, "--target", "kirsch_python"], check=True)
        package = pathlib.Path(self.get_ext_fullpath(extension.name)).resolve().parent
        subprocess.run(["cmake", "--install", directory, "--component", "python", "--prefix", package.parent], check=True)


def version():
    """That of the project; a copy of the Python files alone, for what was built before, has none."""
    directory = os.environ.get("KIRSCH_BUILD_DIRECTORY")
    if directory:
        return re.search(r"^CMAKE_PROJECT_VERSION:STATIC=(\S+)", (pathlib.Path(directory) / "CMakeCache.txt").read_text(), re.M)[1]
    return re.search(r"^project\(kirsch VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]


setup(version=version(), ext_modules=[Extension("kirsch._kirsch", sources=[])], cmdclass={"build_ext": CMakeBuild})
