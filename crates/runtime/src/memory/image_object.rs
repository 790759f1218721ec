//! Memory objects that are images: making them, alone or of another object's bytes, and what kernels receive for them.

use super::image::{Descriptor, Image, ImageDesc, ImageType, layout};
use crate::host_mem::HostPtr;
use crate::memory::object::{KERNEL_ACCESS, MemKind, check_host_pointer, parse_image_flags};
use crate::memory::residency::{AccessMode, Residency};
use crate::objects::space::Space;
use crate::status::{bail, ensure};
use crate::{Context, Error, MemFlags, MemObject, Result, Status};
use cloom_caps::image::ImageFormat;
use cloom_ir::abi::image as abi;
use std::sync::{Arc, OnceLock};

impl MemObject {
    // OpenCL 3.0 API, 5.3.1: Creating Image Objects.
    /// An image. With `USE_HOST_PTR` and `COPY_HOST_PTR`, `host_ptr` has as many bytes as the description says.
    pub fn new_image(
        context: &Arc<Context>,
        bits: u64,
        format: ImageFormat,
        desc: &ImageDesc,
        host_ptr: Option<HostPtr>,
        properties: Option<Vec<u64>>,
    ) -> Result<Arc<MemObject>> {
        let limits = context.devices().iter().find_map(|d| d.caps().images);
        let Some(limits) = limits else { bail!(InvalidOperation, "no device of the context has images") };
        let mut flags = parse_image_flags(bits)?;
        if let Some(parent) = &desc.parent {
            // Of an image of other bytes, the parent's flags say whose memory these are.
            flags = parent.inherited(flags)?;
        } else {
            check_host_pointer(flags, host_ptr)?;
            flags |= if flags.intersects(KERNEL_ACCESS | MemFlags::IMMUTABLE) {
                MemFlags::empty()
            } else {
                MemFlags::READ_WRITE
            };
        }
        let (image, bytes) = layout(context, &limits, flags, format, desc, host_ptr.is_some())?;
        match &desc.parent {
            Some(parent) => Self::image_in(context, parent, image, bytes, flags, properties),
            None => Self::image_alone(context, image, bytes, flags, host_ptr, properties),
        }
    }

    /// An image with memory of its own.
    fn image_alone(
        context: &Arc<Context>,
        image: Image,
        bytes: u64,
        flags: MemFlags,
        host_ptr: Option<HostPtr>,
        properties: Option<Vec<u64>>,
    ) -> Result<Arc<MemObject>> {
        ensure!(
            image.image_type != ImageType::D1Buffer,
            InvalidImageDescriptor,
            "an image of a buffer without a buffer"
        );
        // With `CL_MEM_COPY_HOST_PTR` the pointer is only read here, and not kept.
        let used = host_ptr.filter(|_| flags.contains(MemFlags::USE_HOST_PTR));
        let fails = |e: Error| Error::new(Status::MemObjectAllocationFailure, e.why);
        let residency = match used {
            Some(pointer) => crate::memory::object::of_application(context, pointer, bytes, image.element_size()),
            None => Residency::new(context, bytes, flags).map_err(fails)?,
        };
        if let (None, Some(content)) = (used, host_ptr) {
            let first = context.space_of(&context.devices()[0]);
            let memory = residency.acquire(context, first, 0..bytes, AccessMode::Overwrite).map_err(fails)?;
            // All rows at once, with what lies between them; a device of its own memory takes long for each. What lies
            // behind the last row may not be the application's.
            let last = (image.slices() - 1) * image.slice_pitch + (image.height - 1) * image.row_pitch;
            let size = last + image.width * image.element_size();
            content.read(0, size, |bytes| memory.write(0, bytes))?;
        }
        let kind = MemKind::Image { image, parent: None };
        Ok(MemObject::of_kind(context, kind, bytes, flags, used, Arc::new(residency), properties))
    }

    /// An image of the bytes of a buffer or of another image.
    fn image_in(
        context: &Arc<Context>,
        parent: &Arc<MemObject>,
        image: Image,
        bytes: u64,
        flags: MemFlags,
        properties: Option<Vec<u64>>,
    ) -> Result<Arc<MemObject>> {
        ensure!(Arc::ptr_eq(parent.context(), context), InvalidContext, "the buffer is of another context");
        match &parent.kind {
            MemKind::Image { image: other, .. } => {
                let same = image.image_type == ImageType::D2
                    && other.image_type == ImageType::D2
                    && (image.width, image.height) == (other.width, other.height);
                ensure!(same, InvalidImageDescriptor, "an image of an image is a 2D image of the same size");
                let compatible = image.format.channel_type == other.format.channel_type
                    && image.format.channels() == other.format.channels();
                ensure!(compatible, InvalidImageFormatDescriptor, "the formats of the images do not fit together");
            }
            MemKind::Pipe(_) => bail!(InvalidImageDescriptor, "a pipe has no bytes for an image"),
            MemKind::Buffer | MemKind::SubBuffer { .. } => {
                ensure!(
                    bytes <= parent.size(),
                    InvalidImageSize,
                    "the image has {bytes} bytes, its buffer {}",
                    parent.size()
                );
                // Memory of our own is aligned to more than any element; an application's need not be.
                let address = parent.host_ptr().map_or(parent.origin(), |address| address as u64);
                ensure!(
                    address.is_multiple_of(image.element_size()),
                    InvalidImageFormatDescriptor,
                    "the buffer's memory is not aligned to the {} bytes of an element",
                    image.element_size()
                );
            }
        }
        let residency = parent.residency.clone();
        let kind = MemKind::Image { image, parent: Some(parent.clone()) };
        Ok(MemObject::of_kind(context, kind, bytes, flags, parent.host_ptr, residency, properties))
    }

    /// What it is as an image.
    pub fn as_image(&self) -> Option<&Image> {
        match &self.kind {
            MemKind::Image { image, .. } => Some(image),
            _ => None,
        }
    }

    /// What it is as an image, or the specification's error.
    pub fn image(&self) -> Result<&Image> {
        match self.as_image() {
            Some(image) => Ok(image),
            None => bail!(InvalidMemObject, "the memory object is {}, not an image", self.noun()),
        }
    }

    /// The address of its descriptor for kernels in a space.
    pub(crate) fn descriptor_address(&self, space: Space) -> Result<u64> {
        let Descriptor { bytes, memory, .. } = self.descriptor(space)?;
        if let Some(memory) = memory.get() {
            return Ok(memory.device_address());
        }
        let fresh = self.context().allocate(space, abi::SIZE as u64)?;
        fresh.write(0, bytes)?;
        // If another thread was faster, its memory counts: it has the same content.
        Ok(memory.get_or_init(|| fresh).device_address())
    }

    /// The bytes of its descriptor for kernels in a space.
    pub(crate) fn descriptor_bytes(&self, space: Space) -> Result<[u8; abi::SIZE]> {
        Ok(self.descriptor(space)?.bytes)
    }

    /// Whether kernels in a space can sample it by a texture.
    pub(crate) fn has_texture(&self, space: Space) -> bool {
        self.descriptor(space).is_ok_and(|descriptor| descriptor.texture.is_some())
    }

    /// What kernels in a space know of it. Made when it is first asked for.
    fn descriptor(&self, space: Space) -> Result<&Descriptor> {
        let image = self.image()?;
        let slot = &image.descriptors[usize::from(space.0)];
        if let Some(known) = slot.get() {
            return Ok(known);
        }
        // The copy need not be valid now: the descriptor has its address, and a launch makes the bytes valid.
        let elements = self.residency.copy(self.context(), space)?;
        let textures = self.context().allocator(space).and_then(|device| device.hal().as_textures());
        let texture = textures.zip(image.texture_rows(self.origin()));
        let texture = texture.and_then(|(textures, rows)| textures.texture(&**elements, &rows));
        let handle = texture.as_ref().map_or(0, |texture| texture.handle());
        let bytes = image.descriptor(elements.device_address() + self.origin(), handle);
        let fresh = Descriptor { bytes, memory: OnceLock::new(), texture };
        // If another thread was faster, its descriptor counts: it says the same.
        Ok(slot.get_or_init(|| fresh))
    }
}
