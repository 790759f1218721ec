//! Loads, stores, copies, and the call of the print hook.

use crate::Error;
use crate::emit::FunctionCx;
use cloom_ir::{Flags, InstData, Scalar, Space, Type, Value, abi};
use cloom_target::Architecture;
use llvm_sys::core::*;
use llvm_sys::prelude::*;

impl FunctionCx<'_, '_> {
    /// A load. What is or may be read from private memory is frozen: reading a variable before it is written gives some
    /// value, and the same to every use, where LLVM would otherwise be free to take a branch on it anywhere.
    pub fn load(&self, data: &InstData, ty: Type, align: u32) -> LLVMValueRef {
        self.load_at(self.value(data.args[0]), data, ty, align)
    }

    /// The same from another address, for an instruction that is several loads.
    pub fn load_at(&self, address: LLVMValueRef, data: &InstData, ty: Type, align: u32) -> LLVMValueRef {
        if self.is_by_element(ty, align) {
            let elements = self.elements_at(address, ty);
            let loads: Vec<_> = elements.map(|at| self.load_at(at, data, ty.lane(), align)).collect();
            return self.build(ty, &loads);
        }
        let load = self.plain_load_at(address, data, ty, align);
        let space = self.func.ty(data.args[0]).space();
        // SAFETY: `load` is the load that was just made, and the metadata belongs to the live context.
        unsafe {
            match space {
                Some(Space::Private | Space::Generic) => LLVMBuildFreeze(self.builder.0, load, c"".as_ptr()),
                Some(Space::Constant) if !data.flags.contains(Flags::VOLATILE) => {
                    // Constant memory does not change during a launch.
                    self.mark(load, "invariant.load", LLVMMDNodeInContext2(self.cx.context, std::ptr::null_mut(), 0));
                    load
                }
                _ => load,
            }
        }
    }

    /// The address of a variable of the program.
    pub fn variable(&mut self, place: u64, ty: Type) -> LLVMValueRef {
        if self.cx.gpu.is_some() {
            let at = self.offset(self.gpu_variables(), self.cx.constant(Type::I64, place));
            return self.to_space(at, ty);
        }
        let slot = self.cx.variables();
        // SAFETY: `slot` is the module's global with the address of the variables, and the metadata belongs to the live
        // context.
        unsafe {
            let ty = LLVMPointerTypeInContext(self.cx.context, 0);
            let base = LLVMBuildLoad2(self.builder.0, ty, slot, c"".as_ptr());
            self.mark(base, "invariant.load", LLVMMDNodeInContext2(self.cx.context, std::ptr::null_mut(), 0));
            let mut by = [LLVMConstInt(LLVMInt64TypeInContext(self.cx.context), place, 0)];
            LLVMBuildGEP2(
                self.builder.0,
                LLVMInt8TypeInContext(self.cx.context),
                base,
                by.as_mut_ptr(),
                1,
                c"".as_ptr(),
            )
        }
    }

    /// Attaches metadata to an instruction.
    pub fn mark(&self, inst: LLVMValueRef, name: &str, what: LLVMMetadataRef) {
        let context = self.cx.context;
        // SAFETY: instruction and node are of this context.
        unsafe {
            let kind = LLVMGetMDKindIDInContext(context, name.as_ptr().cast(), name.len() as u32);
            LLVMSetMetadata(inst, kind, LLVMMetadataAsValue(context, what));
        }
    }

    pub fn plain_load(&self, data: &InstData, ty: Type, align: u32) -> LLVMValueRef {
        self.plain_load_at(self.value(data.args[0]), data, ty, align)
    }

    fn plain_load_at(&self, address: LLVMValueRef, data: &InstData, ty: Type, align: u32) -> LLVMValueRef {
        // SAFETY: `address` is a pointer, and `load` is the load that was just made.
        unsafe {
            let load = LLVMBuildLoad2(self.builder.0, self.cx.ty(ty), address, c"".as_ptr());
            LLVMSetAlignment(load, self.relied_on(data, ty, align));
            LLVMSetVolatile(load, i32::from(data.flags.contains(Flags::VOLATILE)));
            load
        }
    }

    /// The alignment that machine code may rely on. OpenCL C promises that of a vector's type, but programs cast
    /// pointers that have that of an element only, and GPUs read them. On x86 they would end the process by a fault,
    /// while instructions that take any address are as fast. Non-temporal stores have no such instructions.
    fn relied_on(&self, data: &InstData, ty: Type, align: u32) -> u32 {
        let is_ours = matches!(self.func.ty(data.args[0]).space(), Some(Space::Private | Space::Context));
        // The compiler itself makes private memory and descriptors, so that their alignment holds.
        let any = self.cx.gpu.is_none() && ty.is_vector() && !is_ours && !data.flags.contains(Flags::NONTEMPORAL);
        if any { align.min(ty.scalar.bytes()) } else { align }
    }

    pub fn store(&self, data: &InstData, align: u32) -> LLVMValueRef {
        self.store_value(data, self.value(data.args[1]), align)
    }

    /// A store of this value in place of the instruction's own.
    pub fn store_value(&self, data: &InstData, value: LLVMValueRef, align: u32) -> LLVMValueRef {
        let (address, ty) = (self.value(data.args[0]), self.func.ty(data.args[1]));
        if !self.is_by_element(ty, align) {
            return self.store_at(address, data, value, align);
        }
        let mut last = address;
        for (i, at) in self.elements_at(address, ty).enumerate() {
            let lane = self.cx.constant(Type::I32, i as u64);
            // SAFETY: `value` is a vector, and `lane` is the constant number of one of its lanes.
            let element = unsafe { LLVMBuildExtractElement(self.builder.0, value, lane, c"".as_ptr()) };
            last = self.store_at(at, data, element, align);
        }
        last
    }

    /// Whether a vector is loaded and stored by its elements: on a GPU, one that is aligned as these are. LLVM would
    /// put what it loads together to 32 bits, and then take them apart again.
    fn is_by_element(&self, ty: Type, align: u32) -> bool {
        let bytes = ty.scalar.bytes();
        self.cx.gpu.is_some() && ty.is_vector() && ty.scalar != Scalar::I1 && bytes < 4 && align <= bytes
    }

    /// The addresses of a vector's elements.
    fn elements_at(&self, address: LLVMValueRef, ty: Type) -> impl Iterator<Item = LLVMValueRef> {
        let bytes = u64::from(ty.scalar.bytes());
        (0..u64::from(ty.lanes)).map(move |i| self.offset(address, self.cx.constant(Type::I64, i * bytes)))
    }

    fn store_at(&self, address: LLVMValueRef, data: &InstData, value: LLVMValueRef, align: u32) -> LLVMValueRef {
        // SAFETY: `address` is a pointer, `store` is the store that was just made, and the metadata belongs to the live
        // context.
        unsafe {
            let store = LLVMBuildStore(self.builder.0, value, address);
            LLVMSetAlignment(store, self.relied_on(data, self.func.ty(data.args[1]), align));
            LLVMSetVolatile(store, i32::from(data.flags.contains(Flags::VOLATILE)));
            if data.flags.contains(Flags::NONTEMPORAL) {
                let mut one = LLVMValueAsMetadata(self.cx.constant(Type::I32, 1));
                self.mark(store, "nontemporal", LLVMMDNodeInContext2(self.cx.context, &raw mut one, 1));
            }
            store
        }
    }

    pub fn mem_copy(&self, data: &InstData, size: u64, align: u32) -> LLVMValueRef {
        let (to, from) = (self.value(data.args[0]), self.value(data.args[1]));
        // SAFETY: `to` and `from` are pointers, and the size is an integer of 64 bits.
        unsafe { LLVMBuildMemCpy(self.builder.0, to, align, from, align, self.cx.constant(Type::I64, size)) }
    }

    pub fn mem_set(&self, data: &InstData, size: u64, byte: u8, align: u32) -> LLVMValueRef {
        let (to, byte) = (self.value(data.args[0]), self.cx.constant(Type::I8, u64::from(byte)));
        // SAFETY: `to` is a pointer, `byte` is an integer of 8 bits, and the size is one of 64 bits.
        unsafe { LLVMBuildMemSet(self.builder.0, to, byte, self.cx.constant(Type::I64, size), align) }
    }

    /// A prefetch for reading, with high temporal locality.
    pub fn prefetch(&self, p: LLVMValueRef) -> LLVMValueRef {
        let number = |n: u64| self.cx.constant(Type::I32, n);
        let (read, often, data) = (number(0), number(3), number(1));
        // SAFETY: the value is one of this module.
        let ty = unsafe { LLVMTypeOf(p) };
        self.intrinsic("llvm.prefetch", &[ty], &[p, read, often, data])
    }

    /// The time-stamp counter of x86, and the virtual counter of Arm, whose cycle counter programs may not read.
    pub fn clock(&self) -> LLVMValueRef {
        let name = match self.cx.target.architecture() {
            Architecture::X86_64 => "llvm.readcyclecounter",
            _ => "llvm.readsteadycounter",
        };
        self.intrinsic(name, &[], &[])
    }

    /// Whether the word at an address is not 0, read anew.
    pub fn poll(&self, address: LLVMValueRef) -> LLVMValueRef {
        let word = self.cx.ty(Type::I32);
        // SAFETY: the address is an integer of 64 bits; the types and values belong to the live context.
        unsafe {
            let p =
                LLVMBuildIntToPtr(self.builder.0, address, LLVMPointerTypeInContext(self.cx.context, 0), c"".as_ptr());
            let load = LLVMBuildLoad2(self.builder.0, word, p, c"".as_ptr());
            LLVMSetVolatile(load, 1);
            LLVMBuildICmp(
                self.builder.0,
                llvm_sys::LLVMIntPredicate::LLVMIntNE,
                load,
                self.cx.constant(Type::I32, 0),
                c"".as_ptr(),
            )
        }
    }

    /// A stack slot: an `alloca` in the entry block, wherever the builder is.
    pub fn alloca(&self, size: u64, align: u32) -> LLVMValueRef {
        // SAFETY: `entry` is the first block of this function, and the builder returns to the end of the block it came
        // from.
        unsafe {
            let here = LLVMGetInsertBlock(self.builder.0);
            // In the entry block, an `alloca` is a fixed slot of the frame. Elsewhere it would take new stack each time
            // that it runs, as in a loop.
            match LLVMGetFirstInstruction(self.entry) {
                first if first.is_null() => LLVMPositionBuilderAtEnd(self.builder.0, self.entry),
                first => LLVMPositionBuilderBefore(self.builder.0, first),
            }
            let bytes = LLVMArrayType2(LLVMInt8TypeInContext(self.cx.context), size.max(1));
            let slot = LLVMBuildAlloca(self.builder.0, bytes, c"".as_ptr());
            LLVMSetAlignment(slot, align);
            LLVMPositionBuilderAtEnd(self.builder.0, here);
            slot
        }
    }

    /// `base + offset` in bytes.
    pub fn offset(&self, base: LLVMValueRef, bytes: LLVMValueRef) -> LLVMValueRef {
        let mut index = [bytes];
        // SAFETY: `base` is a pointer, the index is an integer, and the GEP is not `inbounds`, so that any result is
        // allowed.
        unsafe {
            let i8 = LLVMInt8TypeInContext(self.cx.context);
            LLVMBuildGEP2(self.builder.0, i8, base, index.as_mut_ptr(), 1, c"".as_ptr())
        }
    }

    /// Calls the print hook of the launch descriptor, with the arguments in a block of private memory.
    pub fn printf(&self, data: &InstData, format: u32) -> Result<LLVMValueRef, Error> {
        self.need_root("printf in a function that was not inlined")?;
        let (item, args) = data.args.split_first().map_or((None, &[][..]), |(i, a)| (Some(*i), a));
        let item = item.ok_or_else(|| Error::Internal("printf without a work-item".into()))?;
        let types: Vec<Type> = args.iter().map(|&a: &Value| self.func.ty(a)).collect();
        let (offsets, size) = abi::printf_layout(types);
        let block = self.operand_block(args, offsets.into_iter().map(u64::from), size.into());
        // SAFETY: the hook has the type that `cloom_ir::abi` fixes, and the arguments have the types of its parameters.
        unsafe {
            let b = self.builder.0;
            let ptr = LLVMPointerTypeInContext(self.cx.context, 0);
            let [hook, state] = [abi::LAUNCH_PRINTF, abi::LAUNCH_PRINTF_STATE].map(|at| self.launch_address(at));
            let (i32, i64) = (self.cx.ty(Type::I32), self.cx.ty(Type::I64));
            let mut params = [ptr, i32, i64, ptr, i32];
            let ty = LLVMFunctionType(LLVMVoidTypeInContext(self.cx.context), params.as_mut_ptr(), 5, 0);
            let number = |n: u32| self.cx.constant(Type::I32, u64::from(n));
            let mut values = [state, number(format), self.value(item), block, number(size)];
            Ok(LLVMBuildCall2(b, ty, hook, values.as_mut_ptr(), 5, c"".as_ptr()))
        }
    }

    /// Only roots have the launch descriptor.
    fn need_root(&self, what: &'static str) -> Result<(), Error> {
        match self.root {
            true => Ok(()),
            false => Err(Error::NotLowered(self.func.name.clone(), what)),
        }
    }

    /// Operands of a hook, at these offsets in a block of private memory of so many bytes.
    fn operand_block(&self, args: &[Value], offsets: impl Iterator<Item = u64>, size: u64) -> LLVMValueRef {
        let block = self.alloca(size, 64);
        for (&arg, at) in args.iter().zip(offsets) {
            let p = self.offset(block, self.cx.constant(Type::I64, at));
            // SAFETY: `p` points into the operand block, which has room for each operand.
            unsafe { LLVMSetAlignment(LLVMBuildStore(self.builder.0, self.value(arg), p), 8) };
        }
        block
    }

    /// An address in the launch descriptor.
    fn launch_address(&self, at: u64) -> LLVMValueRef {
        // SAFETY: the first parameter of a root is the launch descriptor, and `at` is the offset of an address in it.
        unsafe {
            let p = self.offset(LLVMGetParam(self.llvm, 0), self.cx.constant(Type::I64, at));
            LLVMBuildLoad2(self.builder.0, LLVMPointerTypeInContext(self.cx.context, 0), p, c"".as_ptr())
        }
    }

    /// Calls the device hook of the launch descriptor, with the operands in a block of private memory.
    pub fn device_call(&self, data: &InstData, what: u32) -> Result<LLVMValueRef, Error> {
        self.need_root("a call of the launcher in a function that was not inlined")?;
        let count = data.args.len() as u32;
        let block = self.operand_block(&data.args, (0..).step_by(8), u64::from(count.max(1)) * 8);
        // SAFETY: the hook has the type that `cloom_ir::abi::device` fixes, and the arguments have the types of its
        // parameters.
        unsafe {
            let b = self.builder.0;
            let ptr = LLVMPointerTypeInContext(self.cx.context, 0);
            let [hook, state] = [abi::LAUNCH_DEVICE, abi::LAUNCH_DEVICE_STATE].map(|at| self.launch_address(at));
            let i32 = self.cx.ty(Type::I32);
            let mut params = [ptr, i32, ptr, i32];
            let ty = LLVMFunctionType(self.cx.ty(Type::I64), params.as_mut_ptr(), 4, 0);
            let number = |n: u32| self.cx.constant(Type::I32, u64::from(n));
            let mut values = [state, number(what), block, number(count)];
            Ok(LLVMBuildCall2(b, ty, hook, values.as_mut_ptr(), 4, c"".as_ptr()))
        }
    }
}
