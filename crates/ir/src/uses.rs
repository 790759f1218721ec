//! Who uses a value: one list per value, of instructions and terminators in blocks that count.

use crate::entity::{Block, Entity, Inst, Value};
use crate::function::Function;

/// Something that uses a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum User {
    /// An instruction, and the block where it stands.
    Inst(Block, Inst),
    /// The terminator of a block: as what decides, as what is returned, or as an argument of an edge.
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

    /// The users of a value in order of place, one entry per use: an instruction with the value as both operands stands
    /// twice.
    pub fn of(&self, v: Value) -> &[User] {
        &self.users[v.index()]
    }
}
