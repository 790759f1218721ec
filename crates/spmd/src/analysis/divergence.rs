//! Divergence: which values are the same for all work-items of a group that compute them together.
//!
//! In comes a kernel; out goes, for each value, whether it varies and the first cause. A value varies if it comes from
//! a local or global id, from memory that may differ between work-items, from an operand that varies, or, at a join,
//! from the way that a work-item took. Forward dataflow over values and branches together (Karrenberg and Hack,
//! "Improving Performance of OpenCL on CPUs", 2012; the influence of a divergent branch is taken as everything between
//! it and its post-dominator).
//!
//! Conservative where it may be: a load from anything but constant memory varies, because work-items run one after the
//! other and an earlier one may have written there.

use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::{Block, Entity, Function, Inst, Op, Query, Space, Term, Value, ValueDef};

/// Why a value varies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// The instruction is a source: an id, a load, an atomic, a call.
    Source(Inst),
    /// It is a parameter that does.
    Param,
    /// The branch at the end of this block sends work-items different ways, and the value depends on the way.
    Branch(Block),
}

/// The result.
#[derive(Clone, Debug)]
pub struct Divergence {
    cause: Vec<Option<Cause>>,
    branch: Vec<bool>,
    last_differs: Vec<bool>,
}

impl Divergence {
    /// Whether all work-items that compute the value together get the same.
    pub fn is_uniform(&self, v: Value) -> bool {
        self.cause[v.index()].is_none()
    }

    /// Whether it is computed in a loop that work-items leave in different rounds. Then what they have of it behind the loop may differ,
    /// even if it is uniform: nothing uses it there.
    pub fn last_differs(&self, v: Value) -> bool {
        self.last_differs[v.index()]
    }

    /// What first made the value vary.
    pub fn cause(&self, v: Value) -> Option<Cause> {
        self.cause[v.index()]
    }

    /// Whether the block ends in a branch that sends work-items different ways.
    pub fn is_divergent_branch(&self, b: Block) -> bool {
        self.branch[b.index()]
    }
}

/// Analyses a kernel: what differs between the work-items of a group.
pub fn analyse(func: &Function) -> Divergence {
    between(func, &[], &Sources { loads: true, groups: false })
}

/// Analyses a kernel: what differs between work-items of several groups of one size that lie beside each other.
pub fn between_groups(func: &Function) -> Divergence {
    between(func, &[], &Sources { loads: true, groups: true })
}

/// Analyses the function of one work-item: what differs between the lanes of a vector, when `varying` are the parameters that do. A
/// load from one address gives all lanes the same, since they run in step.
pub fn between_lanes(func: &Function, varying: &[Value]) -> Divergence {
    between(func, varying, &Sources { loads: false, groups: false })
}

/// What differs of itself.
struct Sources {
    /// What is loaded, and what a sub-group finds out.
    loads: bool,
    /// The group's place.
    groups: bool,
}

fn between(func: &Function, varying: &[Value], sources: &Sources) -> Divergence {
    let cfg = Cfg::new(func);
    let post = DomTree::post(func, &cfg);
    let mut a = Analysis {
        func,
        cfg: &cfg,
        post: &post,
        users: users(func, &cfg),
        home: homes(func, &cfg),
        result: Divergence {
            cause: vec![None; func.values.len()],
            branch: vec![false; func.blocks.len()],
            last_differs: vec![false; func.values.len()],
        },
        work: Vec::new(),
    };
    for &b in cfg.rpo() {
        for &i in &func.blocks[b].insts {
            if is_source(func, i, sources)
                && let Some(r) = func.insts[i].result
            {
                a.mark(r, Cause::Source(i));
            }
        }
    }
    for &v in varying {
        a.mark(v, Cause::Param);
    }
    while let Some(v) = a.work.pop() {
        a.spread(v);
    }
    a.result
}

/// What uses a value: an instruction's result, an instruction in a block whose result, if it has any, does not differ by it, or the
/// terminator of a block.
#[derive(Clone, Copy)]
enum User {
    Result(Value),
    Effect(Block),
    Term(Block),
}

fn users(func: &Function, cfg: &Cfg) -> Vec<Vec<User>> {
    let mut users = vec![Vec::new(); func.values.len()];
    for &b in cfg.rpo() {
        for &i in &func.blocks[b].insts {
            let data = &func.insts[i];
            for (k, &a) in data.args.iter().enumerate() {
                let differs = data.result.filter(|_| !is_exchanged(&data.op, k));
                users[a.index()].push(differs.map_or(User::Effect(b), User::Result));
            }
        }
        func.blocks[b].term.for_each_use(|v| users[v.index()].push(User::Term(b)));
    }
    users
}

/// Whether operand number k is one that the work-items of a sub-group exchange: its differences are not the result's.
pub fn is_exchanged(op: &Op, k: usize) -> bool {
    op.is_subgroup() && !matches!((op, k), (Op::SubgroupShuffle, 1))
}

/// Whether an operation on sub-groups gives the work-items of one different results, whatever its operands.
pub fn is_own_share(op: &Op) -> bool {
    match *op {
        Op::SubgroupReduce { cluster, .. } => cluster < MAX_LANES,
        Op::SubgroupScan { .. } => true,
        _ => false,
    }
}

/// No vector has more lanes.
const MAX_LANES: u16 = 64;

/// The block of each instruction.
fn homes(func: &Function, cfg: &Cfg) -> Vec<Option<Block>> {
    let mut home = vec![None; func.insts.len()];
    for &b in cfg.rpo() {
        for &i in &func.blocks[b].insts {
            home[i.index()] = Some(b);
        }
    }
    home
}

fn is_source(func: &Function, inst: Inst, sources: &Sources) -> bool {
    let data = &func.insts[inst];
    let &Sources { loads, groups } = sources;
    match &data.op {
        Op::Query {
            what: Query::GlobalId | Query::LocalId | Query::SubgroupLocalId | Query::SubgroupSize | Query::SubgroupId,
            ..
        } => true,
        Op::Query { what: Query::GroupId, .. } => groups,
        // What a sub-group finds out is its own.
        op if op.is_subgroup() => loads || is_own_share(op),
        Op::Load { .. } => loads && func.ty(data.args[0]).space() != Some(Space::Constant),
        Op::Alloca { .. } => true,
        Op::AtomicRmw { .. } | Op::AtomicCmpXchg { .. } | Op::AtomicLoad { .. } | Op::Call(_) => true,
        _ => false,
    }
}

struct Analysis<'a> {
    func: &'a Function,
    cfg: &'a Cfg,
    post: &'a DomTree,
    users: Vec<Vec<User>>,
    home: Vec<Option<Block>>,
    result: Divergence,
    work: Vec<Value>,
}

impl Analysis<'_> {
    fn mark(&mut self, v: Value, cause: Cause) {
        let slot = &mut self.result.cause[v.index()];
        if slot.is_none() {
            *slot = Some(cause);
            self.work.push(v);
        }
    }

    fn spread(&mut self, v: Value) {
        let Some(cause) = self.result.cause(v) else { return };
        for user in std::mem::take(&mut self.users[v.index()]) {
            match user {
                User::Result(r) => self.mark(r, cause),
                User::Effect(_) => {}
                User::Term(b) => {
                    let func = self.func;
                    for e in func.blocks[b].term.edges() {
                        for (&p, &a) in func.blocks[e.block].params.iter().zip(&e.args) {
                            if a == v {
                                self.mark(p, cause);
                            }
                        }
                    }
                    if matches!(func.blocks[b].term, Term::Branch { .. } | Term::Switch { .. })
                        && func.blocks[b].term.operand() == Some(v)
                    {
                        self.diverge(b);
                    }
                }
            }
        }
    }

    /// The branch at the end of `b` sends work-items different ways: values that depend on the way vary.
    fn diverge(&mut self, b: Block) {
        if std::mem::replace(&mut self.result.branch[b.index()], true) {
            return;
        }
        let func = self.func;
        let stop = self.post.idom(b);
        // Blocks between the branch and its post-dominator.
        let mut inside = vec![false; func.blocks.len()];
        let mut stack: Vec<Block> = func.blocks[b].term.edges().iter().map(|e| e.block).collect();
        let mut region = Vec::new();
        while let Some(x) = stack.pop() {
            if Some(x) == stop || std::mem::replace(&mut inside[x.index()], true) {
                continue;
            }
            region.push(x);
            stack.extend(func.blocks[x].term.edges().iter().map(|e| e.block));
        }
        let cause = Cause::Branch(b);
        for &x in region.iter().chain(&stop) {
            // What all the ways from here bring alike does not depend on the way; nor does what comes by one of them alone. (Others may
            // lead here too: from before a loop, say, that the branch stands in.)
            let ways = || self.cfg.preds(x).iter().filter(|&&p| p == b || inside[p.index()]);
            let edges = || ways().flat_map(|&p| func.blocks[p].term.edges()).filter(|e| e.block == x);
            for (k, &p) in func.blocks[x].params.iter().enumerate() {
                let mut brought = edges().map(|e| e.args[k]);
                let first = brought.next();
                if brought.any(|a| Some(a) != first) {
                    self.mark(p, cause);
                }
            }
        }
        // A loop that work-items leave in different rounds: what it computed last differs for those after it.
        if inside[b.index()] {
            for &x in &region {
                let params = func.blocks[x].params.iter().copied();
                let results = func.blocks[x].insts.iter().filter_map(|&i| func.insts[i].result);
                for v in params.chain(results) {
                    self.result.last_differs[v.index()] = true;
                    if self.used_outside(v, &inside) {
                        self.mark(v, cause);
                    }
                }
            }
        }
    }

    fn used_outside(&self, v: Value, inside: &[bool]) -> bool {
        // Users of values that are already marked were taken; these need no second look.
        self.users[v.index()].iter().any(|u| match u {
            User::Effect(b) => !inside[b.index()],
            User::Term(b) => {
                !inside[b.index()] || self.func.blocks[*b].term.edges().iter().any(|e| !inside[e.block.index()])
            }
            User::Result(r) => match self.func.values[*r].def {
                ValueDef::Inst(i) => !self.home[i.index()].is_some_and(|b| inside[b.index()]),
                ValueDef::Param(b, _) => !inside[b.index()],
            },
        })
    }
}
