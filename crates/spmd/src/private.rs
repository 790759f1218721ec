//! Private arrays: how the copies of the lanes lie in memory.
//!
//! Each lane has an object of its own, one after the other, so that an address may go anywhere and be read in any size. (Laying elements
//! out by lane would make an access at a uniform index one vector; it needs a proof that all accesses have one size.)

use cloom_ir::{Function, Inst, Op};

/// The distance in bytes from a lane's copy to the next one's, as the address of the array sees it.
pub fn stride(func: &Function, alloca: Inst) -> i64 {
    match func.insts[alloca].op {
        Op::Alloca { size, align } => object_stride(size, align),
        _ => 0,
    }
}

/// The distance between whole objects.
pub fn object_stride(size: u64, align: u32) -> i64 {
    size.max(1).next_multiple_of(u64::from(align.max(1))) as i64
}
