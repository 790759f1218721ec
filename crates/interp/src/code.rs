//! Functions decoded for execution: each value has registers in a frame (one 64-bit register per lane), constants are
//! in the initial frame, and edges copy block parameters.

use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::loops::Loops;
use cloom_ir::{
    BarrierMemory, BinOp, Block, CastOp, Edge, Entity, Flags, FloatCc, FuncRef, Function, Inst, IntCc, Mark, Module,
    Op, Order, Query, RmwOp, Scalar, Scope, Span, StrRef, Term, Type, UnOp, Value, VerifyError,
};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// A register of the running frame.
pub type Reg = u32;

/// The shape of a lane-wise operation: type of a lane, and how many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lanes {
    /// Type of a lane.
    pub ty: Scalar,
    /// How many lanes.
    pub n: u32,
}

/// One decoded instruction. `d` is the destination's first register, `a`, `b`, `c` the operands'.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "the fields are those of the operation in the IR")]
pub enum Code {
    Bin {
        op: BinOp,
        ty: Scalar,
        /// Whether it is promised not to overflow as a signed operation.
        nsw: bool,
        d: Reg,
        a: Reg,
        b: Reg,
    },
    BinV {
        op: BinOp,
        nsw: bool,
        l: Lanes,
        d: Reg,
        a: Reg,
        b: Reg,
    },
    Un {
        op: UnOp,
        l: Lanes,
        d: Reg,
        a: Reg,
    },
    Fma {
        l: Lanes,
        d: Reg,
        a: Reg,
        b: Reg,
        c: Reg,
    },
    Icmp {
        cc: IntCc,
        l: Lanes,
        d: Reg,
        a: Reg,
        b: Reg,
    },
    Fcmp {
        cc: FloatCc,
        l: Lanes,
        d: Reg,
        a: Reg,
        b: Reg,
    },
    Cast {
        op: CastOp,
        l: Lanes,
        to: Scalar,
        d: Reg,
        a: Reg,
    },
    Bitcast {
        from: Lanes,
        to: Lanes,
        d: Reg,
        a: Reg,
    },
    Select {
        n: u32,
        cond_lanes: bool,
        d: Reg,
        a: Reg,
        b: Reg,
        c: Reg,
    },
    Extract {
        n: u32,
        d: Reg,
        a: Reg,
        b: Reg,
    },
    Insert {
        n: u32,
        d: Reg,
        a: Reg,
        b: Reg,
        c: Reg,
    },
    /// Copies registers one by one; no source is a destination.
    Pick {
        d: Reg,
        from: Box<[Reg]>,
    },
    Any {
        n: u32,
        d: Reg,
        a: Reg,
    },
    All {
        n: u32,
        d: Reg,
        a: Reg,
    },
    Ballot {
        n: u32,
        d: Reg,
        a: Reg,
    },
    Alloca {
        size: u64,
        align: u32,
        name: Option<Arc<String>>,
        d: Reg,
    },
    PtrAdd {
        n: u32,
        d: Reg,
        a: Reg,
        b: Reg,
    },
    Load {
        l: Lanes,
        align: u32,
        d: Reg,
        a: Reg,
    },
    Store {
        l: Lanes,
        align: u32,
        a: Reg,
        b: Reg,
    },
    /// A load of the lanes that are on in mask `b`, consecutive or each at its own address.
    LoadLanes {
        l: Lanes,
        align: u32,
        apart: bool,
        d: Reg,
        a: Reg,
        b: Reg,
    },
    /// The same for stores, with mask `c`.
    StoreLanes {
        l: Lanes,
        align: u32,
        apart: bool,
        a: Reg,
        b: Reg,
        c: Reg,
    },
    MemCopy {
        size: u64,
        align: u32,
        a: Reg,
        b: Reg,
    },
    MemSet {
        size: u64,
        byte: u8,
        align: u32,
        a: Reg,
    },
    GlobalAddr {
        global: u32,
        d: Reg,
    },
    Rmw {
        op: RmwOp,
        atomic: (Order, Scope),
        ty: Scalar,
        d: Reg,
        a: Reg,
        b: Reg,
    },
    CmpXchg {
        atomic: (Order, Scope),
        ty: Scalar,
        d: Reg,
        a: Reg,
        b: Reg,
        c: Reg,
    },
    AtomicLoad {
        atomic: (Order, Scope),
        ty: Scalar,
        d: Reg,
        a: Reg,
    },
    AtomicStore {
        atomic: (Order, Scope),
        ty: Scalar,
        a: Reg,
        b: Reg,
    },
    Clock {
        d: Reg,
    },
    Poll {
        d: Reg,
    },
    Query {
        what: Query,
        dim: u8,
        d: Reg,
    },
    Barrier(BarrierMemory),
    /// For the observer: work-items take turns and see each other's accesses at once.
    Fence {
        order: Order,
        scope: Scope,
    },
    /// For the observer; a copy gives a new event in `d`.
    Mark {
        mark: Mark,
        d: Reg,
        a: Reg,
        b: Reg,
    },
    /// A collective operation of a sub-group, with its operands.
    Subgroup {
        what: Collective,
        ty: Scalar,
        d: Reg,
        a: Reg,
        b: Reg,
    },
    Call {
        func: FuncRef,
        args: Box<[(Reg, u32)]>,
        d: Reg,
    },
    /// A call of the launcher, which there is none of.
    DeviceCall,
    Sample,
    Printf {
        format: StrRef,
        item: Reg,
        args: Box<[(Reg, Type)]>,
    },
    Jump(To),
    Branch {
        cond: Reg,
        then: To,
        els: To,
    },
    Switch {
        value: Reg,
        cases: Box<[(u64, To)]>,
        default: To,
    },
    Return {
        a: Reg,
        n: u32,
    },
    Unreachable,
}

/// The collective operations of a sub-group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "they are those of the operations in the IR")]
pub enum Collective {
    /// None: the work-items only wait for each other.
    Fence,
    Ballot,
    Shuffle,
    Reduce {
        op: BinOp,
        cluster: u16,
    },
    Scan {
        op: BinOp,
        exclusive: bool,
    },
}

/// The target of an edge, and its copies.
#[derive(Clone, Debug)]
pub struct To {
    /// The first instruction of the target.
    pub pc: u32,
    /// Destination and source.
    pub moves: Box<[(Reg, Reg)]>,
    /// Whether a source is also the destination of an earlier copy.
    pub overlap: bool,
    /// The block.
    pub block: Block,
    /// At the back edge of a loop with collective operations, the work-items of a sub-group wait for each other
    /// (reconvergence). The wait has the position of an instruction after all others of the loop, and the loop's
    /// nesting depth.
    pub wait: Option<(u32, u32)>,
    /// How many loops of the function have the target in them, if it is the header of the innermost; else 0.
    pub loop_depth: u32,
}

/// A function, decoded.
#[derive(Clone, Debug, Default)]
pub struct Decoded {
    /// The instructions; empty for a declaration.
    pub code: Vec<Code>,
    /// The source location of each.
    pub spans: Vec<Span>,
    /// How many loops each is in.
    pub loop_depths: Vec<u32>,
    /// The registers of a fresh frame: constants in place, the rest zero.
    pub registers: Vec<u64>,
    /// First register of each parameter, and how many.
    pub params: Vec<(Reg, u32)>,
}

/// A module that is ready to run.
pub struct Program {
    /// The module.
    pub module: Module,
    pub(crate) funcs: Vec<Decoded>,
}

impl Program {
    /// Verifies and decodes a module.
    pub fn new(module: Module) -> Result<Program, Vec<VerifyError>> {
        let errors = cloom_ir::verify(&module);
        if !errors.is_empty() {
            return Err(errors);
        }
        let collective = collective_functions(&module);
        let funcs = module.funcs.iter().map(|(r, f)| decode(f, &collective, collective[r.index()])).collect();
        Ok(Program { module, funcs })
    }
}

struct Decoder<'f> {
    func: &'f Function,
    regs: Vec<Reg>,
    out: Decoded,
    starts: Vec<u32>,
    loops: Loops,
    /// The depth of the block that is decoded.
    depth: u32,
}

fn decode(func: &Function, collective: &[bool], in_step: bool) -> Decoded {
    if func.is_declaration() {
        return Decoded::default();
    }
    let cfg = Cfg::new(func);
    let loops = Loops::new(func, &cfg, &DomTree::new(func, &cfg));
    let (regs, starts) = (vec![0; func.values.len()], vec![0; func.blocks.len()]);
    let mut d = Decoder { func, regs, out: Decoded::default(), starts, loops, depth: 0 };
    // Registers of all values first: an instruction may use a value of a block that comes later in the layout.
    for &b in &func.layout {
        for &p in &func.blocks[b].params {
            d.allocate(p);
        }
        for &i in &func.blocks[b].insts {
            if let Some(r) = func.insts[i].result {
                d.allocate(r);
            }
        }
    }
    d.out.params = func.param_values().iter().map(|&v| (d.reg(v), u32::from(func.ty(v).lanes))).collect();
    // Where work-items of a sub-group wait for each other, the one at the lowest position runs first: so blocks must
    // stand in topological order.
    let (blocks, waits) = match in_step {
        true => order(func, &cfg, &d.loops, collective),
        false => (func.layout.clone(), FxHashMap::default()),
    };
    let mut ends = FxHashMap::default();
    // Then the instructions, with the numbers of blocks as targets: the positions of later blocks are not known yet.
    for b in blocks {
        d.starts[b.index()] = d.out.code.len() as u32;
        d.depth = d.loops.depth(b);
        for &i in &func.blocks[b].insts {
            d.inst(i);
        }
        ends.insert(b, d.out.code.len() as u32);
        d.term(b);
    }
    // Back edges wait after the loop's last block.
    #[expect(clippy::iter_over_hash_type, reason = "each edge has an instruction of its own")]
    for (&(latch, header), &(last, depth)) in &waits {
        let at = ends[&last];
        let to_header = |to: &mut To| {
            // Targets are block numbers still.
            if to.pc as usize == header.index() {
                to.wait = Some((at, depth));
            }
        };
        each_way(&mut d.out.code[ends[&latch] as usize], to_header);
    }
    // Targets were written as block numbers.
    for c in &mut d.out.code {
        each_way(c, |to| to.pc = d.starts[to.pc as usize]);
    }
    d.out
}

/// Which functions have collective operations of sub-groups, themselves or in callees.
fn collective_functions(module: &Module) -> Vec<bool> {
    let mut collective: Vec<bool> = module.funcs.values().map(|f| insts(f, &f.layout).any(is_collective)).collect();
    if collective.contains(&true) {
        // Calls may be as deep as there are functions.
        loop {
            let mut changed = false;
            for (r, f) in module.funcs.iter() {
                if !collective[r.index()] && f.callees().iter().any(|c| collective[c.index()]) {
                    collective[r.index()] = true;
                    changed = true;
                }
            }
            if !changed {
                break;
            }
        }
    }
    collective
}

fn insts<'f>(func: &'f Function, blocks: &'f [Block]) -> impl Iterator<Item = &'f Op> {
    blocks.iter().flat_map(|&b| &func.blocks[b].insts).map(|&i| &func.insts[i].op)
}

fn is_collective(op: &Op) -> bool {
    op.is_subgroup() || matches!(op, Op::Fence { scope: Scope::SubGroup, .. })
}

/// The back edges at which a sub-group waits: latch and header, the last block of the loop and its depth.
type Waits = FxHashMap<(Block, Block), (Block, u32)>;

/// The blocks in a topological order in which loops are contiguous: from a later block, an earlier one is reached only
/// by a back edge.
fn order(func: &Function, cfg: &Cfg, loops: &Loops, collective: &[bool]) -> (Vec<Block>, Waits) {
    let key = |&b: &Block| {
        // Headers from the outermost loop in, then the block itself.
        let mut path = vec![cfg.rpo_index(b)];
        let mut inside = loops.innermost(b);
        while let Some(l) = inside {
            path.push(cfg.rpo_index(loops.loops[l].header));
            inside = loops.loops[l].parent;
        }
        path.reverse();
        path
    };
    let mut blocks: Vec<Block> = cfg.rpo().to_vec();
    blocks.sort_by_cached_key(key);
    let mut waits = Waits::default();
    for l in &loops.loops {
        let is_collective_call = |op: &Op| is_collective(op) || matches!(op, Op::Call(f) if collective[f.index()]);
        // Other loops need no wait: their work-items meet at the next operation of the sub-group.
        if insts(func, &l.blocks).any(is_collective_call)
            && let Some(&last) = l.blocks.iter().max_by_key(|&b| key(b))
        {
            waits.extend(l.latches.iter().map(|&latch| ((latch, l.header), (last, l.depth))));
        }
    }
    let unreachable: Vec<Block> = func.layout.iter().copied().filter(|&b| !cfg.is_reachable(b)).collect();
    // They are decoded, too, because each block of the layout needs a position.
    blocks.extend(unreachable);
    (blocks, waits)
}

fn each_way(code: &mut Code, mut change: impl FnMut(&mut To)) {
    match code {
        Code::Jump(to) => change(to),
        Code::Branch { then, els, .. } => {
            change(then);
            change(els);
        }
        Code::Switch { cases, default, .. } => {
            cases.iter_mut().for_each(|c| change(&mut c.1));
            change(default);
        }
        _ => {}
    }
}

impl Decoder<'_> {
    fn allocate(&mut self, v: Value) {
        self.regs[v.index()] = self.out.registers.len() as Reg;
        let ty = self.func.ty(v);
        let op = self.func.def_inst(v).map(|i| &self.func.insts[i].op);
        self.out.registers.extend((0..u64::from(ty.lanes)).map(|lane| match op {
            // A constant costs nothing when the function runs, only when its frame is made.
            Some(Op::Const(bits)) => *bits,
            Some(Op::Iota) => lane & ty.scalar.mask(),
            _ => 0,
        }));
    }

    fn reg(&self, v: Value) -> Reg {
        self.regs[v.index()]
    }

    fn lanes(&self, v: Value) -> Lanes {
        let ty = self.func.ty(v);
        Lanes { ty: ty.scalar, n: u32::from(ty.lanes) }
    }

    fn emit(&mut self, code: Code, span: Span) {
        self.out.code.push(code);
        self.out.spans.push(span);
        self.out.loop_depths.push(self.depth);
    }

    fn inst(&mut self, inst: Inst) {
        let data = &self.func.insts[inst];
        let arg = |i: usize| data.args.get(i).map_or(0, |&v| self.reg(v));
        let (a, b, c) = (arg(0), arg(1), arg(2));
        let d = data.result.map_or(0, |r| self.reg(r));
        let l = |i: usize| self.lanes(data.args[i]);
        let rn = data.result.map_or(1, |r| self.lanes(r).n);
        let result_ty = data.result.map_or(Scalar::I64, |r| self.lanes(r).ty);
        let nsw = data.flags.contains(Flags::NSW);
        let code = match &data.op {
            // Positions in this order decide which work-items of a sub-group run first.
            Op::Fence { scope: Scope::SubGroup, .. } => {
                Code::Subgroup { what: Collective::Fence, ty: Scalar::I1, d, a, b }
            }
            Op::Fence { order, scope } => Code::Fence { order: *order, scope: *scope },
            // Constants are in the initial frame.
            Op::Const(_) | Op::Iota | Op::Prefetch | Op::Report => return,
            Op::Unary(op) => Code::Un { op: *op, l: l(0), d, a },
            // Most operations are of scalars: their instruction has no loop over lanes.
            Op::Binary(op) if rn == 1 => Code::Bin { op: *op, ty: l(0).ty, nsw, d, a, b },
            Op::Binary(op) => Code::BinV { op: *op, nsw, l: l(0), d, a, b },
            Op::Fma => Code::Fma { l: l(0), d, a, b, c },
            Op::Icmp(cc) => Code::Icmp { cc: *cc, l: l(0), d, a, b },
            Op::Fcmp(cc) => Code::Fcmp { cc: *cc, l: l(0), d, a, b },
            // Truth values have no bytes: a bitcast of a mask is to the same type, lane by lane.
            Op::Cast(CastOp::Bitcast) if result_ty != Scalar::I1 => {
                Code::Bitcast { from: l(0), to: Lanes { ty: result_ty, n: rn }, d, a }
            }
            Op::Cast(op) => Code::Cast { op: *op, l: l(0), to: result_ty, d, a },
            Op::Select => Code::Select { n: rn, cond_lanes: l(0).n > 1, d, a, b, c },
            Op::Extract => Code::Extract { n: l(0).n, d, a, b },
            Op::Insert => Code::Insert { n: l(0).n, d, a, b, c },
            // One instruction serves all operations that only move lanes.
            Op::Shuffle(mask) => {
                let n = l(0).n;
                let from = |&m: &u16| if u32::from(m) < n { a + u32::from(m) } else { b + u32::from(m) - n };
                Code::Pick { d, from: mask.iter().map(from).collect() }
            }
            Op::Splat => Code::Pick { d, from: std::iter::repeat_n(a, rn as usize).collect() },
            Op::Build => Code::Pick { d, from: data.args.iter().map(|&v| self.reg(v)).collect() },
            Op::Alloca { size, align, name } => Code::Alloca { size: *size, align: *align, name: name.clone(), d },
            Op::PtrAdd => Code::PtrAdd { n: rn, d, a, b },
            Op::Load { align } => Code::Load { l: Lanes { ty: result_ty, n: rn }, align: *align, d, a },
            Op::Store { align } => Code::Store { l: l(1), align: *align, a, b },
            Op::Any => Code::Any { n: l(0).n, d, a },
            Op::All => Code::All { n: l(0).n, d, a },
            Op::Ballot => Code::Ballot { n: l(0).n, d, a },
            Op::MaskedLoad { align } | Op::Gather { align } => {
                let apart = matches!(data.op, Op::Gather { .. });
                Code::LoadLanes { l: Lanes { ty: result_ty, n: rn }, align: *align, apart, d, a, b }
            }
            Op::MaskedStore { align } | Op::Scatter { align } => {
                let apart = matches!(data.op, Op::Scatter { .. });
                Code::StoreLanes { l: l(1), align: *align, apart, a, b, c }
            }
            Op::MemCopy { size, align } => Code::MemCopy { size: *size, align: *align, a, b },
            Op::MemSet { size, byte, align } => Code::MemSet { size: *size, byte: *byte, align: *align, a },
            Op::GlobalAddr(g) => Code::GlobalAddr { global: g.index() as u32, d },
            Op::AtomicRmw { op, order, scope } => {
                Code::Rmw { op: *op, atomic: (*order, *scope), ty: result_ty, d, a, b }
            }
            Op::AtomicCmpXchg { order, scope } => Code::CmpXchg { atomic: (*order, *scope), ty: result_ty, d, a, b, c },
            Op::AtomicLoad { order, scope } => Code::AtomicLoad { atomic: (*order, *scope), ty: result_ty, d, a },
            Op::AtomicStore { order, scope } => Code::AtomicStore { atomic: (*order, *scope), ty: l(1).ty, a, b },
            Op::Clock => Code::Clock { d },
            Op::Poll => Code::Poll { d },
            Op::Mark(mark) => Code::Mark { mark: *mark, d, a, b },
            Op::Query { what, dim } => Code::Query { what: *what, dim: *dim, d },
            Op::Barrier(memory) => Code::Barrier(*memory),
            Op::SubgroupBallot => Code::Subgroup { what: Collective::Ballot, ty: result_ty, d, a, b },
            Op::SubgroupShuffle => Code::Subgroup { what: Collective::Shuffle, ty: result_ty, d, a, b },
            &Op::SubgroupReduce { op, cluster } => {
                Code::Subgroup { what: Collective::Reduce { op, cluster }, ty: result_ty, d, a, b }
            }
            &Op::SubgroupScan { op, exclusive } => {
                Code::Subgroup { what: Collective::Scan { op, exclusive }, ty: result_ty, d, a, b }
            }
            Op::Call(func) | Op::PureCall(func) => {
                let args = data.args.iter().map(|&v| (self.reg(v), self.lanes(v).n)).collect();
                // A result that the caller does not take has no register.
                Code::Call { func: *func, args, d: data.result.map_or(Reg::MAX, |r| self.reg(r)) }
            }
            Op::DeviceCall(_) => Code::DeviceCall,
            Op::Sample => Code::Sample,
            Op::Printf(s) => {
                let args = data.args[1..].iter().map(|&v| (self.reg(v), self.func.ty(v))).collect();
                Code::Printf { format: *s, item: a, args }
            }
        };
        self.emit(code, data.span);
    }

    fn to(&self, e: &Edge) -> To {
        let mut moves = Vec::new();
        for (&p, &arg) in self.func.blocks[e.block].params.iter().zip(&e.args) {
            for lane in 0..u32::from(self.func.ty(p).lanes) {
                let (to, from) = (self.reg(p) + lane, self.reg(arg) + lane);
                if to != from {
                    moves.push((to, from));
                }
            }
        }
        // The copies of an edge happen at once. In `jump bb1(v3, v2)` to `bb1(v2, v3)` they exchange two values, so
        // that all sources must be read before the first is written.
        let mut written: Vec<Reg> = moves.iter().map(|m| m.0).collect();
        written.sort_unstable();
        let overlap = moves.iter().any(|m| written.binary_search(&m.1).is_ok());
        let innermost = self.loops.innermost(e.block).map(|l| &self.loops.loops[l]);
        let loop_depth = innermost.filter(|l| l.header == e.block).map_or(0, |l| l.depth);
        To { pc: e.block.index() as u32, moves: moves.into(), overlap, block: e.block, wait: None, loop_depth }
    }

    fn term(&mut self, block: Block) {
        let data = &self.func.blocks[block];
        let code = match &data.term {
            Term::Jump(e) => Code::Jump(self.to(e)),
            Term::Branch { cond, then, els } => {
                Code::Branch { cond: self.reg(*cond), then: self.to(then), els: self.to(els) }
            }
            Term::Switch { value, cases, default } => {
                let mut list: Vec<(u64, To)> = cases.iter().map(|(bits, e)| (*bits, self.to(e))).collect();
                // The case is found by binary search.
                list.sort_by_key(|c| c.0);
                Code::Switch { value: self.reg(*value), cases: list.into(), default: self.to(default) }
            }
            Term::Return(v) => {
                let (a, n) = v.map_or((0, 0), |v| (self.reg(v), self.lanes(v).n));
                Code::Return { a, n }
            }
            Term::Unreachable => Code::Unreachable,
        };
        self.emit(code, data.term_span);
    }
}
