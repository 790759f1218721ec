//! Kernels: what the host is told of them, and how their arguments arrive.

use crate::context::Context;
use crate::error::{Result, bail, ensure};
use crate::func::Fn;
use crate::module::{Entry, Func};
use crate::reader::Id;
use crate::types::{Kind, Ty};
use cloom_caps::limits;
use cloom_ir::{Flags, Function, KernelMeta, KernelParam, Linkage, ParamKind, Scalar, Space, Type, Value};
use spirv::{Decoration, ExecutionMode, FunctionParameterAttribute as Attribute, Op};

impl<'a, 'w> Context<'a, 'w> {
    /// The declaration of a kernel.
    pub fn declare_kernel(&mut self, f: &Func<'_>, entry: &Entry<'_>) -> Result<Function> {
        ensure!(!f.body.is_empty(), "the kernel `{}` has no body", entry.name);
        let (ret, types) = self.signature(f)?;
        ensure!(matches!(self.types[ret].kind, Kind::Void), "the kernel `{}` returns a value", entry.name);
        let mut meta = self.modes(entry)?;
        let names: Vec<&str> = self
            .module
            .argument_types
            .get(&entry.name)
            .map(|list| list.split_terminator(',').collect())
            .unwrap_or_default();
        let inner = self.inner(f, &entry.name)?;
        let mut params = Vec::new();
        for (i, (param, &ty)) in f.params.iter().zip(&types).enumerate() {
            let id = param.word(1)?;
            let (ir, mut param) = self.kernel_param(id, ty)?;
            // The name that the source wrote, such as `uint`: the type in SPIR-V has no sign.
            if let Some(name) = names.get(i) {
                param.type_name = (*name).to_owned();
            }
            // Translators name the parameters of the function of the source, and not those of the kernel that they put
            // before it.
            if let (true, Some(inner)) = (param.name.is_empty(), inner) {
                let name = self.module.name(inner.params[i].word(1)?);
                param.name = name.unwrap_or_default().to_owned();
            }
            params.push(ir);
            meta.params.push(param);
        }
        let mut func = Function::new(entry.name.clone(), params, None);
        func.linkage = Linkage::External;
        func.kernel = Some(Box::new(meta));
        Ok(func)
    }

    /// The function of the source, where a translator has put another one before it as the kernel: it has the kernel's
    /// name, and the names of the parameters.
    pub fn inner(&self, f: &Func<'_>, name: &str) -> Result<Option<&'a Func<'w>>> {
        // The first call is enough: such a kernel does nothing else.
        let callee = f.body.iter().find(|i| i.op == Op::FunctionCall).and_then(|i| self.funcs.get(i.words.get(2)?));
        let module = self.module;
        let Some(inner) = callee.map(|c| &module.functions[c.index]) else { return Ok(None) };
        let is = self.module.linkage(inner.id)?.is_some_and(|l| l.0 == name) && inner.params.len() == f.params.len();
        Ok(is.then_some(inner))
    }

    pub fn modes(&self, entry: &Entry<'_>) -> Result<KernelMeta> {
        // Groups may be partial from OpenCL 2.0 on, and SPIR-V is no older.
        let partial_groups = !self.options.uniform_work_group_size;
        let mut meta = KernelMeta { partial_groups, ..KernelMeta::default() };
        for &(mode, words, ids) in &entry.modes {
            let number = |i: usize| match words.get(i) {
                // The operands of a mode with ids are constants, which may be specialised.
                Some(&id) if ids => Ok(u32::try_from(self.integer(id)?).unwrap_or(u32::MAX)),
                Some(&n) => Ok(n),
                None => bail!("an execution mode has too few operands"),
            };
            let sizes = || -> Result<[u32; 3]> {
                let sizes = [number(0)?, number(1)?, number(2)?];
                ensure!(sizes.iter().all(|&n| n > 0), "a size of a work-group is 0");
                Ok(sizes)
            };
            match ExecutionMode::from_u32(mode) {
                Some(ExecutionMode::LocalSize | ExecutionMode::LocalSizeId) => meta.reqd_group_size = Some(sizes()?),
                Some(ExecutionMode::LocalSizeHint | ExecutionMode::LocalSizeHintId) => {
                    meta.group_size_hint = Some(sizes()?);
                }
                Some(ExecutionMode::VecTypeHint) => meta.vec_type_hint = Some(vec_type_hint(number(0)?)?),
                // See `Context::contracts`.
                Some(ExecutionMode::ContractionOff) => {}
                Some(ExecutionMode::SubgroupSize) => {
                    let wanted = number(0)?;
                    let size = limits::SUB_GROUP_SIZES.iter().find(|&&size| u32::from(size) == wanted);
                    ensure!(size.is_some(), "there are no sub-groups of {wanted} work-items (`{}`)", entry.name);
                    meta.reqd_subgroup_size = size.copied();
                }
                Some(mode @ (ExecutionMode::SubgroupsPerWorkgroup | ExecutionMode::SubgroupsPerWorkgroupId)) => {
                    bail!(
                        "the device chooses the numbers of sub-groups itself (execution mode {mode:?} of `{}`)",
                        entry.name
                    )
                }
                Some(mode) => bail!("the execution mode {mode:?} of `{}` is not supported", entry.name),
                None => bail!("the execution mode {mode} of `{}` is not known", entry.name),
            }
        }
        Ok(meta)
    }

    fn kernel_param(&mut self, id: Id, ty: Ty) -> Result<(Type, KernelParam)> {
        let data = &self.types[ty];
        let name = self.module.name(id).unwrap_or_default().to_owned();
        let mut out = KernelParam {
            name,
            type_name: self.type_name(ty),
            kind: ParamKind::Value,
            size: data.size as u32,
            align: data.align as u32,
            is_const: self.module.has_attribute(id, Attribute::NoWrite),
            is_restrict: self.module.has_attribute(id, Attribute::NoAlias)
                || self.module.decoration(id, Decoration::Restrict).is_some(),
            is_volatile: self.module.decoration(id, Decoration::Volatile).is_some(),
            access: 0,
            pointee_align: 1,
        };
        let record = Type::ptr(Space::Constant);
        let ir = match data.kind {
            Kind::Pointer(space, _) => {
                out.kind = match space {
                    Space::Global => ParamKind::Global,
                    Space::Constant => ParamKind::Constant,
                    Space::Local => ParamKind::Local,
                    Space::Private if self.module.has_attribute(id, Attribute::ByVal) => {
                        let (_, of) = self.types.pointee(ty)?;
                        let of_data = &self.types[of];
                        (out.size, out.align) = (of_data.size as u32, of_data.align as u32);
                        ensure!(out.size > 0, "a parameter has no size");
                        (out.type_name, out.is_const) = (self.type_name(of), false);
                        out.kind = ParamKind::Struct;
                        return Ok((record, out));
                    }
                    _ => bail!("a kernel takes a pointer to memory that the host cannot pass"),
                };
                // A pointer to constant memory is a pointer to `const`.
                out.is_const |= space == Space::Constant;
                Type::ptr(space)
            }
            Kind::Struct(_) | Kind::Array(..) => {
                ensure!(out.size > 0, "a parameter has no size");
                out.kind = ParamKind::Struct;
                record
            }
            Kind::Number(_) | Kind::Vector(..) => {
                let value = self.types.value(ty)?;
                ensure!(value.scalar != Scalar::I1, "a kernel takes a truth value, which has no size for the host");
                value
            }
            Kind::Image(image) => {
                (out.kind, out.access) = (ParamKind::Image, image.access);
                self.types.value(ty)?
            }
            Kind::Pipe(access) => {
                (out.kind, out.access) = (ParamKind::Pipe, access);
                self.types.value(ty)?
            }
            Kind::Sampler => {
                (out.kind, out.size, out.align) = (ParamKind::Sampler, 4, 4);
                self.types.value(ty)?
            }
            Kind::Queue => {
                out.kind = ParamKind::Queue;
                self.types.value(ty)?
            }
            _ => bail!("a kernel takes what the host cannot pass"),
        };
        Ok((ir, out))
    }

    /// A type as OpenCL C would write it. Integers have no sign in SPIR-V; they are written without `u`.
    fn type_name(&self, ty: Ty) -> String {
        match &self.types[ty].kind {
            Kind::Number(scalar) => scalar_name(*scalar).to_owned(),
            Kind::Vector(element, lanes) => format!("{}{lanes}", self.type_name(*element)),
            Kind::Pointer(_, to) => match self.types.get(*to) {
                Ok(to) if matches!(self.types[to].kind, Kind::Number(_) | Kind::Vector(..) | Kind::Struct(_)) => {
                    format!("{}*", self.type_name(to))
                }
                _ => "void*".into(),
            },
            Kind::Struct(_) | Kind::Opaque => {
                let name = self.module.name(self.types.id(ty)).unwrap_or("struct");
                name.strip_prefix("struct.").unwrap_or(name).to_owned()
            }
            Kind::Image(image) => image.name.into(),
            Kind::Sampler => "sampler_t".into(),
            Kind::Pipe(_) => "pipe".into(),
            Kind::Queue => "queue_t".into(),
            _ => String::new(),
        }
    }
}

impl Fn<'_, '_, '_> {
    /// The parameters of a kernel. Structures arrive as addresses in the block of arguments.
    pub fn kernel_params(&mut self, f: &Func<'_>, types: &[Ty], params: &[Value]) -> Result<()> {
        for ((param, &ty), &value) in f.params.iter().zip(types).zip(params) {
            let id = param.word(1)?;
            let parts = match self.cx.types[ty].kind {
                Kind::Struct(_) | Kind::Array(..) => self.load_parts(ty, value, None, Flags::empty())?,
                // The function may write to a parameter that is passed by value, and the block of arguments is only
                // read.
                Kind::Pointer(Space::Private, _) => {
                    let (_, of) = self.cx.types.pointee(ty)?;
                    let (size, align) = self.sized(of)?;
                    let room = self.room(size, align)?;
                    self.b().mem_copy(room, value, size, align);
                    vec![room]
                }
                _ => vec![value],
            };
            self.define(id, ty, parts)?;
        }
        Ok(())
    }
}

/// The name of a scalar in OpenCL C, of integers the signed one.
pub(crate) fn scalar_name(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::I8 | Scalar::I1 => "char",
        Scalar::I16 => "short",
        Scalar::I32 => "int",
        Scalar::I64 | Scalar::Ptr(_) => "long",
        Scalar::F16 => "half",
        Scalar::F32 => "float",
        Scalar::F64 => "double",
    }
}

/// The operand of `VecTypeHint`: lanes in the high half, the type in the low half.
fn vec_type_hint(word: u32) -> Result<String> {
    let element = match word & 0xffff {
        0 => "char",
        1 => "short",
        2 => "int",
        3 => "long",
        4 => "half",
        5 => "float",
        6 => "double",
        other => bail!("the type {other} of VecTypeHint is not known"),
    };
    Ok(match word >> 16 {
        0 | 1 => element.to_owned(),
        lanes => format!("{element}{lanes}"),
    })
}
