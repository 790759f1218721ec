//! Types of a module: their layout in memory, and the values of the IR that they are made of.
//!
//! The IR has no aggregates. A value of a structure or an array is the list of its *parts*, scalars and vectors, in the
//! order of memory. Layout is that of OpenCL C: each type is aligned to its size, a vector of three components has the
//! size of one of four, and structures have the padding of C unless they are packed.

use crate::error::{Result, bail, ensure};
use crate::limits;
use crate::reader::Id;
use cloom_ir::{Scalar, Space, Type};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A type, by number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Ty(u32);

/// An image: its dimensions and access.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Image {
    /// The name of its type in OpenCL C.
    pub name: &'static str,
    /// 1 `read_only`, 2 `write_only`, 3 `read_write`.
    pub access: u8,
    /// 1, 2 or 3.
    pub dims: u8,
    pub is_array: bool,
    pub is_depth: bool,
}

impl Image {
    /// How many coordinates count.
    pub fn coordinates(self) -> u16 {
        u16::from(self.dims) + u16::from(self.is_array)
    }
}

/// What a type is.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Kind {
    Void,
    Bool,
    /// A number.
    Number(Scalar),
    Vector(Ty, u16),
    Array(Ty, u64),
    /// The members, each with its offset in bytes and the number of its first part.
    Struct(Rc<[(Ty, u64, u32)]>),
    /// Nothing is known of it but its name; only pointers to it are of use.
    Opaque,
    /// The pointee is an id, as it may be declared later.
    Pointer(Space, Id),
    Function(Ty, Rc<[Ty]>),
    Image(Image),
    Sampler,
    /// An image and a sampler, its two parts.
    SampledImage(Image),
    Event,
    /// 1 `read_only`, 2 `write_only`.
    Pipe(u8),
    /// A reservation in a pipe.
    ReserveId,
    /// A queue on the device.
    Queue,
    /// An event of what kernels enqueue.
    DeviceEvent,
}

/// A type with its layout.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Data {
    pub kind: Kind,
    /// Bytes; 0 of what has no form in memory.
    pub size: u64,
    pub align: u64,
    /// How many parts a value has.
    pub parts: u32,
    /// That, and the types around them: structures may be empty.
    nodes: u32,
    /// Types nested in it.
    depth: u32,
}

/// A part of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    /// As a value; truth values are `i1`.
    pub ty: Type,
    /// Where it is in memory, in bytes.
    pub offset: u64,
}

impl Part {
    /// What stands in memory: a truth value is a byte.
    pub fn in_memory(self) -> Type {
        in_memory(self.ty)
    }
}

/// What stands in memory, and what functions take, for a value: a truth value is a byte.
pub(crate) fn in_memory(ty: Type) -> Type {
    if ty.scalar == Scalar::I1 { ty.with_scalar(Scalar::I8) } else { ty }
}

/// The types of a module.
#[derive(Default)]
pub(crate) struct Types {
    list: Vec<Data>,
    ids: FxHashMap<Id, Ty>,
    /// The id that each was declared by, for its name.
    names: Vec<Id>,
    parts: FxHashMap<Ty, Rc<[Part]>>,
    /// By what they point to: pointers into private memory where the module says constant memory.
    private: FxHashMap<Ty, Ty>,
}

impl Types {
    /// Declares a type.
    pub fn add(&mut self, id: Id, kind: Kind, packed: bool) -> Result<()> {
        let mut data = Data { kind, size: 0, align: 1, parts: 1, nodes: 1, depth: 0 };
        let natural = |size: u64| (size, size.next_power_of_two());
        (data.size, data.align) = match &data.kind {
            Kind::Void | Kind::Opaque | Kind::Function(..) => (0, 1),
            Kind::Bool => (1, 1),
            Kind::Number(scalar) => natural(u64::from(scalar.bytes())),
            Kind::Vector(element, lanes) => {
                let lanes = if *lanes == 3 { 4 } else { u64::from(*lanes) };
                natural(self[*element].size * lanes)
            }
            Kind::Pointer(..) | Kind::Event | Kind::Image(_) | Kind::Pipe(_) | Kind::ReserveId => (8, 8),
            Kind::Queue | Kind::DeviceEvent => (8, 8),
            // Its bits are four; in structures of what a block captures, translators count a pointer.
            Kind::Sampler => (8, 8),
            Kind::SampledImage(_) => {
                data.parts = 2;
                (16, 8)
            }
            Kind::Array(element, count) => {
                let element = &self[*element];
                data.depth = element.depth + 1;
                // Saturating: `parts` refuses what is too large when a value of the type is used.
                let times = |n: u32| u32::try_from(u64::from(n).saturating_mul(*count)).unwrap_or(u32::MAX);
                data.parts = times(element.parts);
                data.nodes = times(element.nodes).saturating_add(1);
                (element.size.saturating_mul(*count), element.align)
            }
            Kind::Struct(members) => {
                let (mut placed, mut end, mut align, mut first) = (Vec::with_capacity(members.len()), 0u64, 1, 0u32);
                for &(member, ..) in members.iter() {
                    let of = &self[member];
                    let own = if packed { 1 } else { of.align };
                    ensure!(
                        of.size > 0 || matches!(of.kind, Kind::Struct(_) | Kind::Array(..)),
                        "a member has no size"
                    );
                    let at = end.checked_next_multiple_of(own).unwrap_or(u64::MAX);
                    placed.push((member, at, first));
                    (end, align) = (at.saturating_add(of.size), align.max(own));
                    first = first.saturating_add(of.parts);
                    data.nodes = data.nodes.saturating_add(of.nodes);
                    data.depth = data.depth.max(of.depth + 1);
                }
                data.kind = Kind::Struct(placed.into());
                data.parts = first;
                (end.checked_next_multiple_of(align).unwrap_or(u64::MAX), align)
            }
        };
        // Recursion over a type is bounded by this.
        ensure!(data.depth <= limits::TYPE_DEPTH, "types are nested more than {} times", limits::TYPE_DEPTH);
        ensure!(data.size <= limits::OBJECT, "a type has more than {} bytes", limits::OBJECT);
        self.list.push(data);
        self.names.push(id);
        let ty = Ty(self.list.len() as u32 - 1);
        ensure!(self.ids.insert(id, ty).is_none(), "the id %{id} is declared twice");
        Ok(())
    }

    /// The type of an id.
    pub fn get(&self, id: Id) -> Result<Ty> {
        match self.ids.get(&id) {
            Some(&ty) => Ok(ty),
            None => bail!("%{id} is no type"),
        }
    }

    /// Whether an id is that of a type.
    pub fn contains(&self, id: Id) -> bool {
        self.ids.contains_key(&id)
    }

    /// The id that declared a type.
    pub fn id(&self, ty: Ty) -> Id {
        self.names[ty.0 as usize]
    }

    /// The type of pointers to private memory that stand for pointers to constant memory. It is none that the module
    /// declares.
    pub fn private_pointer(&mut self, to: Ty) -> Ty {
        *self.private.entry(to).or_insert_with(|| {
            let id = self.names[to.0 as usize];
            let kind = Kind::Pointer(Space::Private, id);
            // Without an entry in `ids`: no id of the module names it.
            self.list.push(Data { kind, size: 8, align: 8, parts: 1, nodes: 1, depth: 0 });
            self.names.push(id);
            Ty(self.list.len() as u32 - 1)
        })
    }

    /// Whether a type is one of [`Types::private_pointer`].
    pub fn stands_for_constant(&self, ty: Ty) -> bool {
        self.pointee(ty).is_ok_and(|(_, to)| self.private.get(&to) == Some(&ty))
    }

    /// The pointee of a pointer, and the address space.
    pub fn pointee(&self, ty: Ty) -> Result<(Space, Ty)> {
        match self[ty].kind {
            Kind::Pointer(space, to) => Ok((space, self.get(to)?)),
            _ => bail!("the type %{} is no pointer", self.id(ty)),
        }
    }

    /// The type in the IR of a value that is not an aggregate.
    pub fn value(&self, ty: Ty) -> Result<Type> {
        Ok(match &self[ty].kind {
            Kind::Bool => Type::I1,
            Kind::Number(scalar) => Type::scalar(*scalar),
            Kind::Vector(element, lanes) => Type::vector(self.value(*element)?.scalar, *lanes),
            Kind::Pointer(space, _) => Type::ptr(*space),
            Kind::Image(_) => Type::ptr(Space::Constant),
            Kind::Sampler => Type::I32,
            Kind::Pipe(_) => Type::ptr(Space::Global),
            Kind::Event | Kind::ReserveId | Kind::Queue | Kind::DeviceEvent => Type::I64,
            _ => bail!("the type %{} is not that of a number, a vector or a pointer", self.id(ty)),
        })
    }

    /// The parts of a value.
    pub fn parts(&mut self, ty: Ty) -> Result<Rc<[Part]>> {
        if let Some(known) = self.parts.get(&ty) {
            return Ok(known.clone());
        }
        let Data { parts, nodes, .. } = self[ty];
        // An array of empty structures has no parts, but `collect` visits each element.
        ensure!(parts <= limits::PARTS && nodes <= 4 * limits::PARTS, "a value has more than {} parts", limits::PARTS);
        let mut parts = Vec::new();
        self.collect(ty, 0, &mut parts)?;
        // Kept, because each value of the type asks for the list.
        let parts: Rc<[Part]> = parts.into();
        self.parts.insert(ty, parts.clone());
        Ok(parts)
    }

    /// Adds the parts of a type that stands at an offset; types are nested as deep as [`limits::TYPE_DEPTH`] allows.
    fn collect(&self, ty: Ty, offset: u64, out: &mut Vec<Part>) -> Result<()> {
        match &self[ty].kind {
            Kind::Void => {}
            Kind::Array(element, count) => {
                let size = self[*element].size;
                for i in 0..*count {
                    self.collect(*element, offset + i * size, out)?;
                }
            }
            Kind::Struct(members) => {
                for &(member, at, _) in members.iter() {
                    self.collect(member, offset + at, out)?;
                }
            }
            Kind::SampledImage(_) => {
                out.push(Part { ty: Type::ptr(Space::Constant), offset });
                out.push(Part { ty: Type::I32, offset: offset + 8 });
            }
            _ => out.push(Part { ty: self.value(ty)?, offset }),
        }
        Ok(())
    }

    /// The component of a composite at a constant index: its type, its offset in bytes and the number of its first
    /// part. A component of a vector is in the vector's part.
    pub fn component(&self, ty: Ty, index: u64) -> Result<(Ty, u64, u32)> {
        match &self[ty].kind {
            Kind::Struct(members) => match usize::try_from(index).ok().and_then(|i| members.get(i)) {
                Some(&member) => Ok(member),
                None => bail!("a structure has no member {index}"),
            },
            Kind::Array(element, count) => {
                ensure!(index < *count, "the index {index} is outside of an array of {count}");
                let of = &self[*element];
                Ok((*element, index * of.size, (index as u32).saturating_mul(of.parts)))
            }
            Kind::Vector(element, lanes) => {
                ensure!(index < u64::from(*lanes), "the index {index} is outside of a vector of {lanes}");
                Ok((*element, index * self[*element].size, 0))
            }
            _ => bail!("the type %{} has no components", self.id(ty)),
        }
    }
}

impl std::ops::Index<Ty> for Types {
    type Output = Data;

    fn index(&self, ty: Ty) -> &Data {
        &self.list[ty.0 as usize]
    }
}
