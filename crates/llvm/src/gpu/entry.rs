//! A kernel's parameters, what the launch descriptor says, and the variables of local memory.

use super::{GLOBAL, NO_NAME, SHARED, WARP};
use crate::emit::{Cx, FunctionCx};
use crate::handles::c_string;
use cloom_ir::abi::{self, gpu};
use cloom_ir::{CastOp, FuncRef, GlobalRef, InstData, KernelParam, Op, ParamKind, Query, Space, Type, Value};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMAttributeFunctionIndex, LLVMLinkage};

/// LLVM's number of the calling convention of PTX kernels.
const PTX_KERNEL: u32 = 71;

/// The name of the group's block of local memory.
const LOCAL_BLOCK: &str = "local_memory";

/// How a parameter is passed.
enum Passed {
    /// Its value.
    Value,
    /// Its bytes. Structures are passed like this, and vectors too, because LLVM 19 reads vectors of bytes wrongly.
    Bytes { size: u64, align: u32 },
    /// An address in global memory.
    Address,
    /// The offset in the block of local memory.
    Offset,
}

fn passed(param: &KernelParam, ty: Type) -> Passed {
    match param.kind {
        ParamKind::Struct => Passed::Bytes { size: u64::from(param.size), align: param.align.max(1) },
        ParamKind::Value if ty.is_vector() => Passed::Bytes { size: u64::from(param.size), align: param.align.max(1) },
        ParamKind::Value | ParamKind::Sampler | ParamKind::Queue => Passed::Value,
        ParamKind::Global | ParamKind::Constant | ParamKind::Image | ParamKind::Pipe => Passed::Address,
        ParamKind::Local => Passed::Offset,
    }
}

impl Cx<'_> {
    /// Declares the kernel: its parameters are those of [`gpu`].
    pub fn declare_kernel(&mut self, f: FuncRef) {
        let func = &self.module.funcs[f];
        let params = func.kernel.as_deref().map_or(&[][..], |meta| &meta.params);
        // SAFETY: the types belong to the live context, the calls copy `types` and the name, and each index is one of a
        // parameter.
        unsafe {
            let generic = LLVMPointerTypeInContext(self.context, 0);
            // The launch descriptor is the first parameter, passed as bytes (`add_bytes` below).
            let mut types = vec![generic];
            types.extend(params.iter().zip(&func.params).map(|(param, &ty)| match passed(param, ty) {
                Passed::Value => self.ty(ty),
                Passed::Bytes { .. } => generic,
                Passed::Address => LLVMPointerTypeInContext(self.context, GLOBAL),
                Passed::Offset => LLVMInt64TypeInContext(self.context),
            }));
            let ty = LLVMFunctionType(LLVMVoidTypeInContext(self.context), types.as_mut_ptr(), types.len() as u32, 0);
            let value = LLVMAddFunction(self.llvm, c_string(&kernel_symbol(&func.name)).as_ptr(), ty);
            LLVMSetFunctionCallConv(value, PTX_KERNEL);
            LLVMSetLinkage(value, LLVMLinkage::LLVMExternalLinkage);
            self.describe(value);
            self.add_bytes(value, 1, gpu::SIZE, gpu::ALIGN);
            for (i, (param, &ty)) in (2..).zip(params.iter().zip(&func.params)) {
                match passed(param, ty) {
                    Passed::Bytes { size, align } => self.add_bytes(value, i, size, align),
                    Passed::Address if param.is_restrict || param.kind == ParamKind::Constant => {
                        LLVMAddAttributeAtIndex(value, i, self.attribute("noalias"));
                        if param.is_const || param.kind == ParamKind::Constant {
                            LLVMAddAttributeAtIndex(value, i, self.attribute("readonly"));
                        }
                    }
                    _ => {}
                }
            }
            self.functions.insert(f, (ty, value));
            // ptxas may then give a thread as many registers as a group of this size leaves it.
            if let Some(size) = func.kernel.as_deref().and_then(|meta| meta.reqd_group_size) {
                for (name, n) in ["maxntidx", "maxntidy", "maxntidz"].into_iter().zip(size) {
                    self.annotate(value, name, n);
                }
            }
        }
    }

    /// Marks a parameter as bytes that are passed by value.
    fn add_bytes(&self, function: LLVMValueRef, index: u32, size: u64, align: u32) {
        // SAFETY: the names are those of an attribute with a type and of one with a number, and `function` has a
        // parameter `index`.
        unsafe {
            let kind = |name: &str| LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
            let bytes = LLVMArrayType2(LLVMInt8TypeInContext(self.context), size);
            let byval = LLVMCreateTypeAttribute(self.context, kind("byval"), bytes);
            LLVMAddAttributeAtIndex(function, index, byval);
            LLVMAddAttributeAtIndex(
                function,
                index,
                LLVMCreateEnumAttribute(self.context, kind("align"), u64::from(align)),
            );
        }
    }

    /// Adds a property of a kernel that PTX has and LLVM's functions lack.
    fn annotate(&self, function: LLVMValueRef, name: &str, n: u32) {
        // SAFETY: `function` belongs to the live module, the text is given with its length, and the metadata belongs to
        // its context.
        unsafe {
            let text = LLVMMDStringInContext2(self.context, name.as_ptr().cast(), name.len());
            let number = LLVMConstInt(LLVMInt32TypeInContext(self.context), u64::from(n), 0);
            let mut parts = [LLVMValueAsMetadata(function), text, LLVMValueAsMetadata(number)];
            let node = LLVMMDNodeInContext2(self.context, parts.as_mut_ptr(), parts.len());
            let node = LLVMMetadataAsValue(self.context, node);
            LLVMAddNamedMetadataOperand(self.llvm, c"nvvm.annotations".as_ptr(), node);
        }
    }

    /// The group's block of local memory. The launch gives its size.
    fn local_block(&mut self) -> Option<LLVMValueRef> {
        let (llvm, context) = (self.llvm, self.context);
        let gpu = self.gpu.as_mut()?;
        Some(*gpu.block.get_or_insert_with(|| {
            // SAFETY: module and context are live, and the call copies the name.
            unsafe {
                // Without a length and external, it is PTX's dynamic shared memory. The offsets in it are those of
                // `Gpu::locals`, and the values of local pointer arguments.
                let ty = LLVMArrayType2(LLVMInt8TypeInContext(context), 0);
                let block = LLVMAddGlobalInAddressSpace(llvm, ty, c_string(LOCAL_BLOCK).as_ptr(), SHARED);
                LLVMSetLinkage(block, LLVMLinkage::LLVMExternalLinkage);
                LLVMSetAlignment(block, abi::BLOCK_ALIGN);
                block
            }
        }))
    }

    /// Marks a function whose calls must stay where they are, because it may have a barrier.
    pub fn mark_convergent(&self, function: LLVMValueRef) {
        // SAFETY: `function` belongs to the live module, and the attribute to its context.
        unsafe { LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, self.attribute("convergent")) }
    }
}

/// The symbol of a kernel. PTX has names of letters, digits, `_` and `$`, as OpenCL C has.
pub fn kernel_symbol(name: &str) -> String {
    let is_ours = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    name.chars().map(|c| if is_ours(c) { c } else { '_' }).collect()
}

impl FunctionCx<'_, '_> {
    /// The values of the parameters of the function, where the builder stands: at the beginning of its entry.
    pub fn gpu_parameters(&mut self) -> Vec<LLVMValueRef> {
        let func = self.func;
        // SAFETY: `i` is the number of a parameter of this function.
        let param = |i: usize| unsafe { LLVMGetParam(self.llvm, i as u32) };
        if !self.root {
            return (0..func.params.len()).map(param).collect();
        }
        let metas = func.kernel.as_deref().map_or(&[][..], |meta| &meta.params);
        let mut values = Vec::with_capacity(metas.len());
        for (i, (meta, &ty)) in metas.iter().zip(&func.params).enumerate() {
            // SAFETY: a kernel has one parameter more than the source says: the launch descriptor, which is the first.
            let value = unsafe {
                let raw = LLVMGetParam(self.llvm, i as u32 + 1);
                match passed(meta, ty) {
                    Passed::Bytes { align, .. } if meta.kind == ParamKind::Value => {
                        let load = LLVMBuildLoad2(self.builder.0, self.cx.ty(ty), raw, NO_NAME);
                        LLVMSetAlignment(load, align);
                        load
                    }
                    Passed::Value | Passed::Bytes { .. } => raw,
                    Passed::Address => self.to_space(raw, ty),
                    Passed::Offset => match self.cx.local_block() {
                        Some(block) => self.offset(block, raw),
                        None => raw,
                    },
                }
            };
            values.push(value);
        }
        values
    }

    /// A pointer as one of this type.
    pub fn to_space(&self, p: LLVMValueRef, ty: Type) -> LLVMValueRef {
        // SAFETY: `p` is a pointer, and `ty` is a type of pointers.
        unsafe {
            match LLVMTypeOf(p) == self.cx.ty(ty) {
                true => p,
                false => LLVMBuildAddrSpaceCast(self.builder.0, p, self.cx.ty(ty), NO_NAME),
            }
        }
    }

    /// The address of a variable of local memory.
    pub fn local_variable(&mut self, g: GlobalRef) -> LLVMValueRef {
        let at = self.cx.gpu.as_ref().and_then(|gpu| gpu.locals.get(&g).copied()).unwrap_or(0);
        let bytes = self.cx.constant(Type::I64, at);
        match self.cx.local_block() {
            Some(block) => self.offset(block, bytes),
            None => bytes,
        }
    }

    /// The address of the memory of the program's variables: in the launch descriptor, or the last parameter.
    pub fn gpu_variables(&self) -> LLVMValueRef {
        if self.root {
            return self.descriptor(gpu::VARIABLES, Type::ptr(Space::Global));
        }
        // SAFETY: a function that uses variables has their address as its last parameter.
        unsafe { LLVMGetParam(self.llvm, LLVMCountParams(self.llvm).saturating_sub(1)) }
    }

    /// A field of the launch descriptor. Only the kernel itself has it.
    pub fn descriptor(&self, at: u64, ty: Type) -> LLVMValueRef {
        // SAFETY: the first parameter of a kernel is the descriptor, and `at` is the offset of a field of this type.
        unsafe {
            let p = self.offset(LLVMGetParam(self.llvm, 0), self.cx.constant(Type::I64, at));
            let load = LLVMBuildLoad2(self.builder.0, self.cx.ty(ty), p, NO_NAME);
            LLVMSetAlignment(load, ty.bytes());
            load
        }
    }

    /// A special register whose value is less than `end`, as 64 bits.
    fn register(&self, name: &str, dim: u8, end: u64) -> LLVMValueRef {
        let axis = ["x", "y", "z"][usize::from(dim.min(2))];
        let value = self.nvvm(&format!("llvm.nvvm.read.ptx.sreg.{name}.{axis}"), &[]);
        let number = |n: u64| self.cx.constant(Type::I32, n);
        // SAFETY: `value` is the call that was just made, it has 32 bits, and the metadata belongs to the live context.
        unsafe {
            let mut bounds = [LLVMValueAsMetadata(number(0)), LLVMValueAsMetadata(number(end))];
            let range = LLVMMDNodeInContext2(self.cx.context, bounds.as_mut_ptr(), 2);
            self.mark(value, "range", range);
            LLVMBuildZExt(self.builder.0, value, self.cx.ty(Type::I64), NO_NAME)
        }
    }

    fn local_id(&self, dim: u8) -> LLVMValueRef {
        // The limits of CUDA for blocks and grids. LLVM concludes from them that sums and products of ids do not wrap.
        self.register("tid", dim, if dim == 2 { 64 } else { 1024 })
    }

    fn local_size(&self, dim: u8) -> LLVMValueRef {
        self.register("ntid", dim, if dim == 2 { 65 } else { 1025 })
    }

    fn grid_id(&self, dim: u8) -> LLVMValueRef {
        self.register("ctaid", dim, if dim == 0 { 0x7fff_ffff } else { 0xffff })
    }

    /// An id or a size.
    pub fn query(&self, what: Query, dim: u8) -> LLVMValueRef {
        let field = |base: u64| self.descriptor(base + 8 * u64::from(dim), Type::I64);
        let (add, mul) = (|a, b| self.sum(a, b), |a, b| self.product_of(a, b));
        match what {
            Query::WorkDim => self.descriptor(gpu::WORK_DIM, Type::I32),
            Query::GlobalId => {
                // A launch may be several grids: whole groups, those at the edges, and parts of what exceeds the limits
                // of a grid.
                let in_grid = add(mul(self.grid_id(dim), self.local_size(dim)), self.local_id(dim));
                add(field(gpu::FIRST_ID), in_grid)
            }
            Query::LocalId => self.local_id(dim),
            Query::GroupId => add(field(gpu::FIRST_GROUP), self.grid_id(dim)),
            Query::GlobalSize => field(gpu::GLOBAL_SIZE),
            Query::LocalSize => self.local_size(dim),
            Query::EnqueuedLocalSize => self.enqueued_size(dim),
            Query::NumGroups => field(gpu::NUM_GROUPS),
            Query::GlobalOffset => field(gpu::GLOBAL_OFFSET),
            Query::SubgroupLocalId => self.modulo_warp(self.linear_id()),
            Query::SubgroupId => self.warps(self.linear_id()),
            Query::MaxSubgroupSize => self.cx.constant(Type::I64, WARP),
            Query::SubgroupSize => {
                // The last warp of a group has what is left of the group.
                let first = mul(self.warps(self.linear_id()), self.cx.constant(Type::I64, WARP));
                // SAFETY: both operands are integers of 64 bits.
                let rest = unsafe { LLVMBuildSub(self.builder.0, self.group_size(), first, NO_NAME) };
                self.intrinsic("llvm.umin", &[self.cx.ty(Type::I64)], &[rest, self.cx.constant(Type::I64, WARP)])
            }
            Query::LocalMemorySize => self.local_memory_size(),
            Query::NumSubgroups => self.warps(add(self.group_size(), self.cx.constant(Type::I64, WARP - 1))),
            Query::EnqueuedNumSubgroups => {
                let size = mul(mul(self.enqueued_size(0), self.enqueued_size(1)), self.enqueued_size(2));
                self.warps(add(size, self.cx.constant(Type::I64, WARP - 1)))
            }
        }
    }

    /// The dimension of a global id of which only the lower half is used. LLVM would compute a product of 64 bits
    /// nevertheless.
    pub fn truncated_id(&self, id: Value) -> Option<u8> {
        let Op::Query { what: Query::GlobalId, dim } = self.func.insts[self.func.def_inst(id)?].op else { return None };
        let mut blocks = self.func.layout.iter().map(|&b| &self.func.blocks[b]);
        // Any other use needs all 64 bits: the id is then computed anyway, and the lower half costs nothing.
        let is_whole = blocks.any(|block| {
            let mut is_used = false;
            block.term.for_each_use(|v| is_used |= v == id);
            let insts = block.insts.iter().map(|&i| &self.func.insts[i]);
            let is_trunc = |data: &InstData| data.op == Op::Cast(CastOp::Trunc);
            is_used || insts.filter(|data| !is_trunc(data)).any(|data| data.args.contains(&id))
        });
        (!is_whole).then_some(dim)
    }

    /// The lower half of a global id.
    pub fn low_global_id(&self, dim: u8) -> LLVMValueRef {
        // SAFETY: `v` is an integer of 64 bits, as all ids and sizes are.
        let low = |v| unsafe { LLVMBuildTrunc(self.builder.0, v, self.cx.ty(Type::I32), NO_NAME) };
        let first = self.descriptor(gpu::FIRST_ID + 8 * u64::from(dim), Type::I64);
        let group = self.product_of(low(self.grid_id(dim)), low(self.local_size(dim)));
        self.sum(low(first), self.sum(group, low(self.local_id(dim))))
    }

    fn enqueued_size(&self, dim: u8) -> LLVMValueRef {
        let size = self.descriptor(gpu::LOCAL_SIZE + 4 * u64::from(dim), Type::I32);
        // SAFETY: `size` is an integer of 32 bits.
        unsafe { LLVMBuildZExt(self.builder.0, size, self.cx.ty(Type::I64), NO_NAME) }
    }

    /// The size of the group's block of local memory. The kernel has no other local memory.
    fn local_memory_size(&self) -> LLVMValueRef {
        let i32_ty = self.cx.ty(Type::I32);
        let size = self.assembly_with("mov.u32 $0, %dynamic_smem_size;", "=r", i32_ty, &[], false);
        // SAFETY: `size` is an integer of 32 bits.
        unsafe { LLVMBuildZExt(self.builder.0, size, self.cx.ty(Type::I64), NO_NAME) }
    }

    /// The work-items of the group.
    fn group_size(&self) -> LLVMValueRef {
        self.product_of(self.product_of(self.local_size(0), self.local_size(1)), self.local_size(2))
    }

    /// The local linear id. A warp is 32 consecutive ones.
    fn linear_id(&self) -> LLVMValueRef {
        let rows = self.sum(self.product_of(self.local_id(2), self.local_size(1)), self.local_id(1));
        self.sum(self.product_of(rows, self.local_size(0)), self.local_id(0))
    }

    fn warps(&self, items: LLVMValueRef) -> LLVMValueRef {
        let shift = self.cx.constant(Type::I64, u64::from(WARP.trailing_zeros()));
        // SAFETY: both operands are integers of 64 bits.
        unsafe { LLVMBuildLShr(self.builder.0, items, shift, NO_NAME) }
    }

    fn modulo_warp(&self, items: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: both operands are integers of 64 bits.
        unsafe { LLVMBuildAnd(self.builder.0, items, self.cx.constant(Type::I64, WARP - 1), NO_NAME) }
    }

    fn sum(&self, a: LLVMValueRef, b: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: `a` and `b` are integers of one type.
        unsafe { LLVMBuildAdd(self.builder.0, a, b, NO_NAME) }
    }

    fn product_of(&self, a: LLVMValueRef, b: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: `a` and `b` are integers of one type.
        unsafe { LLVMBuildMul(self.builder.0, a, b, NO_NAME) }
    }

    /// A pointer in another address space. Null stays null, which the hardware's conversion of local and private
    /// addresses does not ensure.
    pub fn space_cast(&self, from: Type, to: Type, p: LLVMValueRef) -> LLVMValueRef {
        // SAFETY: `p` is a pointer, and `to` is a type of pointers with as many lanes.
        unsafe {
            let cast = self.to_space(p, to);
            // Conversions between spaces with pointers of 64 bits keep the number, and so null.
            let is_short = [from, to].map(|ty| self.is_short_pointer(ty));
            if is_short[0] == is_short[1] {
                return cast;
            }
            let is_null = LLVMBuildIsNull(self.builder.0, p, NO_NAME);
            LLVMBuildSelect(self.builder.0, is_null, LLVMConstNull(self.cx.ty(to)), cast, NO_NAME)
        }
    }

    /// The tag of the address space that a generic pointer points to.
    pub fn space_of(&self, to: Type, p: LLVMValueRef) -> LLVMValueRef {
        let is = |name: &str| self.nvvm(name, &[p]);
        let tag = |space: Space| self.cx.constant(to, space.tag());
        // SAFETY: both questions give a truth value, and all tags have one type.
        unsafe {
            let other = LLVMBuildSelect(
                self.builder.0,
                is("llvm.nvvm.isspacep.local"),
                tag(Space::Private),
                tag(Space::Global),
                NO_NAME,
            );
            LLVMBuildSelect(self.builder.0, is("llvm.nvvm.isspacep.shared"), tag(Space::Local), other, NO_NAME)
        }
    }
}
