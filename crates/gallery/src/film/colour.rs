//! Colours of films: the one place that says which matrix and which ranges Y'CbCr has here.
//!
//! YUV4MPEG2 has a word for the range (`XCOLORRANGE=LIMITED` or `FULL`) and none for the matrix, and a decoder's pipe
//! says nothing of it either. So both ends use the same: ITU-R BT.709, what players and ffmpeg take untagged films of
//! HD for. A film says its range; one that does not is limited.

/// The share of red in luma.
pub(crate) const KR: f64 = 0.2126;
/// The share of blue; green has the rest.
pub(crate) const KB: f64 = 0.0722;

/// What there is to say to ffmpeg, so that it converts to the same and marks its films so.
pub(super) const MARKS: [&str; 8] =
    ["-colorspace", "bt709", "-color_primaries", "bt709", "-color_trc", "bt709", "-color_range", "tv"];
/// The filter that converts.
pub(super) const FILTER: &str = "scale=out_color_matrix=bt709:out_range=tv";

/// From Y'CbCr in bytes to R'G'B' from 0 to 1: `luma * (y - black)`, and to it the parts of the centred differences.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Matrix {
    pub(crate) black: f32,
    pub(crate) luma: f32,
    /// Of Cr in red, of Cb and of Cr in green, of Cb in blue.
    pub(crate) parts: [f32; 4],
}

/// The matrix of a range.
pub(crate) fn matrix(full: bool) -> Matrix {
    let (black, luma, chroma) = if full { (0.0, 255.0, 255.0) } else { (16.0, 219.0, 224.0) };
    let kg = 1.0 - KR - KB;
    let (red, blue) = (2.0 * (1.0 - KR) / chroma, 2.0 * (1.0 - KB) / chroma);
    Matrix { black, luma: (1.0 / luma) as f32, parts: [red, -blue * KB / kg, -red * KR / kg, blue].map(|v| v as f32) }
}

/// Luma and the two differences of a pixel.
pub(crate) fn ycc(pixel: u32, full: bool) -> [u8; 3] {
    let [r, g, b, _] = pixel.to_le_bytes().map(f64::from);
    let y = KR * r + (1.0 - KR - KB) * g + KB * b;
    let (cb, cr) = ((b - y) / (2.0 * (1.0 - KB)), (r - y) / (2.0 * (1.0 - KR)));
    let [black, luma, chroma] = if full { [0.0, 255.0, 255.0] } else { [16.0, 219.0, 224.0] };
    // A cast stays within a byte's range.
    [black + y * luma / 255.0, 128.0 + cb * chroma / 255.0, 128.0 + cr * chroma / 255.0].map(|v| v.round() as u8)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::rgb;

    #[test]
    fn white_black_and_red_have_the_values_of_the_standard() {
        assert_eq!(ycc(rgb(255, 255, 255), false), [235, 128, 128]);
        assert_eq!(ycc(rgb(0, 0, 0), false), [16, 128, 128]);
        assert_eq!(ycc(rgb(255, 0, 0), false), [63, 102, 240]);
        assert_eq!(ycc(rgb(0, 0, 255), true), [18, 255, 116]);
    }

    #[test]
    fn the_matrix_leads_back() {
        for full in [false, true] {
            let m = matrix(full);
            for pixel in [rgb(255, 0, 0), rgb(0, 255, 0), rgb(10, 100, 200), rgb(255, 255, 255)] {
                let [y, cb, cr] = ycc(pixel, full).map(f32::from);
                let (y, cb, cr) = (m.luma * (y - m.black), cb - 128.0, cr - 128.0);
                let back = [y + m.parts[0] * cr, y + m.parts[1] * cb + m.parts[2] * cr, y + m.parts[3] * cb];
                let same = |k: usize| (255.0 * back[k] - f32::from(pixel.to_le_bytes()[k])).abs() < 2.0;
                assert!((0..3).all(same), "{back:?}, expected {pixel:08x}");
            }
        }
    }
}
