//! Coarsening of groups, for kernels with barriers.
//!
//! The input is a kernel whose groups share local memory. The output is a second kernel, one group of which does the
//! work of several neighbouring groups along a dimension: each of its work-items does the work of those with the same
//! local id. It has the local memory of all these groups, and one barrier stands for theirs. (Block coarsening, of
//! Ivanov et al., "Retargeting and Respecializing GPU Workloads for Performance Portability", CGO 2024.)
//!
//! ```text
//! tile[l] = in[g·n + l]                 tile0[l] = in[4·q·n + l];  tile1[l] = in[(4·q + 1)·n + l];  …
//! barrier                               barrier
//! ```
//!
//! If all local memory is variables, one variable holds those of all groups. If arguments give its size, the launch's
//! local memory is divided into equal parts at run time, one for each group.
//!
//! The gain is that the loads of the groups are in flight together. A kernel in which each work-item moves four bytes
//! uses only half of a GPU's bandwidth. Wide accesses and loads of neighbouring elements are not possible when local
//! ids decide what a work-item does.
//!
//! A value that depends on local ids alone is the same for all coarsened groups: loops that start at a local id, trees
//! of reductions. A branch that depends on the group, as at the edge of a picture, is taken if all groups agree. If
//! they do not, each one runs a copy of the region up to the point where the paths join ([`super::regions`]). Groups
//! have no order among them, so that no result depends on this order.

use super::jam::{Jam, Lanes, Uncoarsened};
use super::regions::{Region, region};
use super::{Coarse, MAX_FACTOR, MAX_SIZE, NotCoarsened, item_function, numbers_from};
use crate::analysis::divergence::{self, Divergence};
use crate::decisions::coarsening::CoarsenReason;
use crate::work::{executed, known_trips};
use cloom_ir::abi::BLOCK_ALIGN;
use cloom_ir::abi::gpu::Coarsening;
use cloom_ir::affine::{Affine, Facts};
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{
    BinOp, Block, Builder, Flags, FuncRef, Function, Global, GlobalLinkage, GlobalRef, InstData, Module, Op, ParamKind,
    Query, Space, Type, Value,
};
use rustc_hash::FxHashMap;

/// A work-item that loads this many bytes uses as much of the bandwidth as several coarsened ones.
const ENOUGH: u64 = 12;

/// The iterations of a short loop.
const SHORT: u64 = 32;

/// Whether the work-items of a group wait for each other at barriers.
pub(super) fn has_barriers(func: &Function) -> bool {
    func.insts_in_layout().any(|(_, data)| matches!(data.op, Op::Barrier(_)))
}

/// Coarsens the groups of a kernel, or says why not.
pub(super) fn attempt(module: &mut Module, kernel: FuncRef) -> Result<Coarse, NotCoarsened> {
    let func = &module.funcs[kernel];
    if func.size() > MAX_SIZE {
        return Err(NotCoarsened::new(CoarsenReason::Large));
    }
    if let Some((_, data)) = func.insts_in_layout().find(|(_, data)| !may_join(data)) {
        return Err(NotCoarsened { span: data.span, why: CoarsenReason::OwnOperationOfGroup });
    }
    // A kernel that asks for no id of a group does the same in all of them.
    let dim = dimension(func).ok_or_else(|| NotCoarsened::new(CoarsenReason::SameGroups))?;
    let params = func.kernel.iter().flat_map(|kernel| &kernel.params).enumerate();
    let arguments: Vec<usize> = params.filter(|(_, p)| p.kind == ParamKind::Local).map(|(i, _)| i).collect();
    let locals = match arguments.is_empty() {
        // Without arguments, the size is known now, and one variable can hold all of it.
        true => Some(Locals::of(module, func).ok_or_else(|| NotCoarsened::new(CoarsenReason::NoLocalMemory))?),
        false => None,
    };
    let is_local = |op: &Op| matches!(op, Op::GlobalAddr(g) if module.globals[*g].space == Space::Local);
    let (item, asked) = item_function(func, |op| matches!(op, Op::Query { .. }) || is_local(op));
    let params = item.param_values()[func.params.len()..].iter().zip(&asked);
    // The addresses of local memory and what says which group it is; local ids are the same in all groups.
    let varying = params.filter(|(_, op)| is_local(op) || is_of_group(op, dim)).map(|(&p, _)| p);
    let varying: Vec<Value> = varying.chain(arguments.iter().map(|&i| item.param_values()[i])).collect();
    let cfg = Cfg::new(&item);
    let loops = Loops::new(&item, &cfg, &DomTree::new(&item, &cfg));
    let affine = Affine::new(&item, &cfg, &loops, Facts::default());
    // Its own loads are in flight together already.
    if bytes_loaded(&item, &loops, &affine) >= ENOUGH {
        return Err(NotCoarsened::new(CoarsenReason::LoadsOverlap));
    }
    if computes_from_tiles(&item, &loops, &affine) {
        return Err(NotCoarsened::new(CoarsenReason::ComputesFromTiles));
    }
    let (divergence, regions) = regions(&item, &cfg, varying)?;
    let factor = MAX_FACTOR;
    let mut coarse = func.new_for_code_of(format!("{}.g{factor}", func.name), func.params.clone(), None);
    // With the required group size, if there is one: a coarsened group has as many work-items as before.
    (coarse.linkage, coarse.kernel) = (func.linkage, func.kernel.clone());
    let local_size = locals.as_ref().map(|locals| locals.stride * u64::from(factor));
    let variables = locals.zip(local_size).map(|(locals, size)| {
        // One variable, as large as those of all groups together.
        let memory = module.globals.push(Global {
            name: coarse.name.clone(),
            linkage: GlobalLinkage::Internal,
            space: Space::Local,
            size,
            align: BLOCK_ALIGN,
            init: Vec::new(),
            relocs: Vec::new(),
            place: None,
        });
        (memory, locals)
    });
    let joining = Joining { dim, factor, variables };
    // Local memory of an argument has a part for each group; all other arguments are the same for them.
    let own = |b: &mut Builder<'_>, i: usize, p: Value| match arguments.contains(&i) {
        true => joining.copies(b, p),
        false => Lanes::from_elem(p, 1),
    };
    // No access becomes wide, and no index is checked: groups are far apart.
    let nothing = (FxHashMap::default(), FxHashMap::default());
    let jam = Jam::new((&item, Uncoarsened::Copies(&regions)), &divergence, (&nothing.0, &nothing.1), factor, coarse);
    let coarse = jam.run(own, &asked, |b, op| joining.lanes(b, op));
    Ok(Coarse { func: module.funcs.push(coarse), factor, coarsening: Coarsening::Groups { dim, local_size } })
}

/// Which values vary among groups, if these values do, and the region of each branch that groups may take differently.
///
/// After such a branch, the groups go on together only if all of them took the same edge. So the values in its region
/// do not vary by the branch. Only the values that the edges pass to the block at the join do.
fn regions(
    item: &Function,
    cfg: &Cfg,
    mut varying: Vec<Value>,
) -> Result<(Divergence, FxHashMap<Block, Region>), NotCoarsened> {
    let post = DomTree::post(item, cfg);
    let mut regions: FxHashMap<Block, Region> = FxHashMap::default();
    loop {
        // Until nothing changes: the parameters at a join make more values vary, and so perhaps more branches.
        let divergence = divergence::between_agreeing_lanes(item, &varying, &|_| true);
        let is_new = |b: &Block| divergence.is_divergent_branch(*b) && !regions.contains_key(b);
        let branches: Vec<Block> = cfg.rpo().iter().copied().filter(is_new).collect();
        if branches.is_empty() {
            return Ok((divergence, regions));
        }
        for b in branches {
            let region = region(item, cfg, &post, b);
            let region = region.map_err(|why| NotCoarsened { span: item.blocks[b].term_span, why })?;
            varying.extend(region.join.iter().flat_map(|&join| &item.blocks[join].params));
            regions.insert(b, region);
        }
    }
}

/// Whether an instruction may be repeated for each of the coarsened groups.
fn may_join(data: &InstData) -> bool {
    match data.op {
        Op::Query { what: Query::LocalId | Query::GroupId | Query::NumGroups, .. } => true,
        Op::Query { what: Query::LocalSize | Query::EnqueuedLocalSize, .. } => true,
        Op::Barrier(_) | Op::Fence { .. } => true,
        _ => super::may_join(data),
    }
}

/// Whether a query has another answer in each of the coarsened groups.
fn is_of_group(op: &Op, along: u8) -> bool {
    matches!(*op, Op::Query { what: Query::GlobalId | Query::GroupId, dim } if dim == along)
}

/// The dimension along which groups are coarsened: the last one whose ids the kernel queries. If it queries all, as by
/// `get_global_linear_id()`, it is dimension 0, which every range has.
fn dimension(func: &Function) -> Option<u8> {
    let is_asked = |dim: &u8| func.insts_in_layout().any(|(_, data)| is_of_group(&data.op, *dim));
    if (0..3).all(|dim| is_asked(&dim)) { Some(0) } else { (0..3).rev().find(is_asked) }
}

/// The most bytes that a work-item loads from global memory. A loop whose length is unknown counts as one iteration.
fn bytes_loaded(func: &Function, loops: &Loops, affine: &Affine<'_>) -> u64 {
    let trips = |l| Some(known_trips(affine, l).unwrap_or(1));
    let bytes = |data: &InstData| match (&data.op, data.result) {
        (Op::Load { .. }, Some(v)) if func.ty(data.args[0]).space() == Some(Space::Global) => func.ty(v).bytes(),
        _ => 0,
    };
    executed(func, loops, trips, |b| func.blocks[b].insts.iter().map(|&i| u64::from(bytes(&func.insts[i]))).sum())
}

/// Whether a loop reads local memory and has neither a barrier nor a store to global memory. Such a loop computes from
/// a tile, as a matrix product does, and keeps a GPU busy by itself. A loop of few iterations does not, such as one
/// over the coefficients of a small filter.
fn computes_from_tiles(func: &Function, loops: &Loops, affine: &Affine<'_>) -> bool {
    loops.loops.iter().enumerate().any(|(l, of)| {
        // All blocks of the loop, those of inner loops included: a barrier there is one of this loop, too.
        let ops = || of.blocks.iter().flat_map(|&b| &func.blocks[b].insts).map(|&i| &func.insts[i]);
        let accesses = |data: &InstData, space| func.ty(data.args[0]).space() == Some(space);
        let reads = |data: &InstData| matches!(data.op, Op::Load { .. }) && accesses(data, Space::Local);
        let stores = |data: &InstData| matches!(data.op, Op::Store { .. }) && accesses(data, Space::Global);
        // An inner loop runs in each iteration of the outer one, so that its own length says little.
        let is_short = || of.parent.is_none() && known_trips(affine, l).is_some_and(|trips| trips <= SHORT);
        ops().any(reads) && !ops().any(|data| matches!(data.op, Op::Barrier(_)) || stores(data)) && !is_short()
    })
}

/// The layout of one group's local memory, if it consists of variables only.
struct Locals {
    at: FxHashMap<GlobalRef, u64>,
    /// Bytes from group to group.
    stride: u64,
}

impl Locals {
    /// `None` if there is no such variable, or if they are larger than local memory can be.
    fn of(module: &Module, func: &Function) -> Option<Locals> {
        let (mut at, mut size) = (FxHashMap::default(), 0u64);
        for (_, data) in func.insts_in_layout() {
            // Each variable once, one after the other as they are found.
            let Op::GlobalAddr(g) = data.op else { continue };
            let global = &module.globals[g];
            if global.space == Space::Local && !at.contains_key(&g) {
                let begin = size.checked_next_multiple_of(global.align.max(1).into())?;
                at.insert(g, begin);
                size = begin.checked_add(global.size)?;
            }
        }
        // Each group's variables have the alignment that those of the first have.
        let stride = size.checked_next_multiple_of(BLOCK_ALIGN.into())?;
        (!at.is_empty() && stride.checked_mul(MAX_FACTOR.into()).is_some()).then_some(Locals { at, stride })
    }
}

/// Defines the values that the coarsened groups have for the queries of one work-item.
struct Joining {
    dim: u8,
    factor: u32,
    /// The local memory of all groups, and the offsets of variables in it. `None` if arguments give the size.
    variables: Option<(GlobalRef, Locals)>,
}

impl Joining {
    /// The addresses in each group that correspond to this address in the first group, if the launch gives the size of
    /// local memory: each group has an equal part of it.
    fn copies(&self, b: &mut Builder<'_>, first: Value) -> Lanes {
        let size = b.query(Query::LocalMemorySize, 0);
        // The factor is a power of two: a shift divides.
        let shift = b.iconst(Type::I64, self.factor.trailing_zeros().into());
        let stride = b.binary(BinOp::Lshr, size, shift);
        let of = |k: u32| {
            let k = b.iconst(Type::I64, k.into());
            let before = b.binary_flags(BinOp::Mul, stride, k, Flags::NSW | Flags::NUW);
            b.ptr_add(first, before)
        };
        (0..self.factor).map(of).collect()
    }

    fn lanes(&self, b: &mut Builder<'_>, op: &Op) -> Lanes {
        match *op {
            Op::GlobalAddr(g) => {
                let Some((memory, locals)) = &self.variables else {
                    let first = b.global_addr(g, Space::Local);
                    return self.copies(b, first);
                };
                let address = b.global_addr(*memory, Space::Local);
                let of = |k: u32| b.ptr_offset(address, locals.at[&g] + u64::from(k) * locals.stride);
                (0..self.factor).map(of).collect()
            }
            Op::Query { what, dim } if is_of_group(op, self.dim) => {
                // The coarsened launch has fewer groups: group `q` stands for groups `4 * q` to `4 * q + 3`.
                let id = b.query(Query::GroupId, dim);
                let groups = numbers_from(b, id, self.factor);
                if what == Query::GroupId {
                    return groups;
                }
                let size = b.query(Query::LocalSize, dim);
                let (local, offset) = (b.query(Query::LocalId, dim), b.query(Query::GlobalOffset, dim));
                let in_group = b.binary_flags(BinOp::Add, offset, local, Flags::NSW | Flags::NUW);
                let id = |group| {
                    let before = b.binary_flags(BinOp::Mul, group, size, Flags::NSW | Flags::NUW);
                    b.binary_flags(BinOp::Add, before, in_group, Flags::NSW | Flags::NUW)
                };
                groups.into_iter().map(id).collect()
            }
            Op::Query { what, dim } => Lanes::from_elem(b.query(what, dim), 1),
            _ => Lanes::new(),
        }
    }
}
