//! Every program of the language tests compiles without a finding, and the module that comes out is well formed.

use cloom_clc::options::{BuildOptions, OptionSet};
use cloom_clc::pp::NoIncludes;
use cloom_clc::source::Diagnostics;
use cloom_clc::{Input, Mode, Output, Target, compile};
use cloom_ir::Op;
use std::path::{Path, PathBuf};

fn build(name: &str, source: &[u8], options: &str, mode: Mode) -> Output {
    let options = BuildOptions::parse(options, OptionSet::Build, &mut Diagnostics::default());
    let target = Target::default();
    compile(Input { name, source, headers: &mut NoIncludes, options: &options, target: &target }, mode)
}

fn sources(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(list) = std::fs::read_dir(folder) else { return };
    for entry in list {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, out);
        } else if path.extension().is_some_and(|e| e == "cl") {
            out.push(path);
        }
    }
    out.sort();
}

#[test]
fn programs_of_the_language_compile() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../filetest/run"), &mut files);
    assert!(files.len() > 10, "the programs are not where they were");
    let mut wrong = String::new();
    for path in files {
        let source = std::fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy();
        let newer = ["generic", "pipes", "variables"].iter().any(|n| name.starts_with(n));
        let options = if newer { "-cl-std=CL3.0" } else { "" };
        let output = build(&name, &source, options, Mode::User);
        match &output.module {
            None => wrong += &output.log(),
            Some(module) => {
                for e in cloom_ir::verify::verify(module) {
                    wrong += &format!("{}: {e}\n", path.display());
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn kernels_expect_the_sub_groups_of_intel_where_the_program_enables_them() {
    let source = b"kernel void before(void);
kernel void first(void) {}
#ifdef cl_intel_subgroups
#pragma OPENCL EXTENSION cl_intel_subgroups : enable
#endif
kernel void before(void) {}
kernel __attribute__((intel_reqd_sub_group_size(16))) void second(void) {}
#pragma OPENCL EXTENSION cl_intel_subgroups : disable
kernel void third(void) {}
#pragma OPENCL EXTENSION cl_intel_required_subgroup_size : enable
kernel void fourth(void) {}
#pragma OPENCL EXTENSION all : disable
kernel void fifth(void) {}";
    let options = BuildOptions::parse("", OptionSet::Build, &mut Diagnostics::default());
    let features = ["cl_intel_subgroups", "cl_intel_required_subgroup_size"].map(str::to_owned).to_vec();
    let target = Target { features, ..Target::default() };
    let input = Input { name: "k.cl", source, headers: &mut NoIncludes, options: &options, target: &target };
    let module = compile(input, Mode::User).module.expect("it is a program");
    let sizes = ["before", "first", "second", "third", "fourth", "fifth"].map(|name| {
        let meta = module.funcs[module.find(name).unwrap()].kernel.as_ref().unwrap();
        (meta.expected_subgroup_size, meta.reqd_subgroup_size)
    });
    assert_eq!(
        sizes,
        [(Some(32), None), (None, None), (Some(32), Some(16)), (None, None), (Some(32), None), (None, None)]
    );
    assert_eq!(cloom_ir::parse(&module.to_string()).unwrap(), module);
}

#[test]
fn the_macro_of_the_generic_address_space_comes_with_it() {
    let source = b"#ifdef __opencl_c_generic_address_space
void f(global int *out) { int *p = out; *p = 1; }
#endif
void g(global int *out);";
    for (options, has) in [("", false), ("-cl-std=CL1.2", false), ("-cl-std=CL3.0", true)] {
        let module = build("macro.cl", source, options, Mode::User).module.expect("no pointer is wrong in any version");
        assert_eq!(module.to_string().contains("@f("), has, "{options}");
    }
}

/// The kernels of real programs say what they mean: warnings about values that are not used, or extensions, would be
/// wrong there. (Some need macros from their hosts; what they lack gives errors, which do not matter here.)
#[test]
fn kernels_of_programs_have_no_new_warnings() {
    let mut files = Vec::new();
    for folder in ["../gallery/kernels", "../filetest/run/lanes", "../filetest/run/args", "../filetest/groups"] {
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut files);
    }
    assert!(files.len() > 60, "the programs are not where they were");
    for path in files {
        let source = std::fs::read(&path).unwrap();
        let output = build(&path.file_name().unwrap().to_string_lossy(), &source, "-cl-std=CL3.0", Mode::User);
        let found = output.diagnostics.iter().find(|d| ["W0304", "W0308", "W0309"].contains(&d.code));
        assert!(found.is_none(), "{}", output.log());
    }
}

/// The operations of the function `f` of a program, in order.
fn operations(source: &str) -> Vec<Op> {
    let output = build("test.cl", source.as_bytes(), "", Mode::User);
    let Some(module) = &output.module else { panic!("{}", output.log()) };
    let f = &module.funcs[module.find("f").unwrap()];
    f.insts_in_layout().map(|(_, data)| data.op.clone()).collect()
}

#[test]
fn an_initialiser_clears_only_what_it_does_not_write() {
    let cleared = |source: &str| -> Vec<u64> {
        let source = format!("void use(void *p); struct S {{ char c; int n[3]; float3 v; }}; {source}");
        let size = |op| if let Op::MemSet { size, .. } = op { Some(size) } else { None };
        operations(&source).into_iter().filter_map(size).collect()
    };
    for (source, want) in [
        ("void f() { int b[4] = { 1, 8, 15, 22 }; use(b); }", &[][..]),
        ("void f() { int b[2][2] = { 1, 2, 3, 4 }; use(b); }", &[]),
        ("void f() { float3 b[2] = { (float3)(1), (float3)(2) }; use(b); }", &[]),
        ("void f() { char b[4] = \"abc\"; use(b); }", &[]),
        ("void f() { int b[9] = { [0 ... 8] = 1 }; use(b); }", &[]),
        ("void f() { int b[4] = { 0 }; use(b); }", &[12]),
        ("void f() { int b[4] = { }; use(b); }", &[16]),
        ("void f() { int b[8] = { [1] = 1, [4] = 2, 3 }; use(b); }", &[4, 8, 8]),
        // Padding counts: copies of the object show it.
        ("void f() { struct S s = { 1, { 2, 3 }, 4 }; use(&s); }", &[3, 4]),
        ("void f() { struct S s = { .v = 4 }; use(&s); }", &[16]),
        ("void f(int i) { struct S s[2] = { [1] = { i, { 1, 2, 3 } } }; use(s); }", &[32, 3, 16]),
        ("void f() { struct S s = { .n = { [0 ... 2] = 7 } }; use(&s); }", &[4, 16]),
    ] {
        assert_eq!(cleared(source), want, "{source}");
    }
    // Many holes are cleared at once.
    let many = "void f() { int b[64] = { [1] = 1, [3] = 1, [5] = 1, [7] = 1, [9] = 1, [11] = 1, [13] = 1, [15] = 1, \
                [17] = 1, [19] = 1, [21] = 1, [23] = 1, [25] = 1, [27] = 1, [29] = 1, [31] = 1 }; use(b); }";
    assert_eq!(cleared(many), [256]);
}

#[test]
fn many_constants_of_an_initialiser_are_data() {
    let list = |n: usize, other: &str| {
        let values: Vec<String> = (1..=n).map(|i| i.to_string()).collect();
        format!("void use(void *p); void f(int i) {{ int b[100] = {{ {}{other} }}; use(b); }}", values.join(", "))
    };
    for (source, copies, stores, clears) in [
        (list(16, ""), 0, 17, 1),
        (list(17, ""), 1, 1, 0),
        (list(100, ""), 1, 1, 0),
        (list(98, ", i, i + 1"), 1, 3, 0),
        // A value that is overwritten: the order of the writes matters.
        (list(99, ", [0] = i"), 0, 101, 1),
        (list(99, ", [1] = 7"), 0, 101, 1),
    ] {
        let found = operations(&source);
        let count = |is: fn(&Op) -> bool| found.iter().filter(|op| is(op)).count();
        let found = (
            count(|op| matches!(op, Op::MemCopy { .. })),
            count(|op| matches!(op, Op::Store { .. })),
            count(|op| matches!(op, Op::MemSet { .. })),
        );
        assert_eq!(found, (copies, stores, clears), "{source}");
    }
}

#[test]
fn the_data_of_an_initialiser_has_its_bytes() {
    let source = "struct S { char c; short s[9]; float f[9]; };
        void use(void *p);
        void f(int i) {
            const struct S t[2] = { { 1, { 2, 3, 4, 5, 6, 7, 8, 9, i }, { 1.0f, 2.0f, -0.0f, 0.5f } },
                                    { 'x', { -1, -2, -3, -4 }, { 3.0f } } };
            use(&t);
        }";
    let output = build("test.cl", source.as_bytes(), "", Mode::User);
    let module = output.module.unwrap();
    let (_, data) = module.globals.iter().next().unwrap();
    assert_eq!((data.size, data.align, data.space), (112, 4, cloom_ir::Space::Constant));
    let mut want = vec![1, 0];
    want.extend((2..=9u16).chain([0]).flat_map(u16::to_le_bytes));
    want.extend([1.0f32, 2.0, -0.0, 0.5].iter().flat_map(|x| x.to_le_bytes()));
    want.resize(56, 0);
    want.extend([b'x', 0]);
    want.extend([-1i16, -2, -3, -4].iter().flat_map(|x| x.to_le_bytes()));
    want.resize(76, 0);
    want.extend(3.0f32.to_le_bytes());
    assert_eq!(data.init, want);
    assert_eq!(cloom_ir::verify::verify(&module), []);
}
