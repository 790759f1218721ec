//! Widening: the function of one work-item becomes code for a vector of work-items.
//!
//! In comes the function of one work-item in canonical form with its analyses, the values of its parameters, and the
//! mask of active lanes (`None`: all). Out comes code in the work-group function, from a given block on.
//!
//! | module | emits |
//! |---|---|
//! | [`control`] | linearised control flow: the order of blocks, their masks, guards |
//! | [`loops`], [`mask_versions`] | divergent loops; all-on and mixed versions (BOSCC) |
//! | [`params`] | block parameters as variables, blended where lanes join |
//! | [`calls`] | calls of vector variants of pure functions |
//! | [`ops`], [`serial`], [`clamp`] | operations on all lanes; lane by lane; clamped and divided strided values |
//! | [`memory`], [`address`], [`atomic`] | memory accesses by the shape of their address |
//! | [`store_rows`], [`store_gaps`] | stores of all fields of a record; stores with gaps between lanes |
//! | [`store_runs`] | many stores to objects that are laid out by lane |
//! | [`scalar_mask`], [`aos_passthrough`], [`subgroup`] | scalar tests of masks; interleaving; sub-groups |
//! | [`decisions`] | records each decision where it is made |
//!
//! Inactive lanes hold unspecified bits. What may trap, loop or access memory obeys the mask; what cannot obey it (a
//! load from a uniform address, a loop) is guarded by a test that some lane is active.
//!
//! A strided value is represented by lane 0's value alone, also where lane 0 is inactive. A no-wrap flag holds for
//! active lanes only, so bases are extended operand by operand ([`Widener::wide_base`]).

mod address;
mod aos_passthrough;
mod atomic;
mod calls;
mod clamp;
mod control;
mod decisions;
mod loops;
mod mask_versions;
mod memory;
mod ops;
mod params;
mod scalar_mask;
mod serial;
mod store_gaps;
mod store_rows;
mod store_runs;
mod subgroup;

use crate::analysis::input::VectorInput;
use crate::analysis::loop_form::Form;
use crate::decisions::{AccessForm, Decision};
use crate::emit::variants::Variants;
use crate::error::{Stop, bug};
use crate::passes;
use cloom_ir::affine::{Affine, Facts};
use cloom_ir::ssa::{Ssa, Var};
use cloom_ir::{BinOp, Block, Builder, Entity, Flags, Function, Scalar, Span, Type, Value};
use cloom_passes::PassManager;
pub use decisions::Names;
use decisions::Recorder;
use rustc_hash::{FxHashMap, FxHashSet};
use scalar_mask::StridedCompare;
use serial::LaneSlots;
use smallvec::{SmallVec, smallvec};
use std::cell::OnceCell;
use store_gaps::StoreGaps;
use store_rows::StoreRows;

/// One vector with a lane for each work-item, for each component of a short vector; for a scalar, just one.
pub type Lanes = SmallVec<[Value; 4]>;

/// A value of the work-item's function, widened.
#[derive(Clone, PartialEq, Debug)]
pub enum VecValue {
    /// One scalar (or short vector) for all lanes.
    Uniform(Value),
    /// Lane `l` is `base + l * by`.
    Strided {
        /// Lane 0's value.
        base: Value,
        /// The stride from lane to lane; of addresses, in bytes.
        by: i64,
        /// The run-time check, if the stride is checked: base and stride hold only where this is true.
        /// [`Widener::lanes`] and [`Widener::exact`] give lanes that hold in any case.
        cond: Option<Value>,
    },
    /// A vector for each component.
    Varying(Lanes),
}

/// The request to emit a continuation as vector code.
pub struct VectorCode<'a> {
    /// The continuation.
    pub item: &'a VectorInput,
    /// Says which of the emitter's passes are on, and counts what they do.
    pub manager: &'a PassManager<'a>,
    /// The vector variants of the functions that it calls.
    pub variants: &'a Variants,
    /// The number of lanes.
    pub lanes: u16,
    /// The values of the parameters.
    pub params: Vec<VecValue>,
    /// The active lanes; `None`: all.
    pub mask: Option<Value>,
    /// Whether these are all lanes, as a scalar, if the code runs for full vectors too
    /// ([`VectorInput::folds_tail`]).
    pub full: Option<Value>,
    /// Stores to write-only buffers are non-temporal where this is true at run time.
    pub nontemporal: Option<Value>,
    /// What decisions are named by, if they are recorded.
    pub names: Option<Names<'a>>,
}

/// Vector code that was emitted.
pub struct Widened {
    /// The block that it ends in.
    pub end: Block,
    /// The returned value.
    pub result: VecValue,
    /// What was decided.
    pub decisions: Vec<Decision>,
}

/// Emits vector code from the end of `start` on.
pub fn widen(code: VectorCode<'_>, func: &mut Function, start: Block) -> Result<Widened, Stop> {
    let VectorCode { item, manager, variants, lanes, params, mask, full, nontemporal, names } = code;
    let is_symbol = |v: Value| address::is_symbol(item, v);
    // Decided for all parameters before the first edge assigns one: its variables must not change their form.
    let interleaved = match manager.is_on(passes::AOS_PASSTHROUGH) {
        true => aos_passthrough::params(item),
        false => FxHashSet::default(),
    };
    let mut w = Widener {
        item,
        facts: Facts { is_symbol: &is_symbol, ..Facts::default() },
        affine: OnceCell::new(),
        uses: OnceCell::new(),
        manager,
        variants,
        lanes,
        func,
        cur: start,
        masks: Masks { current: mask, entry: mask, entry_full: full, ..Masks::default() },
        span: Span::NONE,
        ssa: Ssa::default(),
        values: vec![None; item.func.values.len()],
        materialised: FxHashMap::default(),
        joins: Joins { interleaved, ..Joins::default() },
        emitted: Emitted::default(),
        loops: Vec::new(),
        // Code for the last vector of a row alone runs once in a row: it is as cold as a mixed version.
        versions: Versions { budget: mask_versions::BUDGET, is_mixed: mask.is_some() && full.is_none() },
        memory: MemoryState { nontemporal, ..MemoryState::default() },
        lane_slots: LaneSlots::default(),
        store_rows: StoreRows::find(item),
        store_gaps: StoreGaps::find(item, lanes),
        recorder: Recorder::new(names),
    };
    // No variable comes in from outside: all of them are first written in this code.
    w.ssa.seal(w.func, start, Vec::new());
    // Parameters of the entry are no variables, as no edge leads to the entry.
    for (&p, wide) in item.func.param_values().iter().zip(params) {
        w.values[p.index()] = Some(wide);
    }
    w.run()
}

/// A masked loop that is being emitted.
struct OpenLoop {
    header: Block,
    latch: Block,
    exit: Block,
    form: Form,
    /// Whether lanes leave it in different iterations.
    diverges: bool,
    live: Option<Var>,
    /// The block after the loop, and its predecessors.
    after: Block,
    after_preds: Vec<Block>,
    /// Whether there is another iteration; set by the latch of a bottom-tested loop.
    continues: Option<Value>,
}

/// The masks of the code being emitted ([`control`]).
#[derive(Default)]
struct Masks {
    /// The active lanes of the current block; `None`: all.
    current: Option<Value>,
    /// Those that the whole code starts with.
    entry: Option<Value>,
    /// Whether that mask is all on, as a scalar, if it may be.
    entry_full: Option<Value>,
    /// For each conjunction of that mask with another one, if the former may be all on: the latter.
    parts_of_entry: FxHashMap<Value, Value>,
    /// The mask of each block with one forward predecessor, and the uniform condition under which the block runs, if
    /// there is one.
    of_edges: FxHashMap<Block, (Option<Value>, Option<Value>)>,
    /// The masks of joins, into which each edge ors its lanes.
    vars: FxHashMap<Block, Var>,
    /// Masks that are comparisons of a strided with a uniform value ([`scalar_mask`]).
    strided_compares: FxHashMap<Value, StridedCompare>,
}

/// What became of block parameters ([`params`]).
#[derive(Default)]
struct Joins {
    /// One variable for each component of a varying parameter; the base of a uniform or strided one; base, check and
    /// lanes of one with a checked stride.
    vars: FxHashMap<Value, SmallVec<[Var; 4]>>,
    /// The lanes of those with a checked stride.
    checked: FxHashMap<Value, Value>,
    /// Those that some edge has assigned already.
    assigned: FxHashSet<Value>,
    /// Those that stay interleaved ([`aos_passthrough`]).
    interleaved: FxHashSet<Value>,
}

/// What has been emitted ([`control`]).
#[derive(Default)]
struct Emitted {
    /// The block emitted for each unmasked block, and for each masked one that is the entry of a region.
    blocks: FxHashMap<Block, Block>,
    /// The predecessors of these, until they are sealed.
    preds: FxHashMap<Block, Vec<Block>>,
    /// The blocks whose code is complete.
    done: FxHashSet<Block>,
}

/// All-on and mixed versions ([`mask_versions`]).
struct Versions {
    /// How much code may still get an all-on version, by weight.
    budget: u32,
    /// Whether the current code is a mixed version, or the one for the last vector of a row: it is cold and gets no
    /// all-on versions.
    is_mixed: bool,
}

/// What accesses to memory depend on ([`memory`], [`subgroup`]).
#[derive(Default)]
struct MemoryState {
    /// Private memory through which sub-group shuffles exchange lanes, once there is one.
    exchange_buffer: Option<Value>,
    /// Private memory for values that are stored to objects laid out by lane, once there is some ([`store_runs`]).
    store_buffer: Option<Value>,
    /// Strides at which lanes were stored one by one: a wide load over such memory fails store forwarding.
    scalar_store_strides: SmallVec<[i64; 4]>,
    /// Whether stores to write-only buffers are non-temporal, at run time.
    nontemporal: Option<Value>,
}

/// The state of emission.
pub(crate) struct Widener<'a> {
    item: &'a VectorInput,
    /// The forms of addresses ([`address`]), made when the first is asked for.
    affine: OnceCell<Affine<'a>>,
    /// How many operands each value of the work-item is, made likewise.
    uses: OnceCell<Vec<u32>>,
    facts: Facts<'a>,
    manager: &'a PassManager<'a>,
    variants: &'a Variants,
    lanes: u16,
    func: &'a mut Function,
    /// The current block: code is appended there.
    cur: Block,
    span: Span,
    ssa: Ssa,
    /// The widened form of each value that has been emitted.
    values: Vec<Option<VecValue>>,
    /// Uniform and strided values materialised as vectors, by the block that did so.
    materialised: FxHashMap<(Value, Block), Lanes>,
    masks: Masks,
    joins: Joins,
    emitted: Emitted,
    /// The masked loops around the current block, the innermost last.
    loops: Vec<OpenLoop>,
    versions: Versions,
    memory: MemoryState,
    lane_slots: LaneSlots,
    store_rows: StoreRows,
    store_gaps: StoreGaps,
    /// What was decided so far.
    recorder: Recorder<'a>,
}

impl Widener<'_> {
    fn b(&mut self) -> Builder<'_> {
        let mut b = Builder::new(self.func, self.cur);
        b.span = self.span;
        b
    }

    /// The vector type with a lane for each work-item.
    fn wide_type(&self, ty: Type) -> Type {
        Type::vector(ty.scalar, self.lanes)
    }

    fn mask_type(&self) -> Type {
        Type::vector(Scalar::I1, self.lanes)
    }

    /// The widened form of a value.
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
                let components: Lanes = lanes.iter().map(|&l| self.b().extract_lane(l, 0)).collect();
                if components.len() == 1 { components[0] } else { self.b().build(&components) }
            }
        })
    }

    /// All lanes of a value, as vectors.
    fn lanes(&mut self, v: Value) -> Result<Lanes, Stop> {
        let wide = self.get(v)?;
        if let VecValue::Varying(l) = wide {
            return Ok(l);
        }
        // By block, as a vector that was made on one side of a branch does not dominate the other side. Copies in
        // several blocks are left to common subexpression elimination.
        if let Some(l) = self.materialised.get(&(v, self.cur)) {
            return Ok(l.clone());
        }
        let l = match wide {
            // To spread lane 0 by the stride would be wrong in the very case that the check is for.
            VecValue::Strided { cond: Some(_), .. } => self.lanes_of_checked(v)?,
            _ => self.materialise(&wide),
        };
        self.materialised.insert((v, self.cur), l.clone());
        Ok(l)
    }

    /// Like [`Widener::get`], but a value with a checked stride becomes varying.
    fn exact(&mut self, v: Value) -> Result<VecValue, Stop> {
        match self.get(v)? {
            VecValue::Strided { cond: Some(_), .. } => Ok(VecValue::Varying(self.lanes(v)?)),
            wide => Ok(wide),
        }
    }

    /// All lanes of a value with a checked stride, computed as vectors from the nearest operands whose strides hold
    /// in any case.
    fn lanes_of_checked(&mut self, v: Value) -> Result<Lanes, Stop> {
        let item = self.item;
        // Vectors computed here. The code of an operand may end in another block (that of a division does), so
        // `materialised` is not enough; but all of it dominates what follows.
        let mut computed: FxHashMap<Value, Lanes> = FxHashMap::default();
        // Chains of additions may be long: no recursion.
        let mut stack = vec![v];
        while let Some(&x) = stack.last() {
            if let Some(&lanes) = self.joins.checked.get(&x) {
                computed.insert(x, smallvec![lanes]);
                stack.pop();
                continue;
            }
            let inst = item.func.def_inst(x).ok_or(bug("a value with a checked stride is no instruction"))?;
            // Operands first: an instruction stays on the stack until the lanes of all its checked operands are there.
            let mut ready = true;
            for &a in &item.func.insts[inst].args {
                let checked = matches!(self.get(a)?, VecValue::Strided { cond: Some(_), .. });
                if !checked || computed.contains_key(&a) {
                    continue;
                }
                match self.materialised.get(&(a, self.cur)) {
                    Some(lanes) => drop(computed.insert(a, lanes.clone())),
                    None => {
                        stack.push(a);
                        ready = false;
                    }
                }
            }
            if ready {
                for a in &item.func.insts[inst].args {
                    // `lanewise` asks for operands with `lanes`, which looks here. The operand may have been computed
                    // in another block.
                    if let Some(lanes) = computed.get(a) {
                        self.materialised.insert((*a, self.cur), lanes.clone());
                    }
                }
                let lanes = self.lanewise(inst)?;
                computed.insert(x, lanes);
                stack.pop();
            }
        }
        computed.remove(&v).ok_or(bug("a value with a checked stride has no lanes"))
    }

    /// All lanes of a scalar, as one vector.
    fn lane(&mut self, v: Value) -> Result<Value, Stop> {
        Ok(self.lanes(v)?[0])
    }

    fn materialise(&mut self, wide: &VecValue) -> Lanes {
        let n = self.lanes;
        match *wide {
            VecValue::Varying(ref l) => l.clone(),
            VecValue::Uniform(x) => {
                let ty = self.func.ty(x);
                (0..ty.lanes)
                    .map(|c| {
                        let component = if ty.is_vector() { self.b().extract_lane(x, c) } else { x };
                        self.b().splat(component, n)
                    })
                    .collect()
            }
            VecValue::Strided { base, by, .. } => {
                let ty = self.func.ty(base);
                // `iota` and products are of integers; offsets of addresses have 64 bits.
                let scalar = if ty.is_ptr() { Scalar::I64 } else { ty.scalar };
                let mut b = self.b();
                let bases = b.splat(base, n);
                let offsets = b.iota(scalar, n);
                let by = b.iconst(Type::vector(scalar, n), by as u64);
                let offsets = b.binary(BinOp::Mul, offsets, by);
                smallvec![if ty.is_ptr() { b.ptr_add(bases, offsets) } else { b.binary(BinOp::Add, bases, offsets) }]
            }
        }
    }

    /// The conjunction of two masks; `None` is the mask of all lanes.
    fn and(&mut self, a: Option<Value>, b: Value) -> Value {
        match a {
            Some(a) => self.b().binary(BinOp::And, a, b),
            None => b,
        }
    }

    /// A mask as a value; `None` is the mask of all lanes.
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
        // `iconst` gives each lane of a mask the bit 1: all ones.
        let not = self.b().binary_flags(BinOp::Xor, mask, ones, Flags::empty());
        if let Some(order) = self.masks.strided_compares.get(&mask) {
            self.masks.strided_compares.insert(not, order.negated());
        }
        not
    }

    fn new_block(&mut self) -> Block {
        self.func.add_block()
    }

    /// Seals a block that has one predecessor.
    fn seal_with_pred(&mut self, block: Block, pred: Block) {
        self.ssa.seal(self.func, block, vec![pred]);
    }
}
