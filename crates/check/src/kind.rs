//! The kinds of findings: one table with the name, the group and the severity of each.
//!
//! The name is stable: it stands in reports, in suppressions and on the command line, and it is the name of the page
//! that `cloom check --explain NAME` prints.

use serde::{Serialize, Serializer};
use std::fmt;

/// How bad a finding is. Notes do not count for the exit status.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Something to know; the program is right.
    Note,
    /// A program that is right on some devices only, or probably not meant so.
    Warning,
    /// Undefined behaviour, or a result that the specification leaves open.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

/// Kinds that are chosen together, as in `--only races`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[expect(missing_docs, reason = "the names of the groups say what they are")]
pub enum Group {
    Bounds,
    Uninit,
    Races,
    Barriers,
    Arithmetic,
    Progress,
    Images,
    Api,
}

impl Group {
    /// All groups.
    pub const ALL: [Group; 8] = [
        Group::Bounds,
        Group::Uninit,
        Group::Races,
        Group::Barriers,
        Group::Arithmetic,
        Group::Progress,
        Group::Images,
        Group::Api,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Group::Bounds => "bounds",
            Group::Uninit => "uninit",
            Group::Races => "races",
            Group::Barriers => "barriers",
            Group::Arithmetic => "arithmetic",
            Group::Progress => "progress",
            Group::Images => "images",
            Group::Api => "api",
        }
    }
}

macro_rules! kinds {
    ($($kind:ident $name:literal $group:ident $severity:ident $opt_in:literal $what:literal,)*) => {
        /// What is wrong.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Kind {
            $(#[doc = $what] $kind,)*
        }

        impl Kind {
            /// All kinds, in the order of the table.
            pub const ALL: &[Kind] = &[$(Kind::$kind),*];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self { $(Kind::$kind => $name),* }
            }

            /// Its group.
            pub fn group(self) -> Group {
                match self { $(Kind::$kind => Group::$group),* }
            }

            /// How bad it is, unless the finding says otherwise.
            pub fn severity(self) -> Severity {
                match self { $(Kind::$kind => Severity::$severity),* }
            }

            /// Whether it is looked for only if that is asked for.
            pub fn is_opt_in(self) -> bool {
                match self { $(Kind::$kind => $opt_in),* }
            }

            /// One line that says what it is.
            pub fn summary(self) -> &'static str {
                match self { $(Kind::$kind => $what),* }
            }
        }
    };
}

kinds! {
    // Variant, name, group, severity, opt-in, summary.
    OutOfBounds "out-of-bounds" Bounds Error false "an access outside of its object",
    ArrayIndex "array-index" Bounds Warning false "an index outside of its array that stays inside of the object around it",
    NullPointer "null-pointer" Bounds Error false "an access through a null pointer",
    DanglingPointer "dangling-pointer" Bounds Error false "an access to memory whose lifetime has ended",
    InvalidPointer "invalid-pointer" Bounds Error false "an access through a pointer to no object",
    Misaligned "misaligned" Bounds Error false "an access at an address that its type does not allow",
    WriteToConstant "write-to-constant" Bounds Error false "a write to memory that kernels may only read",
    ReadOfWriteOnly "read-of-write-only" Bounds Error false "a read of memory that kernels may only write",
    Uninitialised "uninitialised" Uninit Error false "a result that depends on memory which nothing has written",
    RaceLocal "race-local" Races Error false "a data race of two work-items of a group in local memory",
    RaceGlobal "race-global" Races Error false "a data race of two work-items of a group in global memory",
    RaceGroups "race-groups" Races Error false "a data race of work-items of different groups",
    RaceLaunches "race-launches" Races Error false "a data race of two commands that no event orders",
    AsyncCopy "async-copy" Races Error false "memory of an asynchronous copy that is used before the copy is waited for",
    BarrierDivergence "barrier-divergence" Barriers Error false "a barrier that not all work-items of the group reach",
    AsyncNotWaited "async-not-waited" Barriers Error false "an asynchronous copy that is not waited for before the kernel ends",
    DivisionByZero "division-by-zero" Arithmetic Error false "an integer division by zero",
    DivisionOverflow "division-overflow" Arithmetic Error false "a division of the least integer by -1",
    ShiftRange "shift-range" Arithmetic Warning true "a shift by a negative number, or by the width of the type or more",
    SignedOverflow "signed-overflow" Arithmetic Warning true "an overflow of a signed integer",
    ConversionRange "conversion-range" Arithmetic Warning true "a conversion of a floating-point number that the integer type cannot hold",
    Endless "endless" Progress Error false "a kernel that does not end",
    ImageCoordinates "image-coordinates" Images Error false "an access to an image outside of its size",
    ImageFormat "image-format" Images Error false "an access to an image by a function for another channel type",
    ApiError "api-error" Api Error false "a call that the runtime refused",
    ApiLeak "api-leak" Api Note false "an object that is never released",
    ApiPending "api-pending" Api Error false "a use of host memory that a command still reads or writes",
    ApiMap "api-map" Api Error false "a wrong use of a mapped region",
    ApiUnwritten "api-unwritten" Api Warning false "a command that reads memory which nothing has written",
}

impl Kind {
    /// The kind of this name.
    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.iter().copied().find(|k| k.name() == name)
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Kind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Which kinds are looked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kinds(Vec<Kind>);

impl Default for Kinds {
    fn default() -> Self {
        Kinds(Kind::ALL.iter().copied().filter(|k| !k.is_opt_in()).collect())
    }
}

impl fmt::Display for Kinds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.0.iter().map(|k| k.name()).collect();
        f.write_str(&names.join(","))
    }
}

impl Kinds {
    /// The kinds that a comma-separated list of kinds and groups names. A word that is neither is the error.
    pub fn parse(list: &str) -> Result<Kinds, String> {
        let mut kinds = Vec::new();
        for word in list.split(',').map(str::trim).filter(|w| !w.is_empty()) {
            let of_group = |k: &Kind| k.group().name() == word || word == "all";
            let named: Vec<Kind> = match Kind::named(word) {
                Some(kind) => vec![kind],
                None => Kind::ALL.iter().copied().filter(of_group).collect(),
            };
            if named.is_empty() {
                return Err(word.to_owned());
            }
            kinds.extend(named);
        }
        kinds.sort_unstable();
        kinds.dedup();
        Ok(Kinds(kinds))
    }

    /// Whether this kind is looked for.
    pub fn has(&self, kind: Kind) -> bool {
        self.0.contains(&kind)
    }

    /// Whether any kind of this group is.
    pub fn has_group(&self, group: Group) -> bool {
        self.0.iter().any(|k| k.group() == group)
    }

    /// Whether compiled code finds all of these that the interpreter finds in kernels. (An index that leaves its array
    /// and not the object around it needs the types, which compiled code does not have.)
    pub fn are_compiled(&self) -> bool {
        self.0.iter().all(|kind| matches!(kind.group(), Group::Bounds | Group::Api))
    }

    /// Looks for these, too.
    pub fn enable(&mut self, others: &Kinds) {
        self.0.extend(&others.0);
        self.0.sort_unstable();
        self.0.dedup();
    }

    /// Looks for these no longer.
    pub fn disable(&mut self, others: &Kinds) {
        self.0.retain(|k| !others.has(*k));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_lists_name_kinds_and_groups() {
        let mut names: Vec<&str> = Kind::ALL.iter().map(|k| k.name()).chain(Group::ALL.map(Group::name)).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count, "a name means one thing");
        let mut kinds = Kinds::parse("races, endless").unwrap();
        assert!(kinds.has(Kind::RaceLocal) && kinds.has(Kind::Endless) && !kinds.has(Kind::OutOfBounds));
        kinds.enable(&Kinds::parse("signed-overflow").unwrap());
        kinds.disable(&Kinds::parse("race-local").unwrap());
        assert!(kinds.has(Kind::SignedOverflow) && !kinds.has(Kind::RaceLocal));
        assert_eq!(Kinds::parse("races,rases"), Err("rases".into()));
        assert!(!Kinds::default().has(Kind::ShiftRange) && Kinds::default().has(Kind::DivisionByZero));
    }
}
