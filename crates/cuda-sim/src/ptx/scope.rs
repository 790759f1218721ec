//! What the names in a function mean.
//!
//! In: declarations, in the order of the text. Out: symbols for names, and numbers for labels. A block `{ ... }` opens
//! a scope whose names may hide outer ones. Registers `%r<1000>` are kept as one range, not as a thousand names.
//! Labels may be used before they stand in the text, so a use only gets a number, which is resolved at the end.

use super::op::{Slot, Special};
use cloom_ptx::ParseError;
use std::collections::HashMap;

/// What a name means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    /// A register, its slot and width.
    Register {
        slot: u32,
        bits: u32,
    },
    Param(Slot),
    Local(u32),
    /// A global variable, by number.
    Variable(u32),
    Shared(u32),
    DynamicShared,
    Const(u32),
    Function(u32),
    /// A table of branch targets: numbers of labels.
    Targets(Vec<u32>),
    Prototype,
}

/// Registers `prefix0` to `prefix{count-1}` in consecutive slots.
struct Range<'t> {
    prefix: &'t str,
    count: u64,
    first: u32,
    bits: u32,
}

#[derive(Default)]
struct Scope<'t> {
    parent: Option<usize>,
    names: HashMap<&'t str, Symbol>,
    ranges: Vec<Range<'t>>,
    labels: HashMap<&'t str, u32>,
}

/// The scopes of a function on top of the names of its module.
pub(super) struct Scopes<'m, 't> {
    module: &'m HashMap<&'t str, Symbol>,
    scopes: Vec<Scope<'t>>,
    current: usize,
    /// Slot 0 takes what is written to `_`.
    slots: u32,
    /// Uses of labels: scope, name, line.
    uses: Vec<(usize, &'t str, u32)>,
    use_numbers: HashMap<(usize, &'t str), u32>,
}

impl<'m, 't> Scopes<'m, 't> {
    pub(super) fn new(module: &'m HashMap<&'t str, Symbol>) -> Self {
        Scopes {
            module,
            scopes: vec![Scope::default()],
            current: 0,
            slots: 1,
            uses: Vec::new(),
            use_numbers: HashMap::new(),
        }
    }

    /// Slots that the function's registers need.
    pub(super) fn slots(&self) -> u32 {
        self.slots
    }

    pub(super) fn open(&mut self) {
        self.scopes.push(Scope { parent: Some(self.current), ..Scope::default() });
        self.current = self.scopes.len() - 1;
    }

    pub(super) fn close(&mut self) {
        self.current = self.scopes[self.current].parent.unwrap_or(0);
    }

    fn scope(&mut self) -> &mut Scope<'t> {
        &mut self.scopes[self.current]
    }

    /// Declares a name in the current scope.
    pub(super) fn declare(&mut self, name: &'t str, symbol: Symbol, line: u32) -> Result<(), ParseError> {
        match self.scope().names.insert(name, symbol) {
            None => Ok(()),
            Some(_) => Err(ParseError { line, what: format!("{name} is declared twice") }),
        }
    }

    /// Declares one register, or a range of registers.
    pub(super) fn declare_registers(
        &mut self,
        name: &'t str,
        count: Option<u64>,
        bits: u32,
        line: u32,
    ) -> Result<(), ParseError> {
        let first = self.slots;
        let more = u32::try_from(count.unwrap_or(1)).ok().and_then(|more| first.checked_add(more));
        let Some(slots) = more.filter(|slots| *slots < 1 << 20) else {
            return Err(ParseError { line, what: "too many registers".to_owned() });
        };
        self.slots = slots;
        match count {
            None => self.declare(name, Symbol::Register { slot: first, bits }, line),
            Some(count) => {
                self.scope().ranges.push(Range { prefix: name, count, first, bits });
                Ok(())
            }
        }
    }

    /// Finds the meaning of a name, from the innermost scope outwards.
    pub(super) fn find(&self, name: &str) -> Option<Symbol> {
        let prefix = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
        let digits = &name[prefix.len()..];
        // `%r07` is not a name of a range.
        let number = if digits.len() > 1 && digits.starts_with('0') { None } else { digits.parse::<u64>().ok() };
        let mut at = Some(self.current);
        while let Some(scope) = at.and_then(|index| self.scopes.get(index)) {
            if let Some(symbol) = scope.names.get(name) {
                return Some(symbol.clone());
            }
            if let Some(number) = number {
                // The prefix itself may end with digits (`%a1<4>`), so every split is tried.
                for range in &scope.ranges {
                    let own = match name.strip_prefix(range.prefix) {
                        Some(rest) if rest == digits => Some(number),
                        Some(rest) if rest == "0" || !rest.starts_with('0') => rest.parse().ok(),
                        _ => None,
                    };
                    if let Some(own) = own.filter(|own| *own < range.count) {
                        return Some(Symbol::Register { slot: range.first + own as u32, bits: range.bits });
                    }
                }
            }
            at = scope.parent;
        }
        self.module.get(name).cloned()
    }

    /// Puts a label at a position.
    pub(super) fn place_label(&mut self, name: &'t str, at: u32, line: u32) -> Result<(), ParseError> {
        match self.scope().labels.insert(name, at) {
            None => Ok(()),
            Some(_) => Err(ParseError { line, what: format!("label {name} is placed twice") }),
        }
    }

    /// The number of a label that is used here.
    pub(super) fn use_label(&mut self, name: &'t str, line: u32) -> u32 {
        let (uses, next) = (&mut self.uses, self.use_numbers.len() as u32);
        *self.use_numbers.entry((self.current, name)).or_insert_with(|| {
            uses.push((self.current, name, line));
            next
        })
    }

    /// The positions of all labels used, by number.
    pub(super) fn resolve_labels(&self) -> Result<Vec<u32>, ParseError> {
        let resolve = |(scope, name, line): &(usize, &'t str, u32)| {
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

/// The special register of a name.
pub(super) fn special(name: &str) -> Option<Special> {
    if let Some((base, axis)) = name.rsplit_once('.') {
        let axis = match axis {
            "x" => 0,
            "y" => 1,
            "z" => 2,
            _ => return None,
        };
        return match base {
            "%tid" => Some(Special::Tid(axis)),
            "%ntid" => Some(Special::Ntid(axis)),
            "%ctaid" => Some(Special::Ctaid(axis)),
            "%nctaid" => Some(Special::Nctaid(axis)),
            // Every block is a cluster of its own.
            "%clusterid" => Some(Special::Ctaid(axis)),
            "%nclusterid" => Some(Special::Nctaid(axis)),
            "%cluster_ctaid" => Some(Special::Zero),
            "%cluster_nctaid" => Some(Special::One),
            _ => None,
        };
    }
    Some(match name {
        "%laneid" => Special::LaneId,
        "%warpid" => Special::WarpId,
        "%nwarpid" => Special::NwarpId,
        "%lanemask_eq" => Special::LaneMaskEq,
        "%lanemask_lt" => Special::LaneMaskLt,
        "%lanemask_le" => Special::LaneMaskLe,
        "%lanemask_gt" => Special::LaneMaskGt,
        "%lanemask_ge" => Special::LaneMaskGe,
        "%clock" | "%clock64" => Special::Clock,
        "%clock_hi" => Special::ClockHi,
        "%globaltimer" | "%globaltimer_lo" => Special::Time,
        "%globaltimer_hi" => Special::TimeHi,
        "%dynamic_smem_size" => Special::DynamicSharedSize,
        "%total_smem_size" => Special::TotalSharedSize,
        "%smid" | "%gridid" | "%cluster_ctarank" => Special::Zero,
        "%nsmid" | "%cluster_nctarank" => Special::One,
        "WARP_SZ" => Special::WarpSize,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inner_names_hide_outer_ones() {
        let mut module = HashMap::new();
        module.insert("x", Symbol::Variable(3));
        let mut scopes = Scopes::new(&module);
        scopes.declare_registers("%r", Some(10), 32, 1).unwrap();
        scopes.declare_registers("temp", None, 64, 1).unwrap();
        assert_eq!(scopes.find("%r9"), Some(Symbol::Register { slot: 10, bits: 32 }));
        assert_eq!(scopes.find("%r10"), None);
        assert_eq!(scopes.find("%rd1"), None);
        assert_eq!(scopes.find("x"), Some(Symbol::Variable(3)));
        scopes.open();
        scopes.declare_registers("temp", None, 16, 1).unwrap();
        assert_eq!(scopes.find("temp"), Some(Symbol::Register { slot: 12, bits: 16 }));
        assert_eq!(scopes.find("%r0"), Some(Symbol::Register { slot: 1, bits: 32 }));
        scopes.close();
        assert_eq!(scopes.find("temp"), Some(Symbol::Register { slot: 11, bits: 64 }));
        assert!(scopes.declare("temp", Symbol::Local(0), 5).is_err());
        assert_eq!(scopes.slots(), 13);
    }

    #[test]
    fn labels_resolve_backwards_and_outwards() {
        let module = HashMap::new();
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
