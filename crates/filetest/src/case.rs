//! A kernel with a range and arguments, and the outcome of a run.

pub use cloom_interp::NdRange;
use cloom_ir::{Entity, Module, Op, StrRef, Type, abi};
use std::collections::HashMap;
use std::ops::Range;

/// One argument.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CaseArg {
    /// A buffer with these bytes before the run.
    Buffer(Vec<u8>),
    /// The buffer of the argument with this number, which comes earlier, once more.
    Again(usize),
    /// The bytes of a value or a structure.
    Bytes(Vec<u8>),
    /// So many bytes of local memory.
    Local(u64),
}

/// A test case.
#[derive(Clone, Debug)]
pub struct Case {
    /// The program, with the bodies of all functions that the kernel calls.
    pub module: Module,
    /// The kernel's name.
    pub kernel: String,
    /// The range.
    pub range: NdRange,
    /// The arguments.
    pub args: Vec<CaseArg>,
    /// Whether a read of unwritten bytes is a failure.
    pub initialised: bool,
}

/// One print: the work-item, the format, and the block of arguments.
pub type Print = (u64, StrRef, Vec<u8>);

/// The outcome of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The bytes of each buffer, in order of the arguments.
    pub buffers: Vec<Vec<u8>>,
    /// What was printed, by work-item; each one's prints in their order.
    pub printed: Vec<Print>,
}

impl Outcome {
    /// Sorts prints by work-item. Of their arguments only what is compared is kept: no padding, no addresses (which
    /// `%s` gets too).
    pub fn new(module: &Module, buffers: Vec<Vec<u8>>, printed: impl Iterator<Item = Print>) -> Self {
        let places = print_places(module);
        let kept = |f: &StrRef, args: &[u8]| -> Vec<u8> {
            let ranges = places.get(f).into_iter().flatten();
            ranges.filter_map(|r| args.get(r.clone())).flatten().copied().collect()
        };
        let mut printed: Vec<Print> = printed.map(|(item, f, args)| (item, f, kept(&f, &args))).collect();
        // Work-items print in any order. The sort is stable, so that the prints of each stay in theirs.
        printed.sort_by_key(|p| p.0);
        Self { buffers, printed }
    }

    /// Where two outcomes differ, in words.
    pub fn difference(&self, other: &Outcome) -> Option<String> {
        for (i, (a, b)) in self.buffers.iter().zip(&other.buffers).enumerate() {
            if let Some(at) = a.iter().zip(b).position(|(x, y)| x != y) {
                let at = at & !7;
                let part = |s: &[u8]| format!("{:02x?}", &s[at..(at + 8).min(s.len())]);
                return Some(format!("buffer {i} at byte {at}: {} and {}", part(a), part(b)));
            }
        }
        let differs = |(a, b): &(&Print, &Print)| a != b;
        if let Some((a, b)) = self.printed.iter().zip(&other.printed).find(differs) {
            return Some(format!("prints {a:02x?} and {b:02x?}"));
        }
        if self.printed.len() != other.printed.len() {
            return Some(format!("{} and {} prints", self.printed.len(), other.printed.len()));
        }
        (self != other).then(|| "the number of buffers".into())
    }
}

/// A format's number as devices report it.
pub fn format_ref(number: u32) -> StrRef {
    StrRef::new(number as usize)
}

/// The offsets of the numbers among each format's arguments.
fn print_places(module: &Module) -> HashMap<StrRef, Vec<Range<usize>>> {
    let mut places = HashMap::new();
    for func in module.funcs.values() {
        for inst in func.insts.values() {
            let Op::Printf(format) = inst.op else { continue };
            let types: Vec<Type> = inst.args.iter().skip(1).map(|&v| func.ty(v)).collect();
            let (offsets, _) = abi::printf_layout(types.iter().copied());
            let list = types.iter().zip(offsets).filter(|(ty, _)| !ty.is_ptr());
            let range = |(ty, at): (&Type, u32)| at as usize..(at + ty.bytes()) as usize;
            places.entry(format).or_insert_with(|| list.map(range).collect());
        }
    }
    places
}
