//! Accesses at offsets that are no constants become selects among elements.

use super::array::Array;
use crate::fold;
use crate::util::Renames;
use cloom_ir::cfg::Cfg;
use cloom_ir::{Args, BinOp, Builder, Flags, Function, Inst, InstData, IntCc, Op, Type, Value, ValueDef};
use rustc_hash::FxHashMap;
use smallvec::smallvec;

/// The most elements among which the offset of an access selects.
const MAX_ELEMENTS: usize = 8;

/// The longest chain of operations that make an offset.
const MAX_DEPTH: usize = 200;

/// Operations for an element: an address, a comparison, an access and a select.
const OPERATIONS_PER_ELEMENT: usize = 4;

/// Returns false if an access may be to too many elements, or to any. `budget` is how many operations may be added.
pub(super) fn run(func: &mut Function, array: &Array, budget: &mut usize) -> bool {
    // What is written here for an array that does not qualify after all is undone by the caller, which restores the
    // function.
    let offsets = write_offsets(func, array);
    let cfg = Cfg::new(func);
    let mut elements = Elements { func, cfg: &cfg, known: FxHashMap::default() };
    let mut chosen = FxHashMap::default();
    for &access in &array.accesses {
        let Some(&offset) = offsets.get(&elements.func.insts[access].args[0]) else { return false };
        let Some(all) = elements.of(offset, MAX_DEPTH) else { return false };
        // An access to any other element would be undefined behaviour.
        let bytes = accessed(elements.func, &elements.func.insts[access]).bytes();
        let is_inside = |&at: &u64| at.checked_add(bytes.into()).is_some_and(|end| end <= array.size);
        let inside: Vec<u64> = all.into_iter().filter(is_inside).collect();
        let operations = OPERATIONS_PER_ELEMENT * inside.len();
        if inside.is_empty() || inside.len() > MAX_ELEMENTS || *budget < operations {
            return false;
        }
        *budget -= operations;
        chosen.insert(access, (offset, inside));
    }
    // Only after all accesses are known to qualify.
    expand(func, array, &chosen);
    true
}

/// The type of what an access loads or stores.
fn accessed(func: &Function, data: &InstData) -> Type {
    func.ty(data.result.unwrap_or_else(|| data.args[1]))
}

/// Computes the offset in the array of each address in it, where the address is computed.
fn write_offsets(func: &mut Function, array: &Array) -> FxHashMap<Value, Value> {
    let mut offsets = FxHashMap::default();
    let layout = func.layout.clone();
    for &b in &layout {
        // Parameters first: a loop's header needs its offset before the latch that passes the next one is visited.
        for param in func.blocks[b].params.clone().into_iter().filter(|p| array.pointers.contains(p)) {
            let offset = func.add_block_param(b, Type::I64);
            offsets.insert(param, offset);
            // An argument for it follows in all edges, once all offsets are known.
        }
    }
    for &b in Cfg::new(func).rpo() {
        let mut insts = Vec::with_capacity(func.blocks[b].insts.len());
        for i in std::mem::take(&mut func.blocks[b].insts) {
            insts.push(i);
            let data = func.insts[i].clone();
            let Some(pointer) = data.result.filter(|r| *r == array.slot || array.pointers.contains(r)) else {
                continue;
            };
            // Each source of a pointer of the array is one of its pointers, so that the offset is there:
            // `array::indexed` has checked that.
            let of = |n: usize| offsets.get(&data.args[n]).copied().unwrap_or(pointer);
            let new = match data.op {
                Op::PtrAdd => (Op::Binary(BinOp::Add), smallvec![of(0), data.args[1]]),
                Op::Select => (Op::Select, smallvec![data.args[0], of(1), of(2)]),
                Op::Cast(_) => {
                    offsets.insert(pointer, of(0));
                    continue;
                }
                _ => (Op::Const(0), Args::new()),
            };
            let new = func.make_inst(new.0, new.1, Some(Type::I64), Flags::empty(), data.span);
            offsets.extend(func.insts[new].result.map(|offset| (pointer, offset)));
            insts.push(new);
        }
        func.blocks[b].insts = insts;
    }
    for &b in &layout {
        let mut term = func.blocks[b].term.clone();
        for e in term.edges_mut() {
            let passed: Vec<Value> = e
                .args
                .iter()
                .zip(&func.blocks[e.block].params)
                .map(|(&a, &p)| (a, p))
                .filter(|(_, p)| array.pointers.contains(p))
                .filter_map(|(a, _)| offsets.get(&a).copied())
                .collect();
            // In the order of the parameters, which is that in which their offsets became parameters.
            e.args.extend(passed);
        }
        func.blocks[b].term = term;
    }
    offsets
}

/// The constants that values can be.
struct Elements<'a> {
    func: &'a Function,
    cfg: &'a Cfg,
    /// While a value is looked at, nothing is known of it: a cycle may count.
    known: FxHashMap<Value, Option<Vec<u64>>>,
}

impl Elements<'_> {
    /// The constants that a value can be, in order. Nothing if it may be anything else, if there are too many, or if it
    /// is computed in more than `depth` steps.
    fn of(&mut self, v: Value, depth: usize) -> Option<Vec<u64>> {
        if let Some(known) = self.known.get(&v) {
            return known.clone();
        }
        if depth == 0 {
            return None;
        }
        self.known.insert(v, None);
        let mut found = self.find(v, depth - 1);
        if let Some(found) = &mut found {
            found.sort_unstable();
            found.dedup();
        }
        // Operations on two such values have up to the product of both numbers, so the limit comes early.
        let found = found.filter(|found| found.len() <= 2 * MAX_ELEMENTS);
        self.known.insert(v, found.clone());
        found
    }

    fn find(&mut self, v: Value, depth: usize) -> Option<Vec<u64>> {
        let func = self.func;
        let ty = func.ty(v);
        if let Some(bits) = func.const_bits(v) {
            return Some(vec![bits]);
        }
        // A condition may be anything: both values are followed.
        if ty == Type::I1 {
            return Some(vec![0, 1]);
        }
        let data = match func.values[v].def {
            ValueDef::Param(b, _) if b == func.entry() => return None,
            ValueDef::Param(b, k) => {
                let mut found = Vec::new();
                for (_, e) in self.cfg.incoming(func, b) {
                    found.extend(self.of(e.args[k as usize], depth)?);
                }
                return Some(found);
            }
            ValueDef::Inst(i) => &func.insts[i],
        };
        let lane = |bits: &[u64]| {
            let result = fold::lane(&data.op, func.ty(data.args[0]), ty, bits)?;
            Some(result & ty.scalar.mask())
        };
        match data.op {
            _ if ty.is_vector() => None,
            Op::Select => {
                let mut found = self.of(data.args[1], depth)?;
                found.extend(self.of(data.args[2], depth)?);
                Some(found)
            }
            Op::Cast(_) | Op::Unary(_) => self.of(data.args[0], depth)?.into_iter().map(|x| lane(&[x])).collect(),
            Op::Binary(_) => {
                let (left, right) = (self.of(data.args[0], depth)?, self.of(data.args[1], depth)?);
                // Each with each, though some pairs may never occur together: more elements than needed are selected
                // from, none is missing.
                left.iter().flat_map(|&x| right.iter().map(move |&y| [x, y])).map(|both| lane(&both)).collect()
            }
            _ => None,
        }
    }
}

/// Writes the accesses: for each its offset, and the elements that it may access.
fn expand(func: &mut Function, array: &Array, chosen: &FxHashMap<Inst, (Value, Vec<u64>)>) {
    let mut renames = Renames::default();
    for b in func.layout.clone() {
        let insts = std::mem::take(&mut func.blocks[b].insts);
        let mut builder = Builder::new(func, b);
        for i in insts {
            let Some((offset, elements)) = chosen.get(&i) else {
                builder.func.blocks[b].insts.push(i);
                continue;
            };
            let old = builder.func.insts[i].clone();
            builder.span = old.span;
            if let (Some(new), Some(old)) = (write_access(&mut builder, array, &old, *offset, elements), old.result) {
                renames.set(old, new);
            }
        }
    }
    renames.apply(func);
}

/// Writes a load from some elements, or a store to some, and returns what is loaded.
fn write_access(b: &mut Builder<'_>, array: &Array, old: &InstData, offset: Value, elements: &[u64]) -> Option<Value> {
    let ty = accessed(b.func, old);
    let is_only = elements.len() == 1;
    let mut loaded = None;
    for &element in elements {
        let at = b.iconst(Type::I64, element);
        let address = b.ptr_add(array.slot, at);
        // From the array's own alignment: the access claimed only what held for every element.
        let align = if element == 0 { array.align } else { array.align.min(1 << element.trailing_zeros().min(30)) };
        if old.result.is_some() {
            let here = b.load(ty, address, align, old.flags);
            loaded = Some(match loaded {
                // The first element needs no comparison: if the offset is none of the others, it is this one.
                None => here,
                Some(other) => {
                    let is_here = b.icmp(IntCc::Eq, offset, at);
                    b.select(is_here, here, other)
                }
            });
            continue;
        }
        // A store to one of several elements writes all: the others get what they have.
        let mut value = old.args[1];
        if !is_only {
            let is_here = b.icmp(IntCc::Eq, offset, at);
            let before = b.load(ty, address, align, old.flags);
            value = b.select(is_here, value, before);
        }
        b.store(address, value, align, old.flags);
    }
    loaded
}
