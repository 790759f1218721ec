//! Statements: blocks, branches, loops, switches, jumps.

use super::func::Fn;
use crate::sema::tree::{Expr, LabelId, Stmt, StmtKind};
use cloom_ir::{BinOp, Block, Edge, IntCc, Term};

/// A range of cases up to so many values becomes cases of the IR's switch; a longer one is compared.
const RANGE: u64 = 64;

impl Fn<'_, '_> {
    pub fn stmts(&mut self, list: &[Stmt]) {
        for s in list {
            self.stmt(s);
        }
    }

    fn stmt(&mut self, s: &Stmt) {
        self.at(s.span);
        match &s.kind {
            StmtKind::Expr(e) => self.effect(e),
            StmtKind::Declare(id) => self.mark_begin(*id),
            StmtKind::Init(id, init) => {
                self.mark_begin(*id);
                let (address, align) = self.local(*id);
                let ty = self.body.locals[id.0 as usize].ty.ty;
                self.init(address, align, ty, init);
            }
            StmtKind::Block(list) => {
                self.stmts(list);
                self.mark_ends(list);
            }
            StmtKind::If(cond, then, els) => {
                // Without an `else`, a false condition goes to the end at once.
                let (yes, end) = (self.new_block(), self.new_block());
                let no = if els.is_some() { self.new_block() } else { end };
                self.branch(cond, yes, no);
                self.block = yes;
                self.stmt(then);
                self.b().jump(end, &[]);
                if let Some(els) = els {
                    self.block = no;
                    self.stmt(els);
                    self.b().jump(end, &[]);
                }
                self.block = end;
            }
            StmtKind::Loop { init, cond, cond_last, step, body } => {
                self.stmts(init);
                self.loop_stmt(cond.as_ref(), *cond_last, step.as_ref(), body);
                self.mark_ends(init);
            }
            StmtKind::Switch { value, cases, default, body } => self.switch(value, cases, *default, body),
            StmtKind::Label(id) => {
                let b = self.label(*id);
                self.b().jump(b, &[]);
                self.block = b;
            }
            // What follows a jump is reached by a label only: it is lowered into a block that nothing leads to yet.
            StmtKind::Goto(id) => {
                let b = self.label(*id);
                self.b().jump(b, &[]);
                self.dead();
            }
            StmtKind::Break => {
                if let Some(&b) = self.breaks.last() {
                    self.b().jump(b, &[]);
                }
                self.dead();
            }
            StmtKind::Continue => {
                if let Some(&b) = self.continues.last() {
                    self.b().jump(b, &[]);
                }
                self.dead();
            }
            StmtKind::Return(value) => {
                self.return_stmt(value.as_ref());
                self.dead();
            }
        }
    }

    fn return_stmt(&mut self, value: Option<&Expr>) {
        let v = match value {
            Some(e) if self.lw.is_record(e.ty.ty) => {
                let (from, align) = self.address(e);
                if let Some(room) = self.ret_room {
                    let (size, own) = self.lw.types.layout(e.ty.ty).unwrap_or((0, 1));
                    self.b().mem_copy(room, from, size, align.min(own as u32));
                }
                None
            }
            Some(e) => Some(self.value(e)),
            None => self.func.ret.map(|ty| self.zero(ty)),
        };
        self.b().ret(v);
    }

    fn label(&mut self, id: LabelId) -> Block {
        if let Some(&b) = self.labels.get(&id) {
            return b;
        }
        let b = self.new_block();
        self.labels.insert(id, b);
        b
    }

    fn loop_stmt(&mut self, cond: Option<&Expr>, cond_last: bool, step: Option<&Expr>, body: &Stmt) {
        // `continue` goes to the latch, which has the step; `break` goes to the exit.
        let (header, inside, latch, exit) = (self.new_block(), self.new_block(), self.new_block(), self.new_block());
        // `do … while` enters behind the condition, so that both kinds of loop have one header, which `continue`
        // reaches through the latch.
        self.b().jump(if cond_last { inside } else { header }, &[]);
        self.block = header;
        match cond {
            Some(c) => self.branch(c, inside, exit),
            None => self.b().jump(inside, &[]),
        }
        self.breaks.push(exit);
        self.continues.push(latch);
        self.block = inside;
        self.stmt(body);
        self.b().jump(latch, &[]);
        self.breaks.pop();
        self.continues.pop();
        self.block = latch;
        if let Some(step) = step {
            self.effect(step);
        }
        self.b().jump(header, &[]);
        self.block = exit;
    }

    fn switch(&mut self, value: &Expr, cases: &[(u64, u64, LabelId)], default: Option<LabelId>, body: &Stmt) {
        let v = self.value(value);
        let ty = self.ty(v);
        let (exit, dead) = (self.new_block(), self.new_block());
        let otherwise = match default {
            Some(id) => self.label(id),
            None => exit,
        };
        let mut list: Vec<(u64, Edge)> = Vec::new();
        for &(low, high, id) in cases {
            let to = self.label(id);
            // Modulo the width, as the bits of signed values are: -1 ... 1 has a count of 2.
            let count = high.wrapping_sub(low) & ty.scalar.mask();
            if count < RANGE {
                for i in 0..=count {
                    list.push((low.wrapping_add(i) & ty.scalar.mask(), Edge::new(to, [])));
                }
                continue;
            }
            // `value - low <= count`, unsigned, tests both ends at once. No two cases overlap, so that the order of the
            // tests is free.
            let (low, count) = (self.b().iconst(ty, low), self.b().iconst(ty, count));
            let from = self.b().binary(BinOp::Sub, v, low);
            let inside = self.b().icmp(IntCc::Ule, from, count);
            let next = self.new_block();
            self.b().branch(inside, to, next);
            self.block = next;
        }
        let default = Edge::new(otherwise, []);
        match list.is_empty() {
            true => self.set_term(Term::Jump(default)),
            false => self.set_term(Term::Switch { value: v, cases: list, default }),
        }
        // Statements before the first label are unreachable.
        self.block = dead;
        self.breaks.push(exit);
        self.stmt(body);
        self.breaks.pop();
        self.b().jump(exit, &[]);
        self.block = exit;
    }
}
