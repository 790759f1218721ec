//! The calls that were inlined into a function: where its code comes from.
//!
//! A position in the source ([`Span`]) names a place in the callee that an instruction was written in, and, by its
//! number in [`Function::inlined`], the call that the callee was inlined for. The position of this call is in the
//! caller; if the caller was itself inlined, it names the next call, and so on (LLVM's `inlinedAt`):
//!
//! ```text
//! inlined @blur !0:12:5      ; 1: the kernel calls `blur` in line 12
//! inlined @tap !0:4:9@1      ; 2: `blur`, inlined for that call, calls `tap` in line 4
//! v3: f32 = load v2 align 4 !0:1:20@2
//! ```

use crate::function::Function;
use crate::module::{CallSite, Span};
use std::sync::Arc;

impl Function {
    /// The inlined calls that what is at a position comes from, the innermost first. Whatever is wrong with the table,
    /// they end.
    pub fn inlined_calls(&self, span: Span) -> impl Iterator<Item = &CallSite> {
        let mut next = span.inlined;
        std::iter::from_fn(move || {
            let call = self.inlined.get(usize::from(next).checked_sub(1)?)?;
            next = call.outer(next);
            Some(call)
        })
    }

    /// Whether the call that a position names is in the table.
    pub fn has_inlined(&self, span: Span) -> bool {
        usize::from(span.inlined) <= self.inlined.len()
    }

    /// Adds an inlined call and returns its number; `None` if the table is full.
    fn push_inlined(&mut self, call: CallSite) -> Option<u16> {
        let number = u16::try_from(self.inlined.len() + 1).ok()?;
        self.inlined.push(call);
        Some(number)
    }
}

impl CallSite {
    /// The number of the call that the caller was inlined for, where this call has that number; 0 if there is none. A
    /// call comes after its caller's, so that the numbers fall, in a damaged table too.
    fn outer(&self, number: u16) -> u16 {
        if self.span.inlined < number { self.span.inlined } else { 0 }
    }
}

/// Positions of a callee's code, as they are in a caller that the callee is inlined into: a renumbering of inlined
/// calls. The caller gets those that its new code comes from; if its table is full, no more.
pub struct InlinedSpans<'a> {
    callee: &'a Function,
    /// The call, and its number once it has one.
    call: CallSite,
    number: u16,
    /// The numbers in the caller of the callee's inlined calls, 0 for those that have none yet.
    numbers: Vec<u16>,
}

impl<'a> InlinedSpans<'a> {
    /// Of a callee that is inlined for a call at `call` in the caller.
    pub fn new(callee: &'a Function, name: Arc<str>, call: Span) -> InlinedSpans<'a> {
        let call = CallSite { function: name, span: call };
        InlinedSpans { callee, call, number: 0, numbers: vec![0; callee.inlined.len()] }
    }

    /// A position of the callee's code, in the caller. What has no position gets none.
    pub fn map(&mut self, caller: &mut Function, span: Span) -> Span {
        if span == Span::NONE { span } else { Span { inlined: self.number(caller, span.inlined), ..span } }
    }

    fn number(&mut self, caller: &mut Function, inlined: u16) -> u16 {
        // The calls that the caller does not have yet, from the innermost one on.
        let mut missing = Vec::new();
        let mut next = inlined;
        while let Some(at) = usize::from(next).checked_sub(1)
            && self.numbers.get(at) == Some(&0)
        {
            missing.push(at);
            next = self.callee.inlined[at].outer(next);
        }
        // `next` is the innermost call of the chain that the caller has already. If it is 0, the chain ends in the
        // callee itself, which was inlined for `self.call`.
        let mut number = match usize::from(next).checked_sub(1).and_then(|at| self.numbers.get(at)) {
            Some(&number) => number,
            None if self.number > 0 => self.number,
            None => {
                self.number = caller.push_inlined(self.call.clone()).unwrap_or(0);
                self.number
            }
        };
        // From the outermost on: a call in the table must name one before it (V59).
        for at in missing.into_iter().rev() {
            // A call whose own caller is missing would seem to be in the kernel.
            if number == 0 {
                break;
            }
            let CallSite { function, span } = &self.callee.inlined[at];
            let call = CallSite { function: function.clone(), span: Span { inlined: number, ..*span } };
            number = caller.push_inlined(call).unwrap_or(0);
            self.numbers[at] = number;
        }
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(function: &str, line: u32, inlined: u16) -> CallSite {
        CallSite { function: function.into(), span: Span { line, inlined, ..Span::NONE } }
    }

    fn lines(func: &Function, inlined: u16) -> Vec<u32> {
        func.inlined_calls(Span { inlined, ..Span::NONE }).map(|call| call.span.line).collect()
    }

    #[test]
    fn only_calls_that_code_comes_from_are_copied() {
        let mut callee = Function::new("f", Vec::new(), None);
        callee.inlined = vec![call("unused", 1, 0), call("g", 2, 0), call("h", 3, 2)];
        let mut caller = Function::new("k", Vec::new(), None);
        caller.inlined = vec![call("other", 9, 0)];
        let mut spans = InlinedSpans::new(&callee, "f".into(), Span { line: 10, ..Span::NONE });
        assert_eq!(spans.map(&mut caller, Span::NONE), Span::NONE);
        assert_eq!(caller.inlined.len(), 1);
        let at = |inlined: u16| Span { line: 7, inlined, ..Span::NONE };
        assert_eq!(spans.map(&mut caller, at(3)), at(4));
        assert_eq!(spans.map(&mut caller, at(2)), at(3));
        assert_eq!(spans.map(&mut caller, at(0)), at(2));
        assert_eq!(caller.inlined, [call("other", 9, 0), call("f", 10, 0), call("g", 2, 2), call("h", 3, 3)]);
        assert_eq!(lines(&caller, 4), [3, 2, 10]);
    }

    #[test]
    fn code_beyond_a_full_table_has_its_own_position_only() {
        let mut callee = Function::new("f", Vec::new(), None);
        callee.inlined = vec![call("g", 2, 0), call("h", 3, 1)];
        let mut caller = Function::new("k", Vec::new(), None);
        caller.inlined = vec![call("other", 9, 0); usize::from(u16::MAX) - 2];
        let mut spans = InlinedSpans::new(&callee, "f".into(), Span { line: 10, ..Span::NONE });
        let at = |inlined: u16| Span { line: 7, inlined, ..Span::NONE };
        assert_eq!(spans.map(&mut caller, at(2)), at(0));
        assert_eq!(spans.map(&mut caller, at(1)), at(u16::MAX));
        assert_eq!(spans.map(&mut caller, at(0)), at(u16::MAX - 1));
        assert_eq!(spans.map(&mut caller, at(2)), at(0));
        let mut spans = InlinedSpans::new(&callee, "f".into(), Span { line: 11, ..Span::NONE });
        assert_eq!(spans.map(&mut caller, at(1)), at(0));
        assert_eq!(caller.inlined.len(), usize::from(u16::MAX));
        assert_eq!(lines(&caller, u16::MAX), [2, 10]);
    }

    #[test]
    fn a_damaged_table_ends_its_calls() {
        let mut func = Function::new("f", Vec::new(), None);
        func.inlined = vec![call("g", 1, 1), call("h", 2, 5), call("i", 3, 2)];
        assert_eq!(lines(&func, 1), [1]);
        assert_eq!(lines(&func, 3), [3, 2]);
        assert_eq!(lines(&func, 4), [0; 0]);
        let mut caller = Function::new("k", Vec::new(), None);
        let mut spans = InlinedSpans::new(&func, "f".into(), Span::NONE);
        for inlined in 1..9 {
            let span = spans.map(&mut caller, Span { line: 1, inlined, ..Span::NONE });
            assert!(caller.has_inlined(span));
        }
    }

    /// There are millions of instructions; a position must not make them larger.
    #[test]
    fn positions_are_small() {
        assert_eq!((size_of::<Span>(), size_of::<crate::InstData>()), (12, 72));
    }
}
