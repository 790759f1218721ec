//! What findings in kernels say: the object that they name, the element, the sentences, the parties.

use cloom_check::interpreted::objects::Region;
use cloom_check::{Checker, Finding, Kind, Kinds, Severity, Sources, Subject};
use cloom_compiler::{Compiler, Config, Source};
use cloom_interp::{Arg, Machine, NdRange, Options, Program};
use cloom_ir::ParamKind;
use cloom_target::Target;

/// The findings of the kernel `k`, and its buffers afterwards. Each buffer is of 1024 zeros, local memory of 1024 bytes
/// and a number 7.
fn run(source: &str, options: &str, global: u64, local: u64) -> (Vec<Finding>, Vec<Vec<u8>>) {
    let compiler = Compiler::new(Config::default());
    let text = Source { name: "k.cl", text: source.as_bytes() };
    let built = compiler.build(&text, &format!("-cl-std=CL3.0 -cloom-check {options}"), &Target::generic());
    let program = built.result.unwrap_or_else(|_| panic!("{}", built.log));
    let module = compiler.linked(&program, "k").unwrap();
    let kernel = module.find("k").unwrap();
    let program = Program::new(module).unwrap();
    let mut machine = Machine::new(&program, Options::default()).unwrap();
    let mut sources = Sources::default();
    sources.add("k.cl", source);
    let range = NdRange::linear(global, local);
    let subject = Subject { module: &program.module, kernel, range, sources: &sources };
    let mut checker = Checker::new(subject, Kinds::default());
    let meta = program.module.funcs[kernel].kernel.as_deref().unwrap();
    let mut buffers = Vec::new();
    let mut args = Vec::new();
    for p in &meta.params {
        args.push(match p.kind {
            ParamKind::Local => Arg::Local(1024),
            ParamKind::Global | ParamKind::Constant => {
                let address = machine.buffer(&[0; 1024]).unwrap();
                checker.add_object(address, Region::buffer(p, 1024));
                buffers.push(address);
                Arg::Buffer(address)
            }
            _ => Arg::Bytes(7u64.to_le_bytes()[..p.size as usize].to_vec()),
        });
    }
    checker.add_globals(&machine);
    let result = machine.run_kernel(kernel, &range, &args, &mut checker);
    let (findings, fault) = checker.finish(result);
    assert_eq!(fault, None);
    let read = |&address: &u64| machine.memory.read(address, 1024).unwrap().0.to_vec();
    (findings, buffers.iter().map(read).collect())
}

/// The only finding of a kernel that is run by 16 work-items in groups of 8.
fn only(source: &str) -> Finding {
    let (mut findings, _) = run(source, "", 16, 8);
    assert_eq!(findings.len(), 1, "{findings:#?}");
    findings.remove(0)
}

/// The name of the object, and the offset in it.
fn object(finding: &Finding) -> (&str, i64) {
    finding.object.as_ref().map_or(("", 0), |object| (object.name.as_str(), object.offset))
}

#[test]
fn an_access_far_outside_is_one_of_the_object_that_its_pointer_was_made_from() {
    for gigabytes in [-9, -4, -3, -1, 1, 2, 3, 4, 5, 9] {
        let offset = gigabytes << 30;
        let source = format!(
            "kernel void k(global char *a, global char *b, global char *c) {{
                if (get_global_id(0) == 5) b[{offset}L + 1] = a[0] + c[0];
            }}"
        );
        let finding = only(&source);
        assert_eq!((finding.kind, object(&finding)), (Kind::OutOfBounds, ("b", offset + 1)), "{gigabytes} GiB");
    }
}

#[test]
fn a_race_names_the_barrier_that_does_not_order_its_memory() {
    let source = "kernel void k(global int *p) {
    int i = get_global_id(0);
    p[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    p[128 + i] = p[i ^ 1];
}";
    let race = only(source);
    assert_eq!((race.kind, race.severity), (Kind::RaceGlobal, Severity::Error));
    assert!(race.message.ends_with("and the barrier between them orders local memory only"), "{}", race.message);
    assert!(race.why.unwrap().contains("CLK_GLOBAL_MEM_FENCE is missing"));
    assert_eq!(race.events.iter().map(|e| e.place.as_ref().unwrap().line).collect::<Vec<_>>(), [3, 5, 4]);
    let read_first = source.replace("p[i] = i;", "int x = p[i ^ 1];").replace("p[128 + i] = p[i ^ 1]", "p[i] = x");
    let race = only(&read_first);
    assert_eq!((race.kind, race.severity), (Kind::RaceGlobal, Severity::Warning));
    assert!(race.message.ends_with("orders local memory only"), "{}", race.message);
    // Without a barrier, the order of the two is no better than that of two writes.
    let race = only(&read_first.replace("barrier(CLK_LOCAL_MEM_FENCE);", ""));
    assert_eq!((race.severity, race.events.len()), (Severity::Error, 2));
    assert!(race.message.contains("without a barrier between them"));
    // In a loop, a read before a write is also one after it.
    let in_loop = "kernel void k(global int *p) {
    int i = get_global_id(0);
    for (int r = 0; r < 2; r++) {
        int x = p[i ^ 1];
        barrier(CLK_LOCAL_MEM_FENCE);
        p[i] = x;
        barrier(0);
    }
}";
    assert_eq!(only(in_loop).severity, Severity::Error);
}

#[test]
fn flags_of_a_barrier_may_be_known_at_run_time_only() {
    let source = |flags: &str| {
        format!(
            "kernel void k(global int *p, int seven) {{
    int i = get_global_id(0);
    p[i] = i;
    barrier({flags});
    p[128 + i] = p[i ^ 1];
}}"
        )
    };
    let race = only(&source("seven == 7 ? CLK_LOCAL_MEM_FENCE : CLK_GLOBAL_MEM_FENCE"));
    assert_eq!(race.kind, Kind::RaceGlobal);
    let (findings, _) = run(&source("seven == 7 ? CLK_GLOBAL_MEM_FENCE : CLK_LOCAL_MEM_FENCE"), "", 16, 8);
    assert_eq!(findings, []);
    let (findings, _) = run(&source("seven == 7 ? 3 : 0"), "", 16, 8);
    assert_eq!(findings, []);
}

#[test]
fn elements_are_those_of_the_declared_type_whatever_type_an_access_has() {
    let source = "kernel void k(global int *p) {
    local int t[16];
    if (get_local_id(0) == 0) {
        local char *bytes = (local char *)t;
        for (int i = 0; i < 64; i++) bytes[i] = i;
        p[get_group_id(0)] = bytes[72];
    }
}";
    let found = only(source).object.unwrap();
    assert_eq!((found.index, found.elements, found.offset), (Some(18), Some(16), 72));
    let private = "kernel void k(global int *p) {
    int t[4] = {1, 2, 3, 4};
    if (get_local_id(0) == 0) p[get_group_id(0)] = ((short *)t)[9];
}";
    let found = only(private).object.unwrap();
    assert_eq!((found.index, found.elements, found.offset), (Some(4), Some(4), 18));
}
