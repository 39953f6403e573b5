//! Packing of integers, booleans and byte arrays.

use super::{Pack, Packer, Reader, Unpack, UnpackError, UnpackErrorKind};

macro_rules! little_endian {
    ($($integer:ty),*) => {$(
        impl<'a> Unpack<'a> for $integer {
            const MIN_SIZE: usize = size_of::<$integer>();

            fn unpack(reader: &mut Reader<'a>) -> Result<Self, UnpackError> {
                reader.array().map(Self::from_le_bytes)
            }
        }

        impl Pack for $integer {
            fn pack(&self, packer: &mut Packer) {
                packer.raw(&self.to_le_bytes());
            }
        }
    )*};
}

little_endian!(u8, u16, u32, u64, i16, i64);

impl<'a> Unpack<'a> for bool {
    const MIN_SIZE: usize = 1;

    fn unpack(reader: &mut Reader<'a>) -> Result<Self, UnpackError> {
        match reader.peek::<1>() {
            Some(&[found]) if found > 1 => Err(reader.error(UnpackErrorKind::InvalidBool { found })),
            _ => reader.array().map(|[byte]| byte == 1),
        }
    }
}

impl Pack for bool {
    fn pack(&self, packer: &mut Packer) {
        packer.raw(&[u8::from(*self)]);
    }
}

impl<'a, const N: usize> Unpack<'a> for [u8; N] {
    const MIN_SIZE: usize = N;

    fn unpack(reader: &mut Reader<'a>) -> Result<Self, UnpackError> {
        reader.array()
    }
}

impl<const N: usize> Pack for [u8; N] {
    fn pack(&self, packer: &mut Packer) {
        packer.raw(self);
    }
}
