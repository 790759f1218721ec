//! Single operations, with the guards that make them total.

use crate::Error;
use crate::emit::FunctionCx;
use cloom_ir::{BinOp, CastOp, Entity, Flags, FloatCc, InstData, IntCc, Op, Scalar, Type, UnOp, Value};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMIntPredicate, LLVMOpcode, LLVMRealPredicate};

const NO_NAME: *const std::ffi::c_char = c"".as_ptr();

impl FunctionCx<'_, '_> {
    /// Translates an instruction at the builder's position. Returns its value (undefined if it has no result).
    pub fn inst(&mut self, data: &InstData) -> Result<LLVMValueRef, Error> {
        let ty = data.result.map_or(Type::I1, |r| self.func.ty(r));
        // A GPU has its own form of some operations, also of ones that are translated below for CPUs.
        if let Some(value) = self.gpu_inst(data, ty)? {
            self.permit(value, data.flags);
            return Ok(value);
        }
        let arg = |i: usize| self.value(data.args[i]);
        let b = self.builder.0;
        // SAFETY: the operands have the types that the verifier checked for this operation, and `b` stands in a block
        // of this function.
        let value = unsafe {
            match &data.op {
                Op::Const(bits) => self.cx.constant(ty, *bits),
                Op::Unary(op) => self.unary(*op, ty, arg(0)),
                Op::Binary(op) => self.binary(*op, ty, data),
                Op::Fma => self.fma(ty, [arg(0), arg(1), arg(2)]),
                Op::Icmp(cc) => LLVMBuildICmp(b, int_predicate(*cc), arg(0), arg(1), NO_NAME),
                Op::Fcmp(cc) => {
                    let from = self.func.ty(data.args[0]);
                    let (x, y) = (self.comparable(from, arg(0)), self.comparable(from, arg(1)));
                    LLVMBuildFCmp(b, float_predicate(*cc), x, y, NO_NAME)
                }
                Op::Cast(op) => self.cast(*op, self.func.ty(data.args[0]), ty, arg(0)),
                Op::Select => LLVMBuildSelect(b, arg(0), arg(1), arg(2), NO_NAME),
                Op::Extract => {
                    let from = self.func.ty(data.args[0]);
                    let lane = self.lane(data.args[1], from.lanes);
                    // `x[i]` of a vector with a computed `i`: the index counts modulo the number of lanes, where LLVM's
                    // result would be poison.
                    let (form, vector) = self.addressable(from, arg(0));
                    self.lane_form(form.lane(), ty, self.extract_lane(from, vector, lane))
                }
                Op::Insert => {
                    let lane = self.lane(data.args[1], ty.lanes);
                    let ((form, vector), (_, x)) = (self.addressable(ty, arg(0)), self.addressable(ty.lane(), arg(2)));
                    self.lane_form(form, ty, self.insert_lane(ty, vector, lane, x))
                }
                Op::Shuffle(mask) => {
                    let from = self.func.ty(data.args[0]);
                    // A GPU has lanes in registers of their own.
                    let interleaving =
                        if self.cx.gpu.is_none() { self.interleaving(from, data.args[0], mask) } else { None };
                    match interleaving {
                        Some(v) => v,
                        None => self.shuffle(from, arg(0), arg(1), mask),
                    }
                }
                Op::Splat => self.splat(ty, arg(0)),
                Op::Build => self.build(ty, &data.args.iter().map(|&a| self.value(a)).collect::<Vec<_>>()),
                Op::Alloca { size, align, .. } => self.alloca(*size, *align),
                Op::PtrAdd => self.ptr_add(ty, data),
                Op::Load { align } => self.load(data, ty, *align),
                Op::Store { align } => self.store(data, *align),
                Op::Iota => self.iota(ty),
                Op::Any => self.any(self.func.ty(data.args[0]), arg(0)),
                Op::All => self.all(self.func.ty(data.args[0]), arg(0)),
                Op::Ballot => self.ballot(self.func.ty(data.args[0]), arg(0)),
                Op::MaskedLoad { align } | Op::Gather { align } => self.load_lanes(data, ty, *align),
                Op::MaskedStore { align } | Op::Scatter { align } => self.store_lanes(data, *align),
                Op::MemCopy { size, align } => self.mem_copy(data, *size, *align),
                Op::MemSet { size, byte, align } => self.mem_set(data, *size, *byte, *align),
                Op::Prefetch => self.prefetch(arg(0)),
                Op::GlobalAddr(g) => match self.cx.module.globals[*g].place {
                    Some(place) => self.variable(place, ty),
                    None => self.cx.global(*g)?,
                },
                Op::AtomicRmw { op, order, .. } => self.atomic_rmw(data, *op, *order),
                Op::AtomicCmpXchg { order, .. } => self.cmpxchg(data, *order),
                Op::AtomicLoad { order, .. } => self.atomic_load(data, ty, *order),
                Op::AtomicStore { order, .. } => self.atomic_store(data, *order),
                Op::Fence { order, .. } => self.fence(*order),
                Op::Clock => self.clock(),
                Op::Poll => self.poll(arg(0)),
                Op::Report => self.report(data),
                Op::Query { .. } => return Err(Error::NotLowered(self.func.name.clone(), "a query")),
                Op::Mark(_) => return Err(Error::NotLowered(self.func.name.clone(), "a mark")),
                Op::Barrier(_) => return Err(Error::NotLowered(self.func.name.clone(), "a barrier")),
                Op::SubgroupBallot | Op::SubgroupShuffle | Op::SubgroupReduce { .. } | Op::SubgroupScan { .. } => {
                    return Err(Error::NotLowered(self.func.name.clone(), "an operation of sub-groups"));
                }
                Op::Sample => return Err(Error::NotLowered(self.func.name.clone(), "a sample of a texture")),
                Op::Call(f) | Op::PureCall(f) => {
                    let (ty, callee) = self.cx.functions[f];
                    let mut args: Vec<_> = data.args.iter().map(|&a| self.value(a)).collect();
                    if self.cx.gpu.as_ref().is_some_and(|gpu| gpu.takes_variables(*f)) {
                        args.push(self.gpu_variables());
                    }
                    let call = LLVMBuildCall2(b, ty, callee, args.as_mut_ptr(), args.len() as u32, NO_NAME);
                    // LLVM takes a call whose convention differs from its callee's for undefined, and deletes what
                    // leads to it.
                    LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(callee));
                    call
                }
                Op::Printf(s) => self.printf(data, s.index() as u32)?,
                Op::DeviceCall(what) => self.device_call(data, *what as u32)?,
            }
        };
        self.permit(value, data.flags);
        Ok(value)
    }

    /// Passes fast-math permissions to LLVM. Promises (`nsw`, `nuw`, `nnan`, `ninf`) are not: a broken one would be
    /// poison there, and a branch on it undefined behaviour.
    fn permit(&self, value: LLVMValueRef, flags: Flags) {
        let all = [
            (Flags::REASSOC, llvm_sys::LLVMFastMathAllowReassoc),
            (Flags::NSZ, llvm_sys::LLVMFastMathNoSignedZeros),
            (Flags::ARCP, llvm_sys::LLVMFastMathAllowReciprocal),
            (Flags::AFN, llvm_sys::LLVMFastMathApproxFunc),
        ];
        let bits = all.iter().filter(|(f, _)| flags.contains(*f)).fold(0, |bits, (_, bit)| bits | bit);
        // SAFETY: only instructions that take the flags get them.
        unsafe {
            if bits != 0
                && !value.is_null()
                // The builder folds operations on constants: the value may be one.
                && !LLVMIsAInstruction(value).is_null()
                && LLVMCanValueUseFastMathFlags(value) != 0
            {
                LLVMSetFastMathFlags(value, bits);
            }
        }
    }

    /// Calls an intrinsic that is overloaded over `types`.
    pub fn intrinsic(&self, name: &str, types: &[LLVMTypeRef], args: &[LLVMValueRef]) -> LLVMValueRef {
        let (mut types, mut args) = (types.to_vec(), args.to_vec());
        // SAFETY: the names used here are intrinsics of LLVM 19 with as many overloaded types.
        unsafe {
            let id = LLVMLookupIntrinsicID(name.as_ptr().cast(), name.len());
            let callee = LLVMGetIntrinsicDeclaration(self.cx.llvm, id, types.as_mut_ptr(), types.len());
            let ty = LLVMIntrinsicGetType(self.cx.context, id, types.as_mut_ptr(), types.len());
            LLVMBuildCall2(self.builder.0, ty, callee, args.as_mut_ptr(), args.len() as u32, NO_NAME)
        }
    }

    pub fn unary(&self, op: UnOp, ty: Type, a: LLVMValueRef) -> LLVMValueRef {
        let llvm = self.cx.ty(ty);
        let no = self.cx.constant(Type::I1, 0);
        if ty.scalar == Scalar::F16 {
            return self.half_unary(op, ty, a);
        }
        match op {
            UnOp::Popcount | UnOp::BitReverse if ty.scalar == Scalar::I1 => a,
            // SAFETY: `a` is an integer of one bit, or a vector of such. Both counts of zeros of one bit are the
            // negated bit.
            UnOp::Clz | UnOp::Ctz if ty.scalar == Scalar::I1 => unsafe { LLVMBuildNot(self.builder.0, a, NO_NAME) },
            // SAFETY: `a` is an integer or a vector of integers, which the verifier checked.
            UnOp::Not => unsafe { LLVMBuildNot(self.builder.0, a, NO_NAME) },
            // SAFETY: `a` is a float or a vector of floats, which the verifier checked.
            UnOp::Fneg => unsafe { LLVMBuildFNeg(self.builder.0, a, NO_NAME) },
            UnOp::Clz => self.intrinsic("llvm.ctlz", &[llvm], &[a, no]),
            UnOp::Ctz => self.intrinsic("llvm.cttz", &[llvm], &[a, no]),
            UnOp::Popcount => self.intrinsic("llvm.ctpop", &[llvm], &[a]),
            UnOp::BitReverse => self.intrinsic("llvm.bitreverse", &[llvm], &[a]),
            UnOp::Fabs => self.intrinsic("llvm.fabs", &[llvm], &[a]),
            UnOp::Sqrt => self.intrinsic("llvm.sqrt", &[llvm], &[a]),
            UnOp::RsqrtNear | UnOp::RecipNear => self.near(op, ty, a),
            // The library of a CPU has none of these. They would be functions that its loader does not know.
            UnOp::Exp2Near => self.intrinsic("llvm.exp2", &[llvm], &[a]),
            UnOp::Log2Near => self.intrinsic("llvm.log2", &[llvm], &[a]),
            UnOp::SinNear => self.intrinsic("llvm.sin", &[llvm], &[a]),
            UnOp::CosNear => self.intrinsic("llvm.cos", &[llvm], &[a]),
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
        if ty.scalar == Scalar::I1 {
            return self.truth(op, ty, x, y);
        }
        // SAFETY: `x` and `y` have the type `ty`, for which the verifier allows the operation.
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
                BinOp::Shl | BinOp::Lshr | BinOp::Ashr => {
                    // The IR takes the amount modulo the width; LLVM's result would be poison from the width on.
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
                BinOp::Fadd | BinOp::Fsub | BinOp::Fmul | BinOp::Fdiv => {
                    if ty.scalar == Scalar::F16 {
                        self.half_arithmetic(op, ty, x, y)
                    } else {
                        self.arithmetic(op, x, y)
                    }
                }
                BinOp::Fmin | BinOp::Fmax => self.extremum(op == BinOp::Fmin, ty, x, y),
                BinOp::Copysign => self.copysign(ty, x, y),
            }
        }
    }

    /// A sum, difference, product or quotient of floats or doubles.
    pub fn arithmetic(&self, op: BinOp, x: LLVMValueRef, y: LLVMValueRef) -> LLVMValueRef {
        let b = self.builder.0;
        // SAFETY: `x` and `y` are floats of one type.
        unsafe {
            match op {
                BinOp::Fadd => LLVMBuildFAdd(b, x, y, NO_NAME),
                BinOp::Fsub => LLVMBuildFSub(b, x, y, NO_NAME),
                BinOp::Fmul => LLVMBuildFMul(b, x, y, NO_NAME),
                _ => LLVMBuildFDiv(b, x, y, NO_NAME),
            }
        }
    }

    /// Operations on truth values: integers of one bit, the signed ones 0 and -1. Written out, because the general
    /// guards need a one that is not minus one.
    fn truth(&self, op: BinOp, ty: Type, x: LLVMValueRef, y: LLVMValueRef) -> LLVMValueRef {
        let b = self.builder.0;
        // SAFETY: `x` and `y` are truth values of the type `ty`.
        unsafe {
            match op {
                BinOp::Add | BinOp::Sub | BinOp::Xor => LLVMBuildXor(b, x, y, NO_NAME),
                BinOp::Mul | BinOp::And | BinOp::Umin | BinOp::Smax => LLVMBuildAnd(b, x, y, NO_NAME),
                BinOp::Or | BinOp::Umax | BinOp::Smin | BinOp::UaddSat | BinOp::SaddSat => {
                    LLVMBuildOr(b, x, y, NO_NAME)
                }
                BinOp::UsubSat | BinOp::SsubSat => LLVMBuildAnd(b, x, LLVMBuildNot(b, y, NO_NAME), NO_NAME),
                BinOp::Urem | BinOp::Srem | BinOp::UmulHi | BinOp::SmulHi => LLVMConstNull(self.cx.ty(ty)),
                // The divisor counts as one, the shift amount as zero: the result is `x`.
                _ => x,
            }
        }
    }

    fn copysign(&self, ty: Type, x: LLVMValueRef, y: LLVMValueRef) -> LLVMValueRef {
        if ty.scalar != Scalar::F16 {
            return self.intrinsic("llvm.copysign", &[self.cx.ty(ty)], &[x, y]);
        }
        let b = self.builder.0;
        let mask = |bits| self.cx.constant(ty.with_scalar(Scalar::I16), bits);
        // SAFETY: halves are integers of 16 bits here, as are both masks.
        unsafe {
            let magnitude = LLVMBuildAnd(b, x, mask(0x7fff), NO_NAME);
            LLVMBuildOr(b, magnitude, LLVMBuildAnd(b, y, mask(0x8000), NO_NAME), NO_NAME)
        }
    }

    /// A vector (or lane) in a form whose lanes have addresses: truth values as bytes. LLVM lowers an index that is
    /// known only at run time through memory.
    fn addressable(&self, ty: Type, v: LLVMValueRef) -> (Type, LLVMValueRef) {
        if ty.scalar != Scalar::I1 {
            return (ty, v);
        }
        let form = ty.with_scalar(Scalar::I8);
        // SAFETY: `v` holds integers of one bit, and `form` has as many lanes of 8 bits.
        (form, unsafe { LLVMBuildZExt(self.builder.0, v, self.cx.ty(form), NO_NAME) })
    }

    fn lane_form(&self, form: Type, ty: Type, v: LLVMValueRef) -> LLVMValueRef {
        if form == ty {
            return v;
        }
        // SAFETY: `v` has the type `form`, whose lanes are wider than those of `ty`.
        unsafe { LLVMBuildTrunc(self.builder.0, v, self.cx.ty(ty), NO_NAME) }
    }

    /// Minimum or maximum: of a number and NaN the number, and -0 is less than +0.
    pub fn extremum(&self, smaller: bool, ty: Type, x: LLVMValueRef, y: LLVMValueRef) -> LLVMValueRef {
        let b = self.builder.0;
        let int = self.cx.ty(ty.with_scalar(int_of(ty.scalar)));
        let (xc, yc) = (self.comparable(ty, x), self.comparable(ty, y));
        // SAFETY: `x` and `y` are floats of the type `ty`, and `int` has as many bits in as many lanes.
        unsafe {
            let better = if smaller { LLVMRealPredicate::LLVMRealOLT } else { LLVMRealPredicate::LLVMRealOGT };
            // If `x` is NaN, both comparisons below are false and the result is `y`; the last select has the NaN in
            // `y`.
            let first = LLVMBuildSelect(b, LLVMBuildFCmp(b, better, xc, yc, NO_NAME), x, y, NO_NAME);
            let (xb, yb) = (LLVMBuildBitCast(b, x, int, NO_NAME), LLVMBuildBitCast(b, y, int, NO_NAME));
            // Equal floats have equal bits, except for -0 and +0. Of their bits, the or is -0 and the and is +0.
            let both = if smaller { LLVMBuildOr(b, xb, yb, NO_NAME) } else { LLVMBuildAnd(b, xb, yb, NO_NAME) };
            let both = LLVMBuildBitCast(b, both, self.cx.ty(ty), NO_NAME);
            let equal = LLVMBuildFCmp(b, LLVMRealPredicate::LLVMRealOEQ, xc, yc, NO_NAME);
            let first = LLVMBuildSelect(b, equal, both, first, NO_NAME);
            let y_is_nan = LLVMBuildFCmp(b, LLVMRealPredicate::LLVMRealUNO, yc, yc, NO_NAME);
            LLVMBuildSelect(b, y_is_nan, x, first, NO_NAME)
        }
    }

    /// The number of a lane, modulo the number of lanes.
    fn lane(&self, v: Value, lanes: u16) -> LLVMValueRef {
        let ty = self.func.ty(v);
        let count = u64::from(lanes);
        if let Some(bits) = self.func.const_bits(v) {
            return self.cx.constant(Type::I32, bits % count);
        }
        // SAFETY: the number of the lane is an integer, and the divisor is a constant that is not zero.
        unsafe {
            let (b, i64) = (self.builder.0, self.cx.ty(Type::I64));
            let wide =
                if ty.scalar.bits() < 64 { LLVMBuildZExt(b, self.value(v), i64, NO_NAME) } else { self.value(v) };
            LLVMBuildURem(b, wide, self.cx.constant(Type::I64, count), NO_NAME)
        }
    }

    pub fn build(&self, ty: Type, lanes: &[LLVMValueRef]) -> LLVMValueRef {
        // SAFETY: each element has the type of a lane of `ty`, and the list has as many as the vector.
        unsafe {
            if lanes.iter().all(|&x| LLVMIsConstant(x) != 0) {
                return LLVMConstVector(lanes.to_vec().as_mut_ptr(), lanes.len() as u32);
            }
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
        // SAFETY: `x` and `y` have the type `from`, and the verifier checked that each number in `mask` is one of their
        // lanes.
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

    pub fn cast(&self, op: CastOp, from: Type, to: Type, a: LLVMValueRef) -> LLVMValueRef {
        use LLVMOpcode::*;
        let llvm = self.cx.ty(to);
        let float = from.with_scalar(Scalar::F32);
        // SAFETY: the verifier checked that this cast leads from the type of `a` to `to`.
        let plain = |op: LLVMOpcode| unsafe { LLVMBuildCast(self.builder.0, op, a, llvm, NO_NAME) };
        match op {
            CastOp::Trunc => plain(LLVMTrunc),
            CastOp::Zext => plain(LLVMZExt),
            CastOp::Sext => plain(LLVMSExt),
            CastOp::IntToPtr => plain(LLVMIntToPtr),
            CastOp::PtrToInt => plain(LLVMPtrToInt),
            CastOp::Bitcast => plain(LLVMBitCast),
            CastOp::Space => a,
            // The passes leave none (`infer_spaces`): all generic pointers count as global ones.
            CastOp::SpaceOf => self.cx.constant(to, 0),
            // An integer that is not exact as a float is beyond the halves, so rounding twice is rounding once.
            CastOp::StoF | CastOp::UtoF if to.scalar == Scalar::F16 => {
                self.to_half(float, self.cast(op, from, float, a))
            }
            CastOp::StoF => plain(LLVMSIToFP),
            CastOp::UtoF => plain(LLVMUIToFP),
            CastOp::FtoS | CastOp::FtoU if from.scalar == Scalar::F16 => {
                self.cast(op, float, to, self.to_float(from, a))
            }
            // NEON converts as the operation is defined.
            CastOp::FtoS | CastOp::FtoU if from.is_vector() && !self.cx.target.features().saturating_conversion => {
                self.saturate(op == CastOp::FtoS, from, to, a)
            }
            CastOp::FtoS | CastOp::FtoU => {
                let name = if op == CastOp::FtoS { "llvm.fptosi.sat" } else { "llvm.fptoui.sat" };
                self.intrinsic(name, &[llvm, self.cx.ty(from)], &[a])
            }
            CastOp::Fext if to.scalar == Scalar::F32 => self.to_float(from, a),
            CastOp::Fext if from.scalar == Scalar::F16 => self.cast(CastOp::Fext, float, to, self.to_float(from, a)),
            CastOp::Fext => plain(LLVMFPExt),
            CastOp::Ftrunc if to.scalar != Scalar::F16 => plain(LLVMFPTrunc),
            CastOp::Ftrunc if from.scalar == Scalar::F64 => self.double_to_half(from, a),
            CastOp::Ftrunc => self.to_half(from, a),
        }
    }
}

/// The integer as wide as a scalar.
pub fn int_of(scalar: Scalar) -> Scalar {
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
