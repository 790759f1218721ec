//! Device-side enqueue: each instruction is a call of the launcher, with the operands that [`cloom_ir::abi::device`]
//! lists.
//!
//! A module names the function that is enqueued, the memory that it captures, and how many bytes that has. For each
//! such triple there is one hidden kernel ([`KernelMeta::is_block`]): it takes pointers to local memory and a structure
//! of those bytes, copies the structure to private memory, and calls the function with the address of the copy.

use crate::context::Context;
use crate::error::{Result, bail, ensure};
use crate::func::{Fn, Val};
use crate::limits;
use crate::module::{Entry, Func};
use crate::reader::{Id, Inst};
use crate::types::{Kind, Ty};
use cloom_ir::abi::BLOCK_ALIGN;
use cloom_ir::abi::device as abi;
use cloom_ir::{
    BinOp, CastOp, DeviceCall, Flags, Function, IntCc, KernelMeta, KernelParam, Linkage, ParamKind, Scalar, Space,
    Type, Value,
};
use rustc_hash::FxHashMap;
use spirv::{FunctionParameterAttribute as Attribute, Op};

/// The hidden kernels so far.
#[derive(Default)]
pub(crate) struct Children {
    /// By function, bytes that it captures, and their alignment.
    known: FxHashMap<(Id, u64, u64), Child>,
    /// The entry point of a function that is enqueued: the place in the module's list.
    entries: FxHashMap<Id, usize>,
    /// A number of the module: programs that are linked have hidden kernels of other names.
    number: Option<u64>,
}

/// A hidden kernel.
#[derive(Clone, Copy)]
struct Child {
    /// What the launcher knows it by.
    number: u64,
    /// Pointers to local memory that it takes.
    locals: usize,
    /// The memory that its function finds the captured bytes in.
    space: Space,
    /// Where the captured bytes stand among its arguments, and the bytes of all arguments.
    offset: u32,
    size: u32,
}

/// The function that an instruction enqueues or asks about.
pub(crate) fn invoked(inst: &Inst<'_>) -> Option<Id> {
    let at = match inst.op {
        Op::EnqueueKernel => 8,
        Op::GetKernelNDrangeSubGroupCount
        | Op::GetKernelNDrangeMaxSubGroupSize
        | Op::GetKernelLocalSizeForSubgroupCount => 3,
        Op::GetKernelWorkGroupSize | Op::GetKernelPreferredWorkGroupSizeMultiple | Op::GetKernelMaxNumSubgroups => 2,
        _ => return None,
    };
    inst.words.get(at).copied()
}

/// Parts of a range: dimensions, offset, global size, local size.
const RANGE_PARTS: usize = 10;

impl Context<'_, '_> {
    /// Whether an entry point is there for kernels that enqueue it, not for the host: it takes a pointer to what it
    /// captures, which no host can pass. Translators write one for each block.
    pub fn is_hidden(&mut self, f: &Func<'_>) -> Result<bool> {
        let (_, types) = self.signature(f)?;
        let (Some(&ty), Some(param), true) = (types.first(), f.params.first(), self.module.enqueues) else {
            return Ok(false);
        };
        Ok(match self.types[ty].kind {
            Kind::Pointer(Space::Generic, _) => true,
            Kind::Pointer(Space::Private, _) => !self.module.has_attribute(param.word(1)?, Attribute::ByVal),
            _ => false,
        })
    }

    /// Remembers a hidden entry point, which may be one that calls the function that is enqueued.
    pub fn hide(&mut self, f: &Func<'_>, entry: &Entry<'_>, index: usize) -> Result<()> {
        let inner = self.inner(f, &entry.name)?.map_or(f.id, |inner| inner.id);
        self.children.entries.insert(inner, index);
        Ok(())
    }

    /// The hidden kernel that runs a function with so many captured bytes.
    fn child(&mut self, invoke: Id, size: u64, align: u64) -> Result<Child> {
        let key = (invoke, size, align);
        if let Some(&known) = self.children.known.get(&key) {
            return Ok(known);
        }
        // Each size and alignment makes another kernel, and both are constants of the module that may be any.
        ensure!(self.children.known.len() < limits::KERNELS, "more than {} kernels are enqueued", limits::KERNELS);
        ensure!(size <= limits::CAPTURED, "{size} bytes are captured; the most are {}", limits::CAPTURED);
        let fits = align.is_power_of_two() && align <= u64::from(BLOCK_ALIGN);
        ensure!(fits, "the alignment {align} of what is captured is no power of two up to {BLOCK_ALIGN}");
        let Some(&callee) = self.funcs.get(&invoke) else { bail!("%{invoke} is no function") };
        let (ret, types) = self.signature(&self.module.functions[callee.index])?;
        ensure!(matches!(self.types[ret].kind, Kind::Void), "a function that is enqueued returns a value");
        let Some((&captured, locals)) = types.split_first() else {
            bail!("a function that is enqueued takes no pointer to what it captures")
        };
        let space = self.captured_space(captured)?;
        let is_local = |&ty: &Ty| matches!(self.types[ty].kind, Kind::Pointer(Space::Local, _));
        ensure!(
            locals.iter().all(is_local),
            "a function that is enqueued takes pointers to local memory after the first, and nothing else"
        );
        let meta = self.child_meta(invoke, locals.len(), (size as u32, align as u32))?;
        let (offsets, total) = meta.layout();
        let most = limits::CAPTURED;
        ensure!(u64::from(total) <= most, "a function that is enqueued takes {total} bytes; the most are {most}");
        let name = self.module.name_or_number(invoke);
        let module = self.module_number();
        // The number is made of the name, so that the name must differ from those of all modules that are linked.
        let name = self.fresh_func_name(&format!("{name}.{module:016x}.block"))?;
        let number = abi::block_number(&name);
        let mut params = vec![Type::ptr(Space::Local); locals.len()];
        params.extend((size > 0).then_some(Type::ptr(Space::Constant)));
        let mut func = Function::new(name, params, None);
        // External, so that linking keeps it although no function calls it.
        (func.linkage, func.kernel) = (Linkage::External, Some(Box::new(meta)));
        let contract = self.contracts(invoke);
        let mut this = Fn::new(self, func, contract);
        let params: Vec<Value> =
            this.func.params.clone().into_iter().map(|ty| this.func.add_block_param(this.entry, ty)).collect();
        let (local, bytes) = params.split_at(locals.len());
        // The function may write to what was captured, and the block of arguments is only read: it gets a copy.
        let room = this.room(size, align as u32)?;
        if let Some(&from) = bytes.first() {
            this.b().mem_copy(room, from, size, align as u32);
        }
        // The function may take a generic pointer.
        let mut args = vec![this.in_space(room, space)];
        args.extend(local);
        this.b().call(callee.func, &args, None);
        this.b().ret(None);
        let func = this.func;
        self.charge_insts(func.insts.len())?;
        self.ir.funcs.push(func);
        // The structure is the last parameter, if there is one.
        let offset = offsets.last().copied().filter(|_| size > 0).unwrap_or(0);
        let child = Child { number, locals: locals.len(), space, offset, size: total };
        self.children.known.insert(key, child);
        Ok(child)
    }

    /// The memory that the first parameter of a function that is enqueued points to.
    fn captured_space(&self, ty: Ty) -> Result<Space> {
        if let Kind::Pointer(space @ (Space::Private | Space::Generic), to) = self.types[ty].kind
            && self.types[self.types.get(to)?].kind == Kind::Number(Scalar::I8)
        {
            return Ok(space);
        }
        bail!("the first parameter of a function that is enqueued is no pointer to bytes in private or any memory")
    }

    /// What the launcher is told: the modes are those of the function's entry point, if it has one.
    fn child_meta(&self, invoke: Id, locals: usize, (size, align): (u32, u32)) -> Result<KernelMeta> {
        let plain = Entry { function: invoke, name: String::new(), modes: Vec::new() };
        let entry = self.children.entries.get(&invoke).map_or(&plain, |&i| &self.module.entries[i]);
        let mut meta = KernelMeta { is_block: true, ..self.modes(entry)? };
        let param = |kind, type_name: &str, size, align| KernelParam {
            name: String::new(),
            type_name: type_name.to_owned(),
            kind,
            size,
            align,
            is_const: false,
            is_restrict: false,
            is_volatile: false,
            access: 0,
            pointee_align: 1,
        };
        meta.params = vec![param(ParamKind::Local, "void*", 8, 8); locals];
        meta.params.extend((size > 0).then(|| param(ParamKind::Struct, "struct", size, align)));
        Ok(meta)
    }

    fn module_number(&mut self) -> u64 {
        let binary = self.binary;
        *self.children.number.get_or_insert_with(|| abi::number_of(binary))
    }

    /// Refuses what is no `ndrange_t`: a structure of an `i32` and three arrays of three `i64`.
    fn check_range(&mut self, ty: Ty) -> Result<()> {
        let is_struct = matches!(self.types[ty].kind, Kind::Struct(_));
        // The number of parts is looked at before the list of them is made.
        if is_struct && self.types[ty].parts as usize == RANGE_PARTS && self.types[ty].size == abi::RANGE_SIZE {
            let parts = self.types.parts(ty)?;
            let wanted = |i: usize| if i == 0 { Type::I32 } else { Type::I64 };
            if parts.iter().enumerate().all(|(i, p)| p.ty == wanted(i) && p.offset == 8 * i as u64) {
                return Ok(());
            }
        }
        bail!("a range is a structure of a 32-bit integer and three arrays of three 64-bit integers")
    }
}

impl Fn<'_, '_, '_> {
    /// Lowers an instruction, if it is one of these.
    pub fn enqueue(&mut self, inst: &Inst<'_>) -> Result<bool> {
        match inst.op {
            Op::EnqueueKernel => self.enqueue_kernel(inst),
            Op::EnqueueMarker => {
                let [queue, count, list, event] = inst.operands()?;
                let (queue, flags) = (self.handle(queue, &Kind::Queue)?, self.flags(None)?);
                let (count, list, event) = (self.wide(count)?, self.pointer(list)?, self.pointer(event)?);
                self.ask(inst, DeviceCall::EnqueueMarker, &[queue, flags, count, list, event])
            }
            Op::GetKernelNDrangeSubGroupCount | Op::GetKernelNDrangeMaxSubGroupSize => {
                let [range, invoke, param, size, align] = inst.operands()?;
                let call = match inst.op {
                    Op::GetKernelNDrangeSubGroupCount => DeviceCall::SubgroupCount,
                    _ => DeviceCall::MaxSubgroupSize,
                };
                let (range, block) = (self.range(range)?, self.block([invoke, param, size, align])?.0);
                self.ask(inst, call, &[range, block])
            }
            Op::GetKernelWorkGroupSize | Op::GetKernelPreferredWorkGroupSizeMultiple | Op::GetKernelMaxNumSubgroups => {
                let call = match inst.op {
                    Op::GetKernelWorkGroupSize => DeviceCall::WorkGroupSize,
                    Op::GetKernelMaxNumSubgroups => DeviceCall::MaxSubgroupCount,
                    _ => DeviceCall::PreferredMultiple,
                };
                let block = self.block(inst.operands()?)?.0;
                self.ask(inst, call, &[block])
            }
            Op::GetKernelLocalSizeForSubgroupCount => {
                let [count, invoke, param, size, align] = inst.operands()?;
                let (count, block) = (self.wide(count)?, self.block([invoke, param, size, align])?.0);
                self.ask(inst, DeviceCall::LocalSizeForCount, &[count, block])
            }
            Op::RetainEvent | Op::ReleaseEvent => {
                let event = self.handle(inst.word(0)?, &Kind::DeviceEvent)?;
                let retains = inst.op == Op::RetainEvent;
                let call = if retains { DeviceCall::RetainEvent } else { DeviceCall::ReleaseEvent };
                self.b().device_call(call, &[event]);
                Ok(true)
            }
            Op::CreateUserEvent => self.ask(inst, DeviceCall::CreateUserEvent, &[]),
            Op::GetDefaultQueue => self.ask(inst, DeviceCall::DefaultQueue, &[]),
            Op::IsValidEvent => {
                let event = self.handle(inst.word(2)?, &Kind::DeviceEvent)?;
                let v = self.b().device_call(DeviceCall::IsValidEvent, &[event]);
                let v = self.int_as_truth(v);
                self.result(inst, v)
            }
            Op::SetUserEventStatus => {
                let event = self.handle(inst.word(0)?, &Kind::DeviceEvent)?;
                let status = self.scalar_int(inst.word(1)?)?;
                let status = self.resized(status, Type::I64, true);
                self.b().device_call(DeviceCall::SetUserEventStatus, &[event, status]);
                Ok(true)
            }
            Op::CaptureEventProfilingInfo => {
                let event = self.handle(inst.word(0)?, &Kind::DeviceEvent)?;
                let (what, to) = (self.wide(inst.word(1)?)?, self.pointer(inst.word(2)?)?);
                self.b().device_call(DeviceCall::CaptureProfiling, &[event, what, to]);
                Ok(true)
            }
            Op::BuildNDRange => self.build_range(inst),
            _ => Ok(false),
        }
    }

    /// Calls the launcher; the result has the width that the instruction says.
    fn ask(&mut self, inst: &Inst<'_>, call: DeviceCall, words: &[Value]) -> Result<bool> {
        let to = self.result_type(inst)?;
        ensure!(to.is_int() && !to.is_vector() && to.scalar != Scalar::I1, "the result is no integer, queue or event");
        let v = self.b().device_call(call, words);
        let v = self.resized(v, to, true);
        self.result(inst, v)
    }

    /// A queue, or an event.
    fn handle(&mut self, id: Id, kind: &Kind) -> Result<Value> {
        let val = self.value_of(id)?;
        match &val.parts[..] {
            &[value] if self.cx.types[val.ty].kind == *kind => Ok(value),
            _ => bail!("%{id} is no {}", if *kind == Kind::Queue { "queue" } else { "event" }),
        }
    }

    /// An unsigned number as an operand of the launcher.
    fn wide(&mut self, id: Id) -> Result<Value> {
        let v = self.scalar_int(id)?;
        Ok(self.resized(v, Type::I64, false))
    }

    /// The flags of the program, and whether it wants to know why something fails.
    fn flags(&mut self, id: Option<Id>) -> Result<Value> {
        let debug = if self.cx.options.debug_info { abi::FLAG_DEBUG } else { 0 };
        let debug = self.b().iconst(Type::I64, debug);
        let Some(id) = id else { return Ok(debug) };
        let flags = self.uint(id)?;
        let flags = self.resized(flags, Type::I64, false);
        Ok(self.b().binary(BinOp::Or, flags, debug))
    }

    /// The number of the hidden kernel for a function and what it captures: a pointer, bytes, alignment.
    fn block(&mut self, [invoke, param, size, align]: [Id; 4]) -> Result<(Value, Child, Value)> {
        let child = self.cx.child(invoke, self.cx.integer(size)?, self.cx.integer(align)?)?;
        let captured = self.pointer(param)?;
        let is_same = self.ty(captured).space() == Some(child.space);
        ensure!(is_same, "%{param}, what is captured, is in another memory than the function's parameter says");
        Ok((self.b().iconst(Type::I64, child.number), child, captured))
    }

    fn enqueue_kernel(&mut self, inst: &Inst<'_>) -> Result<bool> {
        let [queue, flags, range, count, list, event, invoke, param, size, align] = inst.operands()?;
        let sizes = inst.rest(12);
        let (queue, flags, range) = (self.handle(queue, &Kind::Queue)?, self.flags(Some(flags))?, self.range(range)?);
        let (count, list, event) = (self.wide(count)?, self.pointer(list)?, self.pointer(event)?);
        let (block, child, captured) = self.block([invoke, param, size, align])?;
        ensure!(
            child.locals == sizes.len(),
            "the function takes {} pointers to local memory, but {} sizes are given",
            child.locals,
            sizes.len()
        );
        let (bytes, align) = (self.cx.integer(size)?, self.cx.integer(align)? as u32);
        let null = self.b().iconst(Type::I64, 0);
        let args = match bytes {
            0 => null,
            _ => {
                // In the layout of the hidden kernel's arguments, so that the launcher takes these bytes as they are.
                // The places of pointers to local memory stay empty for it.
                let room = self.room(child.size.into(), BLOCK_ALIGN)?;
                let place = self.b().ptr_offset(room, child.offset.into());
                self.b().mem_copy(place, captured, bytes, align);
                room
            }
        };
        let total = self.b().iconst(Type::I64, child.size.into());
        let number = self.b().iconst(Type::I64, sizes.len() as u64);
        let sizes = match sizes.is_empty() {
            true => null,
            false => self.local_sizes(sizes)?,
        };
        let words = [queue, flags, range, count, list, event, block, args, total, sizes, number];
        self.ask(inst, DeviceCall::EnqueueKernel, &words)
    }

    /// The list of the bytes of local memory.
    fn local_sizes(&mut self, ids: &[Id]) -> Result<Value> {
        let room = self.room(4 * ids.len() as u64, 4)?;
        for (i, &id) in ids.iter().enumerate() {
            let val = self.value_of(id)?;
            let size = match self.cx.types[val.ty].kind {
                // Translators pass the addresses of sizes.
                Kind::Pointer(..) => {
                    let (_, of) = self.cx.types.pointee(val.ty)?;
                    let is_size = matches!(self.cx.types[of].kind, Kind::Number(scalar) if scalar.is_int());
                    ensure!(is_size, "%{id} is no size of local memory");
                    self.load_parts(of, val.parts[0], None, Flags::empty())?[0]
                }
                Kind::Number(_) => self.scalar_int(id)?,
                _ => bail!("%{id} is no size of local memory"),
            };
            // What has no place in 32 bits is more than there is.
            let size = self.resized(size, Type::I64, false);
            let most = self.b().iconst(Type::I64, u64::from(u32::MAX));
            let size = self.b().binary(BinOp::Umin, size, most);
            let size = self.b().cast(CastOp::Trunc, size, Type::I32);
            let place = self.b().ptr_offset(room, 4 * i as u64);
            self.b().store(place, size, 4, Flags::empty());
        }
        Ok(room)
    }

    /// The address of a range as the launcher wants it: the structure of the module, and whether it has a local size.
    fn range(&mut self, id: Id) -> Result<Value> {
        let val = self.value_of(id)?;
        let room = self.room(abi::RANGE_SIZE, 8)?;
        if let Kind::Pointer(..) = self.cx.types[val.ty].kind {
            let (_, of) = self.cx.types.pointee(val.ty)?;
            self.cx.check_range(of)?;
            // A copy, because the flag below is written into it.
            self.b().mem_copy(room, val.parts[0], abi::RANGE_SIZE, 8);
        } else {
            self.cx.check_range(val.ty)?;
            self.store_parts(&val, room, None, Flags::empty())?;
        }
        // Three zeros mean that no local size is given.
        let mut any = self.b().iconst(Type::I64, 0);
        for d in 0..3 {
            let place = self.b().ptr_offset(room, abi::RANGE_LOCAL + 8 * d);
            let size = self.b().load(Type::I64, place, 8, Flags::empty());
            any = self.b().binary(BinOp::Or, any, size);
        }
        let zero = self.b().iconst(Type::I64, 0);
        let has_local = self.b().icmp(IntCc::Ne, any, zero);
        let [yes, no] = [abi::RANGE_HAS_LOCAL, 0].map(|n| self.b().iconst(Type::I32, n.into()));
        let has_local = self.b().select(has_local, yes, no);
        let place = self.b().ptr_offset(room, abi::RANGE_FLAGS);
        self.b().store(place, has_local, 4, Flags::empty());
        Ok(room)
    }

    /// `OpBuildNDRange`
    fn build_range(&mut self, inst: &Inst<'_>) -> Result<bool> {
        let (ty, id) = inst.result()?;
        let ty = self.cx.types.get(ty)?;
        self.cx.check_range(ty)?;
        let [global, local, offset] = inst.operands()?;
        let [global, local, offset] = [self.sizes(global)?, self.sizes(local)?, self.sizes(offset)?];
        let dims = global.len();
        ensure!(
            local.len() == dims && offset.len() == dims,
            "its sizes have {dims}, {} and {} dimensions",
            local.len(),
            offset.len()
        );
        let mut parts = vec![self.b().iconst(Type::I32, dims as u64)];
        for mut sizes in [offset, global, local] {
            sizes.resize(3, self.b().iconst(Type::I64, 0));
            parts.extend(sizes);
        }
        self.define(id, ty, parts)
    }

    /// One size, or those of two or three dimensions.
    fn sizes(&mut self, id: Id) -> Result<Vec<Value>> {
        let Val { ty, parts } = self.value_of(id)?;
        let fits = match self.cx.types[ty].kind {
            Kind::Array(..) => matches!(parts.len(), 2 | 3),
            _ => parts.len() == 1,
        };
        let is_size = |&v: &Value| {
            let ty = self.ty(v);
            ty.is_int() && !ty.is_vector() && ty.scalar != Scalar::I1
        };
        ensure!(fits && parts.iter().all(is_size), "%{id} is no integer, and no array of two or three");
        Ok(parts.iter().map(|&v| self.resized(v, Type::I64, false)).collect())
    }
}
