//! What nodes of the tree do with images, with pipes, and with memory that a sub-group accesses together.

use crate::syntax::ImageKind;
use cloom_builtins::Elem;

/// A field of an image's descriptor, or several.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names are those of the language")]
pub enum ImageQuery {
    Width,
    Height,
    Depth,
    ChannelType,
    ChannelOrder,
    Dim,
    ArraySize,
    MipLevels,
    Samples,
}

/// The coordinates of an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// 1, 2 or 3.
    pub dims: u8,
    /// Another coordinate chooses the layer.
    pub is_array: bool,
    /// Its colours are single floats.
    pub is_depth: bool,
}

impl Shape {
    /// Of a type of images; `None` of multi-sampled ones.
    pub(in crate::sema) fn of(kind: ImageKind) -> Option<Shape> {
        let (dims, is_array, is_depth) = match kind {
            ImageKind::D1 | ImageKind::D1Buffer => (1, false, false),
            ImageKind::D1Array => (1, true, false),
            ImageKind::D2 => (2, false, false),
            ImageKind::D2Array => (2, true, false),
            ImageKind::D2Depth => (2, false, true),
            ImageKind::D2ArrayDepth => (2, true, true),
            ImageKind::D3 => (3, false, false),
            ImageKind::D2Msaa | ImageKind::D2ArrayMsaa | ImageKind::D2MsaaDepth | ImageKind::D2ArrayMsaaDepth => {
                return None;
            }
        };
        Some(Shape { dims, is_array, is_depth })
    }

    /// How many coordinates count.
    pub fn coordinates(self) -> u8 {
        self.dims + u8::from(self.is_array)
    }

    /// Components of the coordinate's type: three coordinates come in vectors of four.
    pub(in crate::sema) fn lanes(self) -> u8 {
        match self.coordinates() {
            3 => 4,
            n => n,
        }
    }
}

/// What a node of the tree does with an image, its first operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImageOp {
    /// Sampler (if there is one), coordinate; gives the colour.
    Read {
        /// The image's coordinates.
        shape: Shape,
        /// The elements of the colour.
        elem: Elem,
        /// There is a sampler.
        sampled: bool,
        /// The coordinates are floats.
        float: bool,
    },
    /// Coordinate, colour.
    Write {
        /// The image's coordinates.
        shape: Shape,
        /// The elements of the colour.
        elem: Elem,
    },
    /// Nothing else.
    Query(ImageQuery),
}

/// Who makes a reservation or commits it: all of them call the function together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs, reason = "the names are those of the language")]
pub enum Who {
    WorkItem,
    SubGroup,
    WorkGroup,
}

/// What a node of the tree does with a pipe.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PipeOp {
    /// Pipe, then for a place in a reservation its id and an index, then a pointer to the packet; gives 0 or −1.
    Packet {
        /// To the pipe.
        write: bool,
        /// There are a reservation and an index.
        reserved: bool,
    },
    /// Pipe, how many packets; gives the id.
    Reserve {
        /// For writing.
        write: bool,
        /// By whom.
        who: Who,
    },
    /// Pipe, id.
    Commit {
        /// Of packets that were written.
        write: bool,
        /// By whom.
        who: Who,
    },
    /// An id alone; gives whether it is one.
    IsValid,
    /// Pipe; gives how many packets can be read.
    NumPackets,
    /// Pipe; gives how many packets it holds at most.
    MaxPackets,
}

/// What a node of the tree does that accesses memory side by side: its operands are the pointer, or image and
/// coordinate, then the value that is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockAccess {
    /// Writes, and does not read.
    pub write: bool,
    /// An image is accessed.
    pub image: bool,
    /// The elements.
    pub elem: Elem,
}
