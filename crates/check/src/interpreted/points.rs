//! Positions in the source, seen from the user's code.
//!
//! The code of a built-in function has lines of the library. A finding there is one of the line that calls it.

use super::Subject;
use crate::finding::{Call, Place};
use cloom_interp::Point;
use cloom_ir::{FuncRef, Span};
use rustc_hash::FxHashMap;

/// Chains of calls that are told apart; further ones count as the kernel itself.
const MAX_CALLS: usize = 1 << 20;

/// A call, in the calls that it is in.
struct Node {
    /// The number of the calls around it, 0 for none.
    within: u32,
    callee: FuncRef,
    at: Point,
}

/// The positions and calls of a launch.
pub struct Points<'a> {
    subject: Subject<'a>,
    /// Whether each file is one of the library's.
    library: Vec<bool>,
    calls: Vec<Node>,
    by_place: FxHashMap<(u32, FuncRef, Span), u32>,
    /// The name that stands at each position, as far as it was asked for.
    names: std::cell::RefCell<FxHashMap<Span, &'a str>>,
}

impl<'a> Points<'a> {
    /// Those of a launch that begins.
    pub fn new(subject: Subject<'a>) -> Points<'a> {
        let is_library = |name: &String| {
            let of_library = cloom_builtins::lib_sources::FILES.iter().any(|f| f.0 == name);
            of_library && subject.sources.text(name).is_none()
        };
        let library = subject.module.files.iter().map(is_library).collect();
        Points { subject, library, calls: Vec::new(), by_place: FxHashMap::default(), names: Default::default() }
    }

    /// The number of a call.
    pub fn call(&mut self, callee: FuncRef, from: &Point) -> u32 {
        let next = self.calls.len() as u32 + 1;
        if self.calls.len() >= MAX_CALLS {
            return 0;
        }
        let number = *self.by_place.entry((from.calls, callee, from.span)).or_insert(next);
        if number == next {
            self.calls.push(Node { within: from.calls, callee, at: *from });
        }
        number
    }

    /// Whether a position is in the library. Code without a position is its, too.
    pub fn is_library(&self, span: Span) -> bool {
        span == Span::NONE || self.library.get(usize::from(span.file)).copied().unwrap_or(false)
    }

    /// The innermost point in the user's code: the point itself, or the call of the built-in function that it is in.
    pub fn user(&self, at: &Point) -> Point {
        let mut at = *at;
        while self.is_library(at.span)
            && let Some(node) = self.calls.get((at.calls as usize).wrapping_sub(1))
        {
            at = node.at;
        }
        at
    }

    /// The name that stands at the innermost point in the user's code: that of the built-in function, for a call.
    pub fn name(&self, at: &Point) -> &'a str {
        let span = self.user(at).span;
        if let Some(&name) = self.names.borrow().get(&span) {
            return name;
        }
        let file = self.subject.module.files.get(usize::from(span.file)).map_or("", String::as_str);
        let name = self.subject.sources.name(file, span.line, u32::from(span.col));
        self.names.borrow_mut().insert(span, name);
        name
    }

    /// A position as a finding shows it.
    pub fn place(&self, span: Span) -> Option<Place> {
        let file = self.subject.module.files.get(usize::from(span.file))?;
        if span.line == 0 {
            return None;
        }
        let col = u32::from(span.col);
        let operand = self.subject.sources.operand(file, span.line, col);
        let end_col = operand.map_or(col + 1, |r| r.end as u32 + 1);
        Some(Place { file: file.clone(), line: span.line, col, end_col })
    }

    /// Where a variable is declared.
    pub fn declared(&self, span: Span) -> Option<Place> {
        if self.is_library(span) { None } else { self.place(span) }
    }

    /// The calls in the user's code on the way to a point, the kernel's first.
    pub fn calls(&self, at: &Point) -> Vec<Call> {
        let mut calls = Vec::new();
        let mut within = self.user(at).calls;
        while let Some(node) = self.calls.get((within as usize).wrapping_sub(1)) {
            let function = self.subject.module.funcs[node.callee].name.clone();
            calls.extend(self.place(node.at.span).map(|place| Call { function, place }));
            within = node.within;
        }
        calls.reverse();
        calls
    }
}
