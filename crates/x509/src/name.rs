//! Whose certificate it is.

use crate::Error;
use crate::der::{Reader, SEQUENCE, SET, context};

/// The attribute commonName ([RFC 5280 appendix A.1](https://www.rfc-editor.org/rfc/rfc5280#appendix-A.1)).
pub(crate) const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
pub(crate) const UTF8_STRING: u8 = 0x0c;
/// Strings that are bytes of ASCII or UTF-8: UTF8String, PrintableString, TeletexString, IA5String.
const STRINGS: [u8; 4] = [UTF8_STRING, 0x13, 0x14, 0x16];

/// The dNSName and the uniformResourceIdentifier among the forms of a subject's other names.
const DNS_NAME: u8 = context(2);
const URI: u8 = context(6);

/// The last common name in a Name, the most specific.
pub(crate) fn common_name(name: &[u8]) -> Result<Option<&[u8]>, Error> {
    let mut parts = Reader::only(name, SEQUENCE)?;
    let mut found = None;
    while !parts.is_empty() {
        let mut attributes = Reader::new(parts.expect(SET)?);
        while !attributes.is_empty() {
            let mut attribute = Reader::new(attributes.expect(SEQUENCE)?);
            let kind = attribute.object_identifier()?;
            let (form, value) = attribute.element()?;
            attribute.end()?;
            if kind == COMMON_NAME && STRINGS.contains(&form) {
                found = Some(value);
            }
        }
    }
    Ok(found)
}

/// Checks the subject's other names, and says whether `is_wanted` of any of those that are for DNS.
pub(crate) fn any_dns_name(names: &[u8], is_wanted: impl Fn(&[u8]) -> bool) -> Result<bool, Error> {
    let mut names = Reader::only(names, SEQUENCE)?;
    if names.is_empty() {
        return Err(Error::Encoding);
    }
    let mut found = false;
    while !names.is_empty() {
        let (form, name) = names.element()?;
        found |= form == DNS_NAME && is_wanted(name);
    }
    Ok(found)
}

/// The first of the subject's other names that is a URI or one for DNS.
pub(crate) fn first_name(names: &[u8]) -> Result<Option<&[u8]>, Error> {
    let mut names = Reader::only(names, SEQUENCE)?;
    while !names.is_empty() {
        if let (DNS_NAME | URI, name) = names.element()? {
            return Ok(Some(name));
        }
    }
    Ok(None)
}
