//! Typed indices into the arenas of a function or a module.
//!
//! An index is a `u32` that knows what it counts; an [`Arena`] can be indexed with the right kind only.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// An index into an [`Arena`].
pub trait Entity: Copy + Eq {
    /// The entity with this index.
    fn new(index: usize) -> Self;
    /// The index of this entity.
    fn index(self) -> usize;
}

macro_rules! entities {
    ($($(#[$doc:meta])* $name:ident $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub struct $name(u32);

        impl Entity for $name {
            fn new(index: usize) -> Self {
                // The largest number means `none` in tables of entities.
                debug_assert!(index < u32::MAX as usize);
                Self(index as u32)
            }
            fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    )*};
}

entities! {
    /// An SSA value: the result of an instruction or a block parameter.
    Value "v";
    /// An instruction.
    Inst "inst";
    /// A basic block.
    Block "bb";
    /// A function of the module.
    FuncRef "fn";
    /// A global of the module: constant data, or a work-group's local memory.
    GlobalRef "g";
    /// A string of the module: printf formats.
    StrRef "s";
}

/// A vector that is indexed by one kind of entity.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Arena<K, T> {
    items: Vec<T>,
    #[serde(skip)]
    kind: PhantomData<K>,
}

impl<K: Entity, T> Default for Arena<K, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: Entity, T> Arena<K, T> {
    /// An empty arena.
    pub const fn new() -> Self {
        Self { items: Vec::new(), kind: PhantomData }
    }

    /// Adds an item and returns its index.
    pub fn push(&mut self, item: T) -> K {
        let key = K::new(self.items.len());
        self.items.push(item);
        key
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The item, if the index is in range.
    pub fn get(&self, key: K) -> Option<&T> {
        self.items.get(key.index())
    }

    /// The indices, in order. The iterator does not borrow the arena.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = K> + ExactSizeIterator + use<K, T> {
        (0..self.items.len()).map(K::new)
    }

    /// The items, in order.
    pub fn values(&self) -> std::slice::Iter<'_, T> {
        self.items.iter()
    }

    /// The items, in order, to change.
    pub fn values_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    /// Index and item, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (K, &T)> + ExactSizeIterator {
        self.items.iter().enumerate().map(|(i, t)| (K::new(i), t))
    }
}

impl<K: Entity, T> Index<K> for Arena<K, T> {
    type Output = T;
    fn index(&self, key: K) -> &T {
        &self.items[key.index()]
    }
}

impl<K: Entity, T> IndexMut<K> for Arena<K, T> {
    fn index_mut(&mut self, key: K) -> &mut T {
        &mut self.items[key.index()]
    }
}
