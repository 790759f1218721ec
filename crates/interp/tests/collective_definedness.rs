//! Which results of the operations of sub-groups are undefined: those that depend on a work-item's undefined operand.

use cloom_interp::observe::{Observer, Point, Use};
use cloom_interp::{Arg, Machine, NdRange, Options, Program};
use cloom_ir::parse;

/// The work-items that store an undefined result.
#[derive(Default)]
struct Stores(Vec<u64>);

impl Observer for Stores {
    const FOLLOWS_VALUES: bool = true;

    fn undefined(&mut self, what: Use, _origin: u32, at: &Point) {
        assert_eq!(what, Use::Store);
        self.0.push(at.item[0]);
    }
}

/// Eight work-items in sub-groups of four, of which number 2 has an operand `v9` without a value. `v10` is the operand
/// as a truth value, and `v5` the number of the work-item.
fn undefined(operation: &str) -> Vec<u64> {
    let text = format!(
        "func external @k(ptr<global>) kernel {{ param \"p\" \"int*\" global size 8 align 8 }}
         {{ bb0(v0: ptr<global>):
            v1: ptr<private> = alloca 4 align 4
            v2: i32 = load v1 align 4
            v3: i64 = query global_id 0
            v4: i64 = const 0x4
            v5: i32 = trunc v3
            v6: i32 = const 0x2
            v7: i1 = icmp eq v5, v6
            v8: i32 = const 0x7
            v9: i32 = select v7, v2, v8
            v10: i1 = icmp ult v9, v8
            {operation}
            v21: i64 = mul v3, v4
            v22: ptr<global> = ptradd v0, v21
            store v22, v20 align 4
            ret }}"
    );
    let program = Program::new(parse(&text).unwrap_or_else(|e| panic!("{e}"))).unwrap();
    let mut machine = Machine::new(&program, Options { subgroup: 4, ..Options::default() }).unwrap();
    let p = machine.buffer(&[0; 64]).unwrap();
    let mut stores = Stores::default();
    let kernel = program.module.kernels().next().unwrap();
    machine.run_kernel(kernel, &NdRange::linear(8, 8), &[Arg::Buffer(p)], &mut stores).unwrap();
    stores.0.sort_unstable();
    stores.0
}

#[test]
fn results_depend_on_the_operands_of_the_work_items_that_they_are_made_of() {
    assert_eq!(undefined("v20: i32 = subgroup_reduce add 4 v9"), [0, 1, 2, 3]);
    assert_eq!(undefined("v20: i32 = subgroup_reduce add 2 v9"), [2, 3]);
    assert_eq!(undefined("v20: i32 = subgroup_scan add inclusive v9"), [2, 3]);
    assert_eq!(undefined("v20: i32 = subgroup_scan add exclusive v9"), [3]);
    // Work-item 2 of the second sub-group is number 6, and has a value.
    assert_eq!(undefined("v20: i32 = subgroup_shuffle v9, v6"), [0, 1, 2, 3]);
    assert_eq!(undefined("v20: i32 = subgroup_shuffle v9, v8"), []);
    // A work-item that does not know whose value it gets.
    assert_eq!(undefined("v20: i32 = subgroup_shuffle v5, v9"), [2]);
}

#[test]
fn a_vote_has_an_undefined_bit_for_each_undefined_operand() {
    assert_eq!(undefined("v11: i64 = subgroup_ballot v10 v20: i32 = trunc v11"), [0, 1, 2, 3]);
    let others = "v11: i64 = subgroup_ballot v10 v12: i32 = trunc v11 v13: i32 = const 0xb v20: i32 = and v12, v13";
    assert_eq!(undefined(others), []);
}
