//! Calls of the functions of the table: one IR operation, a library function for each component, or instructions.

use super::func::Fn;
use crate::sema::tree::Expr;
use crate::sema::types::elem_signed;
use cloom_builtins::{Elem, Lower, Sig, Special, Ty, mangle};
use cloom_ir::{BinOp, CastOp, FloatCc, IntCc, Op, Query, Scalar, Scope, Type, UnOp, Value};

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
                // Scalars beside vectors count for every component.
                let lanes = u16::from(sig.lanes);
                if lanes > 1 && !matches!(sig.lower, Lower::Special(Special::ClSelect)) {
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

    fn float_test(&mut self, cc: FloatCc, a: Value, b: Value, ty: Type) -> Value {
        let t = self.b().fcmp(cc, a, b);
        self.truth(t, ty)
    }

    fn infinity(&mut self, ty: Type) -> Value {
        self.float(ty, f64::INFINITY)
    }

    /// A function written out in instructions.
    fn composed(&mut self, s: Special, name: &str, v: &[Value], elem: Elem, ty: Type) -> Value {
        let signed = elem_signed(elem);
        let float = elem.is_float();
        let pick = |s: BinOp, u: BinOp| if signed { s } else { u };
        let at = v.first().map_or(Type::I32, |&a| self.ty(a));
        match s {
            Special::WorkItem(what, beyond) => self.query(what, beyond, v[0]),
            Special::Subgroup(s) => self.subgroup(s, name, v, elem, ty),
            // Lowered before operands become vectors.
            Special::WorkGroup => self.zero(ty),
            Special::WorkDim => self.b().query(Query::WorkDim, 0),
            Special::GlobalLinearId => self.global_linear_id(),
            Special::LocalLinearId => self.local_linear_id(),
            Special::Barrier => {
                self.b().barrier();
                self.zero(ty)
            }
            Special::Fence => {
                use cloom_ir::Order;
                let order = match name {
                    "read_mem_fence" => Order::Acquire,
                    "write_mem_fence" => Order::Release,
                    _ => Order::AcqRel,
                };
                // 1 is CLK_LOCAL_MEM_FENCE alone: only the group sees that memory.
                let scope = if self.func.const_bits(v[0]) == Some(1) { Scope::Group } else { Scope::Device };
                self.b().fence(order, scope);
                self.zero(ty)
            }
            Special::Abs if signed => {
                let zero = self.zero(at);
                let minus = self.bin(BinOp::Sub, zero, v[0]);
                self.bin(BinOp::Smax, v[0], minus)
            }
            Special::Abs => v[0],
            Special::AbsDiff => {
                let high = self.bin(pick(BinOp::Smax, BinOp::Umax), v[0], v[1]);
                let low = self.bin(pick(BinOp::Smin, BinOp::Umin), v[0], v[1]);
                self.bin(BinOp::Sub, high, low)
            }
            Special::Hadd | Special::Rhadd => {
                let differing = self.bin(BinOp::Xor, v[0], v[1]);
                let one = self.int(at, 1);
                let half = self.bin(pick(BinOp::Ashr, BinOp::Lshr), differing, one);
                if s == Special::Hadd {
                    let both = self.bin(BinOp::And, v[0], v[1]);
                    return self.bin(BinOp::Add, both, half);
                }
                let either = self.bin(BinOp::Or, v[0], v[1]);
                self.bin(BinOp::Sub, either, half)
            }
            Special::MadHi => {
                let high = self.bin(pick(BinOp::SmulHi, BinOp::UmulHi), v[0], v[1]);
                self.bin(BinOp::Add, high, v[2])
            }
            Special::MadSat => self.mad_sat(v, elem),
            Special::Mul24 => self.bin(BinOp::Mul, v[0], v[1]),
            Special::Mad24 => {
                let product = self.bin(BinOp::Mul, v[0], v[1]);
                self.bin(BinOp::Add, product, v[2])
            }
            Special::Upsample => {
                let high = self.b().cast(CastOp::Zext, v[0], ty);
                let low = self.b().cast(CastOp::Zext, v[1], ty);
                let bits = self.int(ty, i64::from(elem.bits()));
                let high = self.bin(BinOp::Shl, high, bits);
                self.bin(BinOp::Or, high, low)
            }
            Special::Clamp if float => {
                let low = self.bin(BinOp::Fmax, v[0], v[1]);
                self.bin(BinOp::Fmin, low, v[2])
            }
            Special::Clamp => {
                let low = self.bin(pick(BinOp::Smax, BinOp::Umax), v[0], v[1]);
                self.bin(pick(BinOp::Smin, BinOp::Umin), low, v[2])
            }
            Special::Min if float => {
                let less = self.b().fcmp(FloatCc::Olt, v[1], v[0]);
                self.b().select(less, v[1], v[0])
            }
            Special::Max if float => {
                let less = self.b().fcmp(FloatCc::Olt, v[0], v[1]);
                self.b().select(less, v[1], v[0])
            }
            Special::Min => self.bin(pick(BinOp::Smin, BinOp::Umin), v[0], v[1]),
            Special::Max => self.bin(pick(BinOp::Smax, BinOp::Umax), v[0], v[1]),
            Special::Mix => {
                let way = self.bin(BinOp::Fsub, v[1], v[0]);
                self.mad([way, v[2], v[0]], ty)
            }
            Special::Step => {
                let (zero, one) = (self.float(ty, 0.0), self.float(ty, 1.0));
                let below = self.b().fcmp(FloatCc::Olt, v[1], v[0]);
                self.b().select(below, zero, one)
            }
            Special::Smoothstep => {
                let (zero, one) = (self.float(ty, 0.0), self.float(ty, 1.0));
                let way = self.bin(BinOp::Fsub, v[2], v[0]);
                let whole = self.bin(BinOp::Fsub, v[1], v[0]);
                let t = self.bin(BinOp::Fdiv, way, whole);
                let t = self.bin(BinOp::Fmax, t, zero);
                let t = self.bin(BinOp::Fmin, t, one);
                let square = self.bin(BinOp::Fmul, t, t);
                let (two, three) = (self.float(ty, -2.0), self.float(ty, 3.0));
                let factor = self.mad([t, two, three], ty);
                self.bin(BinOp::Fmul, square, factor)
            }
            Special::Degrees => {
                let k = self.float(ty, 180.0 / std::f64::consts::PI);
                self.bin(BinOp::Fmul, v[0], k)
            }
            Special::Radians => {
                let k = self.float(ty, std::f64::consts::PI / 180.0);
                self.bin(BinOp::Fmul, v[0], k)
            }
            Special::Sign => {
                let zero = self.float(ty, 0.0);
                let one = self.float(ty, 1.0);
                let signed_one = self.bin(BinOp::Copysign, one, v[0]);
                let not_zero = self.b().fcmp(FloatCc::One, v[0], zero);
                let number = self.b().fcmp(FloatCc::Ord, v[0], v[0]);
                let r = self.b().select(not_zero, signed_one, v[0]);
                self.b().select(number, r, zero)
            }
            Special::IsEqual => self.float_test(FloatCc::Oeq, v[0], v[1], ty),
            Special::IsNotEqual => self.float_test(FloatCc::Une, v[0], v[1], ty),
            Special::IsGreater => self.float_test(FloatCc::Ogt, v[0], v[1], ty),
            Special::IsGreaterEqual => self.float_test(FloatCc::Oge, v[0], v[1], ty),
            Special::IsLess => self.float_test(FloatCc::Olt, v[0], v[1], ty),
            Special::IsLessEqual => self.float_test(FloatCc::Ole, v[0], v[1], ty),
            Special::IsLessGreater => self.float_test(FloatCc::One, v[0], v[1], ty),
            Special::IsOrdered => self.float_test(FloatCc::Ord, v[0], v[1], ty),
            Special::IsUnordered => self.float_test(FloatCc::Uno, v[0], v[1], ty),
            Special::IsNan => self.float_test(FloatCc::Uno, v[0], v[0], ty),
            Special::IsFinite => {
                let (a, inf) = (self.b().unary(UnOp::Fabs, v[0]), self.infinity(at));
                self.float_test(FloatCc::Olt, a, inf, ty)
            }
            Special::IsInf => {
                let (a, inf) = (self.b().unary(UnOp::Fabs, v[0]), self.infinity(at));
                self.float_test(FloatCc::Oeq, a, inf, ty)
            }
            Special::IsNormal => {
                let least = match elem {
                    Elem::F16 => f64::from(2.0f32.powi(-14)),
                    Elem::F32 => f64::from(f32::MIN_POSITIVE),
                    _ => f64::MIN_POSITIVE,
                };
                let (a, inf) = (self.b().unary(UnOp::Fabs, v[0]), self.infinity(at));
                let least = self.float(at, least);
                let finite = self.b().fcmp(FloatCc::Olt, a, inf);
                let normal = self.b().fcmp(FloatCc::Oge, a, least);
                let both = self.bin(BinOp::And, finite, normal);
                self.truth(both, ty)
            }
            Special::Signbit => {
                let int = self.same_bits(v[0]);
                let t = self.negative(int);
                self.truth(t, ty)
            }
            Special::Any | Special::All => {
                let op = if s == Special::Any { BinOp::Or } else { BinOp::And };
                let mut all = v[0];
                // Halves of the vector, then quarters: few operations where a vector stays one.
                let mut lanes = at.lanes;
                while lanes > 2 && lanes.is_multiple_of(2) {
                    lanes /= 2;
                    let (low, high): (Vec<u16>, Vec<u16>) = ((0..lanes).collect(), (lanes..2 * lanes).collect());
                    let (low, high) = (self.b().shuffle(all, all, &low), self.b().shuffle(all, all, &high));
                    all = self.bin(op, low, high);
                }
                if at.is_vector() {
                    let rest = all;
                    all = self.b().extract_lane(rest, 0);
                    for i in 1..lanes {
                        let lane = self.b().extract_lane(rest, i);
                        all = self.bin(op, all, lane);
                    }
                }
                let t = self.negative(all);
                self.truth(t, ty)
            }
            Special::Bitselect => {
                let (a, b, c) = (self.same_bits(v[0]), self.same_bits(v[1]), self.same_bits(v[2]));
                let not = self.b().unary(UnOp::Not, c);
                let a = self.bin(BinOp::And, a, not);
                let b = self.bin(BinOp::And, b, c);
                let r = self.bin(BinOp::Or, a, b);
                if float { self.b().cast(CastOp::Bitcast, r, ty) } else { r }
            }
            Special::Select => {
                let c = if ty.is_vector() { self.negative(v[2]) } else { self.non_zero(v[2]) };
                self.b().select(c, v[1], v[0])
            }
            Special::ClSelect => {
                let c = self.non_zero(v[0]);
                self.b().select(c, v[1], v[2])
            }
        }
    }

    /// The integers of the same bits.
    fn same_bits(&mut self, v: Value) -> Value {
        let ty = self.ty(v);
        if ty.is_int() {
            return v;
        }
        let int = ty.with_scalar(Scalar::int(ty.scalar.bits()).unwrap_or(Scalar::I32));
        self.b().cast(CastOp::Bitcast, v, int)
    }

    /// Whether the highest bit is set.
    fn negative(&mut self, v: Value) -> Value {
        let ty = self.ty(v);
        let zero = self.zero(ty);
        self.b().icmp(IntCc::Slt, v, zero)
    }

    /// `a * b + c`, rounded once or twice, whichever is quick.
    fn mad(&mut self, [a, b, c]: [Value; 3], ty: Type) -> Value {
        if self.lw.opts.contract {
            return self.push_fast(Op::Fma, &[a, b, c], ty);
        }
        let product = self.bin(BinOp::Fmul, a, b);
        self.bin(BinOp::Fadd, product, c)
    }

    /// `a * b + c` exactly, then to the nearest value of the type.
    fn mad_sat(&mut self, v: &[Value], elem: Elem) -> Value {
        let ty = self.ty(v[0]);
        let signed = elem_signed(elem);
        let bits = i64::from(elem.bits());
        let low = self.bin(BinOp::Mul, v[0], v[1]);
        let high = self.bin(if signed { BinOp::SmulHi } else { BinOp::UmulHi }, v[0], v[1]);
        // The sum in twice the width: low half, carry, high half.
        let sum = self.bin(BinOp::Add, low, v[2]);
        let carried = self.b().icmp(IntCc::Ult, sum, low);
        let carry = self.b().cast(CastOp::Zext, carried, ty);
        let mut top = self.bin(BinOp::Add, high, carry);
        if !signed {
            let zero = self.zero(ty);
            let fits = self.b().icmp(IntCc::Eq, top, zero);
            let most = self.int(ty, -1);
            return self.b().select(fits, sum, most);
        }
        let last = self.int(ty, bits - 1);
        let extension = self.bin(BinOp::Ashr, v[2], last);
        top = self.bin(BinOp::Add, top, extension);
        let sign = self.bin(BinOp::Ashr, sum, last);
        let fits = self.b().icmp(IntCc::Eq, top, sign);
        let (min, max) = (1u64 << (bits - 1), (1u64 << (bits - 1)) - 1);
        let (min, max) = (self.b().iconst(ty, min), self.b().iconst(ty, max));
        let below = self.negative(top);
        let limit = self.b().select(below, min, max);
        self.b().select(fits, sum, limit)
    }

    /// A question about the launch, with a dimension that may be any value.
    fn query(&mut self, what: Query, beyond: u64, dim: Value) -> Value {
        let beyond = self.b().iconst(Type::I64, beyond);
        if let Some(d) = self.func.const_bits(dim) {
            return if d < 3 { self.b().query(what, d as u8) } else { beyond };
        }
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
            let place = self.b().query(Query::GlobalId, d);
            let offset = self.b().query(Query::GlobalOffset, d);
            let place = self.bin(BinOp::Sub, place, offset);
            id = Some(match id {
                None => place,
                Some(id) => {
                    let size = self.b().query(Query::GlobalSize, d);
                    let row = self.bin(BinOp::Mul, id, size);
                    self.bin(BinOp::Add, row, place)
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
