package defects

// Defects of aggregated discovery, KEP-3352.
const (
	AD01FalseProtobuf       ID = "AD-01-false-protobuf"
	AD02AggregatedByDefault ID = "AD-02-aggregated-by-default"
	AD03AggregatedFirst     ID = "AD-03-aggregated-first"
	AD04BareRefusal         ID = "AD-04-bare-refusal"
	AD05BetaForEver         ID = "AD-05-beta-for-ever"
	AD06TagPerEncoding      ID = "AD-06-tag-per-encoding"
	AD07TagPerProcess       ID = "AD-07-tag-per-process"
	AD08NeverUnchanged      ID = "AD-08-never-unchanged"
	AD08AlwaysUnchanged     ID = "AD-08-always-unchanged"
	AD09LiteralTags         ID = "AD-09-literal-tags"
	AD10LosesShortNames     ID = "AD-10-loses-short-names"
	AD10ListsFirstVersion   ID = "AD-10-lists-first-version"
	AD10KeepsFirstAnswer    ID = "AD-10-keeps-first-answer"
	AD11OldestFirst         ID = "AD-11-oldest-first"
	AD12OrderPerProcess     ID = "AD-12-order-per-process"
	AD13Ghost               ID = "AD-13-ghost"
	AD13KeepsNames          ID = "AD-13-keeps-names"
	AD13ShowsLate           ID = "AD-13-shows-late"
	AD14UnfetchedCurrent    ID = "AD-14-unfetched-current"
	AD15ReadyEarly          ID = "AD-15-ready-early"
	AD16WaitsForRemotes     ID = "AD-16-waits-for-remotes"
	AD17Forgets             ID = "AD-17-forgets"
	AD18StaleForEver        ID = "AD-18-stale-for-ever"
	AD19TakesTheGroup       ID = "AD-19-takes-the-group"
	AD19Blinks              ID = "AD-19-blinks"
	AD20Revision            ID = "AD-20-revision"
	AD21CountsReads         ID = "AD-21-counts-reads"
	AD22BelievesAnything    ID = "AD-22-believes-anything"
	AD22FallsOver           ID = "AD-22-falls-over"
	AD23ForgetsResources    ID = "AD-23-forgets-resources"
	AD23LocalTellsAll       ID = "AD-23-local-tells-all"
	AD23HandsNothingOn      ID = "AD-23-hands-nothing-on"
	AD23AsksWithoutUser     ID = "AD-23-asks-without-user"
	AD24KeepsPeers          ID = "AD-24-keeps-peers"
	AD25LosesChanges        ID = "AD-25-loses-changes"
	AD25TaintsOthers        ID = "AD-25-taints-others"
	AD26TakesOthersOut      ID = "AD-26-takes-others-out"
	AD26TaintsOne           ID = "AD-26-taints-one"
	AD27ServesOn            ID = "AD-27-serves-on"
	AD28WrongScope          ID = "AD-28-wrong-scope"
	AD29OneByOne            ID = "AD-29-one-by-one"
	AD30Untimed             ID = "AD-30-untimed"
	AD31AcceptsNothing      ID = "AD-31-accepts-nothing"
)

var discoveryCatalog = []Defect{
	{AD01FalseProtobuf, "AD-01", inAPIServer, "a client that asks for protobuf gets JSON with the content type of protobuf"},
	{AD02AggregatedByDefault, "AD-02", inAPIServer, "a client without an Accept header gets the aggregated document"},
	{AD03AggregatedFirst, "AD-03", inAPIServer, "a client that prefers the other form gets an aggregated one"},
	{AD04BareRefusal, "AD-04", inAPIServer, "a refusal with 406 has no body"},
	{AD05BetaForEver, "AD-05", inAPIServer, "v2beta1 is served in every release"},
	{AD06TagPerEncoding, "AD-06", inAPIServer, "each encoding has a tag of its own"},
	{AD07TagPerProcess, "AD-07", inAPIServer, "the tag depends on the process that gives it"},
	{AD08NeverUnchanged, "AD-08", inAPIServer, "a matching condition is answered with the whole document"},
	{AD08AlwaysUnchanged, "AD-08", inAPIServer, "any condition is answered with 304"},
	{AD09LiteralTags, "AD-09", inAPIServer, "a condition matches only if it is the tag to the letter"},
	{AD10ListsFirstVersion, "AD-10", inAPIServer, "of an aggregated server without aggregated discovery only one version is listed with its resources"},
	{AD10KeepsFirstAnswer, "AD-10", inAPIServer, "what an aggregated server hosted when it was asked first stays listed, whatever it hosts later"},
	{AD10LosesShortNames, "AD-10", inAPIServer, "the aggregated document leaves short names out"},
	{AD11OldestFirst, "AD-11", inAPIServer, "the aggregated document has the preferred version of a group last"},
	{AD12OrderPerProcess, "AD-12", inAPIServer, "each process begins the document with another group"},
	{AD13Ghost, "AD-13", inAPIServer, "custom resources that are deleted stay in the document"},
	{AD13KeepsNames, "AD-13", inAPIServer, "a custom resource keeps the short names that it had at first in the aggregated document"},
	{AD13ShowsLate, "AD-13", inAPIServer, "a version that a custom resource has no more stays listed for 11 seconds"},
	{AD14UnfetchedCurrent, "AD-14", inAPIServer, "a group-version that was never fetched from an aggregated server is current"},
	{AD15ReadyEarly, "AD-15", inAPIServer, "readiness does not wait for custom resources, which are published late"},
	{AD16WaitsForRemotes, "AD-16", inAPIServer, "readiness waits 17 seconds for aggregated servers that do not answer"},
	{AD17Forgets, "AD-17", inAPIServer, "after an outage of an aggregated server its group-versions are not listed"},
	{AD18StaleForEver, "AD-18", inAPIServer, "an aggregated server that was unreachable once stays stale forever"},
	{AD19TakesTheGroup, "AD-19", inAPIServer, "removing an APIService also takes the custom resources of its group out"},
	{AD19Blinks, "AD-19", inAPIServer, "removing an APIService takes the custom resources of its group out for some seconds"},
	{AD20Revision, "AD-20", inAPIServer, "the list has a resourceVersion"},
	{AD21CountsReads, "AD-21", inAPIServer, "every read is counted as an aggregation"},
	{AD22BelievesAnything, "AD-22", inAPIServer, "an aggregated server can add resources to any group"},
	{AD22FallsOver, "AD-22", inAPIServer, "a resource without a kind in the document of an aggregated server ends the process"},
	{AD23ForgetsResources, "AD-23", inAPIServer, "the group-versions of peers are listed without their resources"},
	{AD23LocalTellsAll, "AD-23", inAPIServer, "the document of the server's own resources lists those of its peers too"},
	{AD23HandsNothingOn, "AD-23", inAPIServer, "requests for resources that only peers host are not proxied"},
	{AD23AsksWithoutUser, "AD-23", inAPIServer, "peers are asked for discovery with a proxy's certificate and without a user, so that they refuse to answer"},
	{AD24KeepsPeers, "AD-24", inAPIServer, "the resources of a peer that has left stay listed"},
	{AD25LosesChanges, "AD-25", inAPIServer, "changes that follow a publication at once are not published"},
	{AD25TaintsOthers, "AD-25", inAPIServer, "after the removal of a custom resource a built-in group-version is stale forever"},
	{AD26TakesOthersOut, "AD-26", inAPIServer, "an aggregated server that fails takes the group-versions of all others out until they are fetched again"},
	{AD26TaintsOne, "AD-26", inAPIServer, "each time that an aggregated server fails, one group-version of another one is called stale for some seconds"},
	{AD27ServesOn, "AD-27", inAPIServer, "a server that is started without aggregated discovery serves it all the same"},
	{AD28WrongScope, "AD-28", inAPIServer, "the aggregated document calls the resources of one group cluster-scoped that are in namespaces"},
	{AD29OneByOne, "AD-29", inAPIServer, "a client that also accepts the form that is not aggregated gets that one"},
	{AD30Untimed, "AD-30", inAPIServer, "aggregations are counted, and how long they take is not measured"},
	{AD31AcceptsNothing, "AD-31", inAPIServer, "no subresource tells which kinds it accepts"},
}
