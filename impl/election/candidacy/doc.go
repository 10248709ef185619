// Package candidacy lets an instance of any controller take part in coordinated
// leader election, KEP-4355: it declares the instance a candidate, answers pings,
// and runs the controller while the instance leads. Losing the leadership makes it
// a candidate again, in the same process. The example shows how few lines it takes.
package candidacy
