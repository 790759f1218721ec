//! The names of attributes that can be written without a warning: those that later stages obey, and those that cannot
//! change what a kernel computes.

use super::ast::SpaceQual;

/// Obeyed, sorted.
const OBEYED: &[&str] = &[
    "aligned",
    "ext_vector_type",
    "intel_reqd_sub_group_size",
    "mode",
    "noinline",
    "opencl_constant",
    "opencl_generic",
    "opencl_global",
    "opencl_global_device",
    "opencl_global_host",
    "opencl_local",
    "opencl_private",
    "opencl_unroll_hint",
    "overloadable",
    "packed",
    "reqd_work_group_size",
    "vec_type_hint",
    "vector_size",
    "work_group_size_hint",
];

/// Advice to optimisers and to warnings of other compilers, sorted. `endian` is here because host and device have the
/// same order of bytes, `nosvm` because it takes a permission that nobody has to use.
const WITHOUT_EFFECT: &[&str] = &[
    "always_inline",
    "artificial",
    "cold",
    "const",
    "convergent",
    "deprecated",
    "endian",
    "fallthrough",
    "flatten",
    "format",
    "gnu_inline",
    "hot",
    "leaf",
    "malloc",
    "may_alias",
    "minsize",
    "nodebug",
    "nonnull",
    "noreturn",
    "nosvm",
    "nothrow",
    "optnone",
    "pure",
    "returns_nonnull",
    "unused",
    "used",
    "visibility",
    "warn_unused_result",
];

/// The address space that an attribute names, as Clang has it beside the keyword.
pub fn address_space(name: &str) -> Option<SpaceQual> {
    Some(match name {
        "opencl_constant" => SpaceQual::Constant,
        "opencl_generic" => SpaceQual::Generic,
        // Whether global memory is the device's or the host's makes no difference to an access.
        "opencl_global" | "opencl_global_device" | "opencl_global_host" => SpaceQual::Global,
        "opencl_local" => SpaceQual::Local,
        "opencl_private" => SpaceQual::Private,
        _ => return None,
    })
}

/// Whether a later stage obeys an attribute, named without underscores around it.
pub fn is_obeyed(name: &str) -> bool {
    OBEYED.binary_search(&name).is_ok()
}

/// Whether an attribute, named without underscores around it, needs no warning.
pub fn is_known(name: &str) -> bool {
    is_obeyed(name) || WITHOUT_EFFECT.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_sorted() {
        assert!(super::OBEYED.is_sorted() && super::WITHOUT_EFFECT.is_sorted());
    }
}
