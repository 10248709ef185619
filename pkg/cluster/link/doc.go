// Package link makes network paths that can be cut and slowed down. A Link is
// what a path's shape is and what it has carried; proxies move the bytes. They
// need no privilege, count every piece that they held back or delayed, which is
// how a fault proves that it bit, and lose nothing: what was sent into a cut
// arrives when it heals, as over a network that retransmits.
//
// It is internal to Evenkeel: nothing outside of it should build on it.
package link
