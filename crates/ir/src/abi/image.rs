//! What a kernel receives for an image or a sampler.
//!
//! The argument of an image is the address of its descriptor, `ptr<constant>`; the constants are the offsets of its
//! fields, in bytes. The argument of a sampler is an `i32` of the bits below.

/// `i64`: address of the element at (0, 0, 0).
pub const DATA: usize = 0;
/// `i64`: bytes from row to row.
pub const ROW_PITCH: usize = 8;
/// `i64`: bytes from slice to slice of a 3D image, from layer to layer of an array.
pub const SLICE_PITCH: usize = 16;
/// `i32`: elements of a row.
pub const WIDTH: usize = 24;
/// `i32`: rows; 1 for 1D images.
pub const HEIGHT: usize = 28;
/// `i32`: slices; 1 but for 3D images.
pub const DEPTH: usize = 32;
/// `i32`: layers; 1 but for arrays.
pub const ARRAY_SIZE: usize = 36;
/// `i32`: `cl_channel_order`.
pub const CHANNEL_ORDER: usize = 40;
/// `i32`: `cl_channel_type`.
pub const CHANNEL_TYPE: usize = 44;
/// `i32`: bytes of an element.
pub const ELEMENT_SIZE: usize = 48;
/// `i32`
pub const NUM_MIP_LEVELS: usize = 52;
/// `i32`
pub const NUM_SAMPLES: usize = 56;
/// `i32`: rows from slice to slice, or from layer to layer.
pub const SLICE_ROWS: usize = 60;
/// `i64`: the handle of the GPU's texture of all rows, or 0.
pub const TEXTURE: usize = 64;
/// Bytes of a descriptor.
pub const SIZE: usize = 80;
/// Its alignment.
pub const ALIGN: u32 = 8;

/// What a descriptor says. Sizes that the type of the image does not have are 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Descriptor {
    /// Address of the element at (0, 0, 0).
    pub data: u64,
    /// Bytes from row to row.
    pub row_pitch: u64,
    /// Bytes from slice to slice, or from layer to layer.
    pub slice_pitch: u64,
    /// Elements of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Slices.
    pub depth: u32,
    /// Layers.
    pub array_size: u32,
    /// `cl_channel_order`
    pub channel_order: u32,
    /// `cl_channel_type`
    pub channel_type: u32,
    /// Bytes of an element.
    pub element_size: u32,
    /// Rows from slice to slice, or from layer to layer.
    pub slice_rows: u32,
    /// The handle of a texture, or 0.
    pub texture: u64,
}

impl Descriptor {
    /// As kernels read it.
    pub fn bytes(&self) -> [u8; SIZE] {
        let mut bytes = [0; SIZE];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        for (at, field) in
            [(DATA, self.data), (ROW_PITCH, self.row_pitch), (SLICE_PITCH, self.slice_pitch), (TEXTURE, self.texture)]
        {
            put(at, &field.to_le_bytes());
        }
        for (at, field) in [
            (WIDTH, self.width),
            (HEIGHT, self.height),
            (DEPTH, self.depth),
            (ARRAY_SIZE, self.array_size),
            (CHANNEL_ORDER, self.channel_order),
            (CHANNEL_TYPE, self.channel_type),
            (ELEMENT_SIZE, self.element_size),
            (SLICE_ROWS, self.slice_rows),
        ] {
            put(at, &field.to_le_bytes());
        }
        bytes
    }
}

/// The argument of a sampler: `addressing` counts from `CL_ADDRESS_NONE`.
pub const fn sampler(normalized: bool, addressing: u32, linear: bool) -> u32 {
    let filter = if linear { 0x20 } else { 0x10 };
    filter | addressing << 1 | normalized as u32
}
