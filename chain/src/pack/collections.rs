//! Packing of lists, pairs and optional values.
//!
//! Sets and maps are lists here. hived writes them sorted and without duplicates but reads them in any order, and the
//! stored bytes stay as they came; a reader that sorted them would not pack to the same bytes.

use super::{Pack, Packer, Reader, Unpack, UnpackError};

impl<'a, T: Unpack<'a>> Unpack<'a> for Vec<T> {
    const MIN_SIZE: usize = 1;

    fn unpack(reader: &mut Reader<'a>) -> Result<Self, UnpackError> {
        reader.list()
    }
}

impl<T: Pack> Pack for Vec<T> {
    fn pack(&self, packer: &mut Packer) {
        packer.count(self.len());
        for element in self {
            element.pack(packer);
        }
    }
}

impl<'a, A: Unpack<'a>, B: Unpack<'a>> Unpack<'a> for (A, B) {
    const MIN_SIZE: usize = A::MIN_SIZE + B::MIN_SIZE;

    fn unpack(reader: &mut Reader<'a>) -> Result<Self, UnpackError> {
        Ok((A::unpack(reader)?, B::unpack(reader)?))
    }
}

impl<A: Pack, B: Pack> Pack for (A, B) {
    fn pack(&self, packer: &mut Packer) {
        self.0.pack(packer);
        self.1.pack(packer);
    }
}

impl<'a, T: Unpack<'a>> Unpack<'a> for Option<T> {
    const MIN_SIZE: usize = 1;

    fn unpack(reader: &mut Reader<'a>) -> Result<Self, UnpackError> {
        bool::unpack(reader)?.then(|| T::unpack(reader)).transpose()
    }
}

impl<T: Pack> Pack for Option<T> {
    fn pack(&self, packer: &mut Packer) {
        self.is_some().pack(packer);
        if let Some(value) = self {
            value.pack(packer);
        }
    }
}
