//! Expressions. Each is in parentheses or a call, has no side effect, and is defined for every value of what it reads.

use super::types::{Scalar, Ty};
use super::{Gen, Profile};

/// An lvalue that expressions read and statements write.
#[derive(Clone, Debug)]
pub struct Place {
    /// The text; `{7}` stands for any index up to 7.
    pub text: String,
    /// The type.
    pub ty: Ty,
    /// Whether statements may write to it.
    pub writable: bool,
    /// Whether it is group-uniform, if its indices are.
    pub uniform: bool,
    /// Whether `&` may be taken in the private address space.
    pub private: bool,
}

/// `components` of a vector, as a swizzle.
fn swizzle(components: &[u8]) -> String {
    let hex = |&c: &u8| char::from_digit(u32::from(c), 16).unwrap_or('0');
    if components.iter().all(|&c| c < 4) && components.len() <= 4 && components.len() != 3 {
        components.iter().map(|&c| ['x', 'y', 'z', 'w'][usize::from(c)]).collect()
    } else {
        format!("s{}", components.iter().map(hex).collect::<String>())
    }
}

impl Gen {
    /// Any expression of this type; a group-uniform one if `self.same` is set.
    pub fn expr(&mut self, ty: Ty, depth: u32) -> String {
        if depth == 0 || self.rng.chance(15) {
            return self.leaf(ty);
        }
        let d = depth - 1;
        if !self.families.is_empty() && self.wants_math(ty) {
            return self.math(ty, d);
        }
        match self.rng.below(10) {
            0..=3 => self.arithmetic(ty, d),
            4 => self.choice(ty, d),
            5 => self.conversion(ty, d),
            6 | 7 => self.builtin(ty, d),
            8 if ty.n > 1 => self.vector(ty, d),
            8 if ty.s == Scalar::Int => {
                let c = self.condition(d);
                format!("({c})")
            }
            _ if ty.n == 1 && !self.same && !self.helpers.is_empty() => self.call(ty, d),
            _ => self.arithmetic(ty, d),
        }
    }

    /// An index below a power of two, whose last is `mask`.
    fn index(&mut self, mask: &str) -> String {
        // In an index of an index there is only a number; otherwise the text could grow without a bound.
        if self.rng.chance(30) || self.indexing {
            let mask: u64 = mask.parse().unwrap_or(0);
            return self.rng.below(mask + 1).to_string();
        }
        self.indexing = true;
        let e = self.expr(Ty::INT, 1);
        self.indexing = false;
        if self.rng.chance(50) { format!("({e} & {mask})") } else { format!("((uint){e} % ({mask}u + 1u))") }
    }

    /// The text of an lvalue, with indices.
    pub fn text(&mut self, place: &Place) -> String {
        let mut out = String::new();
        let mut rest = place.text.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            let (mask, tail) = after.split_once('}').unwrap_or((after, ""));
            out.push_str(before);
            out.push_str(&self.index(mask));
            rest = tail;
        }
        out + rest
    }

    fn leaf(&mut self, ty: Ty) -> String {
        let same = self.same;
        if self.rng.chance(12) {
            return self.literal(ty);
        }
        let usable = |p: &&Place| !same || p.uniform;
        let exact: Vec<Place> = self.places.iter().filter(usable).filter(|p| p.ty == ty).cloned().collect();
        if !exact.is_empty() && self.rng.chance(75) {
            // What was declared last is nearest.
            let from = if self.rng.chance(50) { exact.len().saturating_sub(4) } else { 0 };
            let place = self.rng.pick(&exact[from..]);
            return self.text(&place);
        }
        // A component, or several in any order, of a vector in scope; vectors of three are left out.
        let like: Vec<Place> =
            self.places.iter().filter(usable).filter(|p| p.ty.n >= ty.n && p.ty.n != 3).cloned().collect();
        if !like.is_empty() && self.rng.chance(70) {
            let place = self.rng.pick(&like);
            let text = self.text(&place);
            let components: Vec<u8> = (0..ty.n).map(|_| self.rng.below(u64::from(place.ty.n)) as u8).collect();
            let part = if place.ty.n == 1 { text } else { format!("{text}.{}", swizzle(&components)) };
            return self.convert(&part, place.ty.of(place.ty.s), ty);
        }
        if ty.n == 1 && self.rng.chance(60) {
            let e = self.work_item();
            return self.convert(&e, Ty::new(Scalar::ULong, 1), ty);
        }
        self.literal(ty)
    }

    /// A work-item function.
    fn work_item(&mut self) -> String {
        let dim = self.rng.below(4);
        let uniform = ["get_local_size", "get_group_id", "get_num_groups", "get_global_size", "get_global_offset"];
        if self.same || self.rng.chance(30) {
            format!("{}({dim})", self.rng.pick(&uniform))
        } else {
            format!("{}({dim})", self.rng.pick(&["get_global_id", "get_local_id"]))
        }
    }

    /// A constant.
    pub fn literal(&mut self, ty: Ty) -> String {
        if ty.n > 1 {
            let parts: Vec<String> = (0..ty.n).map(|_| self.literal(ty.scalar())).collect();
            return format!("(({})({}))", ty.name(), parts.join(", "));
        }
        let interesting =
            [0, 1, 2, 3, 5, 7, 31, 32, 63, 127, 128, 255, 256, 0x7fff, 0x8000, 0xffff, 0x7fff_ffff, 0x8000_0000];
        // Small numbers, the ends of ranges with their negatives, and any bits.
        let bits = match self.rng.below(3) {
            0 => self.rng.below(16),
            1 => {
                let x: u64 = self.rng.pick(&interesting);
                if self.rng.chance(30) { x.wrapping_neg() } else { x }
            }
            _ => self.rng.next(),
        };
        match ty.s {
            Scalar::Float => match self.rng.below(6) {
                0 => "0.0f".into(),
                1 => "1.5f".into(),
                2 => "(-0x1.8p-3f)".into(),
                3 => format!("{}.25f", bits % 1000),
                4 if !self.plain => format!("as_float({:#x}u)", bits as u32),
                _ => format!("0x1.{:x}p{}f", bits as u16, (bits >> 16) % 40),
            },
            Scalar::Half => match self.rng.below(6) {
                0 => "0.0h".into(),
                1 => "1.5h".into(),
                2 => "(-0x1.8p-3h)".into(),
                3 => format!("{}.25h", bits % 1000),
                4 => format!("as_half((ushort){:#x})", bits as u16),
                _ => format!("0x1.{:x}p{}h", bits as u16, (bits >> 16) as i64 % 40 - 24),
            },
            Scalar::Double => match self.rng.below(5) {
                0 => "0.0".into(),
                1 => "(-2.5)".into(),
                2 => format!("{}.125", bits % 100_000),
                3 if !self.plain => format!("as_double({bits:#x}ul)"),
                _ => format!("0x1.{bits:x}p{}", (bits >> 16) % 70),
            },
            Scalar::Int if bits < 1 << 31 && self.rng.chance(60) => bits.to_string(),
            Scalar::UInt if self.rng.chance(60) => format!("{}u", bits as u32),
            Scalar::Long if bits < 1 << 63 => format!("{bits}l"),
            Scalar::ULong => format!("{bits:#x}ul"),
            Scalar::Char if u8::try_from(bits).is_ok_and(|b| b.is_ascii_alphanumeric()) => {
                format!("'{}'", bits as u8 as char)
            }
            s if s.bits() == 64 => format!("(({}){bits:#x}ul)", s.name()),
            s => format!("(({}){:#x}u)", s.name(), bits as u32),
        }
    }

    /// `e` of type `from` as type `to`, with as many components; `from` may have more if `e` is a swizzle, or one.
    pub fn convert(&mut self, e: &str, from: Ty, to: Ty) -> String {
        // What was picked from a vector has the components of the target already.
        let from = if from.n == 1 { from } else { from.of(from.s) };
        let n = if from.n == 1 { 1 } else { to.n };
        if from.s == to.s && n == to.n {
            return e.to_owned();
        }
        let target = Ty::new(to.s, n);
        let converted = if from.s == to.s {
            e.to_owned()
        } else if from.s.is_float() && !to.s.is_float() {
            // In a portable program a float becomes an integer by saturation, after NaN was replaced: what is out of
            // range, and NaN, have no value that all platforms agree about.
            let nan_free = format!("num({e})");
            if n == 1 && self.profile == Profile::Total {
                match self.rng.below(3) {
                    0 => format!("(({}){e})", target.name()),
                    1 => format!("convert_{}_rte({e})", target.name()),
                    _ => format!("convert_{}_sat({e})", target.name()),
                }
            } else if n == 1 {
                format!("convert_{}_sat({nan_free})", target.name())
            } else if self.profile == Profile::Total {
                format!("convert_{}({e})", target.name())
            } else {
                // A comparison with itself detects NaN.
                let zero = format!("({})(0)", Ty::new(from.s, n).name());
                format!("convert_{}_sat(select({e}, {zero}, isnan({e})))", target.name())
            }
        } else if n == 1 && self.rng.chance(60) {
            format!("(({}){e})", target.name())
        } else if to.s.is_float() {
            let mode = self.rng.pick(&["", "_rte", "_rtz", "_rtp", "_rtn"]);
            format!("convert_{}{mode}({e})", target.name())
        } else {
            let mode = self.rng.pick(&["", "_sat"]);
            format!("convert_{}{mode}({e})", target.name())
        };
        if n == to.n { converted } else { format!("(({}){converted})", to.name()) }
    }

    /// A condition that is 0 or 1.
    pub fn condition(&mut self, depth: u32) -> String {
        let d = depth.saturating_sub(1);
        match self.rng.below(8) {
            0 if depth > 0 => {
                let (a, b) = (self.condition(d), self.condition(d));
                let op = self.rng.pick(&["&&", "||"]);
                format!("({a} {op} {b})")
            }
            1 if depth > 0 => format!("(!{})", self.condition(d)),
            2 => {
                let ty = Ty::new(Scalar::Int, self.rng.pick(&[2, 3, 4]));
                let (a, b) = (self.expr(ty, d), self.expr(ty, d));
                let (f, op) = (self.rng.pick(&["any", "all"]), self.rng.pick(&["<", "!=", ">="]));
                format!("{f}({a} {op} {b})")
            }
            3 => {
                let e = self.expr(Ty::INT, d);
                format!("(({e} & {}) != 0)", 1 << self.rng.below(5))
            }
            n => {
                let ty = if n < 6 { Ty::INT } else { Ty::new(self.any_scalar(), 1) };
                let (a, b) = (self.expr(ty, d), self.expr(ty, d));
                let op = self.rng.pick(&["<", "<=", ">", ">=", "==", "!="]);
                format!("({a} {op} {b})")
            }
        }
    }

    /// Puts a result in the type, where promotion made it an `int`.
    fn narrowed(ty: Ty, e: &str) -> String {
        if ty.n == 1 && ty.s.bits() < 32 { format!("(({}){e})", ty.name()) } else { e.to_owned() }
    }

    fn arithmetic(&mut self, ty: Ty, d: u32) -> String {
        let a = self.expr(ty, d);
        if ty.s.is_float() {
            let b = self.expr(ty, d);
            // On other platforms, a quotient of floats may be off by some units in the last place.
            let ops: &[&str] = if self.profile == Profile::Total { &["+", "-", "*", "/"] } else { &["+", "-", "*"] };
            return match self.rng.below(8) {
                0 => format!("(-{a})"),
                _ => format!("({a} {} {b})", self.rng.pick(ops)),
            };
        }
        match self.rng.below(14) {
            0 => Self::narrowed(ty, &format!("(~{a})")),
            1 => self.wrapping(ty, &a, "-", None),
            2 | 3 => {
                // The amount counts modulo the width.
                let amount = if self.rng.chance(50) || ty.n > 1 { ty } else { Ty::UINT };
                let b = self.expr(amount, d);
                Self::narrowed(ty, &format!("({a} {} {b})", self.rng.pick(&["<<", ">>"])))
            }
            4 | 5 => {
                let b = self.expr(ty, d);
                let op = self.rng.pick(&["/", "%"]);
                let divisor = match self.profile {
                    Profile::Total => b,
                    // Divisors from 1 to 64: neither zero nor -1, by which the least number has no quotient.
                    Profile::Portable if ty.s.is_signed() => {
                        let (one, mask) = (format!("({})1", ty.name()), format!("({})63", ty.name()));
                        format!("(({b} & ({mask})) + ({one}))")
                    }
                    Profile::Portable => format!("({b} | ({})1)", ty.name()),
                };
                Self::narrowed(ty, &format!("({a} {op} {divisor})"))
            }
            6..=8 => {
                let b = self.expr(ty, d);
                Self::narrowed(ty, &format!("({a} {} {b})", self.rng.pick(&["&", "|", "^"])))
            }
            9 if ty.n > 1 && ty.s.is_signed() => {
                let from = ty.of(self.rng.pick(&[ty.s, ty.s.unsigned()]));
                let (x, y) = (self.expr(from, d), self.expr(from, d));
                format!("({x} {} {y})", self.rng.pick(&["<", "<=", ">", ">=", "==", "!=", "&&", "||"]))
            }
            n => {
                let b = self.expr(ty, d);
                self.wrapping(ty, &a, ["+", "-", "*", "+"][n as usize % 4], Some(&b))
            }
        }
    }

    /// An operation that wraps around; on signed integers C leaves that undefined, and Cloom does not.
    pub fn wrapping(&mut self, ty: Ty, a: &str, op: &str, b: Option<&str>) -> String {
        let plain = self.profile == Profile::Total || !ty.s.is_signed() && ty.s.bits() >= 32;
        let unsigned = if ty.n == 1 && ty.s.bits() < 32 { "uint".into() } else { ty.of(ty.s.unsigned()).name() };
        let wrap = |e: &str| match (plain, ty.n) {
            (true, _) => e.to_owned(),
            (false, 1) => format!("({unsigned}){e}"),
            (false, _) => format!("as_{unsigned}({e})"),
        };
        let e = match b {
            None => format!("({op}{})", wrap(a)),
            Some(b) => format!("({} {op} {})", wrap(a), wrap(b)),
        };
        if plain {
            Self::narrowed(ty, &e)
        } else if ty.n == 1 {
            format!("(({}){e})", ty.name())
        } else {
            format!("as_{}{e}", ty.name())
        }
    }

    /// `?:` and `select`.
    fn choice(&mut self, ty: Ty, d: u32) -> String {
        let (a, b) = (self.expr(ty, d), self.expr(ty, d));
        if ty.n == 1 || self.rng.chance(30) {
            let c = self.condition(d);
            if ty.n > 1 || self.rng.chance(70) {
                // `?:` of vectors looks at the highest bit of each component, so that "true" is -1 there.
                let c = if ty.n == 1 { c } else { format!("({})({c} ? -1 : 0)", ty.of(ty.s.signed()).name()) };
                return Self::narrowed(ty, &format!("({c} ? {a} : {b})"));
            }
            let scalar = if self.rng.chance(50) { ty.s.signed() } else { ty.s.unsigned() };
            return format!("select({a}, {b}, ({}){c})", scalar.name());
        }
        let mask = ty.of(ty.s.signed());
        let (x, y) = (self.expr(mask, d), self.expr(mask, d));
        let op = self.rng.pick(&["<", ">", "==", "!="]);
        if self.rng.chance(50) {
            format!("(({x} {op} {y}) ? {a} : {b})")
        } else {
            format!("select({a}, {b}, {x} {op} {y})")
        }
    }

    fn conversion(&mut self, ty: Ty, d: u32) -> String {
        if ty.s.is_float() || self.rng.chance(70) {
            let from = Ty::new(self.any_scalar(), ty.n);
            let e = self.expr(from, d);
            return self.convert(&e, from, ty);
        }
        // The bits of another type of the same size; never of a float, whose NaNs may have any.
        let total = ty.s.bits() * u32::from(ty.n);
        let shapes: Vec<Ty> = [Scalar::Char, Scalar::UChar, Scalar::Short, Scalar::Int, Scalar::UInt, Scalar::Long]
            .into_iter()
            .filter_map(|s| match total / s.bits() {
                n @ (1 | 2 | 4 | 8 | 16) if n * s.bits() == total && ty.n != 3 => Some(Ty::new(s, n as u8)),
                _ if s.bits() == ty.s.bits() => Some(ty.of(s)),
                _ => None,
            })
            .collect();
        let from = self.rng.pick(&shapes);
        let e = self.expr(from, d);
        format!("as_{}({e})", ty.name())
    }

    fn builtin(&mut self, ty: Ty, d: u32) -> String {
        let name = ty.name();
        let arg = |g: &mut Self| g.expr(ty, d);
        let (a, b) = (arg(self), arg(self));
        if ty.s.is_float() {
            return match self.rng.below(12) {
                0 => format!("fabs({a})"),
                1 => format!("floor({a})"),
                2 => format!("ceil({a})"),
                3 => format!("trunc({a})"),
                4 => format!("rint({a})"),
                5 => format!("round({a})"),
                6 => {
                    let c = arg(self);
                    format!("fma({a}, {b}, {c})")
                }
                // Which of two zeros is smaller is unspecified.
                7 => format!("(fmin({a}, {b}) + ({name})(0))"),
                8 => format!("(fmax({a}, {b}) + ({name})(0))"),
                9 if self.profile == Profile::Total => format!("sqrt({a})"),
                10 if self.profile == Profile::Total => format!("fdim({a}, {b})"),
                _ => {
                    // The sign of a NaN is unspecified.
                    let number = match ty.n {
                        1 => format!("num({b})"),
                        _ => format!("select({b}, ({name})(1), isnan({b}))"),
                    };
                    format!("copysign({a}, {number})")
                }
            };
        }
        match self.rng.below(16) {
            0 => {
                let from = if ty.s.is_signed() { ty } else { ty.of(ty.s.signed()) };
                let e = self.expr(from, d);
                let abs = format!("abs({e})");
                self.convert(&abs, ty.of(ty.s.unsigned()), ty)
            }
            1 => {
                let from = ty.of(if self.rng.chance(50) { ty.s.signed() } else { ty.s.unsigned() });
                let (x, y) = (self.expr(from, d), self.expr(from, d));
                let e = format!("abs_diff({x}, {y})");
                self.convert(&e, ty.of(ty.s.unsigned()), ty)
            }
            2 => format!("add_sat({a}, {b})"),
            3 => format!("sub_sat({a}, {b})"),
            4 => format!("hadd({a}, {b})"),
            5 => format!("rhadd({a}, {b})"),
            6 => {
                let c = arg(self);
                // The bounds must be in their order; the result is undefined otherwise.
                format!("clamp({c}, min({a}, {b}), max({a}, {b}))")
            }
            7 => format!("clz({a})"),
            8 => format!("mul_hi({a}, {b})"),
            9 => format!("max({a}, {b})"),
            10 => format!("min({a}, {b})"),
            11 => format!("rotate({a}, {b})"),
            12 => format!("popcount({a})"),
            13 if ty.s.bits() == 32 => {
                // `mad24` takes operands of 24 bits; what is above may count or not.
                let mask = format!("({name})(0x7fff)");
                format!("mad24({a} & {mask}, {b} & {mask}, {a})")
            }
            14 if self.profile == Profile::Total => {
                let c = arg(self);
                format!("mad_hi({a}, {b}, {c})")
            }
            15 if ty.s.bits() > 8 => {
                let half = match (ty.s.bits(), ty.s.is_signed()) {
                    (16, false) => (Scalar::UChar, Scalar::UChar),
                    (16, true) => (Scalar::Char, Scalar::UChar),
                    (32, false) => (Scalar::UShort, Scalar::UShort),
                    (32, true) => (Scalar::Short, Scalar::UShort),
                    (_, false) => (Scalar::UInt, Scalar::UInt),
                    (_, true) => (Scalar::Int, Scalar::UInt),
                };
                let (hi, lo) = (self.expr(ty.of(half.0), d), self.expr(ty.of(half.1), d));
                format!("upsample({hi}, {lo})")
            }
            _ => format!("bitselect({a}, {b}, {})", arg(self)),
        }
    }

    /// Vectors put together from parts.
    fn vector(&mut self, ty: Ty, d: u32) -> String {
        match self.rng.below(5) {
            0 if ty.n != 3 && ty.n <= 8 => {
                let twice = Ty::new(ty.s, ty.n * 2);
                let part = self.rng.pick(&["lo", "hi", "even", "odd"]);
                let e = self.expr(twice, d);
                format!("({e}).{part}")
            }
            1 if ty.n != 3 => {
                let index = ty.of(ty.s.unsigned());
                let from = Ty::new(ty.s, self.rng.pick(&[2, 4, 8]));
                let (e, i) = (self.expr(from, d), self.expr(index, d));
                if self.rng.chance(50) {
                    format!("shuffle({e}, {i})")
                } else {
                    let f = self.expr(from, d);
                    format!("shuffle2({e}, {f}, {i})")
                }
            }
            2 => {
                let from = Ty::new(ty.s, self.rng.pick(&[2, 4, 8]));
                let e = self.expr(from, d);
                let list: Vec<u8> = (0..ty.n).map(|_| self.rng.below(u64::from(from.n)) as u8).collect();
                format!("({e}).{}", swizzle(&list))
            }
            _ => {
                let mut left = ty.n;
                let mut parts = Vec::new();
                while left > 0 {
                    let sizes: Vec<u8> = [1, 1, 2, 3, 4, 8].into_iter().filter(|&n| n <= left && n < ty.n).collect();
                    let n = self.rng.pick(&sizes);
                    // There may be 16 parts, so that each is kept short.
                    parts.push(self.expr(Ty::new(ty.s, n), d.min(1)));
                    left -= n;
                }
                format!("(({})({}))", ty.name(), parts.join(", "))
            }
        }
    }

    /// A call of a helper.
    fn call(&mut self, ty: Ty, d: u32) -> String {
        let helper = self.rng.pick(&self.helpers);
        let args: Vec<String> = helper.params.iter().map(|&p| self.expr(p, d)).collect();
        let mut e = format!("{}({})", helper.name, args.join(", "));
        if helper.ret.n > 1 {
            e += &format!(".{}", swizzle(&[self.rng.below(u64::from(helper.ret.n)) as u8]));
        }
        self.convert(&e, helper.ret.scalar(), ty)
    }
}
