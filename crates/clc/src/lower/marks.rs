//! Marks for the checker of kernels: what the IR does not say of the source otherwise.
//!
//! In come statements and expressions of a program that is built for the checker; out come marks ([`Mark`]) between the
//! instructions. Other programs get none.

use super::func::Fn;
use crate::sema::stmt::has_label;
use crate::sema::tree::{Expr, ExprKind, LocalId, Stmt, StmtKind};
use crate::sema::types::TyKind;
use cloom_ir::{CastOp, Mark, Type, Value};

impl Fn<'_, '_> {
    /// A variable begins, without a value.
    pub fn mark_begin(&mut self, id: LocalId) {
        if self.lw.opts.marks {
            let (address, _) = self.local(id);
            let size = self.lw.types.size(self.body.locals[id.0 as usize].ty.ty);
            self.b().mark(Mark::Begin(size), &[address]);
        }
    }

    /// The variables of a block end with it. A jump to a label in the block does not pass their beginning again, so
    /// that they live on there; so do those of a block that is left by a jump.
    pub fn mark_ends(&mut self, list: &[Stmt]) {
        if !self.lw.opts.marks || list.iter().any(has_label) {
            return;
        }
        for s in list {
            if let StmtKind::Declare(id) | StmtKind::Init(id, _) = &s.kind {
                let (address, _) = self.local(*id);
                self.b().mark(Mark::End, &[address]);
            }
        }
    }

    /// The address of an element is computed, of an array whose length the type says.
    pub fn mark_index(&mut self, base: &Expr, index: Value, element: Value) {
        if !self.lw.opts.marks {
            return;
        }
        let ExprKind::Addr(array) = &base.kind else { return };
        if let &TyKind::Array(_, Some(count)) = self.lw.types.kind(array.ty.ty)
            && self.ty(index) == Type::I64
        {
            self.b().mark(Mark::Index(count), &[index, element]);
        }
    }

    /// An event for an asynchronous copy that begins.
    pub fn mark_copy(&mut self, event: Value) -> Value {
        if self.lw.opts.marks { self.b().mark_copy(event) } else { event }
    }

    /// The arguments of an asynchronous copy that has begun, without its event.
    pub fn mark_arguments(&mut self, args: &[Value]) {
        if !self.lw.opts.marks {
            return;
        }
        for &arg in args {
            self.b().mark(Mark::Argument, &[arg]);
        }
    }

    /// The group waits for events.
    pub fn mark_wait(&mut self, count: Value, list: Value) {
        if self.lw.opts.marks {
            // Any integer type may count events; no list has as many as an `int` cannot count.
            let count = match self.ty(count) {
                Type::I32 => count,
                ty if ty.scalar.bytes() > 4 => self.b().cast(CastOp::Trunc, count, Type::I32),
                _ => self.b().cast(CastOp::Zext, count, Type::I32),
            };
            self.b().mark(Mark::Wait, &[count, list]);
        }
    }
}
