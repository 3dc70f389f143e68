use super::*;

#[test]
fn a_challenge_is_that_of_rfc_7636() {
    // https://www.rfc-editor.org/rfc/rfc7636#appendix-B
    assert_eq!(
        challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
        "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
    );
}

#[test]
fn what_a_client_proves_itself_by_is_encoded_before_it_is_joined() {
    let secret = ClientSecret::try_from("a:b %+".to_owned()).unwrap();
    let value = basic("six lock", &secret).unwrap();
    assert!(value.is_sensitive() && !format!("{value:?}").contains("Basic"));
    let encoded = value.to_str().unwrap().strip_prefix("Basic ").unwrap();
    assert_eq!(STANDARD.decode(encoded).unwrap(), b"six+lock:a%3Ab+%25%2B");
}

#[test]
fn of_an_error_of_the_provider_a_word_is_told() {
    assert_eq!(word("access_denied"), "access_denied");
    assert_eq!(word("<b>\r\n"), "?b???");
    assert_eq!(word(&"a".repeat(1000)).len(), 64);
}
