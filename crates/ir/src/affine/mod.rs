//! Affine analysis: integers and addresses as sums of products of symbols, and how they change from iteration to
//! iteration.
//!
//! In come a function, its graph and its loops; out comes, for a value, a [`Form`]: a constant and multiples of
//! symbols, and of products of symbols. Symbols are values that are not taken apart, what a work-item asks the launch
//! for, and the numbers of the iterations of the loops around. An add recurrence `{start, +, step}` of a loop is the
//! form `start + step·k` in iteration k; a chain of them over nested loops has one for each:
//!
//! ```text
//! for (i = 0; i < n; i++)                form of &a[i*w + j]:  a + 4·w·k0 + 4·k1
//!     for (j = 0; j < w; j++)            slope per iteration of the inner loop: 4, of the outer one: 4·w
//!         a[i*w + j] = 0;
//! ```
//!
//! Sources: O. Bachmann, P. S. Wang, E. V. Zima, "Chains of Recurrences: a method to expedite the evaluation of
//! closed-form functions" (ISSAC 1994); R. van Engelen, "Efficient Symbolic Analysis for Optimizing Compilers" (CC
//! 2001); and LLVM's `ScalarEvolution`, whose treatment of extensions and flags this follows. Unlike there, a form is a
//! normalised polynomial and not a tree: equal forms compare equal.
//!
//! Forms are exact modulo 2^width. A form of 64 bits of a narrower value, read as a signed or unsigned number
//! ([`Ext`]), is given only if no operation that it looks through wraps in that reading: by `nsw` or `nuw`, by ranges,
//! by the test of a loop's header, or by the caller's word ([`Facts`]). A promise holds for work-items that execute the
//! instruction; a caller that moves code to where others execute it must mark it ([`Flags::SPECULATED`]), and one that
//! concludes from the form of one value what another one is asks for [`Facts::is_executed`]. The work is bounded: each
//! value is visited once for each reading, without recursion; a form of more than 16 monomials, or with products of
//! more than four symbols, becomes a symbol.
//!
//! [`Flags::SPECULATED`]: crate::Flags::SPECULATED
//!
//! # How to ask
//!
//! ```
//! # use cloom_ir::{affine::{Affine, Ext, Facts}, cfg::Cfg, dom::DomTree, loops::Loops, parse};
//! # let module = parse("func internal @f(ptr<global>, i32) { bb0(v0: ptr<global>, v1: i32):
//! #   v2: i32 = const 0 jump bb1(v2)
//! #   bb1(v3: i32): v4: i1 = icmp slt v3, v1 br v4, bb2, bb3
//! #   bb2: v5: i64 = sext v3 v6: i64 = const 4 v7: i64 = mul v5, v6 v8: ptr<global> = ptradd v0, v7
//! #        store v8, v3 align 4 v9: i32 = const 1 v10: i32 = add v3, v9 jump bb1(v10)
//! #   bb3: ret }").unwrap();
//! # let func = module.funcs.values().next().unwrap();
//! let cfg = Cfg::new(func);
//! let loops = Loops::new(func, &cfg, &DomTree::new(func, &cfg));
//! let affine = Affine::new(func, &cfg, &loops, Facts::default());
//! # let store = func.insts_in_layout().find(|(_, d)| matches!(d.op, cloom_ir::Op::Store { .. })).unwrap().1;
//! // for (int i = 0; i < n; i++) p[i] = i;
//! assert_eq!(affine.const_slope(0, store.args[0]), Some(4));
//! let counted = affine.counted(0).unwrap();
//! assert_eq!(affine.trip_count(&counted).unwrap().distance, affine.form(counted.test.bound, Ext::Signed));
//! ```
//!
//! Questions of passes, and the functions that answer them:
//!
//! * *How far does an address go in an iteration?* (store streams, rows of a work-item's own) [`Affine::const_slope`].
//!   Where a pass checks at run time that a counter does not pass its bound, it says so, for the reading in which the
//!   loop compares them: `no_wrap: &|v, ext| v == test.counter && test.reading() == Some(ext)`, where `test` is
//!   [`HeaderTest::of`] the loop.
//! * *Does it go in steps that only the launch knows?* (software prefetch) [`Affine::slope`], then [`Form::as_symbol`]
//!   gives coefficient and value; [`Form::emit`] writes it, so many iterations ahead. A prefetch may be wrong:
//!   `no_wrap: &|_, _| true`.
//! * *Does a load read what a store wrote an iteration ago?* (store-to-load forwarding) `affine.next(l, load) ==
//!   Some(affine.form(store, Ext::Own))`, or [`Affine::difference`]; [`Affine::first`] is the address in iteration 0,
//!   whose base is [`Affine::base`].
//! * *Does a loop go in the steps of the grid?* (grid-stride batching) `affine.counted(l)`: `start` is
//!   [`Affine::query`]`(GlobalId, 0)`, or `group_id·local_size + local_id` made of three queries with [`Form::times`]
//!   and [`Form::plus`], each truncated to the counter's width by [`Affine::query`]; `step` is [`Form::as_symbol`].
//!   With `range` saying that ids have 31 bits, conversions of ids do not matter. What is a position modulo 2^32 is
//!   that number then; `known` says so, and conversions of it do not matter either.
//! * *Which work-items does a condition leave?* (active work-item bound) the form of one side is a sum of ids with
//!   factors: `form.coefficients(|s| is_id(s))` gives the factor of each id, and the rest, which is the same for all.
//!   For iterations instead of work-items: [`Affine::trip_count_while`].
//! * *Is it a loop that counts?* [`Affine::counted`]; [`Affine::trip_count`].
//! * *What do addresses of lanes have in common?* (scalar base and varying index) `form.coefficients(|s| varies(s))`:
//!   one symbol with a constant factor is the index, and the rest is the base, which [`Form::emit`] writes. Values that
//!   are to stay whole: `is_symbol`.

mod counted;
mod form;
mod local;
mod recurrence;
#[cfg(test)]
mod tests;

pub use counted::{Counted, HeaderTest, TripCount};
pub use form::{Form, Monomial, Symbol};

use crate::cfg::Cfg;
use crate::entity::{Block, Entity, Value};
use crate::function::Function;
use crate::inst::Query;
use crate::loops::Loops;
use local::Key;
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// How the bits of a value are read as a number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Ext {
    /// Modulo its own width.
    Own,
    /// As a signed number of 64 bits.
    Signed,
    /// As an unsigned number of 64 bits.
    Unsigned,
}

/// Facts that the caller knows beyond the function.
#[derive(Clone, Copy)]
pub struct Facts<'a> {
    /// The signed range of a value.
    pub range: &'a dyn Fn(Value) -> Option<(i64, i64)>,
    /// What the caller knows a value to be: a form of 64 bits. It is the same number read as a signed one and as an
    /// unsigned one.
    pub known: &'a dyn Fn(Value) -> Option<Form>,
    /// Whether an operation, or a counter, is as if it had no limit of bits, read as a signed or unsigned number. The
    /// caller checks that at run time, or a wrong form does no harm.
    pub no_wrap: &'a dyn Fn(Value, Ext) -> bool,
    /// Values that are not to be taken apart.
    pub is_symbol: &'a dyn Fn(Value) -> bool,
    /// Whether a form is to hold wherever its value is computed, not only where the source uses it: promises of
    /// operations that were speculated are none then.
    pub is_executed: bool,
}

impl Default for Facts<'_> {
    /// Nothing is known.
    fn default() -> Self {
        let is_executed = false;
        Facts { range: &|_| None, known: &|_| None, no_wrap: &|_, _| false, is_symbol: &|_| false, is_executed }
    }
}

/// The forms of a function's values. Stale as soon as the function changes.
pub struct Affine<'a> {
    func: &'a Function,
    cfg: &'a Cfg,
    loops: &'a Loops,
    facts: Facts<'a>,
    /// The block in which each value is defined.
    home: Vec<Option<Block>>,
    /// In terms of parameters of headers.
    locals: RefCell<FxHashMap<Key, Form>>,
    /// The header parameters as recurrences.
    headers: FxHashMap<Key, Form>,
}

impl<'a> Affine<'a> {
    /// Finds the recurrences of all loops; forms of other values are computed on demand.
    pub fn new(func: &'a Function, cfg: &'a Cfg, loops: &'a Loops, facts: Facts<'a>) -> Affine<'a> {
        let mut home = vec![None; func.values.len()];
        // Entries of the arena that are in no block keep `None`: nothing is concluded about them.
        for &b in &func.layout {
            func.blocks[b].params.iter().for_each(|p| home[p.index()] = Some(b));
            let results = func.blocks[b].insts.iter().filter_map(|&i| func.insts[i].result);
            results.for_each(|r| home[r.index()] = Some(b));
        }
        let (locals, headers) = (RefCell::default(), FxHashMap::default());
        let mut affine = Affine { func, cfg, loops, facts, home, locals, headers };
        // At once, because forms of all values are resolved by the recurrences.
        affine.find_recurrences();
        affine
    }

    /// The form of an integer or an address at its definition. A value of another type is a symbol.
    pub fn form(&self, v: Value, ext: Ext) -> Form {
        let local = self.local(v, ext);
        match self.home[v.index()] {
            // With the recurrences put in, the form may have more monomials than a form may have.
            Some(at) => self.resolve(&local, at).unwrap_or_else(|| self.opaque((v, ext))),
            None => local,
        }
    }

    /// The same, in terms of parameters of the loops' headers instead of iteration numbers.
    pub fn local_form(&self, v: Value, ext: Ext) -> Form {
        self.local(v, ext)
    }

    /// The form of a value of a loop, or from before it, in terms of iteration numbers.
    fn form_at(&self, v: Value, ext: Ext, l: usize) -> Option<Form> {
        let home = self.home[v.index()]?;
        // A value from a loop before this one would, at its own block, be in terms of the iterations of that loop. At
        // the header only the recurrences of the loops around are put in.
        let at = if self.is_in(home, l) { home } else { self.loops.loops[l].header };
        self.resolve(&self.local(v, ext), at)
    }

    /// The step of a value in a loop, modulo its width: 0 if it is loop-invariant. `None` if the step is unknown or
    /// differs between iterations.
    pub fn slope(&self, l: usize, v: Value) -> Option<Form> {
        Some(self.split(l, &self.form_at(v, Ext::Own, l)?)?.1)
    }

    /// The step, if it is a constant.
    pub fn const_slope(&self, l: usize, v: Value) -> Option<i64> {
        self.slope(l, v)?.as_const()
    }

    /// The value in the loop's first iteration.
    pub fn first(&self, l: usize, v: Value) -> Option<Form> {
        Some(self.split(l, &self.form_at(v, Ext::Own, l)?)?.0)
    }

    /// The value in the loop's next iteration.
    pub fn next(&self, l: usize, v: Value) -> Option<Form> {
        let form = self.form_at(v, Ext::Own, l)?;
        let (_, step) = self.split(l, &form)?;
        // `start + step·(k + 1)` is the form in iteration k plus the step.
        Some(form.plus(&step))
    }

    /// A recurrence of a header's parameter: its start and step, modulo its width, and whether it is known not to wrap
    /// as a signed, and as an unsigned number.
    pub fn recurrence_of(&self, l: usize, param: Value) -> Option<Recurrence> {
        let (start, step) = self.split(l, self.headers.get(&(param, Ext::Own))?)?;
        // A parameter of 64 bits has the reading `Own` only, so that both answers are no.
        let holds = |ext| self.headers.contains_key(&(param, ext));
        Some(Recurrence { start, step, nsw: holds(Ext::Signed), nuw: holds(Ext::Unsigned) })
    }

    /// The difference of two values if it is a constant; of addresses, in bytes. Values of one loop are those of the
    /// same iteration.
    pub fn difference(&self, to: Value, from: Value) -> Option<i64> {
        self.form(to, Ext::Own).minus(&self.form(from, Ext::Own)).as_const()
    }

    /// The base pointer of an address, if there is exactly one, and the offset in bytes.
    pub fn base(&self, p: Value) -> Option<(Symbol, Form)> {
        let is_pointer = |s: Symbol| match s {
            Symbol::Value(v, _) | Symbol::Start(v, _) => self.func.ty(v).is_ptr(),
            Symbol::Global(_) => true,
            Symbol::Query(..) | Symbol::Iteration(_) => false,
        };
        self.form(p, Ext::Own).base(is_pointer)
    }

    /// The form of a launch query, truncated to so many bits.
    pub fn query(&self, what: Query, dim: u8, bits: u32) -> Form {
        Form::symbol(bits, Symbol::Query(what, dim))
    }
}

/// An add recurrence of one loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Recurrence {
    /// The value in the first iteration.
    pub start: Form,
    /// What each iteration adds.
    pub step: Form,
    /// No iteration wraps, read as signed numbers.
    pub nsw: bool,
    /// No iteration wraps, read as unsigned numbers.
    pub nuw: bool,
}
