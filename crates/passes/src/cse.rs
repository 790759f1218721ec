//! Common subexpressions: a pure operation that a dominating block has computed already is not computed again.

use cloom_ir::cfg::Cfg;
use cloom_ir::dom::DomTree;
use cloom_ir::{Args, Block, Entity, Flags, Function, Op, Type, Value};
use rustc_hash::FxHashMap;

#[derive(PartialEq, Eq, Hash)]
struct Key {
    op: Op,
    args: Args,
    ty: Type,
    flags: Flags,
}

/// Walks the dominator tree with a scoped table.
pub fn run(func: &mut Function) {
    let cfg = Cfg::new(func);
    let dom = DomTree::new(func, &cfg);
    let mut table: FxHashMap<Key, Vec<Value>> = FxHashMap::default();
    let mut replaced: Vec<Option<Value>> = vec![None; func.values.len()];
    // A visit enters a block, or leaves the scope of what it added.
    enum Visit {
        Enter(Block),
        Leave(Vec<Key>),
    }
    let mut stack = vec![Visit::Enter(func.entry())];
    while let Some(visit) = stack.pop() {
        let b = match visit {
            Visit::Enter(b) => b,
            Visit::Leave(keys) => {
                for key in keys {
                    if let Some(values) = table.get_mut(&key) {
                        values.pop();
                    }
                }
                continue;
            }
        };
        let mut added = Vec::new();
        let mut insts = std::mem::take(&mut func.blocks[b].insts);
        insts.retain(|&i| {
            for a in &mut func.insts[i].args {
                *a = replaced[a.index()].unwrap_or(*a);
            }
            let data = &func.insts[i];
            let Some(r) = data.result.filter(|_| data.op.is_pure()) else { return true };
            let key = || Key { op: data.op.clone(), args: data.args.clone(), ty: func.values[r].ty, flags: data.flags };
            let known = table.entry(key()).or_default();
            if let Some(&v) = known.last() {
                replaced[r.index()] = Some(v);
                return false;
            }
            known.push(r);
            added.push(key());
            true
        });
        func.blocks[b].insts = insts;
        stack.push(Visit::Leave(added));
        stack.extend(dom.children(b).iter().map(|&c| Visit::Enter(c)));
    }
    func.map_uses(|v| replaced[v.index()].unwrap_or(v));
}
