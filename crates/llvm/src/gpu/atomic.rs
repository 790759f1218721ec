//! Atomics and fences. LLVM 19 drops the order and the scope of atomic operations on these targets and has no fences,
//! so that an order is made of fences around a relaxed operation: a release before it, an acquire after it. (PTX ISA,
//! "Memory Consistency Model": the fences make morally strong operations synchronise.)

use super::NO_NAME;
use crate::emit::FunctionCx;
use cloom_ir::{InstData, Op, Order, Scope, Type};
use llvm_sys::core::*;
use llvm_sys::prelude::*;

/// The scope as PTX has it.
fn scope_name(scope: Scope) -> Option<&'static str> {
    match scope {
        // A work-item sees its own accesses in program order without a fence.
        Scope::Item => None,
        // PTX has no scope that is narrower than the block.
        Scope::SubGroup | Scope::Group => Some("cta"),
        Scope::Device => Some("gpu"),
        Scope::All => Some("sys"),
    }
}

impl FunctionCx<'_, '_> {
    /// A separate fence. The fence of a sub-group is the sub-group's barrier, which also orders memory.
    pub fn gpu_fence(&mut self, order: Order, scope: Scope) -> LLVMValueRef {
        if scope == Scope::SubGroup {
            return self.warp_barrier();
        }
        let name = match order {
            Order::Relaxed => return std::ptr::null_mut(),
            Order::SeqCst => "sc",
            // PTX 7.8 (see `gpu_target`) has no fence for one direction alone.
            _ => "acq_rel",
        };
        self.fence_of(name, scope);
        std::ptr::null_mut()
    }

    fn fence_of(&self, order: &str, scope: Scope) {
        if let Some(scope) = scope_name(scope) {
            // SAFETY: the context is live.
            let void = unsafe { LLVMVoidTypeInContext(self.cx.context) };
            self.assembly(&format!("fence.{order}.{scope};"), "~{memory}", void, &[]);
        }
    }

    /// A relaxed operation with the fences around it that an order needs.
    pub fn fenced(
        &mut self,
        order: Order,
        scope: Scope,
        operation: impl FnOnce(&mut Self) -> LLVMValueRef,
    ) -> LLVMValueRef {
        match order {
            Order::SeqCst => self.fence_of("sc", scope),
            Order::Release | Order::AcqRel => self.fence_of("acq_rel", scope),
            Order::Relaxed | Order::Acquire => {}
        }
        let value = operation(self);
        if matches!(order, Order::Acquire | Order::AcqRel | Order::SeqCst) {
            self.fence_of("acq_rel", scope);
        }
        value
    }

    /// A read-modify-write or a compare-and-exchange.
    pub fn relaxed_update(&mut self, data: &InstData) -> LLVMValueRef {
        match data.op {
            Op::AtomicRmw { op, .. } => self.gpu_rmw(data, op),
            _ => self.cmpxchg(data, Order::Relaxed),
        }
    }

    /// A load that LLVM neither repeats nor removes.
    pub fn relaxed_load(&self, data: &InstData, ty: Type) -> LLVMValueRef {
        // SAFETY: the first operand is a pointer, and `load` is the load that was just made.
        unsafe {
            let load = LLVMBuildLoad2(self.builder.0, self.cx.ty(ty), self.value(data.args[0]), NO_NAME);
            LLVMSetAlignment(load, ty.bytes());
            LLVMSetVolatile(load, 1);
            load
        }
    }

    /// A store that LLVM neither repeats nor removes.
    pub fn relaxed_store(&self, data: &InstData) -> LLVMValueRef {
        let ty = self.func.ty(data.args[1]);
        // SAFETY: the first operand is a pointer, and `store` is the store that was just made.
        unsafe {
            let store = LLVMBuildStore(self.builder.0, self.value(data.args[1]), self.value(data.args[0]));
            LLVMSetAlignment(store, ty.bytes());
            LLVMSetVolatile(store, 1);
            store
        }
    }
}
