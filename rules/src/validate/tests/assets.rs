//! Transfers, savings, vesting, escrow, market.

use cairn_chain::operations::*;
use cairn_chain::{Asset, AssetSymbol, Operation, Text, Time};

use super::*;

/// A user token, plain and in its vesting form. No operation can move one, but some let it pass so far.
const TOKEN: AssetSymbol = AssetSymbol::Other(10_000_000 << 5 | 0x10 | 3);
const VESTING_TOKEN: AssetSymbol = AssetSymbol::Other(10_000_001 << 5 | 0x10 | 3);

#[test]
fn transfers() {
    let transfer = |change: fn(&mut Transfer<'static>)| {
        let mut op = Transfer {
            from: name("alice"),
            to: name("bob"),
            amount: Asset::hive(1),
            memo: Text::from(""),
        };
        change(&mut op);
        Operation::Transfer(op)
    };
    accepted(transfer(|_| {}));
    accepted(transfer(|op| op.amount = Asset::hbd(1)));
    accepted(transfer(|op| op.amount = Asset::new(1, TOKEN)));
    accepted(transfer(|op| op.to = op.from));
    refused(transfer(|op| op.from = name("No")), "from");
    refused(transfer(|op| op.to = name("")), "to");
    refused(transfer(|op| op.amount = Asset::hive(0)), "amount: 1 to");
    refused(transfer(|op| op.amount = Asset::hive(-1)), "amount: 1 to");
    refused(transfer(|op| op.amount = Asset::vests(1)), "amount: HIVE or HBD");
    refused(
        transfer(|op| op.amount = Asset::new(1, VESTING_TOKEN)),
        "amount: HIVE or HBD",
    );
    accepted(transfer(|op| op.memo = Text(letters(2_047))));
    refused(
        transfer(|op| op.memo = Text(letters(2_048))),
        "memo: at most 2047",
    );
    refused(transfer(|op| op.memo = Text(b"\xff")), "memo: UTF-8");
}

#[test]
fn savings() {
    let to = |change: fn(&mut TransferToSavings<'static>)| {
        let mut op = TransferToSavings {
            from: name("alice"),
            to: name("alice"),
            amount: Asset::hbd(1),
            memo: Text::from(""),
        };
        change(&mut op);
        Operation::TransferToSavings(op)
    };
    accepted(to(|_| {}));
    refused(to(|op| op.from = name("No")), "from");
    refused(to(|op| op.to = name("")), "to");
    refused(to(|op| op.amount = Asset::hbd(0)), "amount: 1 to");
    refused(to(|op| op.amount = Asset::vests(1)), "amount: HIVE or HBD");
    refused(to(|op| op.amount = Asset::new(1, TOKEN)), "amount: HIVE or HBD");
    refused(to(|op| op.memo = Text(letters(2_048))), "memo");

    let from = |change: fn(&mut TransferFromSavings<'static>)| {
        let mut op = TransferFromSavings {
            from: name("alice"),
            request_id: 1,
            to: name("alice"),
            amount: Asset::hive(1),
            memo: Text::from(""),
        };
        change(&mut op);
        Operation::TransferFromSavings(op)
    };
    accepted(from(|_| {}));
    refused(from(|op| op.from = name("No")), "from");
    refused(from(|op| op.to = name("No")), "to");
    refused(from(|op| op.amount = Asset::hive(-1)), "amount: 1 to");
    refused(from(|op| op.amount = Asset::vests(1)), "amount: HIVE or HBD");
    refused(from(|op| op.memo = Text(b"\xff")), "memo");

    let cancel = |from: &str| {
        Operation::CancelTransferFromSavings(CancelTransferFromSavings {
            from: name(from),
            request_id: 1,
        })
    };
    accepted(cancel("alice"));
    refused(cancel("No"), "from");
}

#[test]
fn vesting() {
    let to = |to: &str, amount: Asset| {
        Operation::TransferToVesting(TransferToVesting {
            from: name("alice"),
            to: name(to),
            amount,
        })
    };
    accepted(to("bob", Asset::hive(1)));
    accepted(to("", Asset::hive(1)));
    refused(to("No", Asset::hive(1)), "to");
    refused(to("bob", Asset::hive(0)), "amount: 1 to");
    refused(to("bob", Asset::hbd(1)), "amount: HIVE");

    let withdraw = |account: &str, vesting_shares: Asset| {
        Operation::WithdrawVesting(WithdrawVesting {
            account: name(account),
            vesting_shares,
        })
    };
    accepted(withdraw("alice", Asset::vests(0)));
    accepted_at(withdraw("alice", Asset::vests(-1)), 19);
    refused_at(withdraw("alice", Asset::vests(-1)), 20, "vesting_shares: 0 to");
    refused(withdraw("alice", Asset::hive(1)), "vesting_shares: VESTS");
    refused(withdraw("No", Asset::vests(1)), "account");

    let route = |from: &str, to: &str, percent: u16| {
        Operation::SetWithdrawVestingRoute(SetWithdrawVestingRoute {
            from_account: name(from),
            to_account: name(to),
            percent,
            auto_vest: true,
        })
    };
    accepted(route("alice", "bob", 10_000));
    refused(route("alice", "bob", 10_001), "percent");
    refused(route("No", "bob", 1), "from_account");
    refused(route("alice", "No", 1), "to_account");

    let delegate = |from: &str, to: &str, vesting_shares: Asset| {
        Operation::DelegateVestingShares(DelegateVestingShares {
            delegator: name(from),
            delegatee: name(to),
            vesting_shares,
        })
    };
    accepted(delegate("alice", "bob", Asset::vests(0)));
    refused(
        delegate("alice", "alice", Asset::vests(0)),
        "delegatee: must differ",
    );
    refused(delegate("No", "bob", Asset::vests(0)), "delegator");
    refused(delegate("alice", "No", Asset::vests(0)), "delegatee");
    refused(delegate("alice", "bob", Asset::vests(-1)), "vesting_shares: 0 to");
    refused(delegate("alice", "bob", Asset::hive(1)), "vesting_shares: VESTS");

    let claim = |hive: Asset, hbd: Asset, vests: Asset| {
        Operation::ClaimRewardBalance(ClaimRewardBalance {
            account: name("alice"),
            reward_hive: hive,
            reward_hbd: hbd,
            reward_vests: vests,
        })
    };
    let (hive, hbd, vests) = (Asset::hive, Asset::hbd, Asset::vests);
    accepted(claim(hive(0), hbd(0), vests(1)));
    refused(claim(hive(0), hbd(0), vests(0)), "at least one of");
    refused(claim(hive(-1), hbd(0), vests(1)), "reward_hive: 0 to");
    refused(claim(hive(1), hbd(-1), vests(1)), "reward_hbd: 0 to");
    refused(claim(hive(1), hbd(0), vests(-1)), "reward_vests: 0 to");
    refused(claim(hbd(1), hbd(0), vests(1)), "reward_hive: HIVE");
    refused(claim(hive(1), hive(0), vests(1)), "reward_hbd: HBD");
    refused(claim(hive(1), hbd(0), hive(1)), "reward_vests: VESTS");
}

#[test]
fn recurrent_transfers() {
    let transfer = |change: fn(&mut RecurrentTransfer<'static>)| {
        let mut op = RecurrentTransfer {
            from: name("alice"),
            to: name("bob"),
            amount: Asset::hive(0),
            memo: Text::from(""),
            recurrence: 24,
            executions: 2,
            extensions: Vec::new(),
        };
        change(&mut op);
        Operation::RecurrentTransfer(op)
    };
    exists_since(transfer(|_| {}), 25);
    refused(transfer(|op| op.recurrence = 23), "recurrence: 24 to");
    refused(transfer(|op| op.executions = 1), "executions: 2 to");
    refused(transfer(|op| op.to = op.from), "to: must differ");
    refused(transfer(|op| op.amount = Asset::hive(-1)), "amount: 0 to");
    refused(transfer(|op| op.amount = Asset::vests(1)), "amount: HIVE or HBD");
    refused(transfer(|op| op.memo = Text(letters(2_048))), "memo");
    refused(transfer(|op| op.from = name("No")), "from");
}

fn escrow(change: fn(&mut EscrowTransfer<'static>)) -> Operation<'static> {
    let mut op = EscrowTransfer {
        from: name("alice"),
        to: name("bob"),
        hbd_amount: Asset::hbd(1),
        hive_amount: Asset::hive(0),
        escrow_id: 1,
        agent: name("carol"),
        fee: Asset::hbd(0),
        json_meta: Text::from(""),
        ratification_deadline: Time(1),
        escrow_expiration: Time(2),
    };
    change(&mut op);
    Operation::EscrowTransfer(op)
}

#[test]
fn escrow_transfers() {
    accepted(escrow(|_| {}));
    accepted(escrow(|op| op.fee = Asset::hive(1)));
    refused(escrow(|op| op.from = name("No")), "from");
    refused(escrow(|op| op.to = name("No")), "to");
    refused(escrow(|op| op.agent = name("No")), "agent");
    refused(escrow(|op| op.agent = op.from), "agent: must be neither");
    refused(escrow(|op| op.agent = op.to), "agent: must be neither");
    refused(escrow(|op| op.fee = Asset::vests(1)), "fee: HIVE or HBD");
    refused(escrow(|op| op.fee = Asset::hbd(-1)), "fee: 0 to");
    refused(escrow(|op| op.hbd_amount = Asset::hbd(0)), "at least one of");
    refused(escrow(|op| op.hbd_amount = Asset::hbd(-1)), "hbd_amount: 0 to");
    refused(escrow(|op| op.hive_amount = Asset::hive(-1)), "hive_amount: 0 to");
    refused(escrow(|op| op.hbd_amount = Asset::hive(1)), "hbd_amount: HBD");
    refused(escrow(|op| op.hive_amount = Asset::hbd(1)), "hive_amount: HIVE");
    refused(
        escrow(|op| op.ratification_deadline = Time(2)),
        "ratification_deadline: must be before",
    );
    refused(escrow(|op| op.json_meta = Text::from("{")), "json_meta");
}

#[test]
fn escrow_later() {
    let approve = |who: &str| {
        Operation::EscrowApprove(EscrowApprove {
            from: name("alice"),
            to: name("bob"),
            agent: name("carol"),
            who: name(who),
            escrow_id: 1,
            approve: true,
        })
    };
    accepted(approve("bob"));
    accepted(approve("carol"));
    refused(approve("alice"), "who: must be `to` or `agent`");

    let dispute = |who: &str| {
        Operation::EscrowDispute(EscrowDispute {
            from: name("alice"),
            to: name("bob"),
            agent: name("carol"),
            who: name(who),
            escrow_id: 1,
        })
    };
    accepted(dispute("alice"));
    accepted(dispute("bob"));
    refused(dispute("carol"), "who: must be `from` or `to`");

    let release = |who: &str, receiver: &str, hbd: Asset, hive: Asset| {
        Operation::EscrowRelease(EscrowRelease {
            from: name("alice"),
            to: name("bob"),
            agent: name("carol"),
            who: name(who),
            receiver: name(receiver),
            escrow_id: 1,
            hbd_amount: hbd,
            hive_amount: hive,
        })
    };
    let (hbd, hive) = (Asset::hbd, Asset::hive);
    for who in ["alice", "bob", "carol"] {
        accepted(release(who, "bob", hbd(1), hive(0)));
    }
    refused(release("dave", "bob", hbd(1), hive(0)), "who: must be");
    refused(release("bob", "carol", hbd(1), hive(0)), "receiver: must be");
    refused(release("bob", "alice", hbd(0), hive(0)), "at least one of");
    refused(release("bob", "alice", hive(1), hive(0)), "hbd_amount: HBD");
    refused(release("bob", "alice", hbd(1), hbd(1)), "hive_amount: HIVE");
}

#[test]
fn orders() {
    let create = |sell: Asset, receive: Asset| {
        Operation::LimitOrderCreate(LimitOrderCreate {
            owner: name("alice"),
            orderid: 1,
            amount_to_sell: sell,
            min_to_receive: receive,
            fill_or_kill: false,
            expiration: Time(1),
        })
    };
    let (hbd, hive, vests) = (Asset::hbd, Asset::hive, Asset::vests);
    accepted(create(hive(1), hbd(1)));
    accepted(create(hbd(1), hive(1)));
    accepted(create(hive(1), Asset::new(1, TOKEN)));
    accepted(create(Asset::new(1, TOKEN), hive(1)));
    refused(create(hive(0), hbd(1)), "min_to_receive: 1 to");
    refused(create(hive(1), hbd(-1)), "min_to_receive: 1 to");
    refused(create(hive(1), hive(1)), "min_to_receive: the market");
    refused(create(hive(1), vests(1)), "min_to_receive: the market");
    refused(create(Asset::new(1, TOKEN), hbd(1)), "min_to_receive: the market");

    let create2 = |sell: Asset, base: Asset, quote: Asset| {
        Operation::LimitOrderCreate2(LimitOrderCreate2 {
            owner: name("alice"),
            orderid: 1,
            amount_to_sell: sell,
            exchange_rate: Price { base, quote },
            fill_or_kill: false,
            expiration: Time(1),
        })
    };
    accepted(create2(hive(1), hive(1), hbd(1)));
    accepted(create2(hive(2), hive(2), hbd(1)));
    refused(create2(hive(1), hive(2), hbd(1)), "amount_to_sell: not a price");
    refused(create2(hive(-1), hive(1), hbd(1)), "amount_to_sell: not a price");
    refused(create2(hbd(1), hive(1), hbd(1)), "amount_to_sell: HIVE");
    refused(create2(hive(1), hive(0), hbd(1)), "exchange_rate: 1 to");
    refused(create2(hive(1), hive(1), hive(1)), "exchange_rate: not a price");
    refused(create2(vests(1), vests(1), hive(1)), "exchange_rate: the market");

    let cancel = |owner: &str| {
        Operation::LimitOrderCancel(LimitOrderCancel {
            owner: name(owner),
            orderid: 1,
        })
    };
    accepted(cancel("alice"));
    refused(cancel("No"), "owner");
}

#[test]
fn conversions() {
    let convert = |amount: Asset| {
        Operation::Convert(Convert {
            owner: name("alice"),
            requestid: 1,
            amount,
        })
    };
    accepted(convert(Asset::hbd(1)));
    refused(convert(Asset::hbd(0)), "amount: 1 to");
    refused(convert(Asset::hive(1)), "amount: HBD");

    let collateral = |amount: Asset| {
        Operation::CollateralizedConvert(CollateralizedConvert {
            owner: name("alice"),
            requestid: 1,
            amount,
        })
    };
    exists_since(collateral(Asset::hive(1)), 25);
    refused(collateral(Asset::hive(0)), "amount: 1 to");
    refused(collateral(Asset::hbd(1)), "amount: HIVE");
}

#[test]
fn feeds() {
    let feed = |publisher: &str, base: Asset, quote: Asset| {
        Operation::FeedPublish(FeedPublish {
            publisher: name(publisher),
            exchange_rate: Price { base, quote },
        })
    };
    let (hbd, hive) = (Asset::hbd, Asset::hive);
    accepted(feed("alice", hbd(1), hive(1)));
    accepted_at(feed("alice", hive(1), hbd(1)), 19);
    refused_at(feed("alice", hive(1), hbd(1)), 20, "exchange_rate: HBD per HIVE");
    refused_at(feed("alice", hbd(1), hbd(1)), 19, "exchange_rate: HBD and HIVE");
    refused(feed("alice", hbd(0), hive(1)), "exchange_rate: 1 to");
    refused(feed("alice", hbd(1), hive(0)), "exchange_rate: 1 to");
    refused(feed("No", hbd(1), hive(1)), "publisher");
}
