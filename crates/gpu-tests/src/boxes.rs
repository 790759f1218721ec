//! Boxes of bytes, and memory that is shared with the host, against arrays.

use crate::data::{contents, differs, noise};
use crate::report::Outcome;
use cloom_hal::{Device, Rect};
use cloom_hal_cuda::CudaDevice;

/// The bytes of a box, row by row.
fn gathered(bytes: &[u8], rect: &Rect) -> Vec<u8> {
    rect.rows().flat_map(|row| &bytes[row as usize..][..rect.region[0] as usize]).copied().collect()
}

/// Writes bytes into a box, row by row.
fn scatter(bytes: &mut [u8], rect: &Rect, from: &[u8]) {
    let width = rect.region[0] as usize;
    rect.rows().zip(from.chunks(width)).for_each(|(row, part)| bytes[row as usize..][..width].copy_from_slice(part));
}

/// Reads, writes, copies and fills.
pub fn boxes(device: &CudaDevice) -> Outcome {
    let rects = [
        Rect { start: 3, row_pitch: 100, slice_pitch: 3000, region: [17, 20, 5] },
        Rect { start: 0, row_pitch: 64, slice_pitch: 64, region: [16, 1, 90] },
        Rect { start: 8, row_pitch: 4096, slice_pitch: 1 << 20, region: [4000, 200, 7] },
        Rect { start: 77, row_pitch: 0, slice_pitch: 0, region: [(5 << 20) + 1, 1, 1] },
        Rect { start: 1, row_pitch: 12345, slice_pitch: 0, region: [12345, 300, 1] },
    ];
    for from in rects {
        let size = from.end() + 100;
        let data = noise(size as usize);
        let memory = device.allocate(size)?;
        memory.write(0, &data)?;
        let mut read = vec![0; from.bytes() as usize];
        memory.read_rect(&from, &mut read)?;
        differs("read of a box", &read, &gathered(&data, &from))?;
        let (mut expected, fresh) = (data.clone(), noise(from.bytes() as usize + 1)[1..].to_vec());
        scatter(&mut expected, &from, &fresh);
        memory.write_rect(&from, &fresh)?;
        differs("write of a box", &contents(&*memory)?, &expected)?;
        // To other pitches, in other memory.
        let to = Rect { start: 5, row_pitch: from.row_pitch + 3, slice_pitch: from.slice_pitch * 2 + 7777, ..from };
        let to = if from.region[2] > 1 {
            Rect { slice_pitch: to.slice_pitch.max(to.row_pitch * from.region[1]), ..to }
        } else {
            to
        };
        let other = device.allocate(to.end() + 9)?;
        // What lies between the rows must stay as it was, so that the whole of the memory is compared.
        let mut moved = noise(to.end() as usize + 9);
        other.write(0, &moved)?;
        scatter(&mut moved, &to, &gathered(&expected, &from));
        other.copy_rect(&to, &*memory, &from)?;
        differs("copy of a box", &contents(&*other)?, &moved)?;
        for pattern in [1u64, 2, 4, 8, 16] {
            let rect = Rect { region: [from.region[0] / pattern * pattern, from.region[1], from.region[2]], ..from };
            let bytes = noise(pattern as usize);
            scatter(&mut expected, &rect, &bytes.repeat((rect.bytes() / pattern) as usize));
            memory.fill_rect(&rect, &bytes)?;
            differs(&format!("fill of a box, pattern of {pattern}"), &contents(&*memory)?, &expected)?;
        }
    }
    Ok(format!("{} boxes", rects.len()))
}

/// What the host and the device write under one address.
pub fn shared(device: &CudaDevice) -> Outcome {
    let Some(svm) = device.as_svm() else { return Ok("none on this GPU".into()) };
    let size = (3 << 20) + 5;
    let memory = svm.allocate(size)?;
    if memory.host_address() != Some(memory.device_address() as usize) {
        return Err("the host has another address".into());
    }
    let data = noise(size as usize);
    memory.write(0, &data)?;
    let other = device.allocate(size)?;
    other.copy_from(0, &*memory, 0, size)?;
    differs("copy to the device", &contents(&*other)?, &data)?;
    other.fill(0, size, &[7])?;
    memory.copy_from(0, &*other, 0, size)?;
    differs("copy from the device", &contents(&*memory)?, &vec![7; size as usize])?;
    Ok(format!("{:?}", svm.kind()))
}
