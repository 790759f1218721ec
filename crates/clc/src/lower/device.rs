//! Device-side enqueue: calls of the launcher, with the operands that [`cloom_ir::abi::device`] lists.

use super::func::Fn;
use crate::sema::tree::{Expr, FuncId};
use cloom_ir::abi::BLOCK_ALIGN;
use cloom_ir::abi::device::block_number;
use cloom_ir::{CastOp, DeviceCall, Flags, Type, Value};

impl Fn<'_, '_> {
    /// A call of the launcher. The first arguments are the captured values of the block.
    pub fn device_call(
        &mut self,
        call: DeviceCall,
        block: Option<FuncId>,
        captured: usize,
        args: &[Expr],
        e: &Expr,
    ) -> Value {
        // The order of `Sema::enqueue_kernel`: captured values, operands, sizes.
        let (captured, args) = args.split_at(captured.min(args.len()));
        let values = block.map_or((None, 0), |kernel| self.captured(kernel, captured));
        let mut words = Vec::new();
        // Of `enqueue_kernel`, the sizes come in a list of their own.
        let (args, sizes) =
            args.split_at(if call == DeviceCall::EnqueueKernel { args.len().min(6) } else { args.len() });
        for arg in args {
            words.push(self.word(arg));
        }
        if let Some(kernel) = block {
            // The launcher knows the kernels of blocks by numbers that follow from their names.
            let number = block_number(&self.lw.unit.funcs[kernel.0 as usize].ir_name);
            words.push(self.int(Type::I64, number as i64));
        }
        if call == DeviceCall::EnqueueKernel {
            let null = self.zero(Type::I64);
            words.push(values.0.unwrap_or(null));
            words.push(self.int(Type::I64, i64::from(values.1)));
            let list = match sizes.is_empty() {
                true => null,
                false => self.temp(4 * sizes.len() as u64, 4),
            };
            for (size, at) in sizes.iter().zip(0i64..) {
                let size = self.value(size);
                let offset = self.int(Type::I64, 4 * at);
                let place = self.b().ptr_add(list, offset);
                self.b().store(place, size, 4, Flags::empty());
            }
            words.push(list);
            words.push(self.int(Type::I64, sizes.len() as i64));
        }
        self.at(e.span);
        let result = self.b().device_call(call, &words);
        let ty = self.ir(e.ty.ty);
        match call {
            DeviceCall::IsValidEvent => {
                let valid = self.non_zero(result);
                self.truth(valid, ty)
            }
            _ if ty == Type::I64 => result,
            _ => self.b().cast(CastOp::Trunc, result, ty),
        }
    }

    /// An argument as an `i64` or a pointer; of a range, its address.
    fn word(&mut self, arg: &Expr) -> Value {
        if self.is_aggregate(arg.ty.ty) {
            return self.address(arg).0;
        }
        let v = self.value(arg);
        let is_signed = self.lw.types.numeric(arg.ty.ty).is_some_and(|(e, _)| crate::sema::types::elem_signed(e));
        match self.ty(v) {
            ty if ty == Type::I64 || ty.is_ptr() => v,
            _ => self.b().cast(if is_signed { CastOp::Sext } else { CastOp::Zext }, v, Type::I64),
        }
    }

    /// Writes the captured values of a block as its kernel's argument block has them. Returns its address, if it has
    /// any, and its size.
    fn captured(&mut self, kernel: FuncId, values: &[Expr]) -> (Option<Value>, u32) {
        let Some(meta) = &self.lw.unit.funcs[kernel.0 as usize].kernel else { return (None, 0) };
        let (offsets, size) = meta.layout();
        let places: Vec<(u32, u32)> = offsets.into_iter().zip(meta.params.iter().map(|p| p.align)).collect();
        if values.is_empty() {
            return (None, size);
        }
        // In private memory: the launcher copies it before the call returns.
        let room = self.temp(size.into(), BLOCK_ALIGN);
        // The parameters before the captured ones are pointers to local memory, which the launcher sets.
        let first = places.len().saturating_sub(values.len());
        for (value, &(offset, align)) in values.iter().zip(&places[first..]) {
            let offset = self.int(Type::I64, offset.into());
            if self.is_aggregate(value.ty.ty) {
                let (from, natural) = self.address(value);
                let size = self.lw.types.size(value.ty.ty);
                let place = self.b().ptr_add(room, offset);
                if size > 0 {
                    self.b().mem_copy(place, from, size, align.min(natural));
                }
                continue;
            }
            let v = self.value(value);
            let place = self.b().ptr_add(room, offset);
            self.b().store(place, v, align.max(1), Flags::empty());
        }
        (Some(room), size)
    }
}
