//! The parameters of the check, by hardfork.

use cairn_chain::ChainKind;

/// Levels that the walk may go below a required authority.
const DEPTH: u32 = 2;

/// Members of one authority that are looked at, since hardfork 20.
const MEMBERS: u32 = 40;

/// On mirrornet the converter adds a second authority to every account, so one member more is allowed there.
const MEMBERS_MIRRORNET: u32 = 41;

/// Accounts that the walk may visit, since hardfork 20.
const ACCOUNTS: u32 = 125;

/// What the check allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleSet {
    /// Levels below the required authority that members are followed to. 2 at all times.
    pub depth: u32,
    /// Members of one authority that are looked at; 0: all of them.
    pub members: u32,
    /// Accounts that may be visited; 0: no limit. Per required authority, or for the whole transaction with
    /// [`Self::strict_and_mixed`].
    pub accounts: u32,
    /// Each level is satisfied only by itself, and levels may be mixed in one transaction.
    pub strict_and_mixed: bool,
    /// Signatures that nothing needs are allowed.
    pub redundant_signatures: bool,
}

impl RuleSet {
    /// The rules in force when hardforks up to `hardfork` have been applied.
    #[must_use]
    pub const fn at(hardfork: u8, kind: ChainKind) -> Self {
        let limited = hardfork >= 20;
        let since_28 = hardfork >= 28;
        let members = if matches!(kind, ChainKind::Mirrornet) {
            MEMBERS_MIRRORNET
        } else {
            MEMBERS
        };
        Self {
            depth: DEPTH,
            members: if limited { members } else { 0 },
            accounts: if limited { ACCOUNTS } else { 0 },
            strict_and_mixed: since_28,
            redundant_signatures: since_28,
        }
    }
}
