//! Hosts and routers of neighbour discovery: single ones, and networks of them in virtual time.

mod bench;
mod host;
mod network;
mod registrar;
mod router;
