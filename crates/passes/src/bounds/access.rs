//! The accesses of instructions.

use cloom_ir::{Function, Inst, Op, Type, Value};

/// One access of an instruction.
#[derive(Clone, Copy)]
pub(super) struct Access {
    pub address: Value,
    pub bytes: u64,
    pub align: u8,
    pub is_store: bool,
}

/// The accesses of an instruction.
pub(super) fn accesses(func: &Function, i: Inst) -> [Option<Access>; 2] {
    let data = &func.insts[i];
    let arg = |k: usize| data.args[k];
    let log = |align: u32| align.max(1).trailing_zeros() as u8;
    let access = |address, ty: Type, align: u32, is_store| {
        // A vector of three that is aligned as one of four may be accessed like one.
        let lane = u64::from(ty.scalar.bytes());
        let bytes = if ty.lanes == 3 && u64::from(align) > lane { lane * 4 } else { u64::from(ty.bytes()) };
        Some(Access { address, bytes, align: log(align), is_store })
    };
    let natural = |address, ty: Type, is_store| access(address, ty, ty.bytes(), is_store);
    let result = data.result.map(|r| func.ty(r));
    match data.op {
        Op::Load { align } => [result.and_then(|ty| access(arg(0), ty, align, false)), None],
        Op::Store { align } => [access(arg(0), func.ty(arg(1)), align, true), None],
        Op::AtomicRmw { .. } | Op::AtomicCmpXchg { .. } | Op::AtomicStore { .. } => {
            [natural(arg(0), func.ty(arg(1)), true), None]
        }
        Op::AtomicLoad { .. } => [result.and_then(|ty| natural(arg(0), ty, false)), None],
        Op::MemCopy { size, align } => {
            let of = |address, is_store| Some(Access { address, bytes: size, align: log(align), is_store });
            [of(arg(0), true), of(arg(1), false)]
        }
        Op::MemSet { size, align, .. } => {
            [Some(Access { address: arg(0), bytes: size, align: log(align), is_store: true }), None]
        }
        _ => [None, None],
    }
}
