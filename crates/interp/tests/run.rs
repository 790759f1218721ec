//! Small kernels in text form, run by the interpreter.

use cloom_interp::observe::{Access, AccessKind, Log, Observer};
use cloom_interp::{Arg, Fault, FaultKind, Machine, NdRange, Options, Program};
use cloom_ir::parse;

fn program(text: &str) -> Program {
    Program::new(parse(text).unwrap_or_else(|e| panic!("{e}"))).unwrap_or_else(|e| panic!("{e:?}"))
}

/// A kernel with a buffer of `i32`.
fn kernel(body: &str) -> String {
    format!(
        "string \"x\"
         global @tile local size 64 align 4
         func external @k(ptr<global>) kernel {{ param \"p\" \"int*\" global size 8 align 8 }} {{ {body} }}"
    )
}

fn run_with(text: &str, range: NdRange, bytes: &[u8], options: Options) -> (Result<(), Fault>, Vec<u8>, Log) {
    let program = program(text);
    let mut machine = Machine::new(&program, options).unwrap();
    let p = machine.buffer(bytes).unwrap();
    let mut log = Log::default();
    let kernel = program.module.kernels().next().unwrap();
    let result = machine.run_kernel(kernel, &range, &[Arg::Buffer(p)], &mut log);
    (result, machine.memory.read(p, bytes.len() as u64).unwrap().0.to_vec(), log)
}

fn run(body: &str, range: NdRange, words: usize) -> (Result<(), FaultKind>, Vec<u32>) {
    let (result, bytes, _) =
        run_with(&kernel(body), range, &vec![0; words * 4], Options { fuel: 1_000_000, ..Options::default() });
    let words = bytes.chunks(4).map(|b| u32::from_le_bytes(b.try_into().unwrap())).collect();
    (result.map_err(|f| f.kind), words)
}

/// Address of word `global_id 0` in `v4`.
const HERE: &str = "bb0(v0: ptr<global>):
    v1: i64 = query global_id 0
    v2: i64 = const 0x4
    v3: i64 = mul v1, v2
    v4: ptr<global> = ptradd v0, v3";

#[test]
fn work_items_know_their_place() {
    let body = "bb0(v0: ptr<global>):
        v1: i64 = query global_id 0
        v2: i64 = query global_id 1
        v3: i64 = query local_id 1
        v4: i64 = query local_size 0
        v5: i64 = const 0x5
        v6: i64 = mul v2, v5
        v7: i64 = add v6, v1
        v8: i64 = query global_offset 0
        v9: i64 = sub v7, v8
        v10: i64 = const 0x4
        v11: i64 = mul v9, v10
        v12: ptr<global> = ptradd v0, v11
        v13: i64 = const 0x10
        v14: i64 = mul v3, v13
        v15: i64 = add v14, v4
        v16: i32 = trunc v15
        store v12, v16 align 4
        ret";
    let range = NdRange { work_dim: 2, offset: [7, 0, 0], global: [5, 3, 1], local: [2, 2, 1] };
    let (result, words) = run(body, range, 15);
    assert_eq!(result, Ok(()));
    // The last group of each row has one work-item; the last row is alone in its groups.
    assert_eq!(words, [2, 2, 2, 2, 1, 18, 18, 18, 18, 17, 2, 2, 2, 2, 1]);
}

#[test]
fn a_barrier_in_a_loop_holds_the_group_together() {
    // In each iteration, every work-item reads what its right neighbour wrote.
    let body = format!(
        "{HERE}
        v5: i64 = query local_id 0
        v6: i64 = const 0x1
        v7: i64 = add v5, v6
        v8: i64 = query local_size 0
        v9: i64 = urem v7, v8
        v10: ptr<local> = globaladdr @tile
        v11: i64 = mul v5, v2
        v12: ptr<local> = ptradd v10, v11
        v13: i64 = mul v9, v2
        v14: ptr<local> = ptradd v10, v13
        v15: i32 = trunc v5
        v16: i32 = const 0x0
        jump bb1(v15, v6)
    bb1(v20: i32, v21: i64):
        store v12, v20 align 4
        barrier
        v22: i32 = load v14 align 4
        barrier
        v23: i64 = add v21, v6
        v24: i1 = icmp ule v23, v8
        br v24, bb1(v22, v23), bb2
    bb2:
        store v4, v22 align 4
        ret"
    );
    for order_seed in 0..5 {
        let options = Options { order_seed, ..Options::default() };
        let (result, bytes, log) = run_with(&kernel(&body), NdRange::linear(10, 4), &[0; 40], options);
        result.unwrap();
        let words: Vec<u8> = bytes.chunks(4).map(|b| b[0]).collect();
        // After as many iterations as work-items, each number is back, in the smaller last group too.
        assert_eq!(words, [0, 1, 2, 3, 0, 1, 2, 3, 0, 1]);
        assert_eq!(log.uninitialised, 0);
    }
}

#[test]
fn loops_copy_their_parameters_at_once() {
    let body = format!(
        "{HERE}
        v5: i32 = const 0x1
        v6: i32 = const 0x2
        v7: i64 = const 0x0
        v8: i64 = const 0x3
        jump bb1(v5, v6, v7)
    bb1(v10: i32, v11: i32, v12: i64):
        v13: i64 = const 0x1
        v14: i64 = add v12, v13
        v15: i1 = icmp ult v14, v8
        br v15, bb1(v11, v10, v14), bb2
    bb2:
        v16: i32 = const 0xa
        v17: i32 = mul v10, v16
        v18: i32 = add v17, v11
        store v4, v18 align 4
        ret"
    );
    assert_eq!(run(&body, NdRange::linear(1, 1), 1), (Ok(()), vec![12]));
}

#[test]
fn vectors_are_lanes() {
    let body = format!(
        "{HERE}
        v5: i32 = const 0x3
        v6: i32x4 = const 0x7
        v7: i32x4 = insert v6, v5, v5
        v8: i32x2 = shuffle v7, v7 [3 4]
        v9: i64 = bitcast v8
        v10: i8x8 = bitcast v9
        v11: i8 = extract v10, v5
        v12: i8 = const 0x4
        v13: i8 = extract v10, v12
        v14: i8x4 = build v11, v13, v13, v12
        v15: i32 = bitcast v14
        store v4, v15 align 4
        ret"
    );
    assert_eq!(run(&body, NdRange::linear(1, 1), 1), (Ok(()), vec![0x04070700]));
}

#[test]
fn calls_pass_values_and_free_their_memory() {
    let text = "func external @k(ptr<global>) kernel { param \"p\" \"int*\" global size 8 align 8 } {
        bb0(v0: ptr<global>):
            v1: i32 = const 0x5
            v2: i32x2 = build v1, v1
            v3: i32 = call @f v2
            store v0, v3 align 4
            v4: ptr<private> = call @leak
            v5: i32 = load v4 align 4
            ret }
        func internal @f(i32x2) -> i32 {
        bb0(v0: i32x2):
            v1: i32 = const 0x1
            v2: ptr<private> = alloca 8 align 8
            store v2, v0 align 8
            v3: i64 = const 0x4
            v4: ptr<private> = ptradd v2, v3
            v5: i32 = load v4 align 4
            v6: i32 = add v5, v1
            call @g v2
            ret v6 }
        func internal @g(ptr<private>) { bb0(v0: ptr<private>): ret }
        func internal @leak() -> ptr<private> { bb0: v0: ptr<private> = alloca 4 align 4 ret v0 }";
    let (result, bytes, _) = run_with(text, NdRange::linear(1, 1), &[0; 4], Options::default());
    assert_eq!(bytes, [6, 0, 0, 0]);
    assert!(matches!(result.unwrap_err().kind, FaultKind::Ended { .. }));
}

#[test]
fn the_clock_goes_on_across_calls() {
    let text = "func external @k(ptr<global>) kernel { param \"p\" \"long*\" global size 8 align 8 } {
        bb0(v0: ptr<global>):
            v1: i64 = const 0x8
            v2: ptr<global> = ptradd v0, v1
            v3: ptr<global> = ptradd v2, v1
            v4: i64 = clock
            v5: i64 = call @f
            v6: i64 = clock
            store v0, v4 align 8
            store v2, v5 align 8
            store v3, v6 align 8
            ret }
        func internal @f() -> i64 { bb0: v0: i64 = clock ret v0 }";
    let (result, bytes, _) = run_with(text, NdRange::linear(1, 1), &[0; 24], Options::default());
    assert_eq!(result, Ok(()));
    let times: Vec<u64> = bytes.chunks(8).map(|b| u64::from_le_bytes(b.try_into().unwrap())).collect();
    assert!(times[0] < times[1] && times[1] < times[2], "{times:?}");
}

#[test]
fn faults_are_typed_and_placed() {
    let oob = format!("{HERE} v5: i32 = load v4 align 4 !0:7:3 ret");
    let (result, ..) = run_with(&kernel(&oob), NdRange::linear(3, 1), &[0; 8], Options::default());
    let fault = result.unwrap_err();
    assert!(matches!(fault.kind, FaultKind::OutOfBounds { offset: 8, size: 4, object: 8, .. }));
    assert_eq!((fault.span.line, fault.item, fault.func.as_str()), (7, [2, 0, 0], "k"));

    let looping = format!("{HERE} jump bb1 bb1: jump bb1");
    assert_eq!(run(&looping, NdRange::linear(1, 1), 1).0, Err(FaultKind::Fuel));

    let misaligned = format!("{HERE} v5: i64 = load v4 align 8 ret");
    assert!(matches!(run(&misaligned, NdRange::linear(2, 1), 4).0, Err(FaultKind::Misaligned { align: 8, .. })));

    let huge = format!("{HERE} v5: ptr<private> = alloca 4000000000 align 8 ret");
    assert_eq!(run(&huge, NdRange::linear(1, 1), 1).0, Err(FaultKind::Memory));

    let divergent =
        format!("{HERE} v5: i64 = const 0x0 v6: i1 = icmp eq v1, v5 br v6, bb1, bb2 bb1: barrier ret bb2: barrier ret");
    assert_eq!(run(&divergent, NdRange::linear(2, 2), 2).0, Err(FaultKind::BarrierDivergence));

    let early = format!("{HERE} v5: i64 = const 0x0 v6: i1 = icmp eq v1, v5 br v6, bb1, bb2 bb1: ret bb2: barrier ret");
    assert_eq!(run(&early, NdRange::linear(2, 2), 2).0, Ok(()));
    let strict = Options { strict_barriers: true, ..Options::default() };
    let (result, ..) = run_with(&kernel(&early), NdRange::linear(2, 2), &[0; 8], strict);
    assert_eq!(result.unwrap_err().kind, FaultKind::BarrierAfterReturn);
}

#[test]
fn reads_of_unwritten_memory_are_seen() {
    let body = format!(
        "{HERE} v5: ptr<private> = alloca 8 align 8 v6: i32 = load v5 align 4 !0:2:2 store v5, v6 align 4
         v7: i32 = load v5 align 4 store v4, v7 align 4 ret"
    );
    let options = Options { canary: 0x11, ..Options::default() };
    let (result, bytes, log) = run_with(&kernel(&body), NdRange::linear(1, 1), &[0; 4], options);
    result.unwrap();
    assert_eq!(bytes, [0x11; 4]);
    assert_eq!((log.uninitialised, log.first_uninitialised.unwrap().at.span.line), (1, 2));
}

#[test]
fn atomics_and_printf() {
    let body = "bb0(v0: ptr<global>):
        v1: i64 = query global_id 0
        v2: i32 = trunc v1
        v3: i32 = atomic_add relaxed device v0, v2
        v4: f64 = stof v3
        v5: i32 = const 0x3
        v6: i32 = const 0x64
        v7: i32 = cmpxchg relaxed device v0, v5, v6
        printf s0 v1, v4, v2
        ret";
    let (result, bytes, log) = run_with(&kernel(body), NdRange::linear(4, 4), &[0; 4], Options::default());
    result.unwrap();
    // 0, 1, 3 becomes 100, then 103.
    assert_eq!(bytes, [103, 0, 0, 0]);
    assert_eq!(log.printed.len(), 4);
    assert_eq!(log.printed[3].item, 3);
    assert_eq!(log.printed[3].args[..8], 100f64.to_le_bytes());
    assert_eq!(log.printed[3].args[8..], [3, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn globals_hold_addresses_of_globals() {
    let text = "global @a constant size 8 align 8 init x\"0102030405060708\"
        global @b constant size 8 align 8 init x\"0000000000000000\" reloc 0 @a + 4
        func external @k(ptr<global>) kernel { param \"p\" \"int*\" global size 8 align 8 } {
        bb0(v0: ptr<global>):
            v1: ptr<constant> = globaladdr @b
            v2: ptr<constant> = load v1 align 8
            v3: i32 = load v2 align 4
            store v0, v3 align 4
            store v2, v3 align 4
            ret }";
    let (result, bytes, _) = run_with(text, NdRange::linear(1, 1), &[0; 4], Options::default());
    assert_eq!(bytes, [5, 6, 7, 8]);
    assert!(matches!(result.unwrap_err().kind, FaultKind::ReadOnly(_)));
}

#[test]
fn values_structures_and_local_memory_are_passed() {
    let text = "func external @k(f32x3, ptr<constant>, ptr<local>, ptr<global>) kernel {
            param \"v\" \"float3\" value size 16 align 16
            param \"s\" \"struct s\" struct size 12 align 4
            param \"l\" \"int*\" local size 8 align 8
            param \"p\" \"int*\" global size 8 align 8 } {
        bb0(v0: f32x3, v1: ptr<constant>, v2: ptr<local>, v3: ptr<global>):
            v4: i64 = const 0x8
            v5: ptr<constant> = ptradd v1, v4
            v6: i32 = load v5 align 4
            v7: ptr<local> = ptradd v2, v4
            store v7, v6 align 4
            v8: i32 = load v7 align 4
            v9: i32 = const 0x2
            v10: f32 = extract v0, v9
            v11: i32 = bitcast v10
            v12: i32 = add v8, v11
            store v3, v12 align 4
            ret }";
    let program = program(text);
    let mut machine = Machine::new(&program, Options::default()).unwrap();
    let p = machine.buffer(&[0; 4]).unwrap();
    let vector: Vec<u8> = [1f32, 2.0, f32::from_bits(7), 0.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    let structure: Vec<u8> = [1u32, 2, 30].iter().flat_map(|x| x.to_le_bytes()).collect();
    let args = [Arg::Bytes(vector), Arg::Bytes(structure), Arg::Local(12), Arg::Buffer(p)];
    let kernel = program.module.kernels().next().unwrap();
    machine.run_kernel(kernel, &NdRange::linear(2, 1), &args, &mut ()).unwrap();
    assert_eq!(machine.memory.read(p, 4).unwrap().0, [37, 0, 0, 0]);
    let bad = machine.run_kernel(kernel, &NdRange::linear(2, 1), &args[..3], &mut ()).unwrap_err();
    assert!(matches!(bad.kind, FaultKind::BadLaunch(_)));
}

/// Four lanes of a buffer of `i32`; those below 3 are on, as is lane 3 if the first word says so. The other lanes have
/// invalid addresses.
const LANES: &str = "bb0(v0: ptr<global>):
    v1: i64x4 = iota
    v2: i64x4 = const 0x3
    v3: i1x4 = icmp ult v1, v2
    v4: i32 = load v0 align 4
    v5: i1 = trunc v4
    v6: i1x4 = splat v5
    v7: i1x4 = or v3, v6
    v8: i64x4 = const 0x4
    v9: i64x4 = mul v1, v8
    v10: ptr<global>x4 = splat v0
    v11: ptr<global>x4 = ptradd v10, v9
    v12: ptr<global>x4 = const 0x0
    v13: ptr<global>x4 = select v7, v11, v12";

#[test]
fn lanes_that_are_off_touch_nothing() {
    // The buffer has three words. Each kernel stores through lanes that would be out of bounds.
    let bodies = [
        "v14: i32x4 = maskedload v0, v7 align 4  v15: i32x4 = add v14, v14  maskedstore v0, v15, v7 align 4  ret",
        "v14: i32x4 = gather v13, v7 align 4     v15: i32x4 = add v14, v14  scatter v13, v15, v7 align 4     ret",
    ];
    for body in bodies {
        let text = kernel(&format!("{LANES}\n{body}"));
        let bytes: Vec<u8> = [2u32, 30, 400].iter().flat_map(|x| x.to_le_bytes()).collect();
        let (result, bytes, _) = run_with(&text, NdRange::linear(1, 1), &bytes, Options::default());
        assert_eq!(result, Ok(()));
        assert_eq!(bytes, [4u32, 60, 800].iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<_>>());
        // With the last lane on, it is an access out of bounds.
        let (result, ..) = run_with(&text, NdRange::linear(1, 1), &[1; 12], Options::default());
        assert!(matches!(result.unwrap_err().kind, FaultKind::OutOfBounds { offset: 12, size: 4, .. }));
    }
}

#[test]
fn each_lane_is_an_access_and_scatters_in_order() {
    #[derive(Default)]
    struct Accesses(Vec<(AccessKind, u64, u64)>);
    impl Observer for Accesses {
        fn access(&mut self, a: &Access) {
            self.0.push((a.kind, a.address & 0xffff, a.size));
        }
    }
    let text = kernel(
        "bb0(v0: ptr<global>):
            v1: i64x4 = iota
            v2: i64x4 = const 0x1
            v3: i64x4 = and v1, v2
            v4: i1x4 = icmp ne v1, v2
            v5: i16x4 = iota
            v6: ptr<global>x4 = splat v0
            v7: i64x4 = add v3, v3
            v8: ptr<global>x4 = ptradd v6, v7
            scatter v8, v5, v4 align 2
            v9: i16x4 = gather v8, v4 align 2
            v10: i64 = const 0x8
            v11: ptr<global> = ptradd v0, v10
            maskedstore v11, v9, v4 align 8
            ret",
    );
    let program = program(&text);
    let mut machine = Machine::new(&program, Options::default()).unwrap();
    let p = machine.buffer(&[0xff; 16]).unwrap();
    let mut log = Accesses::default();
    let kernel = program.module.kernels().next().unwrap();
    machine.run_kernel(kernel, &NdRange::linear(1, 1), &[Arg::Buffer(p)], &mut log).unwrap();
    // Of two lanes at one address, the later one wins.
    let f = 0xff;
    assert_eq!(machine.memory.read(p, 16).unwrap().0, [2, 0, 3, 0, f, f, f, f, 2, 0, f, f, 2, 0, 3, 0]);
    use AccessKind::{Load, Store};
    let expected =
        [(Store, 0), (Store, 0), (Store, 2), (Load, 0), (Load, 0), (Load, 2), (Store, 8), (Store, 12), (Store, 14)];
    assert_eq!(log.0, expected.map(|(kind, at)| (kind, at, 2)));
}

#[test]
fn masks_become_truth_values_and_bits() {
    // Words: any, all, low and high half of the ballot, for the lanes below a limit.
    for (limit, expected) in [(0u64, [0, 0, 0, 0]), (37, [1, 0, !0, 31]), (64, [1, 1, !0, !0])] {
        let body = format!(
            "bb0(v0: ptr<global>):
            v1: i8x64 = iota
            v2: i8x64 = const {limit:#x}
            v3: i1x64 = icmp ult v1, v2
            v4: i1 = any v3
            v5: i1 = all v3
            v6: i64 = ballot v3
            v7: i32x2 = bitcast v6
            v8: i32 = zext v4
            v9: i32 = zext v5
            v10: i32x2 = build v8, v9
            store v0, v10 align 4
            v11: i64 = const 0x8
            v12: ptr<global> = ptradd v0, v11
            store v12, v7 align 4
            ret"
        );
        assert_eq!(run(&body, NdRange::linear(1, 1), 4), (Ok(()), expected.to_vec()));
    }
}
