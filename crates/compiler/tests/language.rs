//! The self-checking programs of the language, on the CPU device, optimised and not, on several sizes.

mod common;

use cloom_compiler::Variant;
use cloom_hal::Device;
use cloom_hal_cpu::CpuDevice;
use common::{Arg, buffer, compiler, ints, launch};

#[test]
fn programs_check_themselves() {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../filetest/run/lang");
    let compiler = compiler();
    let device = CpuDevice::new(2, None);
    let mut paths: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    // The program of pipes is passed some, which the file tests make.
    paths.retain(|p| p.extension().is_some_and(|e| e == "cl") && !p.ends_with("pipes.cl"));
    paths.sort();
    assert!(paths.len() > 10);
    let mut wrong = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        // Generic pointers and variables of program scope take OpenCL C 3.0.
        let options: &[&str] = if name.starts_with("generic_") || name.starts_with("variables_") {
            &["-cl-std=CL3.0", "-cl-std=CL3.0 -cl-opt-disable"]
        } else {
            &["", "-cl-opt-disable", "-cl-std=CL3.0"]
        };
        for options in options {
            let built = common::build(&compiler, &text, options);
            let Ok(program) = built.result else {
                wrong.push(format!("{name} with {options:?}:\n{}", built.log));
                break;
            };
            let executable = compiler.executable(&program, &device.info().target);
            if let Err(e) = executable.kernel("test", Variant::Vector) {
                wrong.push(format!("{name} with {options:?}: {e}"));
                break;
            }
            for (global, local) in [(1u64, 1u64), (3, 3), (8, 8)] {
                let out = buffer(&device, &vec![0xff; global as usize * 4]);
                launch(&device, &executable, "test", [global, 1, 1], [local, 1, 1], &[Arg::Buffer(&*out)]);
                let lines = ints(&*out);
                if lines.iter().any(|&l| l != 0) {
                    wrong.push(format!("{name} with {options:?} in a group of {local}: lines {lines:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
