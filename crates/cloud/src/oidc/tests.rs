use serde_json::json;

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

fn claims(claims: Value) -> Claims {
    claims.as_object().unwrap().clone()
}

#[test]
fn an_address_counts_as_verified_only_if_the_source_that_names_it_says_so() {
    let unverified = claims(json!({"email": "ann@example.org"}));
    let refused = claims(json!({"email": "ann@example.org", "email_verified": false}));
    let verified = claims(json!({"email": "eve@example.org", "email_verified": true}));
    let bare = claims(json!({"email_verified": true}));
    for (sources, email) in [
        (vec![&verified], "eve@example.org"),
        (vec![&unverified], ""),
        (vec![&refused, &verified], "eve@example.org"),
        (vec![&verified, &refused], "eve@example.org"),
        (vec![&unverified, &bare], ""),
        (vec![&bare, &unverified], ""),
        (vec![], ""),
    ] {
        assert_eq!(verified_email(&sources), email, "{sources:?}");
    }
    let word = claims(json!({"email": "ann@example.org", "email_verified": "true"}));
    assert_eq!(verified_email(&[&word]), "", "a word is no yes");
}

#[test]
fn a_user_info_answer_of_another_subject_says_nothing() {
    let said = |subject: Value| claims(json!({"sub": subject, "email": "ann@example.org"}));
    assert!(user_info_of("ann", said(json!("ann"))).is_some());
    for subject in [json!("eve"), json!("Ann"), json!(7), Value::Null] {
        assert_eq!(user_info_of("ann", said(subject)), None);
    }
    assert_eq!(user_info_of("ann", claims(json!({"email": "ann@example.org"}))), None);
}
