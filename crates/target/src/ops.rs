//! Operations of machine code by the resource of a core that they use: what a *port model* counts.
//!
//! A core executes an instruction as one or a few operations, each on a unit of some class: a load, an addition of
//! floats, a shuffle. How long code takes at least follows from how many operations of each class it has and how many
//! the core executes in a second. [`Op`] names a class together with the width of the registers, because a core may do
//! fewer wide ones. The text form (`load32`, `fma64`) is that of every document with counts.
//!
//! ```text
//! vfmadd231ps (%rax), %ymm1, %ymm2    ─▶  load32 1, fma32 1, issue8 1
//! ```

use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// The symbol of the counters in an object that counts: one `u64` for each basic block.
pub const SYMBOL: &str = "cloom.counts";
/// The section of that object with the operations of each block: [`Counts`] as text, a line each.
pub const SECTION: &str = ".cloom.ops";

/// A class of operations that share units of the core.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Class {
    /// Reads of memory, one each however wide.
    Load,
    /// Writes of memory.
    Store,
    /// Elements that a gather reads.
    Gather,
    /// Elements that a scatter writes.
    Scatter,
    /// Atomic updates of memory.
    Atomic,
    /// Multiplications of floats, also fused with an addition.
    Fma,
    /// Other arithmetic of floats: additions, comparisons, conversions.
    Float,
    /// Divisions and square roots of single precision.
    Divide,
    /// Divisions and square roots of double precision.
    DivideDouble,
    /// Vector arithmetic of integers, logic and blends.
    Integer,
    /// Vector multiplications of integers.
    Multiply,
    /// Movement between lanes, between register files, and of masks.
    Shuffle,
    /// All vector arithmetic and shuffles once more: they go to the same few ports.
    Vector,
    /// Integers, addresses and branches in general registers.
    Scalar,
    /// Divisions of integers in general registers.
    ScalarDivide,
    /// Calls; what is called counts by itself, if it is a part of the object.
    Call,
    /// All instructions: what a core decodes and issues.
    Issue,
}

impl Class {
    /// All of them.
    pub const ALL: [Class; 17] = [
        Class::Load,
        Class::Store,
        Class::Gather,
        Class::Scatter,
        Class::Atomic,
        Class::Fma,
        Class::Float,
        Class::Divide,
        Class::DivideDouble,
        Class::Integer,
        Class::Multiply,
        Class::Shuffle,
        Class::Vector,
        Class::Scalar,
        Class::ScalarDivide,
        Class::Call,
        Class::Issue,
    ];

    /// Its name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Class::Load => "load",
            Class::Store => "store",
            Class::Gather => "gather",
            Class::Scatter => "scatter",
            Class::Atomic => "atomic",
            Class::Fma => "fma",
            Class::Float => "float",
            Class::Divide => "divide",
            Class::DivideDouble => "divide-double",
            Class::Integer => "integer",
            Class::Multiply => "multiply",
            Class::Shuffle => "shuffle",
            Class::Vector => "vector",
            Class::Scalar => "scalar",
            Class::ScalarDivide => "scalar-divide",
            Class::Call => "call",
            Class::Issue => "issue",
        }
    }

    /// Whether it is arithmetic of vector registers, which [`Class::Vector`] counts once more.
    pub fn is_vector_arithmetic(self) -> bool {
        matches!(self, Class::Fma | Class::Float | Class::Integer | Class::Multiply | Class::Shuffle)
    }
}

/// A class with the width of its registers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Op {
    /// The class.
    pub class: Class,
    /// Bytes of the widest register: 8 for general registers, 16 to 64 for vectors.
    pub bytes: u8,
}

impl Op {
    /// An operation.
    pub fn new(class: Class, bytes: u8) -> Op {
        Op { class, bytes }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.class.name(), self.bytes)
    }
}

impl Serialize for Op {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl FromStr for Op {
    type Err = ();

    fn from_str(text: &str) -> Result<Op, ()> {
        // No name of a class has a digit, so that the first one begins the width.
        let digits = text.find(|c: char| c.is_ascii_digit()).ok_or(())?;
        let (name, bytes) = text.split_at(digits);
        let class = Class::ALL.into_iter().find(|c| c.name() == name).ok_or(())?;
        Ok(Op::new(class, bytes.parse().map_err(|_| ())?))
    }
}

/// How many operations of each kind.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counts(pub BTreeMap<Op, u64>);

impl Counts {
    /// Adds so many of an operation.
    pub fn add(&mut self, op: Op, n: u64) {
        let count = self.0.entry(op).or_default();
        // Counts are multiplied by how often a block runs, which may be any number of a long launch.
        *count = count.saturating_add(n);
    }

    /// Adds another count so many times.
    pub fn add_times(&mut self, other: &Counts, times: u64) {
        for (&op, &n) in &other.0 {
            self.add(op, n.saturating_mul(times));
        }
    }

    /// How many of one kind.
    pub fn of(&self, op: Op) -> u64 {
        self.0.get(&op).copied().unwrap_or(0)
    }

    /// How many of a class, of all widths.
    pub fn of_class(&self, class: Class) -> u64 {
        self.0.iter().filter(|(op, _)| op.class == class).map(|(_, n)| n).sum()
    }
}

impl fmt::Display for Counts {
    /// `load32=4 fma32=2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (op, n) in self.0.iter().filter(|(_, n)| **n > 0) {
            write!(f, "{separator}{op}={n}")?;
            separator = " ";
        }
        Ok(())
    }
}

impl FromStr for Counts {
    type Err = ();

    fn from_str(text: &str) -> Result<Counts, ()> {
        let mut counts = Counts::default();
        for word in text.split_whitespace() {
            let (op, n) = word.split_once('=').ok_or(())?;
            counts.add(op.parse()?, n.parse().map_err(|_| ())?);
        }
        Ok(counts)
    }
}

impl Serialize for Counts {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(op, n)| (op.to_string(), n)))
    }
}

impl<'de> Deserialize<'de> for Counts {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Counts, D::Error> {
        let named = BTreeMap::<String, u64>::deserialize(deserializer)?;
        let mut counts = Counts::default();
        for (name, n) in named {
            let unknown = |()| serde::de::Error::custom(format!("no operation is named `{name}`"));
            counts.add(name.parse().map_err(unknown)?, n);
        }
        Ok(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_operations() {
        for class in Class::ALL {
            let op = Op::new(class, 32);
            assert_eq!(op.to_string().parse(), Ok(op));
        }
        for wrong in ["load", "lode32", "32", "load999"] {
            assert_eq!(wrong.parse::<Op>(), Err(()), "{wrong}");
        }
    }

    #[test]
    fn counts_add_up() {
        let mut block = Counts::default();
        block.add(Op::new(Class::Load, 32), 2);
        block.add(Op::new(Class::Load, 8), 1);
        let mut sum = Counts::default();
        sum.add_times(&block, 5);
        assert_eq!((sum.of(Op::new(Class::Load, 32)), sum.of_class(Class::Load)), (10, 15));
        assert_eq!(sum.to_string().parse(), Ok(sum.clone()));
        sum.add_times(&block, u64::MAX);
        assert_eq!(sum.of(Op::new(Class::Load, 8)), u64::MAX, "too many to count");
    }
}
