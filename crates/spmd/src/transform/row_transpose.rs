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

use crate::analysis::input::{FunctionContext, Rewrite, VectorInput};
use crate::analysis::row_loops::{self, RowLoop, Strip};
use cloom_ir::{BinOp, Block, Builder, CloneMap, Edge, Flags, Function, Inst, IntCc, Op, Term, Type, Value};
use rustc_hash::FxHashMap;

/// The function with such loops strip-mined, if it has any, and where in the source they are.
pub fn run(item: &VectorInput, around: &FunctionContext<'_>) -> Option<Rewrite> {
    let loops = row_loops::find(item, around.register, |_| true);
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

impl RowLoop<'_> {
    /// Writes the strips, each between the longer ones and the original loop.
    fn write(&self, func: &mut Function) {
        // The longest first: each later one is put between it and the loop, as edges into the header are redirected
        // again.
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
        // `enough` takes for granted that the first iteration comes.
        let one = b.icmp(self.counted.test.cc, counter, self.counted.test.bound);
        let enough = self.enough(&mut b, counter, strip.iterations);
        // A long strip pays only for vectors that are full.
        let flags = if strip.is_long { Flags::ASSUME_FALSE_OK } else { Flags::empty() };
        let all = b.binary_flags(BinOp::And, one, enough, flags);
        b.branch(all, iterations, rest);
        b.switch_to(rest);
        // The original loop tests its condition itself.
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
        // The body and the strip jump to one latch, as canonical form wants one.
        let [choice, iterations, latch] = std::array::from_fn(|_| func.add_block());
        func.blocks[header].term.redirect(body, choice);
        func.blocks[body].term.redirect(header, latch);
        let params: Vec<Value> = types.iter().map(|&ty| func.add_block_param(latch, ty)).collect();
        func.set_term(latch, Term::Jump(Edge::new(header, params)), span);
        let mut b = Builder { span, ..Builder::new(func, choice) };
        let enough = self.enough(&mut b, self.counted.test.counter, strip.iterations);
        let (yes, none) = (b.iconst(Type::I1, 1), b.iconst(Type::I64, 0));
        let few = b.binary(BinOp::Xor, enough, yes);
        // A vote: the bits of the lanes that are on and have too few iterations left.
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
            // In the first iteration, the header's instructions were run already, by the header or its clone.
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
            // What the body passes to the header is what the next iteration begins with.
            let next: Vec<Value> = match func.blocks[body].term.edge(0) {
                Some(e) => e.args.iter().map(|&v| map.value(v)).collect(),
                None => Vec::new(),
            };
            // All next values are read from the old map before any is replaced: parameters may be permuted.
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
    // In the first iteration of the strip, at its address; the others take their parts.
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
