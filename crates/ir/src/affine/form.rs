//! Forms: sums of products of symbols, with constant coefficients, modulo a power of two.
//!
//! A form is a polynomial, kept as a sorted list of monomials, so that two forms are equal exactly if the lists are.
//! The constant is the coefficient of the empty monomial. All arithmetic is that of integers modulo 2^bits, which is
//! what wrapping operations of the IR do, so that sums, differences and products need no proof that nothing wraps;
//! extensions do ([`super::Affine`] sees to that).

use super::Ext;
use crate::builder::Builder;
use crate::entity::{GlobalRef, Value};
use crate::inst::{BinOp, CastOp, Query};
use crate::types::{Scalar, Type};
use smallvec::SmallVec;

/// Forms with more monomials than this are not made: their values become symbols.
pub(super) const MAX_TERMS: usize = 16;

/// Nor those with products of more symbols.
pub(super) const MAX_DEGREE: usize = 4;

/// An opaque term of a form.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Symbol {
    /// A value, and how it is read as a number of the form's width. One that is at least as wide is [`Ext::Own`]: its
    /// low bits count.
    Value(Value, Ext),
    /// An id or size of the launch, the same wherever it is queried.
    Query(Query, u8),
    /// The address of a global.
    Global(GlobalRef),
    /// The number of the current iteration of a loop, from 0: an index into [`crate::loops::Loops::loops`].
    Iteration(usize),
    /// What a parameter of a loop's header is in the first iteration, and how it is read: where the loop is entered
    /// from several blocks, which bring different values.
    Start(Value, Ext),
}

/// A product of symbols, sorted.
pub type Monomial = SmallVec<[Symbol; 2]>;

/// A sum of monomials with coefficients that are not zero, modulo 2^bits.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Form {
    /// Width: 1 to 64.
    bits: u32,
    /// Sorted by monomial. Coefficients are sign-extended from the width.
    terms: SmallVec<[(Monomial, i64); 2]>,
}

fn wrap(x: i64, bits: u32) -> i64 {
    let shift = 64 - bits;
    (x << shift) >> shift
}

impl Form {
    /// A constant.
    pub fn constant(bits: u32, c: i64) -> Form {
        Form::product(bits, Monomial::new(), c)
    }

    /// A symbol alone.
    pub fn symbol(bits: u32, s: Symbol) -> Form {
        Form::product(bits, Monomial::from_elem(s, 1), 1)
    }

    fn product(bits: u32, m: Monomial, c: i64) -> Form {
        let c = wrap(c, bits);
        Form { bits, terms: if c == 0 { SmallVec::new() } else { SmallVec::from_iter([(m, c)]) } }
    }

    /// Its width in bits.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The monomials and their coefficients; the constant, if it is not zero, comes first, with the empty monomial.
    pub fn terms(&self) -> impl Iterator<Item = (&Monomial, i64)> {
        self.terms.iter().map(|(m, c)| (m, *c))
    }

    /// The symbols, perhaps several times.
    pub fn symbols(&self) -> impl Iterator<Item = Symbol> {
        self.terms.iter().flat_map(|(m, _)| m).copied()
    }

    /// The signed value, if the form is a constant.
    pub fn as_const(&self) -> Option<i64> {
        match self.terms.as_slice() {
            [] => Some(0),
            [(m, c)] if m.is_empty() => Some(*c),
            _ => None,
        }
    }

    /// The constant part.
    pub fn constant_part(&self) -> i64 {
        // The empty monomial sorts before all others.
        self.terms.first().filter(|(m, _)| m.is_empty()).map_or(0, |(_, c)| *c)
    }

    /// A power of two, `most` at most, that the number is a multiple of; `of` says so of a symbol.
    pub fn power_of_two(&self, most: u64, of: impl Fn(Symbol) -> u64) -> u64 {
        // The minimum keeps the shift below 64; the factor of a monomial is never 0.
        let of_factor = |factor: i64| 1 << factor.trailing_zeros().min(most.trailing_zeros());
        let products = self.terms().map(|(monomial, factor)| {
            monomial.iter().fold(of_factor(factor), |product: u64, &symbol| product.saturating_mul(of(symbol)))
        });
        // A product that saturated is no power of two, but `most` is less than it.
        products.fold(most, u64::min)
    }

    /// Coefficient and symbol, if the form is a multiple of one symbol.
    pub fn as_symbol(&self) -> Option<(i64, Symbol)> {
        match self.terms.as_slice() {
            [(m, c)] if m.len() == 1 => Some((*c, m[0])),
            _ => None,
        }
    }

    /// The value, if the form is just that symbol.
    pub fn as_value(&self) -> Option<Value> {
        match self.as_symbol() {
            Some((1, Symbol::Value(v, _))) => Some(v),
            _ => None,
        }
    }

    fn collect(bits: u32, mut list: Vec<(Monomial, i64)>) -> Form {
        list.sort_by(|a, b| a.0.cmp(&b.0));
        let mut terms: SmallVec<[(Monomial, i64); 2]> = SmallVec::new();
        for (m, c) in list {
            match terms.last_mut() {
                Some(last) if last.0 == m => last.1 = wrap(last.1.wrapping_add(c), bits),
                _ => terms.push((m, wrap(c, bits))),
            }
        }
        // A monomial that cancelled must go: equal forms are equal lists.
        terms.retain(|t| t.1 != 0);
        Form { bits, terms }
    }

    /// The sum, of the narrower width.
    pub fn plus(&self, other: &Form) -> Form {
        let list = self.terms.iter().chain(&other.terms).cloned().collect();
        Form::collect(self.bits.min(other.bits), list)
    }

    /// The difference, of the narrower width.
    pub fn minus(&self, other: &Form) -> Form {
        self.plus(&other.scaled(-1))
    }

    /// A multiple.
    pub fn scaled(&self, by: i64) -> Form {
        // Collected anew, because a coefficient may vanish: `2^31·x` times 2 is 0 in 32 bits.
        Form::collect(self.bits, self.terms.iter().map(|(m, c)| (m.clone(), c.wrapping_mul(by))).collect())
    }

    /// The product, of the narrower width.
    pub fn times(&self, other: &Form) -> Form {
        let mut list = Vec::with_capacity(self.terms.len() * other.terms.len());
        for (a, x) in &self.terms {
            for (b, y) in &other.terms {
                // Sorted, so that `a·b` and `b·a` are one monomial.
                let mut m: Monomial = a.iter().chain(b).copied().collect();
                m.sort();
                list.push((m, x.wrapping_mul(*y)));
            }
        }
        Form::collect(self.bits.min(other.bits), list)
    }

    /// The low bits. Symbols that `width` says are as wide count with their low bits, however they were extended.
    pub(super) fn truncated(&self, bits: u32, width: impl Fn(Value) -> u32) -> Form {
        // Of a value that is as wide as the result, `sext v` and `zext v` have the same low bits: both become one
        // symbol, and their monomials add up. A narrower value keeps its reading, which decides the bits above it.
        let own = |s: &Symbol| match *s {
            Symbol::Value(v, _) if width(v) >= bits => Symbol::Value(v, Ext::Own),
            Symbol::Start(v, _) if width(v) >= bits => Symbol::Start(v, Ext::Own),
            s => s,
        };
        let list = self.terms.iter().map(|(m, c)| {
            let mut m: Monomial = m.iter().map(own).collect();
            // The new symbols may sort in another order.
            m.sort();
            (m, *c)
        });
        Form::collect(bits, list.collect())
    }

    /// Whether it has no more monomials and symbols than forms may have.
    pub(super) fn is_small(&self) -> bool {
        self.terms.len() <= MAX_TERMS && self.terms.iter().all(|(m, _)| m.len() <= MAX_DEGREE)
    }

    /// Substitutes forms for symbols. `None` if the result is too large.
    pub(super) fn substitute(&self, mut with: impl FnMut(Symbol) -> Option<Form>) -> Option<Form> {
        let mut sum = Form::constant(self.bits, 0);
        for (m, c) in &self.terms {
            let mut product = Form::constant(self.bits, *c);
            for &s in m {
                // The size is looked at after each factor, so that the work is bounded: the product of two small forms
                // has 256 monomials at most, that of four would have 65536.
                product = product.times(&with(s).unwrap_or(Form::symbol(self.bits, s)));
                if !product.is_small() {
                    return None;
                }
            }
            sum = sum.plus(&product);
        }
        sum.is_small().then_some(sum)
    }

    /// The coefficients of the symbols that are `chosen`, which are forms of the others, and the rest, in which none of
    /// them occurs: `self = Σ coefficient·symbol + rest`. `None` if a product has two of them.
    ///
    /// ```text
    /// (4·lid + n·row + 4·x + 16).coefficients(|s| s is lid or row) = [(lid, 4), (row, n)], 4·x + 16
    /// ```
    pub fn coefficients(&self, chosen: impl Fn(Symbol) -> bool) -> Option<(Vec<(Symbol, Form)>, Form)> {
        let mut found: Vec<(Symbol, Form)> = Vec::new();
        let mut rest = Vec::new();
        for (m, c) in &self.terms {
            // Two are enough to know: `lid * lid` and `lid * row` both have no linear coefficient.
            let mut own = m.iter().copied().filter(|&s| chosen(s));
            match (own.next(), own.next()) {
                (None, _) => rest.push((m.clone(), *c)),
                (Some(s), None) => {
                    let others = m.iter().copied().filter(|&x| x != s).collect();
                    let part = Form::product(self.bits, others, *c);
                    match found.iter_mut().find(|(x, _)| *x == s) {
                        Some((_, sum)) => *sum = sum.plus(&part),
                        None => found.push((s, part)),
                    }
                }
                _ => return None,
            }
        }
        Some((found, Form::collect(self.bits, rest)))
    }

    /// The symbol of an address that is its base, of which there is one, with the factor 1, and the offset in bytes.
    pub fn base(&self, is_base: impl Fn(Symbol) -> bool) -> Option<(Symbol, Form)> {
        let (found, offset) = self.coefficients(is_base)?;
        match &found[..] {
            [(s, factor)] if factor.as_const() == Some(1) => Some((*s, offset)),
            _ => None,
        }
    }

    /// Emits code that computes the form as an `i64` (the low bits, its width). `value` gives the value of each symbol,
    /// extended or not; also that of an iteration number, which no value of the function has.
    pub fn emit(
        &self,
        b: &mut Builder<'_>,
        mut value: impl FnMut(&mut Builder<'_>, Symbol) -> Option<Value>,
    ) -> Option<Value> {
        let mut sum = None;
        for (m, c) in &self.terms {
            let mut product = None;
            for &s in m {
                let mut v = value(b, s)?;
                let ty = b.ty(v);
                if ty.is_ptr() {
                    v = b.cast(CastOp::PtrToInt, v, Type::I64);
                } else if ty != Type::I64 {
                    // A symbol that is read as `Own` is at least as wide as the form: what stands above its bits does
                    // not matter.
                    let is_signed = matches!(s, Symbol::Value(_, Ext::Signed) | Symbol::Start(_, Ext::Signed));
                    let op = if is_signed { CastOp::Sext } else { CastOp::Zext };
                    v = b.cast(op, v, Type::I64);
                }
                product = Some(product.map_or(v, |p| b.binary(BinOp::Mul, p, v)));
            }
            let term = match (product, *c) {
                (None, c) => b.iconst(Type::I64, c as u64),
                (Some(p), 1) => p,
                (Some(p), c) => {
                    let c = b.iconst(Type::I64, c as u64);
                    b.binary(BinOp::Mul, p, c)
                }
            };
            sum = Some(sum.map_or(term, |s| b.binary(BinOp::Add, s, term)));
        }
        Some(sum.unwrap_or_else(|| b.iconst(Type::I64, 0)))
    }
}

/// The bits of a scalar that has a form: an integer or a pointer.
pub(super) fn width(scalar: Scalar) -> Option<u32> {
    (scalar.is_int() || scalar.is_ptr()).then(|| scalar.bits())
}
