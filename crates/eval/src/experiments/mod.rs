//! The experiments, one a file. A new one is entered in [`EXPERIMENTS`].

mod cached_certificate;
mod captured;
mod comparison;
mod counting;
mod derubertis2013;
mod footprint;
mod forged_packet;
mod granjal2008;
mod granjal2008_fig3;
mod granjal2008_table2;
mod growing_network;
mod handshake;
mod handshake_loss;
mod key_agreement;
mod native_handshake;
mod packets;
mod raza2012;
mod securesense;
mod thesis;
mod validation;

use crate::experiment::Experiment;

/// Every experiment, paper by paper.
pub const EXPERIMENTS: &[Experiment] = &[
    raza2012::table_1::EXPERIMENT,
    raza2012::table_2::EXPERIMENT,
    raza2012::fig_9::EXPERIMENT,
    raza2012::fig_10::EXPERIMENT,
    raza2012::fig_11::EXPERIMENT,
    raza2012::fig_12::EXPERIMENT,
    raza2012::fig_13::EXPERIMENT,
    raza2012::fig_14::EXPERIMENT,
    thesis::fig_26::EXPERIMENT,
    thesis::fig_27::EXPERIMENT,
    thesis::aes::TABLE_4,
    thesis::aes::FIGURE_29,
    thesis::energy::FIGURE_30,
    thesis::energy::FIGURE_31,
    thesis::energy::FIGURE_32,
    thesis::delay::FIGURE_33,
    thesis::delay::FIGURE_34,
    thesis::delay::FIGURE_35,
    thesis::loss::TABLE_5,
    thesis::loss::TABLE_6,
    thesis::loss::TABLE_7,
    thesis::energy::FIGURE_37,
    thesis::energy::FIGURE_38,
    thesis::delay::FIGURE_39,
    thesis::delay::FIGURE_40,
    thesis::delay::FIGURE_41,
    thesis::loss::TABLE_8,
    thesis::loss::TABLE_9,
    thesis::loss::TABLE_10,
    thesis::table_11::EXPERIMENT,
    thesis::dtls::TABLE_12,
    thesis::dtls::TABLE_13,
    thesis::dtls::TABLE_14,
    granjal2008_table2::EXPERIMENT,
    granjal2008::TABLE_3,
    granjal2008::FIGURE_1,
    granjal2008::FIGURE_2,
    granjal2008_fig3::EXPERIMENT,
    derubertis2013::fig_3::EXPERIMENT,
    derubertis2013::fig_4::EXPERIMENT,
    derubertis2013::fig_5::EXPERIMENT,
    derubertis2013::fig_6::EXPERIMENT,
    derubertis2013::fig_7::EXPERIMENT,
    derubertis2013::handshake::EXPERIMENT,
    securesense::fig_9::EXPERIMENT,
    securesense::figs_10_to_13::FIGURE_10,
    securesense::figs_10_to_13::FIGURE_11,
    securesense::figs_10_to_13::FIGURE_12,
    securesense::figs_10_to_13::FIGURE_13,
    securesense::fig_14::EXPERIMENT,
    securesense::fig_15::EXPERIMENT,
    securesense::fig_16::EXPERIMENT,
    securesense::fig_17::EXPERIMENT,
    securesense::fig_18::EXPERIMENT,
    handshake_loss::EXPERIMENT,
    validation::EXPERIMENT,
    comparison::EXPERIMENT,
    cached_certificate::EXPERIMENT,
    forged_packet::EXPERIMENT,
    growing_network::EXPERIMENT,
    raza2012::concurrent::EXPERIMENT,
    key_agreement::EXPERIMENT,
];
