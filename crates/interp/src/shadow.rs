//! What is known beside the value of each register: which bits are undefined, and which object an address is of.

use cloom_ir::Scalar;

/// The undefined bits of a register, and the object that an address in it was made from.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Undefined {
    pub bits: u64,
    /// What the observer calls the place where they were read.
    pub origin: u32,
    /// The upper half of the object's address, as soon as something is added to it: whatever is added, the access is
    /// one of this object. 0 if nothing is known, [`NULL`] for a null pointer.
    pub base: u32,
}

/// The base of a null pointer to which something was added.
pub(crate) const NULL: u32 = u32::MAX;

impl Undefined {
    pub const NONE: Undefined = Undefined { bits: 0, origin: 0, base: 0 };

    /// All of it, if any of the others is undefined: the result of most operations.
    pub fn all(ty: Scalar, of: &[Undefined]) -> Undefined {
        let first = of.iter().find(|u| u.bits != 0);
        first.map_or(Undefined::NONE, |u| Undefined { bits: ty.mask(), origin: u.origin, base: 0 })
    }
}

/// The undefined bits of all registers of a work-item.
#[derive(Default)]
pub(crate) struct Definedness(Vec<Undefined>);

impl Definedness {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// So many registers; new ones are defined.
    pub fn grow(&mut self, len: usize) {
        self.0.resize(len.max(self.0.len()), Undefined::NONE);
    }

    pub fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    pub fn copy_within(&mut self, from: std::ops::Range<usize>, to: usize) {
        self.0.copy_within(from, to);
    }

    /// Those of one register.
    pub fn of(&self, register: usize) -> Undefined {
        self.0.get(register).copied().unwrap_or_default()
    }

    /// Those of a frame.
    pub fn frame(&mut self, base: usize) -> &mut [Undefined] {
        self.0.get_mut(base..).unwrap_or_default()
    }
}
