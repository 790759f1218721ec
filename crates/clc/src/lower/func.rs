//! One function: the state of its lowering, its entry block, its variables, and helpers that build instructions.
//!
//! The entry block holds the allocas and copies of parameters and then jumps to the body. Blocks that cannot be
//! reached are removed at the end.

use super::Lowering;
use super::lvalue::Lvalue;
use crate::sema::tree::{Body, FuncId, LabelId, LocalId};
use crate::sema::types::Ty;
use crate::source::Span;
use cloom_ir::{BinOp, Block, Builder, CastOp, Entity, Flags, Function, Op, Scalar, Space, Term, Type, UnOp, Value};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// The function being lowered.
pub(super) struct Fn<'l, 'a> {
    pub lw: &'l mut Lowering<'a>,
    pub body: &'a Body,
    pub func: Function,
    pub entry: Block,
    pub block: Block,
    pub span: cloom_ir::Span,
    last_span: Span,
    /// Addresses of the variables.
    pub locals: Vec<Value>,
    pub aligns: Vec<u32>,
    /// Where a record is returned.
    pub ret_room: Option<Value>,
    pub labels: FxHashMap<LabelId, Block>,
    pub breaks: Vec<Block>,
    pub continues: Vec<Block>,
    /// The lvalues of the updates being lowered, and their old values where these were loaded.
    pub olds: Vec<(Lvalue, Option<Value>)>,
}

pub(super) fn lower_function<'a>(lw: &mut Lowering<'a>, id: FuncId, body: &'a Body) {
    let r = lw.func(id);
    let decl = &lw.unit.funcs[id.0 as usize];
    // A copy, because lowering asks the module for other functions and globals meanwhile.
    let mut func = lw.module.funcs[r].clone();
    let entry = func.add_block();
    // The body has a block of its own: `temp` adds allocas to the entry as long as the body is lowered.
    let start = func.add_block();
    let params: Vec<Value> = func.params.clone().into_iter().map(|ty| func.add_block_param(entry, ty)).collect();
    let is_kernel = func.kernel.is_some();
    let mut f = Fn {
        lw,
        body,
        func,
        entry,
        block: entry,
        span: cloom_ir::Span::NONE,
        last_span: Span::default(),
        locals: Vec::new(),
        aligns: Vec::new(),
        ret_room: None,
        labels: FxHashMap::default(),
        breaks: Vec::new(),
        continues: Vec::new(),
        olds: Vec::new(),
    };
    f.at(decl.span);
    let mut params = params.into_iter();
    if f.lw.is_record(decl.ret.ty) {
        f.ret_room = params.next();
    }
    // The parameters are the first variables; a block has those that it captures behind them.
    let declared = decl.params.len().saturating_sub(decl.captures.len());
    let mut given = vec![None; body.locals.len()];
    let captures = decl.captures.iter().map(|local| local.0 as usize);
    for (local, param) in (0..declared).chain(captures).zip(params) {
        given[local] = Some(param);
    }
    for (i, var) in body.locals.iter().enumerate() {
        let ty = var.ty.ty;
        // An object without bytes still has an address of its own.
        let size = f.lw.types.size(ty).max(1);
        let align = var.align.max(1) as u32;
        if let Some(named) = var.named.filter(|_| f.lw.opts.marks) {
            f.at(named);
        }
        let name = var.name.map(|name| Arc::new(f.lw.session.names.text(name).to_owned()));
        let address = match given[i] {
            // The caller's copy is this function's own.
            Some(p) if f.lw.is_record(ty) && !is_kernel => p,
            Some(p) => {
                let room = f.b().named_alloca(size, align, name);
                if f.lw.is_record(ty) {
                    f.b().mem_copy(room, p, size, align);
                } else {
                    f.b().store(room, p, align, Flags::empty());
                }
                room
            }
            None => f.b().named_alloca(size, align, name),
        };
        f.locals.push(address);
        f.aligns.push(align);
    }
    f.block = start;
    f.stmts(&body.stmts);
    f.at(body.end);
    // Control may reach the end without a `return`; a promised value is then undefined, so that zero is as good as any.
    let ret = f.func.ret.map(|ty| f.zero(ty));
    f.b().ret(ret);
    f.block = entry;
    f.b().jump(start, &[]);
    let mut func = f.func;
    drop_unreachable(&mut func);
    lw.module.funcs[r] = func;
}

/// Removes unreachable blocks from the layout.
fn drop_unreachable(func: &mut Function) {
    let mut seen = vec![false; func.blocks.len()];
    let mut work = vec![func.entry()];
    while let Some(b) = work.pop() {
        if std::mem::replace(&mut seen[b.index()], true) {
            continue;
        }
        work.extend(func.blocks[b].term.edges().iter().map(|e| e.block));
    }
    func.layout.retain(|b| seen[b.index()]);
}

impl Fn<'_, '_> {
    pub fn b(&mut self) -> Builder<'_> {
        Builder { func: &mut self.func, block: self.block, span: self.span }
    }

    /// The source location of the instructions that follow.
    pub fn at(&mut self, span: Span) {
        // Line and column take a search in the file; many expressions in a row have one span.
        if span != self.last_span {
            self.last_span = span;
            self.span = self.lw.span(span);
        }
    }

    pub fn ir(&self, ty: Ty) -> Type {
        self.lw.types.ir(ty)
    }

    pub fn ty(&self, v: Value) -> Type {
        self.func.ty(v)
    }

    pub fn new_block(&mut self) -> Block {
        self.func.add_block()
    }

    /// The constant zero (a null pointer) of a type.
    pub fn zero(&mut self, ty: Type) -> Value {
        self.b().iconst(ty, 0)
    }

    pub fn int(&mut self, ty: Type, n: i64) -> Value {
        self.b().iconst(ty, n as u64)
    }

    /// A float constant of a type, also of half.
    pub fn float(&mut self, ty: Type, x: f64) -> Value {
        let bits = cloom_ir::eval::from_f64(ty.scalar, x);
        self.b().iconst(ty, bits)
    }

    /// A temporary in private memory.
    pub fn temp(&mut self, size: u64, align: u32) -> Value {
        // In the entry block, wherever the function is being lowered: in a loop, each iteration would allocate.
        let (block, entry) = (self.block, self.entry);
        self.block = entry;
        let room = self.b().alloca(size.max(1), align.max(1));
        self.block = block;
        room
    }

    pub fn local(&self, id: LocalId) -> (Value, u32) {
        (self.locals[id.0 as usize], self.aligns[id.0 as usize])
    }

    /// Continues in a new block without predecessors, after a jump.
    pub fn dead(&mut self) {
        self.block = self.new_block();
    }

    /// Two operands; floats get the permissions of the build options.
    pub fn bin(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        let flags = self.permissions(&Op::Binary(op), a);
        self.b().binary_flags(op, a, b, flags)
    }

    /// The permissions of an operation with this first operand: none if it is no float.
    fn permissions(&self, op: &Op, operand: Value) -> Flags {
        let ty = self.ty(operand);
        if !ty.is_float() {
            return Flags::empty();
        }
        // `FPMATH` allows the error that OpenCL C allows a quotient and a square root of `float`; other operations have
        // no such permission.
        let is_slow = matches!(op, Op::Binary(BinOp::Fdiv) | Op::Unary(UnOp::Sqrt));
        let fpmath = self.lw.opts.fpmath && is_slow && ty.scalar == Scalar::F32;
        self.lw.opts.fast_math | if fpmath { Flags::FPMATH } else { Flags::empty() }
    }

    /// With permissions, if the operands are floats.
    pub fn push_fast(&mut self, op: cloom_ir::Op, args: &[Value], ty: Type) -> Value {
        let flags = self.permissions(&op, args[0]);
        let span = self.span;
        let inst = self.func.make_inst(op, args.iter().copied().collect(), Some(ty), flags, span);
        self.func.blocks[self.block].insts.push(inst);
        match self.func.insts[inst].result {
            Some(v) => v,
            None => self.zero(ty),
        }
    }

    /// `i1` lanes converted to the language's truth values: `int` 0 or 1, or for a vector 0 or −1 in lanes of a width.
    pub fn truth(&mut self, v: Value, ty: Type) -> Value {
        let op = if ty.is_vector() { CastOp::Sext } else { CastOp::Zext };
        self.b().cast(op, v, ty)
    }

    /// A value seen through a pointer of another address space.
    pub fn space_cast(&mut self, p: Value, space: Space) -> Value {
        if self.ty(p).space() == Some(space) {
            return p;
        }
        self.b().cast(CastOp::Space, p, Type::ptr(space))
    }

    pub fn set_term(&mut self, term: Term) {
        self.b().term(term);
    }

    pub fn is_aggregate(&self, ty: Ty) -> bool {
        self.lw.types.is_aggregate(ty)
    }

    pub fn is_vector(&self, ty: Ty) -> bool {
        self.lw.types.is_vector(ty)
    }
}
