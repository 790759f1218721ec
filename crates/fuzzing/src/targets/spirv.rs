//! SPIR-V: `clCreateProgramWithIL` accepts any words.
//!
//! An input is a text, one instruction a line: its number and its operands. So tokens and lines can be changed as
//! those of other texts, and word counts and header stay right. An input that begins with the magic number is taken as
//! it is.

use super::{Reach, Target, compiler, cpu, source};
use cloom_compiler::{Il, is_spirv, spec_constants};
use std::fmt::Write;
use std::path::Path;

/// See the file's head.
pub const TARGET: Target = Target { name: "spirv", corpus, words: WORDS, mutated: true, gate: "compiled", run };

/// Numbers of instructions and storage classes, limits.
const WORDS: &[&str] = &[
    "\n12 ",
    "\n21 ",
    "\n28 ",
    "\n30 ",
    "\n43 ",
    "\n44 ",
    "\n52 ",
    "\n57 ",
    "\n61 ",
    "\n62 ",
    "\n65 ",
    "\n70 ",
    "\n79 ",
    "\n80 ",
    "\n81 ",
    "\n82 ",
    "\n124 ",
    "\n128 ",
    "\n169 ",
    "\n234 ",
    "\n245 ",
    "\n250 ",
    "\n292 ",
    "\n304 ",
    "\n251 ",
    "4294967295",
    "65536",
    "4096",
    "64",
    "32",
    "16",
    "8",
    "7",
    "5",
    "4",
    "0",
    "1",
    "2",
    "3",
];

fn corpus() -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spirv/tests/modules");
    let names = ["exact", "exact", "linked", "linked", "groups", "builtins", "arith", "pipes", "enqueue", "enqueued"];
    let module = |name: &&str| std::fs::read(folder.join(name).with_extension("spv")).ok();
    let modules: Vec<Vec<u8>> = names.iter().filter_map(module).collect();
    let mut all: Vec<Vec<u8>> = modules.iter().map(|m| text(m)).collect();
    all.extend(modules.into_iter().skip(1).take(2));
    all
}

/// A module as lines.
fn text(module: &[u8]) -> Vec<u8> {
    let words: Vec<u32> = module.chunks_exact(4).map(|w| u32::from_le_bytes([w[0], w[1], w[2], w[3]])).collect();
    let mut out = String::new();
    let mut at = 5;
    while let Some(&head) = words.get(at) {
        let count = (head >> 16).max(1) as usize;
        // Writing to a string cannot fail.
        let _ = write!(out, "{}", head & 0xffff);
        for word in words.iter().skip(at + 1).take(count - 1) {
            let _ = write!(out, " {word}");
        }
        out.push('\n');
        at += count;
    }
    out.into_bytes()
}

/// The module that a text stands for.
fn module(text: &[u8]) -> Vec<u8> {
    let mut words = vec![0x0723_0203, 0x0001_0500, 0, u32::MAX, 0];
    for line in String::from_utf8_lossy(text).lines() {
        let numbers: Vec<u32> = line.split_whitespace().filter_map(|w| w.parse().ok()).take(0xffff).collect();
        if let Some((&op, operands)) = numbers.split_first() {
            words.push((numbers.len() as u32) << 16 | op & 0xffff);
            words.extend(operands);
        }
    }
    words.iter().flat_map(|w: &u32| w.to_le_bytes()).collect()
}

fn run(input: &[u8]) -> Result<Reach, String> {
    let made;
    let binary = if is_spirv(input) {
        input
    } else {
        made = module(input);
        &made
    };
    // Each specialisation constant gets a value that its number decides.
    let known = spec_constants(binary).unwrap_or_default();
    let constants: Vec<(u32, Vec<u8>)> =
        known.iter().filter(|c| c.number & 1 == 1).map(|c| (c.number, vec![c.number as u8; c.size])).collect();
    let il = Il { binary, constants: &constants };
    let compiled = compiler().compile_il(il, "", cpu());
    if compiled.result.is_err() {
        return if compiled.log.is_empty() {
            Err("it was refused without a reason".into())
        } else {
            Ok(Reach::Rejected)
        };
    }
    let linked = compiler().build_il(il, "", cpu());
    if let Ok(program) = &linked.result {
        if compiler().load(&program.encode()).map(|p| p.encode()) != Ok(program.encode()) {
            return Err("a program does not survive its own binary".into());
        }
        source::kernels(program)?;
    }
    Ok(Reach::Accepted)
}
