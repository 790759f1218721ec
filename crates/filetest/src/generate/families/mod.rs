//! Families of constructs, and how often each construct was generated.
//!
//! Each program has a few families and lacks the others, by its seed: a construct in every program hides bugs that show
//! only without it, and a program with all constructs has little of each. This is swarm testing (Groce et al., "Swarm
//! Testing", ISSTA 2012). The constructs that [`super`] generates itself (arithmetic, control flow, structures,
//! barriers, 32-bit atomics, …) are in every program.
//!
//! | family | constructs |
//! |---|---|
//! | `math` | transcendental, `native_`, `half_`, geometric and relational functions |
//! | `atomics` | atomics of 64 bits, C11 atomics, `atomic_flag`, float atomics by compare and exchange |
//! | `pointers` | pointers in arrays and structures, pointers to pointers, lists |
//! | `alias` | one buffer as two arguments, overlapping pointers, `restrict` |
//! | `subgroups` | shuffles, ballots, clustered and non-uniform operations |
//! | `collectives` | `work_group_*` functions |
//! | `attributes` | `reqd_work_group_size`, `work_group_size_hint`, `vec_type_hint` |
//! | `long` | loops of thousands of iterations, grid-stride loops over a buffer of 1 MiB |
//! | `records` | local arrays of structures, member by member |
//! | `link` | two source files, compiled apart and linked |
//! | `initialisers` | private arrays and structures with long lists of initial values, constant, partial, nested |
//! | `half` | `half` as a type, if the program is not portable; `vload_half`, `vstore_half`, the aligned forms |
//! | `dialect` | subscripts of vectors, `.hi` and `.odd` of three components, alignments, packing, checked arithmetic |
//!
//! Pointers of the generic address space are in no family; `tests/generic_spaces.rs` has programs with them.

pub(super) mod alias;
pub(super) mod atomics;
pub(super) mod collectives;
pub(super) mod dialect;
pub(super) mod half;
pub(super) mod initialisers;
pub mod link;
pub(super) mod long;
pub(super) mod math;
pub(super) mod pointers;
pub(super) mod records;

use super::Profile;
use super::types::Rng;
use std::collections::BTreeMap;
use std::fmt;

/// A family of constructs; see the file's head.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs, reason = "the file's head describes each")]
pub enum Family {
    Math,
    Atomics,
    Pointers,
    Alias,
    Subgroups,
    Collectives,
    Attributes,
    Long,
    Records,
    Link,
    Half,
    Initialisers,
    Dialect,
}

use Family::*;

impl Family {
    /// All of them.
    pub const ALL: [Family; 13] = [
        Math,
        Atomics,
        Pointers,
        Alias,
        Subgroups,
        Collectives,
        Attributes,
        Long,
        Records,
        Link,
        Half,
        Initialisers,
        Dialect,
    ];

    /// In how many of 100 programs it is. A long loop takes as much time as all the rest of a program.
    fn percent(self) -> u64 {
        match self {
            Long => 4,
            Attributes | Link => 20,
            _ => 30,
        }
    }

    /// Whether its results are defined by the standard alone: sub-groups have other sizes elsewhere, and need
    /// extensions.
    fn is_portable(self) -> bool {
        !matches!(self, Subgroups | Collectives)
    }
}

impl fmt::Display for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{self:?}").to_lowercase())
    }
}

/// A set of families.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Families(u16);

impl Families {
    /// No family.
    pub const NONE: Families = Families(0);

    /// Those of a seed; a program in eight has none.
    pub fn of(seed: u64, profile: Profile) -> Families {
        // A generator of its own: a family added to the list must not change the numbers that a program draws.
        let mut rng = Rng::new(seed.rotate_left(32) ^ 0xfa);
        if rng.chance(12) {
            return Self::NONE;
        }
        let allowed = |f: &Family| profile == Profile::Total || f.is_portable();
        let list = Family::ALL.into_iter().filter(allowed).filter(|f| rng.chance(f.percent()));
        Self::from_iter(list)
    }

    /// Whether a family is in it.
    pub fn has(self, family: Family) -> bool {
        self.0 & 1 << family as u16 != 0
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The families.
    pub fn iter(self) -> impl Iterator<Item = Family> {
        Family::ALL.into_iter().filter(move |&f| self.has(f))
    }
}

impl FromIterator<Family> for Families {
    fn from_iter<I: IntoIterator<Item = Family>>(list: I) -> Self {
        Self(list.into_iter().fold(0, |set, f| set | 1 << f as u16))
    }
}

/// How often constructs were generated.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Statistics(BTreeMap<(Family, &'static str), u64>);

impl Statistics {
    /// Counts one.
    pub fn count(&mut self, family: Family, construct: &'static str) {
        *self.0.entry((family, construct)).or_default() += 1;
    }

    /// Adds another program's.
    pub fn add(&mut self, other: &Statistics) {
        for (&key, n) in &other.0 {
            *self.0.entry(key).or_default() += n;
        }
    }

    /// How often a construct was generated.
    pub fn of(&self, family: Family, construct: &str) -> u64 {
        self.0.iter().filter(|(k, _)| k.0 == family && k.1 == construct).map(|(_, n)| n).sum()
    }

    /// All constructs of a family together.
    pub fn total(&self, family: Family) -> u64 {
        self.0.iter().filter(|(k, _)| k.0 == family).map(|(_, n)| n).sum()
    }
}

/// One line a family: `math 812: sin 31, cos 24, …`.
impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for family in Family::ALL {
            let list = self.0.iter().filter(|(k, _)| k.0 == family).map(|(k, n)| format!("{} {n}", k.1));
            writeln!(f, "{family:<11} {}: {}", self.total(family), list.collect::<Vec<_>>().join(", "))?;
        }
        Ok(())
    }
}
