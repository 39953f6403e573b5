//! Why an answer ended, and why a connection was closed: numbered, open for later numbers.

use std::fmt;

macro_rules! reasons {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $code:literal: $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$doc])* $variant,)*
            /// A number that this version does not know.
            Unknown(u8),
            /// The message held no reason at all.
            Unreadable,
        }

        impl $name {
            /// All reasons that have a number here.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// The number on the wire; 255 for [`Self::Unreadable`], which nobody should send.
            #[must_use]
            pub fn code(self) -> u8 {
                match self {
                    $(Self::$variant => $code,)*
                    Self::Unknown(code) => code,
                    Self::Unreadable => u8::MAX,
                }
            }

            /// The reason with this number.
            #[must_use]
            pub fn from_code(code: u8) -> Self {
                match code {
                    $($code => Self::$variant,)*
                    _ => Self::Unknown(code),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$variant => f.write_str($text),)*
                    Self::Unknown(code) => write!(f, "a reason that this version does not know ({code})"),
                    Self::Unreadable => f.write_str("no readable reason"),
                }
            }
        }
    };
}

reasons! {
    /// Why the answer to a request ended.
    EndReason {
        /// Everything that was asked for has been sent.
        Done = 0: "done",
        /// The byte limit of the request or of the server is reached.
        LimitReached = 1: "limit reached",
        /// The server does not have the next block: it is above its head or below its first one.
        NoSuchBlock = 2: "no such block",
        /// Too many answers are under way; ask again later, or elsewhere.
        Busy = 3: "busy",
        /// The server is shutting down.
        Closing = 4: "closing",
        /// The server could not read its own block.
        ReadFailed = 5: "the peer could not read the block",
        /// The request could not be understood.
        BadRequest = 6: "bad request",
        /// No hello has been exchanged on this connection yet.
        HelloFirst = 7: "hello comes first",
    }
}

reasons! {
    /// Why a peer closes the connection.
    GoodbyeReason {
        /// The sender is shutting down.
        Closing = 0: "shutting down",
        /// The chain ids differ.
        WrongChain = 1: "another chain",
        /// Same chain id, but another block 1.
        WrongFirstBlock = 2: "another first block",
        /// The receiver is banned.
        Banned = 3: "banned",
        /// The receiver broke the protocol.
        Misbehaved = 4: "protocol broken",
        /// The sender's limits on connections leave no room.
        TooManyPeers = 5: "too many peers",
        /// The sender does not need the connection any more.
        Unneeded = 6: "not needed",
    }
}
