//! The arguments of generated kernels: the initial content of each buffer.

use super::families::Family;
use super::tiles::TILE;
use super::{BIG, COLUMNS, Gen, Generated, IN, LOCAL, OUT, Profile, REALS};
use crate::case::CaseArg;
use cloom_interp::NdRange;
use cloom_ir::{Module, ParamKind};

/// A parameter that only some kernels have, after the nine that all have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Param {
    /// 16 counters of 64 bits.
    Wide,
    /// Floats of each work-item that no other program need compute to the last bit.
    Reals,
    /// The buffer of `cols` once more.
    Again,
    /// The buffer of `in` once more.
    Twin,
    /// A large buffer.
    Big,
    /// Local memory.
    Tile,
}

/// Which of the arguments `in` and `cols` are.
const IN_ARG: usize = 1;
const COLS_ARG: usize = 8;

impl Param {
    /// Its declaration.
    pub fn declaration(self) -> &'static str {
        match self {
            Param::Wide => "volatile global ulong *wide",
            Param::Reals => "global float *reals",
            Param::Again => "global uint *again",
            Param::Twin => "const global uint *restrict twin",
            Param::Big => "const global uint *big",
            Param::Tile => "local uint *tile",
        }
    }
}

impl Gen {
    /// What the program's families need.
    pub fn params(&self) -> Vec<Param> {
        let mut list = Vec::new();
        if self.has(Family::Atomics) {
            list.push(Param::Wide);
        }
        if self.has(Family::Math) && self.profile == Profile::Portable {
            list.push(Param::Reals);
        }
        if self.has(Family::Alias) {
            list.extend([Param::Again, Param::Twin]);
        }
        if self.has(Family::Long) {
            list.push(Param::Big);
        }
        list
    }
}

impl Generated {
    /// The arguments for a range. How large the structure is, the module says.
    pub fn arguments(&self, module: &Module, range: &NdRange) -> Vec<CaseArg> {
        let items: u64 = range.global.iter().product();
        let words =
            |n: u64, f: &dyn Fn(u32) -> u32| (0..n as u32).flat_map(|i| f(i).to_le_bytes()).collect::<Vec<u8>>();
        let meta = module.find("k").and_then(|k| module.funcs[k].kernel.as_deref());
        // How large the structure is depends on the seed; the compiler has laid it out and knows.
        let size = |i: usize| meta.and_then(|m| m.params.get(i)).map_or(0, |p| u64::from(p.size));
        let is_local = |i: usize| meta.and_then(|m| m.params.get(i)).is_none_or(|p| p.kind == ParamKind::Local);
        let random = |i: u32| i.wrapping_mul(0x9e37_79b1).rotate_left(i % 32) ^ i >> 3;
        // Numbers for a structure of anything: small, so that they mean something as any type.
        let bytes: Vec<u8> = (0..size(5)).map(|i| if i % 4 < 2 { (i * 37 + 5) as u8 } else { 0 }).collect();
        let floats: Vec<u8> = [1.5f32, -0.25, 1e10, 3.0].into_iter().flat_map(f32::to_le_bytes).collect();
        let mut list = vec![
            CaseArg::Buffer(words(items * OUT, &|i| i)),
            CaseArg::Buffer(words(IN, &random)),
            // From 12 on are the counters of `max` and `min`: small first values would hide that a `min` is left out.
            CaseArg::Buffer(words(16, &|i| if i < 12 { i } else { random(i) })),
            CaseArg::Buffer(words(16, &|i| random(i + 100) >> (i % 16))),
            CaseArg::Bytes(5i32.to_le_bytes().to_vec()),
            CaseArg::Bytes(bytes),
            CaseArg::Bytes(floats),
            // Of kernels without such an argument, the range: work-items, columns, the first column, and rows.
            match is_local(7) {
                true => CaseArg::Local(4 * LOCAL),
                false => {
                    let [columns, rows, _] = range.global;
                    CaseArg::Bytes(words(4, &|i| [items, columns, range.offset[0], rows][i as usize] as u32))
                }
            },
            CaseArg::Buffer(words(items * COLUMNS, &|i| i ^ 0x5a5a)),
        ];
        list.extend(self.params.iter().map(|param| match param {
            // The last two are floats, which begin as 0.
            Param::Wide => CaseArg::Buffer(words(32, &|i| if i < 28 { random(i) } else { 0 })),
            Param::Reals => CaseArg::Buffer(words(items * REALS, &|_| 0)),
            Param::Again => CaseArg::Again(COLS_ARG),
            Param::Twin => CaseArg::Again(IN_ARG),
            Param::Big => CaseArg::Buffer(words(BIG, &random)),
            Param::Tile => CaseArg::Local(4 * TILE),
        }));
        list
    }

    /// Which of the buffers holds what peers need not compute to the last bit.
    pub fn inexact_buffer(&self) -> Option<usize> {
        let before = self.params.iter().position(|&p| p == Param::Reals)?;
        let is_new = |p: &&Param| !matches!(p, Param::Again | Param::Twin | Param::Tile);
        // Of the nine parameters, five are buffers.
        Some(5 + self.params[..before].iter().filter(is_new).count())
    }
}
