//! `half`: as a type of every other construct, in programs that need not be portable; and in memory, loads and stores
//! of vectors, aligned or not.

use super::Family::Half;
use crate::generate::expr::Place;
use crate::generate::tree::Stmt;
use crate::generate::types::{Scalar, Ty};
use crate::generate::{Gen, Profile};

/// What [`crate::generate::PRELUDE`] has for the other floats.
pub const PRELUDE: [&str; 2] = [
    "uint __attribute__((overloadable)) fold(half x) { return isnan(x) ? 0x7e00u : as_ushort(x); }",
    "half __attribute__((overloadable)) num(half x) { return isnan(x) ? 0.0h : x; }",
];

impl Gen {
    /// Whether the program computes with `half`: not all platforms do.
    pub fn has_half(&self) -> bool {
        self.has(Half) && self.profile == Profile::Total
    }

    /// A type, or `half` where programs have it.
    pub fn or_half(&mut self, scalar: Scalar) -> Scalar {
        if self.has_half() && self.rng.chance(20) {
            self.count(Half, "half");
            return Scalar::Half;
        }
        scalar
    }

    /// Any scalar type.
    pub fn any_scalar(&mut self) -> Scalar {
        let scalar = self.rng.pick(&Scalar::LIST);
        self.or_half(scalar)
    }

    /// Any type.
    pub fn any_type(&mut self) -> Ty {
        let n = self.rng.pick(&[1, 1, 1, 1, 1, 1, 2, 3, 4, 4, 8, 16]);
        Ty::new(self.any_scalar(), n)
    }

    /// A load from `in`, or a store to the words of this work-item in `out`.
    pub fn half_statement(&mut self, out: &mut Vec<Stmt>) {
        let n = self.rng.pick(&[2u8, 3, 4, 8, 16]);
        // An element of three components begins at every fourth in the aligned forms.
        let aligned = self.rng.chance(40);
        let a = if aligned { "a" } else { "" };
        let i = self.expr(Ty::UINT, 1);
        if self.rng.chance(50) {
            self.count(Half, if aligned { "vloada_half" } else { "vload_half" });
            let text = format!("vload{a}_half{n}({i} & 63u, (const global half *)in)");
            let place = Place { text, ty: Ty::new(Scalar::Float, n), writable: false, uniform: false, private: false };
            return out.push(self.observe(&place));
        }
        // 32 halves belong to the work-item, of which each is written by whole elements.
        let most = 32 / u32::from(if aligned && n == 3 { 4 } else { n });
        let mode = self.rng.pick(&["", "_rte", "_rtz", "_rtp", "_rtn"]);
        let from = Ty::new(self.rng.pick(&[Scalar::Float, Scalar::Float, Scalar::Double]), n);
        self.count(
            Half,
            match (aligned, from.s) {
                (false, Scalar::Float) => "vstore_half",
                (true, Scalar::Float) => "vstorea_half",
                _ => "vstore_half of double",
            },
        );
        let e = self.expr(from, 2);
        // The bits of a NaN are unspecified.
        let zero = format!("({})(0)", from.name());
        let e = format!("select({e}, {zero}, isnan({e}))");
        let to = "(global half *)(out + base)";
        out.push(Stmt::Line(format!("vstore{a}_half{n}{mode}({e}, {i} % {most}u, {to});")));
    }
}
