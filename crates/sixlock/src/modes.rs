//! What `--help` says of security modes.

use sixlock_base::{AhSuite, EspSuite, LinkSuite, NetworkSuite, Security, TransportSuite};

/// All modes for traffic that matters.
pub(crate) fn trusted() -> String {
    modes(|suite| suite.authenticates(), |suite| suite.authenticates())
}

/// All modes that can be simulated.
pub(crate) fn simulated() -> String {
    let all = modes(|_| true, |_| true);
    format!(
        "{all}\n\n@engine behind a part has the accelerator of the scenario's platform compute it. llsec:ctr, esp:ctr and esp:cbc \
         accept forged packets: the scenario is to say unauthenticated = true."
    )
}

fn modes(link: impl Fn(LinkSuite) -> bool, esp: impl Fn(NetworkSuite) -> bool) -> String {
    let list = |names: Vec<&str>| names.join(", ");
    let links = LinkSuite::ALL.iter().filter(|&&suite| link(suite)).map(|suite| suite.name()).collect();
    let codes = AhSuite::ALL.iter().map(|suite| suite.name()).collect();
    let esps = EspSuite::ALL.iter().filter(|&&suite| esp(NetworkSuite::Esp(suite)));
    let esps = esps.map(|suite| suite.name()).collect();
    let default = |mode: &str| mode.parse().map(|mode: Security| mode.to_string()).unwrap_or_default();
    format!(
        "Security mode: none, or parts joined by +, at most one for each layer, such as llsec+esp:gcm\n\n\
         Links: llsec:SUITE of {}\n\
         IPsec: ah:SUITE of {}; or esp:SUITE of {}; joint- before a suite of esp compresses the UDP header that it encrypts, where both \
         ends are Sixlock, as in esp:joint-ctr-xcbc\n\
         Transport: {}\n\n\
         Without a suite, llsec is {}, ah is {} and esp is {}.",
        list(links),
        list(codes),
        list(esps),
        list(TransportSuite::ALL.iter().map(|suite| suite.name()).collect()),
        default("llsec"),
        default("ah"),
        default("esp"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_that_is_named_is_one_and_those_that_accept_forgeries_are_for_simulations() {
        let (trusted, simulated) = (trusted(), simulated());
        for suite in EspSuite::ALL {
            let name = format!(" {}", suite.name());
            let is_named =
                |text: &str| text.contains(&format!("{name},")) || text.contains(&format!("{name};"));
            assert!(is_named(&simulated), "{name}");
            assert_eq!(
                is_named(&trusted),
                format!("esp:{}", suite.name()).parse::<Security>().is_ok(),
                "{name}"
            );
        }
        assert!(
            trusted.contains("llsec is llsec:ccm-64, ah is ah:xcbc and esp is esp:ctr-xcbc"),
            "{trusted}"
        );
        assert!(trusted.contains("esp:joint-ctr-xcbc") && "esp:joint-ctr-xcbc".parse::<Security>().is_ok());
        assert!(simulated.contains("llsec:ctr") && !trusted.contains(" ctr,"));
    }
}
