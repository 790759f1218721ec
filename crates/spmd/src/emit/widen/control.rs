//! The order of blocks, masks, guards and loops.

use super::{OpenLoop, Wide, Widener};
use crate::analysis::shape::{Shape, Shapes};
use crate::emit::ssa::Var;
use crate::error::{Stop, bug};
use crate::passes;
use crate::transform::canonicalize::Form;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::{BinOp, Block, Edge, Entity, Function, Op, Term, Type, UnOp, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// A region that costs less than this runs even if no lane is on.
const WORTH_A_TEST: u32 = 16;

/// What a block and all that it dominates cost.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Weight {
    /// Roughly in instructions.
    pub cost: u32,
    /// It must not run without a lane.
    pub must: bool,
    /// It is cheaper without a mask.
    pub pays: bool,
}

/// What each block and all that it dominates cost.
pub(super) fn weights(
    func: &Function,
    cfg: &Cfg,
    dom: &DomTree,
    shapes: &Shapes,
    loop_of: &FxHashMap<Block, usize>,
) -> Vec<Weight> {
    let mut weight = vec![Weight::default(); func.blocks.len()];
    for &b in cfg.rpo().iter().rev() {
        let (mut cost, mut must, mut pays) = (1u32, loop_of.contains_key(&b), false);
        for &i in &func.blocks[b].insts {
            let data = &func.insts[i];
            let uniform = |k: usize| shapes.is_uniform(data.args[k]);
            let strided = |k: usize| matches!(shapes.of(data.args[k]), Shape::Strided { .. });
            cost += match &data.op {
                Op::Const(_) => 0,
                Op::Load { .. } | Op::Store { .. } => {
                    must |= uniform(0);
                    pays |= !uniform(0);
                    if strided(0) { 3 } else { 12 }
                }
                Op::Binary(BinOp::Udiv | BinOp::Sdiv | BinOp::Urem | BinOp::Srem | BinOp::Fdiv)
                | Op::Unary(UnOp::Sqrt) => 8,
                Op::Call(_) | Op::Printf(_) | Op::AtomicRmw { .. } | Op::AtomicCmpXchg { .. } => {
                    must = true;
                    pays = true;
                    40
                }
                Op::MemCopy { .. } | Op::MemSet { .. } | Op::AtomicLoad { .. } | Op::AtomicStore { .. } => 20,
                Op::Unary(_) => 3,
                op if op.is_subgroup() => 8,
                _ => 1,
            };
        }
        // Where lanes do not meet, edges write plainly: what they write must be meant.
        for e in func.blocks[b].term.edges() {
            let plain = !shapes.joins[e.block.index()]
                || func.blocks[e.block].params.iter().any(|&p| shapes.of(p) != Shape::Varying);
            must |= plain && cfg.preds(e.block).len() > 1 && !e.args.is_empty();
        }
        for &c in dom.children(b) {
            let inner = weight[c.index()];
            cost = cost.saturating_add(inner.cost);
            must |= inner.must;
            pays |= inner.pays;
        }
        weight[b.index()] = Weight { cost, must, pays };
    }
    weight
}

impl Widener<'_> {
    /// Writes everything.
    pub(super) fn run(mut self) -> Result<(Block, Wide), Stop> {
        let item = self.item;
        let start = self.cur;
        let mut result = None;
        let mut begun = rustc_hash::FxHashSet::default();
        for &b in item.cfg.rpo() {
            let begins = b == item.func.entry()
                || !item.masked.is_masked(b)
                || item.masked.begins_region(&item.cfg, &item.dom, b);
            if !begins {
                continue;
            }
            self.cur = if b == item.func.entry() { start } else { self.place(b) };
            begun.insert(b);
            self.mask = self.entry_mask;
            if item.masked.is_masked(b) {
                self.subtree(b, self.entry_mask)?;
                let after = self.region_end(b)?;
                self.go(after);
                continue;
            }
            self.block(b)?;
            match &item.func.blocks[b].term {
                Term::Return(Some(v)) => result = Some((self.cur, self.get(*v)?)),
                _ if item.masked.is_linear(b) => {
                    self.term(b)?;
                    self.children(b)?;
                    // The ways may meet in another masked region, a loop perhaps; it is written with them.
                    let after = self.region_end(b)?;
                    self.go(after);
                }
                _ => self.plain_term(b)?,
            }
        }
        let mut open: Vec<Block> = self.blocks.values().copied().collect();
        open.sort();
        for b in open {
            let mut preds = self.preds.remove(&b).unwrap_or_default();
            preds.sort();
            preds.dedup();
            self.ssa.seal(self.func, b, preds);
        }
        let all = item.cfg.rpo().iter().all(|b| self.done.contains(b));
        if !all || self.blocks.keys().any(|b| !begun.contains(b)) {
            return Err(bug("a block was left out"));
        }
        result.ok_or(bug("it has no end"))
    }

    /// Where a region that begins at `b`, or with its ways, ends: the first unmasked block that all its ways lead to.
    fn region_end(&self, b: Block) -> Result<Block, Stop> {
        let mut at = b;
        while let Some(next) = self.item.post.idom(at) {
            if !self.item.masked.is_masked(next) {
                return Ok(next);
            }
            at = next;
        }
        Err(bug("a masked region has no end"))
    }

    /// The block where an unmasked block, or a region, begins.
    fn place(&mut self, b: Block) -> Block {
        if let Some(&p) = self.blocks.get(&b) {
            return p;
        }
        let p = self.func.add_block();
        self.blocks.insert(b, p);
        p
    }

    /// Jumps to where `to` begins.
    fn go(&mut self, to: Block) {
        let (place, from) = (self.place(to), self.cur);
        self.preds.entry(place).or_default().push(from);
        self.b().jump(place, &[]);
    }

    /// Parameters and instructions of a block, under the mask that is set.
    pub(super) fn block(&mut self, b: Block) -> Result<(), Stop> {
        let item = self.item;
        self.done.insert(b);
        if b != item.func.entry() {
            for &p in &item.func.blocks[b].params {
                let wide = self.read_param(p);
                self.set(p, wide);
            }
        }
        for &c in item.dom.children(b) {
            self.reset(c);
        }
        for &i in &item.func.blocks[b].insts {
            self.span = item.func.insts[i].span;
            self.inst(i)?;
        }
        self.span = item.func.blocks[b].term_span;
        Ok(())
    }

    /// Before the ways to a join are run, it has no lanes and its parameters hold nothing. (Else what they held in the round before
    /// would be carried around a loop.)
    fn reset(&mut self, b: Block) {
        let item = self.item;
        if item.masked.is_masked(b) && self.has_mask_var(b) {
            let var = self.mask_var(b);
            let ty = self.mask_type();
            let none = self.b().iconst(ty, 0);
            self.ssa.write(self.cur, var, none);
        }
        if item.shapes.joins[b.index()] {
            for &p in &item.func.blocks[b].params {
                self.written.remove(&p);
                self.clear(p);
            }
        }
    }

    fn clear(&mut self, p: Value) {
        for var in self.param_vars(p) {
            let ty = self.ssa.ty(var);
            let zero = self.b().iconst(ty, 0);
            self.ssa.write(self.cur, var, zero);
        }
    }

    fn mask_var(&mut self, b: Block) -> Var {
        let ty = self.mask_type();
        let ssa = &mut self.ssa;
        *self.mask_vars.entry(b).or_insert_with(|| ssa.var(ty))
    }

    /// The forward ways into a block.
    fn ways(&self, b: Block) -> SmallVec<[Block; 4]> {
        let item = self.item;
        item.cfg.preds(b).iter().copied().filter(|&p| !item.dom.dominates(b, p)).collect()
    }

    /// Whether lanes come to a masked block by several ways that do not make up all lanes of its dominator.
    fn has_mask_var(&self, b: Block) -> bool {
        self.ways(b).len() > 1 && !self.has_all_lanes(b)
    }

    /// Whether all lanes of a block's immediate dominator come to it (in the same round of a loop).
    fn has_all_lanes(&self, b: Block) -> bool {
        let item = self.item;
        let Some(d) = item.dom.idom(b) else { return true };
        let anchor = match item.loop_of.get(&d) {
            Some(&l) if item.forms[l] == Some(Form::TopTested) && item.masked.is_masked(d) => self.stay_target(l),
            _ => d,
        };
        b == anchor || item.post.dominates(b, anchor)
    }

    /// The block in the loop that a header with the way out goes on to.
    fn stay_target(&self, l: usize) -> Block {
        let data = &self.item.loops.loops[l];
        let edges = self.item.func.blocks[data.header].term.edges();
        edges.iter().map(|e| e.block).find(|&t| t != data.exits[0].1).unwrap_or(data.header)
    }

    fn param_vars(&mut self, p: Value) -> SmallVec<[Var; 4]> {
        if let Some(v) = self.vars.get(&p) {
            return v.clone();
        }
        let ty = self.item.func.ty(p);
        let vars: SmallVec<[Var; 4]> = match self.item.shapes.of(p) {
            Shape::Varying if self.whole.contains(&p) => {
                let whole = Type::vector(ty.scalar, ty.lanes * self.lanes);
                SmallVec::from_slice(&[self.ssa.var(whole)])
            }
            Shape::Varying => {
                let wide = self.wide_type(ty);
                (0..ty.lanes).map(|_| self.ssa.var(wide)).collect()
            }
            Shape::Strided { tested: true, .. } => {
                let wide = self.wide_type(ty);
                SmallVec::from_slice(&[self.ssa.var(ty), self.ssa.var(Type::I1), self.ssa.var(wide)])
            }
            _ => SmallVec::from_slice(&[self.ssa.var(ty)]),
        };
        self.vars.insert(p, vars.clone());
        vars
    }

    fn read_param(&mut self, p: Value) -> Wide {
        let vars = self.param_vars(p);
        let cur = self.cur;
        let values: SmallVec<[Value; 4]> = vars.iter().map(|&v| self.ssa.read(self.func, cur, v)).collect();
        if let (Shape::Strided { tested: true, .. }, [_, _, lanes]) = (self.item.shapes.of(p), &values[..]) {
            self.tested.insert(p, *lanes);
        }
        match self.item.shapes.of(p) {
            Shape::Varying if self.whole.contains(&p) => {
                let n = self.item.func.ty(p).lanes;
                Wide::Lanes(self.deinterleave(values[0], n))
            }
            Shape::Varying => Wide::Lanes(values),
            Shape::Strided { by, .. } => Wide::Strided { base: values[0], by, cond: values.get(1).copied() },
            _ => Wide::Uniform(values[0]),
        }
    }

    /// Gives a block's parameters an edge's arguments. With `blend`, only those lanes that are on in the mask change; at a join
    /// (`joins`), that begins with the second edge that writes.
    fn write_params(&mut self, e: &Edge, blend: Option<Value>, joins: bool) -> Result<(), Stop> {
        let item = self.item;
        // All are read before one is written: a back edge may permute them.
        let mut values = Vec::new();
        for (&p, &a) in item.func.blocks[e.block].params.iter().zip(&e.args) {
            if item.unspecified.contains(&a) {
                continue;
            }
            let vars = self.param_vars(p);
            match item.shapes.of(p) {
                Shape::Varying => {
                    let mut mask = if joins && self.written.insert(p) { None } else { blend };
                    let mut lanes = self.lanes(a)?;
                    if self.whole.contains(&p) {
                        mask = mask.map(|m| self.repeat_mask(m, lanes.len() as u16));
                        lanes = smallvec::smallvec![self.interleave(&lanes)];
                    }
                    for (&var, new) in vars.iter().zip(lanes) {
                        let new = match mask {
                            Some(mask) => {
                                let old = self.ssa.read(self.func, self.cur, var);
                                self.b().select(mask, new, old)
                            }
                            None => new,
                        };
                        values.push((var, new));
                    }
                }
                Shape::Strided { tested, .. } => {
                    values.push((vars[0], self.base(a)?));
                    if tested {
                        let cond = match self.get(a)? {
                            Wide::Strided { cond: Some(c), .. } => c,
                            _ => self.b().iconst(Type::I1, 1),
                        };
                        values.push((vars[1], cond));
                        values.push((vars[2], self.lane(a)?));
                    }
                }
                _ => values.push((vars[0], self.base(a)?)),
            }
        }
        for (var, value) in values {
            self.ssa.write(self.cur, var, value);
        }
        Ok(())
    }

    /// An edge that lanes under `mask` take, of a block whose ways are run one after the other. `only_if`: the scalar that decides it.
    pub(super) fn masked_edge(&mut self, e: &Edge, mask: Option<Value>, only_if: Option<Value>) -> Result<(), Stop> {
        let item = self.item;
        let to = e.block;
        if let Some(l) = self.loops.last()
            && to == l.header
        {
            return self.write_params(e, None, false);
        }
        let joins = item.shapes.joins[to.index()];
        self.write_params(e, if joins { mask } else { None }, joins)?;
        if !item.masked.is_masked(to) {
            return Ok(());
        }
        if self.has_mask_var(to) {
            let var = self.mask_var(to);
            let m = self.mask_value(mask);
            let m = match only_if {
                Some(c) => {
                    let n = self.lanes;
                    let c = self.b().splat(c, n);
                    self.b().binary(BinOp::And, m, c)
                }
                None => m,
            };
            let old = self.ssa.read(self.func, self.cur, var);
            let new = self.b().binary(BinOp::Or, old, m);
            self.ssa.write(self.cur, var, new);
        } else if self.ways(to).len() == 1 {
            self.edge_masks.insert(to, (mask, only_if));
        }
        Ok(())
    }

    /// The end of a block whose ways are run one after the other.
    fn term(&mut self, b: Block) -> Result<(), Stop> {
        let item = self.item;
        let mask = self.mask;
        if let Some(l) = self.loops.last()
            && l.form == Form::BottomTested
            && l.latch == b
        {
            return self.latch(b);
        }
        match &item.func.blocks[b].term {
            Term::Jump(e) => self.masked_edge(e, mask, None),
            Term::Branch { cond, then, els } => {
                if item.shapes.is_uniform(*cond) {
                    let c = self.base(*cond)?;
                    let n = self.not(c);
                    self.masked_edge(then, mask, Some(c))?;
                    self.masked_edge(els, mask, Some(n))
                } else {
                    let c = self.lane(*cond)?;
                    let n = self.not(c);
                    let (on, off) = (self.and(mask, c), self.and(mask, n));
                    self.masked_edge(then, Some(on), None)?;
                    self.masked_edge(els, Some(off), None)
                }
            }
            Term::Unreachable => Ok(()),
            Term::Switch { .. } => Err(bug("a switch is masked")),
            Term::Return(_) => Err(bug("a return is masked")),
        }
    }

    /// The end of a block that all lanes leave the same way.
    fn plain_term(&mut self, b: Block) -> Result<(), Stop> {
        let item = self.item;
        let mut term = item.func.blocks[b].term.clone();
        if let Term::Jump(e) = &term {
            self.write_params(e, None, false)?;
            self.go(e.block);
            return Ok(());
        }
        if let Some(v) = term.operand() {
            let x = self.base(v)?;
            match &mut term {
                Term::Branch { cond, .. } => *cond = x,
                Term::Switch { value, .. } => *value = x,
                _ => {}
            }
        }
        // Each way has a block of its own, where it writes its arguments.
        let from = self.cur;
        let mut ways = Vec::new();
        for e in term.edges_mut() {
            let way = self.func.add_block();
            ways.push((way, e.clone()));
            *e = Edge::new(way, []);
        }
        let span = item.func.blocks[b].term_span;
        self.func.set_term(from, term, span);
        for (way, e) in ways {
            self.seal_one(way, from);
            self.cur = way;
            self.write_params(&e, None, false)?;
            self.go(e.block);
        }
        Ok(())
    }

    /// A masked block and all that it dominates, in line.
    fn subtree(&mut self, b: Block, mask: Option<Value>) -> Result<(), Stop> {
        self.mask = mask;
        if let Some(&l) = self.item.loop_of.get(&b) {
            return self.divergent_loop(l, mask);
        }
        self.block(b)?;
        self.term(b)?;
        self.children(b)
    }

    /// What `b` dominates in the same loop.
    pub(super) fn children(&mut self, b: Block) -> Result<(), Stop> {
        let item = self.item;
        let here = item.loops.innermost(b);
        let mask = match item.loop_of.get(&b) {
            // Behind a header with the way out, only the lanes that stay are on.
            Some(&l) if item.forms[l] == Some(Form::TopTested) && item.masked.is_masked(b) => {
                self.edge_masks.get(&self.stay_target(l)).map_or(self.mask, |m| m.0)
            }
            _ => self.mask,
        };
        let mut list: Vec<Block> = item.dom.children(b).to_vec();
        list.retain(|&c| {
            let inner = item.loops.innermost(c);
            let same = inner == here || item.loop_of.get(&c).is_some_and(|&l| item.loops.loops[l].parent == here);
            item.masked.is_masked(c) && same && c != b
        });
        list.sort_by_key(|&c| item.cfg.rpo_index(c));
        for c in list {
            if self.has_all_lanes(c) {
                self.subtree(c, mask)?;
                continue;
            }
            let (own, only_if) = if self.has_mask_var(c) {
                let var = self.mask_var(c);
                (Some(self.ssa.read(self.func, self.cur, var)), None)
            } else {
                *self.edge_masks.get(&c).ok_or(bug("a masked block has no way in"))?
            };
            let Weight { cost, must, .. } = item.weight[c.index()];
            if let (None, Some(own)) = (only_if, own)
                && self.copies(c)
            {
                self.full_or_not(own, |w, mask| w.subtree(c, mask))?;
                continue;
            }
            if only_if.is_none() && !must && cost < WORTH_A_TEST {
                self.subtree(c, own)?;
                continue;
            }
            let test = match (only_if, own) {
                (Some(c), _) => c,
                (None, Some(m)) => self.b().any(m),
                (None, None) => {
                    self.subtree(c, own)?;
                    continue;
                }
            };
            let (from, body, after) = (self.cur, self.new_block(), self.new_block());
            self.b().branch(test, body, after);
            self.seal_one(body, from);
            self.cur = body;
            self.subtree(c, own)?;
            let end = self.cur;
            self.b().jump(after, &[]);
            self.ssa.seal(self.func, after, vec![from, end]);
            self.cur = after;
        }
        Ok(())
    }

    /// Whether a block and what it dominates get a copy for full vectors. It is charged to the budget.
    pub(super) fn copies(&mut self, b: Block) -> bool {
        let Weight { cost, pays, .. } = self.item.weight[b.index()];
        let copies = pays && !self.rare && cost <= self.budget && self.manager.is_on(passes::ALL_ON);
        if copies {
            self.budget -= cost;
        }
        copies
    }

    /// Code twice: without a mask if all its lanes are on, else with it. The two ends are left to the code.
    fn twice(
        &mut self,
        mask: Value,
        mut code: impl FnMut(&mut Self, Option<Value>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        self.manager.count(passes::ALL_ON);
        let all = self.all_on(mask);
        let (from, full, some) = (self.cur, self.new_block(), self.new_block());
        self.b().branch(all, full, some);
        self.seal_one(full, from);
        self.seal_one(some, from);
        let written = self.written.clone();
        self.cur = full;
        code(self, None)?;
        self.written = written;
        self.cur = some;
        let rare = std::mem::replace(&mut self.rare, true);
        code(self, Some(mask))?;
        self.rare = rare;
        Ok(())
    }

    /// Code twice, which goes on behind; with the mask only if one of its lanes is on.
    fn full_or_not(
        &mut self,
        mask: Value,
        mut code: impl FnMut(&mut Self, Option<Value>) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let after = self.new_block();
        let mut ends = Vec::new();
        self.twice(mask, |w, mask| {
            if let Some(mask) = mask {
                let any = w.b().any(mask);
                let (check, some) = (w.cur, w.new_block());
                w.b().branch(any, some, after);
                w.seal_one(some, check);
                ends.push(check);
                w.cur = some;
            }
            code(w, mask)?;
            w.b().jump(after, &[]);
            ends.push(w.cur);
            Ok(())
        })?;
        self.ssa.seal(self.func, after, ends);
        self.cur = after;
        Ok(())
    }

    /// A loop in canonical form under a mask.
    fn divergent_loop(&mut self, l: usize, mask: Option<Value>) -> Result<(), Stop> {
        let item = self.item;
        let data = &item.loops.loops[l];
        let form = item.forms[l].ok_or(bug("a loop is not in canonical form"))?;
        let (header, latch, (from, exit)) = (data.header, data.latches[0], data.exits[0]);
        let diverges = item.shapes.diverges(from);
        for &p in &item.func.blocks[exit].params {
            self.clear(p);
        }
        let live = diverges.then(|| self.ssa.var(self.mask_type()));
        if let Some(var) = live {
            let all = self.mask_value(mask);
            self.ssa.write(self.cur, var, all);
        }
        let rare = self.rare;
        if diverges && form == Form::TopTested {
            // What is left has some lanes on, but seldom all.
            self.rare |= self.whole_rounds(l, header, latch, exit)?;
        }
        let (before, head, after) = (self.cur, self.new_block(), self.new_block());
        self.b().jump(head, &[]);
        self.cur = head;
        self.mask = match live {
            Some(var) => Some(self.ssa.read(self.func, head, var)),
            None => mask,
        };
        let open = OpenLoop { header, latch, exit, form, diverges, live, after, left: Vec::new(), again: None };
        self.loops.push(open);
        let mut ends = vec![before];
        let live_mask = self.mask;
        match live_mask {
            Some(mask) if diverges && form == Form::BottomTested && self.copies(header) => {
                self.twice(mask, |w, mask| w.round(header, head, form, mask, &mut ends))?;
            }
            mask => self.round(header, head, form, mask, &mut ends)?,
        }
        self.rare = rare;
        let left = self.loops.pop().map(|l| l.left).unwrap_or_default();
        ends.sort();
        ends.dedup();
        self.ssa.seal(self.func, head, ends);
        self.ssa.seal(self.func, after, left);
        self.cur = after;
        self.mask = mask;
        if item.masked.is_masked(exit) { self.subtree(exit, mask) } else { Ok(()) }
    }

    /// One round of a loop from its header on, to where it goes round again.
    fn round(
        &mut self,
        header: Block,
        head: Block,
        form: Form,
        mask: Option<Value>,
        ends: &mut Vec<Block>,
    ) -> Result<(), Stop> {
        self.mask = mask;
        self.block(header)?;
        if form == Form::TopTested {
            let stay = self.leave_header(header)?;
            let loop_number = self.item.loop_of.get(&header).copied();
            let inner = loop_number.map(|l| self.stay_target(l));
            match (stay, inner) {
                // All that stay may be all lanes.
                (Some(mask), Some(inner)) if self.copies(header) => {
                    return self.twice(mask, |w, mask| {
                        w.edge_masks.insert(inner, (mask, None));
                        w.children(header)?;
                        w.b().jump(head, &[]);
                        ends.push(w.cur);
                        Ok(())
                    });
                }
                _ => self.children(header)?,
            }
            self.b().jump(head, &[]);
            ends.push(self.cur);
            return Ok(());
        }
        self.term(header)?;
        if self.loops.last().is_some_and(|l| l.latch != header) {
            self.children(header)?;
        }
        let end = self.cur;
        let open = self.loops.last_mut().and_then(|l| {
            l.left.push(end);
            Some((l.again.take()?, l.after))
        });
        let (again, after) = open.ok_or(bug("a latch was not reached"))?;
        self.b().branch(again, head, after);
        ends.push(end);
        Ok(())
    }

    /// A branch that decides on another round: by what, whether true stays, and the edges that stay and leave.
    pub(super) fn stay_or_leave(&self, b: Block, exit: Block) -> Result<(Value, bool, Edge, Edge), Stop> {
        match &self.item.func.blocks[b].term {
            Term::Branch { cond, then, els } if els.block == exit => Ok((*cond, true, then.clone(), els.clone())),
            Term::Branch { cond, then, els } => Ok((*cond, false, els.clone(), then.clone())),
            _ => Err(bug("a loop's way out is no branch")),
        }
    }

    /// The masks of lanes that stay and leave, and the scalar that says whether to go round again.
    fn decide(
        &mut self,
        cond: Value,
        stays: bool,
        diverges: bool,
    ) -> Result<(Option<Value>, Option<Value>, Value), Stop> {
        let mask = self.mask;
        if !diverges {
            let c = self.base(cond)?;
            let again = if stays { c } else { self.not(c) };
            return Ok((mask, mask, again));
        }
        let c = self.lane(cond)?;
        let n = self.not(c);
        let (stay, leave) = if stays { (c, n) } else { (n, c) };
        let (stay, leave) = (self.and(mask, stay), self.and(mask, leave));
        let again = self.b().any(stay);
        Ok((Some(stay), Some(leave), again))
    }

    /// The way out of a header: goes on in a block for those that stay. Gives their mask, if lanes differ.
    fn leave_header(&mut self, header: Block) -> Result<Option<Value>, Stop> {
        let Some(&OpenLoop { exit, diverges, live, after, .. }) = self.loops.last() else {
            return Err(bug("no loop is open"));
        };
        let (cond, stays, stay_edge, leave_edge) = self.stay_or_leave(header, exit)?;
        let (stay, leave, again) = self.decide(cond, stays, diverges)?;
        self.write_params(&leave_edge, if diverges { leave } else { None }, false)?;
        if let (Some(var), Some(stay)) = (live, stay) {
            self.ssa.write(self.cur, var, stay);
        }
        self.masked_edge(&stay_edge, stay, None)?;
        self.edge_masks.insert(stay_edge.block, (stay, None));
        let (from, body) = (self.cur, self.new_block());
        self.b().branch(again, body, after);
        self.seal_one(body, from);
        self.cur = body;
        if let Some(l) = self.loops.last_mut() {
            l.left.push(from);
        }
        Ok(if diverges { stay } else { None })
    }

    /// The latch of a loop that is left from there.
    fn latch(&mut self, b: Block) -> Result<(), Stop> {
        let Some(&OpenLoop { exit, diverges, live, .. }) = self.loops.last() else {
            return Err(bug("no loop is open"));
        };
        let (cond, stays, back, leave_edge) = self.stay_or_leave(b, exit)?;
        let (stay, leave, again) = self.decide(cond, stays, diverges)?;
        self.write_params(&leave_edge, if diverges { leave } else { None }, false)?;
        self.write_params(&back, None, false)?;
        if let (Some(var), Some(stay)) = (live, stay) {
            self.ssa.write(self.cur, var, stay);
        }
        if let Some(l) = self.loops.last_mut() {
            l.again = Some(again);
        }
        Ok(())
    }
}
