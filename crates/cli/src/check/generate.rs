//! Arguments for kernels that are checked without any.
//!
//! In come a kernel's parameters; out come launches of several sizes, each as the `--arg` options that describe it, so
//! that a finding can be repeated. Nothing but the types and the names is known: an integer named `n` or `width` is the
//! size, and each buffer has as many elements as the launch has work-items. What is found with such arguments may be a
//! wrong guess, which the arguments of the finding show.

use crate::outcome::Failure;
use crate::run::kernel::{Compiled, KernelOptions};
use crate::run::layout::Layout;
use crate::run::number::Element;
use crate::run::shape::Sizes;
use cloom_ir::{KernelMeta, Module, Op, ParamKind, Query};

/// Work-items in each dimension: one, a power of two, an even number, and a prime.
const SIDES: [&[usize]; 3] = [&[1, 64, 1000, 1024, 257], &[1, 16, 24, 17], &[1, 4, 6, 5]];
/// Sides of work-groups that are tried: the first that fits, and the others where the launch takes them.
const LOCAL: [&[usize]; 3] = [&[64, 16, 7], &[8, 4, 3], &[2, 3, 1]];

/// The launches of these kernels.
pub fn launches(
    compiled: &Compiled,
    kernels: &[String],
    given: &KernelOptions,
) -> Result<Vec<(Option<String>, KernelOptions)>, Failure> {
    let mut launches = Vec::new();
    for name in kernels {
        let meta = compiled.program.kernels().find(|k| k.0 == *name).map(|k| k.1.clone());
        let Some(meta) = meta else {
            let there: Vec<&str> = compiled.program.kernels().map(|k| k.0).collect();
            return Err(Failure::wrong(format!("there is no kernel `{name}`; there are: {}", there.join(", "))));
        };
        let asked = || compiled.linked(name).map_or(1, |module| dimensions(&module));
        let dims = given.global.as_ref().map_or_else(asked, |g| g.0.len());
        let layouts = compiled.layouts(name, &meta);
        // A size that is given is the only one; arguments are made for its longest side.
        let sides = match &given.global {
            Some(global) => vec![global.0.iter().copied().max().unwrap_or(1)],
            None => SIDES[dims - 1].to_vec(),
        };
        for side in sides {
            let locals = match &given.local {
                Some(local) if local.0.len() == dims => vec![local.0.clone()],
                _ => local_sizes(&meta, dims, side),
            };
            for local in locals {
                let args = meta.params.iter().zip(&layouts);
                let args = args.map(|(p, layout)| {
                    let text = argument(p.kind, &p.name, &p.type_name, layout, side, dims, &local);
                    text.map(|text| format!("{}={text}", p.name)).ok_or_else(|| {
                        Failure::wrong(format!(
                            "{name}: no argument can be made for `{} {}`; give --arg for each parameter",
                            p.type_name, p.name
                        ))
                    })
                });
                let args = args.collect::<Result<Vec<String>, Failure>>()?;
                let options = KernelOptions {
                    args,
                    global: Some(given.global.clone().unwrap_or_else(|| Sizes(vec![side; dims]))),
                    local: Some(Sizes(local.clone())),
                    build: given.build.clone(),
                };
                launches.push((Some(name.clone()), options));
            }
        }
    }
    Ok(launches)
}

/// How many dimensions a kernel asks for.
fn dimensions(module: &Module) -> usize {
    let asks = |op: &Op| match op {
        Op::Query { what: Query::GlobalId | Query::LocalId | Query::GroupId, dim } => usize::from(*dim) + 1,
        _ => 1,
    };
    // The functions of the library ask for all dimensions, whatever the kernel does.
    let own = module.kernels().map(|k| &module.funcs[k]);
    let of_kernel = own.flat_map(|f| f.layout.iter().flat_map(|&b| &f.blocks[b].insts).map(|&i| &f.insts[i]));
    // An asynchronous copy asks for all three, for its share of the work.
    let real = of_kernel.filter(|i| matches!(i.op, Op::Query { what: Query::GlobalId | Query::GroupId, .. }));
    real.map(|i| asks(&i.op)).max().unwrap_or(1).clamp(1, 3)
}

/// Sizes of work-groups for a launch: one that divides it, and one that leaves a partial group where the kernel allows
/// that.
fn local_sizes(meta: &KernelMeta, dims: usize, side: usize) -> Vec<Vec<usize>> {
    if let Some(required) = meta.reqd_group_size {
        return vec![required.iter().take(dims).map(|&n| n as usize).collect()];
    }
    let fits = |&&n: &&usize| n <= side && (meta.partial_groups || side.is_multiple_of(n));
    let mut sizes: Vec<usize> = LOCAL[dims - 1].iter().filter(fits).copied().collect();
    if !sizes.iter().any(|&n| side.is_multiple_of(n)) {
        // A prime has no other divisors; the whole side is one group where that is not too large.
        sizes.push(if side <= 512 && dims == 1 { side } else { 1 });
    }
    sizes.iter().map(|&n| vec![n; dims]).collect()
}

/// The text for `--arg`.
fn argument(
    kind: ParamKind,
    name: &str,
    type_name: &str,
    layout: &Layout,
    side: usize,
    dims: usize,
    local: &[usize],
) -> Option<String> {
    let items = side.pow(dims as u32);
    let of_floats = layout.number().is_some_and(Element::is_float);
    Some(match kind {
        ParamKind::Global | ParamKind::Constant if of_floats => format!("{items}:random"),
        // Integers may be indices: they stay inside of the other buffers.
        ParamKind::Global | ParamKind::Constant if layout.number().is_some() => format!("{items}:index"),
        ParamKind::Global | ParamKind::Constant => format!("{items}"),
        ParamKind::Local => local.iter().product::<usize>().to_string(),
        ParamKind::Value if of_floats => "1.5".into(),
        ParamKind::Value => value(name, type_name, side, items).to_string(),
        ParamKind::Struct if layout.names().is_empty() => return None,
        ParamKind::Struct => "1".into(),
        ParamKind::Image => {
            let image_dims = match type_name {
                t if t.contains("image1d") => 1,
                t if t.contains("image3d") || t.contains("2d_array") => 3,
                _ => 2,
            };
            vec![side.min(64).to_string(); image_dims].join("x")
        }
        ParamKind::Sampler => "nearest,edge".into(),
        ParamKind::Pipe | ParamKind::Queue => return None,
    })
}

/// An integer by its name.
fn value(name: &str, type_name: &str, side: usize, items: usize) -> usize {
    let name = name.to_lowercase();
    let is = |words: &[&str]| words.iter().any(|w| name == *w || (w.len() > 2 && name.contains(w)));
    let limit = match type_name {
        "char" => 127,
        "uchar" => 255,
        _ => usize::MAX,
    };
    let value = if is(&["total", "elements", "length", "len", "count", "size"]) {
        items
    } else if is(&["n", "m", "k", "w", "h", "nx", "ny", "nz", "width", "height", "depth", "rows", "cols", "columns"])
        || is(&["stride", "pitch", "dim", "num"])
    {
        side
    } else {
        1
    };
    value.min(limit)
}
