//! Memory: variables of functions, loads and stores, copies, and addresses of components.

use crate::builtin::c_pointer;
use crate::error::{Result, bail, ensure};
use crate::func::{Fn, Val};
use crate::limits;
use crate::reader::{Id, Inst};
use crate::types::{Kind, Ty};
use cloom_ir::{BinOp, Flags, Global, GlobalLinkage, Space, Type, Value};
use spirv::{Decoration, MemoryAccess, Op, StorageClass};
use std::sync::Arc;

/// An initial value of more parts than this is copied from constant memory.
const STORED: usize = 16;

/// The largest alignment that an access may state.
const MAX_ALIGN: u32 = 4096;

impl Fn<'_, '_, '_> {
    /// Lowers an instruction, if it is one of these.
    pub fn memory(&mut self, inst: &Inst<'_>) -> Result<bool> {
        match inst.op {
            Op::Variable => self.local_variable(inst),
            Op::Load => {
                let (ty, id) = inst.result()?;
                let ty = self.cx.types.get(ty)?;
                let p = self.pointer(inst.word(2)?)?;
                let (align, flags) = access(inst.rest(3))?;
                let parts = self.load_parts(ty, p, align, flags)?;
                self.define(id, ty, parts)
            }
            Op::Store => {
                let p = self.pointer(inst.word(0)?)?;
                let val = self.value_of(inst.word(1)?)?;
                let (align, flags) = access(inst.rest(2))?;
                self.store_parts(&val, p, align, flags)?;
                Ok(true)
            }
            Op::CopyMemory => {
                let (to, from) = (self.value_of(inst.word(0)?)?, self.value_of(inst.word(1)?)?);
                let (_, of) = self.cx.types.pointee(to.ty)?;
                let (_, source) = self.cx.types.pointee(from.ty)?;
                ensure!(self.cx.same(of, source)?, "the pointers are to different types");
                let (size, align) = self.sized(of)?;
                let (stated, _) = access(inst.rest(2))?;
                self.copy(to.parts[0], from.parts[0], size, stated.unwrap_or(align))
            }
            Op::CopyMemorySized => {
                let (to, from) = (self.pointer(inst.word(0)?)?, self.pointer(inst.word(1)?)?);
                let size = self.scalar_int(inst.word(2)?)?;
                let (align, _) = access(inst.rest(3))?;
                match self.func.const_bits(size) {
                    Some(size) => self.copy(to, from, size, align.unwrap_or(1)),
                    None => {
                        let size = self.resized(size, Type::I64, false);
                        let params = [byte_pointer(self, to, "")?, byte_pointer(self, from, "const ")?, "ulong".into()];
                        // A size that only the launch knows: the IR copies constant sizes.
                        let text = "{ for (ulong i = 0; i < c; i++) a[i] = b[i]; }";
                        self.run_c(&params, &[to, from, size], text)?;
                        Ok(true)
                    }
                }
            }
            Op::AccessChain | Op::InBoundsAccessChain => self.access_chain(inst, false),
            Op::PtrAccessChain | Op::InBoundsPtrAccessChain => self.access_chain(inst, true),
            Op::PtrDiff => {
                let [a, b] = inst.operands()?;
                let (_, of) = {
                    let ty = self.value_of(a)?.ty;
                    self.cx.types.pointee(ty)?
                };
                let (size, _) = self.sized(of)?;
                ensure!(size > 0, "the elements have no size");
                let (a, b) = (self.pointer(a)?, self.pointer(b)?);
                self.alike(a, b)?;
                let [a, b] = [a, b].map(|p| self.b().cast(cloom_ir::CastOp::PtrToInt, p, Type::I64));
                // The difference is counted in elements.
                let bytes = self.b().binary(BinOp::Sub, a, b);
                let size = self.b().iconst(Type::I64, size);
                let n = self.b().binary(BinOp::Sdiv, bytes, size);
                let to = self.result_type(inst)?;
                let n = self.resized(n, to, true);
                self.result(inst, n)
            }
            _ => Ok(false),
        }
    }

    /// Private memory.
    pub fn room(&mut self, size: u64, align: u32) -> Result<Value> {
        self.named_room(size, align, None)
    }

    /// Private memory of a variable.
    fn named_room(&mut self, size: u64, align: u32, name: Option<Arc<String>>) -> Result<Value> {
        self.private += size;
        ensure!(self.private <= limits::PRIVATE, "the function has more than {} bytes of variables", limits::PRIVATE);
        let block = std::mem::replace(&mut self.block, self.entry);
        // Of one byte at least, so that no two variables have one address; in the entry block, where V16 wants it.
        let room = self.b().named_alloca(size.max(1), align.max(1), name);
        self.block = block;
        Ok(room)
    }

    /// Private memory for a value.
    pub fn room_for(&mut self, ty: Ty) -> Result<Value> {
        let (size, align) = self.sized(ty)?;
        self.room(size, align)
    }

    fn local_variable(&mut self, inst: &Inst<'_>) -> Result<bool> {
        let (ty, id) = inst.result()?;
        let ty = self.cx.types.get(ty)?;
        let class = inst.word(2)?;
        ensure!(class == StorageClass::Function as u32, "a variable of a function is not in private memory");
        let (space, of) = self.cx.types.pointee(ty)?;
        ensure!(space == Space::Private, "the storage class is not that of its type");
        let (size, mut align) = self.sized(of)?;
        if let Some(&[wanted, ..]) = self.cx.module.decoration(id, Decoration::Alignment) {
            ensure!(wanted.is_power_of_two() && wanted <= MAX_ALIGN, "{wanted} is no alignment");
            // No less than the type's own: accesses that state no alignment rely on that.
            align = align.max(wanted);
        }
        let name = self.cx.module.name(id).map(|name| Arc::new(name.to_owned()));
        let room = self.named_room(size, align, name)?;
        if let Some(&init) = inst.words.get(3) {
            ensure!(self.cx.consts.contains_key(&init), "its initial value %{init} is no constant");
            let found = self.cx.consts[&init].ty;
            ensure!(self.cx.same(found, of)?, "its initial value has another type");
            // The entry block runs once, before all else.
            let block = std::mem::replace(&mut self.block, self.entry);
            if self.cx.types[of].parts as usize <= STORED {
                let val = self.value_of(init)?;
                self.store_parts(&val, room, Some(align), Flags::empty())?;
            } else {
                self.copy_initial(room, init, size, align)?;
            }
            self.block = block;
        }
        self.define(id, ty, vec![room])
    }

    /// Copies an initial value from constant memory.
    fn copy_initial(&mut self, room: Value, init: Id, size: u64, align: u32) -> Result<()> {
        let name = self.cx.fresh_global_name(&format!("init{init}"))?;
        let global = self.cx.ir.globals.push(Global {
            name,
            linkage: GlobalLinkage::Internal,
            space: Space::Constant,
            size: size.max(1),
            align,
            init: Vec::new(),
            relocs: Vec::new(),
            place: None,
        });
        self.cx.initialise(global, init, size)?;
        let from = self.b().global_addr(global, Space::Constant);
        self.copy(room, from, size, align).map(drop)
    }

    fn copy(&mut self, to: Value, from: Value, size: u64, align: u32) -> Result<bool> {
        ensure!(size <= 1 << 32, "more than 4 GiB are copied at once");
        if size > 0 {
            self.b().mem_copy(to, from, size, align);
        }
        Ok(true)
    }

    /// Loads a value, with the alignment that is stated, or that of its type.
    pub fn load_parts(&mut self, ty: Ty, p: Value, align: Option<u32>, flags: Flags) -> Result<Vec<Value>> {
        let (_, natural) = self.sized(ty)?;
        let align = align.unwrap_or(natural);
        let parts = self.cx.types.parts(ty)?;
        let mut out = Vec::with_capacity(parts.len());
        for part in parts.iter() {
            let at = self.b().ptr_offset(p, part.offset);
            let v = self.b().load(part.in_memory(), at, align_at(align, part.offset), flags);
            out.push(self.value_form(v, part.ty));
        }
        Ok(out)
    }

    /// Stores a value.
    pub fn store_parts(&mut self, val: &Val, p: Value, align: Option<u32>, flags: Flags) -> Result<()> {
        let (_, natural) = self.sized(val.ty)?;
        let align = align.unwrap_or(natural);
        let parts = self.cx.types.parts(val.ty)?;
        for (part, &v) in parts.iter().zip(val.parts.iter()) {
            let at = self.b().ptr_offset(p, part.offset);
            let v = self.memory_form(v);
            self.b().store(at, v, align_at(align, part.offset), flags);
        }
        Ok(())
    }

    /// The address of a component; `element` if the first index counts elements from the pointer on.
    fn access_chain(&mut self, inst: &Inst<'_>, element: bool) -> Result<bool> {
        let (type_id, id) = inst.result()?;
        let ty = self.cx.types.get(type_id)?;
        let base = self.value_of(inst.word(2)?)?;
        let (space, mut of) = self.cx.types.pointee(base.ty)?;
        let mut p = base.parts[0];
        let mut offset = 0u64;
        for (i, &index) in inst.rest(3).iter().enumerate() {
            let value = self.scalar_int(index)?;
            // Constant indices add up to one offset; each other one costs a multiplication and an addition.
            let known = self.func.const_bits(value).map(|n| cloom_ir::eval::signed(self.ty(value).scalar, n));
            let (to, size) = match &self.cx.types[of].kind {
                _ if i == 0 && element => (of, self.cx.types[of].size),
                Kind::Struct(_) => {
                    let Some(n) = known.and_then(|n| u64::try_from(n).ok()) else {
                        bail!("the index of a member is no constant")
                    };
                    let (to, at, _) = self.cx.types.component(of, n)?;
                    offset = offset.wrapping_add(at);
                    of = to;
                    continue;
                }
                Kind::Array(to, _) | Kind::Vector(to, _) => (*to, self.cx.types[*to].size),
                _ => bail!("a type without components is indexed"),
            };
            of = to;
            match known {
                Some(n) => offset = offset.wrapping_add((n as u64).wrapping_mul(size)),
                None => {
                    let index = self.resized(value, Type::I64, true);
                    let bytes = match size {
                        1 => index,
                        _ => {
                            let size = self.b().iconst(Type::I64, size);
                            self.b().binary_flags(BinOp::Mul, index, size, Flags::NSW)
                        }
                    };
                    p = self.b().ptr_add(p, bytes);
                }
            }
        }
        let p = self.b().ptr_offset(p, offset);
        let (to_space, to) = self.cx.types.pointee(ty)?;
        // Of a built-in variable, perhaps, that the module has in constant memory.
        let stands = self.cx.types.stands_for_constant(base.ty);
        let space = if stands { Space::Constant } else { space };
        ensure!(to_space == space, "the result points into another memory");
        ensure!(self.cx.same(to, of)?, "the result points to another type");
        let ty = if stands { self.cx.types.private_pointer(of) } else { ty };
        self.define(id, ty, vec![p])
    }
}

/// The alignment that is sure at an offset from an aligned address.
fn align_at(align: u32, offset: u64) -> u32 {
    // At an offset of 12 no more than four is sure, whatever the address is aligned to.
    if offset == 0 { align } else { align.min(1 << offset.trailing_zeros().min(12)) }
}

/// The operands of a memory access: the alignment that is stated, and the flags.
fn access(words: &[u32]) -> Result<(Option<u32>, Flags)> {
    let Some(&mask) = words.first() else { return Ok((None, Flags::empty())) };
    let mask = MemoryAccess::from_bits_truncate(mask);
    let flags = if mask.contains(MemoryAccess::VOLATILE) { Flags::VOLATILE } else { Flags::empty() };
    if !mask.contains(MemoryAccess::ALIGNED) {
        return Ok((None, flags));
    }
    match words.get(1) {
        // Some translators state none by 0.
        Some(0) => Ok((None, flags)),
        Some(&align) if align.is_power_of_two() => Ok((Some(align.min(MAX_ALIGN)), flags)),
        Some(align) => bail!("{align} is no alignment"),
        None => bail!("the alignment is missing"),
    }
}

/// A pointer to bytes, in OpenCL C.
fn byte_pointer(f: &Fn<'_, '_, '_>, p: Value, qualifier: &str) -> Result<String> {
    match f.ty(p).space() {
        Some(space) => Ok(c_pointer(space, &format!("{qualifier}uchar "))),
        None => bail!("it is no pointer"),
    }
}
