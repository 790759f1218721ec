//! The layout of private arrays: how the copies of the lanes lie in memory.
//!
//! In comes the function of one work-item; out goes one of two layouts for each of its arrays.
//!
//! * *By element*: element 0 of all lanes, then element 1 of all lanes, and so on (structure of arrays). An access at
//!   a uniform index is then one vector access; otherwise it would gather from as many cache lines as there are
//!   lanes. All accesses must be aligned and have the size of an element, and addresses must be derived from the
//!   array by `ptradd` only, so that each is known to point to one lane's copy of an element.
//! * *By lane*: one whole object for each lane, one after the other (array of structures). Addresses may be used in
//!   any way, and accesses may have any size.

use cloom_ir::{Entity, Flags, Function, Inst, Op, Type, Value};

/// The arrays that are laid out by element.
#[derive(Default)]
pub struct Arrays {
    /// For each address into such an array, the bytes of an element.
    unit: Vec<Option<u32>>,
}

impl Arrays {
    /// Chooses the layout of a function's arrays.
    pub fn find(func: &Function) -> Arrays {
        // For each address, the array that it is derived from.
        let mut root: Vec<Option<Value>> = vec![None; func.values.len()];
        let insts = || func.layout.iter().flat_map(|&b| &func.blocks[b].insts).map(|&i| &func.insts[i]);
        let allocas = || insts().filter(|data| matches!(data.op, Op::Alloca { .. })).filter_map(|data| data.result);
        allocas().for_each(|r| root[r.index()] = Some(r));
        if allocas().next().is_none() {
            return Arrays::default();
        }
        // The layout order of blocks is arbitrary: iterate to the fixed point.
        loop {
            let mut changed = false;
            for data in insts().filter(|data| data.op == Op::PtrAdd) {
                let Some(r) = data.result else { continue };
                let base = root[data.args[0].index()];
                changed |= root[r.index()] != base;
                root[r.index()] = base;
            }
            if !changed {
                break;
            }
        }
        let mut unit: Vec<Option<u32>> = vec![None; func.values.len()];
        let mut by_lane = vec![false; func.values.len()];
        let root_of = |v: Value| root[v.index()];
        for data in insts() {
            let access = match data.op {
                Op::Load { align } => data.result.map(|r| (func.ty(r), align)),
                Op::Store { align } if root_of(data.args[1]).is_none() => Some((func.ty(data.args[1]), align)),
                _ => None,
            };
            let access = access.filter(|_| !data.flags.contains(Flags::VOLATILE));
            for array in data.args.iter().filter_map(|&a| root_of(a)) {
                match access.and_then(|(ty, align)| element(ty, align)) {
                    Some(bytes) if *unit[array.index()].get_or_insert(bytes) == bytes => {}
                    None if data.op == Op::PtrAdd => {}
                    _ => by_lane[array.index()] = true,
                }
            }
        }
        for &b in &func.layout {
            func.blocks[b].term.for_each_use(|v| {
                if let Some(array) = root_of(v) {
                    by_lane[array.index()] = true;
                }
            });
        }
        let element_bytes = |array: Value| if by_lane[array.index()] { None } else { unit[array.index()] };
        Arrays { unit: root.iter().map(|r| r.and_then(element_bytes)).collect() }
    }

    /// Bytes of an element, if this is an address into an array that is laid out by element.
    pub fn unit(&self, v: Value) -> Option<u32> {
        self.unit.get(v.index()).copied().flatten()
    }
}

/// The size of an access, if an array may consist of such elements: an aligned access of a power of two bytes never
/// spans two.
fn element(ty: Type, align: u32) -> Option<u32> {
    let bytes = ty.bytes();
    (bytes.is_power_of_two() && align >= bytes).then_some(bytes)
}

/// The stride in bytes from one lane's copy to the next one's, as applied to the address of the array.
pub fn stride(func: &Function, arrays: &Arrays, alloca: Inst) -> i64 {
    let data = &func.insts[alloca];
    match (data.op.clone(), data.result.and_then(|r| arrays.unit(r))) {
        (_, Some(unit)) => i64::from(unit),
        (Op::Alloca { size, align }, None) => object_stride(size, align),
        _ => 0,
    }
}

/// The stride in bytes between whole objects.
pub fn object_stride(size: u64, align: u32) -> i64 {
    size.max(1).next_multiple_of(u64::from(align.max(1))) as i64
}
