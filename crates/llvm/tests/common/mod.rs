//! Builds work-group functions by hand, compiles them, and runs them on the CPU device.

#![allow(dead_code, reason = "each test file uses a part")]

use cloom_artifact::{CpuLaunch, KernelArg, KernelArgKind, KernelArtifact, LaunchForm};
use cloom_hal::{Device, Kernel, Launch, NdRange, PrintSink};
use cloom_hal_cpu::CpuDevice;
use cloom_ir::{BinOp, Builder, Flags, FuncRef, Function, Linkage, Module, Space, Type, Value, verify};
use cloom_llvm::OptLevel;
use cloom_passes::PassOptions;
use std::sync::{Arc, Mutex};

/// The parameters of a work-group function.
pub struct Abi {
    pub launch: Value,
    pub args: Value,
    pub group: Value,
    pub local: Value,
    pub scratch: Value,
}

/// Adds a work-group function with an empty entry block; `body` writes its instructions and terminators.
pub fn group_function(module: &mut Module, body: impl FnOnce(&mut Builder<'_>, &Abi)) -> FuncRef {
    let params =
        [Space::Context, Space::Constant, Space::Context, Space::Local, Space::Context].map(Type::ptr).to_vec();
    let mut func = Function::new("k.wg", params.clone(), None);
    func.linkage = Linkage::External;
    let entry = func.add_block();
    let p: Vec<Value> = params.into_iter().map(|ty| func.add_block_param(entry, ty)).collect();
    let abi = Abi { launch: p[0], args: p[1], group: p[2], local: p[3], scratch: p[4] };
    let mut b = Builder::new(&mut func, entry);
    body(&mut b, &abi);
    let func = module.funcs.push(func);
    let errors = verify(module);
    assert!(errors.is_empty(), "{errors:?}\n{module}");
    func
}

/// Loads argument number `n`, a buffer.
pub fn buffer(b: &mut Builder<'_>, abi: &Abi, n: u64) -> Value {
    let p = b.ptr_offset(abi.args, n * 8);
    b.load(Type::ptr(Space::Global), p, 8, Flags::empty())
}

/// The group's number in the first dimension.
pub fn group_id(b: &mut Builder<'_>, abi: &Abi) -> Value {
    b.load(Type::I64, abi.group, 8, Flags::empty())
}

/// Where a group's part of a buffer begins, if each has so many bytes.
pub fn part(b: &mut Builder<'_>, abi: &Abi, n: u64, bytes: usize) -> Value {
    let (buffer, group) = (buffer(b, abi, n), group_id(b, abi));
    let bytes = b.iconst(Type::I64, bytes as u64);
    let by = b.binary(BinOp::Mul, group, bytes);
    b.ptr_add(buffer, by)
}

/// Format, work-item, argument block.
pub type Print = (u32, u64, Vec<u8>);

pub struct Prints(pub Mutex<Vec<Print>>);

impl PrintSink for Prints {
    fn print(&self, format: u32, item: u64, args: &[u8], _: &dyn Fn(u64) -> Option<Vec<u8>>) {
        self.0.lock().unwrap().push((format, item, args.to_vec()));
    }
}

/// Every target that this machine runs, with and without optimisation.
pub fn variants() -> Vec<(CpuDevice, cloom_llvm::Options)> {
    let mut list: Vec<(CpuDevice, cloom_llvm::Options)> = Vec::new();
    for wish in cloom_caps::cpu::names() {
        let device = CpuDevice::new(2, Some(&wish));
        let target = device.info().target.clone();
        if list.iter().any(|(_, o)| o.target == target) {
            continue;
        }
        for level in [OptLevel::Default, OptLevel::None] {
            let target = target.clone();
            let options = cloom_llvm::Options {
                target,
                level,
                denorms_are_zero: false,
                texts: false,
                lines: false,
                count: false,
            };
            list.push((CpuDevice::new(2, Some(&wish)), options));
        }
    }
    list
}

/// Compiles and runs `groups` groups of one work-item on two buffers; gives the second one afterwards.
pub fn execute(
    device: &CpuDevice,
    options: &cloom_llvm::Options,
    module: &Module,
    func: FuncRef,
    groups: u64,
    input: &[u8],
    output: usize,
) -> Vec<u8> {
    execute_printing(device, options, module, func, groups, input, output).0
}

/// The same, with what was printed.
pub fn execute_printing(
    device: &CpuDevice,
    options: &cloom_llvm::Options,
    module: &Module,
    func: FuncRef,
    groups: u64,
    input: &[u8],
    output: usize,
) -> (Vec<u8>, Vec<Print>) {
    Prepared::new(device, options, module, func).run(groups, input, output)
}

/// A work-group function that is compiled and loaded.
pub struct Prepared<'d> {
    device: &'d CpuDevice,
    kernel: Arc<dyn Kernel>,
}

impl<'d> Prepared<'d> {
    pub fn new(device: &'d CpuDevice, options: &cloom_llvm::Options, module: &Module, func: FuncRef) -> Self {
        let compiled = cloom_llvm::compile(module, func, options, &PassOptions::default())
            .unwrap_or_else(|e| panic!("{e}\n{module}"));
        let argument = |offset| KernelArg { kind: KernelArgKind::Buffer, offset, size: 8 };
        let artifact = KernelArtifact {
            name: "k".into(),
            target: options.target.clone(),
            code: compiled.object,
            entry: compiled.symbols[0].clone(),
            args: vec![argument(0), argument(8)],
            hidden: Vec::new(),
            checked: Vec::new(),
            arg_block: 16,
            local_size: 256,
            launch: LaunchForm::WorkGroup(CpuLaunch { scratch_fixed: 256, ..CpuLaunch::SCALAR }),
            private_size: compiled.private_size,
            reqd_group_size: None,
            subgroup_size: None,
            denorms_are_zero: false,
            printf_formats: module.strings.values().cloned().collect(),
            enqueues: false,
        };
        let kernel = device.load(Arc::new(artifact), None).unwrap_or_else(|e| panic!("{e}\n{module}"));
        Prepared { device, kernel }
    }

    /// Runs `groups` groups of one work-item on two buffers; gives the second one afterwards, and what was printed.
    pub fn run(&self, groups: u64, input: &[u8], output: usize) -> (Vec<u8>, Vec<Print>) {
        let device = self.device;
        let (a, b) = (device.allocate(input.len() as u64).unwrap(), device.allocate(output as u64).unwrap());
        a.write(0, input).unwrap();
        let args = [a.device_address().to_le_bytes(), b.device_address().to_le_bytes()].concat();
        let prints = Prints(Mutex::default());
        let range = NdRange { work_dim: 1, offset: [0; 3], global: [groups, 1, 1], local: [1; 3] };
        device.launch(&Launch { local_size: 256, ..Launch::new(&*self.kernel, range, &args, &prints) }).unwrap();
        let mut bytes = vec![0; output];
        b.read(0, &mut bytes).unwrap();
        (bytes, prints.0.into_inner().unwrap())
    }
}
