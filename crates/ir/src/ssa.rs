//! On-the-fly SSA construction for variables while blocks are written.
//!
//! In come assignments at the ends of blocks ([`Ssa::write`]); out goes the value of a variable at the end of a block
//! ([`Ssa::read`]), with block parameters where control flow joins. A block is sealed once all its predecessors are
//! known. Before that, a read that reaches its start creates a parameter, whose arguments are filled in on sealing.
//!
//! Braun et al., "Simple and Efficient Construction of Static Single Assignment Form", CC 2013, with a work list
//! instead of recursion, since chains of joins are as long as kernels. Redundant parameters are left to the pass
//! `redundant-params`.

use crate::builder::Builder;
use crate::entity::{Block, Value};
use crate::function::{Function, ValueDef};
use crate::types::Type;
use rustc_hash::{FxHashMap, FxHashSet};

/// A variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Var(u32);

/// The variables of a function.
#[derive(Default, Debug)]
pub struct Ssa {
    types: Vec<Type>,
    /// The value of a variable at the end of a block.
    current_def: FxHashMap<(Block, Var), Value>,
    preds: FxHashMap<Block, Vec<Block>>,
    sealed: FxHashSet<Block>,
    /// The parameters of blocks that are not sealed yet (the paper's incomplete phis).
    incomplete: FxHashMap<Block, Vec<(Var, Value)>>,
}

impl Ssa {
    /// A new variable. Where nothing was written to it, it is zero.
    pub fn var(&mut self, ty: Type) -> Var {
        self.types.push(ty);
        Var(self.types.len() as u32 - 1)
    }

    /// The type of a variable.
    pub fn ty(&self, var: Var) -> Type {
        self.types[var.0 as usize]
    }

    /// Assigns a variable: from now on it is `value` at the end of `block`.
    pub fn write(&mut self, block: Block, var: Var, value: Value) {
        self.current_def.insert((block, var), value);
    }

    /// Seals a block: all edges to it exist. `preds` has one entry for each block that they come from.
    pub fn seal(&mut self, func: &mut Function, block: Block, preds: Vec<Block>) {
        self.preds.insert(block, preds);
        self.sealed.insert(block);
        let incomplete = self.incomplete.remove(&block).unwrap_or_default();
        // All placeholders before any argument is looked for: `fill_args` writes arguments by the number of the
        // parameter.
        for &(_, p) in &incomplete {
            self.add_placeholder_args(func, block, p);
        }
        self.fill_args(func, incomplete.into_iter().map(|(var, p)| (block, var, p)).collect());
    }

    /// The value of a variable at the end of `block`.
    pub fn read(&mut self, func: &mut Function, block: Block, var: Var) -> Value {
        let mut work = Vec::new();
        let value = self.find(func, block, var, &mut work);
        self.fill_args(func, work);
        value
    }

    /// Adds an argument for the parameter `p` to each edge to a sealed block: for now the parameter itself, so that
    /// arguments are in the order of parameters whatever the order in which they are found.
    fn add_placeholder_args(&mut self, func: &mut Function, block: Block, p: Value) {
        for &pred in &self.preds[&block] {
            for e in func.blocks[pred].term.edges_mut() {
                if e.block == block {
                    e.args.push(p);
                }
            }
        }
    }

    /// Sets the arguments of new parameters.
    fn fill_args(&mut self, func: &mut Function, mut work: Vec<(Block, Var, Value)>) {
        while let Some((block, var, p)) = work.pop() {
            let ValueDef::Param(_, index) = func.values[p].def else { continue };
            for pred in self.preds[&block].clone() {
                let value = self.find(func, pred, var, &mut work);
                for e in func.blocks[pred].term.edges_mut() {
                    if e.block == block {
                        e.args[index as usize] = value;
                    }
                }
            }
        }
    }

    fn find(&mut self, func: &mut Function, block: Block, var: Var, work: &mut Vec<(Block, Var, Value)>) -> Value {
        let mut at = block;
        let mut visited = Vec::new();
        let value = loop {
            if let Some(&v) = self.current_def.get(&(at, var)) {
                break v;
            }
            // Each block on the way gets the value in the end. A read that comes around a loop so finds the parameter
            // of the header, and ends; a later read needs no search.
            visited.push(at);
            if !self.sealed.contains(&at) {
                let p = func.add_block_param(at, self.ty(var));
                self.incomplete.entry(at).or_default().push((var, p));
                break p;
            }
            match self.preds[&at][..] {
                [] => {
                    let zero = Builder::new(func, at).iconst(self.ty(var), 0);
                    // The constant must precede all uses.
                    func.move_last_to_front(at);
                    break zero;
                }
                [only] => at = only,
                _ => {
                    let p = func.add_block_param(at, self.ty(var));
                    self.add_placeholder_args(func, at, p);
                    // The arguments come later, from the list: a search here would recurse, as deep as the joins are
                    // many.
                    work.push((at, var, p));
                    break p;
                }
            }
        };
        for b in visited {
            self.current_def.insert((b, var), value);
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BinOp, Module, Scalar, verify};

    #[test]
    fn a_loop_carries_what_it_changes() {
        let mut module = Module::new();
        let mut f = Function::new("f", vec![Type::I1], None);
        let [entry, head, exit] = std::array::from_fn(|_| f.add_block());
        let cond = f.add_block_param(entry, Type::I1);
        let mut ssa = Ssa::default();
        let ty = Type::vector(Scalar::I1, 8);
        let (x, never) = (ssa.var(Type::I32), ssa.var(ty));
        ssa.seal(&mut f, entry, vec![]);
        let one = Builder::new(&mut f, entry).iconst(Type::I32, 1);
        ssa.write(entry, x, one);
        Builder::new(&mut f, entry).jump(head, &[]);
        let old = ssa.read(&mut f, head, x);
        let new = Builder::new(&mut f, head).binary(BinOp::Add, old, one);
        ssa.write(head, x, new);
        Builder::new(&mut f, head).branch(cond, head, exit);
        ssa.seal(&mut f, head, vec![entry, head]);
        ssa.seal(&mut f, exit, vec![head]);
        assert_eq!(ssa.read(&mut f, exit, x), new);
        let _ = ssa.read(&mut f, exit, never);
        Builder::new(&mut f, exit).ret(None);
        module.funcs.push(f);
        assert_eq!(verify(&module).first(), None, "{module}");
    }
}
