//! Layers of the ICD loader (`OPENCL_LAYERS`) between an application and the driver: one that counts calls and hands
//! them on, written as a library in C, which the loader puts before the driver's dispatch table.

#![allow(clippy::print_stdout, reason = "processes tell each other by their output")]
#![allow(unsafe_code, reason = "it calls the C interface")]

#[path = "../common/mod.rs"]
mod common;
use common::*;
use std::path::Path;
use std::process::Command;

const PART: &str = "CLOOM_TEST_PART";

/// A layer: `clGetLayerInfo` and `clInitLayer` as the loader's header declares them. Its table has the loader's
/// function in each slot but two: those of `clCreateBuffer` and `clEnqueueNDRangeKernel`, whose calls it tells.
const LAYER: &str = r#"
#include <stdio.h>
#include <string.h>
#include <stddef.h>

enum { SLOTS = 149, CREATE_BUFFER = 14, LAUNCH = 59 };
static void *ours[SLOTS], *next[SLOTS];

static void *create_buffer(void *context, unsigned long flags, size_t size, void *host, int *code)
{
    void *(*call)(void *, unsigned long, size_t, void *, int *) = next[CREATE_BUFFER];
    void *made = call(context, flags, size, host, code);
    printf("|layer: a buffer of %zu bytes, %s\n", size, made ? "made" : "refused");
    fflush(stdout);
    return made;
}

static int launch(void *queue, void *kernel, unsigned dim, const size_t *offset, const size_t *global,
                  const size_t *local, unsigned count, const void *list, void **event)
{
    int (*call)(void *, void *, unsigned, const size_t *, const size_t *, const size_t *, unsigned, const void *,
                void **) = next[LAUNCH];
    int code = call(queue, kernel, dim, offset, global, local, count, list, event);
    printf("|layer: a launch of %zu, %d\n", global[0], code);
    fflush(stdout);
    return code;
}

int clGetLayerInfo(unsigned name, size_t size, void *value, size_t *size_ret)
{
    unsigned api_version = 100; /* CL_LAYER_API_VERSION_100, of the query CL_LAYER_API_VERSION */
    if (name == 0x4241 && value) strncpy(value, "counter", size); /* CL_LAYER_NAME */
    else if (name == 0x4240 && value) memcpy(value, &api_version, sizeof api_version);
    if (size_ret) *size_ret = name == 0x4240 ? sizeof api_version : sizeof "counter";
    return 0;
}

int clInitLayer(unsigned count, void *const *target, unsigned *count_ret, void *const **layer_ret)
{
    if (count < SLOTS) return -30;
    memcpy(next, target, sizeof next);
    memcpy(ours, target, sizeof ours);
    ours[CREATE_BUFFER] = (void *)create_buffer;
    ours[LAUNCH] = (void *)launch;
    *count_ret = SLOTS;
    *layer_ret = ours;
    return 0;
}
"#;

#[test]
fn the_part_of_a_child() {
    if std::env::var(PART).as_deref() != Ok("under a layer") {
        return;
    }
    let t = Session::new();
    let kernel = t.kernel("kernel void k(global int *p) { p[get_global_id(0)] = 3; }");
    let buffer = t.buffer(0, 400);
    t.arg_mem(&kernel, 0, &buffer);
    drop(t.launch(&kernel, &[100], &[]));
    println!("|sum {}", t.read::<i32>(&buffer, 100).iter().sum::<i32>());
    // A function without an object, which loaders answer: the driver's slot has a tag for them.
    ok(t.clUnloadCompiler());
    let mut code = 1;
    assert!(t.clCreateBuffer(t.context(), 0, 0, null_mut(), &mut code).is_null());
    println!("|code {code}");
}

/// Compiles the layer with the compiler that Rust links with.
fn layer(folder: &Path) -> std::path::PathBuf {
    let (source, library) = (folder.join("layer.c"), folder.join("liblayer.so"));
    std::fs::write(&source, LAYER).unwrap();
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status().unwrap();
    assert!(built.success());
    library
}

/// What a program says that runs on the driver through the loader, under so many layers.
fn under(layers: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let library = layer(folder.path());
    std::fs::write(folder.path().join("cloom.icd"), own_driver().to_str().unwrap()).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "the_part_of_a_child", "--nocapture", "--test-threads=1"]).env(PART, "under a layer");
    command.env("OCL_ICD_VENDORS", folder.path()).env("CLOOM_TEST_LIBRARY", "libOpenCL.so.1");
    if !layers.is_empty() {
        command.env("OPENCL_LAYERS", layers.replace("LAYER", library.to_str().unwrap()));
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().filter_map(|line| Some(line[line.find('|')? + 1..].to_owned())).collect()
}

#[test]
fn calls_pass_through_a_layer() {
    assert_eq!(under(""), ["sum 300", "code -61"]);
    let told = [
        "layer: a buffer of 400 bytes, made",
        "layer: a launch of 100, 0",
        "sum 300",
        "layer: a buffer of 0 bytes, refused",
        "code -61",
    ];
    assert_eq!(under("LAYER"), told);
}
