#!/bin/sh
# Removes what install.sh has installed, and the folders that it made, if nothing else is in them.
#
#   sh PREFIX/lib/cloom/uninstall.sh [--prefix DIR]
#
# Without --prefix, the one that this file is installed in. DESTDIR as for install.sh.
set -eu

destdir=${DESTDIR:-}
prefix=

fail() {
    echo "uninstall.sh: $1" >&2
    exit 2
}

while [ $# -gt 0 ]; do
    case $1 in
    --prefix)
        [ $# -ge 2 ] || fail "$1 takes a folder"
        prefix=$2
        shift 2
        ;;
    -h | --help)
        sed -n '2,6s/^# \{0,1\}//p' "$0"
        exit 0
        ;;
    *) fail "unknown word $1; --help lists what there is" ;;
    esac
done
if [ -z "$prefix" ]; then
    prefix=$(cd "$(dirname "$0")/../.." && pwd)
    prefix=${prefix#"$destdir"}
fi
manifest=$destdir$prefix/lib/cloom/manifest
[ -f "$manifest" ] || fail "$manifest is not there: nothing is installed in $prefix"

list=$(mktemp)
trap 'rm -f "$list"' EXIT
cp "$manifest" "$list"
while read -r kind path; do
    [ "$kind" != f ] || rm -f "$destdir$path"
done <"$list"
# The inner folders first. One with files of others stays.
LC_ALL=C sort -r "$list" | while read -r kind path; do
    [ "$kind" != d ] || rmdir "$destdir$path" 2>/dev/null || true
done
echo "removed Cloom from $prefix"
