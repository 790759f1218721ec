//! Counted loops in which each lane reads a row of its own, and the strips of iterations in which such loads are one
//! load of a vector. `transform::row_transpose` rewrites them.

use crate::analysis::input::VectorInput;
use crate::analysis::latency;
use crate::analysis::shape::Shape;
use cloom_ir::affine::{Affine, Counted, Ext, Facts, HeaderTest};
use cloom_ir::loops::Loop;
use cloom_ir::{Block, Flags, Inst, IntCc, Op, Scalar, Space, Type, Value};
use rustc_hash::FxHashSet;

/// Iterations of a short strip: four elements of 32 bits are the shortest vector that is loaded in one piece, and four
/// bytes are one number.
const SHORT_STRIP: u16 = 4;

/// Loops with more instructions are left as they are.
const MAX_INSTS: usize = 80;

/// Strips longer than [`SHORT_STRIP`] have so many instructions at most.
const MAX_COPIES: usize = 320;

/// Largest step of a loop's counter: the steps of the longest strip then fit in any counter.
const MAX_STEP: i64 = 1 << 8;

/// Whether such loops are among the deepest, where the time goes. A vector register has so many bytes.
pub fn are_deepest(item: &VectorInput, register: u32) -> bool {
    let deepest: FxHashSet<Block> = latency::deepest(item).iter().map(|l| l.header).collect();
    !find(item, register, |l| deepest.contains(&l.header)).is_empty()
}

/// The loops to be strip-mined, of those that are wanted.
pub(crate) fn find<'a>(item: &'a VectorInput, register: u32, is_wanted: impl Fn(&Loop) -> bool) -> Vec<RowLoop<'a>> {
    let numbered = item.loops.loops.iter().enumerate().filter(|(_, l)| is_wanted(l));
    let candidates: Vec<Candidate> = numbered.filter_map(|(number, l)| Candidate::find(item, number, l)).collect();
    if candidates.is_empty() {
        return Vec::new();
    }
    // A strip runs only after a check that the counter of its last iteration is below the bound too, as the header
    // compares them (`RowLoop::enough`). So within a strip the counter does not wrap in the reading of that comparison.
    // In the other reading it may: an unsigned counter may pass 2^31.
    let no_wrap = |v: Value, ext| candidates.iter().any(|c| c.test.counter == v && reading(&c.test) == Some(ext));
    let facts = Facts { no_wrap: &no_wrap, ..Facts::default() };
    let affine = item.affine(facts);
    candidates.iter().filter_map(|c| RowLoop::find(item, &affine, c, register)).collect()
}

/// A loop that may be one, as far as that is seen without an analysis of its addresses.
struct Candidate {
    /// Index into the function's loops.
    number: usize,
    test: HeaderTest,
    /// Loads whose lanes read different rows if their stride from iteration to iteration is their size.
    loads: Vec<Inst>,
}

impl Candidate {
    fn find(item: &VectorInput, number: usize, l: &Loop) -> Option<Candidate> {
        let func = &item.func;
        let (_, body) = l.header_and_body(func).filter(|&(_, body)| func.blocks[body].params.is_empty())?;
        let test = HeaderTest::of(func, l).filter(|test| reading(test).is_some())?;
        // Narrower counters than `int` may not hold the steps of a strip.
        if func.ty(test.bound).scalar.bits() < 32 {
            return None;
        }
        let mut stores = false;
        let mut count = 0;
        for &i in l.blocks.iter().flat_map(|&b| &func.blocks[b].insts) {
            let data = &func.insts[i];
            let is_access = !data.flags.contains(Flags::VOLATILE);
            match data.op {
                Op::Load { .. } if is_access => {}
                // Private memory is the work-item's own: loads of other memory do not see the store.
                Op::Store { .. } if is_access && func.ty(data.args[0]).space() == Some(Space::Private) => stores = true,
                // Any other effect might change what a load reads that runs ahead.
                _ if data.op.is_pure() => {}
                _ => return None,
            }
            count += 1;
        }
        let loads = func.blocks[body].insts.iter().copied().filter(|&i| may_read_row(item, i, stores)).collect();
        let candidate = Candidate { number, test, loads };
        (count <= MAX_INSTS && !candidate.loads.is_empty()).then_some(candidate)
    }
}

/// As which numbers the counter does not pass its bound in a strip: those that the header compares, and unsigned ones
/// where it compares for equality alone ([`RowLoop::enough`]).
fn reading(test: &HeaderTest) -> Option<Ext> {
    if test.cc == IntCc::Ne { Some(Ext::Unsigned) } else { test.reading() }
}

/// Whether an instruction loads elements that can be transposed, which are not adjacent in neighbouring lanes, from
/// memory to which the loop does not store.
fn may_read_row(item: &VectorInput, i: Inst, stores: bool) -> bool {
    let func = &item.func;
    let data = &func.insts[i];
    let (Op::Load { .. }, Some(result)) = (&data.op, data.result) else { return false };
    let ty = func.ty(result);
    let is_apart = matches!(item.shapes.of(data.args[0]), Shape::Varying | Shape::Strided { checked: false, .. });
    let is_shared = matches!(func.ty(data.args[0]).space(), Some(Space::Global | Space::Constant | Space::Local));
    let is_word = matches!(ty.scalar, Scalar::F32 | Scalar::I32);
    let is_known = is_word && ty.lanes.is_power_of_two() || matches!(ty, Type::I16 | Type::I8);
    is_apart && is_known && item.shapes.arrays.unit(data.args[0]).is_none() && (is_shared || !stores)
}

/// A counted loop of a header and a body, in which lanes read rows.
pub(crate) struct RowLoop<'a> {
    item: &'a VectorInput,
    pub counted: Counted,
    /// What each iteration adds to the counter.
    pub step: u64,
    /// Whether lanes leave it in different iterations.
    pub diverges: bool,
    /// Lengths of strips, the longest first.
    pub strips: Vec<Strip>,
}

/// Several iterations at once.
pub(crate) struct Strip {
    pub iterations: u16,
    /// Loads of unit stride, iteration after iteration, which become one for the strip.
    pub loads: FxHashSet<Inst>,
    /// Whether that has more than four elements.
    pub is_long: bool,
}

impl<'a> RowLoop<'a> {
    fn find(item: &'a VectorInput, affine: &Affine<'_>, c: &Candidate, register: u32) -> Option<RowLoop<'a>> {
        let counted = affine.counted(c.number)?;
        // A counter that ends at one number may pass it unless it goes up by one.
        let most = if counted.test.cc == IntCc::Ne { 1 } else { MAX_STEP };
        let step = counted.step.as_const().filter(|step| (1..=most).contains(step))?.unsigned_abs();
        let func = &item.func;
        // The slope of an address takes promises of the body for granted: all iterations of a strip run the body.
        let has_unit_stride = |i: &Inst| {
            let data = &func.insts[*i];
            let bytes = data.result.map(|r| i64::from(func.ty(r).bytes()));
            affine.const_slope(c.number, data.args[0]) == bytes
        };
        let loads: Vec<Inst> = c.loads.iter().copied().filter(has_unit_stride).collect();
        let diverges = item.shapes.diverges(counted.test.header);
        let mut found = RowLoop { item, counted, step, diverges, strips: Vec::new() };
        found.strips = found.strips(&loads, register);
        (!found.strips.is_empty()).then_some(found)
    }

    /// The lengths of strips at which some of these loads are done in one piece.
    fn strips(&self, row_loads: &[Inst], register: u32) -> Vec<Strip> {
        let func = &self.item.func;
        let bytes = |i: Inst| func.insts[i].result.map_or(0, |r| func.ty(r).bytes());
        // Lanes that leave in different iterations seldom all have many to come.
        let longest = if self.diverges { SHORT_STRIP } else { u16::MAX };
        let blocks = [self.counted.test.header, self.counted.latch];
        // Code grows by a copy of both blocks for each iteration of a strip.
        let insts = blocks.iter().flat_map(|&b| &func.blocks[b].insts);
        let copied = insts.filter(|&&i| !matches!(func.insts[i].op, Op::Const(_))).count();
        let mut strips: Vec<Strip> = Vec::new();
        for n in [16, 8, SHORT_STRIP, 2].into_iter().filter(|&n| n <= longest) {
            let fits = |i: &Inst| bytes(*i) * u32::from(n) <= register && self.is_one_piece(*i, n);
            let loads: FxHashSet<Inst> = row_loads.iter().copied().filter(fits).collect();
            // The first length is what a register has room for; that of four iterations is for shorter elements.
            let fills = loads.iter().any(|&i| bytes(i) * u32::from(n) == register);
            let is_small = n <= SHORT_STRIP || copied * usize::from(n) <= MAX_COPIES && self.may_have(n);
            if !loads.is_empty() && is_small && (strips.is_empty() && fills || n == SHORT_STRIP) {
                let long = u32::from(SHORT_STRIP) * Type::I32.bytes();
                let is_long = loads.iter().any(|&i| bytes(i) * u32::from(n) > long);
                strips.push(Strip { iterations: n, loads, is_long });
            }
        }
        strips
    }

    /// Whether nothing says that there are fewer iterations.
    fn may_have(&self, iterations: u16) -> bool {
        let bound = self.item.func.const_bits(self.counted.test.bound);
        bound.is_none_or(|bound| bound >= u64::from(iterations) * self.step)
    }

    /// Whether what a load reads in a strip is one piece for each lane, and pieces of neighbouring lanes do not
    /// overlap.
    fn is_one_piece(&self, i: Inst, iterations: u16) -> bool {
        let func = &self.item.func;
        let data = &func.insts[i];
        let Some(ty) = data.result.map(|r| func.ty(r)) else { return false };
        let is_apart = match self.item.shapes.of(data.args[0]) {
            // Pieces that overlap, as of a filter's window, would be loaded several times over.
            Shape::Strided { by, .. } => by.unsigned_abs() > u64::from(iterations) * u64::from(ty.bytes()),
            _ => true,
        };
        // Four shorter numbers are one number.
        is_apart && (ty.scalar.bits() >= 32 || iterations == SHORT_STRIP)
    }
}
