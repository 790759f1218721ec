//! Vector variants of library functions that stay calls: the callee, widened once per module.
//!
//! In come the pure functions ([`cloom_ir::Function::is_pure`]) that a kernel calls, with the calls in them; out goes,
//! beside each, a function whose parameters and result are vectors, one lane for each work-item:
//!
//! ```text
//! func builtin @pow(f32, f32) -> f32      ─▶      func internal @pow.x16(f32x16, f32x16) -> f32x16
//! ```
//!
//! This is the `notinbranch` variant of the Vector Function ABI (`_ZGVeN16vv_powf` of libmvec): no mask. A pure
//! function may run for lanes that are off, and ends for any operands; so neither the callee nor its callers depend on
//! how masks are passed. Where a callee loops, the caller gives zeros to lanes that are off, lest they loop longest.
//!
//! The widest values of a slow path fill one vector register, those of a long function two, which hide some of its
//! latency; but a variant has no more lanes than the kernel. A kernel with wider vectors calls several times
//! ([`super::widen`], module `calls`). So a variant's code is small, and all copies and versions of a kernel share it.
//!
//! ispc and Intel's OpenCL runtime ship such variants as object code or bitcode for each instruction set; here they are
//! made from the same source as scalar code, so that all lanes have the bits of the scalar function.

use crate::analysis::divergence;
use crate::analysis::input::{FunctionContext, VectorInput};
use crate::analysis::shape::Shape;
use crate::analysis::write_only::WriteOnly;
use crate::emit::widen::{self, VecValue, VectorCode, Widened};
use crate::error::{Stop, bug};
use crate::options::Vectors;
use crate::params::Param;
use crate::passes::{CLEAN_UP, CLEAN_UP_VECTORS};
use crate::transform::canonicalize;
use crate::{cost, passes};
use cloom_ir::cfg::Cfg;
use cloom_ir::{Builder, FuncRef, Function, Linkage, Module, Op, Type};
use cloom_passes::{CSE, DCE, FOLD, PassManager, SELECT, SIMPLIFY_CFG, inline, select};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;

/// A vector variant of a function.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Variant {
    /// The function on vectors.
    pub func: FuncRef,
    /// Its number of lanes.
    pub lanes: u16,
    /// Whether it has loops: lanes that are off should get arguments that do not loop for long.
    pub loops: bool,
}

/// The vector variants in a module.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Variants {
    /// Those that the kernel is to call, by scalar function.
    current: FxHashMap<FuncRef, Variant>,
    /// All, by scalar function and number of lanes.
    made: FxHashMap<(FuncRef, u16), Variant>,
}

impl Variants {
    /// The variant of a function, if it has one. (Without one, calls are serialised.)
    pub fn get(&self, callee: FuncRef) -> Option<Variant> {
        self.current.get(&callee).copied()
    }

    /// Adds the variants of all functions that pure calls in a kernel reach to the module, callees first, unless an
    /// earlier attempt at the kernel has made them. `lanes` is the width of the kernel.
    pub fn make(
        &mut self,
        module: &mut Module,
        kernel: FuncRef,
        vectors: Vectors<'_>,
        lanes: u16,
        manager: &PassManager<'_>,
    ) -> Result<(), Stop> {
        // An earlier attempt may have had other lanes; what it made stays in `made`.
        self.current.clear();
        if !manager.is_on(passes::VECTOR_VARIANTS) {
            return Ok(());
        }
        let order = inline::bottom_up(module, kernel);
        let insts = order.iter().flat_map(|&f| module.funcs[f].insts_in_layout());
        let callees = insts.filter_map(|(_, data)| match data.op {
            Op::PureCall(callee) => Some(callee),
            _ => None,
        });
        // Other functions of the module are inlined, or called for one work-item.
        let called: FxHashSet<FuncRef> = callees.collect();
        // Callees first: a variant calls the variants of its callees.
        for f in order.into_iter().filter(|f| called.contains(f)) {
            // A kernel of few lanes needs no longer variant. (One lane would be no vector.)
            let lanes = lanes.next_power_of_two().min(most_lanes(&module.funcs[f], vectors)).max(2);
            if let Some(&variant) = self.made.get(&(f, lanes)) {
                self.current.insert(f, variant);
                continue;
            }
            let made = manager.step(passes::VECTOR_VARIANTS, || {
                let made = self.variant(module, f, vectors, lanes, manager);
                (usize::from(matches!(made, Ok(Some(_)))), made)
            });
            if let Some((func, loops)) = made.transpose()?.flatten() {
                cloom_passes::manager::verify(module, &func, passes::VECTOR_VARIANTS);
                let variant = Variant { func: module.funcs.push(func), lanes, loops };
                self.made.insert((f, lanes), variant);
                self.current.insert(f, variant);
            }
        }
        Ok(())
    }

    /// The vector variant of a function with so many lanes, and whether it has loops; none if it is beyond a limit of
    /// the vectoriser.
    fn variant(
        &self,
        module: &Module,
        f: FuncRef,
        vectors: Vectors<'_>,
        lanes: u16,
        manager: &PassManager<'_>,
    ) -> Result<Option<(Function, bool)>, Stop> {
        let scalar = &module.funcs[f];
        let Some(ret) = scalar.ret else { return Ok(None) };
        let item = match input(module, scalar, vectors, manager) {
            Ok(item) => item,
            // Calls of it are then made lane by lane.
            Err(Stop::Limit(_)) => return Ok(None),
            Err(bug) => return Err(bug),
        };
        let wide = |ty: Type| Type::vector(ty.scalar, lanes);
        let types: Vec<Type> = scalar.params.iter().map(|&ty| wide(ty)).collect();
        // The components of a pair one after the other.
        let wide_ret = Type::vector(ret.scalar, ret.lanes * lanes);
        let mut func = scalar.new_for_code_of(format!("{}.x{lanes}", scalar.name), types.clone(), Some(wide_ret));
        // A slow path that is not inlined into scalar code is not inlined into vector code either.
        (func.linkage, func.noinline) = (Linkage::Builtin, scalar.noinline);
        let start = func.add_block();
        // Each lane has operands of its own.
        let params = types.iter().map(|&ty| VecValue::Varying(smallvec![func.add_block_param(start, ty)])).collect();
        let code = VectorCode {
            item: &item,
            manager,
            variants: self,
            lanes,
            params,
            mask: None,
            full: None,
            nontemporal: None,
            names: None,
        };
        let Widened { end, result, .. } = widen::widen(code, &mut func, start)?;
        let mut b = Builder::new(&mut func, end);
        let result = match (result, ret.lanes) {
            (VecValue::Varying(l), 1) => l[0],
            (VecValue::Varying(l), 2) => b.shuffle(l[0], l[1], &(0..2 * lanes).collect::<Vec<_>>()),
            // A function that ignores its parameters.
            (VecValue::Uniform(v), 1) => b.splat(v, lanes),
            _ => return Err(bug("a variant returns neither a scalar nor a varying pair")),
        };
        b.ret(Some(result));
        manager.run(module, &mut func, CLEAN_UP_VECTORS);
        Ok(Some((func, !item.loops.loops.is_empty())))
    }
}

/// The most lanes: the widest values of a long function fill as many registers as hide its latency (in loops, calls
/// in a row overlap little); those of a slow path fill one, as it is rarely run.
fn most_lanes(scalar: &Function, vectors: Vectors<'_>) -> u16 {
    // The widest value that is computed decides, as it takes the most registers.
    let results = scalar.insts_in_layout().filter_map(|(_, data)| data.result);
    let computed = results.map(|v| scalar.ty(v)).filter(|ty| ty.is_int() || ty.is_float());
    let widest = scalar.params.iter().copied().chain(computed).map(|ty| ty.scalar.bytes()).max();
    let registers = if scalar.noinline { 1 } else { vectors.tuning().interleave };
    (registers * vectors.register() / widest.unwrap_or(4).max(1)).clamp(2, cost::MAX_LANES) as u16
}

/// A function in canonical form, analysed with all parameters varying.
fn input(
    module: &Module,
    scalar: &Function,
    vectors: Vectors<'_>,
    manager: &PassManager<'_>,
) -> Result<VectorInput, Stop> {
    let mut func = scalar.clone();
    manager.run(module, &mut func, CLEAN_UP);
    // Special cases, such as of infinities, become selections, as they do in loops.
    if manager.function(module, &mut func, SELECT.id, select::run_in_loop) > 0 {
        manager.run(module, &mut func, &[SIMPLIFY_CFG, FOLD, CSE, DCE]);
        manager.function(module, &mut func, SELECT.id, select::run_in_loop);
        manager.run(module, &mut func, &[SIMPLIFY_CFG, DCE]);
    }
    let params: Vec<Param> = (0..func.params.len() as u32).map(Param::Kernel).collect();
    let around = FunctionContext {
        params: &params,
        shapes: vec![Shape::Varying; params.len()],
        shapes_dim1: vec![Shape::Varying; params.len()],
        bounds: vec![u64::MAX; params.len()],
        write_only: &WriteOnly::default(),
        fast_gather: vectors.tuning().fast_gather,
        masked_store: vectors.has_masked_stores(),
        register: vectors.register(),
        prefetch: false,
    };
    let canonical = manager.required(passes::CANONICALIZE, || {
        let result = canonicalize::run(&mut func, &|f| divergence::between_lanes(f, f.param_values()));
        (result.as_ref().map_or(0, |canonical| canonical.changes), result)
    });
    let canonical = canonical?;
    cloom_passes::manager::verify(module, &func, passes::CANONICALIZE);
    debug_assert!(Cfg::new(&func).is_reachable(func.entry()));
    VectorInput::new(func, canonical.unspecified, &around)
}
