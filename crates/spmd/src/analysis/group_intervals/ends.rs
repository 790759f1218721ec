//! The ends of intervals: expressions of what a group knows, with the numbers that they can have at all.

use crate::analysis::bounds::Bounds;
use crate::analysis::group_code::GroupCode;
use crate::params::{MAX_ID, MAX_LOCAL_SIZE};
use cloom_ir::{BinOp, Function, Type, Value};
use rustc_hash::FxHashMap;

/// An end: an index into [`Ends::all`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct End(u32);

/// How an end is computed, as an `i64` with a sign.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Expr {
    Const(i64),
    /// A value that the group knows.
    Value(Value),
    FirstGlobal(u8),
    LastGlobal(u8),
    LastLocal(u8),
    Add(End, End),
    Sub(End, End),
    Mul(End, End),
    /// A product of two that are not below zero, or is not used.
    Naturals(End, End),
    Min(End, End),
    Max(End, End),
    /// Another end, of which it is a need that it lies between two numbers.
    Limited(End, i64, i64),
    /// A shift to the right, which keeps the sign.
    Shr(End, u32),
    /// The quotient by a positive constant of what is not negative.
    Div(End, i64),
}

struct Entry {
    expr: Expr,
    /// The least and the greatest number that it can be, if what it is made of is what it can be.
    range: (i64, i64),
}

/// The ends that were found, each once.
#[derive(Default)]
pub struct Ends {
    all: Vec<Entry>,
    numbers: FxHashMap<Expr, End>,
}

impl Ends {
    fn add(&mut self, expr: Expr, range: (i64, i64)) -> End {
        let expr = if range.0 == range.1 { Expr::Const(range.0) } else { expr };
        let all = &mut self.all;
        *self.numbers.entry(expr).or_insert_with(|| {
            all.push(Entry { expr, range });
            End(all.len() as u32 - 1)
        })
    }

    /// The numbers that an end can be.
    pub fn range(&self, x: End) -> (i64, i64) {
        self.all[x.0 as usize].range
    }

    pub fn constant(&mut self, c: i64) -> End {
        self.add(Expr::Const(c), (c, c))
    }

    /// A value that the group knows, read with a sign.
    pub fn value(&mut self, func: &Function, constant: &Bounds, v: Value) -> End {
        let bits = func.ty(v).scalar.bits();
        if let Some(c) = func.const_bits(v) {
            let unused = 64 - bits;
            return self.constant((c << unused) as i64 >> unused);
        }
        let most = (u64::MAX >> (64 - bits) >> 1) as i64;
        let known = constant.max(v);
        let range = if known <= most as u64 { (0, known as i64) } else { (-most - 1, most) };
        self.add(Expr::Value(v), range)
    }

    pub fn first_global(&mut self, d: u8) -> End {
        self.add(Expr::FirstGlobal(d), (0, MAX_ID as i64))
    }

    pub fn last_global(&mut self, d: u8) -> End {
        self.add(Expr::LastGlobal(d), (0, MAX_ID as i64))
    }

    pub fn last_local(&mut self, d: u8) -> End {
        self.add(Expr::LastLocal(d), (0, MAX_LOCAL_SIZE as i64))
    }

    pub fn sum(&mut self, x: End, y: End) -> End {
        let (a, b) = (self.range(x), self.range(y));
        if b == (0, 0) {
            return x;
        }
        // One order, so that equal sums are one end; constants are collected.
        match (self.all[x.0 as usize].expr, self.all[y.0 as usize].expr) {
            (Expr::Const(_), Expr::Const(_)) => {}
            (Expr::Const(_), _) => return self.sum(y, x),
            (Expr::Add(z, c), Expr::Const(more)) if let Expr::Const(c) = self.all[c.0 as usize].expr => {
                let both = self.constant(c.saturating_add(more));
                return self.sum(z, both);
            }
            (_, Expr::Const(_)) => {}
            _ if y < x => return self.sum(y, x),
            _ => {}
        }
        self.add(Expr::Add(x, y), (a.0.saturating_add(b.0), a.1.saturating_add(b.1)))
    }

    /// An end that is so much greater.
    pub fn plus(&mut self, x: End, c: i64) -> End {
        let c = self.constant(c);
        self.sum(x, c)
    }

    pub fn difference(&mut self, x: End, y: End) -> End {
        if let Expr::Const(c) = self.all[y.0 as usize].expr {
            return self.plus(x, c.saturating_neg());
        }
        let (a, b) = (self.range(x), self.range(y));
        self.add(Expr::Sub(x, y), (a.0.saturating_sub(b.1), a.1.saturating_sub(b.0)))
    }

    pub fn product(&mut self, x: End, y: End) -> End {
        let (x, y) = if x <= y { (x, y) } else { (y, x) };
        let (a, b) = (self.range(x), self.range(y));
        let all = [a.0.saturating_mul(b.0), a.0.saturating_mul(b.1), a.1.saturating_mul(b.0), a.1.saturating_mul(b.1)];
        let range = all.into_iter().fold((i64::MAX, i64::MIN), |(lo, hi), p| (lo.min(p), hi.max(p)));
        self.add(Expr::Mul(x, y), range)
    }

    /// An end of which it is a need that it lies between two numbers.
    pub fn limited(&mut self, x: End, min: i64, max: i64) -> End {
        let (lo, hi) = self.range(x);
        let range = (lo.max(min), hi.min(max));
        // Ends that never satisfy the need are found by it.
        if range.0 > range.1 || range == (lo, hi) { x } else { self.add(Expr::Limited(x, min, max), range) }
    }

    /// Whether two ends are the same number.
    pub fn is_same(&self, x: End, y: End) -> bool {
        let plain = |mut x: End| {
            while let Expr::Limited(of, ..) = self.all[x.0 as usize].expr {
                x = of;
            }
            x
        };
        plain(x) == plain(y)
    }

    /// The product of two ends of which it is a need that they are not below zero.
    pub fn product_of_naturals(&mut self, x: End, y: End) -> End {
        let natural = |(lo, hi): (i64, i64)| (lo.max(0), hi.max(0));
        let (x, y) = if x <= y { (x, y) } else { (y, x) };
        let (a, b) = (natural(self.range(x)), natural(self.range(y)));
        self.add(Expr::Naturals(x, y), (a.0.saturating_mul(b.0), a.1.saturating_mul(b.1)))
    }

    pub fn min(&mut self, x: End, y: End) -> End {
        let (a, b) = (self.range(x), self.range(y));
        match () {
            () if x == y || a.1 <= b.0 => x,
            () if b.1 <= a.0 => y,
            () => self.add(Expr::Min(x.min(y), x.max(y)), (a.0.min(b.0), a.1.min(b.1))),
        }
    }

    pub fn max(&mut self, x: End, y: End) -> End {
        let (a, b) = (self.range(x), self.range(y));
        match () {
            () if x == y || a.0 >= b.1 => x,
            () if b.0 >= a.1 => y,
            () => self.add(Expr::Max(x.min(y), x.max(y)), (a.0.max(b.0), a.1.max(b.1))),
        }
    }

    pub fn shifted(&mut self, x: End, by: u32) -> End {
        let (lo, hi) = self.range(x);
        self.add(Expr::Shr(x, by), (lo >> by, hi >> by))
    }

    /// The quotient of an end that is not negative, or is not used.
    pub fn quotient(&mut self, x: End, by: i64) -> End {
        let (lo, hi) = self.range(x);
        self.add(Expr::Div(x, by), (lo.max(0) / by, hi.max(0) / by))
    }
}

/// Writes ends as code of the group.
pub struct Writer<'a, 'c, 'f> {
    pub ends: &'a Ends,
    pub code: &'c mut GroupCode<'f>,
    pub done: FxHashMap<End, Value>,
}

impl Writer<'_, '_, '_> {
    pub fn end(&mut self, end: End) -> Value {
        if let Some(&done) = self.done.get(&end) {
            return done;
        }
        let new = match self.ends.all[end.0 as usize].expr {
            Expr::Const(c) => self.code.b().iconst(Type::I64, c as u64),
            Expr::Value(v) => self.code.wide_value(v, true),
            Expr::FirstGlobal(d) => self.code.first_global(d),
            Expr::LastGlobal(d) => self.code.last_global(d),
            Expr::LastLocal(d) => self.code.last_local(d),
            Expr::Add(x, y) => self.both(BinOp::Add, x, y),
            Expr::Sub(x, y) => self.both(BinOp::Sub, x, y),
            Expr::Mul(x, y) | Expr::Naturals(x, y) => self.both(BinOp::Mul, x, y),
            Expr::Min(x, y) => self.both(BinOp::Smin, x, y),
            Expr::Limited(x, ..) => self.end(x),
            Expr::Max(x, y) => self.both(BinOp::Smax, x, y),
            Expr::Shr(x, by) => self.by(BinOp::Ashr, x, u64::from(by)),
            Expr::Div(x, by) => self.by(BinOp::Udiv, x, by as u64),
        };
        self.done.insert(end, new);
        new
    }

    fn both(&mut self, op: BinOp, x: End, y: End) -> Value {
        let (x, y) = (self.end(x), self.end(y));
        self.code.b().binary(op, x, y)
    }

    fn by(&mut self, op: BinOp, x: End, by: u64) -> Value {
        let x = self.end(x);
        let mut b = self.code.b();
        let by = b.iconst(Type::I64, by);
        b.binary(op, x, by)
    }
}
