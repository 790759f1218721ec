#!/bin/sh
# Runs in a fresh Debian, as root, with the packages in /check: installs each of them, uses it, removes it, and compares
# the files of the machine with those before. The first thing that is wrong ends it.
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 HOME=/check/home XDG_CACHE_HOME=/check/cache
mkdir -p "$HOME" "$XDG_CACHE_HOME"
cd /check

ok() {
    echo "ok: $1"
}

fail() {
    echo "WRONG: $1"
    exit 1
}

apt() {
    apt-get -qq -y -o Dpkg::Use-Pty=0 "$@" >>/check/apt.log 2>&1 || {
        tail -20 /check/apt.log
        fail "apt-get $*"
    }
}

# The files of the machine, but for those of this test and what package managers and programs write down.
snapshot() {
    find / \( -path /proc -o -path /sys -o -path /dev -o -path /check -o -path /tmp -o -path /var/cache -o -path /var/log \
        -o -path /var/lib/apt -o -path '/var/lib/dpkg/*-old' \) -prune -o -print | LC_ALL=C sort
}

nothing_left() {
    snapshot >after
    diff before after >left || {
        cat left
        fail "$1: other files than before"
    }
    ok "$1: nothing is left of $(comm -13 before during | wc -l) files and folders"
}

# Uses the installation as programs do. $1 is put before each command.
use() {
    $1 clinfo -l >clinfo.txt
    grep -q 'Cloom' clinfo.txt || fail "clinfo does not list it"
    sed 's/^/    /' clinfo.txt
    $1 clinfo >clinfo.txt
    ok "clinfo: $(grep -c . clinfo.txt) lines, $(sed -n 's/^ *Driver Version *//p' clinfo.txt | head -1)"
    $1 python3 check.py
}

ls before >/dev/null 2>&1 && fail "this is not a fresh machine"
echo "Debian $(cat /etc/debian_version), $(ldd --version | head -1):"
# The folder with the packages is where the file mounts it.
sed -n 's/^RUN --mount=[^ ]* //p' Containerfile | sh -e >>apt.log 2>&1 || {
    tail -20 apt.log
    fail "the container is not made"
}
cloom run -k mandel -s 256 -i 1 -n
ok "the lines of the Containerfile, $(du -sm /usr/lib/cloom /usr/bin/cloom | awk '{ sum += $1 } END { print sum }') MB of driver and program"
apt purge cloom ocl-icd-libopencl1
apt update
mv /packages/*.deb cloom.deb
rmdir /packages
apt-get -s install ./cloom.deb >simulated.txt
grep -q '^Inst ocl-icd-libopencl1' simulated.txt || fail "the package does not bring an ICD loader"
ok "the package brings the ICD loader"
apt install ./cloom.deb
dpkg --verify cloom
apt-get -s install python3-pyopencl >simulated.txt
! grep -q '^Inst pocl-opencl-icd' simulated.txt || fail "opencl-icd is not provided: another driver would be installed"
ok "the package provides opencl-icd"
apt purge cloom
apt install --no-install-recommends clinfo python3-pyopencl ocl-icd-libopencl1 pkgconf xz-utils
# PyOpenCL's package depends on some driver. It is not what is tested, and it does not bear a folder as a machine.
rm -f /etc/OpenCL/vendors/pocl.icd
useradd --create-home tester
snapshot >before

echo "the package of Debian:"
apt install ./cloom.deb
snapshot >during
use env
[ "$(pkg-config --modversion cloom)" = "$VERSION" ] || fail "pkg-config has another version"
[ -f "$(pkg-config --variable=icd cloom)" ] || fail "pkg-config names no driver"
bash -n /usr/share/bash-completion/completions/cloom
cloom run -k mandel -s 256 -i 1 -n
cloom doctor >doctor.txt || {
    cat doctor.txt
    fail "cloom doctor finds a problem"
}
ok "cloom doctor finds no problem"
apt remove cloom
[ -f /etc/OpenCL/vendors/cloom.icd ] || fail "removing took the settings with it"
clinfo -l >clinfo.txt 2>&1 || true
! grep -q Cloom clinfo.txt || fail "it is listed after its removal"
apt purge cloom
nothing_left "after purge"

echo "the tarball, for everybody:"
mkdir unpacked
tar -C unpacked --strip-components=1 -xf cloom.tar.xz
unpacked/install.sh
snapshot >during
use env
# The shell remembers where the package had it.
hash -r
cloom run -k mandel -s 256 -i 1 -n
unpacked/install.sh >again.txt
snapshot >twice
cmp -s during twice || fail "installing again makes other files"
sh /usr/local/lib/cloom/uninstall.sh
nothing_left "after uninstall.sh"

echo "the tarball, for one user:"
chmod 1777 /check "$XDG_CACHE_HOME" "$HOME"
user() {
    setpriv --reuid tester --regid tester --clear-groups env HOME=/home/tester XDG_CACHE_HOME=/check/cache-of-tester "$@"
}
user unpacked/install.sh
snapshot >during
use "setpriv --reuid tester --regid tester --clear-groups env HOME=/home/tester XDG_CACHE_HOME=/check/cache-of-tester
    OCL_ICD_VENDORS=/home/tester/.local/etc/OpenCL/vendors"
user sh /home/tester/.local/lib/cloom/uninstall.sh
nothing_left "after the user's uninstall.sh"

echo "the tarball, below DESTDIR:"
DESTDIR=/check/below unpacked/install.sh --prefix /opt/cloom --vendors /opt/vendors
[ "$(cat below/opt/vendors/cloom.icd)" = "/opt/cloom/lib/cloom/$LIBRARY" ] || fail "the .icd file names another path"
[ -x below/opt/cloom/bin/cloom ] || fail "the program is not there"
DESTDIR=/check/below sh below/opt/cloom/lib/cloom/uninstall.sh
[ -z "$(ls -A below)" ] || fail "files are left: $(find below)"
ok "after uninstall.sh with DESTDIR: nothing is left"

echo "the wheel, in the system's Python:"
apt install python3-venv
start=$(date +%s%N)
if ls wheels/pyopencl-*.whl >/dev/null 2>&1; then
  python3 -m venv venv
  venv/bin/pip --quiet install --no-index --find-links wheels cloom pyopencl numpy
  ok "pip install cloom pyopencl: $((($(date +%s%N) - start) / 1000000)) ms"
  env -u OCL_ICD_VENDORS venv/bin/python check.py
else
  # PyPI has no PyOpenCL for this machine and Python. Debian's has the system's loader, which is told of the driver.
  python3 -m venv --system-site-packages venv
  venv/bin/pip --quiet install --no-index --find-links wheels cloom
  ok "pip install cloom: $((($(date +%s%N) - start) / 1000000)) ms"
  OCL_ICD_VENDORS=$(venv/bin/python -c "import cloom; print(cloom.library())") venv/bin/python check.py
fi
venv/bin/cloom run -k mandel -s 256 -i 1 -n
venv/bin/python -m cloom --version
