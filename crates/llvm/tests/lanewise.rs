//! Every lane-wise operation, on every type, in scalars and vectors of even and odd length, on every target that runs
//! here, against the definition in `cloom_ir::eval`; estimates as close to it as the operation promises.

mod common;

use cloom_ir::{BinOp, Builder, CastOp, Flags, FloatCc, IntCc, Module, Scalar, Type, UnOp, Value, eval};

type Build = Box<dyn Fn(&mut Builder<'_>, [Value; 3]) -> Value>;
type Expect = Box<dyn Fn([u64; 3]) -> u64>;

struct Case {
    name: String,
    ret: Scalar,
    build: Build,
    expect: Expect,
}

const SCALARS: [Scalar; 8] =
    [Scalar::I1, Scalar::I8, Scalar::I16, Scalar::I32, Scalar::I64, Scalar::F16, Scalar::F32, Scalar::F64];

fn is_float_op(op: BinOp) -> bool {
    use BinOp::*;
    matches!(op, Fadd | Fsub | Fmul | Fdiv | Fmin | Fmax | Copysign)
}

fn cases(s: Scalar) -> Vec<Case> {
    let mut list = Vec::new();
    let mut add = |name: String, ret: Scalar, build: Build, expect: Expect| {
        list.push(Case { name, ret, build, expect });
    };
    // A GPU's own.
    let of_gpu = |op: &&UnOp| matches!(op, UnOp::Exp2Near | UnOp::Log2Near | UnOp::SinNear | UnOp::CosNear);
    for &op in UnOp::ALL.iter().filter(|op| !of_gpu(op)) {
        let float = !matches!(op, UnOp::Not | UnOp::Clz | UnOp::Ctz | UnOp::Popcount | UnOp::BitReverse);
        let near = matches!(op, UnOp::RsqrtNear | UnOp::RecipNear);
        if float == s.is_float() && (!near || s == Scalar::F32) {
            let build: Build = Box::new(move |b, [x, ..]| b.unary(op, x));
            add(op.name().into(), s, build, Box::new(move |[x, ..]| eval::unary(op, s, x)));
        }
    }
    for &op in BinOp::ALL {
        if is_float_op(op) == s.is_float() {
            let build: Build = Box::new(move |b, [x, y, _]| b.binary(op, x, y));
            add(op.name().into(), s, build, Box::new(move |[x, y, _]| eval::binary(op, s, x, y)));
        }
    }
    if s.is_float() {
        let build: Build = Box::new(move |b, [x, y, z]| b.fma(x, y, z));
        add("fma".into(), s, build, Box::new(move |[x, y, z]| eval::fma(s, x, y, z)));
        for &cc in FloatCc::ALL {
            let build: Build = Box::new(move |b, [x, y, _]| b.fcmp(cc, x, y));
            add(cc.name().into(), Scalar::I1, build, Box::new(move |[x, y, _]| u64::from(eval::fcmp(cc, s, x, y))));
        }
    } else {
        for &cc in IntCc::ALL {
            let build: Build = Box::new(move |b, [x, y, _]| b.icmp(cc, x, y));
            add(cc.name().into(), Scalar::I1, build, Box::new(move |[x, y, _]| u64::from(eval::icmp(cc, s, x, y))));
        }
        let build: Build = Box::new(move |b, [x, y, z]| {
            let less = b.icmp(IntCc::Slt, x, y);
            b.select(less, y, z)
        });
        let expect = move |[x, y, z]: [u64; 3]| if eval::icmp(IntCc::Slt, s, x, y) { y } else { z };
        add("select".into(), s, build, Box::new(expect));
    }
    for &op in CastOp::ALL {
        for to in SCALARS {
            let fits = match op {
                CastOp::Trunc => !s.is_float() && !to.is_float() && to.bits() < s.bits(),
                CastOp::Zext | CastOp::Sext => !s.is_float() && !to.is_float() && to.bits() > s.bits(),
                CastOp::FtoS | CastOp::FtoU => s.is_float() && !to.is_float() && to != Scalar::I1,
                CastOp::StoF | CastOp::UtoF => !s.is_float() && to.is_float(),
                CastOp::Fext => s.is_float() && to.is_float() && to.bits() > s.bits(),
                CastOp::Ftrunc => s.is_float() && to.is_float() && to.bits() < s.bits(),
                CastOp::Bitcast => s.bits() == to.bits(),
                CastOp::IntToPtr | CastOp::PtrToInt | CastOp::Space | CastOp::SpaceOf => false,
            };
            if fits {
                let build: Build = Box::new(move |b, [x, ..]| {
                    let ty = b.ty(x).with_scalar(to);
                    b.cast(op, x, ty)
                });
                add(format!("{} to {to}", op.name()), to, build, Box::new(move |[x, ..]| eval::cast(op, s, to, x)));
            }
        }
    }
    list
}

/// Bits of interest, then random ones.
fn values(s: Scalar) -> Vec<u64> {
    let mut list = match s {
        Scalar::F16 => vec![0, 0x8000, 1, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x3555],
        Scalar::F32 => {
            [0.0, -0.0, 1.0, -1.5, 0.5, 2.5, 3.4e38, -3.4e38, 1e-45, 1.1754944e-38, 65520.0, 6e-8, 2147483648.0]
                .iter()
                .map(|x: &f32| u64::from(x.to_bits()))
                .chain([0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x5f7f_ffff, 0x4b80_0001, 0x3880_2001])
                .collect()
        }
        Scalar::F64 => {
            [0.0, -0.0, 1.0, -1.5, 0.5, 2.5, 1.7e308, 5e-324, 22504.000001, 9.3e18, 1e39, -1e-46, 5.96e-8, 65519.99999]
                .iter()
                .map(|x: &f64| x.to_bits())
                .chain([0x7ff0 << 48, 0xfff0 << 48, 0x7ff8 << 48])
                .collect()
        }
        _ => vec![0, 1, 2, 7, s.mask(), s.mask() - 1, s.mask() >> 1, (s.mask() >> 1) + 1, 33],
    };
    let mut state = 0x1234_5678_9abc_def1u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for i in 0..40 {
        let bits = random();
        list.push(match s {
            // Numbers near each other, so that sums and products are of interest.
            Scalar::F64 if i % 2 == 0 => bits & 0x800f_ffff_ffff_ffff | (1013 + random() % 20) << 52,
            Scalar::F32 if i % 2 == 0 => bits & 0x807f_ffff | (117 + random() % 20) << 23,
            // Numbers with few set bits.
            _ if i % 3 == 0 && !s.is_float() => bits & random() & random(),
            _ => bits,
        });
    }
    list.into_iter().map(|v| v & s.mask()).collect()
}

/// The type of a lane in memory.
fn memory(s: Scalar) -> Scalar {
    if s == Scalar::I1 { Scalar::I8 } else { s }
}

fn load(b: &mut Builder<'_>, p: Value, ty: Type) -> Value {
    let v = b.load(ty.with_scalar(memory(ty.scalar)), p, 1, Flags::empty());
    if ty.scalar == Scalar::I1 { b.cast(CastOp::Trunc, v, ty) } else { v }
}

fn store(b: &mut Builder<'_>, p: Value, v: Value) {
    let ty = b.ty(v);
    let v = if ty.scalar == Scalar::I1 { b.cast(CastOp::Zext, v, ty.with_scalar(Scalar::I8)) } else { v };
    b.store(p, v, 1, Flags::empty());
}

fn is_nan(s: Scalar, bits: u64) -> bool {
    s.is_float() && eval::to_f64(s, bits).is_nan()
}

fn check(s: Scalar, lanes: u16) {
    let cases = cases(s);
    let pool = values(s);
    // Every pair of values is in some lane.
    let tuples: Vec<[u64; 3]> = (0..pool.len() * pool.len())
        .map(|i| [pool[i % pool.len()], pool[i / pool.len()], pool[(i * 7 + i / 13) % pool.len()]])
        .collect();
    let groups = tuples.len().div_ceil(usize::from(lanes));
    let bytes = memory(s).bytes() as usize;
    let lane_count = usize::from(lanes);
    let mut input = vec![0u8; groups * 3 * lane_count * bytes];
    for (i, t) in tuples.iter().enumerate() {
        for (k, v) in t.iter().enumerate() {
            let at = ((i / lane_count * 3 + k) * lane_count + i % lane_count) * bytes;
            input[at..at + bytes].copy_from_slice(&v.to_le_bytes()[..bytes]);
        }
    }
    let slot = lane_count * 8;
    let mut module = Module::new();
    let func = common::group_function(&mut module, |b, abi| {
        let (from, to) = (common::part(b, abi, 0, 3 * lane_count * bytes), common::part(b, abi, 1, slot * cases.len()));
        let ty = Type::vector(s, lanes);
        let args = [0, 1, 2].map(|k| {
            let p = b.ptr_offset(from, (k * lane_count * bytes) as u64);
            load(b, p, ty)
        });
        for (k, case) in cases.iter().enumerate() {
            let v = (case.build)(b, args);
            assert_eq!(b.ty(v), ty.with_scalar(case.ret));
            let p = b.ptr_offset(to, (k * slot) as u64);
            store(b, p, v);
        }
        b.ret(None);
    });
    for (device, options) in common::variants() {
        let output =
            common::execute(&device, &options, &module, func, groups as u64, &input, groups * cases.len() * slot);
        for (i, &t) in tuples.iter().enumerate() {
            for (k, case) in cases.iter().enumerate() {
                let n = memory(case.ret).bytes() as usize;
                let at = (i / lane_count * cases.len() + k) * slot + i % lane_count * n;
                let mut got = [0; 8];
                got[..n].copy_from_slice(&output[at..at + n]);
                let (got, want) = (u64::from_le_bytes(got), (case.expect)(t));
                assert!(
                    got == want
                        || is_nan(case.ret, got) && is_nan(case.ret, want)
                        || case.name.ends_with("_near") && is_near(t[0], got, want),
                    "{} of {s}x{lanes} on {:x?}: {got:#x}, not {want:#x} ({options:?})",
                    case.name,
                    t
                );
            }
        }
    }
}

/// Whether an estimate is as good as promised.
fn is_near(of: u64, got: u64, want: u64) -> bool {
    let [of, got, want] = [of, got, want].map(|bits| f32::from_bits(bits as u32));
    let least = f32::MIN_POSITIVE;
    let close = (f64::from(got) / f64::from(want) - 1.0).abs() <= 1.5 / 4096.0;
    match () {
        // A denormal operand as it is, or as a zero of its sign: the estimated root of a negative one is then no NaN.
        () if of.abs() < least => close || got == f32::INFINITY.copysign(of),
        () if !want.is_finite() || want == 0.0 => false,
        () if want.abs() < least => got.abs() <= least && got.is_sign_negative() == want.is_sign_negative(),
        () => close,
    }
}

macro_rules! tests {
    ($($name:ident $scalar:ident,)*) => {$(
        #[test]
        fn $name() {
            for lanes in [1, 2, 3, 8, 16] {
                check(Scalar::$scalar, lanes);
            }
        }
    )*};
}

tests! {
    truth_values I1,
    bytes I8,
    shorts I16,
    ints I32,
    longs I64,
    halves F16,
    floats F32,
    doubles F64,
}
