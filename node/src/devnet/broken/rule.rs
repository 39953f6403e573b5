//! The rules of full validation that a block can break, by name.

use std::fmt;
use std::str::FromStr;

/// Lists the rules once: name, and what is done to break each of them.
macro_rules! rules {
    ($($rule:ident $name:literal $breach:literal)*) => {
        /// A rule of full validation. To break one is to make a block that keeps every other rule: Merkle root, signatures
        /// and whatever else follows from the change are made right again.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $(#[doc = $breach] $rule,)*
        }

        impl Rule {
            /// Every rule, in the order in which a block is checked.
            pub const ALL: &'static [Self] = &[$(Self::$rule,)*];

            /// The name on the command line.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$rule => $name,)*
                }
            }

            /// What is done to break it.
            #[must_use]
            pub const fn breach(self) -> &'static str {
                match self {
                    $(Self::$rule => $breach,)*
                }
            }
        }
    };
}

rules! {
    // The block.
    TrailingBytes "trailing-bytes" "A byte stands behind the block's last transaction."
    MerkleRoot "merkle-root" "The header names another Merkle root, and is signed with it."
    WitnessSignatureForm "witness-signature-form" "The block's signature is the other one of its pair, with the S above the limit."
    WitnessSignatureKey "witness-signature-key" "No key can have made the block's signature."
    TransactionSignatureForm "transaction-signature-form" "A transaction's signature is the other one of its pair."
    TransactionSignatureKey "transaction-signature-key" "No key can have made a transaction's signature."
    Link "link" "The block names another block as the one before."
    TimeAfterParent "time-after-parent" "The block has the time of the block before."
    BlockSize "block-size" "The block has more than 2 MiB."
    VotedBlockSize "voted-block-size" "The block is larger than the scheduled witnesses want: 128 KiB."
    SlotBegun "slot-begun" "The block is made one second after the block before, in the same slot."
    WitnessExists "witness-exists" "The block is made by an account that is no witness."
    WitnessKey "witness-key" "A stranger's key signs the block."
    WitnessSwitchedOff "witness-switched-off" "The scheduled witness removed its key in the block before, and makes this one all the same."
    WitnessTurn "witness-turn" "Another witness makes the block, with its own key, in this witness's turn."
    WitnessVersion "witness-version" "The witness reports a version older than the last hardfork."

    // A transaction as a whole.
    NotExpired "not-expired" "A transaction expired when the block before was made."
    ExpiresInTime "expires-in-time" "A transaction expires one second later than allowed."
    NotRepeated "not-repeated" "The block has a transaction twice."
    NotInChain "not-in-chain" "The block has a transaction of an earlier block again."
    ReferenceBlock "reference-block" "A transaction refers to a block that this chain does not have."
    ReferenceNumber "reference-number" "A transaction gives one block's number with another block's id."
    HasOperations "has-operations" "A transaction has no operation."

    // Its signatures.
    SignedOnce "signed-once" "A key signs a transaction twice."
    PostingAuthority "posting-authority" "A stranger's key signs in place of the posting key."
    ActiveAuthority "active-authority" "A stranger's key signs in place of the active key."
    OwnerAuthority "owner-authority" "A stranger's key signs in place of the owner key."
    PostingIsNotActive "posting-is-not-active" "The posting key signs what needs the active one."
    ActiveIsNotOwner "active-is-not-owner" "The active key signs what needs the owner one."
    ActiveIsNotPosting "active-is-not-posting" "The active key signs what needs the posting one (since hardfork 28)."
    EnoughWeight "enough-weight" "One of two keys that are needed together signs."
    Signed "signed" "A transaction has no signature."
    SignedForThisChain "signed-for-this-chain" "A transaction is signed for another chain."
    Depth "depth" "An authority is satisfied three accounts deep, where two are looked at."
    ExplicitAuthority "explicit-authority" "A stranger's key signs in place of the witness's present signing key, which an operation names."
    BothOwnerKeys "both-owner-keys" "A recovery is signed by the new owner key alone, without the recent one."
    SignerExists "signer-exists" "An account that does not exist should have signed."
    NotMixed "not-mixed" "A transaction needs posting and active authority (before hardfork 28)."
    NothingUnused "nothing-unused" "A transaction has a signature that nothing needs (before hardfork 28)."

    // Operations by themselves.
    InUse "in-use" "An operation ended with an earlier hardfork: account_create_with_delegation."
    ValidInBlocks "valid-in-blocks" "An operation is never valid: reset_account."
    Name "name" "An account name has capital letters."
    NotEmpty "not-empty" "A comment has no body."
    TextLength "text-length" "A memo has 2048 bytes."
    ContentLength "content-length" "A custom_json has 8193 bytes."
    Utf8 "utf8" "A permlink is no UTF-8."
    Json "json" "A custom_json holds no JSON."
    Symbol "symbol" "A transfer is of vesting shares."
    FeeSymbol "fee-symbol" "A witness's creation fee has one of the malformed symbols of history."
    AmountPositive "amount-positive" "A transfer has a negative amount."
    WeightRange "weight-range" "A vote weighs more than 100 %."
    BlockSizeRange "block-size-range" "A witness wants blocks of less than 64 KiB."
    SomethingMoved "something-moved" "A claim of rewards claims nothing."
    Price "price" "A price is between an asset and itself."
    Relation "relation" "An account is its own proxy."
    Sorted "sorted" "Beneficiaries are not sorted."
    SharesSum "shares-sum" "Beneficiaries get more than 100 % together."
    MemberCount "member-count" "An authority has 41 members."
    SignerCount "signer-count" "A custom operation needs 41 accounts."
    MemberName "member-name" "A member of an authority has a malformed name."
    Possible "possible" "The authority of a recovery request cannot be satisfied."
    NotOpen "not-open" "A recovery sets an authority that needs no signature."
    Property "property" "A witness's property has too few bytes."
    NoExtensions "no-extensions" "A claim of an account has an extension."

    // Operations and state.
    AccountExists "account-exists" "A transfer goes to an account that does not exist."
    MemberExists "member-exists" "A member of an authority does not exist."
    AccountIsNew "account-is-new" "An account is created that exists."
    TempIsFixed "temp-is-fixed" "The account temp is changed."
    OwnerChangeRate "owner-change-rate" "An owner authority is changed a third time within the limit."
    RootPostRate "root-post-rate" "An author writes two root posts within five minutes."
    ReplyRate "reply-rate" "An author replies twice within three seconds."
    EditRate "edit-rate" "An author edits a post within three seconds."
    RecoveryRate "recovery-rate" "An account is recovered twice within the limit."
    ClaimedAccount "claimed-account" "A claimed account is created where none was claimed."
    RecoveryAccount "recovery-account" "Recovery is asked for by another account than the recovery account."
    RecoveryIsNotOpen "recovery-is-not-open" "A new recovery request wants an authority with threshold 0."
    RecoverySize "recovery-size" "A new recovery request wants an authority with 41 members."
    RecoveryRequested "recovery-requested" "An account is recovered that nobody asked for."
    RecoveryAsRequested "recovery-as-requested" "An account is recovered with another authority than requested."
    RecentOwner "recent-owner" "The recent authority of a recovery was never the account's."
    DeclinesOnce "declines-once" "Voting rights are declined twice."
    Declining "declining" "Declining of voting rights is canceled where none is pending."
    IsWitness "is-witness" "A vote is for an account that is no witness."
    PublisherIsWitness "publisher-is-witness" "A price is published by an account that is no witness."
    PresentSigningKey "present-signing-key" "A witness's properties are set with a key that is not its signing key."
    NoProxySet "no-proxy-set" "An account that has a proxy votes for a witness."
    VotesOnce "votes-once" "An account votes for a witness twice."
    HasVoted "has-voted" "A vote is withdrawn that was not made."
    VoteCount "vote-count" "An account votes for 31 witnesses."
    ProxyChanges "proxy-changes" "A proxy is set that is set already."
    HasProxy "has-proxy" "A proxy is cleared where none is set."
    ProxyLoop "proxy-loop" "Two accounts are each other's proxies."
    ProxyChain "proxy-chain" "A chain of proxies has five accounts."
    PostExists "post-exists" "A vote is for a post that does not exist."
    ParentExists "parent-exists" "A reply is to a post that does not exist."
    OptionsPostExists "options-post-exists" "Options are set for a post that does not exist."
    Permlink "permlink" "The permlink of a new post has capital letters."
    ParentKept "parent-kept" "An edit names another parent."
    NoReplies "no-replies" "A post that has replies is deleted."
    ProposalPost "proposal-post" "A proposal refers to a post that does not exist."
    ProposalExists "proposal-exists" "A vote is for a proposal that does not exist (since hardfork 28)."
    ProposalCreator "proposal-creator" "A proposal is changed by another account than its creator."
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A rule name that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no rule {name:?}; rules: {}", all_names())]
pub struct UnknownRule {
    /// The name as it was given.
    pub name: String,
}

/// All names, for messages.
fn all_names() -> String {
    let names: Vec<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
    names.join(", ")
}

impl FromStr for Rule {
    type Err = UnknownRule;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.iter().find(|rule| rule.name() == name);
        found.copied().ok_or_else(|| UnknownRule {
            name: name.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::Rule;

    #[test]
    fn names_are_unique_and_read_back() {
        let names: HashSet<&str> = Rule::ALL.iter().map(|rule| rule.name()).collect();
        assert_eq!(names.len(), Rule::ALL.len());
        for rule in Rule::ALL {
            assert_eq!(rule.name().parse(), Ok(*rule));
            assert!(rule.breach().ends_with('.') || rule.breach().ends_with(')'));
        }
        let unknown = "nonsense".parse::<Rule>().map_err(|error| error.to_string());
        assert!(unknown.is_err_and(|text| text.contains("trailing-bytes, merkle-root")));
    }
}
