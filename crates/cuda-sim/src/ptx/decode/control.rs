//! Decodes branches, calls, barriers and what threads of a warp do together.
//!
//! In: the decoder with an opcode of these families. Out: operations. Branch targets are numbers of labels here; the
//! lowering of the function replaces them by positions.

use super::memory::REDUCTIONS;
use super::{Decoder, Result};
use crate::ptx::op::{Barrier, Call, Callee, Op, Reduction, Shuffle, Slot, Type, Vote, WarpOp};
use crate::ptx::symbol::Symbol;
use cloom_ptx::Register;
use cloom_ptx::tree::Arg;

impl<'t> Decoder<'_, '_, 't> {
    pub(super) fn control(&mut self, name: &str) -> Result<Op> {
        match name {
            "bra" => {
                self.flag("uni");
                self.expect_args(1, 1)?;
                let Arg::Name(label) = *self.arg(0)? else { return self.error("the target is not a label") };
                Ok(Op::Branch(self.scopes.use_label(label, self.inst.line.0)))
            }
            "brx" => {
                self.flag("uni");
                self.expect_args(2, 2)?;
                // The table stands before the branch, as LLVM writes it, so that its name is known here.
                let Arg::Name(table) = *self.arg(1)? else { return self.error("the table is not a label") };
                match (self.flag("idx"), self.scopes.find(table)) {
                    (true, Some(Symbol::Targets(targets))) => {
                        Ok(Op::BranchIndexed { index: self.src(0, Type::U32)?, targets: targets.into() })
                    }
                    (true, _) => self.error(format!("unknown table of targets {table}")),
                    _ => self.unknown(),
                }
            }
            "call" => self.call(),
            "ret" => {
                self.flag("uni");
                self.expect_args(0, 0)?;
                Ok(Op::Return)
            }
            "exit" => self.expect_args(0, 0).map(|()| Op::Exit),
            "trap" => self.expect_args(0, 0).map(|()| Op::Trap),
            "nanosleep" | "pmevent" => {
                // Hints: whatever modifiers they have, nothing happens.
                self.parts.clear();
                Ok(Op::Nop)
            }
            "bar" | "barrier" => self.barrier(),
            "activemask" => {
                let ty = self.ty()?;
                self.expect_args(1, 1)?;
                Ok(Op::ActiveMask(self.dst(0, ty)?))
            }
            _ if self.flag("sync") => self.warp(name),
            _ => self.unknown(),
        }
    }

    /// The parameter area of a name in a call.
    fn slots(&self, args: &[Arg<'t>]) -> Result<Box<[Slot]>> {
        let slot = |arg: &Arg<'t>| match arg {
            Arg::Name(name) => match self.scopes.find(name) {
                Some(Symbol::Param(slot)) => Ok(slot),
                _ => self.error(format!("{name} is not a .param; registers cannot be passed directly")),
            },
            _ => self.error("only a .param can be passed to a function"),
        };
        args.iter().map(slot).collect()
    }

    fn call(&mut self) -> Result<Op> {
        self.flag("uni");
        let mut rest = self.inst.args.iter().peekable();
        // `call (r), f, (a, b), prototype`: a list before the function has the results.
        let returns = match rest.peek() {
            Some(Arg::List(args)) => {
                rest.next();
                self.slots(args)?
            }
            _ => Box::default(),
        };
        let Some(Arg::Name(name)) = rest.next() else { return self.error("a call without a function") };
        let callee = match self.scopes.find(name) {
            Some(Symbol::Function(index)) => Callee::Function(index),
            // An indirect call: addresses of functions have 64 bits.
            Some(Symbol::Register(Register { bits: 64, .. })) => {
                let ty = Type { bits: 64, ..Type::B32 };
                Callee::Address(self.src_of(&Arg::Name(name), ty, false)?)
            }
            Some(_) => return self.error(format!("{name} is not a function")),
            None => return self.error(format!("unknown function {name}")),
        };
        let params = match rest.peek() {
            Some(Arg::List(args)) => {
                rest.next();
                self.slots(args)?
            }
            _ => Box::default(),
        };
        // The prototype or the list of possible targets of an indirect call.
        if let Some(arg) = rest.next() {
            let known = matches!(arg, Arg::Name(name)
                if matches!(self.scopes.find(name), Some(Symbol::Prototype | Symbol::Targets(_))));
            if !known || matches!(callee, Callee::Function(_)) || rest.next().is_some() {
                return self.error("a call has too many operands");
            }
        }
        Ok(Op::Call(Box::new(Call { callee, returns, params })))
    }

    fn barrier(&mut self) -> Result<Op> {
        if self.flag("warp") {
            if !self.flag("sync") {
                return self.unknown();
            }
            self.expect_args(1, 1)?;
            return Ok(Op::Warp { op: Box::new(WarpOp::Sync), mask: self.src(0, Type::B32)? });
        }
        // `.aligned` promises that all threads of a warp come together: waiting for each thread serves both forms.
        self.ignore(&["cta", "aligned"]);
        if self.flag("sync") {
            self.expect_args(1, 2)?;
            let count = if self.inst.args.len() == 2 { Some(self.src(1, Type::U32)?) } else { None };
            return Ok(Op::Barrier(Box::new(Barrier {
                id: self.src(0, Type::U32)?,
                count,
                arrive: false,
                reduce: None,
            })));
        }
        if self.flag("arrive") {
            self.expect_args(2, 2)?;
            let (id, count) = (self.src(0, Type::U32)?, Some(self.src(1, Type::U32)?));
            return Ok(Op::Barrier(Box::new(Barrier { id, count, arrive: true, reduce: None })));
        }
        if self.flag("red") {
            let how = self.one_of(&[("popc", Reduction::Popc), ("and", Reduction::And), ("or", Reduction::Or)]);
            let Some(how) = how else { return self.unknown() };
            let ty = self.ty()?;
            self.expect_args(3, 4)?;
            let last = self.inst.args.len() - 1;
            let count = if last == 3 { Some(self.src(2, Type::U32)?) } else { None };
            let reduce = Some((how, self.dst(0, ty)?, self.test(last)?));
            return Ok(Op::Barrier(Box::new(Barrier { id: self.src(1, Type::U32)?, count, arrive: false, reduce })));
        }
        self.unknown()
    }

    /// The `.sync` forms, whose last operand is the mask of members.
    fn warp(&mut self, name: &str) -> Result<Op> {
        let word = Type::B32;
        let op = match name {
            "shfl" => {
                let how = self.one_of(&[
                    ("up", Shuffle::Up),
                    ("down", Shuffle::Down),
                    ("bfly", Shuffle::Butterfly),
                    ("idx", Shuffle::Index),
                ]);
                let (Some(how), true) = (how, self.flag("b32")) else { return self.unknown() };
                self.expect_args(5, 5)?;
                let (dst, valid) = self.dst_pair(0, word, Type::PRED)?;
                WarpOp::Shuffle { how, dst, valid, a: self.src(1, word)?, b: self.src(2, word)?, c: self.src(3, word)? }
            }
            "vote" => {
                let how = self.one_of(&[
                    ("all", Vote::All),
                    ("any", Vote::Any),
                    ("uni", Vote::Uniform),
                    ("ballot", Vote::Ballot),
                ]);
                let Some(how) = how else { return self.unknown() };
                let ty = self.ty()?;
                self.expect_args(3, 3)?;
                WarpOp::Vote { how, dst: self.dst(0, ty)?, a: self.test(1)? }
            }
            "match" => {
                let all = self.one_of(&[("all", true), ("any", false)]);
                let ty = self.ty()?;
                self.expect_args(3, 3)?;
                match all {
                    Some(true) => {
                        let (dst, same) = self.dst_pair(0, word, Type::PRED)?;
                        WarpOp::MatchAll { dst, same, a: self.src(1, ty)?, ty }
                    }
                    Some(false) => WarpOp::MatchAny { dst: self.dst(0, word)?, a: self.src(1, ty)?, ty },
                    None => return self.unknown(),
                }
            }
            "redux" => {
                let Some(op) = self.one_of(REDUCTIONS) else { return self.unknown() };
                let ty = self.ty()?;
                if ty.bits != 32 || ty.is_float() {
                    return self.unknown();
                }
                self.expect_args(3, 3)?;
                WarpOp::Reduce { op, ty, dst: self.dst(0, ty)?, a: self.src(1, ty)? }
            }
            "elect" => {
                self.expect_args(2, 2)?;
                let (dst, chosen) = self.dst_pair(0, word, Type::PRED)?;
                WarpOp::Elect { dst, chosen }
            }
            _ => return self.unknown(),
        };
        let last = self.inst.args.len() - 1;
        Ok(Op::Warp { op: Box::new(op), mask: self.src(last, word)? })
    }
}
