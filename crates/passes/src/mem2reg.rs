//! Private variables to SSA values.
//!
//! A variable is promoted if every use of its address is a load or a store at a constant offset, and the places accessed do not overlap
//! unless they are equal: so scalars, vectors, and the fields of structures and elements of arrays that are indexed by constants. Block
//! parameters are placed where a definition's dominance ends and the variable is live (Cytron et al., 1991, pruned).

use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::{Block, CastOp, Edge, Entity, Flags, Function, Inst, Op, Span, Type, Value};
use rustc_hash::FxHashMap;
use smallvec::smallvec;

/// A place in a variable, accessed as a whole.
#[derive(Clone, Copy)]
struct Slot {
    ty: Type,
}

/// What an instruction does to a slot.
#[derive(Clone, Copy)]
enum Access {
    Load(usize),
    Store(usize),
}

/// Promotes what can be promoted.
pub fn run(func: &mut Function) {
    crate::simplify_cfg::drop_unreachable(func);
    let (slots, access) = find_slots(func);
    if slots.is_empty() {
        return;
    }
    let cfg = Cfg::new(func);
    let dom = DomTree::new(func, &cfg);
    let frontier = frontiers(func, &cfg, &dom);
    let params = place_params(func, &cfg, &slots, &access, &frontier);
    rename(func, &dom, &slots, &access, &params);
}

/// Slots of all promotable variables, and the accesses to them by instruction.
fn find_slots(func: &Function) -> (Vec<Slot>, FxHashMap<Inst, Access>) {
    // The variable and the constant offset that a pointer stands for.
    let mut place: FxHashMap<Value, (Value, u64)> = FxHashMap::default();
    let mut good: FxHashMap<Value, bool> = FxHashMap::default();
    let mut touched: FxHashMap<Value, Vec<(Inst, u64, Type, bool)>> = FxHashMap::default();
    let cfg = Cfg::new(func);
    for &b in cfg.rpo() {
        for &i in &func.blocks[b].insts {
            let data = &func.insts[i];
            if let (Op::Alloca { .. }, Some(r)) = (&data.op, data.result) {
                place.insert(r, (r, 0));
                good.insert(r, true);
                continue;
            }
            for (n, &a) in data.args.iter().enumerate() {
                let Some(&(variable, offset)) = place.get(&a) else { continue };
                let plain = !data.flags.contains(Flags::VOLATILE);
                match (&data.op, data.result) {
                    (Op::PtrAdd, Some(r)) if n == 0 && func.const_bits(data.args[1]).is_some() => {
                        let bytes = func.const_bits(data.args[1]).unwrap_or(0);
                        place.insert(r, (variable, offset.wrapping_add(bytes)));
                    }
                    (Op::Load { .. }, Some(r)) if plain => {
                        touched.entry(variable).or_default().push((i, offset, func.ty(r), false));
                    }
                    (Op::Store { .. }, _) if plain && n == 0 => {
                        touched.entry(variable).or_default().push((i, offset, func.ty(data.args[1]), true));
                    }
                    _ => {
                        good.insert(variable, false);
                    }
                }
            }
        }
        func.blocks[b].term.for_each_use(|v| {
            if let Some(&(variable, _)) = place.get(&v) {
                good.insert(variable, false);
            }
        });
    }
    let mut slots = Vec::new();
    let mut access = FxHashMap::default();
    for (variable, mut uses) in touched {
        let size = match func.def_op(variable) {
            Some(Op::Alloca { size, .. }) => *size,
            _ => 0,
        };
        uses.sort_by_key(|u| (u.1, u.2.bytes()));
        let inside =
            |u: &(Inst, u64, Type, bool)| u.1.checked_add(u64::from(u.2.bytes())).is_some_and(|end| end <= size);
        let fits = |w: &[(Inst, u64, Type, bool)]| {
            let (a, b) = (&w[0], &w[1]);
            if a.1 == b.1 { convertible(a.2, b.2) } else { a.1 + u64::from(a.2.bytes()) <= b.1 }
        };
        if !good[&variable] || !uses.iter().all(inside) || !uses.windows(2).all(fits) {
            continue;
        }
        let mut last = None;
        for (inst, offset, ty, store) in uses {
            if last != Some(offset) {
                last = Some(offset);
                slots.push(Slot { ty });
            }
            let slot = slots.len() - 1;
            access.insert(inst, if store { Access::Store(slot) } else { Access::Load(slot) });
        }
    }
    (slots, access)
}

/// Whether a value of one type can stand for the bytes of the other.
fn convertible(a: Type, b: Type) -> bool {
    a == b || a.bytes() == b.bytes() && (!a.is_ptr() && !b.is_ptr() || a.lanes == 1 && b.lanes == 1)
}

fn frontiers(func: &Function, cfg: &Cfg, dom: &DomTree) -> Vec<Vec<Block>> {
    let mut frontier: Vec<Vec<Block>> = vec![Vec::new(); func.blocks.len()];
    for &b in cfg.rpo() {
        if cfg.preds(b).len() < 2 {
            continue;
        }
        for &p in cfg.preds(b) {
            let mut runner = Some(p);
            while runner != dom.idom(b)
                && let Some(r) = runner
            {
                if frontier[r.index()].last() != Some(&b) {
                    frontier[r.index()].push(b);
                }
                runner = dom.idom(r);
            }
        }
    }
    frontier
}

/// Adds block parameters: for each block, the slots in order of the parameters added at its end.
fn place_params(
    func: &mut Function,
    cfg: &Cfg,
    slots: &[Slot],
    access: &FxHashMap<Inst, Access>,
    frontier: &[Vec<Block>],
) -> Vec<Vec<(usize, Value)>> {
    let n = func.blocks.len();
    let mut defs: Vec<Vec<Block>> = vec![Vec::new(); slots.len()];
    let mut exposed: Vec<Vec<Block>> = vec![Vec::new(); slots.len()];
    for &b in cfg.rpo() {
        for i in &func.blocks[b].insts {
            match access.get(i) {
                Some(&Access::Store(s)) if defs[s].last() != Some(&b) => defs[s].push(b),
                Some(&Access::Load(s)) if defs[s].last() != Some(&b) && exposed[s].last() != Some(&b) => {
                    exposed[s].push(b)
                }
                _ => {}
            }
        }
    }
    let mut params: Vec<Vec<(usize, Value)>> = vec![Vec::new(); n];
    let (mut live, mut placed, mut defined) = (vec![usize::MAX; n], vec![usize::MAX; n], vec![usize::MAX; n]);
    for (s, slot) in slots.iter().enumerate() {
        for b in &defs[s] {
            defined[b.index()] = s;
        }
        let mut stack = std::mem::take(&mut exposed[s]);
        while let Some(b) = stack.pop() {
            if std::mem::replace(&mut live[b.index()], s) == s {
                continue;
            }
            stack.extend(cfg.preds(b).iter().copied().filter(|p| defined[p.index()] != s));
        }
        let mut stack = defs[s].clone();
        while let Some(b) = stack.pop() {
            for &f in &frontier[b.index()] {
                if live[f.index()] != s || std::mem::replace(&mut placed[f.index()], s) == s {
                    continue;
                }
                let v = func.add_block_param(f, slot.ty);
                params[f.index()].push((s, v));
                stack.push(f);
            }
        }
    }
    params
}

fn rename(
    func: &mut Function,
    dom: &DomTree,
    slots: &[Slot],
    access: &FxHashMap<Inst, Access>,
    params: &[Vec<(usize, Value)>],
) {
    let entry = func.entry();
    // What a variable holds before its first store: anything; zero is as good, and deterministic.
    let zero: Vec<Value> = slots
        .iter()
        .map(|slot| {
            let inst = func.make_inst(Op::Const(0), smallvec![], Some(slot.ty), Flags::empty(), Span::NONE);
            func.blocks[entry].insts.insert(0, inst);
            func.insts[inst].result.unwrap_or(Value::new(0))
        })
        .collect();
    let mut current = zero;
    let mut replaced: FxHashMap<Value, Value> = FxHashMap::default();
    enum Visit {
        Enter(Block),
        Leave(Vec<(usize, Value)>),
    }
    let mut stack = vec![Visit::Enter(entry)];
    while let Some(visit) = stack.pop() {
        let b = match visit {
            Visit::Enter(b) => b,
            Visit::Leave(old) => {
                old.into_iter().rev().for_each(|(s, v)| current[s] = v);
                continue;
            }
        };
        let mut undo = Vec::new();
        let mut set =
            |current: &mut Vec<Value>, s: usize, v: Value| undo.push((s, std::mem::replace(&mut current[s], v)));
        for &(s, v) in &params[b.index()] {
            set(&mut current, s, v);
        }
        let insts = std::mem::take(&mut func.blocks[b].insts);
        for i in insts {
            match access.get(&i) {
                Some(&Access::Load(s)) => {
                    if let Some(r) = func.insts[i].result {
                        let ty = func.ty(r);
                        let v = convert(func, b, current[s], ty, func.insts[i].span);
                        replaced.insert(r, v);
                    }
                }
                Some(&Access::Store(s)) => {
                    let x = func.insts[i].args[1];
                    let x = resolve(&replaced, x);
                    let v = convert(func, b, x, slots[s].ty, func.insts[i].span);
                    set(&mut current, s, v);
                }
                None => func.blocks[b].insts.push(i),
            }
        }
        let mut term = std::mem::replace(&mut func.blocks[b].term, cloom_ir::Term::Unreachable);
        for e in term.edges_mut() {
            add_args(e, &params[e.block.index()], &current);
        }
        func.blocks[b].term = term;
        stack.push(Visit::Leave(undo));
        stack.extend(dom.children(b).iter().map(|&c| Visit::Enter(c)));
    }
    func.map_uses(|v| resolve(&replaced, v));
    crate::dce::run(func);
}

fn add_args(e: &mut Edge, params: &[(usize, Value)], current: &[Value]) {
    e.args.extend(params.iter().map(|&(s, _)| current[s]));
}

fn resolve(replaced: &FxHashMap<Value, Value>, mut v: Value) -> Value {
    while let Some(&next) = replaced.get(&v) {
        v = next;
    }
    v
}

/// The value as another type of as many bytes, computed at the end of the block.
fn convert(func: &mut Function, b: Block, v: Value, ty: Type, span: Span) -> Value {
    let from = func.ty(v);
    if from == ty {
        return v;
    }
    let step = |func: &mut Function, op: CastOp, v: Value, ty: Type| {
        let inst = func.make_inst(Op::Cast(op), smallvec![v], Some(ty), Flags::empty(), span);
        func.blocks[b].insts.push(inst);
        func.insts[inst].result.unwrap_or(v)
    };
    match (from.is_ptr(), ty.is_ptr()) {
        (true, true) => step(func, CastOp::Space, v, ty),
        (true, false) => {
            let v = step(func, CastOp::PtrToInt, v, Type::I64);
            convert(func, b, v, ty, span)
        }
        (false, true) => {
            let v = convert(func, b, v, Type::I64, span);
            step(func, CastOp::IntToPtr, v, ty)
        }
        (false, false) => step(func, CastOp::Bitcast, v, ty),
    }
}
