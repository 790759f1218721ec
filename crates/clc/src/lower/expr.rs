//! Expressions: their values, their use as conditions (branches without a value for `&&` and `||`), and their effects
//! alone.

use super::func::Fn;
use crate::sema::tree::{Expr, ExprKind, FuncId, Lanes};
use crate::sema::types::Ty;
use cloom_builtins::Elem;
use cloom_ir::{BinOp, Block, CastOp, Flags, IntCc, Op, Space, Type, UnOp, Value};

impl Fn<'_, '_> {
    /// Evaluates for the effects only.
    pub fn effect(&mut self, e: &Expr) {
        self.at(e.span);
        match &e.kind {
            ExprKind::Error | ExprKind::Const(_) | ExprKind::FuncName(_) | ExprKind::Block(..) => {}
            ExprKind::Comma(..) => {
                let last = self.effects(e);
                self.effect(last);
            }
            ExprKind::Statements(list, last) => {
                self.stmts(list);
                self.effect(last);
            }
            // `c ? f() : g()` of no value: `conditional` would need a block parameter for the result.
            ExprKind::Cond(args) if e.ty.ty == Ty::VOID => {
                let [c, a, b] = &**args;
                let (yes, no, end) = (self.new_block(), self.new_block(), self.new_block());
                self.branch(c, yes, no);
                for (block, value) in [(yes, a), (no, b)] {
                    self.block = block;
                    self.effect(value);
                    self.b().jump(end, &[]);
                }
                self.block = end;
            }
            // A call that returns a record needs room for it, which `address` provides below.
            ExprKind::Call(id, args) if !self.lw.is_record(e.ty.ty) => {
                self.call(*id, args, None);
            }
            // An object as a statement is not read unless it is `volatile`, but its address is computed: it may contain
            // a call.
            _ if e.lvalue && !e.ty.is_volatile => {
                self.lvalue(e);
            }
            _ if self.is_aggregate(e.ty.ty) => {
                self.address(e);
            }
            _ if e.lvalue => {
                let lvalue = self.lvalue(e);
                let ty = self.ir(e.ty.ty);
                self.load(&lvalue, ty);
            }
            _ => {
                self.value(e);
            }
        }
    }

    /// The value of an expression that is not a record. One of type `void` gives any value.
    pub fn value(&mut self, e: &Expr) -> Value {
        self.at(e.span);
        let ty = self.ir(e.ty.ty);
        match &e.kind {
            ExprKind::Error | ExprKind::FuncName(_) | ExprKind::Block(..) => self.zero(ty),
            ExprKind::Const(lanes) => self.lanes(lanes, ty),
            ExprKind::Local(_)
            | ExprKind::Global(_)
            | ExprKind::Deref(_)
            | ExprKind::Field(..)
            | ExprKind::Compound(..) => {
                let lvalue = self.lvalue(e);
                self.load(&lvalue, ty)
            }
            ExprKind::Load(inner) => {
                let lvalue = self.lvalue(inner);
                self.load(&lvalue, ty)
            }
            // Of a value. A component of an object in memory is a `Load`, which accesses that component only.
            ExprKind::Lane(base, index) => {
                let (v, i) = (self.value(base), self.value(index));
                self.b().extract(v, i)
            }
            ExprKind::Swizzle(base, lanes) => {
                let v = self.value(base);
                self.at(e.span);
                self.pick(v, lanes)
            }
            ExprKind::Addr(object) => self.address(object).0,
            ExprKind::Unary(op, a) => {
                let a = self.value(a);
                // Back to the operator: the operand may have moved the position.
                self.at(e.span);
                self.push_fast(Op::Unary(*op), &[a], ty)
            }
            ExprKind::Binary(..) | ExprKind::Fma(_) | ExprKind::Compare(..) => self.chain(e),
            ExprKind::Logic { .. } | ExprKind::Not(_) => {
                // As a truth of one bit first, so that a branch on it needs no comparison with zero.
                let t = self.test(e);
                self.at(e.span);
                self.truth(t, ty)
            }
            ExprKind::PtrAdd(..) | ExprKind::Convert(_) => self.chain(e),
            ExprKind::PtrDiff(a, b, size) => self.pointer_difference(a, b, *size, ty),
            ExprKind::ConvertExact(a, sat, rounding) => {
                let v = self.value(a);
                self.at(e.span);
                match (self.lw.types.numeric(a.ty.ty), self.lw.types.numeric(e.ty.ty)) {
                    (Some((from, _)), Some((to, _))) => self.convert_exact(v, from, to, *sat, *rounding),
                    _ => v,
                }
            }
            ExprKind::PtrCast(a) => self.pointer_cast(a, e.ty.ty),
            ExprKind::Bits(a) => {
                let v = self.value(a);
                self.at(e.span);
                self.bits(v, ty)
            }
            ExprKind::Splat(a) => {
                let v = self.value(a);
                self.at(e.span);
                match self.func.const_bits(v) {
                    // A constant vector is one constant, which later passes and `constant_lanes` recognise.
                    Some(bits) => self.b().iconst(ty, bits),
                    None => self.b().splat(v, ty.lanes),
                }
            }
            ExprKind::Vector(parts) => self.vector(parts, ty),
            ExprKind::Cond(args) => self.conditional(args, ty),
            ExprKind::Select(args) => {
                let [c, a, b] = &**args;
                let (c, a, b) = (self.value(c), self.value(a), self.value(b));
                self.at(e.span);
                let cty = self.ty(c);
                let zero = self.zero(cty);
                let negative = self.b().icmp(IntCc::Slt, c, zero);
                self.b().select(negative, a, b)
            }
            ExprKind::Comma(..) => {
                let b = self.effects(e);
                if e.ty.ty == Ty::VOID {
                    self.effect(b);
                    return self.zero(ty);
                }
                self.value(b)
            }
            ExprKind::Statements(list, last) => {
                self.stmts(list);
                if e.ty.ty == Ty::VOID {
                    self.effect(last);
                    return self.zero(ty);
                }
                self.value(last)
            }
            ExprKind::Assign(target, value) => {
                // The value is computed first, as other compilers do: it may change which object the target is.
                let v = self.value(value);
                let p = self.lvalue(target);
                self.at(e.span);
                self.store(&p, v);
                v
            }
            ExprKind::Update { target, value, post } => self.update(target, value, *post, e),
            ExprKind::Old => self.old(ty),
            ExprKind::Call(id, args) => match self.call(*id, args, None) {
                Some(v) => v,
                None => self.zero(ty),
            },
            ExprKind::Builtin(name, sig, args) => self.builtin(name, sig, args, e),
            ExprKind::Special(which, args) => self.special(*which, args, e),
        }
    }

    /// `c ? a : b`: only one of the two is evaluated.
    fn conditional(&mut self, args: &[Expr; 3], ty: Type) -> Value {
        let [c, a, b] = args;
        let (yes, no, end) = (self.new_block(), self.new_block(), self.new_block());
        // The value of the side that was evaluated comes as the parameter of the block behind both.
        let result = self.func.add_block_param(end, ty);
        self.branch(c, yes, no);
        for (block, value) in [(yes, a), (no, b)] {
            self.block = block;
            let v = self.value(value);
            self.b().jump(end, &[v]);
        }
        self.block = end;
        result
    }

    /// `target op= …`, `target++`: the address is computed once.
    fn update(&mut self, target: &Expr, value: &Expr, post: bool, e: &Expr) -> Value {
        let ty = self.ir(e.ty.ty);
        let p = self.lvalue(target);
        let old = if post { Some(self.load(&p, ty)) } else { None };
        // `x++` needs the old value itself. `x op= e` loads it where `Old` stands, after `e` has been evaluated (see
        // `chain`).
        self.olds.push((p.clone(), old));
        let v = self.value(value);
        self.olds.pop();
        self.at(e.span);
        self.store(&p, v);
        old.unwrap_or(v)
    }

    fn pointer_difference(&mut self, a: &Expr, b: &Expr, size: u64, ty: Type) -> Value {
        let (a, b) = (self.value(a), self.value(b));
        let (a, b) = (self.b().cast(CastOp::PtrToInt, a, ty), self.b().cast(CastOp::PtrToInt, b, ty));
        let bytes = self.b().binary(BinOp::Sub, a, b);
        // Of `void` (1), and of empty structures (0), which the total division of the IR would divide by one.
        if size <= 1 {
            return bytes;
        }
        let size = self.int(ty, size as i64);
        self.b().binary(BinOp::Sdiv, bytes, size)
    }

    fn old(&mut self, ty: Type) -> Value {
        match self.olds.last().cloned() {
            Some((_, Some(v))) => v,
            Some((lvalue, None)) => self.load(&lvalue, ty),
            None => self.zero(ty),
        }
    }

    /// A constant of lanes.
    fn lanes(&mut self, lanes: &Lanes, ty: Type) -> Value {
        let first = lanes.first().copied().unwrap_or(0);
        // Equal lanes are one constant of the vector type; others are put together.
        if lanes.iter().all(|&l| l == first) {
            return self.b().iconst(ty, first);
        }
        let parts: Vec<Value> = lanes.iter().map(|&l| self.b().iconst(ty.lane(), l)).collect();
        self.b().build(&parts)
    }

    fn vector(&mut self, parts: &[Expr], ty: Type) -> Value {
        let mut lanes = Vec::new();
        for p in parts {
            let v = self.value(p);
            match self.ty(v).lanes {
                1 => lanes.push(v),
                n => {
                    for i in 0..n {
                        lanes.push(self.b().extract_lane(v, i));
                    }
                }
            }
        }
        lanes.truncate(usize::from(ty.lanes));
        self.b().build(&lanes)
    }

    /// The bits of a value as another type; three and four lanes count as the same.
    pub fn bits(&mut self, v: Value, ty: Type) -> Value {
        let mut v = v;
        let mut from = self.ty(v);
        if from.lanes == 3 {
            // The fourth lane has no defined value: the third serves.
            v = self.b().shuffle(v, v, &[0, 1, 2, 2]);
            from = self.ty(v);
        }
        let wide = if ty.lanes == 3 { Type::vector(ty.scalar, 4) } else { ty };
        if from != wide {
            v = self.b().cast(CastOp::Bitcast, v, wide);
        }
        if ty.lanes == 3 { self.b().shuffle(v, v, &[0, 1, 2]) } else { v }
    }

    /// An index in bytes.
    pub fn scaled(&mut self, index: Value, size: u64) -> Value {
        if size == 1 {
            return index;
        }
        let ty = self.ty(index);
        // The offset of a constant index, as in `a[3]`, is a constant at once.
        if let Some(bits) = self.func.const_bits(index) {
            return self.b().iconst(ty, bits.wrapping_mul(size));
        }
        let size = self.int(ty, size as i64);
        self.b().binary_flags(BinOp::Mul, index, size, Flags::NSW)
    }

    fn pointer_cast(&mut self, a: &Expr, to: Ty) -> Value {
        let v = self.value(a);
        let (from, to_ir) = (self.ty(v), self.ir(to));
        match (from.space(), to_ir.space()) {
            (Some(_), Some(space)) => self.space_cast(v, space),
            (Some(_), None) => {
                // Addresses have 64 bits; a smaller integer gets the low ones.
                let n = self.b().cast(CastOp::PtrToInt, v, Type::I64);
                if to_ir == Type::I64 { n } else { self.b().cast(CastOp::Trunc, n, to_ir) }
            }
            (None, Some(_)) => {
                let wide = match self.lw.types.numeric(a.ty.ty) {
                    Some((elem, _)) => self.convert_elem(v, elem, Elem::I64),
                    None => v,
                };
                self.b().cast(CastOp::IntToPtr, wide, to_ir)
            }
            (None, None) => v,
        }
    }

    /// The truth of an expression as `i1` (lanes, for a comparison of vectors).
    pub fn test(&mut self, e: &Expr) -> Value {
        self.at(e.span);
        match &e.kind {
            ExprKind::Compare(cc, a, b) => {
                let x = self.value(a);
                self.compared(*cc, x, b, e)
            }
            ExprKind::Not(a) => {
                let t = self.test(a);
                self.at(e.span);
                self.b().unary(UnOp::Not, t)
            }
            ExprKind::Logic { .. } => self.logic_chain(e),
            // `bool` from a truth.
            ExprKind::Convert(a) if e.ty.ty == Ty::BOOL && !self.is_vector(a.ty.ty) => self.test(a),
            // A truth widened to another integer keeps its truth.
            ExprKind::Convert(a)
                if matches!(a.kind, ExprKind::Compare(..) | ExprKind::Logic { .. } | ExprKind::Not(_))
                    && self.lw.types.is_integer(e.ty.ty) =>
            {
                self.test(a)
            }
            _ => {
                let v = self.value(e);
                self.at(e.span);
                self.non_zero(v)
            }
        }
    }

    /// Goes to one of two blocks.
    pub fn branch(&mut self, cond: &Expr, yes: Block, no: Block) {
        self.at(cond.span);
        match &cond.kind {
            ExprKind::Logic { .. } => self.branch_chain(cond, yes, no),
            ExprKind::Not(a) => self.branch(a, no, yes),
            ExprKind::Const(lanes) if self.lw.types.is_integer(cond.ty.ty) => {
                // The block that is not reached is dropped at the end of the function.
                let to = if lanes.iter().any(|&l| l != 0) { yes } else { no };
                self.b().jump(to, &[]);
            }
            _ => {
                let t = self.test(cond);
                self.b().branch(t, yes, no);
            }
        }
    }

    /// Calls a function of the program. `room` is where a record is returned.
    pub fn call(&mut self, id: FuncId, args: &[Expr], room: Option<Value>) -> Option<Value> {
        let span = self.span;
        let f = &self.lw.unit.funcs[id.0 as usize];
        // The parameters in the order of `Lowering::func`: the room for a record that is returned comes first.
        let (ret, is_kernel) = (f.ret.ty, f.kernel.is_some());
        let mut values = Vec::new();
        if self.lw.is_record(ret) {
            let (size, align) = self.lw.types.layout(ret).unwrap_or((1, 1));
            let room = match room {
                Some(room) => room,
                None => self.temp(size, align as u32),
            };
            values.push(room);
        }
        for a in args {
            if !self.lw.is_record(a.ty.ty) {
                values.push(self.value(a));
                continue;
            }
            // The callee may change its parameter: it gets a copy.
            let (from, align) = self.address(a);
            let (size, natural) = self.lw.types.layout(a.ty.ty).unwrap_or((1, 1));
            let copy = self.temp(size, natural as u32);
            if size > 0 {
                self.b().mem_copy(copy, from, size, align.min(natural as u32));
            }
            values.push(if is_kernel { self.space_cast(copy, Space::Constant) } else { copy });
        }
        // Arguments may contain calls, whose positions were set meanwhile: the call has its own again.
        let r = self.lw.func(id);
        self.span = span;
        let ty = self.lw.module.funcs[r].ret;
        self.b().call(r, &values, ty)
    }
}
