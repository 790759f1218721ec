//! Chains of operators that group to the left, which may have thousands of them: walked along in loops.
//!
//! In comes an expression; the operators on its left spine are taken apart until something else is found, then each is
//! computed from the value of the one before.

use super::func::Fn;
use crate::sema::tree::{Cc, Expr, ExprKind};
use cloom_builtins::Elem;
use cloom_ir::{BinOp, Block, Edge, Flags, Op, Scalar, Term, Type, Value};

/// An operator that waits for the value of its left operand.
enum Waiting<'e> {
    Operator(&'e Expr),
    /// Of `a * b + c`, with the factors, which are computed first.
    Fma(&'e Expr, Value, Value),
}

impl Fn<'_, '_> {
    /// The value of an operator, of a conversion, or of another expression.
    pub fn chain(&mut self, e: &Expr) -> Value {
        let mut waiting = Vec::new();
        let mut first = e;
        loop {
            match &first.kind {
                ExprKind::Binary(_, a, _) | ExprKind::PtrAdd(a, ..) if is_old(a) => {
                    // Of `x op= f()` the old value of `x` is read after the call, as compilers of today do.
                    break;
                }
                ExprKind::Binary(_, a, _)
                | ExprKind::Compare(_, a, _)
                | ExprKind::PtrAdd(a, ..)
                | ExprKind::Convert(a) => {
                    waiting.push(Waiting::Operator(first));
                    first = a;
                }
                ExprKind::Fma(args) => {
                    let [a, b, c] = &**args;
                    let (a, b) = (self.value(a), self.value(b));
                    waiting.push(Waiting::Fma(first, a, b));
                    first = c;
                }
                _ => break,
            }
        }
        // The end of the chain: an operator on `Old`, whose right side comes first, or any other expression.
        let mut v = match &first.kind {
            ExprKind::Binary(_, a, b) => {
                let y = self.value(b);
                let x = self.value(a);
                self.operated(first, x, Some(y))
            }
            ExprKind::PtrAdd(p, index, _) => {
                let index = self.value(index);
                let p = self.value(p);
                self.operated(first, p, Some(index))
            }
            _ => self.value(first),
        };
        for w in waiting.into_iter().rev() {
            // Back along the chain, from the innermost operator outwards.
            v = match w {
                Waiting::Operator(e) => self.operated(e, v, None),
                Waiting::Fma(e, a, b) => {
                    let ty = self.ir(e.ty.ty);
                    self.at(e.span);
                    self.push_fast(Op::Fma, &[a, b, v], ty)
                }
            };
        }
        v
    }

    /// An operator on the value of its left operand; that of the right one may be there already.
    fn operated(&mut self, e: &Expr, x: Value, right: Option<Value>) -> Value {
        match &e.kind {
            ExprKind::Binary(op, _, b) => {
                let y = right.unwrap_or_else(|| self.value(b));
                self.at(e.span);
                let elem = self.lw.types.numeric(e.ty.ty).map(|(elem, _)| elem);
                // Overflow is undefined for `int` and `long`. Smaller scalars were promoted to them; the components of
                // `char4` and `short4` were not, and wrap.
                let wraps = !self.lw.opts.marks;
                let signed =
                    matches!(elem, Some(Elem::I32 | Elem::I64)) || !wraps && matches!(elem, Some(Elem::I8 | Elem::I16));
                if signed && matches!(op, BinOp::Add | BinOp::Sub | BinOp::Mul) {
                    return self.b().binary_flags(*op, x, y, Flags::NSW);
                }
                self.bin(*op, x, y)
            }
            ExprKind::Compare(cc, _, b) => {
                let t = self.compared(*cc, x, b, e);
                let ty = self.ir(e.ty.ty);
                self.at(e.span);
                self.truth(t, ty)
            }
            ExprKind::PtrAdd(base, index, size) => {
                let index = right.unwrap_or_else(|| self.value(index));
                self.at(e.span);
                let bytes = self.scaled(index, *size);
                let element = self.b().ptr_add(x, bytes);
                self.mark_index(base, index, element);
                element
            }
            ExprKind::Convert(a) => {
                self.at(e.span);
                self.convert(x, a.ty.ty, e.ty.ty)
            }
            _ => x,
        }
    }

    /// A comparison as `i1`.
    pub fn compared(&mut self, cc: Cc, x: Value, b: &Expr, e: &Expr) -> Value {
        let y = self.value(b);
        self.at(e.span);
        match cc {
            Cc::Int(cc) => self.b().icmp(cc, x, y),
            Cc::Float(cc) => {
                let ty = self.ty(x).with_scalar(Scalar::I1);
                // With permissions: under `-cl-finite-math-only` a comparison need not mind NaNs.
                self.push_fast(Op::Fcmp(cc), &[x, y], ty)
            }
        }
    }

    /// The truth of `&&` and `||`.
    pub fn logic_chain(&mut self, e: &Expr) -> Value {
        let mut waiting = Vec::new();
        let mut first = e;
        while let ExprKind::Logic { and, lhs, rhs } = &first.kind {
            waiting.push((*and, &**rhs));
            first = lhs;
        }
        let mut left = self.test(first);
        for (and, rhs) in waiting.into_iter().rev() {
            let (more, end) = (self.new_block(), self.new_block());
            let result = self.func.add_block_param(end, Type::I1);
            // False decides an `&&`, true an `||`; otherwise the right operand is the result.
            let decided = self.b().iconst(Type::I1, u64::from(!and));
            let (to_more, to_end) = (Edge::new(more, []), Edge::new(end, [decided]));
            let (then, els) = if and { (to_more, to_end) } else { (to_end, to_more) };
            self.set_term(Term::Branch { cond: left, then, els });
            self.block = more;
            let right = self.test(rhs);
            self.b().jump(end, &[right]);
            self.block = end;
            left = result;
        }
        left
    }

    /// Goes to one of two blocks, as `&&` and `||` decide.
    pub fn branch_chain(&mut self, cond: &Expr, yes: Block, no: Block) {
        let mut waiting = Vec::new();
        let (mut first, mut to) = (cond, (yes, no));
        while let ExprKind::Logic { and, lhs, rhs } = &first.kind {
            let more = self.new_block();
            waiting.push((more, &**rhs, to));
            // Of `a && b`, a false `a` goes to where the whole goes if it is false; a true one goes on to `b`.
            to = if *and { (more, to.1) } else { (to.0, more) };
            first = lhs;
        }
        // The first operand with the targets of all operators around it; then each right operand in its block.
        self.branch(first, to.0, to.1);
        for (more, rhs, (yes, no)) in waiting.into_iter().rev() {
            self.block = more;
            self.branch(rhs, yes, no);
        }
    }

    /// The effects of all operands of a comma but the last, which is returned.
    pub fn effects<'e>(&mut self, e: &'e Expr) -> &'e Expr {
        let mut waiting = Vec::new();
        let (mut first, mut last) = (e, e);
        while let ExprKind::Comma(a, b) = &first.kind {
            waiting.push(&**b);
            first = a;
        }
        if !waiting.is_empty() {
            // The list has the outermost comma first: its right side is the value.
            last = waiting.remove(0);
            self.effect(first);
            for e in waiting.into_iter().rev() {
                self.effect(e);
            }
        }
        last
    }
}

/// Whether this is the old value of the object that is being updated.
fn is_old(e: &Expr) -> bool {
    let mut e = e;
    while let ExprKind::Convert(a) = &e.kind {
        e = a;
    }
    matches!(e.kind, ExprKind::Old)
}
