//! Planned operations as bytes.

use cairn_chain::operations as op;
use cairn_chain::{
    AccountName, Asset, Authority, Beneficiary, Bytes, CommentOption, CommentPayoutBeneficiaries, CustomId,
    FeeAsset, Operation, Pack, Packer, PublicKey, Text,
};

use super::super::accounts::Held;
use super::super::keys::{KeyName, Keys, Role};
use super::super::names::account as name;
use super::super::plan::{AuthorityChanges, Planned, Post};
use super::super::rng::Rng;
use super::{authority, text};

/// Writes the operations of one transaction.
pub(super) struct Writer<'p> {
    pub(super) keys: Keys,
    /// Where the transaction's texts come from.
    pub(super) rng: Rng,
    pub(super) packer: &'p mut Packer,
}

impl Writer<'_> {
    /// Appends one operation.
    pub(super) fn write(&mut self, planned: Planned) {
        match planned {
            Planned::AccountCreate {
                creator,
                account,
                generation,
            } => self.account_create(creator, account, generation),
            Planned::AccountUpdate {
                account,
                changes,
                memo,
                profile,
            } => {
                self.account_update(account, changes, memo, profile);
            }
            Planned::AccountUpdate2 {
                account,
                changes,
                memo,
                profile,
                posting_profile,
            } => {
                self.account_update2(account, changes, memo, [profile, posting_profile]);
            }
            Planned::ChangeRecoveryAccount { account, to } => {
                self.put(&Operation::ChangeRecoveryAccount(op::ChangeRecoveryAccount {
                    account_to_recover: name(account),
                    new_recovery_account: name(to),
                    extensions: Vec::new(),
                }));
            }
            Planned::Comment { post, parent, edit } => self.comment(post, parent, edit),
            Planned::CommentOptions { post, beneficiary } => self.comment_options(post, beneficiary),
            Planned::Custom { account } => {
                let data = self.rng.next().to_le_bytes();
                self.put(&Operation::Custom(op::Custom {
                    required_auths: vec![name(account)],
                    id: 777,
                    data: Bytes(&data),
                }));
            }
            Planned::CustomJson { account, active } => {
                let (id, json) = match active {
                    true => text::active_json(&mut self.rng),
                    false => text::posting_json(account, &mut self.rng),
                };
                self.custom_json(account, active, id, &json);
            }
            Planned::LargeJson { account } => {
                let json = text::large_json(&mut self.rng);
                self.custom_json(account, true, "bulk", &json);
            }
            Planned::FeedPublish { witness } => {
                let base = Asset::hbd(i64::from(self.rng.between(200, 400)));
                let exchange_rate = op::Price {
                    base,
                    quote: Asset::hive(1000),
                };
                self.put(&Operation::FeedPublish(op::FeedPublish {
                    publisher: name(witness),
                    exchange_rate,
                }));
            }
            Planned::Proxy { account, to } => {
                let proxy = to.map_or(AccountName::EMPTY, name);
                self.put(&Operation::AccountWitnessProxy(op::AccountWitnessProxy {
                    account: name(account),
                    proxy,
                }));
            }
            Planned::RecoverAccount { account, new, recent } => {
                self.put(&Operation::RecoverAccount(op::RecoverAccount {
                    account_to_recover: name(account),
                    new_owner_authority: self.owner(account, new),
                    recent_owner_authority: self.owner(account, recent),
                    extensions: Vec::new(),
                }));
            }
            Planned::RequestRecovery { by, account, new } => {
                self.put(&Operation::RequestAccountRecovery(op::RequestAccountRecovery {
                    recovery_account: name(by),
                    account_to_recover: name(account),
                    new_owner_authority: self.owner(account, new),
                    extensions: Vec::new(),
                }));
            }
            Planned::TransferTbd { from, to, amount } => self.transfer(from, to, Asset::hbd(amount)),
            Planned::TransferTests { from, to, amount } => self.transfer(from, to, Asset::hive(amount)),
            Planned::TransferToVesting { from, to, amount } => {
                self.put(&Operation::TransferToVesting(op::TransferToVesting {
                    from: name(from),
                    to: name(to),
                    amount: Asset::hive(amount),
                }));
            }
            Planned::Vote { voter, post, weight } => {
                let permlink = text::permlink(post);
                self.put(&Operation::Vote(op::Vote {
                    voter: name(voter),
                    author: name(post.author),
                    permlink: Text::from(permlink.as_str()),
                    weight,
                }));
            }
            Planned::WitnessSetProperties {
                witness,
                key,
                new_key,
            } => {
                self.witness_set_properties(witness, key, new_key);
            }
            Planned::WitnessUpdate { witness, key } => self.witness_update(witness, key, 131_072),
            Planned::WantLargeBlocks { witness, key } => {
                self.witness_update(witness, key, cairn_chain::MAX_BLOCK_SIZE as u32);
            }
        }
    }

    fn put(&mut self, operation: &Operation<'_>) {
        operation.pack(self.packer);
    }

    fn public(&self, account: u32, role: Role, generation: u32) -> PublicKey {
        self.keys.public(KeyName::new(account, role, generation))
    }

    fn owner(&self, account: u32, generation: u32) -> Authority {
        Authority::of_key(self.public(account, Role::Owner, generation))
    }

    fn account_create(&mut self, creator: u32, account: u32, generation: u32) {
        let metadata = if self.rng.percent(50) {
            text::profile(account, &mut self.rng)
        } else {
            String::new()
        };
        self.put(&Operation::AccountCreate(op::AccountCreate {
            // What the witnesses of a testnet ask.
            fee: Asset::hive(0),
            creator: name(creator),
            new_account_name: name(account),
            owner: self.owner(account, generation),
            active: authority::held(self.keys, account, Role::Active, Held::one_key(generation)),
            posting: authority::held(self.keys, account, Role::Posting, Held::one_key(generation)),
            memo_key: self.public(account, Role::Memo, generation),
            json_metadata: Text::from(metadata.as_str()),
        }));
    }

    fn account_update(&mut self, account: u32, changes: AuthorityChanges, memo: u32, profile: bool) {
        let metadata = self.profile(account, profile);
        self.put(&Operation::AccountUpdate(op::AccountUpdate {
            account: name(account),
            owner: authority::change(self.keys, account, Role::Owner, changes.owner),
            active: authority::change(self.keys, account, Role::Active, changes.active),
            posting: authority::change(self.keys, account, Role::Posting, changes.posting),
            memo_key: self.public(account, Role::Memo, memo),
            json_metadata: Text::from(metadata.as_str()),
        }));
    }

    /// `profiles` says whether json_metadata and posting_json_metadata are given.
    fn account_update2(
        &mut self,
        account: u32,
        changes: AuthorityChanges,
        memo: Option<u32>,
        profiles: [bool; 2],
    ) {
        let [metadata, posting_metadata] = profiles.map(|given| self.profile(account, given));
        self.put(&Operation::AccountUpdate2(op::AccountUpdate2 {
            account: name(account),
            owner: authority::change(self.keys, account, Role::Owner, changes.owner),
            active: authority::change(self.keys, account, Role::Active, changes.active),
            posting: authority::change(self.keys, account, Role::Posting, changes.posting),
            memo_key: memo.map(|generation| self.public(account, Role::Memo, generation)),
            json_metadata: Text::from(metadata.as_str()),
            posting_json_metadata: Text::from(posting_metadata.as_str()),
            extensions: Vec::new(),
        }));
    }

    fn profile(&mut self, account: u32, given: bool) -> String {
        if given {
            text::profile(account, &mut self.rng)
        } else {
            String::new()
        }
    }

    fn comment(&mut self, post: Post, parent: Option<Post>, edit: bool) {
        let rng = &mut self.rng;
        let parent_permlink = parent.map_or_else(|| text::category(post), text::permlink);
        let permlink = text::permlink(post);
        let (title, mut body, metadata) = match parent {
            None => (text::title(rng), text::post_body(rng), text::post_metadata(rng)),
            Some(_) => (String::new(), text::reply_body(rng), text::reply_metadata(rng)),
        };
        if edit {
            body.push_str("\n\nEdited.");
        }
        self.put(&Operation::Comment(op::Comment {
            parent_author: parent.map_or(AccountName::EMPTY, |parent| name(parent.author)),
            parent_permlink: Text::from(parent_permlink.as_str()),
            author: name(post.author),
            permlink: Text::from(permlink.as_str()),
            title: Text::from(title.as_str()),
            body: Text::from(body.as_str()),
            json_metadata: Text::from(metadata.as_str()),
        }));
    }

    fn comment_options(&mut self, post: Post, beneficiary: Option<u32>) {
        let permlink = text::permlink(post);
        let beneficiaries = beneficiary.map(|account| {
            let weight = self.rng.between(1, 50) as u16 * 100;
            CommentOption::Beneficiaries(CommentPayoutBeneficiaries {
                beneficiaries: vec![Beneficiary {
                    account: name(account),
                    weight,
                }],
            })
        });
        let percent_hbd = if self.rng.percent(50) { 10_000 } else { 0 };
        self.put(&Operation::CommentOptions(op::CommentOptions {
            author: name(post.author),
            permlink: Text::from(permlink.as_str()),
            max_accepted_payout: Asset::hbd(1_000_000_000),
            percent_hbd,
            allow_votes: true,
            allow_curation_rewards: true,
            extensions: beneficiaries.into_iter().collect(),
        }));
    }

    fn custom_json(&mut self, account: u32, active: bool, id: &str, json: &str) {
        let mut operation = op::CustomJson {
            required_auths: Vec::new(),
            required_posting_auths: Vec::new(),
            id: CustomId::from(id),
            json: Text::from(json),
        };
        let signers = if active {
            &mut operation.required_auths
        } else {
            &mut operation.required_posting_auths
        };
        signers.push(name(account));
        self.put(&Operation::CustomJson(operation));
    }

    fn transfer(&mut self, from: u32, to: u32, amount: Asset) {
        let memo = text::memo(&mut self.rng);
        let operation = op::Transfer {
            from: name(from),
            to: name(to),
            amount,
            memo: Text::from(memo.as_str()),
        };
        self.put(&Operation::Transfer(operation));
    }

    fn witness_update(&mut self, witness: u32, key: u32, maximum_block_size: u32) {
        let url = text::url(&mut self.rng);
        let hbd_interest_rate = self.rng.between(0, 20) as u16 * 100;
        self.put(&Operation::WitnessUpdate(op::WitnessUpdate {
            owner: name(witness),
            url: Text::from(url.as_str()),
            block_signing_key: self.public(witness, Role::Block, key),
            props: op::ChainProperties {
                account_creation_fee: FeeAsset::hive(0),
                maximum_block_size,
                hbd_interest_rate,
            },
            fee: Asset::hive(0),
        }));
    }

    fn witness_set_properties(&mut self, witness: u32, key: u32, new_key: u32) {
        // A value is packed by itself. None of these has an asset in it, so the form of assets does not
        // matter.
        let (packing, symbols) = (self.packer.packing(), self.packer.symbols());
        let present = self.public(witness, Role::Block, key);
        let interest = self.rng.between(0, 20) as u16 * 100;
        let url = text::url(&mut self.rng);
        let url = Packer::pack_one(&Text::from(url.as_str()), packing, symbols);
        let new = self.public(witness, Role::Block, new_key);
        let mut props = vec![
            (Text::from("hbd_interest_rate"), interest.to_le_bytes().to_vec()),
            (Text::from("key"), present.as_bytes().to_vec()),
        ];
        if new_key != key {
            props.push((Text::from("new_signing_key"), new.as_bytes().to_vec()));
        }
        props.push((Text::from("url"), url));
        self.put(&Operation::WitnessSetProperties(op::WitnessSetProperties {
            owner: name(witness),
            props: props
                .iter()
                .map(|(property, value)| (*property, Bytes(value)))
                .collect(),
            extensions: Vec::new(),
        }));
    }
}
