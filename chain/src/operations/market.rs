//! The internal market, conversions, and the price feed.

use crate::asset::Asset;
use crate::name::AccountName;
use crate::structure::packed_struct;
use crate::time::Time;

packed_struct! {
    /// A price: so much of the one for so much of the other.
    #[derive(Copy)]
    pub struct Price {
        base: Asset,
        quote: Asset,
    }
}

packed_struct! {
    /// A witness's price of HIVE.
    #[derive(Copy)]
    pub struct FeedPublish {
        publisher: AccountName,
        exchange_rate: Price,
    }
}

packed_struct! {
    /// Offers an amount for at least another amount.
    #[derive(Copy)]
    pub struct LimitOrderCreate {
        owner: AccountName,
        orderid: u32,
        amount_to_sell: Asset,
        min_to_receive: Asset,
        fill_or_kill: bool,
        expiration: Time,
    }
}

packed_struct! {
    /// Offers an amount at a price.
    #[derive(Copy)]
    pub struct LimitOrderCreate2 {
        owner: AccountName,
        orderid: u32,
        amount_to_sell: Asset,
        exchange_rate: Price,
        fill_or_kill: bool,
        expiration: Time,
    }
}

packed_struct! {
    /// Takes an offer back.
    #[derive(Copy)]
    pub struct LimitOrderCancel {
        owner: AccountName,
        orderid: u32,
    }
}

packed_struct! {
    /// Turns HBD into HIVE at the average price of the coming days.
    #[derive(Copy)]
    pub struct Convert {
        owner: AccountName,
        requestid: u32,
        amount: Asset,
    }
}

packed_struct! {
    /// Turns HIVE into HBD at once, holding collateral for the price; since hardfork 25.
    #[derive(Copy)]
    pub struct CollateralizedConvert {
        owner: AccountName,
        requestid: u32,
        amount: Asset,
    }
}
