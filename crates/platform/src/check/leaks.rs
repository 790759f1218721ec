//! Objects that the host program has made: where, and which of them it never releases.

use super::command::Used;
use super::stack::{self, Stack};
use cloom_check::Finding;
use cloom_check::finding::Origin;
use cloom_runtime::{CheckedArg, CheckedLaunch, NewObject, UsedMemory};
use std::collections::BTreeMap;

/// What the runtime calls shared virtual memory.
const SHARED: &str = "shared virtual memory";

struct Object {
    what: &'static str,
    bytes: u64,
    storage: Option<usize>,
    stack: Stack,
}

/// The objects that exist.
#[derive(Default)]
pub struct Objects(BTreeMap<usize, Object>);

impl Objects {
    /// An object begins.
    pub fn created(&mut self, object: NewObject, stack: Stack) {
        let NewObject { id, what, bytes, storage, .. } = object;
        self.0.insert(id, Object { what, bytes, storage, stack });
    }

    /// The program has released it.
    pub fn released(&mut self, id: usize) {
        self.0.remove(&id);
    }

    /// What is left, by kind of object and call: how many there are, and their bytes.
    pub fn left(&self) -> BTreeMap<(&'static str, Stack), (usize, u64)> {
        let mut sites: BTreeMap<(&str, Stack), (usize, u64)> = BTreeMap::new();
        for object in self.0.values() {
            let (count, bytes) = sites.entry((object.what, object.stack.clone())).or_default();
            *count += 1;
            *bytes += object.bytes;
        }
        sites
    }

    /// The size of the object that has this storage, and where it was made.
    pub fn of_storage(&self, storage: usize) -> Option<(u64, Option<Origin>)> {
        let object = self.0.values().find(|object| object.storage == Some(storage))?;
        Some((object.bytes, Some(Origin::Created(stack::lines(&object.stack)))))
    }

    /// Whether an address lies in shared virtual memory.
    pub fn is_shared(&self, address: u64) -> bool {
        let before = self.0.range(..=address as usize).rev().find(|(_, object)| object.what == SHARED);
        before.is_some_and(|(begin, object)| address - (*begin as u64) < object.bytes)
    }

    /// Whether this is memory of the host that is not shared.
    pub fn is_host(&self, used: &Used) -> bool {
        let is_shared = || used.ranges.first().is_some_and(|range| self.is_shared(range.start));
        used.memory == UsedMemory::Host && !is_shared()
    }

    /// The object that an argument is.
    fn of_argument(&self, arg: &CheckedArg) -> Option<&Object> {
        match arg {
            CheckedArg::Buffer(memory) | CheckedArg::Image(memory) => self.0.get(&memory.id()),
            CheckedArg::Address(address) => {
                let (begin, object) = self.0.range(..=*address as usize).next_back()?;
                (address - *begin as u64 <= object.bytes).then_some(object)
            }
            _ => None,
        }
    }

    /// Says of the memory of a kernel's finding where the program has made it.
    pub fn add_origin(&self, finding: &mut Finding, launch: &CheckedLaunch) {
        let Some(object) = finding.object.as_mut().filter(|o| o.origin.is_none() && o.space != "local") else { return };
        let mut args = launch.args.iter().zip(&launch.meta.params);
        let made = args.find(|(_, param)| param.name == object.name).and_then(|(arg, _)| self.of_argument(arg));
        object.origin = made.map(|made| Origin::Created(stack::lines(&made.stack)));
    }
}
