//! Use lists: for each value, the instructions and terminators of the layout that use it.

use crate::entity::{Block, Entity, Inst, Value};
use crate::function::Function;

/// A user of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum User {
    /// An instruction, and its block.
    Inst(Block, Inst),
    /// The terminator of a block: its condition, its return value, or an argument of an edge.
    Term(Block),
}

/// Computed once; stale as soon as an operand changes.
#[derive(Clone, Debug)]
pub struct Uses {
    users: Vec<Vec<User>>,
}

impl Uses {
    /// The uses in a function.
    pub fn new(func: &Function) -> Uses {
        let mut users = vec![Vec::new(); func.values.len()];
        for &b in &func.layout {
            for &i in &func.blocks[b].insts {
                for &a in &func.insts[i].args {
                    users[a.index()].push(User::Inst(b, i));
                }
            }
            func.blocks[b].term.for_each_use(|v| users[v.index()].push(User::Term(b)));
        }
        Uses { users }
    }

    /// The users of a value in layout order, one entry per use: an instruction with the value as both operands is
    /// listed twice.
    pub fn of(&self, v: Value) -> &[User] {
        &self.users[v.index()]
    }
}
