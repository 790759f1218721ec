//! A launch of a kernel of a file in the reference interpreter, ready to run.

use super::argument::Value;
use super::kernel::Job;
use super::picture_argument;
use super::shape::Sizes;
use crate::outcome::Failure;
use cloom_interp as interp;
use cloom_ir::{FuncRef, KernelMeta};

/// The range of the launch, in three dimensions.
fn range(meta: &KernelMeta, global: &Sizes, local: Option<&Sizes>) -> interp::NdRange {
    let padded = |sizes: &[usize]| -> [u64; 3] { std::array::from_fn(|d| sizes.get(d).map_or(1, |&n| n as u64)) };
    let local = match (local, meta.reqd_group_size) {
        (Some(l), _) => padded(&l.0),
        // `reqd_work_group_size` leaves one local size only, so the platform has no choice.
        (None, Some(required)) => required.map(u64::from),
        // The platform's choice must not matter. This one has several groups, where the size allows it, and no partial
        // one.
        (None, None) => padded(&[global.0.first().map_or(1, |&n| (1..=64).rev().find(|d| n % d == 0).unwrap_or(1))]),
    };
    interp::NdRange { work_dim: global.0.len() as u32, offset: [0; 3], global: padded(&global.0), local }
}

/// A launch that can be repeated.
pub struct Launch<'a> {
    job: &'a Job,
    /// The kernel with what it calls.
    pub code: interp::Program,
    pub func: FuncRef,
    pub range: interp::NdRange,
}

/// A machine that is ready to run the kernel.
pub struct Ready<'a> {
    pub machine: interp::Machine<'a>,
    pub args: Vec<interp::Arg>,
    /// Address and size of the bytes of each buffer and image.
    pub memory: Vec<(u64, u64)>,
}

impl<'a> Launch<'a> {
    /// The launch of a kernel of a file.
    pub fn new(job: &'a Job) -> Result<Launch<'a>, Failure> {
        let kernel = &job.kernel;
        let linked = job.compiler.linked(&job.program, kernel);
        let module = linked.map_err(|e| Failure::finding(format!("{kernel}: {e}")))?;
        let func = module.find(kernel).ok_or_else(|| Failure::wrong(format!("there is no kernel `{kernel}`")))?;
        let code = interp::Program::new(module).map_err(|e| {
            let first = e.first().map_or_else(String::new, ToString::to_string);
            Failure::finding(format!("{kernel}: the front end produced invalid IR, a bug of Cloom: {first}"))
        })?;
        Ok(Launch { job, code, func, range: range(&job.meta, &job.global, job.local.as_ref()) })
    }

    /// A fresh machine.
    pub fn ready(&self, options: interp::Options) -> Result<Ready<'_>, interp::FaultKind> {
        let mut machine = interp::Machine::new(&self.code, options)?;
        let (mut memory, mut args) = (Vec::new(), Vec::new());
        for value in &self.job.values {
            let mut upload = |bytes: &[u8], machine: &mut interp::Machine<'_>| {
                let address = machine.buffer(bytes)?;
                memory.push((address, bytes.len() as u64));
                Ok(address)
            };
            args.push(match value {
                Value::Buffer { bytes, .. } => interp::Arg::Buffer(upload(bytes, &mut machine)?),
                Value::Image(image) => {
                    let elements = upload(&image.pixels, &mut machine)?;
                    interp::Arg::Buffer(machine.image(&image.descriptor(elements))?)
                }
                Value::Sampler(state) => {
                    interp::Arg::Bytes(picture_argument::sampler_word(*state).to_le_bytes().to_vec())
                }
                Value::Local(bytes) => interp::Arg::Local(*bytes as u64),
                Value::Bytes(bytes) => interp::Arg::Bytes(bytes.clone()),
            });
        }
        Ok(Ready { machine, args, memory })
    }

    /// Runs it for so many instructions, whatever comes of it.
    pub fn watch(&self, fuel: u64, observer: &mut impl interp::Observer) -> Result<(), interp::Fault> {
        let Ready { mut machine, args, .. } = self.ready(interp::Options { fuel, ..interp::Options::default() })?;
        machine.run_kernel(self.func, &self.range, &args, observer)
    }
}
