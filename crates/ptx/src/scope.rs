//! The meaning of names in a function.
//!
//! In: declarations, in the order of the text. Out: symbols for names, and numbers for labels. A block `{ ... }` opens
//! a scope whose names may hide outer ones. Registers `%r<1000>` are kept as one range, not as a thousand names. A
//! label may be used before its definition, so that a use only gets a number, which is resolved at the end.

use crate::ParseError;
use rustc_hash::FxHashMap;

/// Digits of a register's number: more than [`MAX_REGISTERS`] needs.
const MAX_DIGITS: usize = 8;
/// The most registers of a function: several for each instruction of the largest kernel that Cloom compiles.
const MAX_REGISTERS: u32 = 1 << 24;

/// A register: its number in the function, and its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// Its number, from 1 on.
    pub slot: u32,
    /// Its width in bits. A predicate has one bit.
    pub bits: u32,
}

/// Registers `prefix0` to `prefix{count-1}` in consecutive slots.
struct Range {
    count: u64,
    first: u32,
    bits: u32,
}

struct Scope<'t, S> {
    parent: Option<usize>,
    names: FxHashMap<&'t str, S>,
    /// By prefix.
    ranges: FxHashMap<&'t str, Range>,
    labels: FxHashMap<&'t str, u32>,
}

impl<S> Scope<'_, S> {
    fn new(parent: Option<usize>) -> Self {
        Scope { parent, names: FxHashMap::default(), ranges: FxHashMap::default(), labels: FxHashMap::default() }
    }

    /// The register of a range. The prefix itself may end with digits (`%a1<4>`), so every split is tried.
    fn in_range(&self, name: &str) -> Option<Register> {
        let digits = name.bytes().rev().take(MAX_DIGITS).take_while(u8::is_ascii_digit).count();
        (name.len() - digits..name.len()).find_map(|split| {
            let (prefix, number) = name.split_at(split);
            let range = self.ranges.get(prefix)?;
            // `%r07` is no name of a range.
            let number = number.parse::<u64>().ok().filter(|_| number == "0" || !number.starts_with('0'))?;
            (number < range.count).then(|| Register { slot: range.first + number as u32, bits: range.bits })
        })
    }
}

/// The scopes of a function on top of the names of its module. `S` is the meaning of a name: a [`Register`] or
/// something else.
pub struct Scopes<'m, 't, S> {
    module: &'m FxHashMap<&'t str, S>,
    scopes: Vec<Scope<'t, S>>,
    current: usize,
    /// The number of slots. Slot 0 is the destination `_`.
    slots: u32,
    /// Uses of labels: scope, name, line.
    uses: Vec<(usize, &'t str, u32)>,
    use_numbers: FxHashMap<(usize, &'t str), u32>,
}

impl<'m, 't, S: Clone + From<Register>> Scopes<'m, 't, S> {
    /// One scope, on top of these names.
    pub fn new(module: &'m FxHashMap<&'t str, S>) -> Self {
        Scopes {
            module,
            scopes: vec![Scope::new(None)],
            current: 0,
            slots: 1,
            uses: Vec::new(),
            use_numbers: FxHashMap::default(),
        }
    }

    /// Slots that the function's registers need.
    pub fn slots(&self) -> u32 {
        self.slots
    }

    /// Opens a scope in the current one.
    pub fn open(&mut self) {
        self.scopes.push(Scope::new(Some(self.current)));
        self.current = self.scopes.len() - 1;
    }

    /// Closes the current scope.
    pub fn close(&mut self) {
        self.current = self.scopes[self.current].parent.unwrap_or(0);
    }

    fn scope(&mut self) -> &mut Scope<'t, S> {
        &mut self.scopes[self.current]
    }

    /// Declares a name in the current scope.
    pub fn declare(&mut self, name: &'t str, symbol: S, line: u32) -> Result<(), ParseError> {
        match self.scope().names.insert(name, symbol) {
            None => Ok(()),
            Some(_) => Err(ParseError { line, what: format!("{name} is declared twice") }),
        }
    }

    /// Declares one register, or a range of registers.
    pub fn declare_registers(
        &mut self,
        name: &'t str,
        count: Option<u64>,
        bits: u32,
        line: u32,
    ) -> Result<(), ParseError> {
        let first = self.slots;
        // A range takes its slots at once, but no memory: the limit keeps the tables by slots, which analyses make,
        // small.
        let more = u32::try_from(count.unwrap_or(1)).ok().and_then(|more| first.checked_add(more));
        let Some(slots) = more.filter(|slots| *slots < MAX_REGISTERS) else {
            return Err(ParseError { line, what: "too many registers".to_owned() });
        };
        self.slots = slots;
        match count {
            None => self.declare(name, S::from(Register { slot: first, bits }), line),
            Some(count) => match self.scope().ranges.insert(name, Range { count, first, bits }) {
                None => Ok(()),
                Some(_) => Err(ParseError { line, what: format!("{name} is declared twice") }),
            },
        }
    }

    /// Finds the meaning of a name, from the innermost scope outwards.
    pub fn find(&self, name: &str) -> Option<S> {
        let mut at = Some(self.current);
        while let Some(scope) = at.and_then(|index| self.scopes.get(index)) {
            // Both kinds of declarations of a block come before those of the blocks around it.
            if let Some(symbol) = scope.names.get(name) {
                return Some(symbol.clone());
            }
            if let Some(register) = scope.in_range(name) {
                return Some(S::from(register));
            }
            at = scope.parent;
        }
        self.module.get(name).cloned()
    }

    /// Puts a label at a position.
    pub fn place_label(&mut self, name: &'t str, at: u32, line: u32) -> Result<(), ParseError> {
        match self.scope().labels.insert(name, at) {
            None => Ok(()),
            Some(_) => Err(ParseError { line, what: format!("label {name} is placed twice") }),
        }
    }

    /// The number of a label that is used here.
    pub fn use_label(&mut self, name: &'t str, line: u32) -> u32 {
        // One number for all uses of a name in a scope. In another scope the name may mean another label.
        let (uses, next) = (&mut self.uses, self.use_numbers.len() as u32);
        *self.use_numbers.entry((self.current, name)).or_insert_with(|| {
            uses.push((self.current, name, line));
            next
        })
    }

    /// The positions of all labels used, by number.
    pub fn resolve_labels(&self) -> Result<Vec<u32>, ParseError> {
        let resolve = |(scope, name, line): &(usize, &'t str, u32)| {
            // A label of the function may be used in an inner block, never the other way round.
            let mut at = Some(*scope);
            while let Some(scope) = at.and_then(|index| self.scopes.get(index)) {
                if let Some(label) = scope.labels.get(name) {
                    return Ok(*label);
                }
                at = scope.parent;
            }
            Err(ParseError { line: *line, what: format!("unknown label {name}") })
        };
        self.uses.iter().map(resolve).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a name means if it is a register.
    fn register(slot: u32, bits: u32) -> Option<Option<Register>> {
        Some(Some(Register { slot, bits }))
    }

    #[test]
    fn inner_names_hide_outer_ones() {
        let mut module = FxHashMap::default();
        module.insert("x", None);
        let mut scopes = Scopes::new(&module);
        scopes.declare_registers("%r", Some(10), 32, 1).unwrap();
        scopes.declare_registers("temp", None, 64, 1).unwrap();
        assert_eq!(scopes.find("%r9"), register(10, 32));
        assert_eq!(scopes.find("%r10"), None);
        assert_eq!(scopes.find("%rd1"), None);
        assert_eq!(scopes.find("x"), Some(None));
        scopes.open();
        scopes.declare_registers("temp", None, 16, 1).unwrap();
        assert_eq!(scopes.find("temp"), register(12, 16));
        assert_eq!(scopes.find("%r0"), register(1, 32));
        scopes.close();
        assert_eq!(scopes.find("temp"), register(11, 64));
        assert!(scopes.declare("temp", None, 5).is_err());
        assert_eq!(scopes.slots(), 13);
    }

    #[test]
    fn ranges_need_all_digits() {
        let module = FxHashMap::<&str, Option<Register>>::default();
        let mut scopes = Scopes::new(&module);
        scopes.declare_registers("%a1", Some(4), 32, 1).unwrap();
        assert_eq!(scopes.find("%a10"), register(1, 32));
        assert_eq!(scopes.find("%a13"), register(4, 32));
        for name in ["%a14", "%a1", "%a103", "%a", "", "12345678901234567890123"] {
            assert_eq!(scopes.find(name), None, "{name}");
        }
        assert_eq!(scopes.declare_registers("%a1", Some(9), 32, 7).unwrap_err().line, 7);
    }

    #[test]
    fn labels_resolve_backwards_and_outwards() {
        let module = FxHashMap::<&str, Option<Register>>::default();
        let mut scopes = Scopes::new(&module);
        let end = scopes.use_label("end", 1);
        scopes.open();
        scopes.place_label("inner", 5, 2).unwrap();
        let inner = scopes.use_label("inner", 2);
        let outer = scopes.use_label("end", 3);
        scopes.close();
        scopes.place_label("end", 9, 4).unwrap();
        let places = scopes.resolve_labels().unwrap();
        assert_eq!([end, inner, outer].map(|label| places[label as usize]), [9, 5, 9]);
        scopes.use_label("inner", 7);
        assert_eq!(scopes.resolve_labels().unwrap_err().line, 7);
    }
}
