//! What an observer is told: which memory a barrier orders, and order and scope of fences and atomic operations.

use cloom_interp::observe::{Access, AccessKind, Observer};
use cloom_interp::{Arg, Machine, NdRange, Options, Program};
use cloom_ir::{BarrierMemory, Order, Scope, Span, parse};

/// Events in words.
#[derive(Default)]
struct Events(Vec<String>);

impl Observer for Events {
    fn access(&mut self, access: &Access) {
        if let Some((order, scope)) = access.atomic {
            let kind = if access.kind == AccessKind::Load { "read" } else { "write" };
            self.0.push(format!("{kind} {} {} of {:?}", order.name(), scope.name(), access.at.item));
        }
    }

    fn group(&mut self, group: [u64; 3], _local: &[(u64, u64)]) {
        self.0.push(format!("group {group:?}"));
    }

    fn barrier(&mut self, group: [u64; 3], memory: BarrierMemory, span: Span) {
        self.0.push(format!("barrier {} of {group:?} in line {}", memory.name(), span.line));
    }

    fn fence(&mut self, item: [u64; 3], order: Order, scope: Scope, span: Span) {
        self.0.push(format!("fence {} {} of {item:?} in line {}", order.name(), scope.name(), span.line));
    }
}

fn events(body: &str, range: NdRange) -> Vec<String> {
    let text = format!(
        "func external @k(ptr<global>) kernel {{ param \"p\" \"int*\" global size 8 align 8 }}
         {{ bb0(v0: ptr<global>): {body} ret }}"
    );
    let program = Program::new(parse(&text).unwrap_or_else(|e| panic!("{e}"))).unwrap();
    let mut machine = Machine::new(&program, Options::default()).unwrap();
    let p = machine.buffer(&[0; 64]).unwrap();
    let mut events = Events::default();
    let kernel = program.module.kernels().next().unwrap();
    machine.run_kernel(kernel, &range, &[Arg::Buffer(p)], &mut events).unwrap();
    events.0
}

#[test]
fn barriers_say_which_memory_they_order() {
    let body = "barrier local !0:3:1 barrier !0:4:1 barrier nothing !0:5:1";
    let want = [
        "group [0, 0, 0]",
        "barrier local of [0, 0, 0] in line 3",
        "barrier both of [0, 0, 0] in line 4",
        "barrier nothing of [0, 0, 0] in line 5",
        "group [1, 0, 0]",
        "barrier local of [1, 0, 0] in line 3",
        "barrier both of [1, 0, 0] in line 4",
        "barrier nothing of [1, 0, 0] in line 5",
    ];
    assert_eq!(events(body, NdRange::linear(4, 2)), want);
}

#[test]
fn atomic_operations_and_fences_say_order_and_scope() {
    let body = "v1: i32 = const 0x1
        v2: i32 = atomic_add acqrel device v0, v1
        v3: i32 = atomic_load acquire group v0
        atomic_store release subgroup v0, v1
        fence acquire all !0:7:2";
    let want = [
        "group [0, 0, 0]",
        "read acqrel device of [0, 0, 0]",
        "write acqrel device of [0, 0, 0]",
        "read acquire group of [0, 0, 0]",
        "write release subgroup of [0, 0, 0]",
        "fence acquire all of [0, 0, 0] in line 7",
    ];
    assert_eq!(events(body, NdRange::linear(1, 1)), want);
}
