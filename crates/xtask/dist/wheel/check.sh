#!/bin/sh
# Installs the wheel $WHEEL in fresh virtual environments below $WORK as users do, runs a kernel in each, removes it, and
# compares the files with those before. Nothing of the machine but Python is seen: no variables, and no .icd files of the
# system where that can be hidden (root). The first thing that is wrong ends it.
set -eu
cd "$WORK"
export PIP_DISABLE_PIP_VERSION_CHECK=1 LC_ALL=C.UTF-8

ok() {
    echo "ok: $1"
}

fail() {
    echo "WRONG: $1"
    exit 1
}

milliseconds() {
    echo $(($(date +%s%N) / 1000000))
}

# Runs a command with no variable but a home.
bare() {
    env -i HOME="$WORK/home" PATH=/usr/bin:/bin XDG_CACHE_HOME="$WORK/home/cache" "$@"
}

# The files of a folder, but for what Python compiles.
files() {
    find "$1" -name __pycache__ -prune -o -print | LC_ALL=C sort
}

venv() {
    rm -rf "$1"
    python3 -m venv "$1"
}

kernel() {
    bare "$@" check.py || fail "no right result of a kernel: $*"
}

mkdir -p home
name=$(basename "$WHEEL")

echo "the wheel and pyopencl with one command, in an environment without variables:"
venv one
files one >before
start=$(milliseconds)
one/bin/pip --quiet install "$WHEEL" pyopencl numpy
ok "pip install $name pyopencl: $(($(milliseconds) - start)) ms"
kernel one/bin/python
# Hides what the system knows of OpenCL from a command.
hidden() {
    unshare --mount sh -c 'mount --make-rprivate / && mount --bind "$0" /etc/OpenCL && exec "$@"' "$WORK/empty" "$@"
}
can_hide=false
if [ "$(id -u)" -eq 0 ] && [ -d /etc/OpenCL ]; then
    can_hide=true
    mkdir -p empty
    hidden env -i HOME="$WORK/home" one/bin/python check.py || fail "no right result without .icd files of the system"
    ok "also where the system has no .icd file"
    hidden env -i HOME="$WORK/home" one/bin/cloom run -k mandel -s 256 -i 1 -n || fail "the program finds no driver"
    ok "the program finds the driver of the wheel"
fi
one/bin/pip check
[ "$(bare one/bin/cloom --version)" = "cloom $VERSION" ] || fail "cloom --version: $(bare one/bin/cloom --version)"
[ "$(bare one/bin/python -m cloom --version)" = "cloom $VERSION" ] || fail "python -m cloom does not run the program"
[ -f "$(bare one/bin/python -m cloom library)" ] || fail "python -m cloom library names no file"
[ -f "$(bare one/bin/python -m cloom icd)" ] || fail "python -m cloom icd names no file"
[ "$(bare one/bin/python -c 'import cloom; print(cloom.__version__)')" = "$VERSION" ] || fail "cloom.__version__"
ok "cloom, python -m cloom, cloom.library() and cloom.icd()"
# Once, although both PyOpenCL and the variables name the driver.
count=$(bare one/bin/python -c '
import cloom
cloom.register()
import pyopencl
print(sum(p.name == "Cloom" for p in pyopencl.get_platforms()))')
[ "$count" = 1 ] || fail "after cloom.register() PyOpenCL lists the platform $count times"
ok "cloom.register() beside PyOpenCL"
if [ -e /usr/lib/x86_64-linux-gnu/libOpenCL.so.1 ] || [ -e /usr/lib/aarch64-linux-gnu/libOpenCL.so.1 ]; then
    bare one/bin/python -c '
import cloom, ctypes
cloom.register()
opencl = ctypes.CDLL("libOpenCL.so.1")
count = ctypes.c_uint()
assert opencl.clGetPlatformIDs(0, None, ctypes.byref(count)) == 0 and count.value == 1, count.value' ||
        fail "the loader of the system does not offer the driver after cloom.register()"
    ok "cloom.register() with the loader of the system"
fi
one/bin/pip --quiet uninstall --yes cloom pyopencl numpy pytools platformdirs siphash24 typing-extensions 2>pip.log || {
    cat pip.log
    fail "pip uninstall"
}
files one >after
diff before after >left || {
    cat left
    fail "files are left after pip uninstall"
}
ok "after pip uninstall nothing is left"
rm -rf one

echo "the wheel first, pyopencl afterwards:"
venv two
two/bin/pip --quiet install "$WHEEL"
two/bin/pip --quiet install pyopencl numpy
kernel two/bin/python
echo "the same again (an upgrade), and pyopencl without the wheel:"
two/bin/pip --quiet install --force-reinstall --no-deps "$WHEEL"
kernel two/bin/python
two/bin/pip --quiet uninstall --yes cloom
bare two/bin/python -c '
import pyopencl
try:
    names = [p.name for p in pyopencl.get_platforms()]
except pyopencl.LogicError:
    names = []
assert "Cloom" not in names, names' || fail "the platform is listed after its removal, or pyopencl is broken"
ok "pyopencl works on after pip uninstall cloom"
rm -rf two

echo "pip install --target:"
venv three
three/bin/pip --quiet install --target folder "$WHEEL" pyopencl numpy
kernel env PYTHONPATH="$WORK/folder" three/bin/python
[ "$(bare env PYTHONPATH="$WORK/folder" three/bin/python -m cloom --version)" = "cloom $VERSION" ] || fail "python -m cloom with --target"
ok "python -m cloom with --target"
rm -rf three folder

echo "a folder like those of conda, with a Python and .icd files of its own:"
python3 -m venv --copies conda
conda/bin/pip --quiet install "$WHEEL" pyopencl numpy
mkdir -p conda/etc/OpenCL/vendors
bare conda/bin/python -m cloom library >conda/etc/OpenCL/vendors/cloom.icd
# PyOpenCL's wheel finds the driver; the loader of such a folder reads the folder's own files.
in_conda() {
    if $can_hide; then hidden "$@"; else "$@"; fi
}
in_conda env -i HOME="$WORK/home" CONDA_PREFIX="$WORK/conda" PATH="$WORK/conda/bin" python check.py ||
    fail "no right result in a folder like those of conda"
for library in /usr/lib/*-linux-gnu/libOpenCL.so.1; do
    [ -e "$library" ] || continue
    in_conda env -i HOME="$WORK/home" OCL_ICD_VENDORS="$WORK/conda/etc/OpenCL/vendors" conda/bin/python -c '
import ctypes, sys
count = ctypes.c_uint()
assert ctypes.CDLL(sys.argv[1]).clGetPlatformIDs(0, None, ctypes.byref(count)) == 0 and count.value == 1, count.value' "$library" ||
        fail "a loader does not find the driver by the .icd file of the folder"
    ok "a loader finds the driver by the .icd file of the folder"
done
rm -rf conda

echo "uv:"
venv four
if four/bin/pip --quiet install uv; then
    # The certificates and the proxy of this machine are no matter of the wheel: pip has them in variables.
    uv() {
        env -u VIRTUAL_ENV UV_SYSTEM_CERTS=1 UV_NATIVE_TLS=1 HOME="$WORK/home" four/bin/uv --quiet "$@"
    }
    uv venv five
    uv pip install --python five/bin/python "$WHEEL" pyopencl numpy
    kernel five/bin/python
    [ "$(uv tool run --from "$WHEEL" cloom --version)" = "cloom $VERSION" ] || fail "uv tool run"
    ok "uv tool run --from $name cloom"
else
    echo "skipped: uv cannot be installed"
fi
rm -rf four five

echo "beside another driver of the same kind:"
venv six
if six/bin/pip --quiet install "$WHEEL" pyopencl numpy pocl-binary-distribution; then
    kernel six/bin/python
else
    echo "skipped: PoCL cannot be installed"
fi
rm -rf six

echo "what PyPI's tools say:"
venv seven
seven/bin/pip --quiet install auditwheel twine
verdict=$(seven/bin/python -m auditwheel show "$WHEEL" 2>&1 | tr '\n' ' ')
case $verdict in
*"platform tag: \"$TAG\""*) ok "auditwheel: $TAG" ;;
*) fail "auditwheel: $verdict" ;;
esac
seven/bin/python -m twine check --strict "$WHEEL"
rm -rf seven home
