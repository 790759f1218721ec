//! Narrow-load forwarding: a wide load of which only bytes are used becomes narrow loads at the uses.
//!
//! Kernels read sixteen bytes at a time and extract them: `bins[v.x >> 8 & 255]++`, `bins[as_uchar16(v).s5]++`. In
//! scalar code each byte then costs two operations from a vector register to an address, and occupies the register
//! until then. A narrow load is one operation. So a wide load of which only whole parts are used (bytes, 16-, 32- or
//! 64-bit integers) becomes narrow loads, each where its value is used.
//!
//! In vectorised code, the widener uses narrow loads where the address of each lane is computed from one.
//!
//! Parts come from lanes, shifts by whole bytes, masks, truncations and zero extensions. The memory is unchanged at the
//! last use if load and uses are in one block and no instruction between them writes to the load's address space. Bytes
//! are in little-endian order, as everywhere in this IR.

use crate::pass::Pass;
use crate::util::Renames;
use cloom_ir::{BinOp, Block, Builder, CastOp, Entity, Flags, Function, Inst, Op, Order, Scalar, Space, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// The pass.
pub const PASS: Pass = Pass::new("narrow-loads", "bytes of what was loaded are loaded where they are used", run);

/// Smaller loads are left alone.
const SMALLEST: u32 = 4;

/// At most so many loads are tracked at a time.
const MAX_TRACKED_LOADS: usize = 64;

/// A value that is consecutive bytes of a load, zero-extended.
#[derive(Clone, Copy, Debug)]
pub struct NarrowLoad {
    /// The load.
    pub load: Inst,
    /// The first byte,
    pub offset: u32,
    /// and the number of bytes.
    pub size: u32,
}

/// The values of a function that narrow loads could replace.
pub struct NarrowLoads {
    of: Vec<Option<NarrowLoad>>,
    /// Instructions in order.
    number: Vec<u32>,
    /// The number of the first instruction after a load that may write its memory.
    until: FxHashMap<Inst, u32>,
}

/// Runs the pass. Returns how often it changed something.
pub fn run(func: &mut Function) -> usize {
    // Found before anything changes: the numbers of instructions are those of the function as it is.
    let loads = NarrowLoads::new(func);
    if loads.until.is_empty() {
        return 0;
    }
    let leaves = loads.leaves(func);
    let mut renames = Renames::default();
    for k in 0..func.layout.len() {
        let b = func.layout[k];
        for i in std::mem::take(&mut func.blocks[b].insts) {
            let leaf = func.insts[i].result.filter(|r| leaves[r.index()]);
            match leaf.and_then(|r| Some((r, loads.of[r.index()]?))) {
                // The extraction goes, and the narrow load takes its place. The wide load is left to `dce`.
                Some((r, narrow)) => {
                    let v = read(func, b, i, narrow);
                    renames.set(r, v);
                }
                None => func.blocks[b].insts.push(i),
            }
        }
    }
    renames.apply(func)
}

impl NarrowLoads {
    /// Finds them.
    pub fn new(func: &Function) -> NarrowLoads {
        let (of, number) = (vec![None; func.values.len()], vec![0; func.insts.len()]);
        let mut loads = NarrowLoads { of, number, until: FxHashMap::default() };
        let mut next = 0;
        for &b in &func.layout {
            loads.block(func, b, &mut next);
        }
        loads
    }

    /// The narrow load that could replace a value at an instruction, if memory is unchanged there.
    pub fn of(&self, v: Value, at: Inst) -> Option<NarrowLoad> {
        self.of[v.index()].filter(|p| self.is_fresh(p.load, at))
    }

    fn is_fresh(&self, load: Inst, at: Inst) -> bool {
        let at = self.number[at.index()];
        // Numbers run through all blocks in the order of the layout, and `until` ends at the end of the load's block,
        // so this also says that both are in one block.
        self.number[load.index()] < at && self.until.get(&load).is_some_and(|&end| at < end)
    }

    fn block(&mut self, func: &Function, b: Block, next: &mut u32) {
        let mut fresh: SmallVec<[(Inst, Space); 8]> = SmallVec::new();
        for &i in &func.blocks[b].insts {
            let data = &func.insts[i];
            let number = *next;
            self.number[i.index()] = number;
            *next += 1;
            fresh.retain(|&mut (load, space)| {
                let written = writes(func, i, space);
                if written {
                    self.until.insert(load, number);
                }
                !written
            });
            let Some(r) = data.result else { continue };
            // The operand's bytes are known already, so a chain of extractions costs one look-up for each link.
            if let Some(narrow) = self.derived(func, i).filter(|p| fresh.iter().any(|f| f.0 == p.load)) {
                self.of[r.index()] = Some(narrow);
            } else if matches!(data.op, Op::Load { .. })
                && let Some(space) = func.ty(data.args[0]).space()
                && func.ty(r).scalar.is_int()
                && func.ty(r).scalar != Scalar::I1
                && func.ty(r).bytes() >= SMALLEST
                && !data.flags.contains(Flags::VOLATILE)
            {
                self.of[r.index()] = Some(NarrowLoad { load: i, offset: 0, size: func.ty(r).bytes() });
                fresh.push((i, space));
                // The oldest load is given up: each instruction is checked against all of these.
                if fresh.len() > MAX_TRACKED_LOADS {
                    self.until.insert(fresh.remove(0).0, number);
                }
            }
        }
        // A number for the end of the block, after which no load of the block counts as fresh.
        *next += 1;
        self.until.extend(fresh.into_iter().map(|(load, _)| (load, *next)));
    }

    /// The bytes of the load that an instruction extracts, if it extracts bytes of one.
    fn derived(&self, func: &Function, i: Inst) -> Option<NarrowLoad> {
        let data = &func.insts[i];
        let from = *data.args.first()?;
        let narrow = self.of[from.index()]?;
        let ty = func.ty(data.result?);
        let vector = func.ty(from).is_vector();
        let number = |k: usize| data.args.get(k).and_then(|&v| func.const_bits(v));
        let (skip, size) = match data.op {
            Op::Cast(CastOp::Bitcast) if ty.scalar.is_int() && ty.scalar != Scalar::I1 => (0, narrow.size),
            Op::Extract => {
                let size = ty.bytes();
                (u32::try_from(number(1)?).ok()?.checked_mul(size)?, size)
            }
            // The same bytes, followed by zeros, as a narrow load is extended with zeros. A sign extension gives other
            // bytes.
            Op::Cast(CastOp::Zext) if !vector && func.ty(from).scalar != Scalar::I1 => (0, narrow.size),
            Op::Cast(CastOp::Trunc) if !vector && ty.scalar != Scalar::I1 => (0, narrow.size.min(ty.bytes())),
            Op::Binary(BinOp::Lshr) if !vector => {
                // Shift amounts count modulo the width.
                let by = number(1)? % u64::from(ty.scalar.bits());
                let skip = u32::try_from(by).ok().filter(|by| by % 8 == 0)? / 8;
                (skip, narrow.size.checked_sub(skip)?)
            }
            Op::Binary(BinOp::And) if !vector => {
                let ones = number(1)?;
                let bits = ones.trailing_ones();
                // The mask must be ones from bit 0 on and of whole bytes: 0xff, 0xffff, and so on.
                let whole = bits % 8 == 0 && (bits == 64 || ones >> bits == 0);
                (0, narrow.size.min(whole.then_some(bits / 8)?))
            }
            _ => return None,
        };
        // Bytes beyond the ones that came from the load are zeros of an extension, which no load gives.
        let fits = size > 0 && skip.checked_add(size)? <= narrow.size;
        fits.then_some(NarrowLoad { load: narrow.load, offset: narrow.offset + skip, size })
    }

    /// The narrow loads with uses other than further extraction, of wide loads that have no other use.
    fn leaves(&self, func: &Function) -> Vec<bool> {
        let mut leaf = vec![false; func.values.len()];
        let mut note = |v: Value| leaf[v.index()] |= self.of[v.index()].is_some();
        for &b in &func.layout {
            for &i in &func.blocks[b].insts {
                let data = &func.insts[i];
                // An extraction from an extraction is no use: the last one of a chain does the load.
                let passes_on = data.result.is_some_and(|r| self.of[r.index()].is_some_and(|p| p.load != i));
                if !passes_on {
                    data.args.iter().copied().for_each(&mut note);
                }
            }
            func.blocks[b].term.for_each_use(&mut note);
        }
        let used: Vec<(Value, NarrowLoad)> =
            func.values.keys().filter(|v| leaf[v.index()]).filter_map(|v| Some((v, self.of[v.index()]?))).collect();
        let mut kept: FxHashSet<Inst> = FxHashSet::default();
        for (v, narrow) in &used {
            // A use of the whole load keeps it, and then narrow loads would come on top.
            let all = func.insts[narrow.load].result.is_none_or(|r| func.ty(r).bytes() == narrow.size);
            // Three bytes are no integer that a load could have.
            let number = !func.ty(*v).is_vector() && Scalar::int(narrow.size * 8).is_some();
            if all || !number {
                kept.insert(narrow.load);
            }
        }
        for (v, narrow) in &used {
            leaf[v.index()] = !kept.contains(&narrow.load);
        }
        leaf
    }
}

/// Whether an instruction may write to an address space.
fn writes(func: &Function, i: Inst, space: Space) -> bool {
    let data = &func.insts[i];
    match data.op {
        Op::Store { .. } | Op::AtomicRmw { order: Order::Relaxed, .. } => {
            data.flags.contains(Flags::VOLATILE) || func.ty(data.args[0]).space().is_none_or(|s| s.may_alias(space))
        }
        _ => data.op.has_effect(),
    }
}

/// Replaces the instruction that extracts the bytes by a narrow load.
fn read(func: &mut Function, block: Block, made: Inst, narrow: NarrowLoad) -> Value {
    let p = func.insts[narrow.load].args[0];
    let ty = func.insts[made].result.map_or(Type::I64, |r| func.ty(r));
    let span = func.insts[made].span;
    let (align, flags) = narrow.access(func);
    narrow.read(&mut Builder { func, block, span }, p, ty, align, flags)
}

impl NarrowLoad {
    /// Its alignment in memory, and the flags of the wide load.
    pub fn access(&self, func: &Function) -> (u32, Flags) {
        let data = &func.insts[self.load];
        let Op::Load { align } = data.op else { return (1, data.flags) };
        // The lowest set bit of either: an address aligned to 16, and six bytes on, is aligned to 2.
        (1 << (align | self.offset).trailing_zeros(), data.flags)
    }

    /// Emits the load with a result type, where the wide load's address is `p`.
    pub fn read(&self, b: &mut Builder<'_>, p: Value, ty: Type, align: u32, flags: Flags) -> Value {
        let narrow = Type::scalar(Scalar::int(self.size * 8).unwrap_or(ty.scalar));
        let at = b.ptr_offset(p, u64::from(self.offset));
        let x = b.load(narrow, at, align, flags);
        if narrow == ty { x } else { b.cast(CastOp::Zext, x, ty) }
    }
}
