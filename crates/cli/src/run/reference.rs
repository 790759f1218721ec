//! The reference interpreter's result for a kernel of a file: what the buffers hold after one run, or where the kernel does what no
//! kernel may do. It runs before the device does, so that a kernel that would write beyond a buffer is told and not run.

use super::argument::Value;
use super::shape::Sizes;
use crate::outcome::Failure;
use cloom_compiler::{Compiler, Program};
use cloom_interp as interp;
use cloom_ir::KernelMeta;

/// Runs the kernel; gives the bytes of each buffer argument afterwards, in order.
pub fn run(
    compiler: &Compiler,
    program: &Program,
    (kernel, meta): (&str, &KernelMeta),
    values: &[Value],
    global: &Sizes,
    local: Option<&Sizes>,
) -> Result<Vec<Vec<u8>>, Failure> {
    let module = compiler.linked(program, kernel).map_err(|e| Failure::finding(format!("{kernel}: {e}")))?;
    let files = module.files.clone();
    let func = module.find(kernel).ok_or_else(|| Failure::wrong(format!("there is no kernel `{kernel}`")))?;
    let code = interp::Program::new(module).map_err(|e| {
        let first = e.first().map_or_else(String::new, ToString::to_string);
        Failure::finding(format!("{kernel}: the front end made invalid code, a bug of Cloom: {first}"))
    })?;
    let padded = |sizes: &[usize]| -> [u64; 3] { std::array::from_fn(|d| sizes.get(d).map_or(1, |&n| n as u64)) };
    let local = match (local, meta.reqd_group_size) {
        (Some(l), _) => padded(&l.0),
        (None, Some(required)) => required.map(u64::from),
        // Any choice of a platform must give the same; one that has more than one group and no partial one.
        (None, None) => padded(&[global.0.first().map_or(1, |&n| (1..=64).rev().find(|d| n % d == 0).unwrap_or(1))]),
    };
    let range = interp::NdRange { work_dim: global.0.len() as u32, offset: [0; 3], global: padded(&global.0), local };
    let total: usize = values.iter().map(|v| if let Value::Buffer { bytes, .. } = v { bytes.len() } else { 0 }).sum();
    let options =
        interp::Options { memory: (total as u64 + (1 << 30)).saturating_mul(2), ..interp::Options::default() };
    let failed = |e: interp::FaultKind| {
        Failure::wrong(format!("the reference cannot hold these buffers: {e}; choose smaller ones"))
    };
    let mut machine = interp::Machine::new(&code, options).map_err(failed)?;
    let mut buffers = Vec::new();
    let mut args = Vec::new();
    for value in values {
        args.push(match value {
            Value::Buffer { bytes, .. } => {
                let address = machine.buffer(bytes).map_err(failed)?;
                buffers.push((address, bytes.len()));
                interp::Arg::Buffer(address)
            }
            Value::Local(bytes) => interp::Arg::Local(*bytes as u64),
            Value::Bytes(bytes) => interp::Arg::Bytes(bytes.clone()),
        });
    }
    machine.run_kernel(func, &range, &args, &mut ()).map_err(|fault| match fault.kind {
        interp::FaultKind::Fuel | interp::FaultKind::Memory => Failure::wrong(format!(
            "too much for the reference interpreter: {}; choose a smaller --global, or leave --verify out",
            fault.kind
        )),
        interp::FaultKind::BadLaunch(why) => Failure::wrong(format!("{kernel}: {why}")),
        _ => {
            let file = files.get(usize::from(fault.span.file)).map_or("", String::as_str);
            let place = if fault.span == cloom_ir::Span::NONE { String::new() } else { format!("in {file}, ") };
            Failure::finding(format!("{place}{fault}; the kernel was not run on the device"))
        }
    })?;
    let read = |&(address, len): &(u64, usize)| {
        machine.memory.read(address, len as u64).map(|(bytes, _)| bytes.to_vec()).map_err(failed)
    };
    buffers.iter().map(read).collect()
}
