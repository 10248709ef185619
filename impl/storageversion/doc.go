// Package storageversion is the API server's part of KEP-2339: it joins the
// participating servers, publishes in which version the server stores each resource,
// and refuses writes until that is done.
//
// The decisions are pure functions of the objects that were read and of the time:
// what two servers agree on (agreement.go, condition.go), what a server writes
// (merge.go), what a collector does (collect.go), which requests pass the barrier
// (pass.go), whether a server may still write (standing.go). The Manager and
// the files named after its work (membership.go, registration.go,
// maintenance.go, leasegc.go, barrier.go) read, wait and write.
//
// # How the agreement is kept true
//
// A server takes part from the moment that its identity Lease exists. It never
// stores an object of a resource before its entry for the resource is written,
// so a false agreement needs an entry that is missing or wrong:
//
//   - A server writes an entry with the resourceVersion of the object into which it
//     merged the entry, so concurrent writers cannot drop it.
//   - Only its owner removes an entry, unless the owner has no identity Lease. A
//     server that removes one reads the object first and the participants second:
//     every entry in the object belongs to a server that joined before the read of
//     the object, so a server that is absent from the later list has really left.
//     In the opposite order a server could join and report between the two reads,
//     and would count as departed.
//   - A participant without an entry forbids agreement, because it may be about
//     to report anything, unless it has marked its Lease as fully registered
//     (RegisteredAnnotation): then it does not host the resource. The mark is
//     bound to the process that made it, so it is void as soon as another
//     process takes the Lease over, which is before that process publishes
//     anything. A restarted server's old entries stay valid until it replaces
//     them, which is correct: the server cannot write before that.
//
// Custom resources appear and change while a server runs. The server announces each
// one separately (Publish), and stores an object only in the announced version
// (MayPersistAs). When the version changes, the caller of Publish has waited for the
// writes in the old version before. So here too a server without an entry has stored
// nothing, and a server with an entry stores in the version of the entry.
//
// A server with the storage version API disabled (Config.Silent) announces nothing and
// stores in any version. It still takes part, by its identity Lease, which its process
// takes over from the previous one and never marks as registered. So the other servers
// agree on nothing while it is running. It stores nothing itself until no object has an
// entry of it or an agreement (silent.go).
package storageversion
