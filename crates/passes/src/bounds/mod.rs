//! Bounds checks: an access outside of its object does not happen.
//!
//! In comes a kernel with what it calls, after inlining; out goes the same kernel that neither reads nor writes outside
//! of its objects, whatever its arguments are. A load that is refused gives 0, a store or an atomic operation that is
//! refused does nothing:
//!
//! ```text
//! v = load p                    limit = usubsat(size, bytes - 1)       once, at the kernel's entry
//!                               branch offset <u limit ? yes : no
//!                         yes:  v' = load p; jump join(v')
//!                          no:  jump join(0)
//!                        join(v):
//! ```
//!
//! The object of an address is the one that it was computed from ([`roots`]), as C has it: an address that leaves its
//! buffer and comes to lie in another one is refused. A buffer's size is a parameter that the pass adds to the kernel
//! ([`Hidden::Size`]), so that nothing behind this pass knows of checks. The vectoriser makes masked accesses of the
//! branches. That is why a refused load gives 0: an address that is redirected into the object instead makes a gather
//! of a consecutive access. (Six kernels on 16 cores, geometric mean: 1.26 times as long with the branch, 2.4 times
//! with a `select` of the offset.)
//!
//! Nothing that is undefined in OpenCL C may get past a check:
//! * Analyses rely on promises (`nsw`, `nuw`); a kernel that breaks one would have an offset in the check and another
//!   one in the access. They are dropped.
//! * An access at an address that its type does not allow is refused, where the low bits of the offset are not known to
//!   be zeros ([`alignment`]).
//! * A pointer that comes from memory or from an integer has no known object: accesses through it are refused. (Calls
//!   that pass pointers or return them are inlined.)
//! * `printf` reads a string at the address of a `%s`: addresses of constants of the program only are passed on.
//!
//! Where the launcher asks for it, the branch of a refused access tells what was refused ([`reports`]): a finding is
//! made of it, and the rest of the code is as without reports.
//!
//! The elements of images are reached by library functions alone, which stay inside of the image for any coordinates.

mod access;
mod alignment;
mod insert;
mod reports;
mod roots;
mod strings;

use crate::inline::bottom_up;
use crate::pass::PassId;
use cloom_ir::abi::{BLOCK_ALIGN, image};
use cloom_ir::{FuncRef, Hidden, Module, ParamKind};
use insert::Insertion;
use reports::Reports;
use roots::{Object, Roots};

/// The checks are on or off as a whole: a program asks for them.
pub const BOUNDS_CHECKS: PassId = PassId::required("bounds-checks", "accesses outside of their objects do not happen");

/// The same, with reports.
pub const BOUNDS_REPORTS: PassId =
    PassId::required("bounds-reports", "accesses outside of their objects do not happen, and are told");

/// Adds the checks to a kernel and what it calls. Returns how many.
pub fn run(module: &mut Module, kernel: FuncRef) -> usize {
    run_on(module, kernel, false)
}

/// Adds the checks, which tell the launcher what they refuse. Returns how many.
pub fn run_with_reports(module: &mut Module, kernel: FuncRef) -> usize {
    run_on(module, kernel, true)
}

fn run_on(module: &mut Module, kernel: FuncRef, reports: bool) -> usize {
    let order = bottom_up(module, kernel);
    let mut checks = 0;
    for f in order {
        if module.funcs[f].is_declaration() {
            continue;
        }
        insert::drop_promises(&mut module.funcs[f]);
        let objects = if f == kernel { add_sizes(module, kernel) } else { Vec::new() };
        let roots = Roots::new(module, f, &objects);
        strings::check(module, f, &roots);
        let reports = (reports && f == kernel).then(|| Reports::new(module, kernel));
        let (count, checked) = Insertion::new(&mut module.funcs[f], &roots, reports).run();
        checks += count;
        if let Some(meta) = &mut module.funcs[f].kernel {
            meta.checked = checked;
        }
    }
    checks
}

/// A parameter of the kernel as an object.
struct Parameter {
    object: Object,
    /// The power of two that its address is a multiple of.
    align: u8,
}

/// Adds the sizes of buffers and of local memory as parameters. Returns what each parameter of the kernel points to.
fn add_sizes(module: &mut Module, kernel: FuncRef) -> Vec<Parameter> {
    let func = &mut module.funcs[kernel];
    let params: Vec<_> = func.kernel.iter().flat_map(|meta| &meta.params).map(|p| (p.kind, p.size, p.align)).collect();
    let object = |(n, (kind, size, align)): (u32, (ParamKind, u32, u32))| {
        let (object, align) = match kind {
            ParamKind::Global | ParamKind::Constant | ParamKind::Local => {
                let size = func.add_hidden_param(Hidden::Size(n));
                (Object::Sized { size, is_read_only: kind == ParamKind::Constant }, BLOCK_ALIGN)
            }
            ParamKind::Struct => (Object::constant(u64::from(size)), align),
            ParamKind::Image => (Object::constant(image::SIZE as u64), image::ALIGN),
            // The library's functions stay inside of the pipe.
            ParamKind::Pipe => (Object::Unlimited, BLOCK_ALIGN),
            ParamKind::Value | ParamKind::Sampler | ParamKind::Queue => (Object::NONE, 1),
        };
        Parameter { object, align: align.max(1).trailing_zeros() as u8 }
    };
    (0..).zip(params).map(object).collect()
}
