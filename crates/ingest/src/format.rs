use sixlock_coap_msg::ContentFormat;

/// How a payload is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A SenML pack in JSON: `application/senml+json`, content format 110.
    SenmlJson,
    /// A SenML pack in CBOR: `application/senml+cbor`, content format 112.
    SenmlCbor,
    /// Any JSON: `application/json`, content format 50.
    Json,
    /// Any CBOR: `application/cbor`, content format 60.
    Cbor,
    /// Text in UTF-8: `text/plain`, content format 0.
    Text,
}

impl Format {
    /// What to send instead of a format that is none of these.
    pub const OFFER: &str = "send SenML in JSON or CBOR (application/senml+json, application/senml+cbor), JSON, CBOR \
                             (application/json, application/cbor) or text (text/plain)";

    /// The format that CoAP numbers so.
    pub fn of_content_format(format: ContentFormat) -> Option<Self> {
        match format {
            ContentFormat::SENML_JSON => Some(Self::SenmlJson),
            ContentFormat::SENML_CBOR => Some(Self::SenmlCbor),
            ContentFormat::JSON => Some(Self::Json),
            ContentFormat::CBOR => Some(Self::Cbor),
            ContentFormat::TEXT => Some(Self::Text),
            _ => None,
        }
    }

    /// The format of a media type, as HTTP's `Content-Type` states it. Of a character set, only UTF-8 will do.
    pub fn of_media_type(media_type: &str) -> Option<Self> {
        let (name, parameters) = media_type.split_once(';').unwrap_or((media_type, ""));
        let other_charset =
            parameters.split(';').filter_map(|parameter| parameter.split_once('=')).any(|(name, value)| {
                let value = value.trim().trim_matches('"');
                name.trim().eq_ignore_ascii_case("charset")
                    && !["utf-8", "us-ascii"].iter().any(|known| value.eq_ignore_ascii_case(known))
            });
        if other_charset {
            return None;
        }
        match name.trim().to_ascii_lowercase().as_str() {
            "application/senml+json" => Some(Self::SenmlJson),
            "application/senml+cbor" => Some(Self::SenmlCbor),
            "application/json" => Some(Self::Json),
            "application/cbor" => Some(Self::Cbor),
            "text/plain" => Some(Self::Text),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_are_read_as_http_spells_them() {
        for (text, format) in [
            ("application/senml+json", Some(Format::SenmlJson)),
            ("Application/JSON; charset=UTF-8", Some(Format::Json)),
            ("text/plain;charset=\"utf-8\"; format=flowed", Some(Format::Text)),
            ("text/plain; charset=iso-8859-1", None),
            ("application/octet-stream", None),
            ("application/x-www-form-urlencoded", None),
            ("", None),
        ] {
            assert_eq!(Format::of_media_type(text), format, "{text}");
        }
        assert_eq!(Format::of_content_format(ContentFormat::OCTET_STREAM), None);
        assert_eq!(Format::of_content_format(ContentFormat(112)), Some(Format::SenmlCbor));
    }
}
