//! Larger reads from a socket: libp2p's Noise asks the system for 8 KiB at a time.

use futures::{AsyncRead, io::BufReader};
use libp2p::core::upgrade::{InboundConnectionUpgrade, OutboundConnectionUpgrade, UpgradeInfo};

/// Bytes that are asked for at once: one Noise message with its length. Of each connection.
const BUFFER: usize = (64 << 10) + 2;

/// A security upgrade whose socket is read ahead.
#[derive(Clone)]
pub(crate) struct ReadAhead<U>(pub(crate) U);

impl<U: UpgradeInfo> UpgradeInfo for ReadAhead<U> {
    type Info = U::Info;
    type InfoIter = U::InfoIter;

    fn protocol_info(&self) -> Self::InfoIter {
        self.0.protocol_info()
    }
}

impl<T: AsyncRead, U: InboundConnectionUpgrade<BufReader<T>>> InboundConnectionUpgrade<T> for ReadAhead<U> {
    type Output = U::Output;
    type Error = U::Error;
    type Future = U::Future;

    fn upgrade_inbound(self, socket: T, info: Self::Info) -> Self::Future {
        self.0
            .upgrade_inbound(BufReader::with_capacity(BUFFER, socket), info)
    }
}

impl<T: AsyncRead, U: OutboundConnectionUpgrade<BufReader<T>>> OutboundConnectionUpgrade<T> for ReadAhead<U> {
    type Output = U::Output;
    type Error = U::Error;
    type Future = U::Future;

    fn upgrade_outbound(self, socket: T, info: Self::Info) -> Self::Future {
        self.0
            .upgrade_outbound(BufReader::with_capacity(BUFFER, socket), info)
    }
}
