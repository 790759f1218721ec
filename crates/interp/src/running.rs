//! A work-item while it runs in one frame: its registers, and the instructions that compute values from values.
//!
//! In come decoded instructions; out goes a changed frame. What waits, calls or ends is in [`crate::exec`], what
//! touches memory in `access`, and what is known of undefined values in `definedness`: all of them work on this.

use crate::code::{Code, Decoded, Program, Reg, To};
use crate::fault::FaultKind;
use crate::iterations::Iterations;
use crate::memory::Memory;
use crate::observe::{Observer, Point};
use crate::registers::bitcast;
use crate::shadow::Undefined;
use cloom_ir::{BinOp, CastOp, FuncRef, Scalar, UnOp, eval};

/// State shared by all work-items.
pub struct Shared<'a, O> {
    /// What runs.
    pub program: &'a Program,
    /// All memory.
    pub memory: &'a mut Memory,
    /// Address of each global; those in local memory change from group to group.
    pub globals: &'a [u64],
    /// How many more instructions may run,
    pub fuel: &'a mut u64,
    /// and in one turn of a work-item.
    pub turn: u64,
    /// Whether arithmetic takes denormal numbers for zeros.
    pub denorms_are_zero: bool,
    /// Who watches.
    pub observer: &'a mut O,
}

impl<O: Observer> Shared<'_, O> {
    /// Ends the life of private or local memory.
    pub fn free(&mut self, address: u64) {
        self.observer.freed(address);
        self.memory.free(address);
    }
}

/// A work-item that runs in one frame.
pub(crate) struct Running<'r, 's, O> {
    pub r: &'r mut [u64],
    /// Which bits of the registers are defined; empty unless the observer follows values.
    pub defined: &'r mut [Undefined],
    pub iterations: &'r mut Iterations,
    pub copies: &'r mut u64,
    /// The point that it has reached. The span is looked up for what is told to the observer only.
    pub at: Point,
    /// The function, and how many calls deep it is.
    pub frame: (FuncRef, usize),
    /// Where its loops begin.
    pub loops: usize,
    /// The budget at which this turn is too long.
    pub least: u64,
    pub shared: &'r mut Shared<'s, O>,
}

impl<O: Observer> Running<'_, '_, O> {
    #[inline]
    pub fn get(&self, r: Reg) -> u64 {
        self.r[r as usize]
    }

    #[inline]
    pub fn set(&mut self, r: Reg, bits: u64) {
        self.r[r as usize] = bits;
    }

    /// The number of the next asynchronous copy.
    pub fn next_event(&mut self) -> u64 {
        *self.copies += 1;
        *self.copies
    }

    /// The lanes of a mask.
    pub fn mask(&self, r: Reg, n: u32) -> &[u64] {
        &self.r[r as usize..(r + n) as usize]
    }

    /// Each lane of `d` from the lanes of the operands with the same number.
    #[inline]
    pub fn map(&mut self, n: u32, d: Reg, f: impl Fn(&[u64], u32) -> u64) {
        for i in 0..n {
            let x = f(self.r, i);
            self.r[(d + i) as usize] = x;
        }
    }

    #[inline]
    pub fn go(&mut self, func: &Decoded, pc: &mut usize, to: &To) {
        let goes_back = to.pc as usize <= *pc;
        if goes_back {
            self.shared.observer.back_edge(self.frame.0, to.block, self.frame.1);
        }
        if O::FOLLOWS_VALUES {
            if to.loop_depth > 0 {
                self.iterations.edge(self.loops, to, func.spans[to.pc as usize], goes_back);
            }
            self.move_definedness(to);
        }
        if to.overlap {
            let old: Vec<u64> = to.moves.iter().map(|m| self.r[m.1 as usize]).collect();
            for (m, x) in to.moves.iter().zip(old) {
                self.r[m.0 as usize] = x;
            }
        } else {
            for m in &to.moves {
                self.r[m.0 as usize] = self.r[m.1 as usize];
            }
        }
        *pc = to.pc as usize;
    }

    pub fn spend(&mut self, amount: u64) -> Result<(), FaultKind> {
        match self.shared.fuel.checked_sub(amount) {
            Some(rest) if rest < self.least => {
                let (head, rounds) = self.iterations.most().unwrap_or_default();
                Err(FaultKind::Endless { head, rounds })
            }
            Some(rest) => {
                *self.shared.fuel = rest;
                Ok(())
            }
            None => Err(FaultKind::Fuel),
        }
    }

    /// The clock: a tick for each instruction of the launch, the last ones of which have not been charged yet.
    pub fn ticks(&self, uncharged: usize) -> u64 {
        // The complement grows as the budget shrinks, whatever the budget was.
        (!*self.shared.fuel).wrapping_add(uncharged as u64)
    }

    /// An operation on two values.
    pub fn operation(&self, op: BinOp, ty: Scalar, a: u64, b: u64) -> u64 {
        if !self.shared.denorms_are_zero || op == BinOp::Copysign {
            return eval::binary(op, ty, a, b);
        }
        flushed(ty, eval::binary(op, ty, flushed(ty, a), flushed(ty, b)))
    }

    /// Executes arithmetic on floating-point numbers that takes denormal ones for zeros. False if it is no such
    /// instruction; what only moves or changes the sign keeps them.
    fn flushed_value(&mut self, code: &Code) -> bool {
        match *code {
            Code::BinV { op, l, d, a, b, .. } if l.ty.is_float() => {
                for i in 0..l.n {
                    let x = self.operation(op, l.ty, self.get(a + i), self.get(b + i));
                    self.set(d + i, x);
                }
            }
            Code::Un { op, l, d, a } if l.ty.is_float() && !matches!(op, UnOp::Fneg | UnOp::Fabs) => {
                self.map(l.n, d, |r, i| flushed(l.ty, eval::unary(op, l.ty, flushed(l.ty, r[(a + i) as usize]))));
            }
            Code::Fma { l, d, a, b, c } => self.map(l.n, d, |r, i| {
                let [x, y, z] = [a, b, c].map(|v| flushed(l.ty, r[(v + i) as usize]));
                flushed(l.ty, eval::fma(l.ty, x, y, z))
            }),
            Code::Fcmp { cc, l, d, a, b } => self.map(l.n, d, |r, i| {
                let [x, y] = [a, b].map(|v| flushed(l.ty, r[(v + i) as usize]));
                u64::from(eval::fcmp(cc, l.ty, x, y))
            }),
            Code::Cast { op: op @ (CastOp::FtoS | CastOp::FtoU | CastOp::Fext | CastOp::Ftrunc), l, to, d, a } => {
                self.map(l.n, d, |r, i| flushed(to, eval::cast(op, l.ty, to, flushed(l.ty, r[(a + i) as usize]))));
            }
            _ => return false,
        }
        true
    }

    /// Executes an instruction that computes values from values. False if it is none.
    #[inline]
    pub fn value(&mut self, code: &Code) -> bool {
        if self.shared.denorms_are_zero && self.flushed_value(code) {
            return true;
        }
        match code {
            Code::BinV { op, l, d, a, b, .. } => {
                self.map(l.n, *d, |r, i| eval::binary(*op, l.ty, r[(a + i) as usize], r[(b + i) as usize]));
            }
            Code::Un { op, l, d, a } => {
                self.map(l.n, *d, |r, i| eval::unary(*op, l.ty, r[(a + i) as usize]));
            }
            Code::Fma { l, d, a, b, c } => {
                self.map(l.n, *d, |r, i| {
                    eval::fma(l.ty, r[(a + i) as usize], r[(b + i) as usize], r[(c + i) as usize])
                });
            }
            Code::Icmp { cc, l, d, a, b } => {
                self.map(l.n, *d, |r, i| u64::from(eval::icmp(*cc, l.ty, r[(a + i) as usize], r[(b + i) as usize])));
            }
            Code::Fcmp { cc, l, d, a, b } => {
                self.map(l.n, *d, |r, i| u64::from(eval::fcmp(*cc, l.ty, r[(a + i) as usize], r[(b + i) as usize])));
            }
            Code::Cast { op, l, to, d, a } => {
                self.map(l.n, *d, |r, i| eval::cast(*op, l.ty, *to, r[(a + i) as usize]));
            }
            Code::Bitcast { from, to, d, a } => bitcast(self.r, *from, *to, *d, *a),
            Code::Select { n, cond_lanes, d, a, b, c } => self.map(*n, *d, |r, i| {
                let cond = r[(if *cond_lanes { a + i } else { *a }) as usize];
                r[(if cond != 0 { b + i } else { c + i }) as usize]
            }),
            Code::Extract { n, d, a, b } => {
                let lane = (self.get(*b) % u64::from(*n)) as u32;
                self.set(*d, self.get(a + lane));
            }
            Code::Insert { n, d, a, b, c } => {
                let lane = (self.get(*b) % u64::from(*n)) as u32;
                let x = self.get(*c);
                self.map(*n, *d, |r, i| if i == lane { x } else { r[(a + i) as usize] });
            }
            Code::Any { n, d, a } => {
                let any = self.mask(*a, *n).iter().any(|&lane| lane != 0);
                self.set(*d, any.into());
            }
            Code::All { n, d, a } => {
                let all = self.mask(*a, *n).iter().all(|&lane| lane != 0);
                self.set(*d, all.into());
            }
            Code::Ballot { n, d, a } => {
                let bits = self.mask(*a, *n).iter().rev().fold(0, |bits, lane| bits << 1 | lane);
                self.set(*d, bits);
            }
            Code::Pick { d, from } => self.map(from.len() as u32, *d, |r, i| r[from[i as usize] as usize]),
            Code::PtrAdd { n, d, a, b } => {
                self.map(*n, *d, |r, i| r[(a + i) as usize].wrapping_add(r[(b + i) as usize]));
            }
            _ => return false,
        }
        true
    }
}

/// A number, or a zero of its sign in place of a denormal one. Half precision keeps its own.
fn flushed(ty: Scalar, bits: u64) -> u64 {
    let (sign, exponent) = match ty {
        Scalar::F32 => (1 << 31, 0xff << 23),
        Scalar::F64 => (1 << 63, 0x7ff << 52),
        _ => return bits,
    };
    if bits & exponent == 0 { bits & sign } else { bits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn denormal_numbers_become_zeros_of_their_sign() {
        assert_eq!(flushed(Scalar::F32, 1), 0);
        assert_eq!(flushed(Scalar::F32, 0x807f_ffff), 0x8000_0000);
        assert_eq!(flushed(Scalar::F32, 0x0080_0000), 0x0080_0000, "the least normal number");
        assert_eq!(flushed(Scalar::F64, (-5e-324f64).to_bits()), (-0f64).to_bits());
        assert_eq!(flushed(Scalar::F16, 1), 1);
        assert_eq!(flushed(Scalar::I32, 1), 1);
    }
}
