//! Dead code: instructions whose results nobody needs, and block parameters likewise.

use cloom_ir::{Entity, Function, Value, ValueDef};

/// Keeps what has an effect and what that needs.
pub fn run(func: &mut Function) {
    let mut live = vec![false; func.values.len()];
    let mut work: Vec<Value> = Vec::new();
    let need = |v: Value, live: &mut Vec<bool>, work: &mut Vec<Value>| {
        if !std::mem::replace(&mut live[v.index()], true) {
            work.push(v);
        }
    };
    let volatile = cloom_ir::Flags::VOLATILE;
    for &b in &func.layout {
        for &i in &func.blocks[b].insts {
            let data = &func.insts[i];
            if data.op.has_effect() || data.flags.contains(volatile) {
                data.args.iter().for_each(|&a| need(a, &mut live, &mut work));
            }
        }
        if let Some(v) = func.blocks[b].term.operand() {
            need(v, &mut live, &mut work);
        }
    }
    // Edges into each block, to follow a live parameter to its arguments.
    let mut incoming: Vec<Vec<cloom_ir::Block>> = vec![Vec::new(); func.blocks.len()];
    for &b in &func.layout {
        for e in func.blocks[b].term.edges() {
            if incoming[e.block.index()].last() != Some(&b) {
                incoming[e.block.index()].push(b);
            }
        }
    }
    while let Some(v) = work.pop() {
        match func.values[v].def {
            ValueDef::Inst(i) => func.insts[i].args.iter().for_each(|&a| need(a, &mut live, &mut work)),
            ValueDef::Param(b, n) => {
                for &p in &incoming[b.index()] {
                    for e in func.blocks[p].term.edges() {
                        if e.block == b {
                            need(e.args[n as usize], &mut live, &mut work);
                        }
                    }
                }
            }
        }
    }
    let entry = func.entry();
    for k in 0..func.layout.len() {
        let b = func.layout[k];
        let mut insts = std::mem::take(&mut func.blocks[b].insts);
        insts.retain(|&i| {
            let data = &func.insts[i];
            data.op.has_effect() || data.flags.contains(volatile) || data.result.is_some_and(|r| live[r.index()])
        });
        func.blocks[b].insts = insts;
        if b != entry {
            for n in (0..func.blocks[b].params.len()).rev() {
                if !live[func.blocks[b].params[n].index()] {
                    func.remove_block_param(b, n);
                }
            }
        }
    }
}
