use super::Variant;
use crate::fsproxy::MAX_FRAME;

#[test]
fn f060_x27_the_first_byte_tells() {
    for byte in 0..=u8::MAX {
        let expected = match byte {
            0..=31 => Variant::Framed,
            b'A'..=b'Z' => Variant::Legacy,
            b'{' => Variant::UnframedJson,
            _ => Variant::Unknown,
        };
        assert_eq!(Variant::detect(byte), expected, "{byte}");
    }
}

#[test]
fn x27_every_frame_within_the_limit_is_framed() {
    for length in [0, 1, 4096, MAX_FRAME, 16 * MAX_FRAME] {
        let prefix = u32::try_from(length).unwrap().to_be_bytes();
        assert_eq!(Variant::detect(prefix[0]), Variant::Framed, "{length}");
    }
}
