#!/bin/sh
# Installs Cloom from the folder that this file is in: for everybody if root does it, else for one user.
#
#   ./install.sh [--prefix DIR] [--vendors DIR]
#
# --prefix DIR   where to install: /usr/local for root, ~/.local for others
# --vendors DIR  the folder of .icd files: /etc/OpenCL/vendors for root, PREFIX/etc/OpenCL/vendors for others
#
# With DESTDIR in the environment, files go below that folder, as if it were the root of the machine. What is installed
# is written to PREFIX/lib/cloom/manifest; PREFIX/lib/cloom/uninstall.sh removes it again.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
destdir=${DESTDIR:-}
prefix=
vendors=

fail() {
    echo "install.sh: $1" >&2
    exit 2
}

while [ $# -gt 0 ]; do
    case $1 in
    --prefix | --vendors)
        [ $# -ge 2 ] || fail "$1 takes a folder"
        case $2 in
        /*) ;;
        *) fail "$1 takes an absolute path, not $2" ;;
        esac
        if [ "$1" = --prefix ]; then prefix=$2; else vendors=$2; fi
        shift 2
        ;;
    -h | --help)
        sed -n '2,10s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    *) fail "unknown word $1; --help lists what there is" ;;
    esac
done

is_root=$([ "$(id -u)" -eq 0 ] && echo yes || echo no)
if [ -z "$prefix" ]; then
    if [ $is_root = yes ]; then prefix=/usr/local; else prefix=${HOME:?}/.local; fi
fi
if [ -z "$vendors" ]; then
    if [ $is_root = yes ]; then vendors=/etc/OpenCL/vendors; else vendors=$prefix/etc/OpenCL/vendors; fi
fi
case $prefix$vendors in
*"
"*) fail "a path with a line feed" ;;
esac

own=$prefix/lib/cloom
manifest=$own/manifest
# An earlier version goes first, so that none of its files stays.
if [ -f "$destdir$manifest" ]; then
    DESTDIR=$destdir sh "$here/uninstall.sh" --prefix "$prefix"
fi

list=$(mktemp)
trap 'rm -f "$list"' EXIT

# Makes a folder and notes each level that was not there.
folder() {
    if [ ! -d "$destdir$1" ]; then
        folder "$(dirname "$1")"
        mkdir -m 755 "$destdir$1"
        echo "d $1" >>"$list"
    fi
}

note() {
    folder "$(dirname "$1")"
    echo "f $1" >>"$list"
}

[ -z "$destdir" ] || mkdir -p "$destdir"
cd "$here"
find bin lib share -type f -o -type l | LC_ALL=C sort | while read -r file; do
    note "$prefix/$file"
    cp -P "$file" "$destdir$prefix/$file"
done
note "$own/uninstall.sh"
cp uninstall.sh "$destdir$own/uninstall.sh"
note "$vendors/cloom.icd"
echo "$own/libcloom.so.@MAJOR@" >"$destdir$vendors/cloom.icd"
chmod 644 "$destdir$vendors/cloom.icd"
note "$manifest"
cp "$list" "$destdir$manifest"
chmod 644 "$destdir$manifest"

echo "installed Cloom @VERSION@ in $prefix; remove it with: sh $own/uninstall.sh"
if [ "$vendors" != /etc/OpenCL/vendors ]; then
    echo "for programs to find it: export OCL_ICD_VENDORS=$vendors"
fi
