//! Recurrences: header parameters with a constant or loop-invariant step, and forms in terms of iteration numbers.
//!
//! A parameter `p` of a loop's header is `{start, +, step}` if its argument from the latch is `p` plus a loop-invariant
//! form; in iteration n it is `start + n·step`. Loops are visited from the outermost inwards, so that starts and steps
//! are in terms of the outer loops' iterations.
//!
//! To be extended, `p` must not wrap: each addition is known not to wrap, or the loop continues only while `p` is below
//! a bound that leaves room for the step.

use super::form::{Form, Symbol};
use super::local::Key;
use super::{Affine, Ext};
use crate::entity::{Block, Entity, Value};
use crate::function::ValueDef;
use crate::inst::IntCc;

impl Affine<'_> {
    /// Finds the recurrences of all loops.
    pub(super) fn find_recurrences(&mut self) {
        // Outer loops come before inner ones.
        for l in 0..self.loops.loops.len() {
            // A step may be another parameter that turns out to be invariant.
            while self.find_in_header(l) {}
        }
    }

    /// Finds further recurrences of a header. Returns whether there were any.
    fn find_in_header(&mut self, l: usize) -> bool {
        let header = self.loops.loops[l].header;
        let before = self.headers.len();
        // `Own` is first: `bounded` takes the step of the other two readings from it.
        for ext in [Ext::Own, Ext::Signed, Ext::Unsigned] {
            for (k, &p) in self.func.blocks[header].params.iter().enumerate() {
                let key = (p, ext);
                if self.is_number(p)
                    && !(self.facts.is_symbol)(p)
                    && self.canonical(p, ext) == ext
                    && !self.headers.contains_key(&key)
                {
                    let found = self.recurrence(l, key, k).or_else(|| self.bounded(l, key, k));
                    self.headers.extend(found.map(|form| (key, form)));
                }
            }
        }
        self.headers.len() > before
    }

    /// Whether forms are about values like this.
    pub(super) fn is_number(&self, v: Value) -> bool {
        let ty = self.func.ty(v);
        !ty.is_vector() && super::form::width(ty.scalar).is_some()
    }

    fn recurrence(&self, l: usize, key: Key, k: usize) -> Option<Form> {
        let header = self.loops.loops[l].header;
        let mut step: Option<Form> = None;
        for &pred in self.cfg.preds(header).iter().filter(|&&b| self.is_in(b, l)) {
            let edges = self.func.blocks[pred].term.edges();
            for arg in edges.iter().filter(|e| e.block == header).filter_map(|e| e.args.get(k).copied()) {
                // If the argument is not `p` plus something (`2 * p`), `p` is left in the difference, and `p` is not
                // invariant.
                let by = self.local(arg, key.1).minus(&self.opaque(key));
                // Other parameters of the header may stay as they are.
                let by = self.in_rounds(&by, l)?;
                // Several latches, as after a `continue`, must add the same step.
                if !self.is_invariant_form(l, &by) || *step.get_or_insert_with(|| by.clone()) != by {
                    return None;
                }
            }
        }
        self.in_iterations(l, self.start(l, key, k)?, &step?)
    }

    /// What parameter `k` of a header is in the first iteration.
    fn start(&self, l: usize, key: Key, k: usize) -> Option<Form> {
        let header = self.loops.loops[l].header;
        let mut start: Option<Form> = None;
        for &pred in self.cfg.preds(header).iter().filter(|&&b| !self.is_in(b, l)) {
            for e in self.func.blocks[pred].term.edges().iter().filter(|e| e.block == header) {
                let first = self.in_rounds(&self.local(*e.args.get(k)?, key.1), l)?;
                if *start.get_or_insert_with(|| first.clone()) != first {
                    // The loop is entered with several values. The step is still known: the start alone becomes a
                    // symbol.
                    return Some(Form::symbol(self.form_bits(key), Symbol::Start(key.0, key.1)));
                }
            }
        }
        start
    }

    fn in_iterations(&self, l: usize, start: Form, step: &Form) -> Option<Form> {
        let iteration = Form::symbol(start.bits(), Symbol::Iteration(l));
        let form = start.plus(&step.times(&iteration));
        form.is_small().then_some(form)
    }

    /// An extended counter that does not wrap, by the header's test or the caller's word.
    fn bounded(&self, l: usize, key: Key, k: usize) -> Option<Form> {
        let (p, ext) = key;
        let (_, step) = self.split(l, self.headers.get(&(p, Ext::Own))?)?;
        let step = step.as_const()?;
        if ext == Ext::Own || !((self.facts.no_wrap)(p, ext) || self.has_room(l, p, ext, step)) {
            return None;
        }
        // The start, extended, from the ways into the loop.
        self.in_iterations(l, self.start(l, key, k)?, &Form::constant(64, step))
    }

    /// Whether the loop continues only while one more step fits the counter's type.
    fn has_room(&self, l: usize, p: Value, ext: Ext, step: i64) -> bool {
        let Some(test) = self.header_test(l).filter(|t| t.counter == p && step > 0) else { return false };
        // The counter is at most `most` where the test lets it pass, and each iteration adds the step once after that.
        // So it never exceeds `most + step`, which must be a number of its type.
        let half = (self.func.ty(p).scalar.mask() >> 1) as i64;
        let (signed, all) = match ext {
            Ext::Signed => (true, i128::from(half)),
            _ => (false, 2 * i128::from(half) + 1),
        };
        let most = match (test.cc, signed) {
            (IntCc::Slt, true) | (IntCc::Ult, false) => self.highest(test.bound, signed, all) - 1,
            (IntCc::Sle, true) | (IntCc::Ule, false) => self.highest(test.bound, signed, all),
            _ => return false,
        };
        most + i128::from(step) <= all
    }

    fn highest(&self, v: Value, signed: bool, all: i128) -> i128 {
        match self.range(v) {
            // The range is one of signed numbers: a negative bound is among the largest as an unsigned number.
            Some((low, high)) if signed || low >= 0 => i128::from(high).min(all),
            _ => all,
        }
    }

    /// Rewrites a form that is valid in a loop's header, or before it, in terms of iteration numbers: replaces header
    /// parameters by their recurrences.
    fn in_rounds(&self, form: &Form, l: usize) -> Option<Form> {
        self.resolve(form, self.loops.loops[l].header)
    }

    /// Rewrites the symbols of a form for use in a block, in terms of the surrounding loops' iterations.
    pub(super) fn resolve(&self, form: &Form, at: Block) -> Option<Form> {
        let known = form.symbols().any(|s| self.header_form(s, at, form.bits()).is_some());
        if known { form.substitute(|s| self.header_form(s, at, form.bits())) } else { Some(form.clone()) }
    }

    /// The recurrence of a symbol that is a header parameter of a loop around the block. After its loop it stays
    /// opaque.
    fn header_form(&self, s: Symbol, at: Block, bits: u32) -> Option<Form> {
        let Symbol::Value(v, ext) = s else { return None };
        let ValueDef::Param(b, _) = self.func.values[v].def else { return None };
        let l = self.loops.innermost(b).filter(|&l| self.loops.loops[l].header == b)?;
        if !self.is_in(at, l) {
            return None;
        }
        let wide = self.bits(v) == 64 || ext != Ext::Own;
        // Of a parameter of 64 bits only the reading `Own` is kept, whatever the symbol says.
        let form = self.headers.get(&(v, if self.bits(v) == 64 { Ext::Own } else { ext }))?;
        let full = if wide { 64 } else { self.bits(v) };
        Some(if bits < full { form.truncated(bits, |v| self.bits(v)) } else { form.clone() })
    }

    /// Whether a block is in a loop.
    pub(super) fn is_in(&self, b: Block, l: usize) -> bool {
        let mut at = self.loops.innermost(b);
        while let Some(k) = at {
            if k == l {
                return true;
            }
            at = self.loops.loops[k].parent;
        }
        false
    }

    /// Whether a symbol is loop-invariant.
    pub(super) fn is_invariant(&self, l: usize, s: Symbol) -> bool {
        match s {
            Symbol::Value(v, _) => self.home[v.index()].is_some_and(|b| !self.is_in(b, l)),
            Symbol::Query(..) | Symbol::Global(_) => true,
            // Iteration numbers of inner loops count as invariant (the same iteration is compared), and those of outer
            // loops are.
            Symbol::Iteration(k) => k != l,
            // It is as good as defined just before the header.
            Symbol::Start(v, _) => match self.home[v.index()] {
                Some(header) => header == self.loops.loops[l].header || !self.is_in(header, l),
                None => false,
            },
        }
    }

    pub(super) fn is_invariant_form(&self, l: usize, form: &Form) -> bool {
        form.symbols().all(|s| self.is_invariant(l, s))
    }

    /// The form in iteration 0 and the step; `None` if another symbol of it changes in the loop, or the form is not
    /// linear.
    pub(super) fn split(&self, l: usize, form: &Form) -> Option<(Form, Form)> {
        let (found, rest) = form.coefficients(|s| s == Symbol::Iteration(l))?;
        let step = found.into_iter().next().map_or(Form::constant(form.bits(), 0), |(_, step)| step);
        (self.is_invariant_form(l, &rest) && self.is_invariant_form(l, &step)).then_some((rest, step))
    }
}
