//! Several datagrams in one input.

/// The datagrams in `input`, each behind its length in two bytes; the last may be cut short.
pub fn split(input: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = input;
    std::iter::from_fn(move || {
        let (length, behind) = rest.split_first_chunk::<2>()?;
        let length = usize::from(u16::from_be_bytes(*length)).min(behind.len());
        let (datagram, behind) = behind.split_at(length);
        rest = behind;
        Some(datagram)
    })
}

/// The input that [`split`] takes apart into `datagrams`.
///
/// # Panics
///
/// When a datagram is longer than a length says.
pub fn join<'a>(datagrams: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut input = Vec::new();
    for datagram in datagrams {
        let length = u16::try_from(datagram.len()).expect("a datagram is shorter than 64 KiB");
        input.extend(length.to_be_bytes());
        input.extend(datagram);
    }
    input
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_joined_is_split_and_a_cut_is_survived() {
        let datagrams: [&[u8]; 3] = [b"one", b"", b"three"];
        let input = join(datagrams);
        assert_eq!(split(&input).collect::<Vec<_>>(), datagrams);
        assert_eq!(split(&input[..input.len() - 2]).last(), Some(&b"thr"[..]));
        assert_eq!(split(&[0]).count(), 0);
    }
}
