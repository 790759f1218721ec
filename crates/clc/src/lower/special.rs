//! Built-in functions outside of the table: vector loads and stores, atomics, printf, shuffles, asynchronous copies.

use super::func::Fn;
use crate::sema::tree::{Expr, NamedScope, Special};
use crate::sema::types::{QTy, Ty};
use cloom_builtins::Elem;
use cloom_ir::{
    BarrierMemory, BinOp, CastOp, Flags, IntCc, Op, Order, Query, RmwOp, Scalar, Scope, Space, Term, Type, Value,
};

impl Fn<'_, '_> {
    pub fn special(&mut self, which: Special, args: &[Expr], e: &Expr) -> Value {
        if let Special::Device { call, block, captured } = which {
            return self.device_call(call, block, captured as usize, args, e);
        }
        let v: Vec<Value> = args.iter().map(|a| self.value(a)).collect();
        self.at(e.span);
        let ty = self.ir(e.ty.ty);
        match which {
            Special::Pipe(op) => self.pipe(op, args[0].ty.ty, &v, ty),
            Special::Vload { .. } => {
                let (p, align) = self.vector_address(v[1], v[0], ty, false);
                self.b().load(ty, p, align, Flags::empty())
            }
            Special::Vstore { .. } => {
                let vector = self.ty(v[0]);
                let (p, align) = self.vector_address(v[2], v[1], vector, false);
                self.b().store(p, v[0], align, Flags::empty());
                self.zero(ty)
            }
            Special::VloadHalf { aligned } => {
                // Memory has halves, the result floats with as many components.
                let half = ty.with_scalar(Scalar::F16);
                let (p, align) = self.vector_address(v[1], v[0], half, aligned);
                let h = self.b().load(half, p, align, Flags::empty());
                self.b().cast(CastOp::Fext, h, ty)
            }
            Special::VstoreHalf { aligned, rounding } => {
                let from = match self.ty(v[0]).scalar {
                    Scalar::F64 => Elem::F64,
                    _ => Elem::F32,
                };
                let h = match rounding {
                    // To nearest even is how the IR rounds; other modes correct its result.
                    crate::sema::tree::Rounding::Rte => self.convert_elem(v[0], from, Elem::F16),
                    mode => self.narrow_directed(v[0], from, Elem::F16, mode),
                };
                let half = self.ty(h);
                let (p, align) = self.vector_address(v[2], v[1], half, aligned);
                self.b().store(p, h, align, Flags::empty());
                self.zero(ty)
            }
            Special::Atomic(op, order, named) => self.atomic(op, (order, named), &v, ty),
            Special::AtomicLoad(order, named) => {
                let scope = self.scope_of(v[0], named);
                let bits = self.b().atomic_load(bits_type(ty), v[0], order, scope);
                self.value_of_bits(bits, ty)
            }
            Special::AtomicStore(order, named) => {
                let scope = self.scope_of(v[0], named);
                let bits = self.bits_of(v[1]);
                self.b().atomic_store(v[0], bits, order, scope);
                self.zero(ty)
            }
            Special::AtomicInit => {
                let bits = self.bits_of(v[1]);
                if self.lw.opts.marks {
                    // It is not atomic: another access at the same time is a race, even an atomic one.
                    let align = self.ty(bits).bytes();
                    self.b().store(v[0], bits, align, Flags::empty());
                } else {
                    // A relaxed store costs no more than a plain one.
                    let scope = self.scope_of(v[0], None);
                    self.b().atomic_store(v[0], bits, Order::Relaxed, scope);
                }
                self.zero(ty)
            }
            Special::CompareExchange(order, named) => {
                let scope = self.scope_of(v[0], named);
                let new = self.bits_of(v[2]);
                let bits = self.ty(new);
                let align = bits.bytes();
                // Not atomic: what is expected is the work-item's own variable.
                let expected = self.b().load(bits, v[1], align, Flags::empty());
                let old = self.b().atomic_cmpxchg(v[0], expected, new, order, scope);
                // Where it was as expected, this changes nothing.
                self.b().store(v[1], old, align, Flags::empty());
                let same = self.b().icmp(IntCc::Eq, old, expected);
                self.b().cast(CastOp::Zext, same, ty)
            }
            Special::Fence(Order::Relaxed, _) => self.zero(ty),
            Special::Fence(order, scope) => {
                // A fence of a sub-group is its barrier.
                self.b().fence(order, scope.max(Scope::Group));
                self.zero(ty)
            }
            Special::CmpXchg => {
                let scope = self.scope_of(v[0], None);
                self.b().atomic_cmpxchg(v[0], v[1], v[2], Order::Relaxed, scope)
            }
            Special::Printf(id) => {
                let mut all = vec![self.global_linear_id()];
                all.extend(v);
                let format = self.lw.format(id);
                self.b().printf(format, &all);
                self.zero(ty)
            }
            Special::Shuffle => self.shuffle(&v, ty),
            Special::AsyncCopy { .. } | Special::AsyncCopyLines { .. } => self.begin_copy(which, args, &v, ty),
            // Each work-item has done its share of the copies when it comes here; all have when the barrier is passed.
            Special::WaitEvents => {
                self.mark_wait(v[0], v[1]);
                self.b().barrier(BarrierMemory::Both);
                self.zero(ty)
            }
            Special::Prefetch => self.zero(ty),
            // Above.
            Special::Device { .. } => self.zero(ty),
            Special::Memory(op) => self.memory(op, &v),
            Special::Trap => {
                // Code after it is lowered into a block that nothing reaches.
                self.set_term(Term::Unreachable);
                self.dead();
                self.zero(ty)
            }
            Special::ToSpace(space) => self.in_space(v[0], space, ty),
            Special::GetFence => {
                // The flags are 1 for local memory and 2 for global memory; private memory needs none.
                let tag = self.b().cast(CastOp::SpaceOf, v[0], Type::I64);
                let tag = self.b().cast(CastOp::Trunc, tag, ty);
                let global = self.int(ty, 2);
                // The tags (0 global, 1 local, 2 private) count in the other direction.
                self.bin(BinOp::Sub, global, tag)
            }
            Special::Query(what) => self.b().query(what, 0),
            Special::Image(op) => self.image(op, &v, ty),
            Special::BlockAccess(op) => self.block_access(op, &v, ty),
        }
    }

    /// `to_global` and its like: the pointer, or null if it points to another address space.
    fn in_space(&mut self, p: Value, space: Space, ty: Type) -> Value {
        let tag = self.b().cast(CastOp::SpaceOf, p, Type::I64);
        let wanted = self.int(Type::I64, space.tag() as i64);
        let is_there = self.b().icmp(IntCc::Eq, tag, wanted);
        let (p, null) = (self.space_cast(p, space), self.zero(ty));
        self.b().select(is_there, p, null)
    }

    /// An asynchronous copy; gives its event.
    fn begin_copy(&mut self, which: Special, args: &[Expr], v: &[Value], ty: Type) -> Value {
        let at = if matches!(which, Special::AsyncCopy { .. }) { 3 } else { v.len().saturating_sub(1) };
        let event = v.get(at).map(|&event| self.mark_copy(event));
        let others: Vec<Value> = v.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, &arg)| arg).collect();
        self.mark_arguments(&others);
        match which {
            Special::AsyncCopy { strided, scatter } => {
                let element = |p: usize| self.lw.types.pointee(args[p].ty.ty).unwrap_or(QTy::plain(Ty::CHAR));
                let elements = [element(0), element(1)];
                self.async_copy(v, elements, strided, scatter);
            }
            Special::AsyncCopyLines { planes } => self.async_copy_lines(planes, v),
            _ => {}
        }
        event.unwrap_or_else(|| self.zero(ty))
    }

    /// Where vector number `index` is, and its sure alignment. The aligned functions step by four elements for three.
    fn vector_address(&mut self, p: Value, index: Value, vector: Type, aligned: bool) -> (Value, u32) {
        let elem = vector.scalar.bytes();
        let lanes = if aligned && vector.lanes == 3 { 4 } else { u32::from(vector.lanes) };
        let bytes = self.scaled(index, u64::from(elem * lanes));
        let p = self.b().ptr_add(p, bytes);
        (p, if aligned { elem * lanes } else { elem })
    }

    /// Who sees the memory that a pointer points into.
    fn scope_of(&self, p: Value, named: NamedScope) -> Scope {
        let named = if self.lw.opts.marks { named } else { None };
        match self.ty(p).space() {
            // Other work-groups cannot see local memory; a generic pointer may lead to global memory.
            Some(Space::Local) => named.unwrap_or(Scope::Group).min(Scope::Group),
            // Code gets the widest scope, whatever the source names: a narrower one would only be faster. The checker
            // is told what is named.
            _ => named.unwrap_or(Scope::Device),
        }
    }

    /// A read-modify-write. Floats are exchanged as bits.
    fn atomic(&mut self, op: RmwOp, (order, named): (Order, NamedScope), v: &[Value], ty: Type) -> Value {
        let scope = self.scope_of(v[0], named);
        if matches!(op, RmwOp::Fadd | RmwOp::Fmin | RmwOp::Fmax) {
            return self.b().atomic_rmw(op, v[0], v[1], order, scope);
        }
        let bits = self.bits_of(v[1]);
        let old = self.b().atomic_rmw(op, v[0], bits, order, scope);
        self.value_of_bits(old, ty)
    }

    /// A float as an integer.
    fn bits_of(&mut self, v: Value) -> Value {
        let ty = self.ty(v);
        if ty.is_float() { self.b().cast(CastOp::Bitcast, v, bits_type(ty)) } else { v }
    }

    /// An integer as a float, if that is wanted.
    fn value_of_bits(&mut self, v: Value, ty: Type) -> Value {
        if ty.is_float() { self.b().cast(CastOp::Bitcast, v, ty) } else { v }
    }

    fn shuffle(&mut self, v: &[Value], ty: Type) -> Value {
        let Some((&mask, vectors)) = v.split_last() else { return self.zero(ty) };
        let lanes = self.ty(vectors[0]).lanes;
        let total = lanes * vectors.len() as u16;
        let (a, b) = (vectors[0], vectors[vectors.len() - 1]);
        if let Some(picks) = self.constant_lanes(mask) {
            // Only the low bits of an index count: the number of components is a power of two.
            let picks: Vec<u16> = picks.iter().map(|&p| (p % u64::from(total)) as u16).collect();
            return self.b().shuffle(a, b, &picks);
        }
        // An index that is known at run time picks from both vectors joined to one.
        let all = match vectors.len() {
            1 => a,
            _ => {
                let picks: Vec<u16> = (0..total).collect();
                self.b().shuffle(a, b, &picks)
            }
        };
        let results: Vec<Value> = (0..ty.lanes)
            .map(|i| {
                let index = self.b().extract_lane(mask, i);
                self.b().extract(all, index)
            })
            .collect();
        self.b().build(&results)
    }

    /// The lanes of a vector that is made of constants.
    fn constant_lanes(&self, v: Value) -> Option<Vec<u64>> {
        if let Some(bits) = self.func.const_bits(v) {
            return Some(vec![bits; usize::from(self.ty(v).lanes)]);
        }
        let inst = self.func.def_inst(v)?;
        let data = &self.func.insts[inst];
        match data.op {
            Op::Build => data.args.iter().map(|&a| self.func.const_bits(a)).collect(),
            _ => None,
        }
    }

    /// Calls the library's copy of planes of lines; gives the event.
    fn async_copy_lines(&mut self, planes: bool, v: &[Value]) {
        let Some((_, v)) = v.split_last() else { return };
        let mut all = v.to_vec();
        if !planes {
            // One plane, whose area is of no matter: its place is after the lines of the source and after those of the
            // target.
            let (one, none) = (self.int(Type::I64, 1), self.zero(Type::I64));
            all = [&v[..7], &[one, v[7], none, v[8], none]].concat();
        }
        let types: Vec<Type> = all.iter().map(|&a| self.ty(a)).collect();
        let byte = |ty: Type| match ty.space() {
            Some(space) => Ptr(space, Elem::U8, 1),
            None => Value(Elem::U64, 1),
        };
        use cloom_builtins::Ty::{Ptr, Value};
        let name = cloom_builtins::mangle("__async_work_group_copy_3D3D", types.iter().map(|&ty| byte(ty)));
        let f = self.lw.library_func(name, types, None);
        self.b().call(f, &all, None);
    }

    /// The work-items of the group share the copying; waiting for the event is a barrier.
    fn async_copy(&mut self, v: &[Value], elements: [QTy; 2], strided: bool, scatter: bool) {
        let [dst, src, count] = [v[0], v[1], v[2]];
        let size = self.lw.types.size(elements[0].ty);
        let ir = match self.ir(elements[0].ty) {
            // A vector of three components is copied as one of four, padding included.
            ty if ty.lanes == 3 => Type::vector(ty.scalar, 4),
            ty => ty,
        };
        let [to_align, from_align] = elements.map(|element| self.lw.types.align_of(element) as u32);
        // Work-item `i` of the group copies elements `i`, `i` + size of the group, and so on: neighbours access
        // neighbours.
        let first = self.local_linear_id();
        // The size of this group, which may be smaller than that of the others.
        let mut items = self.b().query(Query::LocalSize, 0);
        for d in 1..3 {
            let n = self.b().query(Query::LocalSize, d);
            items = self.bin(BinOp::Mul, items, n);
        }
        let (header, body, exit) = (self.new_block(), self.new_block(), self.new_block());
        let i = self.func.add_block_param(header, Type::I64);
        self.b().jump(header, &[first]);
        self.block = header;
        let more = self.b().icmp(IntCc::Ult, i, count);
        self.b().branch(more, body, exit);
        self.block = body;
        // The stride applies to the side in global memory, the target of a scatter.
        let far = match (strided, v.get(4)) {
            (true, Some(&stride)) => self.bin(BinOp::Mul, i, stride),
            _ => i,
        };
        let (to_index, from_index) = if scatter { (far, i) } else { (i, far) };
        let (from, to) = (self.scaled(from_index, size), self.scaled(to_index, size));
        let (from, to) = (self.b().ptr_add(src, from), self.b().ptr_add(dst, to));
        let x = self.b().load(ir, from, from_align, Flags::empty());
        self.b().store(to, x, to_align, Flags::empty());
        let next = self.bin(BinOp::Add, i, items);
        self.b().jump(header, &[next]);
        self.block = exit;
    }
}

/// The integer that has the bits of a scalar.
fn bits_type(ty: Type) -> Type {
    Type::scalar(Scalar::int(ty.bytes() * 8).unwrap_or(Scalar::I32))
}
