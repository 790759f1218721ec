//! Transcendental and other functions of the library. All rungs run the same library, so between them results are
//! compared exactly and flow into the program like any other value. Implementations differ within the error that the
//! standard allows, so a portable program stores each result in a word of its own in `reals`, where a peer's may differ
//! by a few units in the last place, and computes nothing from it.
//!
//! `native_` and `half_` functions have errors that are free or large, and are in no portable program.

use super::Family::Math;
use crate::generate::expr::Place;
use crate::generate::tree::Stmt;
use crate::generate::types::{Scalar, Ty};
use crate::generate::{Gen, Profile, REALS};

/// `T f(T)`
const UNARY: [&str; 34] = [
    "acos", "acosh", "acospi", "asin", "asinh", "asinpi", "atan", "atanh", "atanpi", "cbrt", "cos", "cosh", "cospi",
    "erf", "erfc", "exp", "exp2", "exp10", "expm1", "lgamma", "log", "log2", "log10", "log1p", "logb", "rsqrt", "sin",
    "sinh", "sinpi", "tan", "tanh", "tanpi", "tgamma", "degrees",
];
/// `T f(T, T)`
const BINARY: [&str; 12] =
    ["atan2", "atan2pi", "fmod", "hypot", "maxmag", "minmag", "nextafter", "pow", "powr", "remainder", "fdim", "step"];
/// `float f(float)`, of any error. Not the reciprocals: they are the processor's estimates, whose bits differ between
/// processors.
const NATIVE: [&str; 21] = [
    "native_cos",
    "native_exp",
    "native_exp2",
    "native_exp10",
    "native_log",
    "native_log2",
    "native_log10",
    "native_sin",
    "native_tan",
    "native_sqrt",
    "half_cos",
    "half_exp",
    "half_exp2",
    "half_exp10",
    "half_log",
    "half_log2",
    "half_log10",
    "half_sin",
    "half_tan",
    "half_sqrt",
    "radians",
];
/// `float f(float, float)`
const NATIVE_BINARY: [&str; 4] = ["native_divide", "native_powr", "half_divide", "half_powr"];
/// `T f(T, int)`
const WITH_INT: [&str; 3] = ["ldexp", "pown", "rootn"];
/// `T f(T, T *)` and what is stored, and `T f(T, int *)`
const WITH_POINTER: [&str; 5] = ["fract", "modf", "sincos", "frexp", "lgamma_r"];
/// `T f(T, T)` of vectors with up to four components, which give one.
const GEOMETRIC: [&str; 8] =
    ["dot", "distance", "length", "normalize", "fast_distance", "fast_length", "fast_normalize", "cross"];
/// What compares.
const RELATIONAL: [&str; 9] = [
    "isequal",
    "isnotequal",
    "isgreater",
    "isgreaterequal",
    "isless",
    "islessequal",
    "islessgreater",
    "isordered",
    "isunordered",
];

/// Components of calls in one program: the vectoriser inlines each, and code of the longest functions takes long to
/// make.
pub const MAX_CALLS: i32 = 24;

impl Gen {
    /// Whether an expression of this type may call such a function now.
    pub fn wants_math(&mut self, ty: Ty) -> bool {
        self.has(Math)
            && self.profile == Profile::Total
            && (ty.s.is_float() || ty.n == 1)
            && ty.n <= 4
            && self.math_left >= i32::from(ty.n)
            && self.rng.chance(if ty.s.is_float() { 60 } else { 4 })
    }

    /// An argument: any value, or one where functions do more than overflow.
    fn math_argument(&mut self, ty: Ty, d: u32) -> String {
        if self.rng.chance(30) {
            return self.expr(ty, d);
        }
        let int = ty.of(Scalar::Int);
        let e = self.expr(int, d);
        // Numbers from -4 to 4, from 0 to 1, from -60 to 68 and from -1 to 1: for most functions, one of these is where
        // they are neither constant nor infinite nor NaN.
        let (scale, from) = self.rng.pick(&[("0.03125", "4"), ("0.00390625", "0"), ("0.5", "60"), ("0.0078125", "1")]);
        let suffix = match ty.s {
            Scalar::Half => "h",
            Scalar::Float => "f",
            _ => "",
        };
        let whole = format!("convert_{}({e} & ({})(255))", ty.name(), int.name());
        format!("({whole} * {scale}{suffix} - {from}.0{suffix})")
    }

    /// Replaces NaN by a number: some functions leave further results unspecified for NaN.
    fn number(&mut self, e: &str, ty: Ty) -> String {
        match ty.n {
            1 => format!("num({e})"),
            _ => format!("select({e}, ({})(1), isnan({e}))", ty.name()),
        }
    }

    /// A call that gives this type: a float, or the integer that a function of floats gives.
    pub fn math(&mut self, ty: Ty, d: u32) -> String {
        self.math_left -= i32::from(ty.n);
        let name = ty.name();
        if !ty.s.is_float() {
            let from = self.rng.pick(&[Scalar::Float, Scalar::Double]);
            let from = Ty::new(self.or_half(from), 1);
            let (a, b) = (self.math_argument(from, d), self.math_argument(from, d));
            let e = if self.rng.chance(80) {
                let f = self.rng.pick(&RELATIONAL);
                self.count(Math, f);
                format!("{f}({a}, {b})")
            } else {
                self.count(Math, "ilogb");
                format!("ilogb({})", self.number(&a, from))
            };
            return self.convert(&e, Ty::INT, ty);
        }
        let a = self.math_argument(ty, d);
        let is_float = ty.s == Scalar::Float;
        match self.rng.below(14) {
            0 | 1 => {
                let f = self.rng.pick(&BINARY);
                self.count(Math, f);
                let b = self.math_argument(ty, d);
                // Which of two zeros is greater is free.
                let zero =
                    if matches!(f, "maxmag" | "minmag" | "fdim") { format!(" + ({name})(0)") } else { "".into() };
                format!("({f}({a}, {b}){zero})")
            }
            2 | 12 | 13 if is_float => {
                let f = self.rng.pick(&NATIVE);
                self.count(Math, f);
                format!("{f}({a})")
            }
            3 if is_float => {
                let f = self.rng.pick(&NATIVE_BINARY);
                self.count(Math, f);
                let b = self.math_argument(ty, d);
                format!("{f}({a}, {b})")
            }
            4 => {
                let f = self.rng.pick(&WITH_INT);
                self.count(Math, f);
                let int = ty.of(Scalar::Int);
                let k = self.expr(int, d);
                format!("{f}({a}, ({k} & ({})(15)) - ({})(6))", int.name(), int.name())
            }
            5 => {
                self.count(Math, "mix");
                let (b, c) = (self.math_argument(ty, d), self.math_argument(ty, d));
                format!("mix({a}, {b}, {c})")
            }
            6 => {
                self.count(Math, "smoothstep");
                let c = self.math_argument(ty, d);
                format!("(smoothstep(({name})(-1), ({name})(2), {c}) + ({name})(0))")
            }
            7..=9 if ty.n > 1 => self.geometric(ty, &a, d),
            _ => {
                let f = self.rng.pick(&UNARY);
                self.count(Math, f);
                format!("{f}({a})")
            }
        }
    }

    fn geometric(&mut self, ty: Ty, a: &str, d: u32) -> String {
        let f = self.rng.pick(&GEOMETRIC);
        let fast = f.starts_with("fast_");
        if fast && ty.s != Scalar::Float || f == "cross" && ty.n < 3 {
            // `fast_` functions are of `float` alone, and `cross` of three or four components.
            return format!("sqrt(fabs({a}))");
        }
        self.count(Math, f);
        let b = self.math_argument(ty, d);
        match f {
            "length" | "fast_length" => format!("(({})({f}({a})))", ty.name()),
            "normalize" | "fast_normalize" => format!("{f}({a})"),
            "cross" => format!("cross({a}, {b})"),
            _ => format!("(({})({f}({a}, {b})))", ty.name()),
        }
    }

    /// A variable that holds a result, or two.
    pub fn math_statement(&mut self, out: &mut Vec<Stmt>) {
        if self.profile == Profile::Portable {
            return self.portable_math(out);
        }
        let scalar = self.rng.pick(&[Scalar::Float, Scalar::Float, Scalar::Double]);
        let ty = Ty::new(self.or_half(scalar), self.rng.pick(&[1, 1, 2, 4]));
        if self.math_left < i32::from(ty.n) {
            return;
        }
        if self.rng.chance(60) {
            let e = self.math(ty, 1);
            let text = self.name("v");
            out.push(Stmt::Line(format!("{} {text} = {e};", ty.name())));
            return self.places.push(Place { text, ty, writable: true, uniform: false, private: true });
        }
        self.math_left -= i32::from(ty.n);
        let f = self.rng.pick(&WITH_POINTER);
        self.count(Math, f);
        let a = self.math_argument(ty, 1);
        let (v, p) = (self.name("v"), self.name("z"));
        let (stored, a) = match f {
            "frexp" | "lgamma_r" => (ty.of(Scalar::Int), self.number(&a, ty)),
            _ => (ty, a),
        };
        out.push(Stmt::Line(format!("{} {p} = ({})(1);", stored.name(), stored.name())));
        out.push(Stmt::Line(format!("{} {v} = {f}({a}, &{p});", ty.name())));
        for (text, ty) in [(v, ty), (p, stored)] {
            self.places.push(Place { text, ty, writable: true, uniform: false, private: true });
        }
    }

    /// A function of a number that has no error, whose result nobody computes with.
    fn portable_math(&mut self, out: &mut Vec<Stmt>) {
        if self.math_left < 1 {
            return;
        }
        self.math_left -= 1;
        let slot = self.rng.below(REALS);
        let argument = |g: &mut Self| {
            let e = g.expr(Ty::INT, 2);
            let (scale, from) = g.rng.pick(&[("0.03125f", "4"), ("0.5f", "20"), ("0.0078125f", "1")]);
            format!("(convert_float({e} & 255) * {scale} - {from}.0f)")
        };
        let (a, b) = (argument(self), argument(self));
        let e = match self.rng.below(6) {
            0 => {
                let f = self.rng.pick(&["atan2", "atan2pi", "fmod", "hypot", "nextafter", "pow", "remainder", "fdim"]);
                self.count(Math, f);
                format!("{f}({a}, {b})")
            }
            1 => {
                let f = self.rng.pick(&WITH_INT);
                self.count(Math, f);
                let k = self.expr(Ty::INT, 1);
                format!("{f}({a}, ({k} & 7) + 1)")
            }
            _ => {
                // The standard leaves the error of `lgamma` open; the other two are left out with it.
                let list: Vec<&str> =
                    UNARY.into_iter().filter(|f| !matches!(*f, "lgamma" | "tgamma" | "degrees")).collect();
                let f = self.rng.pick(&list);
                self.count(Math, f);
                format!("{f}({a})")
            }
        };
        out.push(Stmt::Line(format!("reals[gid * {REALS}u + {slot}u] = {e};")));
    }
}
