package main

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

// discoveryCases are how the story of discovery is changed.
var discoveryCases = []testCase{
	{
		id: "AD-01", reads: either(instances, asked(v2JSON), asked(v2YAML), asked(v2Proto), lastOfSweep),
		fails: "answered with a body that cannot be read",
		fail: func(e *edit) {
			d := e.document(1, asked(v2Proto))
			d.Unreadable, d.Listing, d.Content = "read the protobuf: unexpected EOF", nil, ""
		},
		why:  "saw 0 aggregated documents in application/yaml from the member with the fewest, and needs at least 2",
		weak: func(e *edit) { e.drop(both(of("cp3"), asked(v2YAML))) },
	},
	{
		id: "AD-02", reads: either(instances, definitions, asked(""), swept(v2JSON), single, lastOfSweep),
		fails: "cp1 was asked at /apis without a word of aggregation",
		fail: func(e *edit) {
			e.document(1, both(asked(""), at("/apis"))).ContentType = v2JSON
		},
		why:  "saw 0 answers without a word of aggregation from the member with the fewest, and needs at least 2",
		weak: func(e *edit) { e.drop(both(asked(""), of("cp2"))) },
	},
	{
		id: "AD-03", reads: either(instances, asked(v2JSON+","+plainJSON), asked(plainJSON+","+v2JSON), swept(v2JSON), lastOfSweep),
		fails: "was to give the first, application/json, not aggregated",
		fail: func(e *edit) {
			e.document(1, asked(plainJSON+","+v2JSON)).ContentType = v2JSON
		},
		why:  "saw 0 choices of the form that is not aggregated at the member with the fewest, and needs at least 2",
		weak: func(e *edit) { e.drop(both(of("cp1"), asked(plainJSON+","+v2JSON))) },
	},
	{
		id: "AD-04", reads: either(instances, asked(unknownJSON), asked(unknownJSON+","+plainJSON), swept(v2JSON), lastOfSweep),
		fails: "was to answer 406 with a Status",
		fail:  func(e *edit) { e.document(1, asked(unknownJSON)).Status = "" },
		why:   "saw 0 refusals of what is not served, by the member with the fewest, and needs at least 2",
		weak:  func(e *edit) { e.drop(both(of("cp1"), asked(unknownJSON))) },
	},
	{
		id: "AD-05", reads: either(instances, asked(betaJSON), lastOfSweep),
		fails: "cp1 runs release 1.2, which is to serve v2beta1: true",
		fail: func(e *edit) {
			for _, path := range []string{"/api", "/apis"} {
				d := e.document(1, both(asked(betaJSON), at(path), of("cp1")))
				d.Code, d.Listing, d.Content, d.ContentType, d.Status = 406, nil, "", plainJSON, "NotAcceptable"
			}
		},
		why:  "saw 0 looks at the member with the fewest whose release is known to serve v2beta1 or not, and needs at least 1",
		weak: func(e *edit) { e.drop(both(of("cp3"), asked(betaJSON))) },
	},
	{
		id: "AD-06", reads: either(instances, definitions, swept(v2JSON), asked(v2YAML), asked(v2Proto), lastOfSweep),
		fails: "in application/yaml",
		fail:  func(e *edit) { e.document(1, asked(v2YAML)).ETag = `"another"` },
		why:   "saw 0 documents in application/yaml compared with JSON at the member with the fewest, and needs at least 2",
		weak:  func(e *edit) { e.drop(both(of("cp3"), asked(v2YAML))) },
	},
	{
		id: "AD-07", reads: either(instances, both(asked(v2JSON), unconditional, polls)),
		fails: "to a document at /apis that has the tag",
		fail:  func(e *edit) { e.document(2, both(polls, of("cp2"))).ETag = `"mine"` },
		why:   "saw 0 documents that a member had before and after a restart, and needs at least 1",
		weak:  func(e *edit) { e.drop(exits) },
	},
	{
		id: "AD-08", reads: either(instances, definitions, swept(v2JSON), conditional(`"0"`), matching, lastOfSweep),
		fails: "which is the document's tag, and answered 200",
		fail: func(e *edit) {
			d := e.document(1, matching)
			d.Code, d.Size = 200, 900
		},
		why:  "saw 0 conditions that do not match at the member with the fewest, and needs at least 2",
		weak: func(e *edit) { e.drop(both(of("cp1"), conditional(`"0"`))) },
	},
	{
		id: "AD-09", reads: either(instances, definitions, swept(v2JSON), conditioned, lastOfSweep),
		fails: "with If-None-Match: *",
		fail:  func(e *edit) { e.document(1, conditional("*")).Code = 200 },
		why:   "saw 0 asterisks at the member with the fewest, and needs at least 2",
		weak:  func(e *edit) { e.drop(both(of("cp1"), conditional("*"))) },
	},
	{
		id: "AD-10", reads: either(instances, definitions, swept(v2JSON), single, lastOfSweep),
		fails: "leasecandidates is missing there",
		fail: func(e *edit) {
			// One member serves a resource that its aggregated document forgets.
			e.rewrite(e.event(1, both(single, of("cp1"), at("/apis/coordination.k8s.io/v1"))), oneMore)
		},
		also: map[requirement.ID]string{"AD-25": "the two documents are not equal then"},
		why:  "saw 0 group-versions of its own compared at the member with the fewest, and needs at least 2",
		weak: func(e *edit) { e.drop(both(of("cp2"), single)) },
	},
	{
		id: "AD-11", reads: either(instances, definitions, swept(v2JSON), both(asked(""), at("/apis")), lastOfSweep),
		fails: "cp1 prefers reference.evenkeel.dev/v1beta1",
		fail: func(e *edit) {
			e.rewrite(e.event(1, both(asked(unknownJSON+","+plainJSON), at("/apis"))), preferBeta)
			e.rewrite(e.event(1, both(asked(plainJSON+","+v2JSON), at("/apis"))), preferBeta)
			e.rewrite(e.event(1, both(asked(""), at("/apis"))), preferBeta)
		},
		why:  "saw 0 groups of several versions at the member with the fewest, and needs at least 2",
		weak: func(e *edit) { e.drop(both(of("cp2"), plainGroups)) },
	},
	{
		id: "AD-12", reads: either(instances, both(polls, asked(v2JSON))),
		fails: "in another order",
		fail:  func(e *edit) { e.rewrite(e.event(3, both(polls, of("cp2"))), turnAround) },
		why:   "saw 0 contents that a member had in one order before and after a restart, and needs at least 1",
		weak:  func(e *edit) { e.drop(exits) },
	},
	{
		id: "AD-13", reads: either(instances, definitions, polls),
		fails: "cp2 still has buoys in lights.evenkeel.dev/v1",
		fail: func(e *edit) {
			// cp2 goes on listing what was deleted, until it is restarted.
			e.each(both(polls, of("cp2"), e.before(exits), e.after(func(ev *history.Event) bool { return defines("buoys")(ev) && len(ev.Request.Defines.Versions) == 0 })), func(ev *history.Event) {
				e.rewrite(ev, haunt)
			})
		},
		why:  "saw 0 custom resources deleted that the member with the fewest showed, and needs at least 1",
		weak: func(e *edit) { e.stopAt(e.find(2, defines("buoys"))) },
	},
	{
		id: "AD-14", reads: either(instances, definitions, faults, polls),
		fails: `cp1 never reached the server of wrecks.aggregated.evenkeel.dev/v1, and calls it "Current"`,
		fail: func(e *edit) {
			e.rewrite(e.event(1, both(polls, of("cp1"), e.after(func(ev *history.Event) bool { return witness(ev) && ev.Fault.Group == wrecksGroup }))), freshen)
		},
		why: "saw 0 group-versions of servers never reached that the member with the fewest listed as stale, and needs at least 1",
		weak: func(e *edit) {
			e.drop(both(witness, func(ev *history.Event) bool { return ev.Fault.Group == wrecksGroup }))
		},
	},
	{
		id: "AD-15", reads: either(instances, definitions, polls, both(swept(v2JSON), at("/apis")), lastOfSweep),
		fails: "cp2 was ready and does not have lights",
		fail: func(e *edit) {
			e.rewrite(e.event(1, both(polls, of("cp2"), e.after(func(ev *history.Event) bool { return exits(ev) }))), forget)
		},
		why:  "saw 0 processes of the member with the fewest whose first document was compared with a later one, and needs at least 1",
		weak: func(e *edit) { e.drop(both(of("cp3"), lastOfSweep)) },
	},
	{
		id: "AD-16", reads: either(instances, definitions, faults),
		fails: "while the server of wrecks.aggregated.evenkeel.dev was dead",
		fail: func(e *edit) {
			// The start with the dead server takes as long as that needs.
			late := e.find(5, func(ev *history.Event) bool { return ev.Ready != nil })
			for i := late; i < len(e.events); i++ {
				e.events[i].At += 20_000 * ms
				if e.events[i].From > 0 {
					e.events[i].From += 20_000 * ms
				}
			}
		},
		why: "saw 0 restarts while none was, and needs at least 1",
		weak: func(e *edit) {
			e.drop(both(of("cp2"), instances, e.before(func(ev *history.Event) bool { return faults(ev) }), func(ev *history.Event) bool { return ev.Process == nil || ev.Process.Instance == 2 }))
		},
	},
	{
		id: "AD-17", reads: either(instances, definitions, faults, polls),
		fails: "cp3 has lost what it knew of its resources",
		fail: func(e *edit) {
			e.rewrite(e.event(1, both(polls, of("cp3"), e.after(hangsTides))), empty)
		},
		why:  "saw 0 outages in which the member with the fewest kept what it knew, and needs at least 1",
		weak: func(e *edit) { e.drop(both(polls, of("cp3"), e.after(hangsTides), stale(tidesGroup))) },
	},
	{
		id: "AD-18", reads: either(instances, definitions, faults, polls),
		fails: "cp1 does not call it current",
		fail: func(e *edit) {
			e.each(both(polls, of("cp1"), e.after(healsWrecks)), func(ev *history.Event) { e.rewrite(ev, wither) })
		},
		why: "saw 0 recoveries of aggregated servers that the member with the fewest showed, and needs at least 1",
		weak: func(e *edit) {
			e.drop(both(polls, of("cp3"), func(ev *history.Event) bool { return stale(tidesGroup)(ev) || stale(wrecksGroup)(ev) }))
		},
	},
	{
		id: "AD-19", reads: either(instances, definitions, polls),
		fails: "cp1 does not list tides.aggregated.evenkeel.dev/v1beta1",
		fail: func(e *edit) {
			e.rewrite(e.event(1, both(polls, of("cp1"), e.after(func(ev *history.Event) bool {
				return ev.Request != nil && ev.Request.Verb == "delete" && ev.Request.Defines.Remote
			}))), sinkPiers)
		},
		why: "saw 0 removals of a custom resource that an APIService survived, at the member with the fewest, and needs at least 1",
		weak: func(e *edit) {
			e.stopAt(e.find(1, func(ev *history.Event) bool {
				return ev.Request != nil && ev.Request.Verb == "delete" && ev.Request.Name == "piers."+tidesGroup
			}))
		},
	},
	{
		id: "AD-20", reads: either(instances, both(asked(v2JSON), unconditional, polls)),
		fails: "cp1 gives the list at /apis a resourceVersion",
		fail: func(e *edit) {
			e.rewrite(e.event(2, both(polls, of("cp1"))), func(l *history.Listing) { l.Metadata = []string{"resourceVersion"} })
		},
		why:  "saw 0 documents of the member with the fewest, and needs at least 2",
		weak: func(e *edit) { e.drop(both(of("cp3"), func(ev *history.Event) bool { return ev.Document != nil })) },
	},
	{
		id: "AD-21", reads: either(instances, definitions, both(swept(v2JSON), unconditional), asked(v2YAML), asked(v2Proto), metrics),
		fails: "cp1 counted 40 aggregations while it was asked",
		fail: func(e *edit) {
			more := int64(40)
			d := e.document(2, both(metrics, of("cp1")))
			more += *d.Aggregations
			d.Aggregations = &more
		},
		why: "saw 0 changes that the counter of the member with the fewest grew with, and needs at least 1",
		weak: func(e *edit) {
			e.drop(both(metrics, of("cp3"), func(ev *history.Event) bool { return ev.Document.Sweep == 2 }))
		},
	},
	{
		id: "AD-22", reads: either(instances, definitions, faults, polls),
		fails: `cp1 does not list coordination.k8s.io/v1 any more`,
		fail: func(e *edit) {
			e.rewrite(e.event(1, both(polls, of("cp1"), e.after(func(ev *history.Event) bool { return witness(ev) && ev.Fault.Action == history.BackendForeign }))), func(l *history.Listing) {
				l.Groups = slices.DeleteFunc(l.Groups, func(g history.ListedGroup) bool { return g.Name == "coordination.k8s.io" })
			})
		},
		why: "saw 3 kinds of misbehaviour that every member bore, and needs at least 4",
		weak: func(e *edit) {
			e.drop(both(faults, func(ev *history.Event) bool { return ev.Fault.Action == history.BackendGarbage }))
		},
	},
	{
		id: "AD-25", reads: either(instances, definitions, faults, both(swept(v2JSON), at("/apis")), both(asked(""), at("/apis")), single, lastOfSweep),
		fails: `cp1 lists wrecks.aggregated.evenkeel.dev/v1, but not in the list of groups that is not aggregated`,
		fail: func(e *edit) {
			e.each(both(plainGroups, of("cp1"), func(ev *history.Event) bool { return ev.Document.Sweep == 2 }), func(ev *history.Event) {
				e.rewrite(ev, forgetWrecks)
			})
		},
		why:  "saw 0 quiet looks at the member with the fewest that found all documents equal, and needs at least 1",
		weak: func(e *edit) { e.drop(both(of("cp3"), lastOfSweep)) },
	},
}

// What changes do to a listing.

func oneMore(l *history.Listing) {
	v := &l.Groups[0].Versions[0]
	v.Resources = append(v.Resources, history.ListedResource{Name: "leasecandidates", Verbs: []string{"list"}})
	v.Inventory, v.Order = v.Inventory+" and candidates", v.Order+" and candidates"
}

func forgetWrecks(l *history.Listing) {
	l.Groups = slices.DeleteFunc(l.Groups, func(g history.ListedGroup) bool { return g.Name == wrecksGroup })
}

func preferBeta(l *history.Listing) { l.Groups[1].Preferred = "v1beta1" }

func turnAround(l *history.Listing) { slices.Reverse(l.Groups) }

func haunt(l *history.Listing) {
	for i := range l.Groups {
		if l.Groups[i].Name != lightsGroup {
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
	freshen = inGroup(wrecksGroup, "v1", func(v *history.ListedVersion) { v.Freshness = history.FreshnessCurrent })
	wither  = inGroup(wrecksGroup, "v1", func(v *history.ListedVersion) { v.Freshness = history.FreshnessStale })
	empty   = inGroup(tidesGroup, "v1", func(v *history.ListedVersion) { v.Inventory, v.Order, v.Resources = "nothing", "nothing", nil })
)

func forget(l *history.Listing) {
	l.Groups = slices.DeleteFunc(l.Groups, func(g history.ListedGroup) bool { return g.Name == lightsGroup })
}

func sinkPiers(l *history.Listing) {
	for i := range l.Groups {
		l.Groups[i].Versions = slices.DeleteFunc(l.Groups[i].Versions, func(v history.ListedVersion) bool {
			return l.Groups[i].Name == tidesGroup && v.Version == "v1beta1"
		})
	}
}

// Which events cases speak of.

func instances(ev *history.Event) bool { return ev.Process != nil || ev.Ready != nil }

func exits(ev *history.Event) bool {
	return ev.Process != nil && (ev.Process.Change == history.ProcessExited || ev.Process.Instance > 1)
}

func definitions(ev *history.Event) bool { return ev.Request != nil && ev.Request.Defines != nil }

func defines(resource string) keep {
	return func(ev *history.Event) bool { return definitions(ev) && ev.Request.Defines.Resource == resource }
}

func faults(ev *history.Event) bool { return ev.Fault != nil }

func witness(ev *history.Event) bool { return faults(ev) && ev.Fault.Phase == history.PhaseWitness }

func hangsTides(ev *history.Event) bool {
	return witness(ev) && ev.Fault.Group == tidesGroup && ev.Fault.Action == history.BackendHang
}

func healsWrecks(ev *history.Event) bool {
	return faults(ev) && ev.Fault.Group == wrecksGroup && ev.Fault.Phase == history.PhaseHeal
}

func documents(ev *history.Event) bool { return ev.Document != nil }

func asked(accept string) keep {
	return func(ev *history.Event) bool {
		return documents(ev) && ev.Document.Accept == accept && ev.Document.IfNoneMatch == "" && (ev.Document.Path == "/api" || ev.Document.Path == "/apis")
	}
}

// swept are unconditional answers of thorough looks.
func swept(accept string) keep {
	return func(ev *history.Event) bool { return asked(accept)(ev) && ev.Document.Sweep > 0 }
}

func polls(ev *history.Event) bool { return documents(ev) && ev.Document.Sweep == 0 }

func unconditional(ev *history.Event) bool { return documents(ev) && ev.Document.IfNoneMatch == "" }

func conditioned(ev *history.Event) bool { return documents(ev) && ev.Document.IfNoneMatch != "" }

func conditional(condition string) keep {
	return func(ev *history.Event) bool { return conditioned(ev) && ev.Document.IfNoneMatch == condition }
}

func matching(ev *history.Event) bool {
	return conditioned(ev) && strings.HasPrefix(ev.Document.IfNoneMatch, `"tag`)
}

func single(ev *history.Event) bool {
	return documents(ev) && strings.Count(ev.Document.Path, "/") > 1
}

func plainGroups(ev *history.Event) bool {
	return documents(ev) && ev.Document.Path == "/apis" && ev.Document.Listing != nil && ev.Document.Listing.Kind == "APIGroupList"
}

func metrics(ev *history.Event) bool { return documents(ev) && ev.Document.Path == history.MetricsPath }

func lastOfSweep(ev *history.Event) bool { return documents(ev) && ev.Document.Last }

func at(path string) keep {
	return func(ev *history.Event) bool { return documents(ev) && ev.Document.Path == path }
}

func stale(group string) keep {
	return func(ev *history.Event) bool {
		return documents(ev) && ev.Document.Listing != nil && slices.ContainsFunc(ev.Document.Listing.Groups, func(g history.ListedGroup) bool {
			return g.Name == group && slices.ContainsFunc(g.Versions, func(v history.ListedVersion) bool { return v.Freshness == history.FreshnessStale })
		})
	}
}

// event is the nth event that fits.
func (e *edit) event(nth int, fits keep) *history.Event { return &e.events[e.find(nth, fits)] }

// document is the nth document that fits, to be changed.
func (e *edit) document(nth int, fits keep) *history.Document {
	ev := e.event(nth, fits)
	copied := *ev.Document
	ev.Document = &copied
	return &copied
}

// rewrite has a document say something else, under another tag.
func (e *edit) rewrite(ev *history.Event, change func(*history.Listing)) {
	copied := *ev.Document
	change(copied.Listing)
	copied.Content += "-otherwise"
	copied.Digest += "-otherwise"
	if copied.ETag != "" {
		copied.ETag = strings.TrimSuffix(copied.ETag, `"`) + `-otherwise"`
	}
	ev.Document = &copied
}

// after are the events behind the first one that fits, and before those in front.
func (e *edit) after(fits keep) keep {
	from := e.event(1, fits).At
	return func(ev *history.Event) bool { return ev.At > from }
}

func (e *edit) before(fits keep) keep {
	until := e.event(1, fits).At
	return func(ev *history.Event) bool { return ev.At < until }
}
