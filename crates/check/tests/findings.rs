//! What findings in kernels say: the object that they name, the element, the sentences, the parties.

use cloom_check::interpreted::objects::Region;
use cloom_check::{Checker, Finding, Kind, Kinds, Sources, Subject};
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
