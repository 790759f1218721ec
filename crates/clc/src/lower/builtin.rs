//! Calls of the functions of the built-in table.
//!
//! In come the name, the signature that overload resolution chose, and the arguments; out goes the result. The table's
//! [`Lower`] says what a call becomes: one IR operation, a library function for each component, a library function of
//! the whole vector, or a sequence of instructions (here and in `numeric`).

use super::func::Fn;
use crate::sema::tree::Expr;
use crate::sema::types::elem_signed;
use cloom_builtins::{Elem, Lower, Relational, Sig, Special, Ty, WorkItem, mangle};
use cloom_ir::{BarrierMemory, BinOp, CastOp, Flags, IntCc, Op, Query, Scope, Space, Type, Value};

/// The scalar that a signature's first value parameter has.
fn elem_of(sig: &Sig) -> Elem {
    let of = |ty: &Ty| match ty {
        Ty::Value(e, _) | Ty::Ptr(_, e, _) => Some(*e),
        Ty::Void => None,
    };
    sig.params.iter().find_map(of).unwrap_or(Elem::I32)
}

impl Fn<'_, '_> {
    fn builtin_type(&self, ty: Ty) -> Option<Type> {
        let scalar = crate::sema::types::ir_scalar;
        match ty {
            Ty::Void => None,
            Ty::Value(e, n) => Some(Type::vector(scalar(e), u16::from(n))),
            Ty::Ptr(space, ..) => Some(Type::ptr(space)),
        }
    }

    /// A call of a function of the table.
    pub fn builtin(&mut self, name: &str, sig: &Sig, args: &[Expr], e: &Expr) -> Value {
        let mut values: Vec<Value> = args.iter().map(|a| self.value(a)).collect();
        self.at(e.span);
        let results = self.through_generic(sig, &mut values);
        let result = self.table_function(name, sig, values);
        for (p, room, ty) in results {
            let v = self.b().load(ty, room, ty.scalar.bytes(), Flags::empty());
            self.b().store(p, v, ty.scalar.bytes(), Flags::empty());
        }
        result
    }

    /// Functions of the table only write through their pointers. Where one is generic, they get a temporary instead;
    /// its address, pointer and type are what must be stored afterwards.
    fn through_generic(&mut self, sig: &Sig, values: &mut [Value]) -> Vec<(Value, Value, Type)> {
        let mut results = Vec::new();
        for (v, p) in values.iter_mut().zip(&sig.params) {
            let Ty::Ptr(_, elem, lanes) = *p else { continue };
            if self.ty(*v).space() == Some(Space::Generic)
                && let Some(ty) = self.builtin_type(Ty::Value(elem, lanes))
            {
                let room = self.temp(u64::from(ty.bytes()), ty.bytes().next_power_of_two());
                results.push((std::mem::replace(v, room), room, ty));
            }
        }
        results
    }

    fn table_function(&mut self, name: &str, sig: &Sig, mut values: Vec<Value>) -> Value {
        let ty = self.builtin_type(sig.ret).unwrap_or(Type::I8);
        match sig.lower {
            Lower::Exact => {
                let name = mangle(name, &sig.params);
                let params = sig.params.iter().filter_map(|p| self.builtin_type(*p)).collect();
                let ret = self.builtin_type(sig.ret);
                let f = self.lw.library_func(name, params, ret);
                match self.b().call(f, &values, ret) {
                    Some(v) => v,
                    None => self.zero(ty),
                }
            }
            Lower::Special(Special::WorkGroup) => self.work_group_function(name, &sig.params, &values, ty),
            Lower::Each(library) => self.each(library.unwrap_or(name), sig, &values, ty),
            _ => {
                // Scalar arguments of a vector function are splatted.
                let lanes = u16::from(sig.lanes);
                // `__cl_select` has a scalar condition for all components; its other operands have the full width.
                if lanes > 1 && !matches!(sig.lower, Lower::Special(Special::Relational(Relational::ClSelect))) {
                    for v in &mut values {
                        if self.ty(*v).lanes == 1 && !self.ty(*v).is_ptr() {
                            *v = self.b().splat(*v, lanes);
                        }
                    }
                }
                let elem = elem_of(sig);
                match sig.lower {
                    Lower::Unary(op) => self.push_fast(Op::Unary(op), &values[..1], ty),
                    Lower::Binary(op) => self.bin(op, values[0], values[1]),
                    Lower::BinarySign(s, u) => {
                        let op = if elem_signed(elem) { s } else { u };
                        self.bin(op, values[0], values[1])
                    }
                    Lower::Fma => self.push_fast(Op::Fma, &values, ty),
                    Lower::Mad => self.mad([values[0], values[1], values[2]], ty),
                    Lower::Special(s) => self.composed(s, name, &values, elem, ty),
                    Lower::Each(_) | Lower::Exact => self.zero(ty),
                }
            }
        }
    }

    /// A library function for each component.
    fn each(&mut self, library: &str, sig: &Sig, values: &[Value], ty: Type) -> Value {
        let scalar = |p: &Ty| match *p {
            Ty::Value(e, _) => Ty::Value(e, 1),
            Ty::Ptr(space, e, _) => Ty::Ptr(space, e, 1),
            Ty::Void => Ty::Void,
        };
        let params: Vec<Ty> = sig.params.iter().map(scalar).collect();
        let name = mangle(library, &params);
        let types: Vec<Type> = params.iter().filter_map(|p| self.builtin_type(*p)).collect();
        let ret = self.builtin_type(scalar(&sig.ret));
        let f = self.lw.library_func(name, types, ret);
        let lanes = ty.lanes.max(u16::from(sig.lanes));
        let mut results = Vec::new();
        for lane in 0..lanes {
            let mut args = Vec::new();
            for (&v, p) in values.iter().zip(&sig.params) {
                let t = self.ty(v);
                args.push(match p {
                    // A result through a pointer, as that of `sincos`, is a vector in memory: each call writes its
                    // component.
                    Ty::Ptr(_, elem, _) => self.b().ptr_offset(v, u64::from(lane) * u64::from(elem.bits() / 8)),
                    _ if t.lanes > 1 => self.b().extract_lane(v, lane),
                    _ => v,
                });
            }
            if let Some(r) = self.b().call(f, &args, ret) {
                results.push(r);
            }
        }
        match results.len() {
            0 => self.zero(ty),
            1 => results[0],
            _ => self.b().build(&results),
        }
    }

    /// A function written out in instructions.
    fn composed(&mut self, s: Special, name: &str, v: &[Value], elem: Elem, ty: Type) -> Value {
        match s {
            Special::WorkItem(f) => self.work_item(f, name, v, ty),
            Special::Integer(f) => self.integer(f, v, elem, ty),
            Special::Common(f) => self.common(f, v, elem, ty),
            Special::Relational(f) => self.relational(f, v, elem, ty),
            Special::Subgroup(s) => self.subgroup(s, name, v, elem, ty),
            // Lowered before operands become vectors.
            Special::WorkGroup => self.zero(ty),
        }
    }

    /// Work-item and synchronisation functions.
    fn work_item(&mut self, f: WorkItem, name: &str, v: &[Value], ty: Type) -> Value {
        match f {
            WorkItem::Query(what, beyond) => self.query(what, beyond, v[0]),
            WorkItem::WorkDim => self.b().query(Query::WorkDim, 0),
            WorkItem::GlobalLinearId => self.global_linear_id(),
            WorkItem::LocalLinearId => self.local_linear_id(),
            WorkItem::Clock => {
                let time = self.b().clock();
                if ty == Type::I64 { time } else { self.b().cast(CastOp::Bitcast, time, ty) }
            }
            WorkItem::Barrier => {
                self.barrier(v[0]);
                self.zero(ty)
            }
            WorkItem::Fence => {
                use cloom_ir::Order;
                let order = match name {
                    "read_mem_fence" => Order::Acquire,
                    "write_mem_fence" => Order::Release,
                    _ => Order::AcqRel,
                };
                // 1 is CLK_LOCAL_MEM_FENCE alone: only the group sees that memory. These functions of OpenCL 1.x order
                // memory for the group; devices are known to order it for all, and so does code here.
                let for_group = self.lw.opts.marks;
                let scope =
                    if for_group || self.func.const_bits(v[0]) == Some(1) { Scope::Group } else { Scope::Device };
                self.b().fence(order, scope);
                self.zero(ty)
            }
        }
    }

    /// A barrier. In its flags, 1 is `CLK_LOCAL_MEM_FENCE`, 2 `CLK_GLOBAL_MEM_FENCE` and 4 `CLK_IMAGE_MEM_FENCE`, for
    /// images, which are in global memory.
    fn barrier(&mut self, flags: Value) {
        use BarrierMemory::{Both, Global, Local, Nothing};
        if let Some(bits) = self.func.const_bits(flags) {
            self.b().barrier(match (bits & 1 != 0, bits & 6 != 0) {
                (false, false) => Nothing,
                (true, false) => Local,
                (false, true) => Global,
                (true, true) => Both,
            });
            return;
        }
        if !self.lw.opts.marks {
            self.b().barrier(Both);
            return;
        }
        // The checker wants to know which memory is ordered. The flags are the same in the whole group.
        let [local, global] = [1, 6].map(|mask| {
            let mask = self.int(Type::I32, mask);
            let bits = self.bin(BinOp::And, flags, mask);
            let zero = self.zero(Type::I32);
            self.b().icmp(IntCc::Ne, bits, zero)
        });
        let [has_local, has_none, exit] = [(); 3].map(|()| self.new_block());
        self.b().branch(local, has_local, has_none);
        for (block, memories) in [(has_local, [Both, Local]), (has_none, [Global, Nothing])] {
            let ends = [(); 2].map(|()| self.new_block());
            self.block = block;
            self.b().branch(global, ends[0], ends[1]);
            for (block, memory) in ends.into_iter().zip(memories) {
                self.block = block;
                self.b().barrier(memory);
                self.b().jump(exit, &[]);
            }
        }
        self.block = exit;
    }

    /// A question about the launch, with a dimension that may be any value.
    fn query(&mut self, what: Query, beyond: u64, dim: Value) -> Value {
        let beyond = self.b().iconst(Type::I64, beyond);
        if let Some(d) = self.func.const_bits(dim) {
            return if d < 3 { self.b().query(what, d as u8) } else { beyond };
        }
        // The dimension is a variable, as in a loop over dimensions: all three answers, and a choice.
        let mut r = beyond;
        for d in (0..3u8).rev() {
            let answer = self.b().query(what, d);
            let number = self.int(Type::I32, i64::from(d));
            let this = self.b().icmp(IntCc::Eq, dim, number);
            r = self.b().select(this, answer, r);
        }
        r
    }

    /// The number of this work-item among all of the launch.
    pub fn global_linear_id(&mut self) -> Value {
        let mut id = None;
        for d in (0..3u8).rev() {
            let position = self.b().query(Query::GlobalId, d);
            // The linear id counts from the begin of the range, the ids of dimensions from their offsets.
            let offset = self.b().query(Query::GlobalOffset, d);
            let position = self.bin(BinOp::Sub, position, offset);
            id = Some(match id {
                None => position,
                Some(id) => {
                    let size = self.b().query(Query::GlobalSize, d);
                    let row = self.bin(BinOp::Mul, id, size);
                    self.bin(BinOp::Add, row, position)
                }
            });
        }
        match id {
            Some(id) => id,
            None => self.zero(Type::I64),
        }
    }

    /// The number of this work-item in its group.
    pub fn local_linear_id(&mut self) -> Value {
        let (x, y, z) =
            (self.b().query(Query::LocalId, 0), self.b().query(Query::LocalId, 1), self.b().query(Query::LocalId, 2));
        let (w, h) = (self.b().query(Query::LocalSize, 0), self.b().query(Query::LocalSize, 1));
        let rows = self.bin(BinOp::Mul, z, h);
        let rows = self.bin(BinOp::Add, rows, y);
        let before = self.bin(BinOp::Mul, rows, w);
        self.bin(BinOp::Add, before, x)
    }
}
