//! Names as small numbers: equal text has an equal [`Symbol`], so that later stages compare and hash integers.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// An interned text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Symbol(u32);

impl Symbol {
    /// The empty text.
    pub const EMPTY: Symbol = Symbol(0);

    /// The position of this text in the interner, for tables indexed by symbol.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The table of interned texts.
#[derive(Debug)]
pub struct Interner {
    texts: Vec<Arc<str>>,
    symbols: FxHashMap<Arc<str>, Symbol>,
}

impl Default for Interner {
    fn default() -> Self {
        let mut this = Self { texts: Vec::new(), symbols: FxHashMap::default() };
        // `Symbol::EMPTY` is number 0.
        this.intern("");
        this
    }
}

impl Interner {
    /// The symbol of a text.
    pub fn intern(&mut self, text: &str) -> Symbol {
        if let Some(&symbol) = self.symbols.get(text) {
            return symbol;
        }
        let symbol = Symbol(self.texts.len() as u32);
        let text: Arc<str> = text.into();
        self.texts.push(text.clone());
        self.symbols.insert(text, symbol);
        symbol
    }

    /// The symbol of a text, if it was interned before.
    pub fn lookup(&self, text: &str) -> Option<Symbol> {
        self.symbols.get(text).copied()
    }

    /// The text of a symbol of this interner.
    pub fn text(&self, symbol: Symbol) -> &str {
        &self.texts[symbol.index()]
    }

    /// How many texts there are; every symbol's index is below it.
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Never: the empty text is always there.
    pub fn is_empty(&self) -> bool {
        false
    }
}
