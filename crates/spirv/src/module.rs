//! A module in pieces: what each section says, by id. Types, constants and variables are left as instructions, in
//! order; functions as the instructions of their bodies.

use crate::error::{Error, Result, bail, ensure};
use crate::reader::{Id, Inst, Words};
use crate::{limits, support};
use cloom_clc::Target;
use rustc_hash::{FxHashMap, FxHashSet};
use spirv::{AddressingModel, Decoration, ExecutionModel, LinkageType, Op};

/// A decoration: its number and operands.
type Decorated<'w> = (u32, &'w [u32]);

/// An execution mode: its number and operands, and whether these are ids.
type Mode<'w> = (u32, &'w [u32], bool);

/// A set of extended instructions.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Set {
    /// `OpenCL.std`
    OpenCl,
    /// One that computes nothing: debug information.
    Ignored,
}

/// A kernel.
pub(crate) struct Entry<'w> {
    pub function: Id,
    pub name: String,
    pub modes: Vec<Mode<'w>>,
}

/// A function.
pub(crate) struct Func<'w> {
    /// `OpFunction`
    pub head: Inst<'w>,
    pub id: Id,
    /// The type of the function.
    pub ty: Id,
    pub params: Vec<Inst<'w>>,
    /// From the first label on; empty of a declaration.
    pub body: Vec<Inst<'w>>,
}

/// A module.
#[derive(Default)]
pub(crate) struct Module<'w> {
    names: FxHashMap<Id, String>,
    pub strings: FxHashMap<Id, String>,
    /// Types of arguments by kernel, as the source wrote them.
    pub argument_types: FxHashMap<String, String>,
    decorations: FxHashMap<Id, Vec<Decorated<'w>>>,
    /// The groups of decorations of an id.
    groups: FxHashMap<Id, Vec<Id>>,
    pub sets: FxHashMap<Id, Set>,
    pub entries: Vec<Entry<'w>>,
    /// Whether kernels may enqueue others.
    pub enqueues: bool,
    /// Types, constants, variables and lines, in order.
    pub declarations: Vec<Inst<'w>>,
    pub functions: Vec<Func<'w>>,
}

/// Decorations that one id may have.
const DECORATIONS: usize = 256;

impl<'w> Module<'w> {
    /// Cuts a module into pieces, and checks that the device has what it declares.
    pub fn read(words: &'w Words, target: &Target) -> Result<Module<'w>> {
        let mut this = Module::default();
        let mut modes: Vec<(Inst<'w>, bool)> = Vec::new();
        let (mut has_model, mut is_kernel) = (false, false);
        let mut function: Option<Func<'w>> = None;
        for inst in words.insts() {
            let inst = inst?;
            let mut one = || -> Result<()> {
                match (inst.op, &mut function) {
                    (Op::Function, None) => {
                        let (_, id) = inst.result()?;
                        let ty = inst.word(3)?;
                        function = Some(Func { head: inst, id, ty, params: Vec::new(), body: Vec::new() });
                    }
                    (Op::FunctionEnd, Some(_)) => this.functions.extend(function.take()),
                    (Op::FunctionParameter, Some(f)) if f.body.is_empty() => f.params.push(inst),
                    // Lines between the head of a function and its first block say nothing about its code.
                    (Op::Line | Op::NoLine, Some(f)) if f.body.is_empty() => {}
                    (op, Some(f)) => {
                        ensure!(op == Op::Label || !f.body.is_empty(), "a function begins with a label");
                        f.body.push(inst);
                    }
                    (Op::Capability, None) => {
                        support::check_capability(inst.word(0)?, target)?;
                        is_kernel |= inst.word(0)? == spirv::Capability::Kernel as u32;
                        this.enqueues |= inst.word(0)? == spirv::Capability::DeviceEnqueue as u32;
                    }
                    (Op::Extension, None) => support::check_extension(&inst.string(0)?.0, target)?,
                    (Op::MemoryModel, None) => {
                        has_model = true;
                        memory_model(&inst)?;
                    }
                    (Op::ExecutionMode, None) => modes.push((inst, false)),
                    (Op::ExecutionModeId, None) => modes.push((inst, true)),
                    _ => this.outside(&inst)?,
                }
                Ok(())
            };
            one().map_err(|e| e.at(&inst))?;
        }
        ensure!(function.is_none(), "the last function has no end");
        ensure!(is_kernel, "the module is not for OpenCL: it does not declare the capability Kernel");
        ensure!(has_model, "the module has no memory model");
        this.add_modes(&modes)?;
        Ok(this)
    }

    /// An instruction outside of functions.
    fn outside(&mut self, inst: &Inst<'w>) -> Result<()> {
        match inst.op {
            Op::Nop | Op::Source | Op::SourceContinued | Op::SourceExtension | Op::ModuleProcessed => {}
            // Members lie as OpenCL C places them (see `types`), whatever decorations say of offsets.
            Op::MemberName | Op::MemberDecorate | Op::GroupMemberDecorate | Op::DecorationGroup => {}
            // Who may alias whom is found out again.
            Op::MemberDecorateString
            | Op::AliasDomainDeclINTEL
            | Op::AliasScopeDeclINTEL
            | Op::AliasScopeListDeclINTEL => {}
            Op::Name => {
                self.names.insert(inst.word(0)?, inst.string(1)?.0);
            }
            Op::String => {
                let text = inst.string(1)?.0;
                // So translators keep what the host may ask.
                if let Some((kernel, types)) = text.strip_prefix("kernel_arg_type.").and_then(|s| s.rsplit_once('.')) {
                    self.argument_types.insert(kernel.to_owned(), types.to_owned());
                }
                self.strings.insert(inst.word(0)?, text);
            }
            Op::ExtInstImport => {
                let name = inst.string(1)?.0;
                let ignored = name.starts_with("NonSemantic.") || name.contains("DebugInfo") || name == "SPIRV.debug";
                let set = match name.as_bytes() {
                    std if std == support::OPENCL_STD.to_bytes() => Set::OpenCl,
                    _ if ignored => Set::Ignored,
                    _ => bail!("the set of extended instructions `{name}` is not supported"),
                };
                self.sets.insert(inst.word(0)?, set);
            }
            Op::ExtInst => {
                let set = self.sets.get(&inst.word(2)?);
                ensure!(set == Some(&Set::Ignored), "it stands outside of a function");
            }
            Op::EntryPoint => {
                let model = inst.word(0)?;
                ensure!(model == ExecutionModel::Kernel as u32, "the entry point is no kernel (model {model})");
                let entry = Entry { function: inst.word(1)?, name: inst.string(2)?.0, modes: Vec::new() };
                self.entries.push(entry);
            }
            Op::Decorate | Op::DecorateId | Op::DecorateString => {
                let list = self.decorations.entry(inst.word(0)?).or_default();
                // Each question about an id goes through its list, so that the list must be short.
                ensure!(list.len() < DECORATIONS, "more than {DECORATIONS} decorations of one id");
                list.push((inst.word(1)?, inst.rest(2)));
            }
            Op::GroupDecorate => {
                let group = inst.word(0)?;
                for &target in inst.rest(1) {
                    let list = self.groups.entry(target).or_default();
                    ensure!(list.len() < 16, "more than 16 groups of decorations of one id");
                    list.push(group);
                }
            }
            _ => self.declarations.push(*inst),
        }
        Ok(())
    }

    fn add_modes(&mut self, modes: &[(Inst<'w>, bool)]) -> Result<()> {
        let mut names = FxHashSet::default();
        let twice = self.entries.iter().find(|e| !names.insert(e.name.clone()));
        ensure!(twice.is_none(), "two kernels are called `{}`", twice.map_or("", |e| e.name.as_str()));
        // Modes are gathered by function, so that many kernels with many modes do not take time in the product of both.
        let mut by_function: FxHashMap<Id, Vec<Mode<'w>>> = FxHashMap::default();
        for (inst, ids) in modes {
            let mut one = || -> Result<()> {
                let list = by_function.entry(inst.word(0)?).or_default();
                ensure!(list.len() < 64, "more than 64 execution modes of one kernel");
                list.push((inst.word(1)?, inst.rest(2), *ids));
                Ok(())
            };
            one().map_err(|e: Error| e.at(inst))?;
        }
        for entry in &mut self.entries {
            entry.modes = by_function.get(&entry.function).cloned().unwrap_or_default();
        }
        ensure!(self.entries.len() <= limits::KERNELS, "the module has more than {} kernels", limits::KERNELS);
        Ok(())
    }

    /// The name that the source gave an id.
    pub fn name(&self, id: Id) -> Option<&str> {
        self.names.get(&id).map(String::as_str).filter(|n| !n.is_empty())
    }

    /// The name that the source gave a function, or one of its id.
    pub fn name_or_number(&self, id: Id) -> String {
        self.name(id).map_or_else(|| format!("f{id}"), str::to_owned)
    }

    /// The decorations of an id, its own and those of its groups.
    pub fn decorations(&self, id: Id) -> impl Iterator<Item = Decorated<'w>> + '_ {
        let groups = self.groups.get(&id).into_iter().flatten();
        let ids = std::iter::once(id).chain(groups.copied());
        ids.filter_map(|id| self.decorations.get(&id)).flatten().copied()
    }

    /// The operands of a decoration of an id, if it has that.
    pub fn decoration(&self, id: Id, which: Decoration) -> Option<&'w [u32]> {
        self.decorations(id).find(|d| d.0 == which as u32).map(|d| d.1)
    }

    /// The name by which other modules know a function or variable, and how it is linked.
    pub fn linkage(&self, id: Id) -> Result<Option<(String, LinkageType)>> {
        let Some(words) = self.decoration(id, Decoration::LinkageAttributes) else { return Ok(None) };
        // Only to read the string, which is a method of instructions.
        let inst = Inst { op: Op::Decorate, at: 0, words };
        let (name, next) = inst.string(0)?;
        match LinkageType::from_u32(inst.word(next)?) {
            Some(kind @ (LinkageType::Export | LinkageType::Import | LinkageType::LinkOnceODR)) => {
                Ok(Some((name, kind)))
            }
            _ => bail!("the kind of linkage of `{name}` is not known"),
        }
    }

    /// Whether one of the attributes of a parameter is this.
    pub fn has_attribute(&self, id: Id, attribute: spirv::FunctionParameterAttribute) -> bool {
        let is = |d: Decorated<'_>| d.0 == Decoration::FuncParamAttr as u32 && d.1.first() == Some(&(attribute as u32));
        self.decorations(id).any(is)
    }
}

fn memory_model(inst: &Inst<'_>) -> Result<()> {
    match AddressingModel::from_u32(inst.word(0)?) {
        Some(AddressingModel::Physical64) => {}
        Some(AddressingModel::Physical32) => {
            bail!("the module is for devices with addresses of 32 bits; this one has 64 (make it for spir64)")
        }
        _ => bail!("the addressing model is not that of OpenCL"),
    }
    let model = inst.word(1)?;
    ensure!(model == spirv::MemoryModel::OpenCL as u32, "the memory model is not that of OpenCL");
    Ok(())
}
