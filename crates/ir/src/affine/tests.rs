//! The queries of each user, and a comparison of forms with the values that small random loops compute.

use super::*;
use crate::dom::DomTree;
use crate::flags::Flags;
use crate::inst::{BinOp, CastOp, IntCc, Op, Query, Term};
use crate::{Builder, Module, Type, eval, parse, verify};

/// The first function of a text, analysed.
fn with(text: &str, facts: Facts<'_>, ask: impl FnOnce(&Function, &Affine<'_>)) {
    let module = parse(text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(verify(&module), []);
    let func = module.funcs.values().next().unwrap();
    let cfg = Cfg::new(func);
    let loops = Loops::new(func, &cfg, &DomTree::new(func, &cfg));
    ask(func, &Affine::new(func, &cfg, &loops, facts));
}

fn v(n: usize) -> Value {
    Value::new(n)
}

/// `for (i = 0; i < v1; i += STEP) p[i]`, with a condition and the flags of the sum.
fn simple(cc: &str, step: u32, flags: &str) -> String {
    format!(
        "func internal @f(ptr<global>, i32) {{
        bb0(v0: ptr<global>, v1: i32):
            v2: i32 = const 0
            v3: i32 = const {step}
            v4: i64 = const 4
            jump bb1(v2)
        bb1(v5: i32):
            v6: i1 = icmp {cc} v5, v1
            br v6, bb2, bb3
        bb2:
            v7: i64 = sext v5
            v8: i64 = mul v7, v4
            v9: ptr<global> = ptradd v0, v8
            v10: i32 = load v9 align 4
            v11: i32 = add {flags} v5, v3
            jump bb1(v11)
        bb3:
            v12: i32 = add v5, v3
            ret
        }}"
    )
}

#[test]
fn an_address_moves_only_as_far_as_is_proved() {
    let slope = |cc: &str, step: u32, flags: &str, facts: Facts<'_>| {
        let mut found = None;
        with(&simple(cc, step, flags), facts, |_, a| found = a.const_slope(0, v(9)));
        found
    };
    let none = Facts::default();
    assert_eq!(slope("slt", 1, "", none), Some(4));
    assert_eq!(slope("ult", 1, "", none), None);
    assert_eq!(slope("sle", 1, "", none), None);
    assert_eq!(slope("slt", 2, "", none), None);
    assert_eq!(slope("ne", 1, "", none), None);
    assert_eq!(slope("ne", 2, "nsw", none), Some(8));
    assert_eq!(slope("ne", 2, "nuw", none), None);
    let small = Facts { range: &|x| (x == v(1)).then_some((0, 1 << 20)), ..none };
    assert_eq!(slope("sle", 5, "", small), Some(20));
    // What a pass checks itself: for one reading, which says nothing of the other one.
    assert_eq!(slope("ne", 3, "", Facts { no_wrap: &|x, _| x == v(5), ..none }), Some(12));
    assert_eq!(slope("slt", 3, "", Facts { no_wrap: &|x, ext| (x, ext) == (v(5), Ext::Signed), ..none }), Some(12));
    assert_eq!(slope("ult", 3, "", Facts { no_wrap: &|x, ext| (x, ext) == (v(5), Ext::Unsigned), ..none }), None);
}

/// The slope of a value in the first loop of a function `(ptr<global>, i32)` whose counter is v6, in the header bb1.
fn slope_in_body(body: &str, value: usize) -> Option<i64> {
    let text = format!(
        "func internal @f(ptr<global>, i32) {{
        bb0(v0: ptr<global>, v1: i32):
            v2: i32 = const 0 v3: i32 = const 1 v4: i32 = const 2 v5: i64 = const 4 jump bb1(v2)
        bb1(v6: i32): v7: i1 = icmp slt v6, v1 br v7, bb2, bb3
        bb2: {body}
            v99: i32 = add v6, v3 jump bb1(v99)
        bb3: ret }}"
    );
    let module = parse(&text).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(verify(&module), []);
    let func = module.funcs.values().next().unwrap();
    let cfg = Cfg::new(func);
    let loops = Loops::new(func, &cfg, &DomTree::new(func, &cfg));
    // Values are numbered as they come.
    Affine::new(func, &cfg, &loops, Facts::default()).const_slope(0, v(value))
}

#[test]
fn operands_of_a_product_stand_in_either_order() {
    let address = |product: &str| format!("v8: i32 = {product} v9: i64 = sext v8 v10: ptr<global> = ptradd v0, v9");
    assert_eq!(slope_in_body(&address("mul nsw v6, v4"), 10), Some(2));
    assert_eq!(slope_in_body(&address("mul nsw v4, v6"), 10), Some(2));
    assert_eq!(slope_in_body(&address("shl nsw v6, v3"), 10), Some(2));
    // The product may wrap, though the counter does not.
    assert_eq!(slope_in_body(&address("mul v6, v4"), 10), None);
}

#[test]
fn a_clamp_has_a_range() {
    let text = "func internal @f(i32, i32) {
        bb0(v0: i32, v1: i32): v2: i32 = const 0 v3: i32 = const 1023 v4: i32 = const 0xfffffffb
        v5: i32 = smax v0, v2 v6: i32 = smin v5, v3
        v7: i32 = smin v3, v0 v8: i32 = smax v4, v7
        v9: i32 = smax v0, v1 v10: i64 = sext v6
        v11: i32 = smin v6, v8 ret }";
    with(text, Facts::default(), |_, a| {
        let ranges = [5, 6, 7, 8, 9, 10, 11].map(|n| a.range(v(n)));
        let (min, max) = (i64::from(i32::MIN), i64::from(i32::MAX));
        let clamp = Some((0, 1023));
        let own = [Some((0, max)), clamp, Some((min, 1023)), Some((-5, 1023)), None, clamp, Some((-5, 1023))];
        assert_eq!(ranges, own);
    });
}

#[test]
fn a_long_sum_keeps_its_slope() {
    let sum: String =
        (8..68).map(|n| format!("v{n}: i32 = add nsw v{}, v4 ", if n == 8 { 6 } else { n - 1 })).collect();
    let address = "v68: i64 = sext v67 v69: i64 = mul v68, v5 v70: ptr<global> = ptradd v0, v69";
    assert_eq!(slope_in_body(&(sum + address), 70), Some(4));
}

#[test]
fn a_header_with_several_entries_has_a_start_of_its_own() {
    let text = "func internal @f(i1, i32, ptr<global>) {
        bb0(v0: i1, v1: i32, v2: ptr<global>): v3: i32 = const 1 v4: i64 = const 4 v5: i32 = const 0 jump bb1(v5)
        bb1(v6: i32): v7: i1 = icmp slt v6, v1 br v7, bb2, bb7
        bb2: br v0, bb3, bb4
        bb3: jump bb5(v6)
        bb4: jump bb5(v3)
        bb5(v8: i32): v9: i1 = icmp slt v8, v1 br v9, bb6, bb8
        bb6: v10: i64 = sext v8 v11: i64 = mul v10, v4 v12: ptr<global> = ptradd v2, v11 store v12, v8 align 4
             v13: i32 = add nsw v8, v3 jump bb5(v13)
        bb8: v14: i32 = add nsw v6, v3 jump bb1(v14)
        bb7: ret }";
    with(text, Facts::default(), |f, a| {
        let inner = a.loops.loops.iter().position(|l| l.header == f.layout[5]).unwrap();
        assert_eq!(a.const_slope(inner, v(12)), Some(4));
        let start = Form::symbol(64, Symbol::Start(v(8), Ext::Signed)).scaled(4);
        assert_eq!(a.first(inner, v(12)), Some(a.form(v(2), Ext::Own).plus(&start)));
        // It differs from iteration to iteration of the loop around.
        assert_eq!(a.const_slope(1 - inner, v(12)), None);
    });
}

#[test]
fn the_test_of_a_header_is_found_without_an_analysis() {
    with(&simple("ule", 1, ""), Facts::default(), |f, a| {
        let test = HeaderTest::of(f, &a.loops.loops[0]).unwrap();
        assert_eq!(a.header_test(0), Some(test));
        assert_eq!(
            (test.counter, test.bound, test.reading(), test.is_inclusive()),
            (v(5), v(1), Some(Ext::Unsigned), true)
        );
    });
    with(&simple("ne", 1, ""), Facts::default(), |f, a| {
        assert_eq!(HeaderTest::of(f, &a.loops.loops[0]).unwrap().reading(), None);
    });
}

#[test]
fn a_recurrence_says_in_which_reading_it_holds() {
    with(&simple("slt", 1, ""), Facts::default(), |_, a| {
        let r = a.recurrence_of(0, v(5)).unwrap();
        assert_eq!((r.start.as_const(), r.step.as_const(), r.nsw, r.nuw), (Some(0), Some(1), true, false));
        assert_eq!(a.recurrence_of(0, v(1)), None);
    });
}

#[test]
fn a_parameter_that_is_a_symbol_stays_one() {
    let is_symbol = |x: Value| x == v(5);
    with(&simple("slt", 1, ""), Facts { is_symbol: &is_symbol, ..Facts::default() }, |_, a| {
        assert_eq!(a.recurrence_of(0, v(5)), None);
        let [base, counter] =
            [(0, Ext::Own), (5, Ext::Signed)].map(|(n, ext)| Form::symbol(64, Symbol::Value(v(n), ext)));
        assert_eq!(a.form(v(9), Ext::Own), base.plus(&counter.scaled(4)));
    });
}

#[test]
fn a_step_may_be_a_parameter_that_does_not_change() {
    let text = "func internal @f(i32, i32) {
        bb0(v0: i32, v1: i32): v2: i32 = const 0 jump bb1(v2, v1)
        bb1(v3: i32, v4: i32): v5: i1 = icmp slt v3, v0 br v5, bb2, bb3
        bb2: v6: i32 = add nsw v3, v4 jump bb1(v6, v4)
        bb3: ret }";
    with(text, Facts::default(), |_, a| {
        let r = a.recurrence_of(0, v(3)).unwrap();
        assert_eq!((r.step.as_value(), r.nsw, r.nuw), (Some(v(1)), true, false));
    });
}

#[test]
fn after_its_loop_a_counter_is_a_value() {
    with(&simple("slt", 1, ""), Facts::default(), |_, a| {
        let own = Form::symbol(32, Symbol::Value(v(5), Ext::Own));
        assert_eq!(a.form(v(12), Ext::Own), own.plus(&Form::constant(32, 1)));
        assert_eq!(a.form(v(11), Ext::Own), Form::symbol(32, Symbol::Iteration(0)).plus(&Form::constant(32, 1)));
    });
}

#[test]
fn trip_counts_of_constant_loops() {
    // Start, step, condition, bound; how often.
    for (start, step, cc, bound, trips) in [
        (0, 1, "slt", 10, Some(10)),
        (0, 3, "slt", 10, Some(4)),
        (1, 3, "sle", 10, Some(4)),
        (0, 4, "ule", 3, Some(1)),
        (5, 1, "ult", 5, Some(0)),
        (9, 1, "slt", 5, Some(0)),
        (0, 1, "ne", 10, None),
        (0, 1, "sle", 0x7fff_ffff, None),
        (0, 0, "slt", 10, None),
    ] {
        let text = format!(
            "func internal @f() {{
            bb0: v0: i32 = const {start} v1: i32 = const {step} v2: i32 = const {bound} jump bb1(v0)
            bb1(v3: i32): v4: i1 = icmp {cc} v3, v2 br v4, bb2, bb3
            bb2: v5: i32 = add v3, v1 jump bb1(v5)
            bb3: ret }}"
        );
        with(&text, Facts::default(), |_, a| {
            let counted = a.counted(0).unwrap();
            assert_eq!(a.trip_count(&counted).and_then(|r| r.known()), trips, "{start} {step} {cc} {bound}");
        });
    }
}

#[test]
fn the_test_of_a_header_is_turned_to_the_counter() {
    let text = "func internal @f(i32) {
        bb0(v0: i32): v1: i32 = const 3 v2: i32 = const 1 jump bb1(v1)
        bb1(v3: i32): v4: i1 = icmp sle v0, v3 br v4, bb3, bb2
        bb2: v5: i32 = add v3, v2 jump bb1(v5)
        bb3: ret }";
    with(text, Facts::default(), |_, a| {
        let counted = a.counted(0).unwrap();
        assert_eq!((counted.test.counter, counted.test.cc, counted.test.bound), (v(3), IntCc::Slt, v(0)));
        let trips = a.trip_count(&counted).unwrap();
        assert_eq!(trips.distance, a.form(v(0), Ext::Signed).minus(&Form::constant(64, 3)));
        assert_eq!((trips.step, trips.known()), (1, None));
    });
}

#[test]
fn nested_loops_have_a_slope_each() {
    let text = "func internal @f(ptr<global>, i64) {
        bb0(v0: ptr<global>, v1: i64): v2: i64 = const 0 v3: i64 = const 1 v4: i64 = const 2 jump bb1(v2)
        bb1(v5: i64): v6: i1 = icmp slt v5, v1 br v6, bb2, bb5
        bb2: v7: i64 = mul v5, v1 jump bb3(v2)
        bb3(v8: i64): v9: i1 = icmp slt v8, v1 br v9, bb4, bb6
        bb4: v10: i64 = add v7, v8 v11: i64 = shl v10, v4 v12: ptr<global> = ptradd v0, v11 store v12, v8 align 4
             v13: i64 = add v8, v3 jump bb3(v13)
        bb6: v14: i64 = add v5, v3 jump bb1(v14)
        bb5: ret }";
    with(text, Facts::default(), |_, a| {
        assert_eq!(a.slope(0, v(12)), Some(a.form(v(1), Ext::Own).scaled(4)));
        assert_eq!(a.const_slope(1, v(12)), Some(4));
        assert_eq!(a.const_slope(1, v(7)), Some(0));
        assert_eq!(a.base(v(12)).unwrap().0, Symbol::Value(v(0), Ext::Own));
        assert_eq!(a.first(1, v(12)), Some(a.form(v(7), Ext::Own).scaled(4).plus(&a.form(v(0), Ext::Own))));
    });
}

#[test]
fn loops_in_the_steps_of_the_grid_are_found_through_casts() {
    // i = gid; i += gsize, of 32 bits; once through 64 bits.
    let text = |step: &str| {
        format!(
            "func internal @f(i32) {{
            bb0(v0: i32): v1: i64 = query global_id 0 v2: i32 = trunc v1 v3: i64 = query global_size 0
                v4: i32 = trunc v3 jump bb1(v2)
            bb1(v5: i32): v6: i1 = icmp ult v5, v0 br v6, bb2, bb3
            bb2: {step} jump bb1(v8)
            bb3: ret }}"
        )
    };
    for step in [
        "v8: i32 = add v4, v5",
        "v7: i64 = zext v5 v9: i64 = query global_size 0 v10: i64 = add v7, v9 v8: i32 = trunc v10",
    ] {
        with(&text(step), Facts::default(), |_, a| {
            let counted = a.counted(0).unwrap();
            assert_eq!(counted.start, a.query(Query::GlobalId, 0, 32));
            assert_eq!(counted.step.as_symbol(), Some((1, Symbol::Query(Query::GlobalSize, 0))));
        });
    }
}

#[test]
fn steps_that_the_launch_knows_are_symbols_if_nobody_minds_a_wrap() {
    let text = "func internal @f(ptr<global>, i32) {
        bb0(v0: ptr<global>, v1: i32):
            v2: i64 = query global_id 0
            v3: i32 = trunc v2
            v4: i64 = query global_size 0
            v5: i64 = const 2
            jump bb1(v3)
        bb1(v6: i32):
            v7: i1 = icmp ult v6, v1
            br v7, bb2, bb3
        bb2:
            v8: i64 = zext v6
            v9: i64 = shl v8, v5
            v10: ptr<global> = ptradd v0, v9
            v11: f32 = load v10 align 4
            v12: i64 = add v8, v4
            v13: i32 = trunc v12
            jump bb1(v13)
        bb3:
            ret
        }";
    with(text, Facts::default(), |_, a| assert_eq!(a.slope(0, v(10)), None));
    with(text, Facts { no_wrap: &|_, _| true, ..Facts::default() }, |_, a| {
        let by = a.slope(0, v(10)).unwrap();
        assert_eq!(by.as_symbol(), Some((4, Symbol::Query(Query::GlobalSize, 0))));
    });
}

#[test]
fn a_parameter_with_several_arguments_keeps_its_own_reading() {
    let text = "func internal @f(i32, i32, i1) {
        bb0(v0: i32, v1: i32, v2: i1): br v2, bb1, bb2
        bb1: jump bb3(v0)
        bb2: jump bb3(v1)
        bb3(v3: i32): ret }";
    // One argument is the same number in both readings; the other, and so the parameter, need not be.
    for small in [v(0), v(1)] {
        with(text, Facts { no_wrap: &|x, _| x == small, ..Facts::default() }, |_, a| {
            assert_eq!(a.form(v(3), Ext::Unsigned), Form::symbol(64, Symbol::Value(v(3), Ext::Unsigned)));
        });
    }
}

#[test]
fn a_place_that_a_kernel_computes_is_a_sum_of_queries() {
    let text = "func internal @f() {
        bb0: v0: i64 = query group_id 0 v1: i64 = query local_size 0 v2: i64 = query local_id 0
             v3: i32 = trunc v0 v4: i32 = trunc v1 v5: i32 = trunc v2 v6: i32 = mul v4, v3 v7: i32 = add v5, v6 ret }";
    with(text, Facts::default(), |_, a| {
        let [group, size, id] = [Query::GroupId, Query::LocalSize, Query::LocalId].map(|q| a.query(q, 0, 32));
        assert_eq!(a.form(v(7), Ext::Own), group.times(&size).plus(&id));
        // Extended, only if nothing wraps.
        assert_eq!(a.form(v(7), Ext::Signed), Form::symbol(64, Symbol::Value(v(7), Ext::Signed)));
    });
    // What the caller knows it to be, in each reading and width.
    let product = |x: Value| {
        let symbol = |what| Form::symbol(64, Symbol::Query(what, 0));
        (x == v(6)).then(|| symbol(Query::GroupId).times(&symbol(Query::LocalSize)))
    };
    with(text, Facts { known: &product, ..Facts::default() }, |_, a| {
        let form = |bits| a.query(Query::GroupId, 0, bits).times(&a.query(Query::LocalSize, 0, bits));
        assert_eq!([Ext::Own, Ext::Signed, Ext::Unsigned].map(|ext| a.form(v(6), ext)), [form(32), form(64), form(64)]);
    });
    let ids = |x: Value| (x.index() < 3).then_some((0, (1 << 15) - 1));
    with(text, Facts { range: &ids, ..Facts::default() }, |_, a| {
        assert_eq!(a.form(v(6), Ext::Signed), a.query(Query::GroupId, 0, 64).times(&a.query(Query::LocalSize, 0, 64)));
    });
}

#[test]
fn a_load_reads_what_was_stored_an_iteration_ago() {
    // row[j] = row[j - 1]
    let text = "func internal @f(i32) {
        bb0(v0: i32): v1: ptr<private> = alloca 400 align 4 v2: i32 = const 1 v3: i64 = const 4 jump bb1(v2)
        bb1(v4: i32): v5: i1 = icmp slt v4, v0 br v5, bb2, bb3
        bb2: v6: i32 = sub nsw v4, v2 v7: i64 = sext v6 v8: i64 = mul v7, v3 v9: ptr<private> = ptradd v1, v8
             v10: i32 = load v9 align 4
             v11: i64 = sext v4 v12: i64 = mul v11, v3 v13: ptr<private> = ptradd v1, v12
             store v13, v10 align 4
             v14: i32 = add nsw v4, v2 jump bb1(v14)
        bb3: ret }";
    with(text, Facts::default(), |_, a| {
        assert_eq!(a.next(0, v(9)), Some(a.form(v(13), Ext::Own)));
        assert_eq!(a.difference(v(13), v(9)), Some(4));
        assert_eq!(a.first(0, v(9)), Some(a.form(v(1), Ext::Own)));
        assert_eq!(a.base(v(13)).unwrap().0, Symbol::Value(v(1), Ext::Own));
    });
}

#[test]
fn a_condition_bounds_ids_by_their_factors() {
    let text = "func internal @f(i32, i32, i32) {
        bb0(v0: i32, v1: i32, v2: i32): v3: i32 = mul v0, v2 v4: i32 = add v3, v1 v5: i32 = add v4, v2
            v6: i32 = mul v0, v1 ret }";
    with(text, Facts::default(), |_, a| {
        let is_id = |s: Symbol| matches!(s, Symbol::Value(x, _) if x == v(0) || x == v(1));
        let (ids, rest) = a.form(v(5), Ext::Own).coefficients(is_id).unwrap();
        let n = a.form(v(2), Ext::Own);
        let own = |n: usize| Symbol::Value(v(n), Ext::Own);
        assert_eq!(ids, [(own(0), n.clone()), (own(1), Form::constant(32, 1))]);
        assert_eq!(rest, n);
        assert_eq!(a.form(v(6), Ext::Own).coefficients(is_id), None);
    });
}

#[test]
fn code_of_a_form_computes_it() {
    let mut module = parse(
        "func internal @f(ptr<global>, i32, i64) -> i64 { bb0(v0: ptr<global>, v1: i32, v2: i64): v3: i64 = sext v1
        v4: i64 = mul v3, v2 v5: i64 = const 7 v6: i64 = add v4, v5 v7: ptr<global> = ptradd v0, v6 ret v2 }",
    )
    .unwrap();
    let func = &mut module.funcs[crate::FuncRef::new(0)];
    let cfg = Cfg::new(func);
    let loops = Loops::new(func, &cfg, &DomTree::new(func, &cfg));
    let form = Affine::new(func, &cfg, &loops, Facts::default()).form(v(7), Ext::Own);
    let entry = func.entry();
    let sum = form
        .emit(&mut Builder::new(func, entry), |_, s| match s {
            Symbol::Value(v, _) => Some(v),
            _ => None,
        })
        .unwrap();
    func.blocks[entry].term = Term::Return(Some(sum));
    assert_eq!(verify(&module), []);
    let text = module.to_string();
    assert!(text.contains("sext v1") && text.contains("ptrtoint v0") && text.matches(" = mul ").count() == 2, "{text}");
}

#[test]
fn long_chains_and_large_sums_take_little() {
    let mut f = Function::new("f", vec![Type::I32; 2], None);
    let entry = f.add_block();
    let (x, y) = (f.add_block_param(entry, Type::I32), f.add_block_param(entry, Type::I32));
    let mut b = Builder::new(&mut f, entry);
    let (mut sum, mut product) = (x, x);
    for _ in 0..100_000 {
        sum = b.binary(BinOp::Add, sum, y);
    }
    for _ in 0..200 {
        let next = b.binary(BinOp::Add, product, y);
        product = b.binary(BinOp::Mul, next, product);
    }
    b.ret(None);
    let cfg = Cfg::new(&f);
    let loops = Loops::new(&f, &cfg, &DomTree::new(&f, &cfg));
    let a = Affine::new(&f, &cfg, &loops, Facts::default());
    let form = a.form(sum, Ext::Own);
    assert_eq!(form, a.form(x, Ext::Own).plus(&a.form(y, Ext::Own).scaled(100_000)));
    assert!(a.form(product, Ext::Own).terms().count() <= form::MAX_TERMS);
}

/// A small generator of numbers; a test must give the same on every run.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % n.max(1)
    }
}

/// Adds an operation on existing values.
fn random_inst(b: &mut Builder<'_>, rng: &mut Rng, known: &mut Vec<Value>) {
    let x = known[rng.below(known.len())];
    let ty = b.ty(x);
    let others: Vec<Value> = known.iter().copied().filter(|&y| b.ty(y) == ty).collect();
    let y = others[rng.below(others.len())];
    let bits = ty.scalar.bits();
    let small = b.iconst(ty, (rng.below(7) as u64).wrapping_sub(3) & ty.scalar.mask());
    let new = match rng.below(9) {
        0 | 1 => b.binary(BinOp::Add, x, y),
        2 => b.binary(BinOp::Sub, x, y),
        3 => b.binary(BinOp::Mul, x, small),
        4 => b.binary(BinOp::Mul, x, y),
        5 => b.binary(BinOp::Shl, x, small),
        6 => b.binary(BinOp::And, x, y),
        _ if bits == 64 => b.cast(CastOp::Trunc, x, [Type::I8, Type::I32][rng.below(2)]),
        _ => b.cast([CastOp::Sext, CastOp::Zext][rng.below(2)], x, [Type::I32, Type::I64][(bits as usize) / 32]),
    };
    known.push(new);
}

/// A loop of a few iterations with random code, and its arguments.
fn random_loop(rng: &mut Rng) -> (Function, Vec<u64>) {
    let types = [Type::I8, Type::I32, Type::I64, Type::I32];
    let mut f = Function::new("f", types.to_vec(), None);
    let [entry, header, body, exit] = std::array::from_fn(|_| f.add_block());
    let mut known: Vec<Value> = types.iter().map(|&ty| f.add_block_param(entry, ty)).collect();
    let args = types.iter().map(|ty| [0, 3, 200, u64::MAX - 2, 0x7fff_fff0][rng.below(5)] & ty.scalar.mask()).collect();
    let mut b = Builder::new(&mut f, entry);
    (0..rng.below(4)).for_each(|_| random_inst(&mut b, rng, &mut known));
    let carried = [Type::I32, Type::I64, Type::I8];
    let start: Vec<Value> =
        carried.iter().map(|&ty| *known.iter().rev().find(|&&x| b.ty(x) == ty).unwrap_or(&known[0])).collect();
    b.jump(header, &start);
    let params: Vec<Value> = carried.iter().map(|&ty| b.func.add_block_param(header, ty)).collect();
    b.switch_to(header);
    let bound = known[3];
    let cond = b.icmp([IntCc::Slt, IntCc::Ult, IntCc::Sle, IntCc::Ne][rng.below(4)], params[0], bound);
    b.branch(cond, body, exit);
    b.switch_to(body);
    known.extend(&params);
    (0..2 + rng.below(8)).for_each(|_| random_inst(&mut b, rng, &mut known));
    let next: Vec<Value> = params
        .iter()
        .map(|&p| {
            let ty = b.ty(p);
            let step = b.iconst(ty, rng.below(4) as u64);
            let same: Vec<Value> = known.iter().copied().filter(|&x| b.ty(x) == ty).collect();
            match rng.below(4) {
                0 => same[rng.below(same.len())],
                1 => p,
                _ => b.binary(BinOp::Add, p, step),
            }
        })
        .collect();
    b.jump(header, &next);
    b.switch_to(exit);
    b.ret(None);
    (f, args)
}

/// Runs a function for some blocks, and reports after each one the values and how often the header was entered.
fn execute(f: &Function, args: &[u64], mut after: impl FnMut(crate::Block, &[Option<u64>], usize)) {
    let mut values: Vec<Option<u64>> = vec![None; f.values.len()];
    let mut iteration = 0;
    let mut at = f.entry();
    let mut incoming = args.to_vec();
    for _ in 0..24 {
        f.blocks[at].params.iter().zip(&incoming).for_each(|(p, &x)| values[p.index()] = Some(x));
        for data in f.blocks[at].insts.iter().map(|&i| &f.insts[i]) {
            let arg = |k: usize| values[data.args[k].index()].unwrap();
            let Some(r) = data.result else { continue };
            let from = data.args.first().map_or(f.ty(r).scalar, |&a| f.ty(a).scalar);
            let bits = match data.op {
                Op::Const(c) => c,
                Op::Binary(op) => eval::binary(op, from, arg(0), arg(1)),
                Op::Cast(op) => eval::cast(op, from, f.ty(r).scalar, arg(0)),
                Op::Icmp(cc) => u64::from(eval::icmp(cc, from, arg(0), arg(1))),
                _ => unreachable!(),
            };
            values[r.index()] = Some(bits);
        }
        after(at, &values, iteration);
        let edge = match &f.blocks[at].term {
            Term::Jump(e) => e,
            Term::Branch { cond, then, els } => {
                if values[cond.index()] == Some(1) {
                    then
                } else {
                    els
                }
            }
            _ => return,
        };
        incoming = edge.args.iter().map(|a| values[a.index()].unwrap()).collect();
        iteration += usize::from(at == f.layout[2]);
        at = edge.block;
    }
}

fn read(bits: u64, width: u32, ext: Ext) -> i64 {
    let shift = 64 - width;
    if ext == Ext::Unsigned { bits as i64 } else { ((bits << shift) as i64) >> shift }
}

/// Sets the no-wrap flags that hold in an execution.
fn promise(f: &mut Function, args: &[u64]) {
    let mut flags: Vec<Flags> = vec![Flags::NSW | Flags::NUW; f.insts.len()];
    let func = f.clone();
    execute(&func, args, |b, values, _| {
        for &i in &func.blocks[b].insts {
            let data = &func.insts[i];
            let Op::Binary(op) = data.op else { continue };
            let bits = func.ty(data.args[0]).scalar.bits();
            for (flag, ext) in [(Flags::NSW, Ext::Signed), (Flags::NUW, Ext::Unsigned)] {
                let number = |v: Value| {
                    let x = read(values[v.index()].unwrap(), bits, ext);
                    if ext == Ext::Unsigned { i128::from(x as u64) } else { i128::from(x) }
                };
                let (x, y) = (number(data.args[0]), number(data.args[1]));
                let exact = match op {
                    BinOp::Add => Some(x + y),
                    BinOp::Sub => Some(x - y),
                    BinOp::Mul => x.checked_mul(y),
                    BinOp::Shl => x.checked_mul(1 << (y.rem_euclid(i128::from(bits)))),
                    _ => continue,
                };
                if exact != Some(number(data.result.unwrap())) {
                    flags[i.index()] -= flag;
                }
            }
        }
    });
    for (i, flag) in func.insts.keys().zip(flags) {
        if matches!(f.insts[i].op, Op::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Shl)) {
            f.insts[i].flags = flag;
        }
    }
}

#[test]
fn forms_are_what_loops_compute() {
    let mut rng = Rng(11);
    let (mut checked, mut trips) = (0, 0);
    for _ in 0..600 {
        let (mut f, args) = random_loop(&mut rng);
        if rng.below(3) > 0 {
            promise(&mut f, &args);
        }
        let module = Module {
            funcs: [f].into_iter().fold(crate::Arena::new(), |mut a, f| {
                a.push(f);
                a
            }),
            ..Module::new()
        };
        assert_eq!(verify(&module), [], "{module}");
        let f = module.funcs.values().next().unwrap();
        let cfg = Cfg::new(f);
        let loops = Loops::new(f, &cfg, &DomTree::new(f, &cfg));
        let affine = Affine::new(f, &cfg, &loops, Facts::default());
        execute(f, &args, |b, values, iteration| {
            let insts = f.blocks[b].insts.iter().filter_map(|&i| f.insts[i].result);
            for x in f.blocks[b].params.iter().copied().chain(insts).filter(|&x| affine.is_number(x)) {
                for ext in [Ext::Own, Ext::Signed, Ext::Unsigned] {
                    let form = affine.form(x, ext);
                    let value = |s: Symbol| match s {
                        Symbol::Value(v, ext) => read(values[v.index()].unwrap(), f.ty(v).scalar.bits(), ext),
                        Symbol::Iteration(_) => iteration as i64,
                        _ => unreachable!(),
                    };
                    let sum = form
                        .terms()
                        .fold(0i64, |sum, (m, c)| sum.wrapping_add(m.iter().fold(c, |p, &s| p.wrapping_mul(value(s)))));
                    let shift = 64 - form.bits();
                    let want = read(values[x.index()].unwrap(), f.ty(x).scalar.bits(), ext);
                    assert_eq!((sum << shift) >> shift, (want << shift) >> shift, "{x} {ext:?} {form:?}\n{module}");
                    checked += 1;
                    trips += usize::from(form.symbols().any(|s| matches!(s, Symbol::Iteration(_))));
                }
            }
        });
    }
    assert!(checked > 50_000 && trips > 10_000, "{checked} {trips}");
}
