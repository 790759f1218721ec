//! Which work-items should form a warp of a GPU, by the pattern of their memory accesses.
//!
//! The input is a kernel after the scalar passes, and the machine; the output is the shape. A warp's access takes one
//! transaction for each sector of memory that it touches, and the machine has the size of both. Neighbours of dimension
//! 0 touch the fewest sectors if they access neighbouring elements, as in most kernels. In a transposition of floats,
//! on a machine with warps of 32 work-items and sectors of 32 bytes,
//!
//! ```text
//! out[x * height + y] = in[y * width + x]
//! ```
//!
//! they write 32 sectors, one eighth of each. A warp of 4 by 8 work-items reads 8 half sectors, whose other halves the
//! next warp finds in the cache, and writes 4 sectors. The launcher chooses such a shape if the work-items cannot tell
//! how they are grouped. It also chooses the size of the groups: an H100 starts 1.5 groups in a nanosecond, which is
//! too few groups of 64 work-items for a kernel of a few instructions; and with fewer groups than compute units, some
//! of these are idle.

use crate::decisions::{self, Decision, Operation, Reason};
use crate::passes::WARP_SHAPE;
use crate::split::grouping::depends_on_groups;
use crate::work::executed;
use cloom_ir::abi::gpu::WarpShape;
use cloom_ir::affine::{Affine, Ext, Facts, Form, Symbol};
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{BinOp, FuncRef, Function, Module, Op, Query, Space, Value};
use cloom_passes::PassManager;
use cloom_target::Machine;

/// The most operations that clamp a coordinate.
const CLAMPS: u32 = 4;
/// The most instructions of a short kernel.
const SHORT: u64 = 512;

/// The best shape for a kernel by a heuristic, with a decision if it is not that of its groups. Every shape is correct.
/// If the machine has no warps of a fixed size or no sectors, it is that of the groups.
pub fn warp_shape(
    module: &Module,
    kernel: FuncRef,
    machine: &Machine,
    manager: &PassManager<'_>,
) -> (WarpShape, Option<Decision>) {
    let Some((warp, sector)) = machine.simd_group().zip(machine.sector()) else { return (WarpShape::AsGrouped, None) };
    let shape = manager.step(WARP_SHAPE, || {
        let shape = shape_of(module, kernel, sector.into());
        (usize::from(shape != WarpShape::AsGrouped), shape)
    });
    let shape = shape.unwrap_or(WarpShape::AsGrouped);
    let decision = shape.row(warp.into()).map(|row| {
        let form = decisions::Form::Warp { row: row as u32, size: warp };
        Decision::new(Operation::Warp, form, Reason::NeighboursOfDimension1)
    });
    (shape, decision)
}

fn shape_of(module: &Module, kernel: FuncRef, sector: u64) -> WarpShape {
    let func = &module.funcs[kernel];
    let is_fixed = func.kernel.as_deref().is_some_and(|meta| meta.reqd_group_size.is_some());
    // Work-items that can tell how they are grouped must be grouped as the program says.
    if is_fixed || depends_on_groups(module, func) {
        return WarpShape::AsGrouped;
    }
    let cfg = Cfg::new(func);
    let loops = Loops::new(func, &cfg, &DomTree::new(func, &cfg));
    let is_id =
        |v| func.def_inst(v).is_some_and(|i| matches!(func.insts[i].op, Op::Query { what: Query::GlobalId, .. }));
    // Every shape is correct, so that the analysis may assume that ids and indices are small.
    let range = |v: Value| is_id(v).then_some((0, i32::MAX.into()));
    // A coordinate that is clamped to the edge of an image counts as the id: few work-items are at the edge.
    let known = |v: Value| Some(Form::symbol(64, Symbol::Query(Query::GlobalId, clamped_id(func, v, CLAMPS)?)));
    let facts = Facts { range: &range, known: &known, no_wrap: &|_, _| true, ..Facts::default() };
    let affine = Affine::new(func, &cfg, &loops, facts);
    let (mut rows, mut columns, mut stored_columns) = (0, 0, 0);
    for &i in cfg.rpo().iter().flat_map(|&b| &func.blocks[b].insts) {
        let data = &func.insts[i];
        let address = match data.op {
            Op::Load { .. } | Op::Store { .. } => data.args[0],
            _ => continue,
        };
        if !matches!(func.ty(address).space(), Some(Space::Global | Space::Constant)) {
            continue;
        }
        // An access that is near, or far, along both dimensions prefers no shape.
        match strides(&affine.form(address, Ext::Own), sector) {
            Some([Stride::Near, Stride::Far]) => rows += 1,
            Some([Stride::Far, Stride::Near]) => {
                columns += 1;
                stored_columns += u32::from(matches!(data.op, Op::Store { .. }));
            }
            _ => {}
        }
    }
    match (rows, columns) {
        (_, 0) if is_short(func, &loops, &affine) => WarpShape::Row,
        (_, 0) => WarpShape::Divisible,
        (0, _) => WarpShape::Column,
        // A store of part of a sector costs a whole one; the rest of a sector that was read is found in the cache.
        _ if stored_columns > 0 => WarpShape::TallTile,
        _ => WarpShape::Tile,
    }
}

/// Whether a work-item executes few instructions. Only trip counts that are constants are known.
fn is_short(func: &Function, loops: &Loops, affine: &Affine<'_>) -> bool {
    let trips = |l: usize| affine.trip_count(&affine.counted(l)?)?.known();
    executed(func, loops, trips, |b| func.blocks[b].insts.len() as u64) <= SHORT
}

/// The dimension whose id a coordinate of an image is. The coordinate may be clamped to the edge.
fn clamped_id(func: &Function, v: Value, depth: u32) -> Option<u8> {
    let data = &func.insts[func.def_inst(v)?];
    match (&data.op, &data.args[..], depth) {
        (Op::Query { what: Query::GlobalId, dim }, ..) => Some(*dim),
        (_, _, 0) => None,
        (Op::Cast(_), &[v], _) => clamped_id(func, v, depth - 1),
        (Op::Binary(BinOp::Smin | BinOp::Smax), &[a, b], _) => {
            clamped_id(func, a, depth - 1).or_else(|| clamped_id(func, b, depth - 1))
        }
        _ => None,
    }
}

/// The distance between the accesses of neighbours.
#[derive(Clone, Copy)]
enum Stride {
    /// They access the same address.
    Same,
    /// Two or more access one sector.
    Near,
    Far,
}

/// The distances between neighbours of dimensions 0 and 1, if the address is affine in their ids.
fn strides(address: &Form, sector: u64) -> Option<[Stride; 2]> {
    let id = |dim| Symbol::Query(Query::GlobalId, dim);
    let (found, _) = address.coefficients(|s| s == id(0) || s == id(1))?;
    Some([0, 1].map(|dim| match found.iter().find(|(s, _)| *s == id(dim)).map(|(_, by)| by.as_const()) {
        None | Some(Some(0)) => Stride::Same,
        Some(Some(bytes)) if bytes.unsigned_abs() <= sector / 2 => Stride::Near,
        Some(_) => Stride::Far,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A kernel that loads at an offset in one buffer and stores at an offset in another. It has ids `x` and `y` and a
    /// number `n`; `before` is more code before the accesses.
    fn module(before: &str, load: &str, store: &str) -> Module {
        let text = format!(
            "func external @k(ptr<global>, ptr<global>, i64) kernel {{
               param \"a\" \"float*\" global size 8 align 8
               param \"b\" \"float*\" global size 8 align 8
               param \"n\" \"long\" value size 8 align 8
             }} {{
             bb0(v0: ptr<global>, v1: ptr<global>, v2: i64):
                 v10: i64 = query global_id 0
                 v11: i64 = query global_id 1
                 v12: i64 = const 0x4
                 v13: i64 = mul v10, v2
                 v14: i64 = add v13, v11
                 v15: i64 = mul v14, v12
                 v16: i64 = mul v11, v2
                 v17: i64 = add v16, v10
                 v18: i64 = mul v17, v12
                 {before}
                 v20: ptr<global> = ptradd v0, {load}
                 v21: f32 = load v20 align 4
                 v22: ptr<global> = ptradd v1, {store}
                 store v22, v21 align 4
                 ret
             }}"
        );
        cloom_ir::parse(&text).unwrap()
    }

    #[test]
    fn warps_have_the_size_of_the_machine() {
        let module = module("", "v15", "v18");
        let options = cloom_passes::PassOptions::default();
        let of = |target: &str| {
            let target: cloom_target::Target = target.parse().unwrap();
            let kernel = module.kernels().next().unwrap();
            let (shape, remark) = warp_shape(&module, kernel, target.machine(), &PassManager::new(&options));
            (shape, remark.map_or(String::new(), |remark| remark.what()))
        };
        let tile = |what: &str| (WarpShape::Tile, what.to_owned());
        assert_eq!(of("stub:any+work-item,simd32,sector32"), tile("a warp is 8 by 4 work-items"));
        assert_eq!(of("stub:any+work-item,simd64,sector64"), tile("a warp is 8 by 8 work-items"));
        assert_eq!(of("stub:any+work-item,simd16,sector32"), tile("a warp is 8 by 2 work-items"));
        assert_eq!(of("stub:any+work-item,simd32"), (WarpShape::AsGrouped, String::new()), "it has no sectors");
        assert_eq!(of("stub:any+work-item,sector32"), (WarpShape::AsGrouped, String::new()), "warps of any size");
    }

    #[test]
    fn elements_are_near_if_two_are_in_a_sector() {
        // 32 bytes between neighbours.
        let before = "v50: i64 = const 0x20\nv51: i64 = mul v11, v50\nv52: i64 = mul v13, v50\nv53: i64 = add v51, v52";
        let module = module(before, "v53", "v53");
        let shape = |sector| shape_of(&module, module.kernels().next().unwrap(), sector);
        assert_eq!([32, 64].map(shape), [WarpShape::Row, WarpShape::Column]);
    }
}
