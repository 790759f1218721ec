//! The memory of a program's variables: program-scope variables in global memory, which all kernels of the program
//! share and which keep their values from launch to launch.
//!
//! In comes a linked module; each variable gets its [place](crate::Global::place) in one block of memory, and the
//! block's initial content comes out. The runtime makes a block for each device when the program is built, and code
//! refers to a variable by the block's address and the place.
//!
//! Every kernel has an object of its own, with the constants that it uses, so that a constant has as many addresses
//! as kernels use it. A variable that holds the address of a constant needs one address, and the content of a
//! constant that holds the address of a variable is not known before the block exists. Such constants lie in the
//! block, too.

use crate::entity::{Arena, Entity, GlobalRef};
use crate::module::{Global, GlobalLinkage, Module};
use crate::types::Space;

/// The memory of a program's variables.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Variables {
    /// Bytes; 0 if there are none.
    pub size: u64,
    /// What stands where at first, by offset in bytes; the rest is zero.
    pub init: Vec<(u64, Vec<u8>)>,
    /// Addresses in it: the offset where eight bytes hold one, and what it is relative to the block's beginning.
    pub relocs: Vec<(u64, i64)>,
}

impl Module {
    /// Gives each variable of a linked program its place, and takes it away from all else. A program has the same
    /// places each time.
    pub fn place_variables(&mut self) {
        let members = members(&self.globals);
        let mut end = 0u64;
        for (global, is_member) in self.globals.values_mut().zip(members) {
            global.place = is_member.then(|| {
                let at = end.next_multiple_of(u64::from(global.align.max(1)));
                // One byte at least, so that no two variables have one address.
                end = at.saturating_add(global.size.max(1));
                at
            });
        }
    }

    /// The memory of the variables that have places.
    pub fn variables(&self) -> Variables {
        let mut all = Variables::default();
        for global in self.globals.values() {
            let Some(at) = global.place else { continue };
            // A multiple of each alignment: a block is aligned to as much as its size (up to a page).
            let end = at.saturating_add(global.size.max(1));
            all.size = all.size.max(end.checked_next_multiple_of(u64::from(global.align.max(1))).unwrap_or(end));
            if !global.init.is_empty() {
                all.init.push((at, global.init.clone()));
            }
            for reloc in &global.relocs {
                if let Some(target) = self.globals.get(reloc.target).and_then(|g| g.place) {
                    all.relocs.push((at + reloc.offset, (target as i64).wrapping_add(reloc.addend)));
                }
            }
        }
        all
    }
}

/// Which globals lie in the block: variables; constants that those point to; constants that point to what lies there.
fn members(globals: &Arena<GlobalRef, Global>) -> Vec<bool> {
    let mut is_member = vec![false; globals.len()];
    let mut users: Vec<Vec<GlobalRef>> = vec![Vec::new(); globals.len()];
    for (g, global) in globals.iter() {
        global.relocs.iter().for_each(|r| users[r.target.index()].push(g));
    }
    let is_defined = |g: &Global| g.space == Space::Global && g.linkage != GlobalLinkage::Import;
    let mut list: Vec<GlobalRef> = globals.iter().filter(|(_, g)| is_defined(g)).map(|(r, _)| r).collect();
    while let Some(g) = list.pop() {
        // In both directions: what a member points to needs one address, and what points to a member has content that
        // depends on the block's address.
        if !std::mem::replace(&mut is_member[g.index()], true) {
            list.extend(globals[g].relocs.iter().map(|r| r.target));
            list.extend(&users[g.index()]);
        }
    }
    is_member
}

#[cfg(test)]
mod tests {
    use crate::parse;

    const TEXT: &str = "\
global @count global size 4 align 4 init x\"2a\"
global @alone constant size 4 align 4 init x\"01\"
global @text constant size 3 align 1 init x\"6869\"
global @where global size 8 align 8 init x\"0000000000000000\" reloc 0 @text + 1
global @list constant size 8 align 8 init x\"0000000000000000\" reloc 0 @where + 0
";

    #[test]
    fn variables_and_what_is_tied_to_them_have_places() {
        let mut module = parse(TEXT).unwrap();
        module.place_variables();
        let places: Vec<_> = module.globals.values().map(|g| g.place).collect();
        assert_eq!(places, [Some(0), None, Some(4), Some(8), Some(16)]);
        let all = module.variables();
        assert_eq!((all.size, all.relocs), (24, vec![(8, 5), (16, 8)]));
        assert_eq!(all.init[..2], [(0, vec![0x2a]), (4, b"hi".to_vec())]);
        assert_eq!(parse(&module.to_string()).unwrap(), module, "the text has the places");
    }

    #[test]
    fn constants_alone_need_no_block() {
        let mut module = parse("global @a constant size 4 align 4 at 8\n").unwrap();
        module.place_variables();
        assert_eq!((module.globals.values().next().unwrap().place, module.variables().size), (None, 0));
    }
}
