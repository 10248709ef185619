// Package coordinator carries out coordinated leader election, KEP-4355, in an API
// server: it watches Leases and their candidates, and writes what package election
// decides. Of all API servers one has a coordinator that is active. One that loses
// its own Lease stops, and competes for it again, in the same process.
package coordinator
