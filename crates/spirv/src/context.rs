//! What is known of a module while it is lowered: types, constants, variables, functions, and the IR so far.

use crate::Input;
use crate::builtin::Wrappers;
use crate::consts::Constant;
use crate::enqueue::{Children, invoked};
use crate::error::{Error, Result, bail, ensure};
use crate::limits;
use crate::module::Module;
use crate::reader::{Id, Inst};
use crate::types::{Image, Kind, Ty, Types};
use crate::variables::Given;
use cloom_clc::Target;
use cloom_clc::options::BuildOptions;
use cloom_ir::{Flags, FuncRef, GlobalRef, Scalar, Space, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use spirv::{AccessQualifier, Decoration, Dim, Op, StorageClass};

/// A function that can be called.
#[derive(Clone, Copy)]
pub(crate) struct Callee {
    pub func: FuncRef,
    /// The type of the result.
    pub ret: Ty,
    /// Its place among the module's functions.
    pub index: usize,
}

/// The state of lowering a module.
pub(crate) struct Context<'a, 'w> {
    pub module: &'a Module<'w>,
    /// The module's bytes.
    pub binary: &'a [u8],
    pub target: &'a Target,
    pub options: &'a BuildOptions,
    /// Values of specialisation constants by number.
    pub constants_given: FxHashMap<u32, &'a [u8]>,
    pub types: Types,
    pub consts: FxHashMap<Id, Constant>,
    /// Variables, and the other way round.
    pub globals: FxHashMap<Id, GlobalRef>,
    pub global_ids: FxHashMap<GlobalRef, Id>,
    /// Variables that hold indices and sizes of the launch: the type and what is in it.
    pub inputs: FxHashMap<Id, (Ty, Given)>,
    pub funcs: FxHashMap<Id, Callee>,
    pub wrappers: Wrappers,
    pub children: Children,
    /// Permissions that the build options give to floating-point operations.
    pub fast: Flags,
    /// Whether quotients and square roots of `float` need be as precise only as the environment asks.
    pub fpmath: bool,
    /// Whether products are added in one operation, in functions that are not in `rounds_twice`.
    pub contract: bool,
    /// Functions of kernels that want each operation rounded.
    rounds_twice: FxHashSet<Id>,
    /// The IR.
    pub ir: cloom_ir::Module,
    /// Names of functions and of variables that are taken.
    pub func_names: FxHashSet<String>,
    pub global_names: FxHashSet<String>,
    /// Bytes of initial values so far.
    pub init_bytes: u64,
    files: FxHashMap<Id, u16>,
    /// What is left of [`limits::WORK`] and [`limits::IR_INSTS`].
    work: u64,
    insts: usize,
}

impl<'a, 'w> Context<'a, 'w> {
    pub fn new(module: &'a Module<'w>, input: Input<'a>) -> Self {
        Context {
            module,
            binary: input.binary,
            target: input.target,
            options: input.options,
            constants_given: input.constants.iter().map(|(number, bytes)| (*number, bytes.as_slice())).collect(),
            types: Types::default(),
            consts: FxHashMap::default(),
            globals: FxHashMap::default(),
            global_ids: FxHashMap::default(),
            inputs: FxHashMap::default(),
            funcs: FxHashMap::default(),
            wrappers: Wrappers::default(),
            children: Children::default(),
            fast: cloom_clc::fast_math(input.options),
            fpmath: input.target.fpmath && !input.options.correctly_rounded_divide_sqrt,
            contract: input.target.fma,
            rounds_twice: rounds_twice(module),
            ir: cloom_ir::Module::new(),
            func_names: FxHashSet::default(),
            global_names: FxHashSet::default(),
            init_bytes: 0,
            files: FxHashMap::default(),
            work: limits::WORK,
            insts: limits::IR_INSTS,
        }
    }

    /// Lowers the module.
    pub fn lower(mut self) -> Result<cloom_ir::Module> {
        for inst in &self.module.declarations {
            self.declaration(inst).map_err(|e| e.at(inst))?;
        }
        self.functions()?;
        // Last, when all uses of built-in functions are known: they are compiled together.
        self.compile_wrappers()?;
        Ok(self.ir)
    }

    /// Whether a function adds products in one operation.
    pub fn contracts(&self, function: Id) -> bool {
        self.contract && !self.rounds_twice.contains(&function)
    }

    /// Work that is no instruction of the IR.
    pub fn charge(&mut self, steps: usize) -> Result<()> {
        match self.work.checked_sub(steps as u64) {
            Some(left) => self.work = left,
            None => bail!("the module is too large: more than {} steps", limits::WORK),
        }
        Ok(())
    }

    /// Instructions of the IR.
    pub fn charge_insts(&mut self, count: usize) -> Result<()> {
        match self.insts.checked_sub(count) {
            Some(left) => self.insts = left,
            None => bail!("the module is too large: more than {} instructions of the IR", limits::IR_INSTS),
        }
        Ok(())
    }

    /// The source location that `OpLine` names.
    pub fn line(&mut self, inst: &Inst<'_>) -> Result<Span> {
        let (file, line, col) = (inst.word(0)?, inst.word(1)?, inst.word(2)?);
        let Some(name) = self.module.strings.get(&file) else { return Ok(Span::NONE) };
        let files = &mut self.ir.files;
        let file = match self.files.get(&file) {
            Some(&known) => known,
            None => {
                let Ok(number) = u16::try_from(files.len()) else { return Ok(Span::NONE) };
                files.push(name.clone());
                self.files.insert(file, number);
                number
            }
        };
        // Lines and columns count from 1; 0 is unknown.
        let col = u16::try_from(col).unwrap_or(u16::MAX).max(1);
        Ok(if line == 0 { Span::NONE } else { Span { file, line, col, inlined: 0 } })
    }

    fn declaration(&mut self, inst: &Inst<'_>) -> Result<()> {
        match inst.op {
            Op::Line | Op::NoLine => Ok(()),
            Op::TypeForwardPointer => Ok(()),
            Op::Variable => self.variable(inst),
            // All names of types begin with `Type`. The commonest ones are tested without making a text of the name.
            _ if matches!(inst.op, Op::TypeVoid | Op::TypeBool | Op::TypeInt | Op::TypeFloat | Op::TypeVector)
                || format!("{:?}", inst.op).starts_with("Type") =>
            {
                self.add_type(inst)
            }
            _ => self.constant(inst),
        }
    }

    fn add_type(&mut self, inst: &Inst<'_>) -> Result<()> {
        let id = inst.word(0)?;
        let mut packed = false;
        let kind = match inst.op {
            Op::TypeVoid => Kind::Void,
            Op::TypeBool => Kind::Bool,
            // The sign is not looked at: operations have one.
            Op::TypeInt => match inst.word(1)? {
                bits @ (8 | 16 | 32 | 64) => Kind::Number(Scalar::int(bits).unwrap_or(Scalar::I32)),
                bits => bail!("integers of {bits} bits are not supported"),
            },
            Op::TypeFloat => match inst.word(1)? {
                16 => Kind::Number(Scalar::F16),
                32 => Kind::Number(Scalar::F32),
                64 if self.target.fp64 => Kind::Number(Scalar::F64),
                64 => bail!("the device has no `double`"),
                bits => bail!("floats of {bits} bits are not supported"),
            },
            Op::TypeVector => {
                let element = self.types.get(inst.word(1)?)?;
                let lanes = inst.word(2)?;
                let scalar = matches!(self.types[element].kind, Kind::Bool | Kind::Number(_));
                ensure!(scalar, "there are no vectors of this type");
                ensure!(matches!(lanes, 2 | 3 | 4 | 8 | 16), "there are no vectors of {lanes} components");
                Kind::Vector(element, lanes as u16)
            }
            Op::TypeArray => {
                let element = self.types.get(inst.word(1)?)?;
                let count = self.integer(inst.word(2)?)?;
                let data = &self.types[element];
                // A structure without members has no bytes, and yet there may be an array of it.
                let sized = data.size > 0 || matches!(data.kind, Kind::Struct(_) | Kind::Array(..));
                ensure!(sized, "there are no arrays of this type");
                Kind::Array(element, count)
            }
            Op::TypeStruct => {
                packed = self.module.decoration(id, Decoration::CPacked).is_some();
                // `Types::add` places the members.
                let member = |&id: &Id| Ok((self.types.get(id)?, 0, 0));
                Kind::Struct(inst.rest(1).iter().map(member).collect::<Result<_>>()?)
            }
            Op::TypeOpaque => Kind::Opaque,
            // The pointee is not looked up: it may be declared later (`OpTypeForwardPointer`).
            Op::TypePointer => Kind::Pointer(space(inst.word(1)?)?, inst.word(2)?),
            Op::TypeFunction => {
                let ret = self.types.get(inst.word(1)?)?;
                let params = inst.rest(2).iter().map(|&id| self.types.get(id)).collect::<Result<_>>()?;
                Kind::Function(ret, params)
            }
            Op::TypeEvent => Kind::Event,
            Op::TypeSampler => Kind::Sampler,
            Op::TypeImage => Kind::Image(image(inst)?),
            Op::TypeSampledImage => match self.types[self.types.get(inst.word(1)?)?].kind {
                Kind::Image(image) => Kind::SampledImage(image),
                _ => bail!("it is not about an image"),
            },
            Op::TypePipe => match AccessQualifier::from_u32(inst.word(1)?) {
                Some(AccessQualifier::ReadOnly) => Kind::Pipe(1),
                Some(AccessQualifier::WriteOnly) => Kind::Pipe(2),
                _ => bail!("a pipe is read-only or write-only"),
            },
            Op::TypeReserveId => Kind::ReserveId,
            Op::TypePipeStorage => bail!("pipes of a program (PipeStorage) are not supported"),
            Op::TypeQueue => Kind::Queue,
            Op::TypeDeviceEvent => Kind::DeviceEvent,
            Op::TypeRuntimeArray => bail!("arrays without a length are for graphics"),
            _ => bail!("the type is not supported"),
        };
        ensure!(!self.consts.contains_key(&id), "the id %{id} is declared twice");
        self.types.add(id, kind, packed)
    }

    /// A name of a function that is not taken, like the one given.
    pub fn fresh_func_name(&mut self, like: &str) -> Result<String> {
        let mut names = std::mem::take(&mut self.func_names);
        let name = self.fresh(&mut names, like);
        self.func_names = names;
        name
    }

    /// A name of a variable that is not taken, like the one given.
    pub fn fresh_global_name(&mut self, like: &str) -> Result<String> {
        let mut names = std::mem::take(&mut self.global_names);
        let name = self.fresh(&mut names, like);
        self.global_names = names;
        name
    }

    fn fresh(&mut self, taken: &mut FxHashSet<String>, like: &str) -> Result<String> {
        let mut name = like.to_owned();
        // Not from 1 on, so that many equal names do not take attempts in the square of their number.
        let mut n = taken.len();
        while !taken.insert(name.clone()) {
            self.charge(1)?;
            n += 1;
            name = format!("{like}.{n}");
        }
        Ok(name)
    }
}

/// The functions that are called or enqueued by kernels with `ContractionOff`, and these. A function may be of several
/// kernels: it rounds twice if one of them wants that.
fn rounds_twice(module: &Module<'_>) -> FxHashSet<Id> {
    let is_off = |e: &&crate::module::Entry<'_>| {
        e.modes.iter().any(|mode| mode.0 == spirv::ExecutionMode::ContractionOff as u32)
    };
    let mut list: Vec<Id> = module.entries.iter().filter(is_off).map(|e| e.function).collect();
    let mut found = FxHashSet::default();
    // Most modules have no such kernel, and need no map of their functions.
    if list.is_empty() {
        return found;
    }
    let bodies: FxHashMap<Id, &[Inst<'_>]> = module.functions.iter().map(|f| (f.id, &f.body[..])).collect();
    while let Some(id) = list.pop() {
        if found.insert(id) {
            let body = bodies.get(&id).copied().unwrap_or_default();
            list.extend(body.iter().filter_map(callee));
        }
    }
    found
}

/// The function that an instruction calls or enqueues.
pub(crate) fn callee(inst: &Inst<'_>) -> Option<Id> {
    if inst.op == Op::FunctionCall { inst.words.get(2).copied() } else { invoked(inst) }
}

/// The address space of a storage class.
pub(crate) fn space(class: u32) -> Result<Space> {
    Ok(match StorageClass::from_u32(class) {
        Some(StorageClass::UniformConstant) => Space::Constant,
        // What is given to a kernel, such as its position, is put into private memory.
        Some(StorageClass::Input | StorageClass::Function) => Space::Private,
        Some(StorageClass::Workgroup) => Space::Local,
        Some(StorageClass::CrossWorkgroup) => Space::Global,
        Some(StorageClass::Generic) => Space::Generic,
        Some(class) => bail!("the storage class {class:?} is not one of OpenCL"),
        None => bail!("the storage class {class} is not known"),
    })
}

/// `OpTypeImage`
fn image(inst: &Inst<'_>) -> Result<Image> {
    let Some(&[dim, depth, arrayed, samples]) = inst.rest(2).first_chunk() else { bail!("it has too few operands") };
    ensure!(samples == 0, "multi-sampled images are not supported");
    // The access is the last operand, and may be missing.
    let access = match inst.words.get(8).map(|&word| AccessQualifier::from_u32(word)) {
        None | Some(Some(AccessQualifier::ReadOnly)) => 1,
        Some(Some(AccessQualifier::WriteOnly)) => 2,
        Some(Some(AccessQualifier::ReadWrite)) => 3,
        Some(None) => bail!("its access is not known"),
    };
    let (is_depth, is_array) = (depth == 1, arrayed != 0);
    let (name, dims) = match (Dim::from_u32(dim), is_array, is_depth) {
        (Some(Dim::Dim1D), false, false) => ("image1d_t", 1),
        (Some(Dim::Dim1D), true, false) => ("image1d_array_t", 1),
        (Some(Dim::DimBuffer), false, false) => ("image1d_buffer_t", 1),
        (Some(Dim::Dim2D), false, false) => ("image2d_t", 2),
        (Some(Dim::Dim2D), true, false) => ("image2d_array_t", 2),
        (Some(Dim::Dim2D), false, true) => ("image2d_depth_t", 2),
        (Some(Dim::Dim2D), true, true) => ("image2d_array_depth_t", 2),
        (Some(Dim::Dim3D), false, false) => ("image3d_t", 3),
        _ => bail!("there is no such image in OpenCL"),
    };
    Ok(Image { name, access, dims, is_array, is_depth })
}

/// An error about no instruction in particular.
impl From<cloom_ir::ImportError> for Error {
    fn from(e: cloom_ir::ImportError) -> Error {
        Error::new(e.to_string())
    }
}
