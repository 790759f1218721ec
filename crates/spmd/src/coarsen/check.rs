//! Which kernels may be coarsened: which accesses are consecutive, and which branches are guards.
//!
//! The input is the function of one work-item with its divergence. The output is, for each access at a varying address,
//! where it lies relative to those of the neighbours, or the reason why the kernel is not coarsened.
//!
//! An index of 32 bits, `y * width + x`, may wrap between two neighbours, whose elements are then not adjacent. The
//! coarsened kernel checks that at run time: it compares the first index with the last one ([`Unwrapped`]).

use super::NotCoarsened;
use crate::analysis::divergence::Divergence;
use crate::decisions::coarsening::CoarsenReason;
use cloom_ir::abi::gpu::COARSE_ALIGN;
use cloom_ir::affine::{Affine, Ext, Facts, Form, Symbol};
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{BinOp, Block, Function, Inst, InstData, IntCc, Op, Scalar, Space, Term, Type, Value};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// Global ids.
const IDS: (i64, i64) = (0, i32::MAX as i64);
/// The most bytes between the accesses of neighbours if these are not consecutive: the elements are still near each
/// other.
const MAX_STRIDE: i64 = 16;
/// Two accesses of a work-item at most so many bytes apart may be those of a neighbour too.
const SHARED: i64 = 64;

/// An access at a varying address.
#[derive(Clone, Copy)]
pub(super) struct Access {
    /// The bytes that a work-item accesses.
    pub(super) bytes: u32,
    /// Whether the accesses of neighbours are adjacent.
    pub(super) is_consecutive: bool,
    /// The alignment of the address without its term in the id. A wide access takes at most its own size as the
    /// alignment, which that term has too.
    pub(super) align: u32,
}

/// Values of up to 32 bits, each with the extension (signed or unsigned) under which it must grow from the first
/// coarsened work-item to the last one. If it does, it has not wrapped in between, which the accesses rely on.
pub(super) type Unwrapped = FxHashMap<Value, Ext>;

/// The most that such a value grows from one work-item to the next.
const MAX_RISE: i64 = 16;

/// The function of one work-item, and how its values depend on the id of dimension 0.
pub(super) struct Ids<'a> {
    pub(super) item: &'a Function,
    pub(super) id: Value,
    pub(super) kernel_params: usize,
    pub(super) divergence: &'a Divergence,
}

impl Ids<'_> {
    /// Calls `ask` with the analyses of the function.
    fn with_affine<T>(&self, ask: impl FnOnce(&Cfg, &Loops, &Affine<'_>) -> T) -> T {
        let (item, id) = (self.item, self.id);
        let cfg = Cfg::new(item);
        let loops = Loops::new(item, &cfg, &DomTree::new(item, &cfg));
        let range = |v: Value| (v == id).then_some(IDS);
        let affine = Affine::new(item, &cfg, &loops, Facts { range: &range, ..Facts::default() });
        ask(&cfg, &loops, &affine)
    }

    /// The varying branches that work-items may take differently.
    pub(super) fn guards(&self) -> Vec<Block> {
        self.with_affine(|cfg, loops, affine| {
            let varies = |b: &Block| self.divergence.is_divergent_branch(*b);
            let is_guard = |b: &Block| self.guard(cfg, loops, affine, *b).is_ok();
            cfg.rpo().iter().copied().filter(varies).filter(is_guard).collect()
        })
    }

    /// Whether work-items may take a varying branch differently, or why not.
    fn guard(&self, cfg: &Cfg, loops: &Loops, affine: &Affine<'_>, b: Block) -> Result<(), CoarsenReason> {
        let Term::Branch { cond, .. } = self.item.blocks[b].term else {
            return Err(CoarsenReason::Switch);
        };
        // In a loop, a work-item that goes on by itself would begin at its beginning, and run earlier iterations again.
        if loops.innermost(b).is_some() {
            return Err(CoarsenReason::BranchInLoop);
        }
        if !self.is_bound(affine, cond) {
            return Err(CoarsenReason::NoBound);
        }
        // A store would be done twice: by the coarsened work-item, and by the function that is called.
        if self.stores_before(cfg, b) {
            return Err(CoarsenReason::AfterStore);
        }
        Ok(())
    }

    /// The accesses at varying addresses, if all of them and all branches can be coarsened.
    pub(super) fn check(&self, guards: &[Block]) -> Result<(FxHashMap<Inst, Access>, Unwrapped), NotCoarsened> {
        if let Some((_, data)) = self.item.insts_in_layout().find(|(_, data)| data.op == Op::Sample) {
            return Err(NotCoarsened { span: data.span, why: CoarsenReason::Samples });
        }
        self.with_affine(|cfg, loops, affine| {
            for &b in cfg.rpo().iter().filter(|&&b| self.divergence.is_divergent_branch(b)) {
                let refused = |why| NotCoarsened { span: self.item.blocks[b].term_span, why };
                self.guard(cfg, loops, affine, b).map_err(refused)?;
                if !guards.contains(&b) {
                    return Err(refused(CoarsenReason::Branch));
                }
            }
            // Filled while forms are made, as only these know which values they go through.
            let unwrapped = RefCell::default();
            let no_wrap = |v: Value, ext: Ext| self.may_check(cfg, loops, affine, v, ext, &unwrapped);
            let range = |v: Value| (v == self.id).then_some(IDS);
            let facts = Facts { range: &range, no_wrap: &no_wrap, ..Facts::default() };
            let affine = Affine::new(self.item, cfg, loops, facts);
            let accesses = self.accesses(&affine)?;
            if !self.is_profitable(loops, &affine, &accesses) {
                return Err(NotCoarsened::new(CoarsenReason::LittleGain));
            }
            Ok((accesses, unwrapped.into_inner()))
        })
    }

    /// Whether a run-time check can show that a value grows under this extension; if so, the value is added to
    /// `unwrapped`. If the check fails, each work-item runs by itself, so that none may have stored anything before.
    fn may_check(
        &self,
        cfg: &Cfg,
        loops: &Loops,
        affine: &Affine<'_>,
        v: Value,
        ext: Ext,
        unwrapped: &RefCell<Unwrapped>,
    ) -> bool {
        // One check for each value: it shows that it grows in one reading only.
        if let Some(&known) = unwrapped.borrow().get(&v) {
            return known == ext;
        }
        let ty = self.item.ty(v);
        let is_short = !ty.is_vector() && matches!(ty.scalar, Scalar::I8 | Scalar::I16 | Scalar::I32);
        // A number of 64 bits is not extended to an address, and a uniform one does not grow.
        if ext == Ext::Own || !is_short || self.divergence.is_uniform(v) {
            return false;
        }
        let Some(inst) = self.item.def_inst(v) else { return false };
        let home = |&&b: &&Block| self.item.blocks[b].insts.contains(&inst);
        let Some(&home) = self.item.layout.iter().find(home) else { return false };
        // The check follows the instruction, so that stores behind it do not matter.
        let before = self.item.blocks[home].insts.iter().take_while(|&&i| i != inst);
        let stores = before.copied().any(|i| self.is_store(i));
        if loops.innermost(home).is_some() || stores || cfg.preds(home).iter().any(|&b| self.stores_before(cfg, b)) {
            return false;
        }
        // With a rise of a few, the last value is above the first one unless it wraps in between.
        let rises = self.slope(affine, v).is_some_and(|(rise, _)| (1..=MAX_RISE).contains(&rise));
        if rises {
            unwrapped.borrow_mut().insert(v, ext);
        }
        rises
    }

    fn is_store(&self, inst: Inst) -> bool {
        matches!(self.item.insts[inst].op, Op::Store { .. })
    }

    /// The accesses at varying addresses.
    fn accesses(&self, affine: &Affine<'_>) -> Result<FxHashMap<Inst, Access>, NotCoarsened> {
        let item = self.item;
        let mut accesses = FxHashMap::default();
        for (inst, data) in item.insts_in_layout() {
            let (ty, align) = match data.op {
                Op::Load { align } => (data.result.map(|r| item.ty(r)), align),
                Op::Store { align } => (Some(item.ty(data.args[1])), align),
                _ => continue,
            };
            let Some(ty) = ty.filter(|_| !self.divergence.is_uniform(data.args[0])) else { continue };
            let access = self.access(affine, data.args[0], ty, align);
            accesses.insert(inst, access.map_err(|why| NotCoarsened { span: data.span, why })?);
        }
        Ok(accesses)
    }

    /// Whether coarsening is profitable for the consecutive accesses in loops. Those of a known alignment become wide.
    /// Each other one becomes an access for each work-item, and the accesses of two neighbouring threads are then
    /// further apart. That is still profitable if work-items share elements with their neighbours, as in sums along a
    /// row. (Sums down columns, of an unknown pitch, took half as long again. A few such accesses outside of loops cost
    /// nothing.)
    fn is_profitable(&self, loops: &Loops, affine: &Affine<'_>, accesses: &FxHashMap<Inst, Access>) -> bool {
        let item = self.item;
        let consecutive = |inst: &Inst| accesses.get(inst).filter(|access| access.is_consecutive);
        let address = |inst: Inst| affine.form(item.insts[inst].args[0], Ext::Own);
        let all: Vec<(Inst, Form)> =
            item.insts_in_layout().filter(|(i, _)| consecutive(i).is_some()).map(|(i, _)| (i, address(i))).collect();
        let (mut gain, mut loss) = (0u32, 0u32);
        for &b in &item.layout {
            // Outside of loops, accesses are few.
            let Some(innermost) = loops.innermost(b) else { continue };
            let weight = 8u32.pow(loops.depth(b).min(3));
            for inst in &item.blocks[b].insts {
                let Some(access) = consecutive(inst) else { continue };
                let bytes = i64::from(access.bytes);
                let step = affine.const_slope(innermost, item.insts[*inst].args[0]);
                // `a[x - 1] + a[x] + a[x + 1]`: what one work-item reads, its neighbours read, too.
                let is_near = |(other, form): &(Inst, Form)| {
                    let distance = form.minus(&address(*inst)).as_const();
                    other != inst && distance.is_some_and(|d| d != 0 && d % bytes == 0 && d.abs() <= SHARED)
                };
                let is_shared = step.is_some_and(|step| step.abs() == bytes) || all.iter().any(is_near);
                // Aligned to two elements at least, so that two or more become one access.
                let is_wide = i64::from(access.align) >= 2 * bytes;
                *(if is_wide || is_shared { &mut gain } else { &mut loss }) += weight;
            }
        }
        gain >= loss
    }

    /// Whether a condition compares a value that grows with the id with a bound: then only one pair of neighbours
    /// disagrees.
    fn is_bound(&self, affine: &Affine<'_>, cond: Value) -> bool {
        let Some(inst) = self.item.def_inst(cond) else { return false };
        let InstData { op, args, .. } = &self.item.insts[inst];
        let grows = |v: Value| self.slope(affine, v).is_some();
        let is_uniform = |v: Value| self.divergence.is_uniform(v);
        match (op, &args[..]) {
            // Neighbours disagree at two places, before and behind the number.
            (Op::Icmp(IntCc::Eq | IntCc::Ne), _) => false,
            (Op::Icmp(_), &[a, b]) => is_uniform(a) && grows(b) || is_uniform(b) && grows(a),
            (Op::Binary(BinOp::And | BinOp::Or), &[a, b]) => {
                [a, b].into_iter().all(|v| is_uniform(v) || self.is_bound(affine, v))
            }
            _ => false,
        }
    }

    /// How much a value grows from one work-item to the next, modulo its width, and the part of it that neighbours
    /// share.
    fn slope(&self, affine: &Affine<'_>, v: Value) -> Option<(i64, Form)> {
        let (ids, rest) = affine.form(v, Ext::Own).coefficients(|s| self.is_id(s))?;
        // No term in the id: the value does not grow. A form that is not affine in the id has no coefficient.
        let [(_, slope)] = &ids[..] else { return None };
        Some((slope.as_const()?, rest)).filter(|(_, rest)| self.is_shared(rest))
    }

    fn is_id(&self, symbol: Symbol) -> bool {
        matches!(symbol, Symbol::Value(v, _) if v == self.id)
    }

    /// Whether a form has the same value for neighbours.
    fn is_shared(&self, form: &Form) -> bool {
        !form
            .symbols()
            .any(|s| matches!(s, Symbol::Value(v, _) | Symbol::Start(v, _) if !self.divergence.is_uniform(v)))
    }

    /// Whether anything is stored before a branch.
    fn stores_before(&self, cfg: &Cfg, branch: Block) -> bool {
        let stores = |b: Block| self.item.blocks[b].insts.iter().any(|&i| self.is_store(i));
        let (mut before, mut seen) = (vec![branch], vec![branch]);
        while let Some(b) = before.pop() {
            if stores(b) {
                return true;
            }
            for &pred in cfg.preds(b) {
                if !seen.contains(&pred) {
                    seen.push(pred);
                    before.push(pred);
                }
            }
        }
        false
    }

    /// An access to elements of this type at a varying address, or the reason why it would not gain.
    fn access(&self, affine: &Affine<'_>, address: Value, ty: Type, align: u32) -> Result<Access, CoarsenReason> {
        let item = self.item;
        if !matches!(item.ty(address).space(), Some(Space::Global | Space::Constant)) {
            return Err(CoarsenReason::NotGlobal);
        }
        let (slope, rest) = self.slope(affine, address).ok_or(CoarsenReason::Scattered)?;
        let bytes = ty.bytes();
        // Elements of a vector are numbers: short vectors and pointers stay as they are.
        let is_consecutive = slope == i64::from(bytes) && !ty.is_vector() && !ty.is_ptr();
        if !(is_consecutive || slope >= i64::from(bytes) && slope <= MAX_STRIDE) {
            return Err(CoarsenReason::Scattered);
        }
        // The alignment of the address without its id: buffers are aligned, and each other term counts by its constant
        // factor.
        let buffers = &item.param_values()[..self.kernel_params];
        let is_buffer = |s: Symbol| matches!(s, Symbol::Value(v, _) if buffers.contains(&v) && item.ty(v).is_ptr());
        let known = rest.power_of_two(COARSE_ALIGN, |s| if is_buffer(s) { COARSE_ALIGN } else { 1 });
        Ok(Access { bytes, is_consecutive, align: align.max(known as u32) })
    }
}
