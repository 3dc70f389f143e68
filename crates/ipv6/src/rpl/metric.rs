use crate::Error;

/// What is in a DAG metric container: routing metrics and constraints
/// ([RFC 6551 section 2.1](https://www.rfc-editor.org/rfc/rfc6551#section-2.1)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metrics<'a>(&'a [u8]);

/// A routing metric, or a constraint on routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetricObject<'a> {
    /// Of what.
    pub kind: u8,
    /// Whether a router on the way could not tell it.
    pub is_partial: bool,
    /// Whether it is a constraint.
    pub is_constraint: bool,
    /// Whether a constraint may be passed over.
    pub is_optional: bool,
    /// Whether a metric is recorded hop by hop, and not aggregated.
    pub is_recorded: bool,
    /// How a metric is aggregated, three bits.
    pub aggregation: u8,
    /// Its rank among metrics, four bits.
    pub precedence: u8,
    /// Its value.
    pub body: &'a [u8],
}

impl<'a> Metrics<'a> {
    /// Those in `bytes`; an error if one of them is malformed.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut rest = bytes;
        while !rest.is_empty() {
            (_, rest) = MetricObject::parse(rest)?;
        }
        Ok(Self(bytes))
    }

    /// Each of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = MetricObject<'a>> + use<'a> {
        let mut rest = self.0;
        core::iter::from_fn(move || {
            let (object, left) = MetricObject::parse(rest).ok()?;
            rest = left;
            Some(object)
        })
    }

    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.0
    }
}

impl<'a> MetricObject<'a> {
    /// The kind that is a number of hops.
    pub const HOP_COUNT: u8 = 3;
    /// The kind that is an expected number of transmissions.
    pub const ETX: u8 = 7;

    /// Bytes before the value.
    const HEADER: usize = 4;

    const EMPTY: Self = Self {
        kind: 0,
        is_partial: false,
        is_constraint: false,
        is_optional: false,
        is_recorded: false,
        aggregation: 0,
        precedence: 0,
        body: &[],
    };

    /// A metric: the expected number of transmissions, in units of 1/128
    /// ([RFC 6551 section 4.3.2](https://www.rfc-editor.org/rfc/rfc6551#section-4.3.2)).
    pub const fn with_etx(etx: &'a [u8; 2]) -> Self {
        Self { kind: Self::ETX, body: etx, ..Self::EMPTY }
    }

    /// A metric: flags, of which there are none, and the number of hops.
    pub const fn with_hop_count(hops: &'a [u8; 2]) -> Self {
        Self { kind: Self::HOP_COUNT, body: hops, ..Self::EMPTY }
    }

    /// The expected number of transmissions, if it is that.
    pub fn etx(&self) -> Option<u16> {
        match (self.kind, self.body) {
            (Self::ETX, &[high, low]) => Some(u16::from_be_bytes([high, low])),
            _ => None,
        }
    }

    /// The number of hops, if it is that. What may follow it in the object, is not looked at.
    pub fn hop_count(&self) -> Option<u8> {
        match (self.kind, self.body) {
            (Self::HOP_COUNT, &[_, hops, ..]) => Some(hops),
            _ => None,
        }
    }

    /// Splits `bytes` into the object at their front and the rest.
    // Of what is only judged, or looked at for one thing, the rest is not read.
    #[inline(always)]
    fn parse(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), Error> {
        let (&[kind, high, low, length], rest) = bytes.split_first_chunk().ok_or(Error::Truncated)?;
        let (body, rest) = rest.split_at_checked(length.into()).ok_or(Error::Truncated)?;
        let object = Self {
            kind,
            is_partial: high & 4 != 0,
            is_constraint: high & 2 != 0,
            is_optional: high & 1 != 0,
            is_recorded: low & 0x80 != 0,
            aggregation: low >> 4 & 7,
            precedence: low & 0xf,
            body,
        };
        Ok((object, rest))
    }

    /// Writes the object to the start of `out`; its length.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, Error> {
        let length = u8::try_from(self.body.len()).map_err(|_| Error::Length)?;
        let constraint = u8::from(self.is_constraint) << 1 | u8::from(self.is_optional);
        let high = u8::from(self.is_partial) << 2 | constraint;
        let low = u8::from(self.is_recorded) << 7 | (self.aggregation & 7) << 4 | self.precedence & 0xf;
        let (header, body) = out.split_first_chunk_mut().ok_or(Error::Truncated)?;
        *header = [self.kind, high, low, length];
        body.get_mut(..self.body.len()).ok_or(Error::Truncated)?.copy_from_slice(self.body);
        Ok(Self::HEADER + self.body.len())
    }
}
