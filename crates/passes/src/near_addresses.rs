//! Addresses that are a constant apart are made of one: `a[i - 1]` is four bytes before `a[i]`.
//!
//! For a machine whose accesses take an address and a constant, as a GPU's do:
//!
//! ```text
//! p = a + 4·sext(i)                p = a + 4·sext(i)
//! q = a + 4·sext(i -nsw 1)   ▸     q = p + -4
//! ```
//!
//! The affine analysis says how far two addresses are apart, also where extensions are between, by promises and
//! ranges. An address that is already a base and a constant stays. Of several earlier addresses that dominate this
//! one, the nearest in the program is taken. If none does, as where each access has a guard of its own, both are made
//! of what they have in common, which is computed where it dominates both, within their loop. (Not one of them: its
//! promises hold behind its own guard only.) This is what LLVM's `SeparateConstOffsetFromGEP` does for one function of
//! the index; it sees no promises here, because in LLVM's hands a broken one would be poison.

use crate::pass::Pass;
use crate::util::{self, Renames};
use cloom_ir::affine::{Affine, Ext, Facts, Form, Symbol};
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{Block, Builder, Entity, Flags, Function, Inst, Op, Query, Type, Value};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// The pass.
pub const PASS: Pass = Pass::new("near-addresses", "addresses a constant apart are made of one", run);

/// Offsets that every access takes.
const NEAR: std::ops::Range<i64> = -(1 << 22)..1 << 22;
/// What two addresses have in common is computed if it has at most so many terms.
const MAX_TERMS: usize = 4;

/// What an address is made of.
#[derive(Clone, Copy)]
enum Origin {
    /// An address of the program.
    Address(Value),
    /// The base of this number.
    Base(usize),
}

/// What addresses have in common, and the block at whose end it is computed.
struct Base {
    block: Block,
    form: Form,
    ty: Type,
}

/// An address that others can be made of, with the constant part of its form.
struct Known {
    home: Block,
    origin: Origin,
    constant: i64,
    /// The address of the program, and its instruction.
    address: Value,
    inst: Inst,
}

/// What the pass will change.
#[derive(Default)]
struct Plan {
    bases: Vec<Base>,
    /// Additions to addresses that become one of these and a constant.
    near: FxHashMap<Inst, (Origin, i64)>,
}

/// Runs the pass. Returns how often it changed something.
pub fn run(func: &mut Function) -> usize {
    let queries = queries(func);
    let Plan { bases, near: mut at } = find(func, &queries);
    let changed = at.len();
    let value_of = |s: Symbol| value_of(s, &queries);
    // The bases are computed first, at the ends of their blocks, which dominate what uses them.
    let bases: Vec<Option<Value>> = bases
        .iter()
        .map(|base| util::emit_address(&mut Builder::new(func, base.block), &base.form, base.ty, &value_of))
        .collect();
    let mut renames = Renames::default();
    for b in func.layout.clone() {
        let insts = std::mem::take(&mut func.blocks[b].insts);
        let mut kept = Vec::with_capacity(insts.len());
        for i in insts {
            let near = at.remove(&i).and_then(|(origin, bytes)| match origin {
                Origin::Address(address) => Some((address, bytes)),
                Origin::Base(n) => Some((bases[n]?, bytes)),
            });
            match (near, func.insts[i].result) {
                // The same address: the addition goes.
                (Some((address, 0)), Some(r)) => renames.set(r, address),
                (Some((address, bytes)), _) => {
                    let span = func.insts[i].span;
                    let op = Op::Const(bytes as u64);
                    let offset = func.make_inst(op, smallvec![], Some(Type::I64), Flags::empty(), span);
                    if let Some(bytes) = func.insts[offset].result {
                        func.insts[i].args = smallvec![address, bytes];
                        kept.push(offset);
                    }
                    kept.push(i);
                }
                (None, _) => kept.push(i),
            }
        }
        func.blocks[b].insts = kept;
    }
    renames.apply(func);
    changed
}

/// The value of each query of the launch.
fn queries(func: &Function) -> FxHashMap<(Query, u8), Value> {
    let entry = func.blocks[func.entry()].insts.iter().map(|&i| &func.insts[i]);
    let of = |op: &Op| if let Op::Query { what, dim } = *op { Some((what, dim)) } else { None };
    // `cse` has moved the queries to the entry block, one of each; one that is elsewhere is just not found.
    entry.filter_map(|data| of(&data.op).zip(data.result)).collect()
}

/// The value of a symbol, extended or not.
fn value_of(symbol: Symbol, queries: &FxHashMap<(Query, u8), Value>) -> Option<Value> {
    match symbol {
        Symbol::Value(v, _) => Some(v),
        Symbol::Query(what, dim) => queries.get(&(what, dim)).copied(),
        Symbol::Global(_) | Symbol::Start(..) | Symbol::Iteration(_) => None,
    }
}

/// A form as a constant and the rest.
fn parts(form: &Form) -> (i64, Form) {
    let constant = form.constant_part();
    (constant, form.minus(&Form::constant(form.bits(), constant)))
}

/// Looks for addresses that are a constant apart.
fn find(func: &Function, queries: &FxHashMap<(Query, u8), Value>) -> Plan {
    let cfg = Cfg::new(func);
    let dom = DomTree::new(func, &cfg);
    let loops = Loops::new(func, &cfg, &dom);
    let affine = Affine::new(func, &cfg, &loops, Facts::default());
    let is_speculated = func.insts_in_layout().any(|(_, data)| data.flags.contains(Flags::SPECULATED));
    let executed = || Affine::new(func, &cfg, &loops, Facts { is_executed: true, ..Facts::default() });
    let executed = is_speculated.then(executed);
    // A second analysis, which costs as much as the first, only where something was speculated.
    let executed = executed.as_ref().unwrap_or(&affine);
    let bases = Bases { func, dom: &dom, loops: &loops, affine: &affine, home: util::homes(func), queries };
    let mut plan = Plan::default();
    // Addresses with the same form but for the constant are in one list. The type is the address space, which must be
    // the same too.
    let mut known: FxHashMap<(Type, Form), SmallVec<[Known; 1]>> = FxHashMap::default();
    for &home in cfg.rpo() {
        for &inst in &func.blocks[home].insts {
            let data = &func.insts[inst];
            let (Op::PtrAdd, Some(address)) = (&data.op, data.result) else { continue };
            // The rest is the key: what two addresses of one list have in common.
            let (constant, rest) = parts(&affine.form(address, Ext::Own));
            // It is a base and a constant already.
            if rest.as_symbol().is_some() {
                continue;
            }
            let ty = func.ty(address);
            let mut none = SmallVec::new();
            let same = known.get_mut(&(ty, rest)).unwrap_or(&mut none);
            let distance = |k: &Known| constant.wrapping_sub(k.constant);
            let is_near = |k: &Known| NEAR.contains(&distance(k));
            let mut found = same.iter().rposition(|k| dom.dominates(k.home, home) && is_near(k));
            // Two arms of a branch: neither address dominates the other.
            if found.is_none()
                && let Some(latest) = same.iter().rposition(is_near)
                && bases.take(&mut plan, &mut same[latest], address, home)
                && is_near(&same[latest])
            {
                found = Some(latest);
            }
            match found.map(|n| &same[n]) {
                Some(k) => {
                    // Rewriting it would change nothing, and `run` would report a change each time.
                    let is_so_already = matches!(k.origin, Origin::Address(a) if data.args[0] == a)
                        && func.const_bits(data.args[1]).is_some();
                    if !is_so_already {
                        plan.near.insert(inst, (k.origin, distance(k)));
                    }
                }
                // Others are made of it also where the source does not use it.
                None => {
                    let (constant, rest) = parts(&executed.form(address, Ext::Own));
                    let new = Known { home, origin: Origin::Address(address), constant, address, inst };
                    known.entry((ty, rest)).or_default().push(new);
                }
            }
        }
    }
    plan
}

/// Finds what two addresses have in common.
struct Bases<'a> {
    func: &'a Function,
    dom: &'a DomTree,
    loops: &'a Loops,
    affine: &'a Affine<'a>,
    home: Vec<Option<Block>>,
    queries: &'a FxHashMap<(Query, u8), Value>,
}

impl Bases<'_> {
    /// Makes a known address one of a base that dominates another address, in `user`, too. False if there is none.
    fn take(&self, plan: &mut Plan, known: &mut Known, other: Value, user: Block) -> bool {
        let Some(block) = self.common_dominator(known.home, user) else { return false };
        // In terms of the parameters of loop headers, which are values. The full form has iteration numbers, which are
        // none.
        let (constant, form) = parts(&self.affine.local_form(known.address, Ext::Own));
        // The two addresses must differ by a constant in these terms as well.
        let has_same = parts(&self.affine.local_form(other, Ext::Own)).1 == form;
        let ty = self.func.ty(known.address);
        if !has_same || !NEAR.contains(&constant) || !self.is_computable(&form, ty, block) {
            return false;
        }
        match known.origin {
            // A third address shares the base, which moves up to where it dominates this one too.
            Origin::Base(n) => plan.bases[n].block = block,
            Origin::Address(_) => {
                known.origin = Origin::Base(plan.bases.len());
                // From now on, distances count from the base.
                known.constant = known.constant.wrapping_sub(constant);
                plan.near.insert(known.inst, (known.origin, constant));
                plan.bases.push(Base { block, form, ty });
            }
        }
        known.home = block;
        true
    }

    /// The last block that dominates both, if all three are of one loop.
    fn common_dominator(&self, a: Block, b: Block) -> Option<Block> {
        let mut up = b;
        while !self.dom.dominates(up, a) {
            up = self.dom.idom(up)?;
        }
        let inside = self.loops.innermost(up);
        // A base from outside of the loop would occupy a register in all of it.
        (self.loops.innermost(a) == inside && self.loops.innermost(b) == inside).then_some(up)
    }

    /// Whether an address of this form can be computed at the end of a block, by few operations.
    fn is_computable(&self, form: &Form, ty: Type, block: Block) -> bool {
        let is_there = |s: Symbol| {
            let value = value_of(s, self.queries);
            value.and_then(|v| self.home[v.index()]).is_some_and(|b| self.dom.dominates(b, block))
        };
        form.terms().count() <= MAX_TERMS
            && form.symbols().all(is_there)
            && util::address_parts(form, |v| self.func.ty(v) == ty).is_some()
    }
}
