//! Strip-mined strided loads with a register transpose: loops in which each lane reads a row of its own.
//!
//! In comes the analysed function of one work-item; out goes, if it has such loops, one where these are unrolled.
//!
//! ```c
//! for (uint c = 0; c < columns; c++)
//!     sum += a[r * columns + c] * x[c];   // r: the work-item's
//! ```
//!
//! In one iteration, lanes read addresses that are a row apart. A vector of them is a gather, which uses four bytes of
//! each of as many cache lines. But over iterations each lane reads with unit stride. So the loop is strip-mined: each
//! lane loads one vector for a strip of several iterations, and the widener transposes these vectors in registers
//! ([`crate::emit::widen`]), after which every iteration finds a vector of lanes. The order of a work-item's operations
//! does not change, so that sums of floats have the same bits. The remaining iterations run in the original loop.
//!
//! ```text
//! entries ─▶ head ─▶ header ⇄ body      all lanes have the same trip count: a loop over strips before the loop
//!            ▲ │       │
//!            │ ▼       ▼
//!           strip     exit
//!
//! header ─▶ choice ─▶ body or strip ─▶ latch ─▶ header      divergent: a strip or one iteration at a time
//! ```
//!
//! The longer the strip, the better for the caches: rows whose length is a power of two map to one set of the first
//! cache, which has fewer ways than there are lanes, so that a line is evicted before its lane comes back. Small loops
//! therefore load a whole register at once, which is a line on AVX-512, then four iterations, then one. (A matrix of
//! 4096 by 4096 floats by a vector on two cores, in GB/s: 35 with 16 bytes at a time, 40 with 64.)
//!
//! A load may be done before its iteration because all iterations of the strip are known to come ([`RowLoop::enough`]),
//! and nothing in the loop writes where it reads: nothing at all, or only private memory while it reads other.
//!
//! In a divergent loop, the lanes that are left vote: they run a strip if each of them has so many iterations to come,
//! else one iteration. So what is uniform in an iteration, a counter perhaps, stays uniform.

use crate::analysis::latency;
use crate::analysis::shape::Shape;
use crate::emit::widen::{Surroundings, VectorInput};
use crate::transform::Rewrite;
use cloom_ir::affine::{Affine, Counted, Ext, Facts, HeaderTest};
use cloom_ir::loops::Loop;
use cloom_ir::{
    BinOp, Block, Builder, CloneMap, Edge, Flags, Function, Inst, IntCc, Op, Scalar, Space, Term, Type, Value,
};
use rustc_hash::{FxHashMap, FxHashSet};

/// Iterations of a short strip: four elements of 32 bits are the shortest vector that is loaded in one piece, and four
/// bytes are one number.
const SHORT_STRIP: u16 = 4;

/// Loops with more instructions are left as they are.
const MAX_INSTS: usize = 80;

/// Strips longer than [`SHORT_STRIP`] have so many instructions at most.
const MAX_COPIES: usize = 320;

/// Largest step of a loop's counter: the steps of the longest strip then fit in any counter.
const MAX_STEP: i64 = 1 << 8;

/// The function with such loops strip-mined, if it has any, and where in the source they are.
pub fn run(item: &VectorInput, around: &Surroundings<'_>) -> Option<Rewrite> {
    let loops = find(item, around.register, |_| true);
    if loops.is_empty() {
        return None;
    }
    let mut func = item.func.clone();
    let mut spans = Vec::new();
    for l in &loops {
        l.write(&mut func);
        spans.push(func.blocks[l.counted.test.header].term_span);
    }
    Some(Rewrite::of(item, func, spans))
}

/// Whether such loops are among the deepest, where the time goes. A vector register has so many bytes.
pub fn are_deepest(item: &VectorInput, register: u32) -> bool {
    let deepest: FxHashSet<Block> = latency::deepest(item).iter().map(|l| l.header).collect();
    !find(item, register, |l| deepest.contains(&l.header)).is_empty()
}

/// The loops to be strip-mined, of those that are wanted.
fn find<'a>(item: &'a VectorInput, register: u32, is_wanted: impl Fn(&Loop) -> bool) -> Vec<RowLoop<'a>> {
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
                Op::Store { .. } if is_access && func.ty(data.args[0]).space() == Some(Space::Private) => stores = true,
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
struct RowLoop<'a> {
    item: &'a VectorInput,
    counted: Counted,
    /// What each iteration adds to the counter.
    step: u64,
    /// Whether lanes leave it in different iterations.
    diverges: bool,
    /// Lengths of strips, the longest first.
    strips: Vec<Strip>,
}

/// Several iterations at once.
struct Strip {
    iterations: u16,
    /// Loads of unit stride, iteration after iteration, which become one for the strip.
    loads: FxHashSet<Inst>,
    /// Whether that has more than four elements.
    is_long: bool,
}

impl<'a> RowLoop<'a> {
    fn find(item: &'a VectorInput, affine: &Affine<'_>, c: &Candidate, register: u32) -> Option<RowLoop<'a>> {
        let counted = affine.counted(c.number)?;
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
            Shape::Strided { by, .. } => by.unsigned_abs() > u64::from(iterations) * u64::from(ty.bytes()),
            _ => true,
        };
        // Four shorter numbers are one number.
        is_apart && (ty.scalar.bits() >= 32 || iterations == SHORT_STRIP)
    }

    /// Writes the strips, each between the longer ones and the original loop.
    fn write(&self, func: &mut Function) {
        for strip in &self.strips {
            if self.diverges { self.write_in_loop(func, strip) } else { self.write_before_loop(func, strip) }
        }
    }

    /// Puts a loop over strips before the loop.
    fn write_before_loop(&self, func: &mut Function, strip: &Strip) {
        let (header, body) = (self.counted.test.header, self.counted.latch);
        let span = func.blocks[header].term_span;
        let types: Vec<Type> = func.blocks[header].params.iter().map(|&p| func.ty(p)).collect();
        let [head, iterations, rest] = std::array::from_fn(|_| func.add_block());
        let outside: Vec<Block> = func.layout.iter().copied().filter(|&b| b != body).collect();
        for b in outside {
            func.blocks[b].term.redirect(header, head);
        }
        let params: Vec<Value> = types.iter().map(|&ty| func.add_block_param(head, ty)).collect();
        let mut map = CloneMap::new(func.blocks[header].params.iter().copied().zip(params.iter().copied()));
        map.clone_insts(func, header, head);
        let counter = params[self.counted.test.index];
        let mut b = Builder { span, ..Builder::new(func, head) };
        let one = b.icmp(self.counted.test.cc, counter, self.counted.test.bound);
        let enough = self.enough(&mut b, counter, strip.iterations);
        // A long strip pays only for vectors that are full.
        let flags = if strip.is_long { Flags::ASSUME_FALSE_OK } else { Flags::empty() };
        let all = b.binary_flags(BinOp::And, one, enough, flags);
        b.branch(all, iterations, rest);
        b.switch_to(rest);
        b.jump(header, &params);
        let next = self.write_strip(func, strip, iterations, map);
        func.set_term(iterations, Term::Jump(Edge::new(head, next)), span);
    }

    /// Puts a strip into the loop as an alternative to the body. All active lanes take the same one of the two, so that
    /// the choice is uniform; both lead to one latch.
    fn write_in_loop(&self, func: &mut Function, strip: &Strip) {
        let (header, body) = (self.counted.test.header, self.counted.latch);
        let span = func.blocks[header].term_span;
        let types: Vec<Type> = func.blocks[header].params.iter().map(|&p| func.ty(p)).collect();
        let [choice, iterations, latch] = std::array::from_fn(|_| func.add_block());
        func.blocks[header].term.redirect(body, choice);
        func.blocks[body].term.redirect(header, latch);
        let params: Vec<Value> = types.iter().map(|&ty| func.add_block_param(latch, ty)).collect();
        func.set_term(latch, Term::Jump(Edge::new(header, params)), span);
        let mut b = Builder { span, ..Builder::new(func, choice) };
        let enough = self.enough(&mut b, self.counted.test.counter, strip.iterations);
        let (yes, none) = (b.iconst(Type::I1, 1), b.iconst(Type::I64, 0));
        let few = b.binary(BinOp::Xor, enough, yes);
        let who = b.subgroup_ballot(few);
        let all = b.icmp(IntCc::Eq, who, none);
        b.branch(all, iterations, body);
        let next = self.write_strip(func, strip, iterations, CloneMap::default());
        func.set_term(iterations, Term::Jump(Edge::new(latch, next)), span);
    }

    /// Whether all iterations of a strip come, if its first one does. The counter is then not above the bound, so that
    /// their difference, read without a sign, is the distance between them, whether they are compared as signed or as
    /// unsigned numbers. More than the distance of the strip's last iteration must be left.
    ///
    /// A counter that ends at one number may be above it and wrap on the way. That it is below is checked.
    fn enough(&self, b: &mut Builder<'_>, counter: Value, iterations: u16) -> Value {
        let last = b.iconst(b.ty(counter), u64::from(iterations - 1) * self.step);
        let left = b.binary(BinOp::Sub, self.counted.test.bound, counter);
        let more = if self.counted.test.is_inclusive() { IntCc::Uge } else { IntCc::Ugt };
        let enough = b.icmp(more, left, last);
        if self.counted.test.cc != IntCc::Ne {
            return enough;
        }
        let below = b.icmp(IntCc::Ult, counter, self.counted.test.bound);
        b.binary(BinOp::And, enough, below)
    }

    /// The iterations of a strip, with the values that `map` has for those of the first one. Gives the values that
    /// the header's parameters have after it.
    fn write_strip(&self, func: &mut Function, strip: &Strip, to: Block, mut map: CloneMap) -> Vec<Value> {
        let (header, body) = (self.counted.test.header, self.counted.latch);
        let params = func.blocks[header].params.clone();
        let mut vectors = FxHashMap::default();
        for n in 0..strip.iterations {
            if n > 0 {
                map.clone_insts(func, header, to);
            }
            for i in func.blocks[body].insts.clone() {
                if strip.loads.contains(&i) {
                    extract_element(func, i, to, (n, strip.iterations), &mut vectors, &mut map);
                } else {
                    map.clone_inst(func, i, to);
                }
            }
            let next: Vec<Value> = match func.blocks[body].term.edge(0) {
                Some(e) => e.args.iter().map(|&v| map.value(v)).collect(),
                None => Vec::new(),
            };
            map.values.extend(params.iter().copied().zip(next));
        }
        params.iter().map(|&p| map.value(p)).collect()
    }
}

/// Maps the result of a load, in iteration `n` of a strip, to its part of the vector that the first iteration loads.
fn extract_element(
    func: &mut Function,
    i: Inst,
    to: Block,
    (n, iterations): (u16, u16),
    vectors: &mut FxHashMap<Inst, Value>,
    map: &mut CloneMap,
) {
    let data = func.insts[i].clone();
    let (Op::Load { align }, Some(result)) = (data.op, data.result) else { return };
    let ty = func.ty(result);
    let p = map.value(data.args[0]);
    let mut b = Builder { span: data.span, ..Builder::new(func, to) };
    let whole = Type::vector(ty.scalar, ty.lanes * iterations);
    let whole = *vectors.entry(i).or_insert_with(|| b.load(whole, p, align, data.flags));
    let lanes: Vec<u16> = (n * ty.lanes..(n + 1) * ty.lanes).collect();
    let part = if ty.is_vector() { b.shuffle(whole, whole, &lanes) } else { b.extract_lane(whole, n) };
    map.values.insert(result, part);
}

#[cfg(test)]
mod tests {
    use crate::VectorOptions;
    use cloom_passes::PassOptions;

    /// How many loops are strip-mined of `for (int i = start; i CC n; i += step) sum += row[…]`, where a work-item's
    /// row of floats begins at v9, the counter is v10, and `address` computes v50 in the body.
    fn strip_mined(cc: &str, step: u32, address: &str) -> usize {
        let text = format!(
            "func external @k(ptr<global>, ptr<global>, i32, i32) kernel {{
  param \"out\" \"float*\" global size 8 align 8
  param \"in\" \"float*\" global size 8 align 8
  param \"n\" \"int\" value size 4 align 4
  param \"start\" \"int\" value size 4 align 4
}} {{
bb0(v0: ptr<global>, v1: ptr<global>, v2: i32, v3: i32):
    v4: i64 = query global_id 0
    v5: i64 = const 0x40000
    v6: i64 = const 0x4
    v7: i32 = const {step}
    v8: i64 = mul v4, v5
    v9: ptr<global> = ptradd v1, v8
    v60: i32 = const 0x2
    v61: f32 = const 0x0
    jump bb1(v3, v61)
bb1(v10: i32, v11: f32):
    v12: i1 = icmp {cc} v10, v2
    br v12, bb2, bb3
bb2:
{address}
    v51: f32 = load v50 align 4
    v52: f32 = fadd v11, v51
    v53: i32 = add v10, v7
    jump bb1(v53, v52)
bb3:
    v54: i64 = mul v4, v6
    v55: ptr<global> = ptradd v0, v54
    store v55, v11 align 4
    ret
}}"
        );
        let mut module = cloom_ir::parse(&text).unwrap();
        let kernel = module.kernels().next().unwrap();
        let target = "x86_64-unknown-linux-gnu:x86-64-v3".parse().unwrap();
        let options = VectorOptions::with_lanes(8);
        let made = crate::work_group_function(&mut module, kernel, options, &target, &PassOptions::default()).unwrap();
        made.statistics.changes(crate::passes::ROW_TRANSPOSE.name)
    }

    fn element(ext: &str, index: &str) -> String {
        format!("    v13: i64 = {ext} {index}\n    v14: i64 = mul v13, v6\n    v50: ptr<global> = ptradd v9, v14")
    }

    /// An element at the counter itself, as bytes.
    fn bytes_of_steps() -> String {
        "    v13: i64 = zext v10\n    v50: ptr<global> = ptradd v9, v13".into()
    }

    #[test]
    fn a_row_is_found_however_its_index_is_written() {
        let address =
            |offset: &str| format!("    v13: i64 = sext v10\n{offset}\n    v50: ptr<global> = ptradd v9, v14");
        assert_eq!(strip_mined("slt", 1, &address("    v14: i64 = mul v13, v6")), 1);
        assert_eq!(strip_mined("slt", 1, &address("    v14: i64 = mul v6, v13")), 1);
        assert_eq!(strip_mined("slt", 1, &address("    v15: i64 = zext v60\n    v14: i64 = shl v13, v15")), 1);
        // In bytes, before it is widened.
        let bytes = |flag: &str| {
            format!(
                "    v13: i32 = shl {flag} v10, v60\n    v14: i64 = sext v13\n    v50: ptr<global> = ptradd v9, v14"
            )
        };
        assert_eq!(strip_mined("slt", 1, &bytes("nsw")), 1);
        assert_eq!(strip_mined("slt", 1, &bytes("")), 0);
        // A long sum of what the loop does not change.
        let sum = |flag: &str| {
            let line = |n: usize| {
                let before = if n == 0 { 10 } else { 99 + n };
                format!("    v{}: i32 = add {flag} v{before}, v{}\n", 100 + n, 2 + n % 2)
            };
            (0..20).map(line).collect::<String>() + &element("sext", "v119")
        };
        assert_eq!(strip_mined("slt", 1, &sum("nsw")), 1);
        assert_eq!(strip_mined("slt", 1, &sum("")), 0);
    }

    #[test]
    fn a_stride_that_is_not_the_size_of_an_element_is_none_of_a_row() {
        assert_eq!(strip_mined("slt", 2, &element("sext", "v10")), 0);
        assert_eq!(strip_mined("slt", 0, &element("sext", "v10")), 0);
        assert_eq!(strip_mined("slt", 1, &element("sext", "v10").replace("v13, v6", "v13, v13")), 0);
    }

    #[test]
    fn the_check_of_a_strip_speaks_for_one_reading_of_the_counter() {
        // The bound may be the largest number: that the counter stays below is known of a strip alone.
        assert_eq!(strip_mined("sle", 1, &element("sext", "v10")), 1);
        assert_eq!(strip_mined("ule", 1, &element("zext", "v10")), 1);
        // From -1 to 0, or from 2^31 - 1 to 2^31, the wide number jumps.
        assert_eq!(strip_mined("sle", 1, &element("zext", "v10")), 0);
        assert_eq!(strip_mined("ule", 1, &element("sext", "v10")), 0);
        // What ends at a number is checked to be below it, without a sign, and comes to it in steps of one.
        assert_eq!(strip_mined("ne", 1, &element("zext", "v10")), 1);
        assert_eq!(strip_mined("ne", 1, &element("sext", "v10")), 0);
        assert_eq!(strip_mined("ne", 4, &bytes_of_steps()), 0);
        // There is no bound.
        assert_eq!(strip_mined("eq", 1, &element("zext", "v10")), 0);
    }
}
