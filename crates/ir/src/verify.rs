//! The verifier: what every stage may take for granted.
//!
//! In comes any module whose entities are in range (a parser and the builder make no others); out come all violations, each
//! with the function and the instruction's text. After it, no later stage needs a check of its own.

use crate::cfg::Cfg;
use crate::dom::DomTree;
use crate::entity::{Block, Entity, FuncRef, Inst, Value};
use crate::function::{Function, ValueDef};
use crate::inst::{BinOp, CastOp, InstData, Op, Query, RmwOp, Term, UnOp};
use crate::module::{GlobalLinkage, Module};
use crate::print::inst_text;
use crate::types::{Scalar, Space, Type};

/// One violation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    /// The function, or the global.
    pub place: String,
    /// What is wrong.
    pub message: String,
}

impl std::fmt::Display for VerifyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// At most this many are reported.
const MAX_ERRORS: usize = 50;

/// Checks a module. An empty list means that it is good.
pub fn verify(module: &Module) -> Vec<VerifyError> {
    let mut errors = Vec::new();
    check_globals(module, &mut errors);
    let mut names = std::collections::HashSet::new();
    for f in module.funcs.values() {
        if !names.insert(&f.name) {
            errors.push(VerifyError { place: f.name.clone(), message: "two functions have this name".into() });
        }
        verify_function(module, f, &mut errors);
        if errors.len() >= MAX_ERRORS {
            return errors;
        }
    }
    if let Some(name) = recursion(module) {
        errors.push(VerifyError { place: name, message: "calls itself, directly or through others".into() });
    }
    errors
}

fn check_globals(module: &Module, errors: &mut Vec<VerifyError>) {
    let mut names = std::collections::HashSet::new();
    for g in module.globals.values() {
        let mut bad = |message: &str| errors.push(VerifyError { place: g.name.clone(), message: message.into() });
        if !names.insert(&g.name) {
            bad("two globals have this name");
        }
        if !g.align.is_power_of_two() || g.align > 4096 {
            bad("the alignment is not a power of two up to 4096");
        }
        if g.init.len() as u64 > g.size {
            bad("more initial bytes than its size");
        }
        match g.space {
            Space::Constant | Space::Global => {}
            Space::Local if g.init.is_empty() && g.relocs.is_empty() => {}
            _ => bad("this address space cannot hold it"),
        }
        match g.linkage {
            GlobalLinkage::Internal => {}
            _ if g.space == Space::Local => bad("local memory cannot be shared with other modules"),
            GlobalLinkage::Import if !g.init.is_empty() || !g.relocs.is_empty() => {
                bad("a declaration has initial bytes")
            }
            GlobalLinkage::Import | GlobalLinkage::External => {}
        }
        for r in &g.relocs {
            if r.offset.checked_add(8).is_none_or(|end| end > g.init.len() as u64) {
                bad("an address lies outside of the initial bytes");
            }
            if r.target.index() >= module.globals.len() {
                bad("an address of nothing");
            }
        }
    }
}

/// A function that can reach itself by calls.
fn recursion(module: &Module) -> Option<String> {
    let callees: Vec<Vec<FuncRef>> = module.funcs.values().map(Function::callees).collect();
    // 0 new, 1 on the path, 2 done.
    let mut state = vec![0u8; callees.len()];
    for root in module.funcs.keys() {
        if state[root.index()] != 0 {
            continue;
        }
        let mut stack = vec![(root, 0usize)];
        state[root.index()] = 1;
        while let Some((f, next)) = stack.last_mut() {
            let f = *f;
            if let Some(&callee) = callees[f.index()].get(*next) {
                *next += 1;
                match state.get(callee.index()) {
                    Some(0) => {
                        state[callee.index()] = 1;
                        stack.push((callee, 0));
                    }
                    Some(1) => return Some(module.funcs[callee].name.clone()),
                    _ => {}
                }
            } else {
                state[f.index()] = 2;
                stack.pop();
            }
        }
    }
    None
}

/// Checks one function; panics if its entities are out of range.
pub fn verify_function(module: &Module, func: &Function, errors: &mut Vec<VerifyError>) {
    let mut v = Verifier { module, func, errors, place: Place::Signature };
    v.signature();
    if func.is_declaration() {
        return;
    }
    v.structure();
    // Dominance means nothing in a function whose blocks are wrong.
    if v.errors.is_empty() {
        v.dominance();
    }
}

enum Place {
    Signature,
    Block(Block),
    Inst(Inst),
}

struct Verifier<'a> {
    module: &'a Module,
    func: &'a Function,
    errors: &'a mut Vec<VerifyError>,
    place: Place,
}

fn valid_type(ty: Type) -> bool {
    (1..=Type::MAX_LANES).contains(&ty.lanes)
}

impl Verifier<'_> {
    fn fail(&mut self, message: impl Into<String>) {
        if self.errors.len() >= MAX_ERRORS {
            return;
        }
        let at = match self.place {
            Place::Signature => String::new(),
            Place::Block(b) => {
                format!(" in block {}", self.func.layout.iter().position(|&x| x == b).unwrap_or(usize::MAX))
            }
            Place::Inst(i) => format!(": {}", inst_text(self.module, self.func, &self.func.insts[i])),
        };
        self.errors.push(VerifyError { place: self.func.name.clone(), message: message.into() + &at });
    }

    fn require(&mut self, good: bool, message: &str) {
        if !good {
            self.fail(message);
        }
    }

    fn signature(&mut self) {
        let f = self.func;
        self.require(f.params.iter().chain(&f.ret).all(|&t| valid_type(t)), "a type has no or too many lanes");
        if let Some(meta) = &f.kernel {
            self.require(meta.params.len() == f.params.len(), "kernel parameters and parameters differ in number");
            self.require(meta.params.iter().all(|p| p.align.is_power_of_two() && p.align <= 4096), "a bad alignment");
            self.require(f.ret.is_none(), "a kernel returns a value");
            let total: u64 = meta.params.iter().map(|p| u64::from(p.size) + u64::from(p.align)).sum();
            self.require(total <= 1 << 20, "the argument block is larger than 1 MiB");
        }
    }

    fn structure(&mut self) {
        let f = self.func;
        let entry = f.entry();
        let types: Vec<Type> = f.blocks[entry].params.iter().map(|&p| f.ty(p)).collect();
        self.require(types == f.params, "the entry block's parameters are not the function's");
        let mut placed = vec![false; f.blocks.len()];
        for &b in &f.layout {
            self.require(!std::mem::replace(&mut placed[b.index()], true), "a block stands twice in the order");
        }
        let mut seen = vec![false; f.insts.len()];
        for &b in &f.layout {
            self.place = Place::Block(b);
            for (i, &p) in f.blocks[b].params.iter().enumerate() {
                self.require(f.values[p].def == ValueDef::Param(b, i as u32), "a parameter is not defined here");
                self.require(valid_type(f.ty(p)), "a type has no or too many lanes");
            }
            for &inst in &f.blocks[b].insts {
                self.place = Place::Inst(inst);
                self.require(!std::mem::replace(&mut seen[inst.index()], true), "an instruction stands twice");
                let data = &f.insts[inst];
                if let Some(r) = data.result {
                    self.require(f.values[r].def == ValueDef::Inst(inst), "a result is not defined here");
                    self.require(valid_type(f.ty(r)), "a type has no or too many lanes");
                }
                if matches!(data.op, Op::Alloca { .. }) {
                    self.require(b == entry, "private memory outside of the entry block");
                }
                self.inst(data);
            }
            self.place = Place::Block(b);
            self.term(&f.blocks[b].term, &placed, entry);
        }
    }

    fn term(&mut self, term: &Term, placed: &[bool], entry: Block) {
        let f = self.func;
        match term {
            Term::Branch { cond, .. } => self.require(f.ty(*cond) == Type::I1, "a branch on something else than i1"),
            Term::Switch { value, cases, .. } => {
                let ty = f.ty(*value);
                self.require(ty.is_int() && !ty.is_vector(), "a switch on something else than an integer");
                let mut bits: Vec<u64> = cases.iter().map(|c| c.0).collect();
                bits.sort_unstable();
                self.require(bits.windows(2).all(|w| w[0] != w[1]), "a case stands twice");
                self.require(bits.last().is_none_or(|&m| m <= ty.scalar.mask()), "a case is wider than the value");
            }
            Term::Return(v) => self.require(v.map(|v| f.ty(v)) == f.ret, "the returned type is not the function's"),
            Term::Jump(_) | Term::Unreachable => {}
        }
        for e in term.edges() {
            if !placed.get(e.block.index()).copied().unwrap_or(false) {
                self.fail("an edge to a block that does not count");
                continue;
            }
            self.require(e.block != entry, "an edge to the entry block");
            let params = &f.blocks[e.block].params;
            let fits = params.len() == e.args.len() && params.iter().zip(&e.args).all(|(&p, &a)| f.ty(p) == f.ty(a));
            self.require(fits, "an edge's arguments do not fit the block's parameters");
        }
    }

    fn inst(&mut self, data: &InstData) {
        let arity = match &data.op {
            Op::Const(_)
            | Op::Alloca { .. }
            | Op::GlobalAddr(_)
            | Op::Fence { .. }
            | Op::Query { .. }
            | Op::Iota
            | Op::Barrier => 0,
            Op::Unary(_)
            | Op::Cast(_)
            | Op::Splat
            | Op::Any
            | Op::All
            | Op::Ballot
            | Op::SubgroupBallot
            | Op::SubgroupReduce { .. }
            | Op::SubgroupScan { .. }
            | Op::Load { .. }
            | Op::MemSet { .. }
            | Op::Prefetch
            | Op::AtomicLoad { .. } => 1,
            Op::Binary(_)
            | Op::Icmp(_)
            | Op::Fcmp(_)
            | Op::Extract
            | Op::Shuffle(_)
            | Op::PtrAdd
            | Op::SubgroupShuffle
            | Op::Store { .. }
            | Op::MaskedLoad { .. }
            | Op::Gather { .. }
            | Op::MemCopy { .. }
            | Op::AtomicRmw { .. }
            | Op::AtomicStore { .. } => 2,
            Op::MaskedStore { .. } | Op::Scatter { .. } => 3,
            Op::Fma | Op::Select | Op::Insert | Op::AtomicCmpXchg { .. } => 3,
            Op::Build | Op::Call(_) | Op::Printf(_) => data.args.len(),
        };
        if data.args.len() != arity {
            return self.fail("a wrong number of operands");
        }
        let no_result = matches!(
            data.op,
            Op::Store { .. }
                | Op::MaskedStore { .. }
                | Op::Scatter { .. }
                | Op::MemCopy { .. }
                | Op::MemSet { .. }
                | Op::Prefetch
                | Op::AtomicStore { .. }
                | Op::Fence { .. }
                | Op::Barrier
                | Op::Printf(_)
        );
        if !matches!(data.op, Op::Call(_)) && data.result.is_none() != no_result {
            return self.fail("a result too many or too few");
        }
        let types: Vec<Type> = data.args.iter().map(|&a| self.func.ty(a)).collect();
        let result = data.result.map(|r| self.func.ty(r));
        if let Some(message) = self.types(&data.op, &types, result) {
            self.fail(message);
        }
    }

    /// What is wrong with the types, if anything. The number of operands and results is right.
    fn types(&self, op: &Op, a: &[Type], result: Option<Type>) -> Option<&'static str> {
        let r = result.unwrap_or(Type::I1);
        let same_lanes = |t: Type| t.lanes == r.lanes;
        let scalar_ptr = |t: Type| t.is_ptr() && !t.is_vector();
        let memory = |t: Type| t.scalar != Scalar::I1;
        let mask = |t: Type, lanes: u16| t == Type::vector(Scalar::I1, lanes) && lanes > 1;
        let power = |align: u32| align.is_power_of_two() && align <= 4096;
        let good = match op {
            Op::Const(bits) => *bits <= r.scalar.mask(),
            Op::Unary(op) => {
                let float = matches!(
                    op,
                    UnOp::Fneg | UnOp::Fabs | UnOp::Sqrt | UnOp::Floor | UnOp::Ceil | UnOp::Trunc | UnOp::Rint
                );
                a[0] == r
                    && match op {
                        UnOp::RsqrtNear | UnOp::RecipNear => r.scalar == Scalar::F32,
                        _ if float => r.is_float(),
                        _ => r.is_int(),
                    }
            }
            Op::Binary(op) => {
                let float = matches!(
                    op,
                    BinOp::Fadd | BinOp::Fsub | BinOp::Fmul | BinOp::Fdiv | BinOp::Fmin | BinOp::Fmax | BinOp::Copysign
                );
                a[0] == r && a[1] == r && if float { r.is_float() } else { r.is_int() }
            }
            Op::Fma => a.iter().all(|&t| t == r) && r.is_float(),
            Op::Icmp(_) => a[0] == a[1] && (a[0].is_int() || a[0].is_ptr()) && r == a[0].with_scalar(Scalar::I1),
            Op::Fcmp(_) => a[0] == a[1] && a[0].is_float() && r == a[0].with_scalar(Scalar::I1),
            Op::Cast(op) => cast_is_good(*op, a[0], r),
            Op::Select => a[1] == r && a[2] == r && a[0].scalar == Scalar::I1 && (a[0].lanes == 1 || same_lanes(a[0])),
            Op::Extract => a[0].is_vector() && r == a[0].lane() && a[1].is_int() && !a[1].is_vector(),
            Op::Insert => a[0].is_vector() && r == a[0] && a[1].is_int() && !a[1].is_vector() && a[2] == r.lane(),
            Op::Shuffle(mask) => {
                a[0] == a[1]
                    && r == Type::vector(a[0].scalar, mask.len() as u16)
                    && mask.iter().all(|&m| m < a[0].lanes.saturating_mul(2))
                    && mask.len() <= usize::from(Type::MAX_LANES)
            }
            Op::Splat => !a[0].is_vector() && a[0] == r.lane() && r.is_vector(),
            Op::Build => r.is_vector() && a.len() == usize::from(r.lanes) && a.iter().all(|&t| t == r.lane()),
            Op::Alloca { size, align } => r == Type::ptr(Space::Private) && power(*align) && *size <= 1 << 32,
            Op::PtrAdd => a[0] == r && r.is_ptr() && a[1] == r.with_scalar(Scalar::I64),
            Op::Load { align } => scalar_ptr(a[0]) && memory(r) && power(*align),
            Op::Store { align } => scalar_ptr(a[0]) && memory(a[1]) && power(*align),
            Op::Iota => r.is_vector() && r.is_int() && r.scalar != Scalar::I1,
            Op::Any | Op::All => mask(a[0], a[0].lanes) && r == Type::I1,
            Op::Ballot => mask(a[0], a[0].lanes) && a[0].lanes <= 64 && r == Type::I64,
            Op::MaskedLoad { align } => scalar_ptr(a[0]) && mask(a[1], r.lanes) && memory(r) && power(*align),
            Op::MaskedStore { align } => scalar_ptr(a[0]) && mask(a[2], a[1].lanes) && memory(a[1]) && power(*align),
            Op::Gather { align } => {
                a[0].is_ptr() && same_lanes(a[0]) && mask(a[1], r.lanes) && memory(r) && power(*align)
            }
            Op::Scatter { align } => {
                a[0].is_ptr() && a[0].lanes == a[1].lanes && mask(a[2], a[1].lanes) && memory(a[1]) && power(*align)
            }
            Op::MemCopy { align, size } => scalar_ptr(a[0]) && scalar_ptr(a[1]) && power(*align) && *size <= 1 << 32,
            Op::MemSet { align, size, .. } => scalar_ptr(a[0]) && power(*align) && *size <= 1 << 32,
            Op::GlobalAddr(g) => self.module.globals.get(*g).is_some_and(|g| r == Type::ptr(g.space)),
            Op::AtomicRmw { op, .. } => {
                let kind = match op {
                    RmwOp::Fadd => r.is_float() && r.scalar != Scalar::F16,
                    RmwOp::Xchg => r.is_int() || r.is_float(),
                    _ => r.is_int(),
                };
                scalar_ptr(a[0]) && a[1] == r && atomic(r) && kind
            }
            Op::AtomicCmpXchg { .. } => scalar_ptr(a[0]) && a[1] == r && a[2] == r && atomic(r) && r.is_int(),
            Op::AtomicLoad { .. } => scalar_ptr(a[0]) && atomic(r),
            Op::AtomicStore { .. } => scalar_ptr(a[0]) && atomic(a[1]),
            Op::Prefetch => scalar_ptr(a[0]),
            Op::Fence { .. } | Op::Barrier => true,
            Op::Query { what: Query::WorkDim, dim } => r == Type::I32 && *dim == 0,
            Op::Query { what, dim } => r == Type::I64 && *dim < if what.is_subgroup() { 1 } else { 3 },
            Op::SubgroupBallot => a[0] == Type::I1 && r == Type::I64,
            Op::SubgroupShuffle => a[0] == r && crate::subgroup::exchanges(r) && a[1] == Type::I32,
            Op::SubgroupReduce { op, cluster } => {
                a[0] == r && crate::subgroup::combines(*op, r) && cluster.is_power_of_two()
            }
            Op::SubgroupScan { op, .. } => a[0] == r && crate::subgroup::combines(*op, r),
            Op::Call(f) => {
                self.module.funcs.get(*f).is_some_and(|f| f.params == a && (result == f.ret || result.is_none()))
            }
            Op::Printf(s) => {
                self.module.strings.get(*s).is_some() && a.first() == Some(&Type::I64) && a.iter().all(|&t| memory(t))
            }
        };
        (!good).then_some("operand or result types, or immediates, do not fit the operation")
    }

    fn dominance(&mut self) {
        let f = self.func;
        let cfg = Cfg::new(f);
        let dom = DomTree::new(f, &cfg);
        // Place of each instruction in its block; parameters come before all.
        let mut order = vec![(None, 0usize); f.insts.len()];
        let mut placed = vec![false; f.blocks.len()];
        for &b in &f.layout {
            placed[b.index()] = true;
            for (i, &inst) in f.blocks[b].insts.iter().enumerate() {
                order[inst.index()] = (Some(b), i + 1);
            }
        }
        let place = |v: Value| match f.values[v].def {
            ValueDef::Inst(i) => order[i.index()],
            ValueDef::Param(b, i) => {
                let real = f.blocks[b].params.get(i as usize) == Some(&v) && placed[b.index()];
                (real.then_some(b), 0)
            }
        };
        for &b in cfg.rpo() {
            let reaches = |v: Value, at: usize| match place(v) {
                (Some(def), i) if def == b => i < at,
                (Some(def), _) => dom.dominates(def, b),
                (None, _) => false,
            };
            for (i, &inst) in f.blocks[b].insts.iter().enumerate() {
                if !f.insts[inst].args.iter().all(|&v| reaches(v, i + 1)) {
                    self.place = Place::Inst(inst);
                    self.fail("a use that its definition does not reach");
                }
            }
            let mut good = true;
            f.blocks[b].term.for_each_use(|v| good &= reaches(v, usize::MAX));
            if !good {
                self.place = Place::Block(b);
                self.fail("the terminator uses a value that its definition does not reach");
            }
        }
    }
}

fn atomic(ty: Type) -> bool {
    !ty.is_vector() && matches!(ty.scalar, Scalar::I32 | Scalar::I64 | Scalar::F32 | Scalar::F64)
}

fn cast_is_good(op: CastOp, from: Type, to: Type) -> bool {
    let (f, t) = (from.scalar, to.scalar);
    if op == CastOp::Bitcast {
        let bits = |x: Type| x.scalar.bits() * u32::from(x.lanes);
        return !f.is_ptr() && !t.is_ptr() && bits(from) == bits(to) && (f != Scalar::I1) == (t != Scalar::I1);
    }
    from.lanes == to.lanes
        && match op {
            CastOp::Trunc => f.is_int() && t.is_int() && t.bits() < f.bits(),
            CastOp::Zext | CastOp::Sext => f.is_int() && t.is_int() && t.bits() > f.bits(),
            CastOp::FtoS | CastOp::FtoU => f.is_float() && t.is_int() && t != Scalar::I1,
            CastOp::StoF | CastOp::UtoF => f.is_int() && t.is_float(),
            CastOp::Fext => f.is_float() && t.is_float() && t.bits() > f.bits(),
            CastOp::Ftrunc => f.is_float() && t.is_float() && t.bits() < f.bits(),
            CastOp::IntToPtr => f == Scalar::I64 && t.is_ptr(),
            CastOp::PtrToInt => f.is_ptr() && t == Scalar::I64,
            CastOp::Space => f.is_ptr() && t.is_ptr(),
            CastOp::Bitcast => false,
        }
}
