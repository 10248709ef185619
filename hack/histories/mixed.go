package main

import "github.com/evenkeel/evenkeel/pkg/history"

const (
	keptLease = "kube-system/evenkeel-fields-kept"
	newLease  = "kube-system/evenkeel-fields-new"
)

// mixedStory is a run in which coordination is switched off at a member, whose
// instance then leads without it, and on again.
func mixedStory() []history.Event { return tellMixed(nil) }

func tellMixed(otherwise map[string]func(*helm)) []history.Event {
	h := newHelm(otherwise)
	cp1, cp2, cp3 := h.members[0], h.members[1], h.members[2]
	h.afloat()
	h.coordinate("cp3_c")
	a, b, c := h.manager(cp1, "1.2"), h.manager(cp2, "1.2"), h.manager(cp3, "1.2")
	h.pass(2500)
	h.vote(managersLease, a, b, c)
	h.sail(10)

	h.yield(managersLease)
	h.withdraw(a)
	h.again(cp1, history.FeatureCoordination)
	h.fields(cp2, "create", keptLease, true)
	h.fields(cp1, "update", keptLease, true)
	h.point("written without")
	h.fields(cp1, "create", newLease, false)
	h.fields(cp1, "update", newLease, false)
	// The instance without coordination is the first.
	h.claim(managersLease, "cp1_2")
	h.act("cp1_2")
	h.pass(1000)
	h.claim(managersLease, "cp1_2")
	h.act("cp1_2")
	h.pass(1000)
	h.yield(managersLease)
	h.extend(coordinatorsLease)
	h.vote(managersLease, b, c)
	h.point("coordinated again")

	h.again(cp1)
	d := h.manager(cp1, "1.2")
	h.pass(2500)
	h.ping(d)
	h.answer(d)
	h.fields(cp1, "create", newLease, true)
	h.sail(10)
	return h.end()
}

// again has a member's API server end and start without features.
func (h *helm) again(m *member, off ...string) {
	m.off = off
	h.process(m, history.ProcessExited, "exit status 0")
	h.exit(m, "exit status 0", true)
	h.start(m, m.release)
	h.ready(m, 200, true)
	h.extend(coordinatorsLease)
}

// fields has the fields that are for coordination written to a Lease; stays is whether
// they are in it then.
func (h *helm) fields(m *member, verb, lease string, stays bool) {
	l := &history.Lease{Holder: lease, Duration: 3600, Renewed: h.wall()}
	if stays {
		l.Strategy, l.Preferred = oldestStrategy, lease+"-next"
	}
	h.leases[lease] = l
	written := h.stored("/registry/leases/"+lease, "coordination.k8s.io/v1", "Lease", lease, history.Stored{Lease: l})
	h.request(m, history.Request{
		Class: history.ClassElection, Election: history.ElectionFields, Verb: verb,
		Group: "coordination.k8s.io", Version: "v1", Resource: "leases", Name: lease, Code: 200, ResourceVersion: written,
	})
}

// mixedCases are how that story is changed.
var mixedCases = []testCase{
	{
		id: "CLE-18", reads: either(leaderLeases, candidatesStored, actions),
		fails: "cp1_2 acted as the leader of kube-system/kube-controller-manager without coordination, and cp2_1, who took the Lease later by coordination",
		fail:  besides(tellMixed, "coordinated again", func(h *helm) { h.act("cp1_2") }),
		why:   "saw 0 changes of who acts from one without coordination to one with it, and needs at least 1",
		weak:  func(e *edit) { e.stopAt(e.find(1, heldBy("cp1_2")) + 2) },
	},
	{
		id: "CLE-25", reads: either(leading4355, requests(history.ClassElection), kinds(history.KindReady)),
		fails: "cp1, without coordination, stored the fields that are for it in a Lease that had none",
		fail:  besides(tellMixed, "written without", func(h *helm) { h.fields(h.members[0], "create", newLease+"-more", true) }),
		why:   "saw 0 writes without coordination whose new fields were dropped, and needs at least 1",
		weak: func(e *edit) {
			e.drop(func(ev *history.Event) bool {
				return ev.Request != nil && ev.Request.Name == newLease && ev.Member == "cp1"
			})
		},
	},
}
