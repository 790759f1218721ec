//! Atomic operations, fences and barriers.

use crate::error::{Result, bail, ensure};
use crate::func::Fn;
use crate::reader::{Id, Inst};
use cloom_ir::{BarrierMemory, CastOp, Order, RmwOp, Scalar, Scope, Space, Type, Value};
use spirv::{MemorySemantics, Op};

fn rmw_op(op: Op) -> Option<RmwOp> {
    Some(match op {
        Op::AtomicExchange => RmwOp::Xchg,
        Op::AtomicIAdd | Op::AtomicIIncrement => RmwOp::Add,
        Op::AtomicISub | Op::AtomicIDecrement => RmwOp::Sub,
        Op::AtomicSMin => RmwOp::Smin,
        Op::AtomicUMin => RmwOp::Umin,
        Op::AtomicSMax => RmwOp::Smax,
        Op::AtomicUMax => RmwOp::Umax,
        Op::AtomicAnd => RmwOp::And,
        Op::AtomicOr => RmwOp::Or,
        Op::AtomicXor => RmwOp::Xor,
        _ => return None,
    })
}

impl Fn<'_, '_, '_> {
    /// Lowers an instruction, if it is one of these.
    pub fn atomic(&mut self, inst: &Inst<'_>) -> Result<bool> {
        if let Some(op) = rmw_op(inst.op) {
            let [p, scope, order] = inst.operands()?;
            let (p, scope, order) = (self.object(p)?, self.scope(scope)?, self.order(order)?);
            let x = match inst.op {
                Op::AtomicIIncrement | Op::AtomicIDecrement => {
                    let ty = self.result_type(inst)?;
                    self.b().iconst(ty, 1)
                }
                _ => self.one(inst.word(5)?)?,
            };
            let ty = self.ty(x);
            let number = matches!(ty, Type::I32 | Type::I64) || op == RmwOp::Xchg && ty.is_float();
            ensure!(number && self.atomic_size(ty), "there are no such atomic operations on {ty}");
            let x = self.as_bits(x);
            let old = self.b().atomic_rmw(op, p, x, order, scope);
            let old = self.of_bits(old, ty);
            return self.result(inst, old);
        }
        match inst.op {
            Op::AtomicFAddEXT => self.float_rmw(inst, RmwOp::Fadd),
            Op::AtomicFMinEXT => self.float_rmw(inst, RmwOp::Fmin),
            Op::AtomicFMaxEXT => self.float_rmw(inst, RmwOp::Fmax),
            Op::AtomicLoad => {
                let [p, scope, order] = inst.operands()?;
                let (p, scope, order) = (self.object(p)?, self.scope(scope)?, self.order(order)?);
                let ty = self.result_type(inst)?;
                ensure!(self.atomic_size(ty), "there are no atomic objects of {ty}");
                let bits = self.b().atomic_load(bits_type(ty), p, order, scope);
                let v = self.of_bits(bits, ty);
                self.result(inst, v)
            }
            Op::AtomicStore => {
                let (p, scope) = (self.object(inst.word(0)?)?, self.scope(inst.word(1)?)?);
                let order = self.order(inst.word(2)?)?;
                let x = self.one(inst.word(3)?)?;
                ensure!(self.atomic_size(self.ty(x)), "there are no atomic objects of {}", self.ty(x));
                let x = self.as_bits(x);
                self.b().atomic_store(p, x, order, scope);
                Ok(true)
            }
            Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak => {
                // The order on failure is left out: the IR derives it from the order on success.
                let [p, scope, equal, _, new, expected] = inst.operands()?;
                let (p, scope, order) = (self.object(p)?, self.scope(scope)?, self.order(equal)?);
                let (new, expected) = (self.int(new)?, self.int(expected)?);
                self.alike(new, expected)?;
                ensure!(self.atomic_size(self.ty(new)), "there are no atomic objects of {}", self.ty(new));
                let old = self.b().atomic_cmpxchg(p, expected, new, order, scope);
                self.result(inst, old)
            }
            Op::AtomicFlagTestAndSet => {
                let [p, scope, order] = inst.operands()?;
                let (p, scope, order) = (self.object(p)?, self.scope(scope)?, self.order(order)?);
                let one = self.b().iconst(Type::I32, 1);
                let old = self.b().atomic_rmw(RmwOp::Xchg, p, one, order, scope);
                let was = self.int_as_truth(old);
                self.result(inst, was)
            }
            Op::AtomicFlagClear => {
                let (p, scope) = (self.object(inst.word(0)?)?, self.scope(inst.word(1)?)?);
                let order = self.order(inst.word(2)?)?;
                let zero = self.b().iconst(Type::I32, 0);
                self.b().atomic_store(p, zero, order, scope);
                Ok(true)
            }
            Op::MemoryBarrier => {
                let (scope, order) = (self.scope(inst.word(0)?)?, self.order(inst.word(1)?)?);
                // A relaxed one orders nothing.
                if order != Order::Relaxed {
                    // A fence of a sub-group is its barrier.
                    self.b().fence(order, scope.max(Scope::Group));
                }
                Ok(true)
            }
            Op::ControlBarrier => {
                let (execution, memory) = (self.scope(inst.word(0)?)?, self.scope(inst.word(1)?)?);
                let order = self.order(inst.word(2)?)?;
                match execution {
                    Scope::Group => {
                        // The barrier orders memory in the group.
                        if memory > Scope::Group && order != Order::Relaxed {
                            self.b().fence(order, memory);
                        }
                        let memory = self.barrier_memory(inst.word(2)?);
                        self.b().barrier(memory);
                    }
                    Scope::SubGroup => {
                        if memory > Scope::SubGroup && order != Order::Relaxed {
                            self.b().fence(order, memory);
                        }
                        // This fence is the barrier itself: see `Op::Fence` of the IR.
                        self.b().fence(Order::AcqRel, Scope::SubGroup);
                    }
                    _ => bail!("a barrier is of a work-group or of a sub-group"),
                }
                Ok(true)
            }
            Op::ReadClockKHR => {
                let ticks = self.b().clock();
                let ty = self.result_type(inst)?;
                ensure!(ty == Type::I64 || ty == Type::vector(Scalar::I32, 2), "a clock has 64 bits");
                let v = if ty == Type::I64 { ticks } else { self.b().cast(CastOp::Bitcast, ticks, ty) };
                self.result(inst, v)
            }
            _ => Ok(false),
        }
    }

    /// Arithmetic of floats in memory.
    fn float_rmw(&mut self, inst: &Inst<'_>, op: RmwOp) -> Result<bool> {
        let [p, scope, order, x] = inst.operands()?;
        let (p, scope, order, x) = (self.object(p)?, self.scope(scope)?, self.order(order)?, self.float(x)?);
        ensure!(self.atomic_size(self.ty(x)), "there are no such atomic operations on {}", self.ty(x));
        let old = self.b().atomic_rmw(op, p, x, order, scope);
        self.result(inst, old)
    }

    /// A pointer to an atomic object.
    fn object(&mut self, id: Id) -> Result<Value> {
        let p = self.pointer(id)?;
        ensure!(self.ty(p).space() != Some(Space::Constant), "an atomic object is in constant memory");
        Ok(p)
    }

    fn atomic_size(&self, ty: Type) -> bool {
        !ty.is_vector() && matches!(ty.scalar, Scalar::I32 | Scalar::I64 | Scalar::F32 | Scalar::F64)
    }

    fn as_bits(&mut self, v: Value) -> Value {
        let ty = self.ty(v);
        if ty.is_float() { self.b().cast(CastOp::Bitcast, v, bits_type(ty)) } else { v }
    }

    fn of_bits(&mut self, v: Value, ty: Type) -> Value {
        if ty.is_float() { self.b().cast(CastOp::Bitcast, v, ty) } else { v }
    }

    /// A memory scope. One that is not known when the kernel is compiled is the widest.
    pub fn scope(&mut self, id: Id) -> Result<Scope> {
        let Ok(n) = self.cx.integer(id) else {
            self.scalar_int(id)?;
            return Ok(Scope::All);
        };
        Ok(match u32::try_from(n).ok().and_then(spirv::Scope::from_u32) {
            Some(spirv::Scope::CrossDevice) => Scope::All,
            Some(spirv::Scope::Device) => Scope::Device,
            Some(spirv::Scope::Workgroup) => Scope::Group,
            Some(spirv::Scope::Subgroup) => Scope::SubGroup,
            Some(spirv::Scope::Invocation) => Scope::Item,
            _ => bail!("the scope {n} is not one of OpenCL"),
        })
    }

    /// The memory that a barrier's semantics name. Semantics that are not known when the kernel is compiled order both,
    /// and so do those without any memory, as translators write them for `barrier(0)` and for both.
    fn barrier_memory(&self, id: Id) -> BarrierMemory {
        let Ok(n) = self.cx.integer(id) else { return BarrierMemory::Both };
        let bits = MemorySemantics::from_bits_truncate(n as u32);
        let is_global = bits.intersects(MemorySemantics::CROSS_WORKGROUP_MEMORY | MemorySemantics::IMAGE_MEMORY);
        match (bits.contains(MemorySemantics::WORKGROUP_MEMORY), is_global) {
            (true, false) => BarrierMemory::Local,
            (false, true) => BarrierMemory::Global,
            _ => BarrierMemory::Both,
        }
    }

    /// A memory order. One that is not known when the kernel is compiled is the strongest.
    fn order(&mut self, id: Id) -> Result<Order> {
        let Ok(n) = self.cx.integer(id) else {
            self.scalar_int(id)?;
            return Ok(Order::SeqCst);
        };
        let bits = MemorySemantics::from_bits_truncate(n as u32);
        let has = |bit: MemorySemantics| bits.contains(bit);
        Ok(if has(MemorySemantics::SEQUENTIALLY_CONSISTENT) {
            Order::SeqCst
        } else if has(MemorySemantics::ACQUIRE_RELEASE) || has(MemorySemantics::ACQUIRE | MemorySemantics::RELEASE) {
            Order::AcqRel
        } else if has(MemorySemantics::ACQUIRE) {
            Order::Acquire
        } else if has(MemorySemantics::RELEASE) {
            Order::Release
        } else {
            Order::Relaxed
        })
    }
}

/// The integer that has the bits of a scalar.
fn bits_type(ty: Type) -> Type {
    Type::scalar(Scalar::int(ty.bytes() * 8).unwrap_or(Scalar::I32))
}
