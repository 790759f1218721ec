//! Widening: the function of one work-item becomes code for a vector of work-items.
//!
//! In comes the function of one work-item in canonical form with its analyses, the values of its parameters, and the
//! mask of lanes that take part (none: all); out comes code in the work-group function, from a given block on.
//!
//! | module | writes |
//! |---|---|
//! | [`control`] | the order of blocks, their masks, guards (linearisation) |
//! | [`loops`], [`mask_versions`], [`weights`] | divergent loops; all-on and mixed versions; what decides about them |
//! | [`params`] | block parameters as variables, blended where lanes meet |
//! | [`ops`], [`serial`], [`clamp`] | operations on all lanes, lane by lane, on strided values between limits |
//! | [`memory`], [`address`], [`atomic`] | accesses by the shape of their address |
//! | [`scalar_mask`], [`aos_passthrough`], [`subgroup`] | tests of masks by scalars; short vectors left interleaved; sub-groups |
//!
//! Lanes that are off hold unspecified bits. What may trap, loop or touch memory heeds the mask; what cannot heed it
//! (a load from a uniform address, a loop) is guarded by a test that a lane is on. A strided value is carried as lane
//! 0's value alone, also where lane 0 is off: a no-wrap flag speaks only for lanes that are on, so that bases are
//! widened operand by operand ([`Widener::wide_base`]).

mod address;
mod aos_passthrough;
mod atomic;
mod clamp;
mod control;
mod input;
mod loops;
mod mask_versions;
mod memory;
mod ops;
mod params;
mod scalar_mask;
mod serial;
mod subgroup;
mod weights;

use crate::emit::ssa::{Ssa, Var};
use crate::error::{Stop, bug};
use crate::passes;
use crate::transform::canonicalize::Form;
use cloom_ir::{BinOp, Block, Builder, Entity, Flags, Function, Scalar, Span, Type, Value};
use cloom_passes::PassManager;
use input::dense;
pub(crate) use input::{FAR, IN_LOOP};
pub use input::{Surroundings, VectorInput};
use rustc_hash::{FxHashMap, FxHashSet};
use scalar_mask::StridedCompare;
use smallvec::{SmallVec, smallvec};

/// The components of a short vector, or the one value of a scalar, each with a lane for each work-item.
pub type Lanes = SmallVec<[Value; 4]>;

/// What a value of the work-item became.
#[derive(Clone, PartialEq, Debug)]
pub enum VecValue {
    /// One value for all lanes.
    Uniform(Value),
    /// Lane 0's value, and how much is added from lane to lane.
    Strided {
        /// Lane 0's.
        base: Value,
        /// By lane.
        by: i64,
        /// If there, stride and base hold only where this is true; what needs the lanes whatever it says asks for [`Widener::lanes`] or
        /// [`Widener::exact`].
        cond: Option<Value>,
    },
    /// Anything.
    Varying(Lanes),
}

/// A copy of a continuation's code for a vector: what is written.
pub struct VectorCode<'a> {
    /// The continuation.
    pub item: &'a VectorInput,
    /// Which of the emitter's passes are on, and what they count.
    pub manager: &'a PassManager<'a>,
    /// Work-items in a vector.
    pub lanes: u16,
    /// The parameters' values.
    pub params: Vec<VecValue>,
    /// The lanes that take part; none: all.
    pub mask: Option<Value>,
    /// Where this is true, stores to write-only buffers are non-temporal.
    pub nontemporal: Option<Value>,
}

/// Writes vector code from the end of `start` on. Gives the block that it ends in and the returned value.
pub fn widen(code: VectorCode<'_>, func: &mut Function, start: Block) -> Result<(Block, VecValue), Stop> {
    let VectorCode { item, manager, lanes, params, mask, nontemporal } = code;
    let mut w = Widener {
        item,
        manager,
        lanes,
        func,
        cur: start,
        mask,
        entry_mask: mask,
        span: Span::NONE,
        ssa: Ssa::default(),
        values: vec![None; item.func.values.len()],
        materialised: FxHashMap::default(),
        vars: FxHashMap::default(),
        checked: FxHashMap::default(),
        mask_vars: FxHashMap::default(),
        edge_masks: FxHashMap::default(),
        blocks: FxHashMap::default(),
        preds: FxHashMap::default(),
        written: Default::default(),
        loops: Vec::new(),
        budget: mask_versions::BUDGET,
        is_mixed: mask.is_some(),
        done: Default::default(),
        exchange_buffer: None,
        stepped: SmallVec::new(),
        strided_compares: FxHashMap::default(),
        nontemporal,
        interleaved: if manager.is_on(passes::AOS_PASSTHROUGH) {
            aos_passthrough::params(item)
        } else {
            FxHashSet::default()
        },
    };
    w.ssa.seal(w.func, start, Vec::new());
    for (&p, wide) in item.func.param_values().iter().zip(params) {
        w.values[p.index()] = Some(wide);
    }
    w.run()
}

/// A loop that is being written.
struct OpenLoop {
    header: Block,
    latch: Block,
    exit: Block,
    form: Form,
    /// Whether lanes leave it in different iterations.
    diverges: bool,
    live: Option<Var>,
    /// The block after the loop, and the blocks that lead there.
    after: Block,
    left: Vec<Block>,
    /// Whether there is another iteration; known after the latch.
    continues: Option<Value>,
}

/// The state of the writing.
pub(crate) struct Widener<'a> {
    item: &'a VectorInput,
    manager: &'a PassManager<'a>,
    lanes: u16,
    func: &'a mut Function,
    /// Where code goes.
    cur: Block,
    /// The lanes that are on in the block being written; none: all.
    mask: Option<Value>,
    entry_mask: Option<Value>,
    span: Span,
    ssa: Ssa,
    values: Vec<Option<VecValue>>,
    /// Values spread over lanes, by the block where that was done.
    materialised: FxHashMap<(Value, Block), Lanes>,
    /// Variables of block parameters: one for each component, or the base of a strided one, or base, condition and lanes if it is checked.
    vars: FxHashMap<Value, SmallVec<[Var; 4]>>,
    /// The lanes of block parameters whose stride is checked.
    checked: FxHashMap<Value, Value>,
    mask_vars: FxHashMap<Block, Var>,
    /// Masks of blocks with one forward predecessor, and the scalar that decides whether they run if there is one.
    edge_masks: FxHashMap<Block, (Option<Value>, Option<Value>)>,
    /// The blocks for unmasked blocks, and for masked ones that begin a region.
    blocks: FxHashMap<Block, Block>,
    preds: FxHashMap<Block, Vec<Block>>,
    /// Parameters of joins that an edge has written to.
    written: FxHashSet<Value>,
    loops: Vec<OpenLoop>,
    /// How much code may still have two versions.
    budget: u32,
    /// Whether this is a mixed version, or the code for the last vector of a row: no further versions are worth it.
    is_mixed: bool,
    /// Blocks that are written.
    done: FxHashSet<Block>,
    /// Memory through which lanes are exchanged, if some are.
    exchange_buffer: Option<Value>,
    /// Distances between lanes at which they have been stored one by one.
    stepped: SmallVec<[i64; 4]>,
    /// Masks that compare strided numbers.
    strided_compares: FxHashMap<Value, StridedCompare>,
    /// Whether what is only written may go past the caches.
    nontemporal: Option<Value>,
    /// Parameters of blocks that are not taken apart ([`aos_passthrough`]).
    interleaved: FxHashSet<Value>,
}

impl Widener<'_> {
    fn b(&mut self) -> Builder<'_> {
        let mut b = Builder::new(self.func, self.cur);
        b.span = self.span;
        b
    }

    /// A type with a lane for each work-item.
    fn wide_type(&self, ty: Type) -> Type {
        Type::vector(ty.scalar, self.lanes)
    }

    fn mask_type(&self) -> Type {
        Type::vector(Scalar::I1, self.lanes)
    }

    /// What a value of the work-item became.
    fn get(&self, v: Value) -> Result<VecValue, Stop> {
        self.values[v.index()].clone().ok_or(bug("a value is used before it is written"))
    }

    fn set(&mut self, v: Value, wide: VecValue) {
        self.values[v.index()] = Some(wide);
    }

    /// Lane 0 of a value.
    fn base(&mut self, v: Value) -> Result<Value, Stop> {
        Ok(match self.get(v)? {
            VecValue::Uniform(x) | VecValue::Strided { base: x, .. } => x,
            VecValue::Varying(lanes) => {
                let parts: Lanes = lanes.iter().map(|&l| self.b().extract_lane(l, 0)).collect();
                if parts.len() == 1 { parts[0] } else { self.b().build(&parts) }
            }
        })
    }

    /// A value with a lane for each work-item.
    fn lanes(&mut self, v: Value) -> Result<Lanes, Stop> {
        let wide = self.get(v)?;
        if let VecValue::Varying(l) = wide {
            return Ok(l);
        }
        if let Some(l) = self.materialised.get(&(v, self.cur)) {
            return Ok(l.clone());
        }
        let l = match wide {
            VecValue::Strided { cond: Some(_), .. } => self.lanes_of_checked(v)?,
            _ => self.spread(&wide),
        };
        self.materialised.insert((v, self.cur), l.clone());
        Ok(l)
    }

    /// Like [`Widener::get`], but a stride holds in any case.
    fn exact(&mut self, v: Value) -> Result<VecValue, Stop> {
        match self.get(v)? {
            VecValue::Strided { cond: Some(_), .. } => Ok(VecValue::Varying(self.lanes(v)?)),
            wide => Ok(wide),
        }
    }

    /// The lanes of a value whose stride may not hold: computed lane by lane from the first operands whose strides do.
    fn lanes_of_checked(&mut self, v: Value) -> Result<Lanes, Stop> {
        let item = self.item;
        // What is computed here. An operand's code may end in another block (a division's does), so that the block does not say what there
        // is; but all of it stands before what follows.
        let mut known: FxHashMap<Value, Lanes> = FxHashMap::default();
        // Chains of sums may be long: no recursion.
        let mut stack = vec![v];
        while let Some(&x) = stack.last() {
            if let Some(&lanes) = self.checked.get(&x) {
                known.insert(x, smallvec![lanes]);
                stack.pop();
                continue;
            }
            let inst = item.func.def_inst(x).ok_or(bug("a checked value has no origin"))?;
            let mut ready = true;
            for &a in &item.func.insts[inst].args {
                let checked = matches!(self.get(a)?, VecValue::Strided { cond: Some(_), .. });
                if !checked || known.contains_key(&a) {
                    continue;
                }
                match self.materialised.get(&(a, self.cur)) {
                    Some(lanes) => drop(known.insert(a, lanes.clone())),
                    None => {
                        stack.push(a);
                        ready = false;
                    }
                }
            }
            if ready {
                for a in &item.func.insts[inst].args {
                    if let Some(lanes) = known.get(a) {
                        self.materialised.insert((*a, self.cur), lanes.clone());
                    }
                }
                let lanes = self.lanewise(inst)?;
                known.insert(x, lanes);
                stack.pop();
            }
        }
        known.remove(&v).ok_or(bug("a checked value has no lanes"))
    }

    /// The one component of a scalar, with a lane for each work-item.
    fn lane(&mut self, v: Value) -> Result<Value, Stop> {
        Ok(self.lanes(v)?[0])
    }

    fn spread(&mut self, wide: &VecValue) -> Lanes {
        let n = self.lanes;
        match *wide {
            VecValue::Varying(ref l) => l.clone(),
            VecValue::Uniform(x) => {
                let ty = self.func.ty(x);
                (0..ty.lanes)
                    .map(|c| {
                        let part = if ty.is_vector() { self.b().extract_lane(x, c) } else { x };
                        self.b().splat(part, n)
                    })
                    .collect()
            }
            VecValue::Strided { base, by, .. } => {
                let ty = self.func.ty(base);
                let scalar = if ty.is_ptr() { Scalar::I64 } else { ty.scalar };
                let mut b = self.b();
                let all = b.splat(base, n);
                let steps = b.iota(scalar, n);
                let by = b.iconst(Type::vector(scalar, n), by as u64);
                let steps = b.binary(BinOp::Mul, steps, by);
                smallvec![if ty.is_ptr() { b.ptr_add(all, steps) } else { b.binary(BinOp::Add, all, steps) }]
            }
        }
    }

    /// `a` and `b` where both matter; nothing stands for all lanes.
    fn and(&mut self, a: Option<Value>, b: Value) -> Value {
        match a {
            Some(a) => self.b().binary(BinOp::And, a, b),
            None => b,
        }
    }

    /// A mask as a value.
    fn mask_value(&mut self, mask: Option<Value>) -> Value {
        let ty = self.mask_type();
        match mask {
            Some(m) => m,
            None => self.b().iconst(ty, 1),
        }
    }

    fn not(&mut self, mask: Value) -> Value {
        let ty = self.func.ty(mask);
        let ones = self.b().iconst(ty, 1);
        let not = self.b().binary_flags(BinOp::Xor, mask, ones, Flags::empty());
        if let Some(order) = self.strided_compares.get(&mask) {
            self.strided_compares.insert(not, order.negated());
        }
        not
    }

    fn new_block(&mut self) -> Block {
        self.func.add_block()
    }

    /// Ends the current block with a jump to a block without other edges, and goes on there.
    fn seal_one(&mut self, block: Block, pred: Block) {
        self.ssa.seal(self.func, block, vec![pred]);
    }
}
