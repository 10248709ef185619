// Package discovery is KEP-3352, aggregated discovery: two documents, at /api
// and /apis, that tell a client everything a cluster serves in two requests,
// instead of one request for each group-version.
//
// The decisions are pure functions: which form a client gets (negotiation.go),
// whether it has it already (conditional.go), what the document says
// (merge.go, plain.go), what is believed of a remote server (adopt.go,
// standing.go) and when it is asked again (schedule.go), and what several members
// host together (union.go). Around them stand the Catalog, which keeps the
// document in step with what is hosted, the Handler, which serves it, and the
// Remotes, which ask aggregated servers.
//
// # One source for both forms
//
// The list of groups that is not aggregated is derived from the aggregated
// document. So the two forms cannot contradict each other, nor can an old client
// and a new one.
//
// # Members that host different things
//
// During an upgrade members host different resources. By KEP-4020 a member lists the
// resources of its peers too, and proxies requests for them: the Peers fetch from the
// other members, the Neighborhood merges their answers with the Catalog, and the Router
// proxies. The list that is not aggregated always has the resources of one member alone.
//
// # Computed once per change
//
// A change of what is hosted wakes the Catalog, which merges, encodes and hashes
// the document once, and publishes it only if its content differs. Each form
// (version, encoding, compression) is made once per document: those that were
// requested of the previous document are made before the new one is published, so
// that requests only write bytes that exist already.
//
// What did not change is not made again: the form that clients ask for is put
// together from group-versions as they were encoded before (canonical.go), and is
// compressed in blocks, most of which are still the same (pack.go). So a change
// costs next to nothing where there are thousands of CRDs.
//
// # The tag
//
// An ETag is the digest of the document's content and of nothing else, so servers
// that serve the same have the same tag, also after a restart. It names the
// content and not its bytes: all forms share it, and Vary tells caches apart
// which form they hold.
package discovery
