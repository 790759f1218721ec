//! Which bits of values come from memory that nothing has written, and what depends on them.
//!
//! In come the instructions of a work-item before they are executed; kept is a mask of undefined bits beside each
//! register, with the place where they were read. Reading, copying and computing with undefined bits is allowed, as
//! vectors are filled by components and structures are copied with their padding. Told to the observer is what depends
//! on them: a branch, an address, and what leaves the work-group (the rules of MemorySanitizer: Stepanov and
//! Serebryany, CGO 2015).

use crate::code::{Code, Lanes, Reg, To};
use crate::observe::{Arithmetic, Observer, Use};
use crate::registers::bitcast;
use crate::running::Running;
use crate::shadow::{NULL, Undefined};
use cloom_ir::{BinOp, CastOp, IntCc, Mark, Scalar, eval};

impl<O: Observer> Running<'_, '_, O> {
    fn undefined(&self, r: Reg) -> Undefined {
        self.defined.get(r as usize).copied().unwrap_or_default()
    }

    /// The object that the address in a register was made from.
    pub fn base(&self, r: Reg) -> u32 {
        self.undefined(r).base
    }

    /// Sets the undefined bits of a register.
    pub fn set_undefined(&mut self, r: Reg, undefined: Undefined) {
        if let Some(slot) = self.defined.get_mut(r as usize) {
            *slot = undefined;
        }
    }

    fn set_defined(&mut self, d: Reg, n: u32) {
        (d..d + n).for_each(|r| self.set_undefined(r, Undefined::NONE));
    }

    fn each(&mut self, n: u32, d: Reg, f: impl Fn(&Self, u32) -> Undefined) {
        for i in 0..n {
            let undefined = f(self, i);
            self.set_undefined(d + i, undefined);
        }
    }

    /// Tells that something depends on registers. They count as defined then, so that one bug is told once. Whether any
    /// is undefined.
    pub fn uses(&mut self, what: Use, registers: std::ops::Range<Reg>) -> bool {
        let mut any = false;
        for r in registers {
            let undefined = self.undefined(r);
            if undefined.bits != 0 {
                self.shared.observer.undefined(what, undefined.origin, &self.at);
                self.set_undefined(r, Undefined { base: undefined.base, ..Undefined::NONE });
                any = true;
            }
        }
        any
    }

    /// What is undefined moves with the copies of an edge.
    pub fn move_definedness(&mut self, to: &To) {
        let old: Vec<Undefined> = to.moves.iter().map(|m| self.undefined(m.1)).collect();
        for (m, undefined) in to.moves.iter().zip(old) {
            self.set_undefined(m.0, undefined);
        }
    }

    /// Computes the undefined bits of an instruction's result, and tells what depends on undefined operands. Whether it
    /// is an access whose address is undefined.
    pub fn define(&mut self, code: &Code) -> bool {
        match *code {
            Code::Bin { op, ty, nsw, d, a, b } => self.binary(op, ty, nsw, d, a, b),
            Code::BinV { op, nsw, l, d, a, b } => {
                (0..l.n).for_each(|i| self.binary(op, l.ty, nsw, d + i, a + i, b + i));
            }
            Code::Un { l, d, a, .. } => self.each(l.n, d, |s, i| Undefined::all(l.ty, &[s.undefined(a + i)])),
            Code::Fma { l, d, a, b, c } => self.each(l.n, d, |s, i| {
                Undefined::all(l.ty, &[s.undefined(a + i), s.undefined(b + i), s.undefined(c + i)])
            }),
            Code::Icmp { cc, l, d, a, b } => self.each(l.n, d, |s, i| {
                let all = Undefined::all(Scalar::I1, &[s.undefined(a + i), s.undefined(b + i)]);
                let [x, y] = [(a + i), (b + i)].map(|r| (s.get(r), s.undefined(r).bits));
                if all.bits == 0 || is_decided(cc, l.ty, x, y) { Undefined::NONE } else { all }
            }),
            Code::Fcmp { l, d, a, b, .. } => {
                self.each(l.n, d, |s, i| Undefined::all(Scalar::I1, &[s.undefined(a + i), s.undefined(b + i)]));
            }
            Code::Cast { op, l, to, d, a } => {
                (0..l.n).for_each(|i| self.conversion(op, l.ty, to, a + i));
                self.each(l.n, d, |s, i| cast(op, l.ty, to, s.undefined(a + i)));
            }
            Code::Bitcast { from, to, d, a } => self.bitcast_definedness(from, to, d, a),
            Code::Select { n, cond_lanes, d, a, b, c } => self.each(n, d, |s, i| {
                let cond = if cond_lanes { a + i } else { a };
                let [x, y] = [s.undefined(b + i), s.undefined(c + i)];
                match s.undefined(cond) {
                    Undefined { bits: 0, .. } => {
                        if s.get(cond) != 0 {
                            x
                        } else {
                            y
                        }
                    }
                    // Bits in which both agree do not depend on the condition.
                    u => Undefined { bits: s.get(b + i) ^ s.get(c + i) | x.bits | y.bits, ..u },
                }
            }),
            Code::Extract { n, d, a, b } => {
                self.uses(Use::Address, b..b + 1);
                let lane = (self.get(b) % u64::from(n)) as u32;
                self.set_undefined(d, self.undefined(a + lane));
            }
            Code::Insert { n, d, a, b, c } => {
                self.uses(Use::Address, b..b + 1);
                let lane = (self.get(b) % u64::from(n)) as u32;
                self.each(n, d, |s, i| s.undefined(if i == lane { c } else { a + i }));
            }
            Code::Pick { d, ref from } => self.each(from.len() as u32, d, |s, i| s.undefined(from[i as usize])),
            Code::Any { n, d, a } => self.truth(n, d, a, 1),
            Code::All { n, d, a } => self.truth(n, d, a, 0),
            Code::PtrAdd { n, d, a, b } => self.each(n, d, |s, i| {
                let pointer = s.undefined(a + i);
                let base = match (pointer.base, s.get(a + i)) {
                    (0, 0) => NULL,
                    (0, address) => s.shared.memory.segment_of(address),
                    (base, _) => base,
                };
                Undefined { base, ..Undefined::all(Scalar::I64, &[pointer, s.undefined(b + i)]) }
            }),
            Code::Ballot { d, .. }
            | Code::Alloca { d, .. }
            | Code::GlobalAddr { d, .. }
            | Code::Clock { d }
            | Code::Poll { d }
            | Code::Query { d, .. }
            | Code::Mark { mark: Mark::Copy, d, .. }
            | Code::Subgroup { d, .. } => self.set_defined(d, 1),
            Code::Branch { cond: by, .. } | Code::Switch { value: by, .. } => {
                self.uses(Use::Branch, by..by + 1);
            }
            // An undefined bit is kept with the bytes in memory; the value moves where the access is executed.
            Code::Load { a, .. } | Code::AtomicLoad { a, .. } | Code::MemSet { a, .. } | Code::Store { a, .. } => {
                return self.uses(Use::Address, a..a + 1);
            }
            Code::MemCopy { a, b, .. } => return self.uses(Use::Address, a..a + 1) | self.uses(Use::Address, b..b + 1),
            Code::Rmw { a, b, .. } | Code::AtomicStore { a, b, .. } => {
                self.uses(Use::Atomic, b..b + 1);
                return self.uses(Use::Address, a..a + 1);
            }
            Code::CmpXchg { a, b, c, .. } => {
                self.uses(Use::Atomic, b..b + 1);
                self.uses(Use::Atomic, c..c + 1);
                return self.uses(Use::Address, a..a + 1);
            }
            Code::Printf { ref args, .. } => {
                for &(r, ty) in args {
                    self.uses(Use::Printf, r..r + u32::from(ty.lanes));
                }
            }
            // Masked accesses are made by the vectoriser: here values are followed before it.
            Code::LoadLanes { l, d, .. } => self.set_defined(d, l.n),
            Code::StoreLanes { .. }
            | Code::Mark { .. }
            | Code::Barrier(_)
            | Code::Fence { .. }
            | Code::Call { .. }
            | Code::DeviceCall
            | Code::Sample
            | Code::Jump(_)
            | Code::Return { .. }
            | Code::Unreachable => {}
        }
        false
    }

    /// Whether any lane is on (`decides` is 1), or all are (0): one defined lane of that value decides.
    fn truth(&mut self, n: u32, d: Reg, a: Reg, decides: u64) {
        let decided = (a..a + n).any(|r| self.undefined(r).bits == 0 && self.get(r) == decides);
        let lanes: Vec<Undefined> = (a..a + n).map(|r| self.undefined(r)).collect();
        self.set_undefined(d, if decided { Undefined::NONE } else { Undefined::all(Scalar::I1, &lanes) });
    }

    fn binary(&mut self, op: BinOp, ty: Scalar, nsw: bool, d: Reg, a: Reg, b: Reg) {
        let [x, y] = [self.undefined(a), self.undefined(b)];
        let [va, vb] = [self.get(a), self.get(b)];
        if x.bits | y.bits != 0 {
            let origin = if x.bits != 0 { x.origin } else { y.origin };
            let bits = undefined_bits(op, ty, (va, x.bits), (vb, y.bits));
            self.set_undefined(d, Undefined { bits, origin, base: 0 });
            return;
        }
        self.set_undefined(d, Undefined::NONE);
        if let Some(what) = undefined_arithmetic(op, ty, nsw, va, vb) {
            self.shared.observer.arithmetic(what, &self.at);
        }
    }

    fn conversion(&mut self, op: CastOp, from: Scalar, to: Scalar, a: Reg) {
        if !matches!(op, CastOp::FtoS | CastOp::FtoU) || self.undefined(a).bits != 0 {
            return;
        }
        let x = eval::to_f64(from, self.get(a));
        let (low, high) = match (op, to.bits()) {
            (CastOp::FtoS, bits) => (-(2f64.powi(bits as i32 - 1)), 2f64.powi(bits as i32 - 1)),
            (_, bits) => (0.0, 2f64.powi(bits as i32)),
        };
        // The fraction is dropped before the number has to fit. NaN does not compare.
        let whole = x.trunc();
        if !(whole >= low && whole < high) {
            self.shared.observer.arithmetic(Arithmetic::Conversion, &self.at);
        }
    }

    fn bitcast_definedness(&mut self, from: Lanes, to: Lanes, d: Reg, a: Reg) {
        let source: Vec<Undefined> = (a..a + from.n).map(|r| self.undefined(r)).collect();
        let origin = source.iter().find(|u| u.bits != 0).map_or(0, |u| u.origin);
        // The masks move as the values do, in a frame of their own.
        let mut bits: Vec<u64> = source.iter().map(|u| u.bits).collect();
        bits.resize((from.n + to.n) as usize, 0);
        bitcast(&mut bits, from, to, from.n, 0);
        self.each(to.n, d, |_, i| Undefined { bits: bits[(from.n + i) as usize], origin, base: 0 });
    }
}

/// The undefined bits of the result of an operation on two values, each with its undefined bits.
fn undefined_bits(op: BinOp, ty: Scalar, (a, ua): (u64, u64), (b, ub): (u64, u64)) -> u64 {
    let all = ty.mask();
    let bits = match op {
        BinOp::And => ua & ub | a & ub | ua & b,
        BinOp::Or => ua & ub | !a & ub | ua & !b,
        BinOp::Xor => ua | ub,
        BinOp::Mul if a == 0 && ua == 0 || b == 0 && ub == 0 => 0,
        // Carries go up from the lowest undefined bit.
        BinOp::Add | BinOp::Sub | BinOp::Mul => {
            let any = ua | ub;
            !(any & any.wrapping_neg()).wrapping_sub(1)
        }
        BinOp::Shl | BinOp::Lshr | BinOp::Ashr if ub == 0 => eval::binary(op, ty, ua, b),
        _ => all,
    };
    bits & all
}

/// Whether a comparison has the same result whatever the undefined bits are.
fn is_decided(cc: IntCc, ty: Scalar, (a, ua): (u64, u64), (b, ub): (u64, u64)) -> bool {
    if matches!(cc, IntCc::Eq | IntCc::Ne) {
        return (a ^ b) & !(ua | ub) & ty.mask() != 0;
    }
    let sign = match cc {
        IntCc::Slt | IntCc::Sle | IntCc::Sgt | IntCc::Sge => 1 << (ty.bits() - 1),
        _ => 0,
    };
    // The least and the greatest value: of a signed number, the sign bit set makes it less.
    let range = |x: u64, u: u64| (x & !u | u & sign, (x | u) & !(u & sign));
    let ((a_low, a_high), (b_low, b_high)) = (range(a, ua), range(b, ub));
    eval::icmp(cc, ty, a_low, b_high) == eval::icmp(cc, ty, a_high, b_low)
}

fn cast(op: CastOp, from: Scalar, to: Scalar, u: Undefined) -> Undefined {
    match op {
        CastOp::Trunc | CastOp::Zext | CastOp::Sext => {
            Undefined { bits: eval::cast(op, from, to, u.bits), base: 0, ..u }
        }
        CastOp::Bitcast => Undefined { bits: eval::cast(op, from, to, u.bits), ..u },
        // The same address, with another tag.
        CastOp::Space => Undefined { base: u.base, ..Undefined::all(to, &[u]) },
        _ => Undefined::all(to, &[u]),
    }
}

/// What OpenCL C leaves undefined of an operation on these values.
fn undefined_arithmetic(op: BinOp, ty: Scalar, nsw: bool, a: u64, b: u64) -> Option<Arithmetic> {
    let signed = |x: u64| eval::signed(ty, x);
    let least = 1u64 << (ty.bits() - 1);
    match op {
        BinOp::Sdiv | BinOp::Udiv | BinOp::Srem | BinOp::Urem if b == 0 => Some(Arithmetic::DivisionByZero),
        BinOp::Sdiv | BinOp::Srem if a == least && b == ty.mask() => Some(Arithmetic::DivisionOverflow),
        BinOp::Shl | BinOp::Lshr | BinOp::Ashr if b >= u64::from(ty.bits()) => {
            Some(Arithmetic::Shift { amount: signed(b), width: ty.bits() })
        }
        BinOp::Add | BinOp::Sub | BinOp::Mul if nsw => {
            let (x, y) = (i128::from(signed(a)), i128::from(signed(b)));
            let exact = match op {
                BinOp::Add => x + y,
                BinOp::Sub => x - y,
                _ => x * y,
            };
            (exact != i128::from(signed(eval::binary(op, ty, a, b)))).then_some(Arithmetic::Overflow)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undefined_bits_are_those_that_may_differ() {
        // All values of four bits whose undefined bits are chosen in all ways.
        let fills = |x: u64, u: u64| (0..16u64).map(move |f| x & !u | f & u);
        for op in [BinOp::And, BinOp::Or, BinOp::Xor, BinOp::Add, BinOp::Sub, BinOp::Mul] {
            for n in 0..1 << 16 {
                let [a, ua, b, ub] = [n & 15, n >> 4 & 15, n >> 8 & 15, n >> 12];
                let bits = undefined_bits(op, Scalar::I8, (a, ua), (b, ub));
                let first = eval::binary(op, Scalar::I8, a, b);
                for (x, y) in fills(a, ua).flat_map(|x| fills(b, ub).map(move |y| (x, y))) {
                    let differs = (eval::binary(op, Scalar::I8, x, y) ^ first) & 0xff;
                    assert_eq!(differs & !bits, 0, "{op:?} {a:x}/{ua:x} {b:x}/{ub:x}");
                }
            }
        }
    }

    #[test]
    fn a_comparison_is_decided_by_defined_bits() {
        for cc in [IntCc::Eq, IntCc::Ne, IntCc::Slt, IntCc::Sge, IntCc::Ult, IntCc::Uge, IntCc::Ugt, IntCc::Sle] {
            for (a, ua, b) in [(0x80, 0x7f, 0x10), (0x10, 0x0f, 0x20), (0, 0xff, 0), (1, 0x80, 0x7f), (2, 1, 1)] {
                let results = (0..256u64).map(|f| eval::icmp(cc, Scalar::I8, a & !ua | f & ua, b));
                let results: std::collections::BTreeSet<bool> = results.collect();
                let decided = is_decided(cc, Scalar::I8, (a, ua), (b, 0));
                assert!(!decided || results.len() == 1, "{cc:?} {a:x}/{ua:x} {b:x}");
            }
        }
        assert!(is_decided(IntCc::Ult, Scalar::I8, (0x10, 0x0f), (0x20, 0)));
        assert!(is_decided(IntCc::Slt, Scalar::I8, (0x80, 0x7f), (0x10, 0)));
        assert!(!is_decided(IntCc::Slt, Scalar::I8, (0, 0x80), (0x10, 0x80)));
    }
}
