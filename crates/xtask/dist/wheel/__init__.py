"""OpenCL for CPUs and NVIDIA GPUs: where the driver of this package is.

PyOpenCL, installed as a wheel, finds the driver by itself. For every other program and package, `register()` tells the
loader, and `library()` is the path to tell it.
"""

import os
import pathlib

__all__ = ["icd", "library", "register"]
__version__ = "@VERSION@"

_FOLDER = pathlib.Path(__file__).resolve().parent.parent / "pyopencl" / ".libs"


def _there(path):
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; install it again: pip install --force-reinstall cloom")
    return str(path)


def library():
    """The path of the driver. It has all functions of OpenCL and can be loaded without a loader."""
    return _there(_FOLDER / "libcloom.so")


def icd():
    """The path of the file that names the driver to PyOpenCL's own loader.

    It names the driver without a folder, which other loaders cannot find: give them `library()`.
    """
    return _there(_FOLDER / "cloom.icd")


def register():
    """Makes the loaders of this process and its children offer this driver, and no other.

    Call it before the first function of OpenCL: loaders read their variables once. PyOpenCL's wheel needs no call.
    """
    path = library()
    # The first is read by ocl-icd, which Linux distributions have, the second by Khronos' loader.
    os.environ["OCL_ICD_VENDORS"] = path
    os.environ["OCL_ICD_FILENAMES"] = path
