//! What section 3.3 says of the table.

use super::super::footprint::{BOARD, KILOBYTE};
use super::super::granjal2008::{AES, BASELINE, SHA_1, SHA_512, TRIPLE_DES};
use super::figures::{
    ALONE, BY_TABLE, BY_TABLE_OF_NODES, FLASH_BEYOND, INCREASE, NODES, NODES_WITH_TABLES, SAID, SHARES,
    SRAM_ALONE, SRAM_BEYOND, SRAM_OF_NODES, STATIC_BEYOND, WITH_TABLES, WITHOUT_TABLES,
};
use super::programs::{PROGRAMS, Printed, Program, WITH, WITHOUT};
use crate::claim::Claim;
use crate::figure::Figure;
use crate::series::Series;
use crate::statement::Statement;
use crate::tolerance::Tolerance;
use crate::wording::CLEARLY;

/// What the board has, in bytes.
const SRAM_OF_BOARD: f64 = 4.0 * KILOBYTE;

const FLASH: &str = "flash";
const SRAM: &str = "SRAM";

pub(super) fn claims(programs: &[Program], printed: &Printed<'_>, figures: &[Figure]) -> Vec<Claim> {
    let mut claims = as_printed(printed, figures);
    claims.extend(without(figures));
    claims.extend(runs(programs, printed, figures));
    claims.extend(with(programs, figures));
    claims.extend(arithmetic(figures));
    claims
}

/// The value of a row.
fn value(figure: &'static str, label: &str, figures: &[Figure]) -> f64 {
    Series::new(figure, label).rows(figures).next().map_or(f64::NAN, |row| row.value)
}

/// The statics and the stack that a node with an algorithm takes beyond one without, in bytes.
fn beyond(programs: &[Program], label: &str) -> [f64; 2] {
    let node = |label| programs.iter().find(|program| program.label == label).map(|program| program.node);
    let both = node(label).zip(node(BASELINE));
    both.map_or([f64::NAN; 2], |(with, without)| [with.ram - without.ram, with.stack - without.stack])
}

/// That a share of what the board has is what the text says, which is put into `text`. What the board has is no other with another compiler, and so the
/// share is off by no more than the bytes.
fn as_said(figure: &'static str, label: &str, text: impl Fn(f64) -> String, figures: &[Figure]) -> Claim {
    let of = Series::new(figure, label);
    let text = text(of.published(figures).unwrap_or(f64::NAN));
    Claim::stated(text, Statement::Published(of, Tolerance::Memory), figures)
}

/// That programs take the bytes that the table prints.
fn as_printed(printed: &Printed<'_>, figures: &[Figure]) -> Vec<Claim> {
    let mut claims = Vec::new();
    for (title, x, what) in [(ALONE, WITHOUT, "Without 6LoWPAN"), (NODES, WITH, "With 6LoWPAN")] {
        for (label, _) in PROGRAMS {
            let [flash, sram] = printed.of(label, x);
            let text = format!("{what}, {label} takes {flash} bytes of flash and {sram} of SRAM (table 2)");
            let as_printed = Statement::Published(Series::new(title, label), Tolerance::Memory);
            claims.push(Claim::stated(text, as_printed, figures).perhaps(
                "the paper's programs have TinyOS in them, and with 6LoWPAN its implementation for that; ours have no operating system, and another 6LoWPAN",
            ));
        }
    }
    claims
}

/// Without 6LoWPAN.
fn without(figures: &[Figure]) -> Vec<Claim> {
    let clearly_less = |figure, less, more, text: String| {
        let of = |label| Series::new(figure, label);
        Claim::stated(text, Statement::FarBelow(of(less), of(more), CLEARLY), figures)
    };
    let ciphers = |figure, what: &str| {
        let text = format!(
            "3DES is the most demanding of the two ciphers, and AES clearly the best choice: in {what} (section 3.3)"
        );
        clearly_less(figure, AES, TRIPLE_DES, text)
    };
    let hashes = |figure, what: &str| {
        let text =
            format!("SHA-512 is clearly the most demanding of the two hashes: in {what} (section 3.3)");
        clearly_less(figure, SHA_1, SHA_512, text)
    };
    let said = |figure, label: &'static str, what: &str| {
        let text = |said| {
            format!(
                "Without 6LoWPAN, {label} uses an additional {said} % of the available {what} (section 3.3)"
            )
        };
        as_said(figure, label, text, figures)
    };
    let with_tables = value(WITH_TABLES, TRIPLE_DES, figures);
    vec![
        said(SRAM_BEYOND, TRIPLE_DES, SRAM).perhaps(&format!(
            "its tables lie in SRAM, where compilers for this processor put constants that do not say otherwise; with ours there it would be {with_tables:.0} %"
        )),
        said(SRAM_BEYOND, AES, SRAM).perhaps(
            "an AES for larger processors, with tables of columns and the keys of all rounds in SRAM",
        ),
        said(FLASH_BEYOND, TRIPLE_DES, FLASH)
            .perhaps("rounds and permutations that are written out; by the same table it takes a fifth less with 6LoWPAN"),
        said(FLASH_BEYOND, AES, FLASH),
        Claim::stated(
            "The higher memory requirement of 3DES is due to its large tables: without tables it takes less flash than AES (section 3.3)",
            Statement::Below(
                Series::new(WITHOUT_TABLES, TRIPLE_DES),
                Series::new(WITHOUT_TABLES, AES),
            ),
            figures,
        ),
        Claim::stated(
            "The higher memory requirement of 3DES is due to its large tables: without tables, which are in flash here, it takes less SRAM than AES (section 3.3)",
            Statement::Below(Series::new(SRAM_BEYOND, TRIPLE_DES), Series::new(SRAM_BEYOND, AES)),
            figures,
        )
        .perhaps("3DES has three schedules of keys, of 384 bytes in all, and these are on the stack here"),
        ciphers(SRAM_BEYOND, SRAM),
        ciphers(FLASH_BEYOND, FLASH),
        said(SRAM_BEYOND, SHA_512, SRAM),
        said(SRAM_BEYOND, SHA_1, SRAM).without(
            "the paper counts what is static, and no stack",
            &Statement::Published(Series::new(STATIC_BEYOND, SHA_1), Tolerance::Memory),
            figures,
        ),
        said(FLASH_BEYOND, SHA_512, FLASH).perhaps(
            "words of 64 bits, of which the compiler makes long code; ours are two of 32 bits, in a loop",
        ),
        said(FLASH_BEYOND, SHA_1, FLASH)
            .perhaps("ours takes in a message in parts of any length, and adds the padding itself"),
        hashes(SRAM_BEYOND, SRAM),
        hashes(FLASH_BEYOND, FLASH),
    ]
}

/// Which programs run with 6LoWPAN. Ours were all run.
fn runs(programs: &[Program], printed: &Printed<'_>, figures: &[Figure]) -> Vec<Claim> {
    let needs_more =
        |label| Statement::Most(Series::new(SRAM_OF_NODES, label), vec![Series::new(SRAM_OF_NODES, BOARD)]);
    let stops = |label: &'static str| {
        let text = format!(
            "With 6LoWPAN, {label} stops after a few operations, as too little SRAM is free (section 3.3)"
        );
        let [_, sram] = printed.of(label, WITH);
        let left = SRAM_OF_BOARD - sram;
        let [statics, stack] = beyond(programs, label);
        Claim::stated(text, needs_more(label), figures).perhaps(&format!(
            "the statics of the paper's program leave {left} bytes to its stack. Ours takes {statics} bytes of statics and {stack} of stack beyond the baseline, as the node has its stack for other work, too"
        ))
    };
    let with_tables = value(NODES_WITH_TABLES, TRIPLE_DES, figures);
    let mut ran: Vec<_> =
        [AES, TRIPLE_DES, SHA_1, SHA_512].map(|label| Series::new(SRAM_ALONE, label)).into();
    ran.push(Series::new(SRAM_OF_NODES, SHA_1));
    vec![
        Claim::stated(
            "All the algorithms executed without problems without 6LoWPAN, and SHA-1 also with it: there is SRAM enough (section 3.3)",
            Statement::Most(Series::new(SRAM_ALONE, BOARD), ran),
            figures,
        ),
        stops(AES),
        stops(SHA_512),
        Claim::stated(
            "With 6LoWPAN, 3DES is above the limit of 4 KB of SRAM, and does not boot (section 3.3)",
            needs_more(TRIPLE_DES),
            figures,
        )
        .perhaps(&format!("its tables lie in SRAM; with ours there it would be {with_tables:.0} %")),
    ]
}

/// With 6LoWPAN.
fn with(programs: &[Program], figures: &[Figure]) -> Vec<Claim> {
    let of = |label| Series::new(SRAM_OF_NODES, label);
    let said = |label: &'static str| {
        let text = |said| format!("With 6LoWPAN, {label} takes {said} % of the SRAM (section 3.3)");
        as_said(SRAM_OF_NODES, label, text, figures)
    };
    let [statics, stack] = beyond(programs, SHA_512);
    let increase = Series::new(INCREASE, SHA_512);
    vec![
        Claim::stated(
            "With 6LoWPAN, 3DES, AES and SHA-512 require more SRAM than SHA-1 (section 3.3)",
            Statement::Least(of(SHA_1), vec![of(AES), of(TRIPLE_DES), of(SHA_512)]),
            figures,
        ),
        Claim::stated(
            "SHA-512 demands less SRAM than AES and 3DES with 6LoWPAN (section 3.3)",
            Statement::Least(of(SHA_512), vec![of(AES), of(TRIPLE_DES)]),
            figures,
        )
        .perhaps("tables of the paper's ciphers lie in SRAM; of what works on the stack, a block of SHA-512 is the largest"),
        said(SHA_512),
        said(SHA_1).perhaps("ours has the stack at its peak in it, which the paper's compiler does not tell"),
        Claim::stated(
            format!("With 6LoWPAN, SHA-512 takes {} % more SRAM than the baseline (section 3.3)", increase.published(figures).unwrap_or(f64::NAN)),
            Statement::Published(increase, Tolerance::Percent),
            figures,
        )
        .perhaps(&format!(
            "ours takes {statics} bytes of statics and {stack} of stack beyond the baseline, as the node has its stack for other work, too"
        )),
        Claim::stated(
            "With 6LoWPAN all the programs fit in the flash, and SRAM is the critical factor: more of it is taken than of flash (section 3.3)",
            Statement::Below(Series::new(SHARES, FLASH), Series::new(SHARES, SRAM)),
            figures,
        ),
    ]
}

/// What the paper's own numbers say of each other.
fn arithmetic(figures: &[Figure]) -> Vec<Claim> {
    let of_text = SAID.into_iter().map(|what| {
        Claim::stated(
            format!("The text says in per cent what the table says: {what} (section 3.3)"),
            Statement::Published(Series::new(BY_TABLE, what), Tolerance::Percent),
            figures,
        )
        .uncounted("it is the paper's own arithmetic, of what its table says")
    });
    let of_nodes = [FLASH, SRAM].into_iter().map(|what| {
        Claim::stated(
            format!("With 6LoWPAN, each algorithm takes {what} beyond the baseline's, by the paper's own table (table 2)"),
            Statement::SomeOf(Series::new(BY_TABLE_OF_NODES, what)),
            figures,
        )
        .perhaps("the paper's baseline with 6LoWPAN is another program than those with an algorithm, or rows of the table are interchanged")
        .uncounted("it is of the paper's own numbers alone")
    });
    of_text.chain(of_nodes).collect()
}
