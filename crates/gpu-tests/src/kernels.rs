//! Kernels as PTX, written by hand by the conventions of `cloom_ir::abi::gpu`.
//!
//! Registers: `%rd0` to `%rd2` the global id, `%rd3` the index of the work-item in the whole range without its offset.

use cloom_artifact::{GpuLaunch, KernelArg, KernelArgKind, KernelArtifact, LaunchForm};
use cloom_ir::abi::gpu;
use std::fmt::Write;
use std::sync::Arc;

/// A parameter of a kernel.
#[derive(Clone, Copy)]
pub enum Param {
    /// An address.
    Buffer,
    /// An offset in local memory.
    Local,
    /// A `float`.
    Float,
    /// A `long`.
    Long,
}

use Param::{Buffer, Float, Local, Long};

/// A kernel: its name, its parameters, and its body after global id and index.
type Source = (&'static str, &'static [Param], &'static str);

const KERNELS: &[Source] = &[
    ("empty", &[], ""),
    // For each work-item four words: how often it ran, its global id, its group id, its local size and local id.
    (
        "ids",
        &[Buffer],
        "ld.param.u64 %rd10, [p1]; shl.b64 %rd11, %rd3, 5; add.u64 %rd10, %rd10, %rd11;
         red.global.add.u64 [%rd10], 1;
         shl.b64 %rd12, %rd1, 20; shl.b64 %rd13, %rd2, 40; add.u64 %rd12, %rd12, %rd0; add.u64 %rd12, %rd12, %rd13;
         st.global.u64 [%rd10+8], %rd12;
         ld.param.u64 %rd14, [p0+24]; ld.param.u64 %rd15, [p0+32]; ld.param.u64 %rd16, [p0+40];
         mov.u32 %r0, %ctaid.x; cvt.u64.u32 %rd17, %r0; add.u64 %rd14, %rd14, %rd17;
         mov.u32 %r0, %ctaid.y; cvt.u64.u32 %rd17, %r0; add.u64 %rd15, %rd15, %rd17; shl.b64 %rd15, %rd15, 20;
         mov.u32 %r0, %ctaid.z; cvt.u64.u32 %rd17, %r0; add.u64 %rd16, %rd16, %rd17; shl.b64 %rd16, %rd16, 40;
         add.u64 %rd14, %rd14, %rd15; add.u64 %rd14, %rd14, %rd16;
         st.global.u64 [%rd10+16], %rd14;
         mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z;
         mov.u32 %r3, %ntid.x; mov.u32 %r4, %ntid.y; mov.u32 %r5, %ntid.z;
         shl.b32 %r1, %r1, 10; shl.b32 %r2, %r2, 20; add.u32 %r0, %r0, %r1; add.u32 %r0, %r0, %r2;
         shl.b32 %r4, %r4, 10; shl.b32 %r5, %r5, 20; add.u32 %r3, %r3, %r4; add.u32 %r3, %r3, %r5;
         st.global.u32 [%rd10+24], %r0; st.global.u32 [%rd10+28], %r3;",
    ),
    // y[i] = a * x[i] + y[i] at the global id.
    (
        "saxpy",
        &[Float, Buffer, Buffer],
        "ld.param.f32 %f0, [p1]; ld.param.u64 %rd10, [p2]; ld.param.u64 %rd11, [p3]; shl.b64 %rd12, %rd0, 2;
         add.u64 %rd10, %rd10, %rd12; add.u64 %rd11, %rd11, %rd12;
         ld.global.f32 %f1, [%rd10]; ld.global.f32 %f2, [%rd11]; fma.rn.f32 %f2, %f0, %f1, %f2;
         st.global.f32 [%rd11], %f2;",
    ),
    (
        "copy",
        &[Buffer, Buffer],
        "ld.param.u64 %rd10, [p1]; ld.param.u64 %rd11, [p2]; shl.b64 %rd12, %rd3, 2;
         add.u64 %rd10, %rd10, %rd12; add.u64 %rd11, %rd11, %rd12;
         ld.global.u32 %r0, [%rd10]; st.global.u32 [%rd11], %r0;",
    ),
    // The sum of each group; the group's size is a power of two.
    (
        "reduce",
        &[Buffer, Buffer, Local],
        "ld.param.u64 %rd10, [p1]; ld.param.u64 %rd11, [p2]; ld.param.u64 %rd12, [p3];
         shl.b64 %rd13, %rd3, 2; add.u64 %rd10, %rd10, %rd13; ld.global.u32 %r0, [%rd10];
         mov.u64 %rd14, local; add.u64 %rd14, %rd14, %rd12;
         mov.u32 %r1, %tid.x; mul.wide.u32 %rd15, %r1, 4; add.u64 %rd15, %rd14, %rd15; st.shared.u32 [%rd15], %r0;
         mov.u32 %r2, %ntid.x;
         again: shr.u32 %r2, %r2, 1; bar.sync 0; setp.eq.u32 %p0, %r2, 0; @%p0 bra done;
         setp.ge.u32 %p1, %r1, %r2; @%p1 bra again;
         mul.wide.u32 %rd16, %r2, 4; add.u64 %rd16, %rd15, %rd16; ld.shared.u32 %r3, [%rd16];
         ld.shared.u32 %r4, [%rd15]; add.u32 %r4, %r4, %r3; st.shared.u32 [%rd15], %r4; bra again;
         done: setp.ne.u32 %p0, %r1, 0; @%p0 bra end;
         ld.shared.u32 %r3, [%rd15]; ld.param.u64 %rd16, [p0+24]; mov.u32 %r4, %ctaid.x; cvt.u64.u32 %rd17, %r4;
         add.u64 %rd16, %rd16, %rd17; shl.b64 %rd16, %rd16, 2; add.u64 %rd11, %rd11, %rd16; st.global.u32 [%rd11], %r3;
         end:",
    ),
    // Writes to the last word of local memory, whose offset it gets, and reads it back.
    (
        "last_word",
        &[Buffer, Local],
        "ld.param.u64 %rd10, [p1]; ld.param.u64 %rd12, [p2]; mov.u64 %rd14, local; add.u64 %rd14, %rd14, %rd12;
         mov.u32 %r0, 4711; st.shared.u32 [%rd14], %r0; bar.sync 0; ld.shared.u32 %r1, [%rd14];
         shl.b64 %rd13, %rd3, 2; add.u64 %rd10, %rd10, %rd13; st.global.u32 [%rd10], %r1;",
    ),
    // Counts in a variable of the program.
    ("count", &[], "ld.param.u64 %rd10, [p0+136]; red.global.add.u32 [%rd10+4], 1;"),
    // Prints its index, and a text of the module.
    (
        "print",
        &[],
        "ld.param.u64 %rd10, [p0+144]; mov.u32 %r0, 32; atom.global.add.u32 %r1, [%rd10], %r0;
         ld.global.u32 %r2, [%rd10+4]; add.u32 %r3, %r1, %r0; setp.gt.u32 %p0, %r3, %r2; @%p0 bra end;
         cvt.u64.u32 %rd11, %r1; add.u64 %rd11, %rd10, %rd11; add.u64 %rd11, %rd11, 8;
         mov.u32 %r4, 1; mov.u32 %r5, 16; st.global.u32 [%rd11], %r4; st.global.u32 [%rd11+4], %r5;
         st.global.u64 [%rd11+8], %rd3; st.global.u64 [%rd11+16], %rd0;
         mov.u64 %rd12, text; cvta.global.u64 %rd12, %rd12; st.global.u64 [%rd11+24], %rd12;
         end:",
    ),
    // Takes so many cycles.
    (
        "busy",
        &[Long],
        "ld.param.u64 %rd10, [p1]; mov.u64 %rd11, %clock64;
         again: mov.u64 %rd12, %clock64; sub.u64 %rd12, %rd12, %rd11; setp.lt.u64 %p0, %rd12, %rd10; @%p0 bra again;",
    ),
    ("fault", &[Long], "ld.param.u64 %rd10, [p1]; mov.u32 %r0, 1; st.global.u32 [%rd10], %r0;"),
];

/// The text that `print` refers to.
pub const TEXT: &str = "a text";

/// Global id and index.
fn prologue() -> String {
    let mut text = String::new();
    for (d, dim) in ["x", "y", "z"].iter().enumerate() {
        let (first, offset, id) = (gpu::FIRST_ID as usize + 8 * d, gpu::GLOBAL_OFFSET as usize + 8 * d, d);
        let _ = write!(
            text,
            "ld.param.u64 %rd{id}, [p0+{first}]; mov.u32 %r0, %ctaid.{dim}; mov.u32 %r1, %ntid.{dim};
             mul.wide.u32 %rd9, %r0, %r1; add.u64 %rd{id}, %rd{id}, %rd9;
             mov.u32 %r0, %tid.{dim}; cvt.u64.u32 %rd9, %r0; add.u64 %rd{id}, %rd{id}, %rd9;
             ld.param.u64 %rd9, [p0+{offset}]; sub.u64 %rd{}, %rd{id}, %rd9;\n",
            4 + d
        );
    }
    let size = gpu::GLOBAL_SIZE;
    let _ = write!(
        text,
        "ld.param.u64 %rd7, [p0+{size}]; ld.param.u64 %rd8, [p0+{}];
         mad.lo.u64 %rd3, %rd6, %rd8, %rd5; mad.lo.u64 %rd3, %rd3, %rd7, %rd4;\n",
        size + 8
    );
    text
}

/// The module of all kernels.
pub fn ptx() -> String {
    let mut text = String::from(".version 7.8\n.target sm_70\n.address_size 64\n");
    text += ".extern .shared .align 16 .b8 local[];\n";
    let bytes: Vec<String> = TEXT.bytes().chain([0]).map(|b| b.to_string()).collect();
    let _ = writeln!(text, ".global .align 1 .b8 text[{}] = {{{}}};", bytes.len(), bytes.join(", "));
    let prologue = prologue();
    for (name, params, body) in KERNELS {
        let _ = write!(text, ".visible .entry {name}(.param .align 8 .b8 p0[{}]", gpu::SIZE);
        for (i, param) in params.iter().enumerate() {
            let ty = if matches!(param, Float) { "f32" } else { "u64" };
            let _ = write!(text, ", .param .{ty} p{}", i + 1);
        }
        let registers = ".reg .b32 %r<8>; .reg .b64 %rd<20>; .reg .f32 %f<4>; .reg .pred %p<2>;";
        let _ = writeln!(text, ") {{\n{registers}\n{prologue}{body}\nret;\n}}");
    }
    text
}

/// A kernel's artifact.
pub fn artifact(name: &str) -> Arc<KernelArtifact> {
    let params = KERNELS.iter().find(|(known, ..)| *known == name).map_or(&[][..], |(_, params, _)| params);
    let mut end = 0u32;
    let args = params.iter().map(|param| {
        let (kind, size) = match param {
            Buffer => (KernelArgKind::Buffer, 8),
            Local => (KernelArgKind::Local, 8),
            Float => (KernelArgKind::Bytes, 4),
            Long => (KernelArgKind::Bytes, 8),
        };
        // As PTX lays parameters out: each at a multiple of its size.
        let offset = end.next_multiple_of(size);
        end = offset + size;
        KernelArg { kind, offset, size }
    });
    let args: Vec<_> = args.collect();
    let printf_formats = if name == "print" { vec![b"%d".to_vec(), b"%d %s".to_vec()] } else { Vec::new() };
    Arc::new(KernelArtifact {
        name: name.to_owned(),
        target: "nvptx64-nvidia-cuda:sm_70".parse().unwrap_or_default(),
        code: ptx().into_bytes(),
        entry: name.to_owned(),
        args,
        hidden: Vec::new(),
        checked: Vec::new(),
        arg_block: end,
        local_size: 0,
        private_size: 0,
        reqd_group_size: None,
        subgroup_size: None,
        denorms_are_zero: false,
        printf_formats,
        enqueues: false,
        launch: LaunchForm::WorkItem(GpuLaunch::default()),
    })
}
