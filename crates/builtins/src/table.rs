//! The table of built-in functions: name → signature patterns → how a call is lowered.
//!
//! In comes a name; out go its rows, and for a row the concrete signatures that a call could mean. The roughly 20,000
//! overloads of OpenCL C are never written out: a row stands for a type variable `T` over a set of scalars
//! and of lane counts, and only the instances for the lane count of one call are made, when it is checked.
//!
//! A signature is a text, `result(parameters)`, of these letters:
//!
//! | letter | type |
//! |---|---|
//! | `T` | the type variable: a scalar or a vector |
//! | `S` | the scalar of `T` |
//! | `I`, `U` | signed, unsigned integers as wide as `T`, as many lanes |
//! | `B` | what a comparison of `T` gives: `int` for a scalar, else `I` |
//! | `N` | 32-bit integers, as many lanes as `T` |
//! | `W` | `T` twice as wide |
//! | `n`, `u`, `z`, `f` | `int`, `uint`, `size_t`, `float` |
//! | `b` | `uint4`, a ballot of a sub-group |
//! | `w` | `uint2`, the halves of a `ulong` |
//! | `v` | nothing |
//! | `p` + type | a pointer into private, global or local memory |

use crate::{group_rows, rows};
use cloom_ir::{BinOp, Query, Space, UnOp};
use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

/// A scalar of the language, as far as built-in functions know it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs, reason = "sign and width are the whole meaning")]
pub enum Elem {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    U64,
    F16,
    F32,
    F64,
}

use Elem::{F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};

impl Elem {
    /// Every one.
    pub const ALL: [Elem; 11] = [I8, U8, I16, U16, I32, U32, I64, U64, F32, F64, F16];

    /// Width in bits.
    pub fn bits(self) -> u32 {
        match self {
            I8 | U8 => 8,
            I16 | U16 | F16 => 16,
            I32 | U32 | F32 => 32,
            I64 | U64 | F64 => 64,
        }
    }

    /// Whether it is a floating-point number.
    pub fn is_float(self) -> bool {
        matches!(self, F16 | F32 | F64)
    }

    /// The integer of a width.
    pub fn int(bits: u32, signed: bool) -> Elem {
        match (bits, signed) {
            (8, true) => I8,
            (8, false) => U8,
            (16, true) => I16,
            (16, false) => U16,
            (32, true) => I32,
            (32, false) => U32,
            (_, true) => I64,
            (_, false) => U64,
        }
    }

    fn wider(self) -> Elem {
        match self {
            F16 => F32,
            F32 | F64 => F64,
            I8 | I16 | I32 | I64 => Elem::int(self.bits() * 2, true),
            U8 | U16 | U32 | U64 => Elem::int(self.bits() * 2, false),
        }
    }

    /// The code in mangled names.
    pub fn code(self) -> &'static str {
        match self {
            I8 => "i8",
            U8 => "u8",
            I16 => "i16",
            U16 => "u16",
            I32 => "i32",
            U32 => "u32",
            I64 => "i64",
            U64 => "u64",
            F16 => "f16",
            F32 => "f32",
            F64 => "f64",
        }
    }
}

/// A type in a concrete signature.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ty {
    /// No result.
    Void,
    /// A scalar (1 lane) or a vector.
    Value(Elem, u8),
    /// A pointer to one.
    Ptr(Space, Elem, u8),
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let value = |f: &mut fmt::Formatter<'_>, elem: Elem, lanes: u8| match lanes {
            1 => f.write_str(elem.code()),
            _ => write!(f, "{}x{lanes}", elem.code()),
        };
        match *self {
            Ty::Void => f.write_str("v"),
            Ty::Value(elem, lanes) => value(f, elem, lanes),
            Ty::Ptr(space, elem, lanes) => {
                write!(f, "p{}", space_digit(space))?;
                value(f, elem, lanes)
            }
        }
    }
}

/// The number of an address space in mangled names.
pub fn space_digit(space: Space) -> u8 {
    match space {
        Space::Private | Space::Context => 0,
        Space::Global => 1,
        Space::Constant => 2,
        Space::Local => 3,
        Space::Generic => 4,
    }
}

/// The name in the IR of one overload: the name and the codes of the parameters' types, joined by dots (`v` if there is
/// none), such as `sin.f32`, `dot.f32x4.f32x4`, `fract.f32.p0f32`. Names of C hold no dot, so that nothing collides.
pub fn mangle<T: fmt::Display>(name: &str, params: impl IntoIterator<Item = T>) -> String {
    use fmt::Write;
    let mut text = name.to_owned();
    let mut any = false;
    for p in params {
        any = true;
        // Writing to a string cannot fail.
        let _ = write!(text, ".{p}");
    }
    if !any {
        // Without it, the name of a function without parameters would have no dot, and be that of a function of the
        // program.
        text.push_str(".v");
    }
    text
}

/// The lowering of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lower {
    /// A call of the library's scalar function for each component; a pointer steps from element to element. The name is
    /// the library's, where it differs.
    Each(Option<&'static str>),
    /// A call of the library's function of exactly this signature.
    Exact,
    /// One IR operation.
    Unary(UnOp),
    /// One IR operation.
    Binary(BinOp),
    /// One IR operation: of signed integers, of unsigned ones.
    BinarySign(BinOp, BinOp),
    /// One fused multiply-add.
    Fma,
    /// That, or a product and a sum where it is quicker.
    Mad,
    /// Instructions that the front end writes.
    Special(Special),
}

/// Functions that the front end lowers itself, by chapter of the specification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Special {
    /// Work-item and synchronisation functions.
    WorkItem(WorkItem),
    /// Integer functions.
    Integer(Integer),
    /// Common functions, and those that integers have too.
    Common(Common),
    /// Relational functions.
    Relational(Relational),
    /// A function of the whole work-group.
    WorkGroup,
    /// A function of the sub-group.
    Subgroup(Subgroup),
}

/// Work-item and synchronisation functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "named like the functions")]
pub enum WorkItem {
    /// A query by dimension, and its result for dimensions that do not exist.
    Query(Query, u64),
    WorkDim,
    GlobalLinearId,
    LocalLinearId,
    Barrier,
    Fence,
    /// The clock; a result of two words has the low one first.
    Clock,
}

/// Integer functions that are more than one operation of the IR.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "named like the functions")]
pub enum Integer {
    Abs,
    AbsDiff,
    Hadd,
    Rhadd,
    MadHi,
    MadSat,
    Mul24,
    Mad24,
    Upsample,
    BitfieldInsert,
    BitfieldExtractSigned,
    BitfieldExtractUnsigned,
}

/// Common functions; the first three also of integers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "named like the functions")]
pub enum Common {
    Clamp,
    Min,
    Max,
    Mix,
    Step,
    Smoothstep,
    Degrees,
    Radians,
    Sign,
}

/// Relational functions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "named like the functions")]
pub enum Relational {
    IsEqual,
    IsNotEqual,
    IsGreater,
    IsGreaterEqual,
    IsLess,
    IsLessEqual,
    IsLessGreater,
    IsOrdered,
    IsUnordered,
    IsFinite,
    IsInf,
    IsNan,
    IsNormal,
    Signbit,
    Any,
    All,
    Bitselect,
    Select,
    /// `__cl_select(cond, a, b)`: `cond` is an `int`.
    ClSelect,
}

/// The kind of a sub-group function. If the name ends with the operation, it is taken from there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "named like the functions")]
pub enum Subgroup {
    Query(Query),
    Barrier,
    All,
    Any,
    AllEqual,
    Elect,
    BroadcastFirst,
    /// Also the broadcasts: the value of the work-item of a number.
    Shuffle,
    ShuffleXor,
    ShuffleUp,
    ShuffleDown,
    Rotate,
    /// Of two values that follow each other: one a distance before, one a distance behind.
    ShuffleUpTwo,
    ShuffleDownTwo,
    Reduce,
    ScanInclusive,
    ScanExclusive,
    /// `__cl_ballot(predicate)`: all bits in one number.
    Ballot,
}

/// A row of the table.
#[derive(Debug)]
pub struct Row {
    /// The names, separated by spaces.
    pub names: &'static str,
    /// The scalars that `T` ranges over.
    pub set: &'static [Elem],
    /// How many lanes `T` may have.
    pub lanes: &'static [u8],
    /// The signatures.
    pub sig: &'static str,
    /// How it is lowered.
    pub lower: Lower,
}

/// Every lane count.
pub const V: &[u8] = &[1, 2, 3, 4, 8, 16];
/// Vectors only.
pub const VX: &[u8] = &[2, 3, 4, 8, 16];
/// No vectors.
pub const V1: &[u8] = &[1];
/// The lane counts of geometric functions.
pub const V4: &[u8] = &[1, 2, 3, 4];
/// The lane counts of `cross`.
pub const V34: &[u8] = &[3, 4];
/// No type variable.
pub const NONE: &[Elem] = &[I32];
/// The floats.
pub const F: &[Elem] = &[F32, F64, F16];
/// `float`
pub const FS: &[Elem] = &[F32];
/// The integers.
pub const I: &[Elem] = &[I8, U8, I16, U16, I32, U32, I64, U64];
/// The integers of 32 bits.
pub const I32S: &[Elem] = &[I32, U32];
/// The integers that have a double width.
pub const NARROW: &[Elem] = &[I8, U8, I16, U16, I32, U32];
/// The signed integers.
pub const SIGNED: &[Elem] = &[I8, I16, I32, I64];
/// Everything.
pub const A: &[Elem] = &Elem::ALL;

/// A concrete signature.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sig {
    /// The result.
    pub ret: Ty,
    /// The parameters.
    pub params: Vec<Ty>,
    /// Lanes of `T`: that many components an elementwise function has.
    pub lanes: u8,
    /// How it is lowered.
    pub lower: Lower,
}

impl Row {
    /// How many parameters it has.
    pub fn arity(&self) -> usize {
        params_of(self.sig).count()
    }

    /// The concrete signatures whose `T` has `lanes` lanes. Those of 64-bit and 16-bit floats are there too: the caller
    /// must check whether the device has them.
    pub fn instances(&self, lanes: u8) -> impl Iterator<Item = Sig> + '_ {
        // A row without `T` has instances for its lanes too: those of ballots, for example, count the lanes of the
        // first vector among the arguments.
        let lanes_fit = self.lanes.contains(&lanes);
        // One instance for each address space; all pointers of a signature are in the same one.
        let spaces: &[Space] = match self.sig.contains('p') {
            true => &[Space::Private, Space::Global, Space::Local],
            false => &[Space::Private],
        };
        self.set.iter().filter(move |_| lanes_fit).flat_map(move |&elem| {
            spaces.iter().map(move |&space| Sig {
                ret: ty_of(self.sig, elem, lanes, space),
                params: params_of(self.sig).map(|p| ty_of(p, elem, lanes, space)).collect(),
                lanes,
                lower: self.lower,
            })
        })
    }
}

fn params_of(sig: &str) -> impl Iterator<Item = &str> {
    let inner = sig.split_once('(').map_or("", |(_, rest)| rest.trim_end_matches(')'));
    inner.split(',').filter(|p| !p.is_empty())
}

fn ty_of(pattern: &str, t: Elem, lanes: u8, space: Space) -> Ty {
    let mut letters = pattern.chars();
    let value = |c: Option<char>| match c {
        Some('T') => (t, lanes),
        Some('S') => (t, 1),
        Some('I') => (Elem::int(t.bits(), true), lanes),
        Some('U') => (Elem::int(t.bits(), false), lanes),
        // A comparison of scalars is an `int` whatever their width; of vectors, an integer as wide as the components.
        Some('B') if lanes == 1 => (I32, 1),
        Some('B') => (Elem::int(t.bits(), true), lanes),
        Some('N') => (I32, lanes),
        Some('W') => (t.wider(), lanes),
        Some('b') => (U32, 4),
        Some('w') => (U32, 2),
        Some('u') => (U32, 1),
        Some('z') => (U64, 1),
        Some('f') => (F32, 1),
        _ => (I32, 1),
    };
    match letters.next() {
        Some('v') => Ty::Void,
        Some('p') => {
            let (elem, lanes) = value(letters.next());
            Ty::Ptr(space, elem, lanes)
        }
        c => {
            let (elem, lanes) = value(c);
            Ty::Value(elem, lanes)
        }
    }
}

static INDEX: LazyLock<HashMap<&'static str, Vec<&'static Row>>> = LazyLock::new(|| {
    let mut index: HashMap<&'static str, Vec<&'static Row>> = HashMap::new();
    for row in all_rows() {
        for name in row.names.split_whitespace() {
            index.entry(name).or_default().push(row);
        }
    }
    index
});

/// Makes the index of names, if nobody has. A child that is forked while another thread makes it would wait for that
/// thread for ever: so a process that forks calls this before.
pub fn make_index() {
    LazyLock::force(&INDEX);
}

fn all_rows() -> impl Iterator<Item = &'static Row> {
    rows::ROWS.iter().chain(group_rows::ROWS)
}

/// The rows of a name; empty if there is none.
pub fn lookup(name: &str) -> &'static [&'static Row] {
    INDEX.get(name).map_or(&[], Vec::as_slice)
}

/// The name as the table has it.
pub fn static_name(name: &str) -> Option<&'static str> {
    INDEX.get_key_value(name).map(|(&name, _)| name)
}

/// The names in the table, in no order.
pub fn names() -> impl Iterator<Item = &'static str> {
    INDEX.keys().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_well_formed() {
        for row in all_rows() {
            assert!(row.sig.ends_with(')') && row.sig.contains('('), "{}", row.sig);
            assert!(row.sig.chars().all(|c| "TSIUBNWbwnuzfvp(),".contains(c)), "{}", row.sig);
            assert!(!row.names.trim().is_empty() && !row.set.is_empty() && !row.lanes.is_empty());
        }
    }

    #[test]
    fn instances_follow_the_lanes() {
        let rows = lookup("ldexp");
        let all: Vec<Sig> = rows.iter().flat_map(|r| r.instances(4)).collect();
        assert!(all.iter().any(|s| s.params == [Ty::Value(F32, 4), Ty::Value(I32, 4)]));
        assert!(all.iter().any(|s| s.params == [Ty::Value(F64, 4), Ty::Value(I32, 1)]));
        let fract: Vec<Sig> = lookup("fract").iter().flat_map(|r| r.instances(1)).collect();
        assert_eq!(fract.iter().filter(|s| s.ret == Ty::Value(F32, 1)).count(), 3, "one per address space");
        let eq: Vec<Sig> = lookup("isequal").iter().flat_map(|r| r.instances(2)).collect();
        assert!(eq.iter().any(|s| s.ret == Ty::Value(I64, 2) && s.params[0] == Ty::Value(F64, 2)));
    }

    #[test]
    fn overloads_of_one_name_have_different_parameters() {
        for name in names() {
            for &lanes in V {
                let mut seen = std::collections::HashSet::new();
                for sig in lookup(name).iter().flat_map(|r| r.instances(lanes)) {
                    let text = mangle(name, &sig.params);
                    assert!(seen.insert(text.clone()), "{text} is there twice");
                }
            }
        }
    }

    #[test]
    fn names_are_mangled_by_parameter() {
        assert_eq!(mangle("dot", [Ty::Value(F32, 4), Ty::Value(F32, 4)]), "dot.f32x4.f32x4");
        assert_eq!(mangle("fract", [Ty::Value(F32, 1), Ty::Ptr(Space::Global, F32, 1)]), "fract.f32.p1f32");
        assert_eq!(mangle::<Ty>("f", []), "f.v");
    }
}
