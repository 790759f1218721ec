//! Variables of a module: data in constant, global and local memory, and what a launch gives to each work-item.

use crate::consts::{Constant, Content, Leaf};
use crate::context::Context;
use crate::error::{Result, bail, ensure};
use crate::func::Fn;
use crate::limits;
use crate::reader::{Id, Inst};
use crate::types::{Kind, Ty};
use cloom_ir::{BinOp, CastOp, Flags, Global, GlobalLinkage, Query, Scalar, Space, Type, Value};
use spirv::{BuiltIn, Decoration, LinkageType, StorageClass};
use std::rc::Rc;

/// What is in a variable that a launch gives to a work-item.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Given {
    /// One number a dimension.
    Each(Query),
    /// One number.
    One(Query),
    GlobalLinear,
    LocalLinear,
    /// A ballot of the sub-group: by this function.
    Mask(&'static str),
}

fn given(number: u32) -> Result<Given> {
    Ok(match BuiltIn::from_u32(number) {
        Some(BuiltIn::NumWorkgroups) => Given::Each(Query::NumGroups),
        Some(BuiltIn::WorkgroupSize) => Given::Each(Query::LocalSize),
        Some(BuiltIn::WorkgroupId) => Given::Each(Query::GroupId),
        Some(BuiltIn::LocalInvocationId) => Given::Each(Query::LocalId),
        Some(BuiltIn::GlobalInvocationId) => Given::Each(Query::GlobalId),
        Some(BuiltIn::GlobalSize) => Given::Each(Query::GlobalSize),
        Some(BuiltIn::EnqueuedWorkgroupSize) => Given::Each(Query::EnqueuedLocalSize),
        Some(BuiltIn::GlobalOffset) => Given::Each(Query::GlobalOffset),
        Some(BuiltIn::LocalInvocationIndex) => Given::LocalLinear,
        Some(BuiltIn::GlobalLinearId) => Given::GlobalLinear,
        Some(BuiltIn::WorkDim) => Given::One(Query::WorkDim),
        Some(BuiltIn::SubgroupSize) => Given::One(Query::SubgroupSize),
        Some(BuiltIn::SubgroupMaxSize) => Given::One(Query::MaxSubgroupSize),
        Some(BuiltIn::NumSubgroups) => Given::One(Query::NumSubgroups),
        Some(BuiltIn::NumEnqueuedSubgroups) => Given::One(Query::EnqueuedNumSubgroups),
        Some(BuiltIn::SubgroupId) => Given::One(Query::SubgroupId),
        Some(BuiltIn::SubgroupLocalInvocationId) => Given::One(Query::SubgroupLocalId),
        Some(BuiltIn::SubgroupEqMask) => Given::Mask("get_sub_group_eq_mask"),
        Some(BuiltIn::SubgroupGeMask) => Given::Mask("get_sub_group_ge_mask"),
        Some(BuiltIn::SubgroupGtMask) => Given::Mask("get_sub_group_gt_mask"),
        Some(BuiltIn::SubgroupLeMask) => Given::Mask("get_sub_group_le_mask"),
        Some(BuiltIn::SubgroupLtMask) => Given::Mask("get_sub_group_lt_mask"),
        Some(other) => bail!("the built-in variable {other:?} is not one of OpenCL"),
        None => bail!("the built-in variable {number} is not known"),
    })
}

impl Context<'_, '_> {
    /// `OpVariable` outside of functions.
    pub fn variable(&mut self, inst: &Inst<'_>) -> Result<()> {
        let (type_id, id) = inst.result()?;
        let ty = self.types.get(type_id)?;
        let (space, of) = self.types.pointee(ty)?;
        let class = inst.word(2)?;
        ensure!(crate::context::space(class)? == space, "the storage class is not that of its type");
        ensure!(!self.consts.contains_key(&id) && !self.types.contains(id), "the id %{id} is declared twice");
        // Translators of SPIR-V 1.0 wrote built-in variables as constants that another module defines.
        let built_in = self.module.decoration(id, Decoration::BuiltIn);
        if class == StorageClass::Input as u32 || space == Space::Constant && built_in.is_some() {
            let Some(&[number, ..]) = built_in else { bail!("the variable is an input, but no built-in one") };
            let what = given(number)?;
            let lanes = match what {
                Given::Each(_) => 3,
                Given::Mask(_) => 4,
                _ => 1,
            };
            let value = self.types.value(of)?;
            let fits = value.lanes == lanes && matches!(value.scalar, Scalar::I32 | Scalar::I64);
            ensure!(fits, "a built-in variable has the wrong type");
            let ty = if space == Space::Constant { self.types.private_pointer(of) } else { ty };
            self.inputs.insert(id, (ty, what));
            return Ok(());
        }
        ensure!(matches!(space, Space::Constant | Space::Global | Space::Local), "no variable can be there");
        let data = &self.types[of];
        let (size, mut align) = (data.size, data.align);
        let linkage = self.module.linkage(id)?;
        let init = inst.words.get(3).copied();
        if let Some(&[wanted, ..]) = self.module.decoration(id, Decoration::Alignment) {
            ensure!(wanted.is_power_of_two() && wanted <= 4096, "{wanted} is no alignment");
            // No less than the type's own: accesses that state no alignment rely on that.
            align = align.max(u64::from(wanted));
        }
        // Local memory is always internal (V56).
        let (linkage, name) = match linkage {
            Some((name, LinkageType::Import)) => (GlobalLinkage::Import, name),
            Some((name, LinkageType::LinkOnceODR)) if space != Space::Local => (GlobalLinkage::LinkOnce, name),
            Some((name, _)) if space != Space::Local => (GlobalLinkage::External, name),
            _ => (GlobalLinkage::Internal, self.module.name(id).map_or_else(|| format!("v{id}"), str::to_owned)),
        };
        let name = match linkage {
            GlobalLinkage::Internal => self.fresh_global_name(&name)?,
            _ => {
                ensure!(self.global_names.insert(name.clone()), "two variables are called `{name}`");
                name
            }
        };
        let mut global = Global {
            name,
            linkage,
            space,
            size,
            align: align as u32,
            init: Vec::new(),
            relocs: Vec::new(),
            place: None,
        };
        if linkage != GlobalLinkage::Import {
            // An empty structure has an address, too, which is no other variable's.
            global.size = size.max(1);
        }
        let index = self.ir.globals.push(global);
        self.globals.insert(id, index);
        self.global_ids.insert(index, id);
        // Its own address may be among its initial values.
        let address = Content::Parts(Rc::new([Leaf::Address(id, 0, space)]));
        self.add_constant(id, Constant { ty, value: address })?;
        if let Some(init) = init {
            let Some(found) = self.consts.get(&init) else { bail!("its initial value %{init} is no constant") };
            let (found, null) = (found.ty, matches!(found.value, Content::Null));
            ensure!(self.same(found, of)?, "its initial value has another type");
            ensure!(linkage != GlobalLinkage::Import, "it belongs to another module, and has an initial value");
            if !null {
                ensure!(space != Space::Local, "local memory has no initial values");
                self.initialise(index, init, size)?;
            }
        }
        Ok(())
    }

    /// Gives a global its initial bytes.
    pub fn initialise(&mut self, global: cloom_ir::GlobalRef, init: Id, size: u64) -> Result<()> {
        self.init_bytes += size;
        // Before the bytes are allocated: a small module may have many variables with one large initial value.
        ensure!(self.init_bytes <= limits::INIT_BYTES, "more than {} bytes of initial values", limits::INIT_BYTES);
        let (mut bytes, mut relocs) = (vec![0; size as usize], Vec::new());
        self.write(init, 0, &mut bytes, &mut relocs)?;
        relocs.sort_by_key(|r| r.offset);
        // Zeros at the end need not be written down, but an address needs its eight bytes (V7).
        let addresses = relocs.last().map_or(0, |r| r.offset as usize + 8);
        let used = bytes.iter().rposition(|&b| b != 0).map_or(0, |i| i + 1);
        bytes.truncate(used.max(addresses));
        let global = &mut self.ir.globals[global];
        (global.init, global.relocs) = (bytes, relocs);
        Ok(())
    }
}

impl Fn<'_, '_, '_> {
    /// The address of a variable that a launch gives: private memory that is filled when the function begins, also
    /// where the module says constant memory.
    pub fn given(&mut self, ty: Ty, what: Given) -> Result<Value> {
        let (_, of) = self.cx.types.pointee(ty)?;
        let (value, align) = (self.cx.types.value(of)?, self.cx.types[of].align as u32);
        let size = self.cx.types[of].size;
        // In the entry block: the first use may be in a branch, and others elsewhere.
        let block = std::mem::replace(&mut self.block, self.entry);
        let room = self.b().alloca(size, align);
        let number = match what {
            Given::Each(query) => {
                let lanes: Vec<Value> = (0..3).map(|d| self.b().query(query, d)).collect();
                let lanes: Vec<Value> = lanes.into_iter().map(|v| self.resized(v, value.lane(), false)).collect();
                self.b().build(&lanes)
            }
            Given::One(query) => {
                let number = self.b().query(query, 0);
                self.resized(number, value, false)
            }
            Given::GlobalLinear => {
                let number = self.linear(Query::GlobalId, Some(Query::GlobalOffset), Query::GlobalSize);
                self.resized(number, value, false)
            }
            Given::LocalLinear => {
                let number = self.linear(Query::LocalId, None, Query::LocalSize);
                self.resized(number, value, false)
            }
            Given::Mask(name) => {
                let text = format!("{name}()");
                let mask = self.call_c("uint4", &[], &[], &text, Type::vector(Scalar::I32, 4))?;
                self.resized(mask, value, false)
            }
        };
        self.b().store(room, number, align, Flags::empty());
        self.block = block;
        Ok(room)
    }

    /// The number of the work-item among all of the launch or of its group.
    pub fn linear(&mut self, id: Query, offset: Option<Query>, size: Query) -> Value {
        let mut all = self.b().iconst(Type::I64, 0);
        // (z * height + y) * width + x, from the outermost dimension on.
        for d in (0..3).rev() {
            let mut at = self.b().query(id, d);
            if let Some(offset) = offset {
                let offset = self.b().query(offset, d);
                at = self.b().binary(BinOp::Sub, at, offset);
            }
            let extent = self.b().query(size, d);
            all = self.b().binary(BinOp::Mul, all, extent);
            all = self.b().binary(BinOp::Add, all, at);
        }
        all
    }

    /// An integer, or each of a vector, in another width.
    pub fn resized(&mut self, v: Value, to: Type, signed: bool) -> Value {
        let from = self.func.ty(v);
        match from.scalar.bits().cmp(&to.scalar.bits()) {
            std::cmp::Ordering::Equal => v,
            std::cmp::Ordering::Greater => self.b().cast(CastOp::Trunc, v, from.with_scalar(to.scalar)),
            std::cmp::Ordering::Less => {
                self.b().cast(if signed { CastOp::Sext } else { CastOp::Zext }, v, from.with_scalar(to.scalar))
            }
        }
    }

    /// Whether a type is that of something that has a size in memory.
    pub fn sized(&self, ty: Ty) -> Result<(u64, u32)> {
        let data = &self.cx.types[ty];
        match data.kind {
            Kind::Void | Kind::Opaque | Kind::Function(..) => {
                bail!("the type %{} has no size", self.cx.types.id(ty))
            }
            _ => Ok((data.size, data.align as u32)),
        }
    }
}
