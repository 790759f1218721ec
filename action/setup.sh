#!/usr/bin/env bash
# Installs the wheel of Cloom in a folder of the job, and tells the steps that follow: through GITHUB_ENV, GITHUB_PATH and
# GITHUB_OUTPUT, which are files. Where the machine has no ICD loader the driver takes its place.
#
# In: SETUP_VERSION, SETUP_ONLY and SETUP_THREADS, the inputs of action.yml; RUNNER_TEMP, a folder.
set -euo pipefail

version=${SETUP_VERSION:-}
only=${SETUP_ONLY:-true}
threads=${SETUP_THREADS:-}
folder=${RUNNER_TEMP:?is a folder of the job}/cloom

fail() {
    echo "::error title=setup-cloom::$1" >&2
    exit 1
}

[[ $version =~ ^[0-9A-Za-z.+-]*$ ]] || fail "version: $version is no version"
[[ $only = true || $only = false ]] || fail "only: true or false, not $only"
[[ $threads =~ ^[0-9]*$ ]] || fail "threads: a number, not $threads"

rm -rf "$folder"
python3 -m pip --quiet --disable-pip-version-check install --no-deps --only-binary :all: --target "$folder" \
    "cloom${version:+==$version}" || fail "pip cannot install cloom $version for this machine"
library=$folder/pyopencl/.libs/libcloom.so
installed=$("$folder/bin/cloom" --version) || fail "the program does not run on this machine"

if [ "$only" = true ]; then
    # ocl-icd takes the path of a driver.
    vendors=$library
else
    vendors=$folder/vendors
    mkdir "$vendors"
    for icd in "${OCL_ICD_VENDORS:-/etc/OpenCL/vendors}"/*.icd; do
        [ ! -f "$icd" ] || cp "$icd" "$vendors/"
    done
    echo "$library" >"$vendors/cloom.icd"
fi
{
    echo "OCL_ICD_VENDORS=$vendors"
    # Of Khronos' loader, which reads it beside its folder.
    echo "OCL_ICD_FILENAMES=$library"
    [ -z "$threads" ] || echo "CLOOM_THREADS=$threads"
} >>"${GITHUB_ENV:?is a file}"
# Debian has the program where users have no PATH.
if ! PATH=$PATH:/usr/sbin:/sbin ldconfig -p | grep -q 'libOpenCL\.so\.1'; then
    mkdir "$folder/loader"
    ln -s "$library" "$folder/loader/libOpenCL.so.1"
    ln -s "$library" "$folder/loader/libOpenCL.so"
    echo "LD_LIBRARY_PATH=$folder/loader${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" >>"$GITHUB_ENV"
    echo "LIBRARY_PATH=$folder/loader${LIBRARY_PATH:+:$LIBRARY_PATH}" >>"$GITHUB_ENV"
    echo "no ICD loader is installed: the driver takes its place"
fi
echo "$folder/bin" >>"${GITHUB_PATH:?is a file}"
{
    echo "library=$library"
    echo "version=${installed#cloom }"
} >>"${GITHUB_OUTPUT:?is a file}"
echo "$installed in $folder"
