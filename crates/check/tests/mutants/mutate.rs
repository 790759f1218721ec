//! Mutations of a kernel: one small mistake each, as people make them.
//!
//! In comes a module as the front end makes it for the checker; out come the places of mutations, and for each a
//! module with it. The IR is mutated and not the text: it has no macros, and an `if` is an `if` however it is written.
//!
//! | operator | the mistake |
//! |---|---|
//! | barrier | a barrier is missing |
//! | fence | a barrier orders the other memory, or one memory instead of both |
//! | index | an index is one too large, one too small, or too large by the size of the array |
//! | guard | an `if` without `else` is always taken; one that leaves the loop's body or the function, never |
//! | initialiser | a variable begins without its value |
//! | store | an element of an array, or of local memory, is not written |
//!
//! Loop conditions and ways out of loops are no guards: without them most loops do not end.

use cloom_filetest::case::CaseArg;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{
    BarrierMemory, BinOp, Block, CastOp, Entity, Flags, FuncRef, Function, Inst, IntCc, Mark, Module, Op, Space, Span,
    Term, Type, Value, ValueDef,
};
use std::fmt;

/// The kinds of mutations.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Operator {
    Barrier,
    Fence,
    Plus,
    Minus,
    Size,
    Guard,
    Initialiser,
    Store,
}

impl Operator {
    pub const ALL: [Operator; 8] = [
        Operator::Barrier,
        Operator::Fence,
        Operator::Plus,
        Operator::Minus,
        Operator::Size,
        Operator::Guard,
        Operator::Initialiser,
        Operator::Store,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Operator::Barrier => "barrier",
            Operator::Fence => "fence",
            Operator::Plus => "index + 1",
            Operator::Minus => "index - 1",
            Operator::Size => "index + size",
            Operator::Guard => "guard",
            Operator::Initialiser => "initialiser",
            Operator::Store => "store",
        }
    }
}

/// The memory that an index goes into: where it begins, and its size in bytes.
#[derive(Clone, Copy, Debug)]
struct Object {
    root: Value,
    size: u64,
}

/// What is changed.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// This instruction is left out.
    Drop,
    /// The barrier orders this memory.
    Fence(BarrierMemory),
    /// The index of this address is larger by so many elements of so many bytes. An array has `count` elements; else
    /// the size of the object may be known.
    Shift { by: i64, element: u64, count: Option<u64>, object: Option<Object> },
    /// The branch at the end of the block goes this way only.
    Take(usize),
}

/// One mutation.
#[derive(Clone, Copy, Debug)]
pub struct Mutation {
    pub operator: Operator,
    pub func: FuncRef,
    pub span: Span,
    block: Block,
    /// Which instruction of the block.
    at: usize,
    change: Change,
}

impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}:{} {:?}", self.operator.name(), self.span.line, self.span.col, self.change)
    }
}

/// How a mutation is applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// As the mistake is.
    Plain,
    /// A variable without its initialiser has this byte everywhere: the interpreter begins the memory of a variable
    /// once, and a variable in a loop would else keep its old value.
    Filled(u8),
    /// A shifted index that leaves its array gives a null pointer: whether one does is known without any check of
    /// bounds.
    Trapped,
}

/// The mutations of what the user has written of a kernel that is launched with these arguments.
pub fn mutations(module: &Module, args: &[CaseArg]) -> Vec<Mutation> {
    let mut list = Vec::new();
    for (f, func) in module.funcs.iter().filter(|(_, f)| !f.is_declaration()) {
        let sites = Sites { module, func, f, args };
        for &block in &func.layout {
            for (at, &inst) in func.blocks[block].insts.iter().enumerate() {
                sites.of_inst(block, at, inst, &mut list);
            }
        }
        sites.guards(&mut list);
    }
    list
}

/// Looks for the places of mutations in one function.
struct Sites<'a> {
    module: &'a Module,
    func: &'a Function,
    f: FuncRef,
    args: &'a [CaseArg],
}

impl Sites<'_> {
    /// Whether a position is in the user's text, and not in the library.
    fn is_own(&self, span: Span) -> bool {
        let file = self.module.files.get(usize::from(span.file));
        span != Span::NONE && file.is_some_and(|file| cloom_builtins::lib_sources::FILES.iter().all(|f| f.0 != file))
    }

    fn of_inst(&self, block: Block, at: usize, inst: Inst, list: &mut Vec<Mutation>) {
        let data = &self.func.insts[inst];
        if !self.is_own(data.span) {
            return;
        }
        let mut add = |operator, change| {
            list.push(Mutation { operator, func: self.f, span: data.span, block, at, change });
        };
        match &data.op {
            Op::Barrier(memory) => {
                add(Operator::Barrier, Change::Drop);
                let others: &[BarrierMemory] = match memory {
                    BarrierMemory::Both => &[BarrierMemory::Local, BarrierMemory::Global],
                    BarrierMemory::Local => &[BarrierMemory::Global],
                    BarrierMemory::Global => &[BarrierMemory::Local],
                    BarrierMemory::Nothing => &[],
                };
                others.iter().for_each(|&other| add(Operator::Fence, Change::Fence(other)));
            }
            Op::PtrAdd if self.func.ty(data.args[1]) == Type::I64 => {
                let Some((element, count)) = self.element(block, at, data.args[1]) else { return };
                let object = self.object(data.args[0], 0);
                let elements = count.or_else(|| object.map(|o| o.size / element.max(1)));
                add(Operator::Plus, Change::Shift { by: 1, element, count, object });
                add(Operator::Minus, Change::Shift { by: -1, element, count, object });
                if let Some(size) = elements {
                    add(Operator::Size, Change::Shift { by: size as i64, element, count, object });
                }
            }
            Op::Store { .. } | Op::MemCopy { .. } | Op::MemSet { .. } => {
                let address = data.args[0];
                if self.is_initialiser(block, at, address) {
                    add(Operator::Initialiser, Change::Drop);
                } else if self.func.ty(address).space() == Some(Space::Local) || self.is_element(address) {
                    add(Operator::Store, Change::Drop);
                }
            }
            _ => {}
        }
    }

    /// The size of the elements that an offset counts, and how many there are, if the type says so; `None` if the
    /// offset is that of a member.
    fn element(&self, block: Block, at: usize, offset: Value) -> Option<(u64, Option<u64>)> {
        let insts = &self.func.blocks[block].insts;
        let element = self.func.insts[insts[at]].result;
        let mark =
            insts.get(at + 1).map(|&next| &self.func.insts[next]).filter(|next| next.args.get(1).copied() == element);
        let count = mark.and_then(|next| if let Op::Mark(Mark::Index(count)) = next.op { Some(count) } else { None });
        let scale = match self.func.def_inst(offset).map(|i| &self.func.insts[i]) {
            Some(data) if data.op == Op::Binary(BinOp::Mul) => self.func.const_bits(data.args[1]),
            Some(data)
                if matches!(data.op, Op::Cast(CastOp::Sext | CastOp::Zext) | Op::Query { .. } | Op::Load { .. }) =>
            {
                Some(1)
            }
            _ => None,
        };
        match (count, mark, scale) {
            // A constant index: the scale is in the constant.
            (Some(count), Some(mark), None) => {
                let (index, bytes) = (self.func.const_bits(mark.args[0]), self.func.const_bits(offset)?);
                let size = bytes.checked_div(index?).unwrap_or(0);
                (size > 0).then_some((size, Some(count)))
            }
            (_, _, scale) => scale.map(|scale| (scale, count)),
        }
    }

    /// The object that a pointer points into, as far as one function shows.
    fn object(&self, pointer: Value, depth: u32) -> Option<Object> {
        let ValueDef::Inst(inst) = self.func.values[pointer].def else {
            let number = self.func.param_values().iter().position(|&p| p == pointer)?;
            let size = self.func.kernel.is_some().then(|| bytes_of(self.args, number)).flatten()?;
            return Some(Object { root: pointer, size });
        };
        let data = &self.func.insts[inst];
        match &data.op {
            _ if depth > 8 => None,
            Op::Alloca { size, .. } => Some(Object { root: pointer, size: *size }),
            Op::GlobalAddr(g) => Some(Object { root: pointer, size: self.module.globals[*g].size }),
            Op::PtrAdd => self.object(data.args[0], depth + 1),
            // A parameter is kept in memory, and so is a pointer that is set once.
            Op::Load { .. } => {
                let variable = data.args[0];
                let is_alloca = matches!(self.func.def_op(variable), Some(Op::Alloca { .. }));
                let stores = |d: &&cloom_ir::InstData| matches!(d.op, Op::Store { .. }) && d.args[0] == variable;
                let mut stores = self.func.insts_in_layout().map(|(_, d)| d).filter(stores);
                let stored = stores.next().filter(|_| is_alloca)?.args[1];
                if stores.next().is_some() { None } else { self.object(stored, depth + 1) }
            }
            _ => None,
        }
    }

    /// The variable that an address lies in.
    fn variable(&self, mut address: Value) -> Option<Value> {
        loop {
            let data = &self.func.insts[self.func.def_inst(address)?];
            match data.op {
                Op::Alloca { .. } => return Some(address),
                Op::PtrAdd => address = data.args[0],
                _ => return None,
            }
        }
    }

    /// Whether a store is the first one to a variable since it began, in the block.
    fn is_initialiser(&self, block: Block, at: usize, address: Value) -> bool {
        let Some(variable) = self.variable(address) else { return false };
        for &before in self.func.blocks[block].insts[..at].iter().rev() {
            let data = &self.func.insts[before];
            match data.op {
                Op::Mark(Mark::Begin(_)) if data.args[0] == variable => return true,
                Op::Store { .. } | Op::MemCopy { .. } | Op::MemSet { .. }
                    if self.variable(data.args[0]) == Some(variable) =>
                {
                    return false;
                }
                _ => {}
            }
        }
        false
    }

    /// Whether an address is that of an element of a private array, with an index that is no constant.
    fn is_element(&self, address: Value) -> bool {
        let data = self.func.def_inst(address).map(|i| &self.func.insts[i]);
        data.is_some_and(|d| d.op == Op::PtrAdd && self.func.const_bits(d.args[1]).is_none())
            && self.variable(address).is_some()
    }

    fn guards(&self, list: &mut Vec<Mutation>) {
        let cfg = Cfg::new(self.func);
        let (dom, post) = (DomTree::new(self.func, &cfg), DomTree::post(self.func, &cfg));
        let loops = Loops::new(self.func, &cfg, &dom);
        for &block in cfg.rpo() {
            let data = &self.func.blocks[block];
            let Term::Branch { then, els, .. } = &data.term else { continue };
            if !self.is_own(data.term_span) || then.block == els.block {
                continue;
            }
            // The condition of a loop, or a way out of one.
            let leaves = |to: Block| loops.innermost(block).is_some_and(|l| !loops.loops[l].blocks.contains(&to));
            if leaves(then.block) || leaves(els.block) || self.is_in_irreducible(&loops, block) {
                continue;
            }
            let join = post.idom(block);
            let skips = [then, els].map(|edge| Some(edge.block) == join || self.does_nothing(edge.block, join));
            if skips[0] != skips[1] {
                let change = Change::Take(usize::from(skips[0]));
                list.push(Mutation {
                    operator: Operator::Guard,
                    func: self.f,
                    span: data.term_span,
                    block,
                    at: 0,
                    change,
                });
            }
        }
    }

    /// Whether a block is in a loop that is also entered in its middle: then its branch may be the loop's condition.
    fn is_in_irreducible(&self, loops: &Loops, block: Block) -> bool {
        loops.irreducible.iter().any(|&(from, to)| self.reaches(to, block) && self.reaches(block, from))
    }

    fn reaches(&self, from: Block, to: Block) -> bool {
        let mut seen = vec![false; self.func.blocks.len()];
        let mut stack = vec![from];
        while let Some(block) = stack.pop() {
            if block == to {
                return true;
            }
            if !std::mem::replace(&mut seen[block.index()], true) {
                stack.extend(self.func.blocks[block].term.edges().iter().map(|e| e.block));
            }
        }
        false
    }

    /// Whether a block only goes on to where the ways of a branch join, or returns.
    fn does_nothing(&self, block: Block, join: Option<Block>) -> bool {
        let data = &self.func.blocks[block];
        let is_const = |&i: &Inst| matches!(self.func.insts[i].op, Op::Const(_));
        let ends = match &data.term {
            Term::Jump(edge) => Some(edge.block) == join,
            Term::Return(_) => join.is_none(),
            _ => false,
        };
        ends && data.insts.iter().all(is_const)
    }
}

/// The bytes of the memory that an argument gives.
fn bytes_of(args: &[CaseArg], number: usize) -> Option<u64> {
    match args.get(number)? {
        CaseArg::Buffer(bytes) => Some(bytes.len() as u64),
        CaseArg::Local(size) => Some(*size),
        CaseArg::Again(earlier) => bytes_of(args, *earlier),
        CaseArg::Bytes(_) => None,
    }
}

/// The module with a mutation; `None` if the mutation has no such form.
pub fn mutated(module: &Module, mutation: &Mutation, form: Form) -> Option<Module> {
    let mut module = module.clone();
    let func = &mut module.funcs[mutation.func];
    let (block, at) = (mutation.block, mutation.at);
    match mutation.change {
        Change::Drop => {
            let inst = func.blocks[block].insts[at];
            match form {
                Form::Plain => {
                    func.blocks[block].insts.remove(at);
                }
                Form::Filled(byte) if mutation.operator == Operator::Initialiser => fill(func, inst, byte),
                _ => return None,
            }
        }
        Change::Fence(memory) => {
            let inst = func.blocks[block].insts[at];
            func.insts[inst].op = Op::Barrier(memory);
        }
        Change::Take(way) => {
            let edge = func.blocks[block].term.edge(way)?.clone();
            func.blocks[block].term = Term::Jump(edge);
        }
        Change::Shift { .. } => shift(func, mutation, form)?,
    }
    if matches!(mutation.change, Change::Fence(_) | Change::Take(_)) && form != Form::Plain {
        return None;
    }
    Some(module)
}

/// Instead of writing a value, writes one byte all over.
fn fill(func: &mut Function, inst: Inst, byte: u8) {
    let data = &func.insts[inst];
    let (size, align) = match data.op {
        Op::Store { align } => (u64::from(func.ty(data.args[1]).bytes()), align),
        Op::MemCopy { size, align } | Op::MemSet { size, align, .. } => (size, align),
        _ => return,
    };
    let data = &mut func.insts[inst];
    data.args.truncate(1);
    data.op = Op::MemSet { size, byte, align };
}

/// Instructions that go into a block at one place.
struct Inserted<'f> {
    func: &'f mut Function,
    block: Block,
    at: usize,
    span: Span,
}

impl Inserted<'_> {
    fn add(&mut self, op: Op, args: &[Value], ty: Type) -> Option<Value> {
        let inst = self.func.make_inst(op, args.iter().copied().collect(), Some(ty), Flags::empty(), self.span);
        self.func.blocks[self.block].insts.insert(self.at, inst);
        self.at += 1;
        self.func.insts[inst].result
    }

    fn sum(&mut self, a: Value, by: i64) -> Option<Value> {
        let by = self.add(Op::Const(by as u64), &[], Type::I64)?;
        self.add(Op::Binary(BinOp::Add), &[a, by], Type::I64)
    }
}

fn shift(func: &mut Function, mutation: &Mutation, form: Form) -> Option<()> {
    let Change::Shift { by, element, count, object } = mutation.change else { return None };
    let (block, at) = (mutation.block, mutation.at);
    let inst = func.blocks[block].insts[at];
    let address = func.insts[inst].result?;
    let marked = count.and_then(|_| func.blocks[block].insts.get(at + 1).copied());
    let (pointer, offset) = (func.insts[inst].args[0], func.insts[inst].args[1]);
    let ty = func.ty(pointer);
    // Only an address that is accessed at once, or a member of it, says whether the access leaves the object.
    if form == Form::Trapped && marked.is_none() && !is_accessed(func, address) {
        return None;
    }
    let mut code = Inserted { func, block, at, span: mutation.span };
    let offset = code.sum(offset, by.wrapping_mul(element as i64))?;
    code.func.insts[inst].args[1] = offset;
    let mut index = None;
    if let Some(mark) = marked {
        let old = code.func.insts[mark].args[0];
        index = code.sum(old, by);
        code.func.insts[mark].args[0] = index?;
    }
    if form != Form::Trapped {
        return Some(());
    }
    // Behind the address, and the mark if there is one.
    code.at += 1 + usize::from(marked.is_some());
    let (inside, limit) = match (index, object) {
        (Some(index), _) => (index, count?.checked_sub(1)?),
        (None, Some(object)) => {
            let [end, begin] = [address, object.root].map(|p| code.add(Op::Cast(CastOp::PtrToInt), &[p], Type::I64));
            (code.add(Op::Binary(BinOp::Sub), &[end?, begin?], Type::I64)?, object.size.checked_sub(element)?)
        }
        (None, None) => return None,
    };
    let limit = code.add(Op::Const(limit), &[], Type::I64)?;
    let is_inside = code.add(Op::Icmp(IntCc::Ule), &[inside, limit], Type::I1)?;
    let null = code.add(Op::Const(0), &[], ty)?;
    let chosen = code.add(Op::Select, &[is_inside, address, null], ty)?;
    // All that uses the address behind this uses the chosen one.
    let (end, own) = (code.at, code.func.blocks[block].insts.clone());
    let before: Vec<Inst> = own[..end].to_vec();
    let users: Vec<Inst> = func.insts_in_layout().map(|(i, _)| i).filter(|i| !before.contains(i)).collect();
    for user in users {
        func.insts[user].args.iter_mut().filter(|v| **v == address).for_each(|v| *v = chosen);
    }
    for b in func.layout.clone() {
        func.blocks[b].term.map_uses(|v| if v == address { chosen } else { v });
    }
    Some(())
}

/// Whether an address is used by accesses, and to compute addresses of members.
fn is_accessed(func: &Function, address: Value) -> bool {
    let mut users = func.insts_in_layout().map(|(_, d)| d).filter(|d| d.args.contains(&address));
    users.all(|d| match d.op {
        Op::PtrAdd => d.args[0] == address && func.const_bits(d.args[1]).is_some(),
        // A pointer that is stored may be used in any way later.
        Op::Store { .. } => d.args[1] != address,
        Op::Load { .. } | Op::MemCopy { .. } | Op::AtomicRmw { .. } | Op::AtomicCmpXchg { .. } => true,
        _ => false,
    })
}
