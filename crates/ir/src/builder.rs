//! Writes instructions at the end of a block, finding the result's type.
//!
//! The builder checks nothing; the verifier does. Methods are named like the text form.

use crate::abi::report;
use crate::entity::{Block, Entity, FuncRef, GlobalRef, Inst, StrRef, Value};
use crate::flags::Flags;
use crate::function::{Function, ValueData, ValueDef};
use crate::inst::{
    Args, BarrierMemory, BinOp, CastOp, DeviceCall, Edge, FloatCc, InstData, IntCc, Op, Order, Query, RmwOp, Scope,
    Term, UnOp,
};
use crate::mark::Mark;
use crate::module::Span;
use crate::types::{Scalar, Space, Type};
use smallvec::smallvec;
use std::sync::Arc;

/// Appends to a block of a function.
#[derive(Debug)]
pub struct Builder<'f> {
    /// The function.
    pub func: &'f mut Function,
    /// Where instructions go.
    pub block: Block,
    /// Written on each instruction.
    pub span: Span,
}

impl<'f> Builder<'f> {
    /// A builder at the end of a block.
    pub fn new(func: &'f mut Function, block: Block) -> Self {
        Self { func, block, span: Span::NONE }
    }

    /// Continues at the end of another block.
    pub fn switch_to(&mut self, block: Block) {
        self.block = block;
    }

    /// Appends any instruction. The result is its value if `ty` is given.
    pub fn push(&mut self, op: Op, args: Args, ty: Option<Type>, flags: Flags) -> Option<Value> {
        let inst = self.func.make_inst(op, args, ty, flags, self.span);
        self.func.blocks[self.block].insts.push(inst);
        self.func.insts[inst].result
    }

    fn value(&mut self, op: Op, args: Args, ty: Type, flags: Flags) -> Value {
        // The instruction that is pushed next gets this index.
        let v = self.func.values.push(ValueData { ty, def: ValueDef::Inst(Inst::new(self.func.insts.len())) });
        let inst = self.func.insts.push(InstData { op, args, result: Some(v), flags, span: self.span });
        self.func.blocks[self.block].insts.push(inst);
        v
    }

    /// Type of a value.
    pub fn ty(&self, v: Value) -> Type {
        self.func.ty(v)
    }

    /// A constant by its bits.
    pub fn iconst(&mut self, ty: Type, bits: u64) -> Value {
        self.value(Op::Const(bits & ty.scalar.mask()), smallvec![], ty, Flags::empty())
    }

    /// A float constant (of `F16` by its bits: use [`Builder::iconst`]).
    pub fn fconst(&mut self, ty: Type, x: f64) -> Value {
        let bits = match ty.scalar {
            Scalar::F32 => u64::from((x as f32).to_bits()),
            _ => x.to_bits(),
        };
        self.iconst(ty, bits)
    }

    /// `op a`.
    pub fn unary(&mut self, op: UnOp, a: Value) -> Value {
        let ty = self.ty(a);
        self.value(Op::Unary(op), smallvec![a], ty, Flags::empty())
    }

    /// `a op b`.
    pub fn binary(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        self.binary_flags(op, a, b, Flags::empty())
    }

    /// `a op b` with promises or permissions.
    pub fn binary_flags(&mut self, op: BinOp, a: Value, b: Value, flags: Flags) -> Value {
        let ty = self.ty(a);
        self.value(Op::Binary(op), smallvec![a, b], ty, flags)
    }

    /// `a * b + c`, rounded once.
    pub fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        let ty = self.ty(a);
        self.value(Op::Fma, smallvec![a, b, c], ty, Flags::empty())
    }

    /// Compares integers or pointers.
    pub fn icmp(&mut self, cc: IntCc, a: Value, b: Value) -> Value {
        let ty = self.ty(a).with_scalar(Scalar::I1);
        self.value(Op::Icmp(cc), smallvec![a, b], ty, Flags::empty())
    }

    /// Compares floats.
    pub fn fcmp(&mut self, cc: FloatCc, a: Value, b: Value) -> Value {
        let ty = self.ty(a).with_scalar(Scalar::I1);
        self.value(Op::Fcmp(cc), smallvec![a, b], ty, Flags::empty())
    }

    /// Converts to `ty`.
    pub fn cast(&mut self, op: CastOp, a: Value, ty: Type) -> Value {
        self.value(Op::Cast(op), smallvec![a], ty, Flags::empty())
    }

    /// `cond ? a : b`.
    pub fn select(&mut self, cond: Value, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        self.value(Op::Select, smallvec![cond, a, b], ty, Flags::empty())
    }

    /// A lane of a vector, by an integer value.
    pub fn extract(&mut self, v: Value, lane: Value) -> Value {
        let ty = self.ty(v).lane();
        self.value(Op::Extract, smallvec![v, lane], ty, Flags::empty())
    }

    /// A lane of a vector, by its number.
    pub fn extract_lane(&mut self, v: Value, lane: u16) -> Value {
        let lane = self.iconst(Type::I32, u64::from(lane));
        self.extract(v, lane)
    }

    /// A vector with one lane replaced.
    pub fn insert(&mut self, v: Value, lane: Value, x: Value) -> Value {
        let ty = self.ty(v);
        self.value(Op::Insert, smallvec![v, lane, x], ty, Flags::empty())
    }

    /// A vector with one lane, by its number, replaced.
    pub fn insert_lane(&mut self, v: Value, lane: u16, x: Value) -> Value {
        let lane = self.iconst(Type::I32, u64::from(lane));
        self.insert(v, lane, x)
    }

    /// Lanes of `a` then `b`; one lane in the mask gives a scalar.
    pub fn shuffle(&mut self, a: Value, b: Value, mask: &[u16]) -> Value {
        let ty = Type::vector(self.ty(a).scalar, mask.len() as u16);
        self.value(Op::Shuffle(mask.into()), smallvec![a, b], ty, Flags::empty())
    }

    /// The scalar in every lane of a vector type.
    pub fn splat(&mut self, x: Value, lanes: u16) -> Value {
        let ty = Type::vector(self.ty(x).scalar, lanes);
        self.value(Op::Splat, smallvec![x], ty, Flags::empty())
    }

    /// A vector from its lanes.
    pub fn build(&mut self, lanes: &[Value]) -> Value {
        let ty = Type::vector(self.ty(lanes[0]).scalar, lanes.len() as u16);
        self.value(Op::Build, lanes.iter().copied().collect(), ty, Flags::empty())
    }

    /// Private memory; the builder must be in the entry block.
    pub fn alloca(&mut self, size: u64, align: u32) -> Value {
        self.named_alloca(size, align, None)
    }

    /// Private memory of a variable; the builder must be in the entry block.
    pub fn named_alloca(&mut self, size: u64, align: u32, name: Option<Arc<String>>) -> Value {
        self.value(Op::Alloca { size, align, name }, smallvec![], Type::ptr(Space::Private), Flags::empty())
    }

    /// `p + bytes`.
    pub fn ptr_add(&mut self, p: Value, bytes: Value) -> Value {
        let ty = self.ty(p);
        self.value(Op::PtrAdd, smallvec![p, bytes], ty, Flags::empty())
    }

    /// `p + bytes`, a constant.
    pub fn ptr_offset(&mut self, p: Value, bytes: u64) -> Value {
        if bytes == 0 {
            return p;
        }
        let bytes = self.iconst(Type::I64, bytes);
        self.ptr_add(p, bytes)
    }

    /// The value at `p`.
    pub fn load(&mut self, ty: Type, p: Value, align: u32, flags: Flags) -> Value {
        self.value(Op::Load { align }, smallvec![p], ty, flags)
    }

    /// Stores `x` at `p`.
    pub fn store(&mut self, p: Value, x: Value, align: u32, flags: Flags) {
        self.push(Op::Store { align }, smallvec![p, x], None, flags);
    }

    /// 0, 1, 2 … in the lanes.
    pub fn iota(&mut self, scalar: Scalar, lanes: u16) -> Value {
        self.value(Op::Iota, smallvec![], Type::vector(scalar, lanes), Flags::empty())
    }

    /// Whether a lane of the mask is on.
    pub fn any(&mut self, mask: Value) -> Value {
        self.value(Op::Any, smallvec![mask], Type::I1, Flags::empty())
    }

    /// Whether all lanes of the mask are on.
    pub fn all(&mut self, mask: Value) -> Value {
        self.value(Op::All, smallvec![mask], Type::I1, Flags::empty())
    }

    /// The mask's lanes as bits.
    pub fn ballot(&mut self, mask: Value) -> Value {
        self.value(Op::Ballot, smallvec![mask], Type::I64, Flags::empty())
    }

    /// Consecutive lanes from `p` on that are on in the mask, 0 in the others.
    pub fn masked_load(&mut self, ty: Type, p: Value, mask: Value, align: u32, flags: Flags) -> Value {
        self.value(Op::MaskedLoad { align }, smallvec![p, mask], ty, flags)
    }

    /// Stores the lanes of `x` that are on in the mask from `p` on.
    pub fn masked_store(&mut self, p: Value, x: Value, mask: Value, align: u32, flags: Flags) {
        self.push(Op::MaskedStore { align }, smallvec![p, x, mask], None, flags);
    }

    /// Lanes from the addresses `p` that are on in the mask, 0 in the others.
    pub fn gather(&mut self, ty: Type, p: Value, mask: Value, align: u32, flags: Flags) -> Value {
        self.value(Op::Gather { align }, smallvec![p, mask], ty, flags)
    }

    /// Stores the lanes of `x` that are on in the mask at the addresses `p`.
    pub fn scatter(&mut self, p: Value, x: Value, mask: Value, align: u32, flags: Flags) {
        self.push(Op::Scatter { align }, smallvec![p, x, mask], None, flags);
    }

    /// Copies bytes from `src` to `dst`.
    pub fn mem_copy(&mut self, dst: Value, src: Value, size: u64, align: u32) {
        self.push(Op::MemCopy { size, align }, smallvec![dst, src], None, Flags::empty());
    }

    /// Sets bytes at `dst`.
    pub fn mem_set(&mut self, dst: Value, byte: u8, size: u64, align: u32) {
        self.push(Op::MemSet { size, byte, align }, smallvec![dst], None, Flags::empty());
    }

    /// The address of a global in `space` (the global's).
    pub fn global_addr(&mut self, g: GlobalRef, space: Space) -> Value {
        self.value(Op::GlobalAddr(g), smallvec![], Type::ptr(space), Flags::empty())
    }

    /// Atomic read-modify-write; gives the old value.
    pub fn atomic_rmw(&mut self, op: RmwOp, p: Value, x: Value, order: Order, scope: Scope) -> Value {
        let ty = self.ty(x);
        self.value(Op::AtomicRmw { op, order, scope }, smallvec![p, x], ty, Flags::empty())
    }

    /// Atomic compare and exchange; gives the old value.
    pub fn atomic_cmpxchg(&mut self, p: Value, expected: Value, new: Value, order: Order, scope: Scope) -> Value {
        let ty = self.ty(new);
        self.value(Op::AtomicCmpXchg { order, scope }, smallvec![p, expected, new], ty, Flags::empty())
    }

    /// Atomic load.
    pub fn atomic_load(&mut self, ty: Type, p: Value, order: Order, scope: Scope) -> Value {
        self.value(Op::AtomicLoad { order, scope }, smallvec![p], ty, Flags::empty())
    }

    /// Atomic store.
    pub fn atomic_store(&mut self, p: Value, x: Value, order: Order, scope: Scope) {
        self.push(Op::AtomicStore { order, scope }, smallvec![p, x], None, Flags::empty());
    }

    /// A prefetch for reading.
    pub fn prefetch(&mut self, p: Value) {
        self.push(Op::Prefetch, smallvec![p], None, Flags::empty());
    }

    /// A fence.
    pub fn fence(&mut self, order: Order, scope: Scope) {
        self.push(Op::Fence { order, scope }, smallvec![], None, Flags::empty());
    }

    /// An index or a size of the launch.
    pub fn query(&mut self, what: Query, dim: u8) -> Value {
        let ty = if what == Query::WorkDim { Type::I32 } else { Type::I64 };
        self.value(Op::Query { what, dim }, smallvec![], ty, Flags::empty())
    }

    /// A mark for the checker.
    pub fn mark(&mut self, mark: Mark, args: &[Value]) {
        self.push(Op::Mark(mark), args.into(), None, Flags::empty());
    }

    /// The mark of an asynchronous copy; gives its event.
    pub fn mark_copy(&mut self, event: Value) -> Value {
        self.value(Op::Mark(Mark::Copy), smallvec![event], Type::I64, Flags::empty())
    }

    /// The ticks of the device's clock.
    pub fn clock(&mut self) -> Value {
        self.value(Op::Clock, smallvec![], Type::I64, Flags::empty())
    }

    /// Whether the launcher asks the kernel to end, by the word at this address.
    pub fn poll(&mut self, address: Value) -> Value {
        self.value(Op::Poll, smallvec![address], Type::I1, Flags::empty())
    }

    /// Reports an access that does not happen: the address of its record, and what the record holds.
    pub fn report(&mut self, args: [Value; 1 + report::WORDS]) {
        self.push(Op::Report, args.into_iter().collect(), None, Flags::empty());
    }

    /// A work-group barrier that orders this memory.
    pub fn barrier(&mut self, memory: BarrierMemory) {
        self.push(Op::Barrier(memory), smallvec![], None, Flags::empty());
    }

    /// A ballot: the active work-items of the sub-group with a true operand, as bits.
    pub fn subgroup_ballot(&mut self, a: Value) -> Value {
        self.value(Op::SubgroupBallot, smallvec![a], Type::I64, Flags::empty())
    }

    /// The value of a work-item of the sub-group.
    pub fn subgroup_shuffle(&mut self, a: Value, number: Value) -> Value {
        let ty = self.ty(a);
        self.value(Op::SubgroupShuffle, smallvec![a, number], ty, Flags::empty())
    }

    /// Values of the sub-group combined, in clusters.
    pub fn subgroup_reduce(&mut self, op: BinOp, a: Value, cluster: u16) -> Value {
        let ty = self.ty(a);
        self.value(Op::SubgroupReduce { op, cluster }, smallvec![a], ty, Flags::empty())
    }

    /// Values of the sub-group up to this work-item combined.
    pub fn subgroup_scan(&mut self, op: BinOp, a: Value, exclusive: bool) -> Value {
        let ty = self.ty(a);
        self.value(Op::SubgroupScan { op, exclusive }, smallvec![a], ty, Flags::empty())
    }

    /// Calls a function; `ret` is its result type.
    pub fn call(&mut self, f: FuncRef, args: &[Value], ret: Option<Type>) -> Option<Value> {
        self.push(Op::Call(f), args.iter().copied().collect(), ret, Flags::empty())
    }

    /// Prints; `args[0]` is the work-item's global linear id.
    pub fn printf(&mut self, format: StrRef, args: &[Value]) {
        self.push(Op::Printf(format), args.iter().copied().collect(), None, Flags::empty());
    }

    /// Calls the launcher, for device-side enqueue.
    pub fn device_call(&mut self, what: DeviceCall, args: &[Value]) -> Value {
        self.value(Op::DeviceCall(what), args.iter().copied().collect(), Type::I64, Flags::empty())
    }

    /// Ends the block with a jump.
    pub fn jump(&mut self, to: Block, args: &[Value]) {
        self.term(Term::Jump(Edge::new(to, args.iter().copied())));
    }

    /// Ends the block with a branch without arguments.
    pub fn branch(&mut self, cond: Value, then: Block, els: Block) {
        self.term(Term::Branch { cond, then: Edge::new(then, []), els: Edge::new(els, []) });
    }

    /// Ends the block with a return.
    pub fn ret(&mut self, v: Option<Value>) {
        self.term(Term::Return(v));
    }

    /// Ends the block.
    pub fn term(&mut self, term: Term) {
        let (block, span) = (self.block, self.span);
        self.func.set_term(block, term, span);
    }
}
