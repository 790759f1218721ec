//! Scopes: a stack of tables from names to what they denote.

use super::tree::{FuncId, GlobalId, LocalId};
use super::types::{QTy, Ty};
use crate::source::{Span, Symbol};
use cloom_ir::Space;
use rustc_hash::FxHashMap;

/// The meaning of a name.
#[derive(Clone, Debug)]
pub(super) enum Entry {
    Local(LocalId),
    Global(GlobalId),
    /// All functions of this name; more than one only if they are overloadable.
    Funcs(Vec<FuncId>),
    /// An enumerator: its bits.
    Constant(u64, Ty),
    /// The type, the address space if one was written, and the alignment from an attribute (else 1).
    Typedef(QTy, Option<Space>),
    /// A block variable: its function, its type, and the variables that hold what it captured.
    Block(FuncId, Ty, Vec<LocalId>),
    /// A function with block parameters.
    Template,
    /// Declared wrongly; reported.
    Error,
}

#[derive(Debug, Default)]
struct Scope {
    names: FxHashMap<Symbol, (Entry, Span)>,
    /// Tags of records (the type), and of enumerations (their integer type).
    tags: FxHashMap<Symbol, (Ty, Span)>,
}

/// The open scopes, the innermost last.
#[derive(Debug)]
pub(super) struct Scopes {
    list: Vec<Scope>,
}

/// The scopes that were left.
pub(super) struct Inner(Vec<Scope>);

impl Default for Scopes {
    fn default() -> Self {
        Self { list: vec![Scope::default()] }
    }
}

impl Scopes {
    pub fn open(&mut self) {
        self.list.push(Scope::default());
    }

    pub fn close(&mut self) {
        // The scope of the file stays, whatever is closed: `top` relies on it.
        if self.list.len() > 1 {
            self.list.pop();
        }
    }

    /// Whether this is the scope of the file.
    pub fn at_file(&self) -> bool {
        self.list.len() == 1
    }

    fn top(&mut self) -> &mut Scope {
        // The scope of the file is never closed.
        let last = self.list.len() - 1;
        &mut self.list[last]
    }

    pub fn get(&self, name: Symbol) -> Option<&(Entry, Span)> {
        self.list.iter().rev().find_map(|s| s.names.get(&name))
    }

    /// Leaves all scopes but the file's, for a while.
    pub fn leave_functions(&mut self) -> Inner {
        // A function with block parameters is analysed at a call, but sees only what the file declares.
        Inner(self.list.split_off(1))
    }

    /// Goes back to them.
    pub fn enter_functions(&mut self, inner: Inner) {
        self.list.truncate(1);
        self.list.extend(inner.0);
    }

    /// How many scopes are open.
    pub fn depth(&self) -> usize {
        self.list.len()
    }

    /// The number of the scope that declares a name, counted from the file's.
    pub fn level(&self, name: Symbol) -> Option<usize> {
        self.list.iter().rposition(|s| s.names.contains_key(&name))
    }

    /// In the innermost scope only.
    pub fn get_here(&mut self, name: Symbol) -> Option<&mut (Entry, Span)> {
        self.top().names.get_mut(&name)
    }

    pub fn put(&mut self, name: Symbol, entry: Entry, span: Span) {
        self.top().names.insert(name, (entry, span));
    }

    /// A prototype in any scope declares the function for the file.
    pub fn put_file(&mut self, name: Symbol, entry: Entry, span: Span) {
        self.list[0].names.insert(name, (entry, span));
    }

    pub fn get_file(&mut self, name: Symbol) -> Option<&mut (Entry, Span)> {
        self.list[0].names.get_mut(&name)
    }

    pub fn tag(&self, name: Symbol) -> Option<(Ty, Span)> {
        self.list.iter().rev().find_map(|s| s.tags.get(&name)).copied()
    }

    pub fn tag_here(&mut self, name: Symbol) -> Option<(Ty, Span)> {
        self.top().tags.get(&name).copied()
    }

    pub fn put_tag(&mut self, name: Symbol, ty: Ty, span: Span) {
        self.top().tags.insert(name, (ty, span));
    }

    pub fn names(&self) -> impl Iterator<Item = Symbol> {
        self.list.iter().rev().flat_map(|s| s.names.keys().copied())
    }
}
