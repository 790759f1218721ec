//! Replaces slots by values: places block parameters on dominance frontiers, then renames in dominator tree order
//! (Cytron et al., "Efficiently Computing Static Single Assignment Form", 1991).

use super::slots::{Location, Slot, Slots};
use crate::util::Renames;
use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::{Args, Block, Builder, CastOp, Entity, Flags, Function, Inst, Op, Scalar, Span, Type, Value};

pub(super) fn run(func: &mut Function, slots: &Slots) {
    let cfg = Cfg::new(func);
    let dom = DomTree::new(func, &cfg);
    // Parameters exist before the renaming begins, because a back edge hands an argument to a header that was renamed
    // long before.
    let merges = place_params(func, slots, &cfg, &dom);
    let params: Vec<Vec<(usize, Value)>> = merges
        .into_iter()
        .enumerate()
        .map(|(b, list)| list.into_iter().map(|s| (s, func.add_block_param(Block::new(b), slots.list[s].ty))).collect())
        .collect();
    let entry = func.entry();
    let mut renamer = Renamer {
        func,
        slots,
        current: vec![None; slots.list.len()],
        undo: Vec::new(),
        zeros: vec![None; slots.list.len()],
        first: Vec::new(),
        renames: Renames::default(),
        block: entry,
        span: Span::NONE,
    };
    // In dominator tree order; leaving a block restores the values from before it.
    enum Step {
        Enter(Block),
        Leave(usize),
    }
    let mut stack = vec![Step::Enter(entry)];
    while let Some(step) = stack.pop() {
        match step {
            Step::Leave(mark) => renamer.take_back(mark),
            Step::Enter(b) => {
                // Below the children on the stack, so that it is popped after them.
                stack.push(Step::Leave(renamer.undo.len()));
                renamer.block(b, &params);
                stack.extend(dom.children(b).iter().map(|&c| Step::Enter(c)));
            }
        }
    }
    let (first, renames) = (renamer.first, renamer.renames);
    // At the very start, where they dominate every use. The renaming takes out and refills the entry's instructions, so
    // this is done after it.
    func.blocks[entry].insts.splice(0..0, first);
    renames.apply(func);
}

/// The slots that each block gets as parameters, by block index: where definitions join and the slot is live.
fn place_params(func: &Function, slots: &Slots, cfg: &Cfg, dom: &DomTree) -> Vec<Vec<usize>> {
    let n = func.blocks.len();
    let mut writes: Vec<Vec<Block>> = vec![Vec::new(); slots.list.len()];
    let mut reads: Vec<Vec<Block>> = vec![Vec::new(); slots.list.len()];
    // For each slot, the last block, by its number in the order, that wrote it.
    let mut written = vec![usize::MAX; slots.list.len()];
    for (order, &b) in cfg.rpo().iter().enumerate() {
        for &i in &func.blocks[b].insts {
            for_each_access(func, slots, i, |slot, read, write| {
                // A read counts only if no write of the same block precedes it: otherwise the slot need not be live
                // at the start.
                if read && written[slot] != order && reads[slot].last() != Some(&b) {
                    reads[slot].push(b);
                }
                if write {
                    if written[slot] != order {
                        writes[slot].push(b);
                    }
                    written[slot] = order;
                }
            });
        }
    }
    let frontier = frontiers(func, cfg, dom);
    let mut merges = vec![Vec::new(); n];
    let (mut live, mut placed) = (vec![usize::MAX; n], vec![usize::MAX; n]);
    let mut defines = vec![usize::MAX; n];
    for slot in 0..slots.list.len() {
        for &b in &writes[slot] {
            defines[b.index()] = slot;
        }
        // Liveness of one slot: without it, a variable of a loop body would get a parameter in each header around
        // (pruned SSA).
        let mut stack = reads[slot].clone();
        // Backwards from the reads to the writes. The marks hold the slot's number, so that they need not be
        // cleared for the next slot.
        while let Some(b) = stack.pop() {
            if std::mem::replace(&mut live[b.index()], slot) == slot {
                continue;
            }
            // A block that writes the slot ends the walk: before its write the slot need not be live. Where the block
            // also reads it first, `reads` has the block itself.
            stack.extend(cfg.preds(b).iter().copied().filter(|p| defines[p.index()] != slot));
        }
        let mut work = writes[slot].clone();
        while let Some(b) = work.pop() {
            for &f in &frontier[b.index()] {
                if live[f.index()] == slot && std::mem::replace(&mut placed[f.index()], slot) != slot {
                    merges[f.index()].push(slot);
                    // A parameter is a definition too, so that its own frontier may need one (the iterated dominance
                    // frontier).
                    work.push(f);
                }
            }
        }
    }
    merges
}

/// Dominance frontiers, by block index.
fn frontiers(func: &Function, cfg: &Cfg, dom: &DomTree) -> Vec<Vec<Block>> {
    let mut frontier: Vec<Vec<Block>> = vec![Vec::new(); func.blocks.len()];
    for &b in cfg.rpo() {
        // Only a join is in the frontier of anything.
        if cfg.preds(b).len() < 2 {
            continue;
        }
        for &p in cfg.preds(b) {
            let mut runner = Some(p);
            while let Some(r) = runner.filter(|&r| Some(r) != dom.idom(b)) {
                // Another predecessor came this way, so the blocks further up have it too.
                if frontier[r.index()].last() == Some(&b) {
                    break;
                }
                frontier[r.index()].push(b);
                runner = dom.idom(r);
            }
        }
    }
    frontier
}

/// Calls `f(slot, whether it is read, whether it is written)`. Writing a part reads the rest.
fn for_each_access(func: &Function, slots: &Slots, i: Inst, mut f: impl FnMut(usize, bool, bool)) {
    let data = &func.insts[i];
    let location = |k: usize| data.args.get(k).and_then(|&a: &Value| slots.location(a));
    match data.op {
        Op::Load { .. } => {
            if let Some(slot) = location(0).and_then(|p| slots.slot_at(p)) {
                f(slot, true, false);
            }
        }
        Op::Store { .. } => {
            if let Some(slot) = location(0).and_then(|p| slots.slot_at(p)) {
                // A store of `v.x` keeps the other lanes of `v`, so the slot must be live before it.
                let part = u64::from(func.ty(data.args[1]).bytes()) != slots.list[slot].size();
                f(slot, part, true);
            }
        }
        Op::MemSet { size, .. } => {
            location(0).into_iter().flat_map(|p| slots.slots_in(p, size)).for_each(|s| f(s, false, true));
        }
        Op::MemCopy { size, .. } => {
            // The read is reported first: a slot that is copied onto itself is live before the copy.
            location(1).into_iter().flat_map(|p| slots.slots_in(p, size)).for_each(|s| f(s, true, false));
            location(0).into_iter().flat_map(|p| slots.slots_in(p, size)).for_each(|s| f(s, false, true));
        }
        _ => {}
    }
}

struct Renamer<'a> {
    func: &'a mut Function,
    slots: &'a Slots,
    /// The current value of each slot.
    current: Vec<Option<Value>>,
    undo: Vec<(usize, Option<Value>)>,
    zeros: Vec<Option<Value>>,
    /// Zeros, for the start of the entry block.
    first: Vec<Inst>,
    renames: Renames,
    block: Block,
    span: Span,
}

impl Renamer<'_> {
    fn take_back(&mut self, mark: usize) {
        while self.undo.len() > mark {
            if let Some((slot, old)) = self.undo.pop() {
                self.current[slot] = old;
            }
        }
    }

    fn set(&mut self, slot: usize, v: Value) {
        let old = self.current[slot].replace(v);
        self.undo.push((slot, old));
    }

    fn get(&mut self, slot: usize) -> Value {
        // Nothing was written on this path. One zero for each slot, made when the first read needs it.
        if let Some(v) = self.current[slot].or(self.zeros[slot]) {
            return v;
        }
        let ty = self.slots.list[slot].ty;
        let inst = self.func.make_inst(Op::Const(0), Args::new(), Some(ty), Flags::empty(), Span::NONE);
        self.first.push(inst);
        self.zeros[slot] = self.func.insts[inst].result;
        self.zeros[slot].unwrap_or_else(|| Value::new(0))
    }

    fn at(&mut self) -> Builder<'_> {
        let mut b = Builder::new(self.func, self.block);
        b.span = self.span;
        b
    }

    fn block(&mut self, b: Block, params: &[Vec<(usize, Value)>]) {
        self.block = b;
        for &(slot, v) in &params[b.index()] {
            self.set(slot, v);
        }
        for i in std::mem::take(&mut self.func.blocks[b].insts) {
            // Operands first: a load that was replaced before may be the value that this instruction stores.
            for k in 0..self.func.insts[i].args.len() {
                let v = self.renames.get(self.func.insts[i].args[k]);
                self.func.insts[i].args[k] = v;
            }
            self.span = self.func.insts[i].span;
            if !self.replace(i) {
                self.func.blocks[b].insts.push(i);
            }
        }
        let mut term = self.func.blocks[b].term.clone();
        term.map_uses(|v| self.renames.get(v));
        for e in term.edges_mut() {
            // In the order in which `run` added the parameters, since arguments and parameters match by position.
            for &(slot, _) in &params[e.block.index()] {
                let v = self.get(slot);
                e.args.push(v);
            }
        }
        self.func.blocks[b].term = term;
    }

    /// Replaces an access to slots. Says whether the instruction was one.
    fn replace(&mut self, i: Inst) -> bool {
        let data = &self.func.insts[i];
        let location = |k: usize| data.args.get(k).and_then(|&a: &Value| self.slots.location(a));
        let (to, args, result) = (location(0), data.args.clone(), data.result);
        match data.op {
            Op::Load { .. } => {
                let (Some(location), Some(r)) = (to, result) else { return false };
                let v = self.read(location, self.func.ty(r));
                self.renames.set(r, v);
            }
            Op::Store { .. } => {
                let Some(location) = to else { return false };
                self.write(location, args[1]);
            }
            Op::MemSet { size, byte, .. } => {
                let Some(location) = to else { return false };
                for slot in self.slots.slots_in(location, size) {
                    let ty = self.slots.list[slot].ty;
                    // The byte in each byte of a lane; narrower lanes take the low bits.
                    let v = self.at().iconst(ty, u64::from(byte) * 0x0101_0101_0101_0101);
                    self.set(slot, v);
                }
            }
            Op::MemCopy { size, align } => {
                let from = location(1);
                match (to, from) {
                    (None, None) => return false,
                    (_, Some(from)) => self.copy_out(to, args[0], from, size, align),
                    (Some(to), None) => {
                        for slot in self.slots.slots_in(to, size) {
                            let Slot { offset, ty } = self.slots.list[slot];
                            let (delta, mut b) = (offset - to.offset, self.at());
                            let p = b.ptr_offset(args[1], delta);
                            let v = b.load(ty, p, align_at(align, delta), Flags::empty());
                            self.set(slot, v);
                        }
                    }
                }
            }
            _ => return false,
        }
        true
    }

    /// Copies slots to other slots or to memory at `p`. All are read before one is written: both may be parts of one
    /// array.
    fn copy_out(&mut self, to: Option<Location>, p: Value, from: Location, size: u64, align: u32) {
        // The slots of both ends agree: `Finder::spread_copies` has given each end the accesses of the other.
        let read: Vec<(u64, Value)> = self
            .slots
            .slots_in(from, size)
            .map(|slot| (self.slots.list[slot].offset - from.offset, self.get(slot)))
            .collect();
        for (delta, v) in read {
            match to {
                Some(to) => self.write(Location { offset: to.offset + delta, ..to }, v),
                None => {
                    let mut b = self.at();
                    let p = b.ptr_offset(p, delta);
                    b.store(p, v, align_at(align, delta), Flags::empty());
                }
            }
        }
    }

    /// The part of a slot: the number of its first lane, and how many lanes.
    fn part(&self, slot: usize, offset: u64, size: u64) -> (u16, u16) {
        let s = &self.slots.list[slot];
        let lane = u64::from(s.ty.scalar.bytes());
        (((offset - s.offset) / lane) as u16, (size / lane) as u16)
    }

    fn read(&mut self, location: Location, ty: Type) -> Value {
        let Some(slot) = self.slots.slot_at(location) else { return self.nothing(ty) };
        let whole = self.get(slot);
        let have = self.slots.list[slot].ty;
        if have.bytes() == ty.bytes() {
            return self.convert(whole, ty);
        }
        let (lane, count) = self.part(slot, location.offset, ty.bytes().into());
        let v = if count == 1 {
            self.at().extract_lane(whole, lane)
        } else {
            let mask: Vec<u16> = (lane..lane + count).collect();
            self.at().shuffle(whole, whole, &mask)
        };
        self.convert(v, ty)
    }

    /// Not reached: every access has a slot.
    fn nothing(&mut self, ty: Type) -> Value {
        self.at().iconst(ty, 0)
    }

    fn write(&mut self, location: Location, v: Value) {
        let Some(slot) = self.slots.slot_at(location) else { return };
        let (have, ty) = (self.slots.list[slot].ty, self.func.ty(v));
        if have.bytes() == ty.bytes() {
            let v = self.convert(v, have);
            return self.set(slot, v);
        }
        let (lane, count) = self.part(slot, location.offset, ty.bytes().into());
        let mut whole = self.get(slot);
        let part = self.convert(v, Type::vector(have.scalar, count));
        for k in 0..count {
            let mut b = self.at();
            let x = if count == 1 { part } else { b.extract_lane(part, k) };
            whole = b.insert_lane(whole, lane + k, x);
        }
        self.set(slot, whole);
    }

    /// The same bits as another type of the same size.
    fn convert(&mut self, v: Value, to: Type) -> Value {
        let from = self.func.ty(v);
        let mut b = self.at();
        match (from, to) {
            _ if from == to => v,
            // A pointer has no bitcast: one pointer becomes another by its space, and a number by way of an `i64` of
            // its bits.
            (f, t) if f.is_ptr() && t.is_ptr() => b.cast(CastOp::Space, v, t),
            (f, t) => {
                let v = if f.is_ptr() { b.cast(CastOp::PtrToInt, v, Type::I64) } else { v };
                let plain = if t.is_ptr() { t.with_scalar(Scalar::I64) } else { t };
                let v = if b.ty(v) == plain { v } else { b.cast(CastOp::Bitcast, v, plain) };
                if t.is_ptr() { b.cast(CastOp::IntToPtr, v, t) } else { v }
            }
        }
    }
}

/// The alignment known at `delta` bytes after an address of this alignment.
fn align_at(align: u32, delta: u64) -> u32 {
    if delta == 0 { align } else { align.min(1 << delta.trailing_zeros().min(12)) }
}
