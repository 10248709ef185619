package stories

import (
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// discoveryCases are how the story of discovery is changed.
var discoveryCases = []story.Case{
	{
		Requirement: "AD-01", Reads: story.AnyOf(story.Lifecycle, asked(v2JSON), asked(v2YAML), asked(v2Proto), lastOfSweep),
		Fail: func(e *story.Edit) {
			d := e.Document(1, asked(v2Proto))
			d.Unreadable, d.Listing, d.Content = "read the protobuf: unexpected EOF", nil, ""
		},
		Weak: func(e *story.Edit) { e.Drop(story.AllOf(story.OfMember("cp3"), asked(v2YAML))) },
	},
	{
		Requirement: "AD-02", Reads: story.AnyOf(story.Lifecycle, definitions, asked(""), swept(v2JSON), single, lastOfSweep),
		Fail: func(e *story.Edit) {
			e.Document(1, story.AllOf(asked(""), at("/apis"))).ContentType = v2JSON
		},
		Weak: func(e *story.Edit) { e.Drop(story.AllOf(asked(""), story.OfMember("cp2"))) },
	},
	{
		Requirement: "AD-03", Reads: story.AnyOf(story.Lifecycle, asked(v2JSON+","+plainJSON), asked(plainJSON+","+v2JSON), swept(v2JSON), lastOfSweep),
		Fail: func(e *story.Edit) {
			e.Document(1, asked(plainJSON+","+v2JSON)).ContentType = v2JSON
		},
		Weak: func(e *story.Edit) { e.Drop(story.AllOf(story.OfMember("cp1"), asked(plainJSON+","+v2JSON))) },
	},
	{
		Requirement: "AD-04", Reads: story.AnyOf(story.Lifecycle, asked(unknownJSON), asked(unknownJSON+","+plainJSON), swept(v2JSON), lastOfSweep),
		Fail: func(e *story.Edit) { e.Document(1, asked(unknownJSON)).Status = "" },
		Weak: func(e *story.Edit) { e.Drop(story.AllOf(story.OfMember("cp1"), asked(unknownJSON))) },
	},
	{
		Requirement: "AD-05", Reads: story.AnyOf(story.Lifecycle, asked(betaJSON), lastOfSweep),
		Fail: func(e *story.Edit) {
			for _, path := range []string{"/api", "/apis"} {
				d := e.Document(1, story.AllOf(asked(betaJSON), at(path), story.OfMember("cp1")))
				d.Code, d.Listing, d.Content, d.ContentType, d.Status = 406, nil, "", plainJSON, "NotAcceptable"
			}
		},
		Weak: func(e *story.Edit) { e.Drop(story.AllOf(story.OfMember("cp3"), asked(betaJSON))) },
	},
	{
		Requirement: "AD-06", Reads: story.AnyOf(story.Lifecycle, definitions, swept(v2JSON), asked(v2YAML), asked(v2Proto), lastOfSweep),
		Fail: func(e *story.Edit) { e.Document(1, asked(v2YAML)).ETag = `"another"` },
		Weak: func(e *story.Edit) { e.Drop(story.AllOf(story.OfMember("cp3"), asked(v2YAML))) },
	},
	{
		Requirement: "AD-07", Reads: story.AnyOf(story.Lifecycle, story.AllOf(asked(v2JSON), unconditional, polls)),
		Fail: func(e *story.Edit) { e.Document(2, story.AllOf(polls, story.OfMember("cp2"))).ETag = `"mine"` },
		Weak: func(e *story.Edit) { e.Drop(exits) },
	},
	{
		Requirement: "AD-08", Reads: story.AnyOf(story.Lifecycle, definitions, swept(v2JSON), conditional(`"0"`), matching, lastOfSweep),
		Fail: func(e *story.Edit) {
			d := e.Document(1, matching)
			d.Code, d.Size = 200, 900
		},
		Weak: func(e *story.Edit) { e.Drop(story.AllOf(story.OfMember("cp1"), conditional(`"0"`))) },
	},
	{
		Requirement: "AD-09", Reads: story.AnyOf(story.Lifecycle, definitions, swept(v2JSON), conditionalRequests, lastOfSweep),
		Fail: func(e *story.Edit) { e.Document(1, conditional("*")).Code = 200 },
		Weak: func(e *story.Edit) { e.Drop(story.AllOf(story.OfMember("cp1"), conditional("*"))) },
	},
	{
		Requirement: "AD-10", Reads: story.AnyOf(story.Lifecycle, definitions, swept(v2JSON), single, lastOfSweep),
		Fail: func(e *story.Edit) {
			// One member serves a resource that its aggregated document forgets.
			e.RewriteListing(e.Event(1, story.AllOf(single, story.OfMember("cp1"), at("/apis/coordination.k8s.io/v1"))), addResource)
		},
		Also: map[requirement.ID]string{"AD-25": "the two documents are not equal then"},
		Weak: func(e *story.Edit) { e.Drop(story.AllOf(story.OfMember("cp2"), single)) },
	},
	{
		Requirement: "AD-11", Reads: story.AnyOf(story.Lifecycle, definitions, swept(v2JSON), story.AllOf(asked(""), at("/apis")), lastOfSweep),
		Fail: func(e *story.Edit) {
			e.RewriteListing(e.Event(1, story.AllOf(asked(unknownJSON+","+plainJSON), at("/apis"))), preferBeta)
			e.RewriteListing(e.Event(1, story.AllOf(asked(plainJSON+","+v2JSON), at("/apis"))), preferBeta)
			e.RewriteListing(e.Event(1, story.AllOf(asked(""), at("/apis"))), preferBeta)
		},
		Weak: func(e *story.Edit) { e.Drop(story.AllOf(story.OfMember("cp2"), plainGroups)) },
	},
	{
		Requirement: "AD-12", Reads: story.AnyOf(story.Lifecycle, story.AllOf(polls, asked(v2JSON))),
		Fail: func(e *story.Edit) {
			e.RewriteListing(e.Event(3, story.AllOf(polls, story.OfMember("cp2"))), reverseGroups)
		},
		Weak: func(e *story.Edit) { e.Drop(exits) },
	},
	{
		Requirement: "AD-13", Reads: story.AnyOf(story.Lifecycle, definitions, polls),
		Fail: func(e *story.Edit) {
			// cp2 goes on listing what was deleted, until it is restarted.
			e.Each(story.AllOf(polls, story.OfMember("cp2"), e.Before(exits), e.After(func(ev *history.Event) bool { return defines("buoys")(ev) && len(ev.Request.Defines.Versions) == 0 })), func(ev *history.Event) {
				e.RewriteListing(ev, keepDeleted)
			})
		},
		Weak: func(e *story.Edit) { e.StopAt(e.Find(2, defines("buoys"))) },
	},
	{
		Requirement: "AD-14", Reads: story.AnyOf(story.Lifecycle, definitions, faults, polls),
		Fail: func(e *story.Edit) {
			e.RewriteListing(e.Event(1, story.AllOf(polls, story.OfMember("cp1"), e.After(func(ev *history.Event) bool { return witness(ev) && ev.Fault.Group == unreachableGroup }))), markCurrent)
		},
		Weak: func(e *story.Edit) {
			e.Drop(story.AllOf(witness, func(ev *history.Event) bool { return ev.Fault.Group == unreachableGroup }))
		},
	},
	{
		Requirement: "AD-15", Reads: story.AnyOf(story.Lifecycle, definitions, polls, story.AllOf(swept(v2JSON), at("/apis")), lastOfSweep),
		Fail: func(e *story.Edit) {
			e.RewriteListing(e.Event(1, story.AllOf(polls, story.OfMember("cp2"), e.After(func(ev *history.Event) bool { return exits(ev) }))), omitCustom)
		},
		Weak: func(e *story.Edit) { e.Drop(story.AllOf(story.OfMember("cp3"), lastOfSweep)) },
	},
	{
		Requirement: "AD-16", Reads: story.AnyOf(story.Lifecycle, definitions, faults),
		Fail: func(e *story.Edit) {
			// The start with the dead server takes as long as that needs.
			e.Delay(e.Find(5, func(ev *history.Event) bool { return ev.Ready != nil }), 20*time.Second)
		},
		Weak: func(e *story.Edit) {
			e.Drop(story.AllOf(story.OfMember("cp2"), story.Lifecycle, e.Before(func(ev *history.Event) bool { return faults(ev) }), func(ev *history.Event) bool { return ev.Process == nil || ev.Process.Instance == 2 }))
		},
	},
	{
		Requirement: "AD-17", Reads: story.AnyOf(story.Lifecycle, definitions, faults, polls),
		Fail: func(e *story.Edit) {
			e.RewriteListing(e.Event(1, story.AllOf(polls, story.OfMember("cp3"), e.After(sharedHangs))), emptyShared)
		},
		Weak: func(e *story.Edit) {
			e.Drop(story.AllOf(polls, story.OfMember("cp3"), e.After(sharedHangs), stale(sharedGroup)))
		},
	},
	{
		Requirement: "AD-18", Reads: story.AnyOf(story.Lifecycle, definitions, faults, polls),
		Fail: func(e *story.Edit) {
			e.Each(story.AllOf(polls, story.OfMember("cp1"), e.After(unreachableHealed)), func(ev *history.Event) { e.RewriteListing(ev, markStale) })
		},
		Weak: func(e *story.Edit) {
			e.Drop(story.AllOf(polls, story.OfMember("cp3"), func(ev *history.Event) bool { return stale(sharedGroup)(ev) || stale(unreachableGroup)(ev) }))
		},
	},
	{
		Requirement: "AD-19", Reads: story.AnyOf(story.Lifecycle, definitions, polls),
		Fail: func(e *story.Edit) {
			e.RewriteListing(e.Event(1, story.AllOf(polls, story.OfMember("cp1"), e.After(func(ev *history.Event) bool {
				return ev.Request != nil && ev.Request.Verb == "delete" && ev.Request.Defines.Remote
			}))), omitSharedBeta)
		},
		Weak: func(e *story.Edit) {
			e.StopAt(e.Find(1, func(ev *history.Event) bool {
				return ev.Request != nil && ev.Request.Verb == "delete" && ev.Request.Name == "piers."+sharedGroup
			}))
		},
	},
	{
		Requirement: "AD-20", Reads: story.AnyOf(story.Lifecycle, story.AllOf(asked(v2JSON), unconditional, polls)),
		Fail: func(e *story.Edit) {
			e.RewriteListing(e.Event(2, story.AllOf(polls, story.OfMember("cp1"))), func(l *history.Listing) { l.Metadata = []string{"resourceVersion"} })
		},
		Weak: func(e *story.Edit) {
			e.Drop(story.AllOf(story.OfMember("cp3"), func(ev *history.Event) bool { return ev.DiscoveryDocument != nil }))
		},
	},
	{
		Requirement: "AD-21", Reads: story.AnyOf(story.Lifecycle, definitions, story.AllOf(swept(v2JSON), unconditional), asked(v2YAML), asked(v2Proto), metrics),
		Fail: func(e *story.Edit) {
			more := int64(40)
			d := e.Document(2, story.AllOf(metrics, story.OfMember("cp1")))
			more += *d.Aggregations
			d.Aggregations = &more
		},
		Weak: func(e *story.Edit) {
			e.Drop(story.AllOf(metrics, story.OfMember("cp3"), func(ev *history.Event) bool { return ev.DiscoveryDocument.Sweep == 2 }))
		},
	},
	{
		Requirement: "AD-22", Reads: story.AnyOf(story.Lifecycle, definitions, faults, polls),
		Fail: func(e *story.Edit) {
			e.RewriteListing(e.Event(1, story.AllOf(polls, story.OfMember("cp1"), e.After(func(ev *history.Event) bool { return witness(ev) && ev.Fault.Action == history.BackendWrongGroups }))), func(l *history.Listing) {
				l.Groups = slices.DeleteFunc(l.Groups, func(g history.ListedGroup) bool { return g.Name == "coordination.k8s.io" })
			})
		},
		Weak: func(e *story.Edit) {
			e.Drop(story.AllOf(faults, func(ev *history.Event) bool { return ev.Fault.Action == history.BackendGarbage }))
		},
	},
	{
		Requirement: "AD-28", Reads: story.AnyOf(story.Lifecycle, definitions, swept(v2JSON), clients, lastOfSweep),
		Fail: func(e *story.Edit) { e.Client(1, ofAggregated).Unmapped = []string{"coordination.k8s.io/v1 leases"} },
		Weak: func(e *story.Edit) { e.Drop(story.AllOf(clients, story.OfMember("cp2"))) },
	},
	{
		Requirement: "AD-29", Reads: story.AnyOf(story.Lifecycle, definitions, clients, lastOfSweep),
		Fail: func(e *story.Edit) { e.Client(1, ofAggregated).Requests = 3 },
		Weak: func(e *story.Edit) { e.Drop(story.AllOf(ofAggregated, story.OfMember("cp3"))) },
	},
	{
		Requirement: "AD-30", Reads: story.AnyOf(story.Lifecycle, definitions, swept(v2JSON), metrics),
		Fail: func(e *story.Edit) {
			none := int64(-1)
			e.Document(2, story.AllOf(metrics, story.OfMember("cp1"))).Durations = &none
		},
		Weak: func(e *story.Edit) { e.Drop(story.AllOf(metrics, story.OfMember("cp3"))) },
	},
	{
		Requirement: "AD-31", Reads: story.AnyOf(story.Lifecycle, definitions, swept(v2JSON), lastOfSweep),
		Fail: func(e *story.Edit) {
			e.Each(story.AllOf(documents, func(ev *history.Event) bool { return ev.DiscoveryDocument.Listing != nil }), func(ev *history.Event) {
				inGroup(story.BallastGroup, "v1", func(v *history.ListedVersion) {
					if v.Accepted != "" {
						v.Accepted, v.Accepts = "nothing", map[string][]string{"ballasts/status": {}}
					}
				})(ev.DiscoveryDocument.Listing)
			})
		},
		Weak: func(e *story.Edit) {
			e.Drop(story.AllOf(swept(v2JSON), story.OfMember("cp3")))
		},
	},
	{
		Requirement: "AD-25", Reads: story.AnyOf(story.Lifecycle, definitions, faults, story.AllOf(swept(v2JSON), at("/apis")), story.AllOf(asked(""), at("/apis")), single, lastOfSweep),
		Fail: func(e *story.Edit) {
			e.Each(story.AllOf(plainGroups, story.OfMember("cp1"), func(ev *history.Event) bool { return ev.DiscoveryDocument.Sweep == 2 }), func(ev *history.Event) {
				e.RewriteListing(ev, omitUnreachable)
			})
		},
		Weak: func(e *story.Edit) { e.Drop(story.AllOf(story.OfMember("cp3"), lastOfSweep)) },
	},
}

// What changes do to a listing.

func addResource(l *history.Listing) {
	v := &l.Groups[0].Versions[0]
	v.Resources = append(v.Resources, history.ListedResource{Name: "leasecandidates", Verbs: []string{"list"}})
	v.Inventory, v.Order = v.Inventory+" and candidates", v.Order+" and candidates"
}

func omitUnreachable(l *history.Listing) {
	l.Groups = slices.DeleteFunc(l.Groups, func(g history.ListedGroup) bool { return g.Name == unreachableGroup })
}

func preferBeta(l *history.Listing) { l.Groups[1].Preferred = "v1beta1" }

func reverseGroups(l *history.Listing) { slices.Reverse(l.Groups) }

func keepDeleted(l *history.Listing) {
	for i := range l.Groups {
		if l.Groups[i].Name != customGroup {
			continue
		}
		v := &l.Groups[i].Versions[0]
		if strings.Contains(v.Inventory, "buoys") {
			return
		}
		v.Resources = append(v.Resources, history.ListedResource{Name: "buoys"})
		v.Inventory, v.Order = v.Inventory+" and a ghost", v.Order+" and a ghost"
	}
}

// of each change to the version of a group.
func inGroup(group, version string, change func(*history.ListedVersion)) func(*history.Listing) {
	return func(l *history.Listing) {
		for i := range l.Groups {
			for j := range l.Groups[i].Versions {
				if v := &l.Groups[i].Versions[j]; l.Groups[i].Name == group && v.Version == version {
					change(v)
				}
			}
		}
	}
}

var (
	markCurrent = inGroup(unreachableGroup, "v1", func(v *history.ListedVersion) { v.Freshness = history.FreshnessCurrent })
	markStale   = inGroup(unreachableGroup, "v1", func(v *history.ListedVersion) { v.Freshness = history.FreshnessStale })
	emptyShared = inGroup(sharedGroup, "v1", func(v *history.ListedVersion) { v.Inventory, v.Order, v.Resources = "nothing", "nothing", nil })
)

func omitCustom(l *history.Listing) {
	l.Groups = slices.DeleteFunc(l.Groups, func(g history.ListedGroup) bool { return g.Name == customGroup })
}

func omitSharedBeta(l *history.Listing) {
	for i := range l.Groups {
		l.Groups[i].Versions = slices.DeleteFunc(l.Groups[i].Versions, func(v history.ListedVersion) bool {
			return l.Groups[i].Name == sharedGroup && v.Version == "v1beta1"
		})
	}
}

// Which events cases speak of.

func exits(ev *history.Event) bool {
	return ev.Process != nil && (ev.Process.Change == history.ProcessExited || ev.Process.Instance > 1)
}

func definitions(ev *history.Event) bool { return ev.Request != nil && ev.Request.Defines != nil }

func defines(resource string) story.Match {
	return func(ev *history.Event) bool { return definitions(ev) && ev.Request.Defines.Resource == resource }
}

func faults(ev *history.Event) bool { return ev.Fault != nil }

func witness(ev *history.Event) bool { return faults(ev) && ev.Fault.Phase == history.PhaseWitness }

func sharedHangs(ev *history.Event) bool {
	return witness(ev) && ev.Fault.Group == sharedGroup && ev.Fault.Action == history.BackendHang
}

func unreachableHealed(ev *history.Event) bool {
	return faults(ev) && ev.Fault.Group == unreachableGroup && ev.Fault.Phase == history.PhaseHeal
}

func documents(ev *history.Event) bool { return ev.DiscoveryDocument != nil }

func asked(accept string) story.Match {
	return func(ev *history.Event) bool {
		return documents(ev) && ev.DiscoveryDocument.Accept == accept && ev.DiscoveryDocument.IfNoneMatch == "" && (ev.DiscoveryDocument.Path == "/api" || ev.DiscoveryDocument.Path == "/apis")
	}
}

// swept are unconditional answers of thorough looks.
func swept(accept string) story.Match {
	return func(ev *history.Event) bool { return asked(accept)(ev) && ev.DiscoveryDocument.Sweep > 0 }
}

func polls(ev *history.Event) bool { return documents(ev) && ev.DiscoveryDocument.Sweep == 0 }

func unconditional(ev *history.Event) bool {
	return documents(ev) && ev.DiscoveryDocument.IfNoneMatch == ""
}

func conditionalRequests(ev *history.Event) bool {
	return documents(ev) && ev.DiscoveryDocument.IfNoneMatch != ""
}

func conditional(condition string) story.Match {
	return func(ev *history.Event) bool {
		return conditionalRequests(ev) && ev.DiscoveryDocument.IfNoneMatch == condition
	}
}

func matching(ev *history.Event) bool {
	return conditionalRequests(ev) && strings.HasPrefix(ev.DiscoveryDocument.IfNoneMatch, `"tag`)
}

func clients(ev *history.Event) bool { return documents(ev) && ev.DiscoveryDocument.Client != nil }

func ofAggregated(ev *history.Event) bool { return clients(ev) && !ev.DiscoveryDocument.Client.Legacy }

func single(ev *history.Event) bool {
	return documents(ev) && strings.Count(ev.DiscoveryDocument.Path, "/") > 1
}

func plainGroups(ev *history.Event) bool {
	return documents(ev) && ev.DiscoveryDocument.Path == "/apis" && ev.DiscoveryDocument.Listing != nil && ev.DiscoveryDocument.Listing.Kind == "APIGroupList"
}

func metrics(ev *history.Event) bool {
	return documents(ev) && ev.DiscoveryDocument.Path == history.MetricsPath
}

func lastOfSweep(ev *history.Event) bool { return documents(ev) && ev.DiscoveryDocument.Last }

func at(path string) story.Match {
	return func(ev *history.Event) bool { return documents(ev) && ev.DiscoveryDocument.Path == path }
}

func stale(group string) story.Match {
	return func(ev *history.Event) bool {
		return documents(ev) && ev.DiscoveryDocument.Listing != nil && slices.ContainsFunc(ev.DiscoveryDocument.Listing.Groups, func(g history.ListedGroup) bool {
			return g.Name == group && slices.ContainsFunc(g.Versions, func(v history.ListedVersion) bool { return v.Freshness == history.FreshnessStale })
		})
	}
}
