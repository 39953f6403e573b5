//! Names to addresses, by the system's resolver and not for longer than a few seconds.

use std::{net::IpAddr, time::Duration};

use crate::{Endpoint, ResolveError, endpoint::Host};

/// Time for the system's resolver. Its own limit is often 10 s and more.
const LOOKUP: Duration = Duration::from_secs(5);

/// The addresses of an endpoint's host.
pub(crate) async fn resolve(endpoint: &Endpoint) -> Result<Vec<IpAddr>, ResolveError> {
    let name = match &endpoint.host {
        Host::Ip(ip) => return Ok(vec![*ip]),
        Host::Name(name) => name.as_str(),
    };
    let found = tokio::time::timeout(LOOKUP, tokio::net::lookup_host((name, endpoint.port)))
        .await
        .map_err(|_| ResolveError::Timeout(LOOKUP.as_secs()))??;
    let mut addresses = Vec::new();
    for address in found {
        if !addresses.contains(&address.ip()) {
            addresses.push(address.ip());
        }
    }
    if addresses.is_empty() {
        return Err(ResolveError::Empty);
    }
    Ok(addresses)
}
