//! Single operations, with the guards that make them total.

use crate::Error;
use crate::emit::FunctionCx;
use cloom_ir::{BinOp, CastOp, Entity, Flags, FloatCc, InstData, IntCc, Op, Scalar, Type, UnOp, Value};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMIntPredicate, LLVMOpcode, LLVMRealPredicate};

const NO_NAME: *const std::ffi::c_char = c"".as_ptr();

impl FunctionCx<'_, '_> {
    /// Translates an instruction at the builder's place. Gives its value (of one without result, anything).
    pub fn inst(&mut self, data: &InstData) -> Result<LLVMValueRef, Error> {
        let ty = data.result.map_or(Type::I1, |r| self.func.ty(r));
        let arg = |i: usize| self.value(data.args[i]);
        let b = self.builder.0;
        // SAFETY: (and in all of this file) operands are translated values of the types that the verifier checked.
        let value = unsafe {
            match &data.op {
                Op::Const(bits) => self.cx.constant(ty, *bits),
                Op::Unary(op) => self.unary(*op, ty, arg(0)),
                Op::Binary(op) => self.binary(*op, ty, data),
                Op::Fma => self.fma(ty, [arg(0), arg(1), arg(2)]),
                Op::Icmp(cc) => LLVMBuildICmp(b, int_predicate(*cc), arg(0), arg(1), NO_NAME),
                Op::Fcmp(cc) => LLVMBuildFCmp(b, float_predicate(*cc), arg(0), arg(1), NO_NAME),
                Op::Cast(op) => self.cast(*op, self.func.ty(data.args[0]), ty, arg(0)),
                Op::Select => LLVMBuildSelect(b, arg(0), arg(1), arg(2), NO_NAME),
                Op::Extract => {
                    let lane = self.lane(data.args[1], self.func.ty(data.args[0]).lanes);
                    LLVMBuildExtractElement(b, arg(0), lane, NO_NAME)
                }
                Op::Insert => {
                    let lane = self.lane(data.args[1], ty.lanes);
                    LLVMBuildInsertElement(b, arg(0), arg(2), lane, NO_NAME)
                }
                Op::Shuffle(mask) => self.shuffle(self.func.ty(data.args[0]), arg(0), arg(1), mask),
                Op::Splat => self.build(ty, &vec![arg(0); usize::from(ty.lanes)]),
                Op::Build => self.build(ty, &data.args.iter().map(|&a| self.value(a)).collect::<Vec<_>>()),
                Op::Alloca { size, align } => self.alloca(*size, *align),
                Op::PtrAdd => self.offset(arg(0), arg(1)),
                Op::Load { align } => self.load(data, ty, *align),
                Op::Store { align } => self.store(data, *align),
                Op::MemCopy { size, align } => self.mem_copy(data, *size, *align),
                Op::MemSet { size, byte, align } => self.mem_set(data, *size, *byte, *align),
                Op::GlobalAddr(g) => self.cx.global(*g),
                Op::AtomicRmw { op, order, .. } => self.atomic_rmw(data, *op, *order),
                Op::AtomicCmpXchg { order, .. } => self.cmpxchg(data, *order),
                Op::AtomicLoad { order, .. } => self.atomic_load(data, ty, *order),
                Op::AtomicStore { order, .. } => self.atomic_store(data, *order),
                Op::Fence { order, .. } => self.fence(*order),
                Op::Query { .. } => return Err(Error::NotLowered(self.func.name.clone(), "a query")),
                Op::Barrier => return Err(Error::NotLowered(self.func.name.clone(), "a barrier")),
                Op::Call(f) => {
                    let (ty, callee) = self.cx.functions[f];
                    let mut args: Vec<_> = data.args.iter().map(|&a| self.value(a)).collect();
                    LLVMBuildCall2(b, ty, callee, args.as_mut_ptr(), args.len() as u32, NO_NAME)
                }
                Op::Printf(s) => self.printf(data, s.index() as u32)?,
            }
        };
        self.permit(value, data.flags);
        Ok(value)
    }

    /// Hands permissions on to LLVM. Promises (`nsw`, `nuw`) are not: breaking one would be undefined behaviour there.
    fn permit(&self, value: LLVMValueRef, flags: Flags) {
        let all = [
            (Flags::REASSOC, llvm_sys::LLVMFastMathAllowReassoc),
            (Flags::NNAN, llvm_sys::LLVMFastMathNoNaNs),
            (Flags::NINF, llvm_sys::LLVMFastMathNoInfs),
            (Flags::NSZ, llvm_sys::LLVMFastMathNoSignedZeros),
            (Flags::ARCP, llvm_sys::LLVMFastMathAllowReciprocal),
            (Flags::AFN, llvm_sys::LLVMFastMathApproxFunc),
        ];
        let bits = all.iter().filter(|(f, _)| flags.contains(*f)).fold(0, |bits, (_, bit)| bits | bit);
        // SAFETY: only instructions that take the flags get them.
        unsafe {
            if bits != 0
                && !value.is_null()
                && !LLVMIsAInstruction(value).is_null()
                && LLVMCanValueUseFastMathFlags(value) != 0
            {
                LLVMSetFastMathFlags(value, bits);
            }
        }
    }

    /// Calls an intrinsic that is overloaded over `types`.
    fn intrinsic(&self, name: &str, types: &[LLVMTypeRef], args: &[LLVMValueRef]) -> LLVMValueRef {
        let (mut types, mut args) = (types.to_vec(), args.to_vec());
        // SAFETY: the names used here are intrinsics of LLVM 19 with as many overloaded types.
        unsafe {
            let id = LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len());
            let callee = LLVMGetIntrinsicDeclaration(self.cx.llvm, id, types.as_mut_ptr(), types.len());
            let ty = LLVMIntrinsicGetType(self.cx.context, id, types.as_mut_ptr(), types.len());
            LLVMBuildCall2(self.builder.0, ty, callee, args.as_mut_ptr(), args.len() as u32, NO_NAME)
        }
    }

    fn unary(&self, op: UnOp, ty: Type, a: LLVMValueRef) -> LLVMValueRef {
        let llvm = self.cx.ty(ty);
        let no = self.cx.constant(Type::I1, 0);
        match op {
            // SAFETY: see `inst`.
            UnOp::Not => unsafe { LLVMBuildNot(self.builder.0, a, NO_NAME) },
            // SAFETY: see `inst`.
            UnOp::Fneg => unsafe { LLVMBuildFNeg(self.builder.0, a, NO_NAME) },
            UnOp::Clz => self.intrinsic("llvm.ctlz", &[llvm], &[a, no]),
            UnOp::Ctz => self.intrinsic("llvm.cttz", &[llvm], &[a, no]),
            UnOp::Popcount => self.intrinsic("llvm.ctpop", &[llvm], &[a]),
            UnOp::BitReverse => self.intrinsic("llvm.bitreverse", &[llvm], &[a]),
            UnOp::Fabs => self.intrinsic("llvm.fabs", &[llvm], &[a]),
            UnOp::Sqrt => self.intrinsic("llvm.sqrt", &[llvm], &[a]),
            UnOp::Floor => self.intrinsic("llvm.floor", &[llvm], &[a]),
            UnOp::Ceil => self.intrinsic("llvm.ceil", &[llvm], &[a]),
            UnOp::Trunc => self.intrinsic("llvm.trunc", &[llvm], &[a]),
            UnOp::Rint => self.intrinsic("llvm.roundeven", &[llvm], &[a]),
        }
    }

    fn binary(&self, op: BinOp, ty: Type, data: &InstData) -> LLVMValueRef {
        let (va, vb) = (data.args[0], data.args[1]);
        let (x, y) = (self.value(va), self.value(vb));
        let llvm = self.cx.ty(ty);
        let b = self.builder.0;
        let named = |name: &str| self.intrinsic(name, &[llvm], &[x, y]);
        // SAFETY: see `inst`.
        unsafe {
            match op {
                BinOp::Add => LLVMBuildAdd(b, x, y, NO_NAME),
                BinOp::Sub => LLVMBuildSub(b, x, y, NO_NAME),
                BinOp::Mul => LLVMBuildMul(b, x, y, NO_NAME),
                BinOp::Udiv | BinOp::Sdiv | BinOp::Urem | BinOp::Srem => {
                    self.divide(op, ty, x, y, self.func.const_bits(vb))
                }
                BinOp::And => LLVMBuildAnd(b, x, y, NO_NAME),
                BinOp::Or => LLVMBuildOr(b, x, y, NO_NAME),
                BinOp::Xor => LLVMBuildXor(b, x, y, NO_NAME),
                // A truth value shifted by an amount modulo 1 stays.
                BinOp::Shl | BinOp::Lshr | BinOp::Ashr | BinOp::Rotl if ty.scalar == Scalar::I1 => x,
                BinOp::Shl | BinOp::Lshr | BinOp::Ashr => {
                    let mask = self.cx.constant(ty, u64::from(ty.scalar.bits() - 1));
                    let amount = LLVMBuildAnd(b, y, mask, NO_NAME);
                    match op {
                        BinOp::Shl => LLVMBuildShl(b, x, amount, NO_NAME),
                        BinOp::Lshr => LLVMBuildLShr(b, x, amount, NO_NAME),
                        _ => LLVMBuildAShr(b, x, amount, NO_NAME),
                    }
                }
                BinOp::Rotl => self.intrinsic("llvm.fshl", &[llvm], &[x, x, y]),
                BinOp::Umin => named("llvm.umin"),
                BinOp::Umax => named("llvm.umax"),
                BinOp::Smin => named("llvm.smin"),
                BinOp::Smax => named("llvm.smax"),
                BinOp::UmulHi | BinOp::SmulHi => self.mul_hi(op == BinOp::SmulHi, ty, x, y),
                BinOp::UaddSat => named("llvm.uadd.sat"),
                BinOp::SaddSat => named("llvm.sadd.sat"),
                BinOp::UsubSat => named("llvm.usub.sat"),
                BinOp::SsubSat => named("llvm.ssub.sat"),
                BinOp::Fadd => LLVMBuildFAdd(b, x, y, NO_NAME),
                BinOp::Fsub => LLVMBuildFSub(b, x, y, NO_NAME),
                BinOp::Fmul => LLVMBuildFMul(b, x, y, NO_NAME),
                BinOp::Fdiv => LLVMBuildFDiv(b, x, y, NO_NAME),
                BinOp::Fmin | BinOp::Fmax => self.extremum(op == BinOp::Fmin, ty, x, y),
                BinOp::Copysign => named("llvm.copysign"),
            }
        }
    }

    /// Division that never traps: a divisor of zero counts as one, and the smallest number by minus one wraps.
    fn divide(&self, op: BinOp, ty: Type, x: LLVMValueRef, y: LLVMValueRef, known: Option<u64>) -> LLVMValueRef {
        let b = self.builder.0;
        let signed = matches!(op, BinOp::Sdiv | BinOp::Srem);
        let minus_one = ty.scalar.mask();
        let safe = known.is_some_and(|bits| bits != 0 && !(signed && bits == minus_one));
        // SAFETY: see `inst`.
        unsafe {
            let equals =
                |bits: u64| LLVMBuildICmp(b, LLVMIntPredicate::LLVMIntEQ, y, self.cx.constant(ty, bits), NO_NAME);
            let divisor = if safe {
                y
            } else {
                let mut odd = equals(0);
                if signed {
                    odd = LLVMBuildOr(b, odd, equals(minus_one), NO_NAME);
                }
                LLVMBuildSelect(b, odd, self.cx.constant(ty, 1), y, NO_NAME)
            };
            match op {
                BinOp::Udiv => LLVMBuildUDiv(b, x, divisor, NO_NAME),
                BinOp::Urem => LLVMBuildURem(b, x, divisor, NO_NAME),
                BinOp::Srem => LLVMBuildSRem(b, x, divisor, NO_NAME),
                _ => {
                    let quotient = LLVMBuildSDiv(b, x, divisor, NO_NAME);
                    if safe {
                        return quotient;
                    }
                    LLVMBuildSelect(b, equals(minus_one), LLVMBuildNeg(b, x, NO_NAME), quotient, NO_NAME)
                }
            }
        }
    }

    fn mul_hi(&self, signed: bool, ty: Type, x: LLVMValueRef, y: LLVMValueRef) -> LLVMValueRef {
        let (b, bits) = (self.builder.0, ty.scalar.bits());
        // SAFETY: see `inst`.
        unsafe {
            let scalar = LLVMIntTypeInContext(self.cx.context, 2 * bits);
            let wide = if ty.is_vector() { LLVMVectorType(scalar, u32::from(ty.lanes)) } else { scalar };
            let widen =
                |v| if signed { LLVMBuildSExt(b, v, wide, NO_NAME) } else { LLVMBuildZExt(b, v, wide, NO_NAME) };
            let product = LLVMBuildMul(b, widen(x), widen(y), NO_NAME);
            let one = LLVMConstInt(scalar, u64::from(bits), 0);
            let amount = if ty.is_vector() {
                let mut lanes = vec![one; usize::from(ty.lanes)];
                LLVMConstVector(lanes.as_mut_ptr(), lanes.len() as u32)
            } else {
                one
            };
            LLVMBuildTrunc(b, LLVMBuildLShr(b, product, amount, NO_NAME), self.cx.ty(ty), NO_NAME)
        }
    }

    /// Smaller or larger number: the other one beside NaN, and the right zero.
    fn extremum(&self, smaller: bool, ty: Type, x: LLVMValueRef, y: LLVMValueRef) -> LLVMValueRef {
        let b = self.builder.0;
        let int = self.cx.ty(ty.with_scalar(int_of(ty.scalar)));
        // SAFETY: see `inst`.
        unsafe {
            let better = if smaller { LLVMRealPredicate::LLVMRealOLT } else { LLVMRealPredicate::LLVMRealOGT };
            let first = LLVMBuildSelect(b, LLVMBuildFCmp(b, better, x, y, NO_NAME), x, y, NO_NAME);
            let (xb, yb) = (LLVMBuildBitCast(b, x, int, NO_NAME), LLVMBuildBitCast(b, y, int, NO_NAME));
            let both = if smaller { LLVMBuildOr(b, xb, yb, NO_NAME) } else { LLVMBuildAnd(b, xb, yb, NO_NAME) };
            let both = LLVMBuildBitCast(b, both, self.cx.ty(ty), NO_NAME);
            let equal = LLVMBuildFCmp(b, LLVMRealPredicate::LLVMRealOEQ, x, y, NO_NAME);
            let first = LLVMBuildSelect(b, equal, both, first, NO_NAME);
            let y_is_nan = LLVMBuildFCmp(b, LLVMRealPredicate::LLVMRealUNO, y, y, NO_NAME);
            LLVMBuildSelect(b, y_is_nan, x, first, NO_NAME)
        }
    }

    fn fma(&self, ty: Type, args: [LLVMValueRef; 3]) -> LLVMValueRef {
        if ty.scalar != Scalar::F16 {
            return self.intrinsic("llvm.fma", &[self.cx.ty(ty)], &args);
        }
        let wide = ty.with_scalar(Scalar::F64);
        let args = args.map(|a| self.cast(CastOp::Fext, ty, wide, a));
        let sum = self.intrinsic("llvm.fma", &[self.cx.ty(wide)], &args);
        self.cast(CastOp::Ftrunc, wide, ty, sum)
    }

    /// The number of a lane, modulo the number of lanes.
    fn lane(&self, v: Value, lanes: u16) -> LLVMValueRef {
        let ty = self.func.ty(v);
        let count = u64::from(lanes);
        if let Some(bits) = self.func.const_bits(v) {
            return self.cx.constant(Type::I32, bits % count);
        }
        // SAFETY: see `inst`.
        unsafe {
            let (b, i64) = (self.builder.0, self.cx.ty(Type::I64));
            let wide =
                if ty.scalar.bits() < 64 { LLVMBuildZExt(b, self.value(v), i64, NO_NAME) } else { self.value(v) };
            LLVMBuildURem(b, wide, self.cx.constant(Type::I64, count), NO_NAME)
        }
    }

    fn build(&self, ty: Type, lanes: &[LLVMValueRef]) -> LLVMValueRef {
        // SAFETY: see `inst`.
        unsafe {
            let mut vector = LLVMGetPoison(self.cx.ty(ty));
            for (i, &x) in lanes.iter().enumerate() {
                let at = self.cx.constant(Type::I32, i as u64);
                vector = LLVMBuildInsertElement(self.builder.0, vector, x, at, NO_NAME);
            }
            vector
        }
    }

    fn shuffle(&self, from: Type, x: LLVMValueRef, y: LLVMValueRef, mask: &[u16]) -> LLVMValueRef {
        let b = self.builder.0;
        let ty = Type::vector(from.scalar, mask.len() as u16);
        // SAFETY: see `inst`.
        unsafe {
            if !from.is_vector() {
                let lanes: Vec<_> = mask.iter().map(|&m| if m == 0 { x } else { y }).collect();
                return if ty.is_vector() { self.build(ty, &lanes) } else { lanes[0] };
            }
            if !ty.is_vector() {
                let (v, lane) = if mask[0] < from.lanes { (x, mask[0]) } else { (y, mask[0] - from.lanes) };
                return LLVMBuildExtractElement(b, v, self.cx.constant(Type::I32, u64::from(lane)), NO_NAME);
            }
            let mut lanes: Vec<_> = mask.iter().map(|&m| self.cx.constant(Type::I32, u64::from(m))).collect();
            LLVMBuildShuffleVector(b, x, y, LLVMConstVector(lanes.as_mut_ptr(), lanes.len() as u32), NO_NAME)
        }
    }

    fn cast(&self, op: CastOp, from: Type, to: Type, a: LLVMValueRef) -> LLVMValueRef {
        use LLVMOpcode::*;
        let llvm = self.cx.ty(to);
        // SAFETY: see `inst`.
        let plain = |op: LLVMOpcode| unsafe { LLVMBuildCast(self.builder.0, op, a, llvm, NO_NAME) };
        match op {
            CastOp::Trunc => plain(LLVMTrunc),
            CastOp::Zext => plain(LLVMZExt),
            CastOp::Sext => plain(LLVMSExt),
            CastOp::StoF => plain(LLVMSIToFP),
            CastOp::UtoF => plain(LLVMUIToFP),
            CastOp::IntToPtr => plain(LLVMIntToPtr),
            CastOp::PtrToInt => plain(LLVMPtrToInt),
            CastOp::Bitcast => plain(LLVMBitCast),
            CastOp::Space => a,
            CastOp::FtoS | CastOp::FtoU => {
                let name = if op == CastOp::FtoS { "llvm.fptosi.sat" } else { "llvm.fptoui.sat" };
                self.intrinsic(name, &[llvm, self.cx.ty(from)], &[a])
            }
            // Machines convert between half and float only.
            CastOp::Fext if from.scalar == Scalar::F16 && to.scalar == Scalar::F64 => {
                let middle = from.with_scalar(Scalar::F32);
                self.cast(CastOp::Fext, middle, to, self.cast(CastOp::Fext, from, middle, a))
            }
            CastOp::Ftrunc if from.scalar == Scalar::F64 && to.scalar == Scalar::F16 => self.narrow(from, to, a),
            CastOp::Fext => plain(LLVMFPExt),
            CastOp::Ftrunc => plain(LLVMFPTrunc),
        }
    }

    /// Double to half through float, rounded once: the float is rounded to odd, so that the second rounding sees whether the
    /// first was exact (Boldo and Melquiond, "When double rounding is odd", 2005).
    fn narrow(&self, from: Type, to: Type, a: LLVMValueRef) -> LLVMValueRef {
        let b = self.builder.0;
        let middle = from.with_scalar(Scalar::F32);
        let int = from.with_scalar(Scalar::I32);
        // SAFETY: see `inst`.
        unsafe {
            let near = LLVMBuildFPTrunc(b, a, self.cx.ty(middle), NO_NAME);
            let back = LLVMBuildFPExt(b, near, self.cx.ty(from), NO_NAME);
            let bits = LLVMBuildBitCast(b, near, self.cx.ty(int), NO_NAME);
            let one = self.cx.constant(int, 1);
            let exact = LLVMBuildFCmp(b, LLVMRealPredicate::LLVMRealUEQ, back, a, NO_NAME);
            let low = LLVMBuildAnd(b, bits, one, NO_NAME);
            let odd = LLVMBuildICmp(b, LLVMIntPredicate::LLVMIntNE, low, self.cx.constant(int, 0), NO_NAME);
            let keep = LLVMBuildOr(b, exact, odd, NO_NAME);
            let magnitude = |v| self.intrinsic("llvm.fabs", &[self.cx.ty(from)], &[v]);
            let above = LLVMBuildFCmp(b, LLVMRealPredicate::LLVMRealOGT, magnitude(back), magnitude(a), NO_NAME);
            let (down, up) = (LLVMBuildSub(b, bits, one, NO_NAME), LLVMBuildAdd(b, bits, one, NO_NAME));
            let moved = LLVMBuildSelect(b, above, down, up, NO_NAME);
            let bits = LLVMBuildSelect(b, keep, bits, moved, NO_NAME);
            let float = LLVMBuildBitCast(b, bits, self.cx.ty(middle), NO_NAME);
            LLVMBuildFPTrunc(b, float, self.cx.ty(to), NO_NAME)
        }
    }
}

fn int_of(scalar: Scalar) -> Scalar {
    Scalar::int(scalar.bits()).unwrap_or(Scalar::I64)
}

fn int_predicate(cc: IntCc) -> LLVMIntPredicate {
    use LLVMIntPredicate::*;
    match cc {
        IntCc::Eq => LLVMIntEQ,
        IntCc::Ne => LLVMIntNE,
        IntCc::Slt => LLVMIntSLT,
        IntCc::Sle => LLVMIntSLE,
        IntCc::Sgt => LLVMIntSGT,
        IntCc::Sge => LLVMIntSGE,
        IntCc::Ult => LLVMIntULT,
        IntCc::Ule => LLVMIntULE,
        IntCc::Ugt => LLVMIntUGT,
        IntCc::Uge => LLVMIntUGE,
    }
}

fn float_predicate(cc: FloatCc) -> LLVMRealPredicate {
    use LLVMRealPredicate::*;
    match cc {
        FloatCc::Oeq => LLVMRealOEQ,
        FloatCc::Une => LLVMRealUNE,
        FloatCc::One => LLVMRealONE,
        FloatCc::Olt => LLVMRealOLT,
        FloatCc::Ole => LLVMRealOLE,
        FloatCc::Ogt => LLVMRealOGT,
        FloatCc::Oge => LLVMRealOGE,
        FloatCc::Ord => LLVMRealORD,
        FloatCc::Uno => LLVMRealUNO,
    }
}
