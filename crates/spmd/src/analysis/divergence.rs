//! Divergence: which values are uniform, that is, the same for all work-items of a group that compute them together.
//!
//! In comes a kernel; out goes, for each value, whether it varies, and the first cause. A value varies if it is a
//! local or global id, a load from memory that may differ between work-items, or a result of a varying operand; or if
//! it is a block parameter where control flow from a divergent branch joins (sync dependence), or is used outside of
//! a loop that work-items leave in different iterations (temporal divergence).
//!
//! Forward dataflow over values and branches together (Karrenberg and Hack, "Improving Performance of OpenCL on
//! CPUs", CC 2012). The influence region of a divergent branch is approximated by all blocks between it and its
//! immediate post-dominator; [`crate::analysis::shape`] has the precise joins of Rosemann, Moll and Hack.
//!
//! A load from anything but constant memory varies within a group, because work-items run one after the other and an
//! earlier one may have written there.

use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::{Block, Edge, Entity, Flags, Function, Inst, Op, Query, Space, Term, Value, ValueDef};
use smallvec::SmallVec;

/// Why a value varies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// The instruction is a source of divergence: an id, a load, an atomic operation, a call.
    Source(Inst),
    /// It is a parameter that varies.
    Param,
    /// The branch at the end of this block is divergent, and the value depends on which edge was taken.
    Branch(Block),
}

/// The result.
#[derive(Clone, Debug)]
pub struct Divergence {
    cause: Vec<Option<Cause>>,
    branch: Vec<bool>,
    is_temporally_divergent: Vec<bool>,
}

impl Divergence {
    /// Whether all work-items that compute the value together get the same result.
    pub fn is_uniform(&self, v: Value) -> bool {
        self.cause[v.index()].is_none()
    }

    /// Whether the value is defined in a loop that work-items leave in different iterations. Outside of the loop it
    /// may then differ even if it is uniform inside (temporal divergence); a uniform one is not used there.
    pub fn is_temporally_divergent(&self, v: Value) -> bool {
        self.is_temporally_divergent[v.index()]
    }

    /// The first cause of the value's divergence.
    pub fn cause(&self, v: Value) -> Option<Cause> {
        self.cause[v.index()]
    }

    /// Whether the block ends in a divergent branch.
    pub fn is_divergent_branch(&self, b: Block) -> bool {
        self.branch[b.index()]
    }
}

/// Analyses a kernel: divergence among the work-items of a group.
pub fn analyse(func: &Function) -> Divergence {
    between(func, &[], &Sources { loads: true, groups: false }, &|_| false)
}

/// Analyses a kernel: divergence among the work-items of several adjacent groups of one size.
pub fn between_groups(func: &Function) -> Divergence {
    between(func, &[], &Sources { loads: true, groups: true }, &|_| false)
}

/// Analyses the function of one work-item: divergence among the lanes of a vector, where the parameters `varying`
/// vary. Lanes run in lockstep, so a load from a uniform address is uniform.
pub fn between_lanes(func: &Function, varying: &[Value]) -> Divergence {
    between_agreeing_lanes(func, varying, &|_| false)
}

/// The same for lanes that agree at the branches of some blocks, because they go on apart where they do not. Such a
/// branch is divergent, but nothing depends on it.
pub fn between_agreeing_lanes(func: &Function, varying: &[Value], agree: &dyn Fn(Block) -> bool) -> Divergence {
    between(func, varying, &Sources { loads: false, groups: false }, agree)
}

/// Which operations are sources of divergence, beside ids.
struct Sources {
    /// Loads and sub-group operations.
    loads: bool,
    /// Group ids.
    groups: bool,
}

fn between(func: &Function, varying: &[Value], sources: &Sources, agree: &dyn Fn(Block) -> bool) -> Divergence {
    let cfg = Cfg::new(func);
    let post = DomTree::post(func, &cfg);
    let mut a = Analysis {
        func,
        post: &post,
        cfg: &cfg,
        users: users(func, &cfg),
        block_of: cfg.blocks_of_insts(func),
        result: Divergence {
            cause: vec![None; func.values.len()],
            branch: vec![false; func.blocks.len()],
            is_temporally_divergent: vec![false; func.values.len()],
        },
        work: Vec::new(),
        agree,
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
    // A value is marked once, and each use looked at once.
    while let Some(v) = a.work.pop() {
        a.propagate(v);
    }
    a.result
}

/// A user of a value: the result of an instruction; an instruction in a block whose result, if any, does not become
/// varying by this operand; a parameter that it is passed to, which is not sought again in the edge, as edges of a
/// thousand arguments are common in long kernels; or the terminator of a block, edge arguments included.
#[derive(Clone, Copy)]
enum User {
    Result(Value),
    Effect(Block),
    Param(Value),
    Term(Block),
}

fn users(func: &Function, cfg: &Cfg) -> Vec<Vec<User>> {
    let mut users = vec![Vec::new(); func.values.len()];
    for &b in cfg.rpo() {
        for &i in &func.blocks[b].insts {
            let data = &func.insts[i];
            for (k, &a) in data.args.iter().enumerate() {
                // Still a use, for `used_outside`: what is exchanged outside of a loop may differ there.
                let result = data.result.filter(|_| !is_exchanged(&data.op, k));
                users[a.index()].push(result.map_or(User::Effect(b), User::Result));
            }
        }
        let term = &func.blocks[b].term;
        for e in term.edges() {
            // An edge argument is listed twice, with its parameter and (by `for_each_use`) with the terminator.
            let params = &func.blocks[e.block].params;
            params.iter().zip(&e.args).for_each(|(&p, a)| users[a.index()].push(User::Param(p)));
        }
        term.for_each_use(|v| users[v.index()].push(User::Term(b)));
    }
    users
}

/// Whether operand `k` is one that the work-items of a sub-group exchange: that it varies does not make the result
/// vary.
pub fn is_exchanged(op: &Op, k: usize) -> bool {
    op.is_subgroup() && !matches!((op, k), (Op::SubgroupShuffle, 1))
}

/// Whether a sub-group operation gives the work-items of one sub-group different results, whatever its operands.
pub fn is_per_item_result(op: &Op) -> bool {
    match *op {
        Op::SubgroupReduce { cluster, .. } => cluster < MAX_LANES,
        Op::SubgroupScan { .. } => true,
        _ => false,
    }
}

/// No vector has more lanes.
const MAX_LANES: u16 = 64;

fn is_source(func: &Function, inst: Inst, sources: &Sources) -> bool {
    let data = &func.insts[inst];
    let &Sources { loads, groups } = sources;
    match &data.op {
        Op::Query {
            what: Query::GlobalId | Query::LocalId | Query::SubgroupLocalId | Query::SubgroupSize | Query::SubgroupId,
            ..
        } => true,
        Op::Query { what: Query::GroupId, .. } => groups,
        // Results differ between sub-groups.
        op if op.is_subgroup() => loads || is_per_item_result(op),
        // Each work-item executes a volatile load on its own, also one of a uniform address.
        Op::Load { .. } if data.flags.contains(Flags::VOLATILE) => true,
        Op::Load { .. } => loads && func.ty(data.args[0]).space() != Some(Space::Constant),
        // Each work-item has an array of its own, at another address.
        Op::Alloca { .. } => true,
        Op::AtomicRmw { .. } | Op::AtomicCmpXchg { .. } | Op::AtomicLoad { .. } | Op::Call(_) | Op::DeviceCall(_) => {
            true
        }
        // Each sub-group reads its own time.
        Op::Clock => true,
        _ => false,
    }
}

struct Analysis<'a> {
    func: &'a Function,
    post: &'a DomTree,
    cfg: &'a Cfg,
    users: Vec<Vec<User>>,
    block_of: Vec<Option<Block>>,
    result: Divergence,
    work: Vec<Value>,
    agree: &'a dyn Fn(Block) -> bool,
}

impl Analysis<'_> {
    fn mark(&mut self, v: Value, cause: Cause) {
        let slot = &mut self.result.cause[v.index()];
        if slot.is_none() {
            *slot = Some(cause);
            self.work.push(v);
        }
    }

    fn propagate(&mut self, v: Value) {
        let Some(cause) = self.result.cause(v) else { return };
        // Taken, as no value is propagated twice.
        for user in std::mem::take(&mut self.users[v.index()]) {
            match user {
                User::Result(r) => self.mark(r, cause),
                User::Effect(_) => {}
                User::Param(p) => self.mark(p, cause),
                User::Term(b) => {
                    let term = &self.func.blocks[b].term;
                    // An argument of an edge makes its parameter vary, not the branch.
                    if matches!(term, Term::Branch { .. } | Term::Switch { .. }) && term.operand() == Some(v) {
                        self.diverge(b);
                    }
                }
            }
        }
    }

    /// The branch at the end of `b` is divergent: values that depend on the edge taken vary.
    fn diverge(&mut self, b: Block) {
        // Where lanes agree, the branch is still one on a varying value, but all lanes take the same edge.
        if std::mem::replace(&mut self.result.branch[b.index()], true) || (self.agree)(b) {
            return;
        }
        let func = self.func;
        let meet = self.post.idom(b);
        let (region, inside) = self.post.influence_region(func, b);
        let cause = Cause::Branch(b);
        // With the block where all paths meet, whose parameters depend on the path most of all.
        for &x in region.iter().chain(&meet) {
            // A parameter stays uniform if all edges from the region bring the same argument, or only one edge does.
            // Edges from outside of the region do not count: from before a loop that contains the branch, for
            // instance. Most branches of a long kernel find the parameters marked by others, so that these are left
            // out first, and the edges found once for all the rest.
            let is_uniform = |&(_, p): &(usize, Value)| self.result.is_uniform(p);
            let params = func.blocks[x].params.iter().copied().enumerate();
            let uniform: SmallVec<[(usize, Value); 8]> = params.filter(is_uniform).collect();
            if uniform.is_empty() {
                continue;
            }
            let from_region = self.cfg.incoming(func, x).filter(|(p, _)| *p == b || inside[p.index()]);
            let edges: SmallVec<[&Edge; 8]> = from_region.map(|(_, e)| e).collect();
            let [first, others @ ..] = &edges[..] else { continue };
            for (k, p) in uniform {
                if others.iter().any(|e| e.args[k] != first.args[k]) {
                    self.mark(p, cause);
                }
            }
        }
        // The branch is in its own region: a loop that work-items leave in different iterations. Its values vary
        // outside.
        if inside[b.index()] {
            for &x in &region {
                let params = func.blocks[x].params.iter().copied();
                let results = func.blocks[x].insts.iter().filter_map(|&i| func.insts[i].result);
                for v in params.chain(results) {
                    // Also of values that are not used outside yet: `split::remat` asks before it adds such a use.
                    self.result.is_temporally_divergent[v.index()] = true;
                    if self.used_outside(v, &inside) {
                        self.mark(v, cause);
                    }
                }
            }
        }
    }

    fn used_outside(&self, v: Value, inside: &[bool]) -> bool {
        // The user lists of values already marked are empty; these need no second look.
        self.users[v.index()].iter().any(|u| match u {
            User::Effect(b) => !inside[b.index()],
            // Its terminator is a user as well.
            User::Param(_) => false,
            User::Term(b) => {
                !inside[b.index()] || self.func.blocks[*b].term.edges().iter().any(|e| !inside[e.block.index()])
            }
            User::Result(r) => match self.func.values[*r].def {
                ValueDef::Inst(i) => !self.block_of[i.index()].is_some_and(|b| inside[b.index()]),
                ValueDef::Param(b, _) => !inside[b.index()],
            },
        })
    }
}
