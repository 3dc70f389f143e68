//! Links and what asks for them, as in RFC 6690 section 4.1 and 5.

use sixlock_coap_msg::Link;

const LIGHT: Link<'_> = Link {
    target: "/sensors/light",
    attributes: &[("rt", Some("light-lux core.sen-light")), ("if", Some("sensor")), ("obs", None)],
};

#[test]
fn a_link_is_written_with_its_attributes() {
    let mut text = String::new();
    LIGHT.write(|piece| text.push_str(piece));
    assert_eq!(text, r#"</sensors/light>;rt="light-lux core.sen-light";if="sensor";obs"#);
}

#[test]
fn a_link_is_found_by_its_target_and_attributes_whole_or_by_their_beginning() {
    for (filter, found) in [
        ("rt=light-lux", true),
        ("rt=core.sen-light", true),
        ("rt=core.sen*", true),
        ("rt=core.sen", false),
        ("rt=light-lux core.sen-light", false),
        ("rt=*", true),
        ("rt=", false),
        ("if=sensor", true),
        ("if=sensors", false),
        ("href=/sensors/light", true),
        ("href=/sensors*", true),
        ("href=/sensors", false),
        ("href", false),
        ("obs", true),
        ("obs=", false),
        ("rt", false),
        ("title=x", false),
        ("=", false),
        ("", false),
    ] {
        assert_eq!(LIGHT.matches(filter.as_bytes()), found, "{filter}");
    }
}
