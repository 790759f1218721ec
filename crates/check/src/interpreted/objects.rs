//! The memory that a launch can access, by name: buffers, variables, and what has been one.

use crate::finding::Object;
use cloom_ir::{Global, KernelParam, Space, Span};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Addresses of objects whose lifetime has ended that are kept, to name what a dangling pointer points to. When there
/// are twice as many, the older half is forgotten.
const MAX_ENDED: usize = 1 << 22;

/// One object.
#[derive(Clone, PartialEq, Debug)]
pub struct Region {
    /// The name of the variable or of the kernel's parameter, or empty.
    pub name: Arc<String>,
    /// The address space.
    pub space: Space,
    /// Its size.
    pub bytes: u64,
    /// The size of an element, if the type is known.
    pub element: Option<u64>,
    /// Whether it is the elements of an image.
    pub is_image: bool,
    /// Whether kernels may only write it.
    pub is_write_only: bool,
    /// Where it is declared.
    pub declared: Span,
}

/// The size of the elements of a variable. Its type is not known here, but an array of numbers or vectors has the
/// alignment of its elements, which is their size.
fn element(bytes: u64, align: u32) -> Option<u64> {
    Some(u64::from(align)).filter(|&align| align > 0 && bytes.is_multiple_of(align))
}

impl Region {
    /// A private variable.
    pub fn variable(name: Option<&Arc<String>>, (bytes, align): (u64, u32), declared: Span) -> Region {
        let name = name.cloned().unwrap_or_default();
        let element = element(bytes, align);
        Region { name, space: Space::Private, bytes, element, is_image: false, is_write_only: false, declared }
    }

    /// A variable of the program, or of local memory.
    pub fn global(global: &Global) -> Region {
        // A variable in a function has the function's name before its own.
        let name = global.name.rsplit('.').next().unwrap_or_default();
        Region { space: global.space, element: element(global.size, global.align), ..Region::shared(name, global.size) }
    }

    /// What an argument in local memory points to.
    pub fn local(param: &KernelParam) -> Region {
        Region { space: Space::Local, ..Region::buffer(param, 0) }
    }

    /// Shared virtual memory, which no parameter names.
    pub fn shared(name: &str, bytes: u64) -> Region {
        Region {
            name: Arc::new(name.to_owned()),
            space: Space::Global,
            bytes,
            element: None,
            is_image: false,
            is_write_only: false,
            declared: Span::NONE,
        }
    }

    /// A buffer that is an argument.
    pub fn buffer(param: &KernelParam, bytes: u64) -> Region {
        Region::shared(&param.name, bytes)
    }

    /// How a finding names it, without its origin, for an access at `offset` of `access` bytes. Where the type of its
    /// elements is not known, they are taken to be as large as the access.
    pub fn object(&self, offset: i64, access: u64) -> Object {
        let by_access = Some(access).filter(|&n| n > 0 && self.bytes.is_multiple_of(n));
        let element = self.element.or(by_access).filter(|&n| n > 0);
        Object {
            name: self.name.to_string(),
            space: match self.space {
                Space::Private => "private",
                Space::Local => "local",
                Space::Constant => "constant",
                _ => "global",
            },
            bytes: self.bytes,
            offset,
            index: element.map(|n| offset.div_euclid(n as i64)),
            elements: element.map(|n| self.bytes / n),
            origin: None,
        }
    }
}

/// All objects.
#[derive(Default)]
pub struct Objects {
    /// By the upper half of the address, which names a segment of the interpreter's memory.
    live: FxHashMap<u64, Region>,
    /// Those whose life has ended, as numbers of declarations: a launch makes millions of variables from a few.
    ended: FxHashMap<u64, u32>,
    /// The older ones.
    ended_before: FxHashMap<u64, u32>,
    declarations: Vec<Region>,
    /// The numbers of the declarations, by name, position and size.
    by_declaration: FxHashMap<(Arc<String>, Span, u64), u32>,
    /// Those at addresses of the host, by their addresses.
    placed: BTreeMap<u64, Region>,
    /// Those of them whose life has ended.
    placed_ended: BTreeMap<u64, Region>,
}

/// The object among some that lie at addresses of the host.
fn placed(objects: &BTreeMap<u64, Region>, address: u64) -> Option<(&Region, i64)> {
    let address = address & Space::ADDRESS_MASK;
    let (base, region) = objects.range(..=address).next_back()?;
    let offset = address - base;
    (offset < region.bytes.max(1)).then_some((region, offset as i64))
}

fn segment(address: u64) -> u64 {
    (address & Space::ADDRESS_MASK) >> 32
}

impl Objects {
    /// An object begins.
    pub fn begin(&mut self, address: u64, region: Region) {
        self.live.insert(segment(address), region);
    }

    /// An object at an address of the host begins.
    pub fn place(&mut self, address: u64, region: Region) {
        self.placed.insert(address, region);
    }

    /// An object was at an address of the host.
    pub fn place_ended(&mut self, address: u64, region: Region) {
        self.placed_ended.insert(address, region);
    }

    /// An object ends.
    pub fn end(&mut self, address: u64) {
        let Some(region) = self.live.remove(&segment(address)) else { return };
        let next = self.declarations.len() as u32;
        let key = (region.name.clone(), region.declared, region.bytes);
        let number = *self.by_declaration.entry(key).or_insert(next);
        if number == next {
            self.declarations.push(region);
        }
        if self.ended.len() >= MAX_ENDED {
            self.ended_before = std::mem::take(&mut self.ended);
        }
        self.ended.insert(segment(address), number);
    }

    /// The object at an address, and the offset in it.
    pub fn find(&self, address: u64) -> Option<(&Region, i64)> {
        let live = self.live.get(&segment(address)).map(|region| (region, i64::from(address as u32)));
        live.or_else(|| placed(&self.placed, address))
    }

    /// The object that has been at an address.
    pub fn find_ended(&self, address: u64) -> Option<(&Region, i64)> {
        let at = segment(address);
        let number = self.ended.get(&at).or_else(|| self.ended_before.get(&at));
        let ended = number.and_then(|&n| self.declarations.get(n as usize));
        ended.map(|region| (region, i64::from(address as u32))).or_else(|| placed(&self.placed_ended, address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ended_variable_keeps_its_name_however_many_others_end() {
        let [x, y] = ["x", "y"].map(|name| Arc::new(name.to_owned()));
        let mut objects = Objects::default();
        objects.begin(1 << 32, Region::variable(Some(&x), (4, 4), Span::NONE));
        objects.end(1 << 32);
        for n in 2..200_000u64 {
            objects.begin(n << 32, Region::variable(Some(&y), (8, 4), Span::NONE));
            objects.end(n << 32);
        }
        let found = objects.find_ended(1 << 32 | 2).unwrap();
        assert_eq!((found.0.name.as_str(), found.0.bytes, found.1), ("x", 4, 2));
        assert_eq!(objects.declarations.len(), 2);
    }
}
