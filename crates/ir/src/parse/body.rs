//! The blocks of a function. Values and blocks are written under the numbers of the text and renamed when the body is
//! complete.

use super::lex::Token;
use super::{Parser, Result, numbered};
use crate::entity::{Block, Entity, FuncRef, GlobalRef, Value};
use crate::flags::Flags;
use crate::function::Function;
use crate::inst::{
    Args, BarrierMemory, BinOp, CastOp, DeviceCall, Edge, FloatCc, IntCc, Op, Order, Query, RmwOp, Scope, Term, UnOp,
};
use crate::mark::Mark;
use crate::module::{CallSite, Span};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// What the numbers in the text stand for, and where each was first used.
#[derive(Default)]
struct Names {
    values: FxHashMap<u32, Value>,
    blocks: FxHashMap<u32, Block>,
    value_uses: FxHashMap<u32, usize>,
    block_uses: FxHashMap<u32, usize>,
}

/// Reads up to the closing brace; the opening one is taken.
pub fn parse(p: &mut Parser<'_>, func: &mut Function) -> Result<()> {
    let mut body = Body { p, func, names: Names::default() };
    while body.p.eat_word("inlined") {
        let function = body.p.name()?.into();
        let span = body.span()?;
        body.func.inlined.push(CallSite { function, span });
    }
    while !body.p.eat(b'}') {
        body.block()?;
    }
    if body.func.layout.is_empty() {
        // Back to the closing brace, where the error is.
        body.p.at -= 1;
        return body.p.error("a body has one block at least");
    }
    body.resolve()
}

struct Body<'p, 't> {
    p: &'p mut Parser<'t>,
    func: &'p mut Function,
    names: Names,
}

impl Body<'_, '_> {
    fn block(&mut self) -> Result<()> {
        let offset = self.p.offset();
        let Some(number) = self.p.peek_word().and_then(|w| numbered(w, "bb")) else {
            return self.p.error("expected a block, like bb0");
        };
        self.p.at += 1;
        // Blocks get their entities in the order of the text, which is the layout.
        let block = self.func.add_block();
        if self.names.blocks.insert(number, block).is_some() {
            return self.p.error_at(offset, "a second block of this number");
        }
        if self.p.eat(b'(') {
            loop {
                let (number, offset) = self.value_number()?;
                self.p.punct(b':')?;
                let ty = self.p.ty()?;
                let v = self.func.add_block_param(block, ty);
                self.define(number, v, offset)?;
                if !self.p.eat(b',') {
                    break;
                }
            }
            self.p.punct(b')')?;
        }
        self.p.punct(b':')?;
        while !self.terminator(block)? {
            self.inst(block)?;
        }
        Ok(())
    }

    fn value_number(&mut self) -> Result<(u32, usize)> {
        let offset = self.p.offset();
        match self.p.peek_word().and_then(|w| numbered(w, "v")) {
            Some(n) => {
                self.p.at += 1;
                Ok((n, offset))
            }
            None => self.p.error("expected a value, like v0"),
        }
    }

    fn define(&mut self, number: u32, v: Value, offset: usize) -> Result<()> {
        match self.names.values.insert(number, v) {
            None => Ok(()),
            Some(_) => self.p.error_at(offset, "a second value of this number"),
        }
    }

    /// A use of a value, under its number in the text.
    fn value(&mut self) -> Result<Value> {
        let (n, offset) = self.value_number()?;
        self.names.value_uses.entry(n).or_insert(offset);
        Ok(Value::new(n as usize))
    }

    fn edge(&mut self) -> Result<Edge> {
        let offset = self.p.offset();
        let Some(number) = self.p.peek_word().and_then(|w| numbered(w, "bb")) else {
            return self.p.error("expected a block, like bb0");
        };
        self.p.at += 1;
        self.names.block_uses.entry(number).or_insert(offset);
        let mut edge = Edge::new(Block::new(number as usize), []);
        if self.p.eat(b'(') {
            loop {
                edge.args.push(self.value()?);
                if !self.p.eat(b',') {
                    break;
                }
            }
            self.p.punct(b')')?;
        }
        Ok(edge)
    }

    fn span(&mut self) -> Result<Span> {
        let Some(span) = self.p.position()? else { return Ok(Span::NONE) };
        // `@2` is lexed as a name.
        let inlined = match self.p.peek() {
            Token::Name(number) => {
                // A call of the list above; in the list, one before.
                let known = number.parse().ok().filter(|&n: &u16| n > 0 && usize::from(n) <= self.func.inlined.len());
                let Some(n) = known else { return self.p.error("no inlined call has this number") };
                self.p.at += 1;
                n
            }
            _ => 0,
        };
        Ok(Span { inlined, ..span })
    }

    /// Reads a terminator, if one comes next.
    fn terminator(&mut self, block: Block) -> Result<bool> {
        let term = match self.p.peek_word() {
            Some("jump") => {
                self.p.at += 1;
                Term::Jump(self.edge()?)
            }
            Some("br") => {
                self.p.at += 1;
                let cond = self.value()?;
                self.p.punct(b',')?;
                let then = self.edge()?;
                self.p.punct(b',')?;
                Term::Branch { cond, then, els: self.edge()? }
            }
            Some("switch") => {
                self.p.at += 1;
                self.switch()?
            }
            Some("ret") => {
                self.p.at += 1;
                let value = self.p.peek_word().is_some_and(|w| numbered(w, "v").is_some());
                Term::Return(if value { Some(self.value()?) } else { None })
            }
            Some("unreachable") => {
                self.p.at += 1;
                Term::Unreachable
            }
            _ => return Ok(false),
        };
        let span = self.span()?;
        self.func.set_term(block, term, span);
        Ok(true)
    }

    fn switch(&mut self) -> Result<Term> {
        let value = self.value()?;
        self.p.punct(b'[')?;
        let mut cases = Vec::new();
        if !self.p.eat(b']') {
            loop {
                let bits = self.p.int()?;
                self.p.punct(b':')?;
                cases.push((bits, self.edge()?));
                if !self.p.eat(b',') {
                    break;
                }
            }
            self.p.punct(b']')?;
        }
        self.p.punct(b',')?;
        Ok(Term::Switch { value, cases, default: self.edge()? })
    }

    fn inst(&mut self, block: Block) -> Result<()> {
        let mut result = None;
        // Only a result is followed by a colon: a block cannot begin before the terminator of the last one.
        if *self.p.peek2() == Token::Punct(b':') {
            let (number, offset) = self.value_number()?;
            self.p.punct(b':')?;
            let ty = self.p.ty()?;
            self.p.punct(b'=')?;
            result = Some((number, offset, ty));
        }
        let op = self.op()?;
        let mut flags = Flags::empty();
        // No operation, value or immediate is named like a flag.
        while let Some((flag, _)) = Flags::NAMES.iter().find(|(_, name)| self.p.peek_word() == Some(*name)) {
            self.p.at += 1;
            flags |= *flag;
        }
        let mut args = Args::new();
        // A value followed by a colon begins the next instruction.
        let begins = self.p.peek_word().is_some_and(|w| numbered(w, "v").is_some());
        if begins && *self.p.peek2() != Token::Punct(b':') {
            args.push(self.value()?);
            while self.p.eat(b',') {
                args.push(self.value()?);
            }
        }
        // The alignments that `op` set are placeholders: they follow the operands.
        let op = self.suffix(op)?;
        let span = self.span()?;
        let inst = self.func.make_inst(op, args, result.map(|r| r.2), flags, span);
        self.func.blocks[block].insts.push(inst);
        match (result, self.func.insts[inst].result) {
            (Some((number, offset, _)), Some(v)) => self.define(number, v, offset),
            _ => Ok(()),
        }
    }

    /// One of the names of a set of immediates.
    fn one_of<T>(&mut self, from_name: impl Fn(&str) -> Option<T>, what: &str) -> Result<T> {
        match self.p.peek_word().and_then(from_name) {
            Some(t) => {
                self.p.at += 1;
                Ok(t)
            }
            None => self.p.error(format!("expected {what}")),
        }
    }

    fn mark(&mut self) -> Result<Mark> {
        let word = self.p.word()?;
        Ok(match word {
            "index" => Mark::Index(self.p.small()?),
            "begin" => Mark::Begin(self.p.small()?),
            "end" => Mark::End,
            "copy" => Mark::Copy,
            "wait" => Mark::Wait,
            "argument" => Mark::Argument,
            _ => return self.p.error("expected a mark"),
        })
    }

    fn order_scope(&mut self) -> Result<(Order, Scope)> {
        Ok((self.one_of(Order::from_name, "a memory order")?, self.one_of(Scope::from_name, "a memory scope")?))
    }

    /// The operation and the immediates before its operands.
    fn op(&mut self) -> Result<Op> {
        let Some(word) = self.p.peek_word() else { return self.p.error("expected an instruction") };
        self.p.at += 1;
        Ok(match word {
            "const" => Op::Const(self.p.int()?),
            "fma" => Op::Fma,
            "icmp" => Op::Icmp(self.one_of(IntCc::from_name, "an integer comparison")?),
            "fcmp" => Op::Fcmp(self.one_of(FloatCc::from_name, "a float comparison")?),
            "select" => Op::Select,
            "extract" => Op::Extract,
            "insert" => Op::Insert,
            "shuffle" => Op::Shuffle(Box::default()),
            "splat" => Op::Splat,
            "build" => Op::Build,
            "alloca" => {
                let (size, align) = (self.p.int()?, self.p.field("align")?);
                let is_named = matches!(self.p.peek(), Token::Str(_));
                let name = if is_named { Some(Arc::new(self.p.string()?)) } else { None };
                Op::Alloca { size, align, name }
            }
            "ptradd" => Op::PtrAdd,
            "load" => Op::Load { align: 1 },
            "store" => Op::Store { align: 1 },
            "iota" => Op::Iota,
            "any" => Op::Any,
            "all" => Op::All,
            "ballot" => Op::Ballot,
            "maskedload" => Op::MaskedLoad { align: 1 },
            "maskedstore" => Op::MaskedStore { align: 1 },
            "gather" => Op::Gather { align: 1 },
            "scatter" => Op::Scatter { align: 1 },
            "memcopy" => Op::MemCopy { size: self.p.int()?, align: 1 },
            "memset" => Op::MemSet { size: self.p.int()?, byte: self.p.small()?, align: 1 },
            "globaladdr" => {
                let offset = self.p.offset();
                let name = self.p.name()?;
                Op::GlobalAddr(GlobalRef::new(self.p.globals.mention(name, offset)))
            }
            "call" => {
                let offset = self.p.offset();
                let name = self.p.name()?;
                Op::Call(FuncRef::new(self.p.funcs.mention(name, offset)))
            }
            "purecall" => {
                let offset = self.p.offset();
                let name = self.p.name()?;
                Op::PureCall(FuncRef::new(self.p.funcs.mention(name, offset)))
            }
            "cmpxchg" => {
                let (order, scope) = self.order_scope()?;
                Op::AtomicCmpXchg { order, scope }
            }
            "atomic_load" => {
                let (order, scope) = self.order_scope()?;
                Op::AtomicLoad { order, scope }
            }
            "atomic_store" => {
                let (order, scope) = self.order_scope()?;
                Op::AtomicStore { order, scope }
            }
            "fence" => {
                let (order, scope) = self.order_scope()?;
                Op::Fence { order, scope }
            }
            "query" => Op::Query { what: self.one_of(Query::from_name, "a query")?, dim: self.p.small()? },
            "prefetch" => Op::Prefetch,
            "clock" => Op::Clock,
            "poll" => Op::Poll,
            "report" => Op::Report,
            "mark" => Op::Mark(self.mark()?),
            "barrier" => {
                let memory = self.p.peek_word().and_then(BarrierMemory::from_name);
                self.p.at += usize::from(memory.is_some());
                Op::Barrier(memory.unwrap_or(BarrierMemory::Both))
            }
            "subgroup_ballot" => Op::SubgroupBallot,
            "subgroup_shuffle" => Op::SubgroupShuffle,
            "subgroup_reduce" => {
                Op::SubgroupReduce { op: self.one_of(BinOp::from_name, "an operation")?, cluster: self.p.small()? }
            }
            "subgroup_scan" => {
                let op = self.one_of(BinOp::from_name, "an operation")?;
                let kind = |word: &str| ["inclusive", "exclusive"].iter().position(|&k| k == word);
                Op::SubgroupScan { op, exclusive: self.one_of(kind, "`inclusive` or `exclusive`")? == 1 }
            }
            "sample" => Op::Sample,
            "printf" => Op::Printf(self.p.str_ref()?),
            "device_call" => Op::DeviceCall(self.one_of(DeviceCall::from_name, "a call of the launcher")?),
            _ => {
                if let Some(op) = word.strip_prefix("atomic_").and_then(RmwOp::from_name) {
                    let (order, scope) = self.order_scope()?;
                    Op::AtomicRmw { op, order, scope }
                } else if let Some(op) = UnOp::from_name(word) {
                    Op::Unary(op)
                } else if let Some(op) = BinOp::from_name(word) {
                    Op::Binary(op)
                } else if let Some(op) = CastOp::from_name(word) {
                    Op::Cast(op)
                } else {
                    self.p.at -= 1;
                    return self.p.error("expected an instruction");
                }
            }
        })
    }

    /// The immediates after the operands.
    fn suffix(&mut self, op: Op) -> Result<Op> {
        Ok(match op {
            Op::Shuffle(_) => {
                self.p.punct(b'[')?;
                let mut mask = Vec::new();
                while !self.p.eat(b']') {
                    mask.push(self.p.small()?);
                }
                Op::Shuffle(mask.into())
            }
            Op::Load { .. } => Op::Load { align: self.p.field("align")? },
            Op::Store { .. } => Op::Store { align: self.p.field("align")? },
            Op::MaskedLoad { .. } => Op::MaskedLoad { align: self.p.field("align")? },
            Op::MaskedStore { .. } => Op::MaskedStore { align: self.p.field("align")? },
            Op::Gather { .. } => Op::Gather { align: self.p.field("align")? },
            Op::Scatter { .. } => Op::Scatter { align: self.p.field("align")? },
            Op::MemCopy { size, .. } => Op::MemCopy { size, align: self.p.field("align")? },
            Op::MemSet { size, byte, .. } => Op::MemSet { size, byte, align: self.p.field("align")? },
            op => op,
        })
    }

    /// Replaces the numbers of the text by entities.
    fn resolve(self) -> Result<()> {
        let Self { p, func, names } = self;
        // The first in the text, whatever the order of the map.
        let missing = names.value_uses.iter().filter(|(n, _)| !names.values.contains_key(n)).map(|(_, &at)| at).min();
        if let Some(offset) = missing {
            return p.error_at(offset, "no value has this number");
        }
        let missing = names.block_uses.iter().filter(|(n, _)| !names.blocks.contains_key(n)).map(|(_, &at)| at).min();
        if let Some(offset) = missing {
            return p.error_at(offset, "no block has this number");
        }
        // Operands and targets of edges are numbers of the text so far. Results and parameters are not: they got
        // entities when they were read.
        func.map_uses(|v| names.values[&(v.index() as u32)]);
        for i in 0..func.layout.len() {
            let b = func.layout[i];
            for e in func.blocks[b].term.edges_mut() {
                e.block = names.blocks[&(e.block.index() as u32)];
            }
        }
        Ok(())
    }
}
