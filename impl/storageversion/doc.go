// Package storageversion is the API server's part of KEP-2339: it joins the
// participating servers, publishes in which version each resource is stored,
// and holds back writes until that is done.
//
// The decisions are pure functions of what was read and of the time: what two
// servers agree on (agreement.go, condition.go), what a server writes
// (merge.go), what a collector does (collect.go), what passes the barrier
// (pass.go), whether a server may still write (standing.go). The Manager and
// the files named after its work (membership.go, registration.go,
// maintenance.go, leasegc.go, barrier.go) read, wait and write around them.
//
// # How the agreement is kept true
//
// A server takes part from the moment that its identity Lease exists. It never
// stores an object of a resource before its entry for the resource is written,
// so a false agreement needs an entry that is missing or wrong:
//
//   - An entry is put in with the resourceVersion of the object it was merged
//     into, so concurrent writers cannot drop it.
//   - An entry is only taken out by its owner or when its owner has no identity
//     Lease. Whoever takes one out reads the object first and the participants
//     second: every entry in the object belongs to somebody who joined before
//     the object was read, so a server that is absent from the later list has
//     really left. In the opposite order a server could join and report between
//     the two reads, and would be taken for departed.
//   - A participant without an entry forbids agreement, because it may be about
//     to report anything, unless it has marked its Lease as fully registered
//     (RegisteredAnnotation): then it does not host the resource. The mark is
//     bound to the process that made it, so it is void as soon as another
//     process takes the Lease over, which is before that process publishes
//     anything. A restarted server's old entries stay in force until it replaces
//     them, which is truthful: it cannot write before that.
//
// Custom resources come and change while a server runs. Each is announced by
// itself (Publish), and an object is stored only in the version that was
// announced (MayPersistAs). When the version changes, whoever calls Publish has
// let the writes in the old version end before; so here too a server without an
// entry has stored nothing, and one with an entry stores what it says.
//
// A server at which all this is switched off (Config.Silent) announces nothing and
// stores what it likes. It still takes part, by its identity Lease, which its
// process takes over from the one before and never marks as registered. So the
// others agree on nothing while it is there. It stores nothing itself until no
// object has an entry of it or an agreement (silent.go).
package storageversion
