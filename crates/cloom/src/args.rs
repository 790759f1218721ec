//! Arguments of a launch: a tuple with one entry for each parameter of the kernel, checked against the parameters'
//! types.
//!
//! | parameter | argument |
//! |---|---|
//! | `global float *p`, `constant …` | `&Buffer<f32>`, `&SvmBuffer<f32>` |
//! | `local float *p` | `Local::<f32>::new(count)` |
//! | `image2d_t i` | `&Image` |
//! | `sampler_t s` | `&Sampler` |
//! | `float x`, `uint4 v`, a structure | `1.0f32`, `[1u32, 2, 3, 4]`, any [`Pod`] of that size |

use crate::{Buffer, Error, Image, Pod, Sampler, SvmBuffer};
use cloom_runtime as rt;
use std::any::TypeId;
use std::marker::PhantomData;
use std::sync::Arc;

/// Local memory of a work-group for `count` elements.
#[derive(Clone, Copy, Debug)]
pub struct Local<T> {
    count: usize,
    elements: PhantomData<fn() -> T>,
}

impl<T> Local<T> {
    /// For so many elements.
    pub fn new(count: usize) -> Self {
        Local { count, elements: PhantomData }
    }
}

/// Something that can be passed to a kernel.
pub trait Arg {
    /// Sets argument `index` of the kernel.
    ///
    /// # Errors
    /// When the parameter is of another type.
    #[doc(hidden)]
    fn set(&self, kernel: &rt::Kernel, index: u32) -> Result<(), Error>;

    /// A launch with this argument began.
    #[doc(hidden)]
    fn note_launch(&self, _launch: &Arc<rt::Event>) {}
}

impl<T: Pod> Arg for &Buffer<T> {
    fn set(&self, kernel: &rt::Kernel, index: u32) -> Result<(), Error> {
        check_element::<T>(kernel, index)?;
        Ok(kernel.set_buffer_arg(index, Some(&self.runtime))?)
    }
}

impl<T: Pod> Arg for &SvmBuffer<T> {
    fn set(&self, kernel: &rt::Kernel, index: u32) -> Result<(), Error> {
        check_element::<T>(kernel, index)?;
        self.allocation.check_context(kernel)?;
        Ok(kernel.set_svm_arg(index, self.allocation.address())?)
    }

    fn note_launch(&self, launch: &Arc<rt::Event>) {
        self.allocation.used_by(launch);
    }
}

impl Arg for &Image {
    fn set(&self, kernel: &rt::Kernel, index: u32) -> Result<(), Error> {
        Ok(kernel.set_image_arg(index, &self.runtime)?)
    }
}

impl Arg for &Sampler {
    fn set(&self, kernel: &rt::Kernel, index: u32) -> Result<(), Error> {
        Ok(kernel.set_sampler_arg(index, &self.runtime)?)
    }
}

impl<T: Pod> Arg for Local<T> {
    fn set(&self, kernel: &rt::Kernel, index: u32) -> Result<(), Error> {
        check_element::<T>(kernel, index)?;
        // A size that overflows is more than any group has, and gets that error at the launch.
        let size = self.count.checked_mul(size_of::<T>()).map_or(u64::MAX, |n| n as u64);
        Ok(kernel.set_local_arg(index, size)?)
    }
}

impl<T: Pod> Arg for T {
    fn set(&self, kernel: &rt::Kernel, index: u32) -> Result<(), Error> {
        check_element::<T>(kernel, index)?;
        let bytes = bytemuck::bytes_of(self);
        // `float3` has the size of `float4`: `[f32; 3]` is passed with padding.
        let param = kernel.meta().params.get(index as usize);
        match param.map(|p| p.size as usize) {
            Some(size) if 3 * size == 4 * bytes.len() && param.is_some_and(|p| p.type_name.ends_with('3')) => {
                let mut padded = bytes.to_vec();
                padded.resize(size, 0);
                Ok(kernel.set_value_arg(index, &padded)?)
            }
            _ => Ok(kernel.set_value_arg(index, bytes)?),
        }
    }
}

/// The scalar type of OpenCL C for a Rust type. Signedness is ignored: `u32` may be passed for `int`, as in C.
fn scalar<T: 'static>() -> Option<&'static str> {
    let names: [(TypeId, &str); 10] = [
        (TypeId::of::<i8>(), "char"),
        (TypeId::of::<u8>(), "char"),
        (TypeId::of::<i16>(), "short"),
        (TypeId::of::<u16>(), "short"),
        (TypeId::of::<i32>(), "int"),
        (TypeId::of::<u32>(), "int"),
        (TypeId::of::<i64>(), "long"),
        (TypeId::of::<u64>(), "long"),
        (TypeId::of::<f32>(), "float"),
        (TypeId::of::<f64>(), "double"),
    ];
    names.iter().find(|(id, _)| *id == TypeId::of::<T>()).map(|&(_, name)| name)
}

/// The scalar type of a parameter, without its sign; `None` for vectors, structures and types of the program's own.
fn scalar_of_param(type_name: &str) -> Option<&'static str> {
    // Of a pointer, what it points to counts.
    let name = type_name.trim_end_matches('*').trim();
    match name.strip_prefix("unsigned ").or(name.strip_prefix('u')).unwrap_or(name) {
        "char" => Some("char"),
        "short" => Some("short"),
        "int" => Some("int"),
        "long" => Some("long"),
        "float" => Some("float"),
        "double" => Some("double"),
        _ => None,
    }
}

/// Refuses a scalar where the parameter, or what it points to, is a scalar of another kind: an `f32` for an `int` has
/// the right size.
fn check_element<T: 'static>(kernel: &rt::Kernel, index: u32) -> Result<(), Error> {
    let Some(param) = kernel.meta().params.get(index as usize) else { return Ok(()) };
    match (scalar::<T>(), scalar_of_param(&param.type_name)) {
        (Some(given), Some(expected)) if given != expected => Err(Error::ArgumentType {
            kernel: kernel.name().to_owned(),
            index,
            name: param.name.clone(),
            expected: param.type_name.clone(),
            given: std::any::type_name::<T>(),
        }),
        _ => Ok(()),
    }
}

/// The arguments of a launch, a tuple of up to 16 [`Arg`]s; `()` for a kernel without parameters.
pub trait Args {
    /// How many there are.
    #[doc(hidden)]
    const COUNT: usize;
    /// Sets them all.
    ///
    /// # Errors
    /// The first that does not fit its parameter.
    #[doc(hidden)]
    fn set(&self, kernel: &rt::Kernel) -> Result<(), Error>;
    /// A launch with them began.
    #[doc(hidden)]
    fn note_launch(&self, launch: &Arc<rt::Event>);
}

macro_rules! tuples {
    ($(($($name:ident $index:tt),*))*) => {$(
        impl<$($name: Arg),*> Args for ($($name,)*) {
            const COUNT: usize = <[u32]>::len(&[$($index),*]);
            #[allow(unused_variables, reason = "the empty tuple has nothing to set")]
            fn set(&self, kernel: &rt::Kernel) -> Result<(), Error> {
                $(self.$index.set(kernel, $index)?;)*
                Ok(())
            }
            #[allow(unused_variables, reason = "the empty tuple has nothing to note")]
            fn note_launch(&self, launch: &Arc<rt::Event>) {
                $(self.$index.note_launch(launch);)*
            }
        }
    )*};
}

tuples! {
    ()
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13, O 14)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7, I 8, J 9, K 10, L 11, M 12, N 13, O 14, P 15)
}
