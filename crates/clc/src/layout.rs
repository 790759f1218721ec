//! How the arguments of kernels lie in memory, for tools that make or print them.
//!
//! In comes an analysed program; out comes the layout of what each parameter of each kernel is, or of what it points
//! to: numbers, arrays and structures with the names and offsets of their members.

use crate::sema::tree::Unit;
use crate::sema::types::{Ty, TyKind, Types, elem_name};
use crate::source::{Interner, Session};

/// Numbers and structures within one parameter, at most; what is larger counts as bytes.
const MAX_PARTS: usize = 4096;

/// How a type lies in memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Layout {
    /// A number or a short vector; `lanes` is 1 for a number.
    Number {
        /// The name of the scalar type.
        scalar: &'static str,
        /// How many components.
        lanes: u8,
    },
    /// An array.
    Array {
        /// How many elements.
        count: u64,
        /// Each of them.
        element: Box<Layout>,
    },
    /// A structure or union.
    Record {
        /// Bytes, padding included.
        size: u64,
        /// Whether the members lie over each other.
        is_union: bool,
        /// The members, in order.
        members: Vec<Member>,
    },
    /// Anything else, of so many bytes.
    Opaque {
        /// How many.
        size: u64,
    },
}

/// A member of a structure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Member {
    /// Its name; empty for an anonymous structure.
    pub name: String,
    /// Bytes from the start of the structure.
    pub offset: u64,
    /// Its layout.
    pub layout: Layout,
}

/// The parameters of a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KernelLayout {
    /// The kernel's name.
    pub kernel: String,
    /// For each parameter its layout, or that of what it points to.
    pub params: Vec<Layout>,
}

/// The layouts of all kernels of a program.
pub(crate) fn of_kernels(session: &Session, unit: &Unit, types: &Types) -> Vec<KernelLayout> {
    let names = &session.names;
    let kernels = unit.funcs.iter().filter(|f| f.kernel.as_ref().is_some_and(|meta| !meta.is_block));
    kernels
        .map(|f| {
            let param = |ty: Ty| {
                let ty = types.pointee(ty).map_or(ty, |to| to.ty);
                let mut parts = MAX_PARTS;
                layout(types, names, ty, &mut parts).unwrap_or_else(|| opaque(types, ty))
            };
            KernelLayout {
                kernel: names.text(f.name).to_owned(),
                params: f.params.iter().map(|q| param(q.ty)).collect(),
            }
        })
        .collect()
}

fn opaque(types: &Types, ty: Ty) -> Layout {
    Layout::Opaque { size: types.layout(ty).map_or(1, |(size, _)| size.max(1)) }
}

/// `None` if it has more parts than are left.
fn layout(types: &Types, names: &Interner, ty: Ty, parts: &mut usize) -> Option<Layout> {
    // Structures may nest the same structure again and again: without the bound, the layout could be of any size.
    *parts = parts.checked_sub(1)?;
    Some(match types.kind(ty) {
        TyKind::Bool => Layout::Number { scalar: "uchar", lanes: 1 },
        TyKind::Scalar(e) | TyKind::Atomic(e) => Layout::Number { scalar: elem_name(*e), lanes: 1 },
        TyKind::Vector(e, lanes) => Layout::Number { scalar: elem_name(*e), lanes: *lanes },
        TyKind::Array(of, Some(count)) => {
            Layout::Array { count: *count, element: Box::new(layout(types, names, of.ty, parts)?) }
        }
        TyKind::Record(id) => {
            let record = &types.records[id.0 as usize];
            let mut members = Vec::new();
            for field in record.fields.iter().flatten() {
                let name = field.name.map_or_else(String::new, |n| names.text(n).to_owned());
                members.push(Member { name, offset: field.offset, layout: layout(types, names, field.ty.ty, parts)? });
            }
            Layout::Record { size: record.size.max(1), is_union: record.is_union, members }
        }
        _ => opaque(types, ty),
    })
}
