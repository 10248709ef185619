package discovery_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/history"
)

func TestAD23(t *testing.T) {
	const long = 31 * time.Second
	known := func() *historyBuilder { // everybody was looked at before
		t := fleet()
		for _, member := range []string{"a", "b", "c"} {
			s := honest(member)
			s.union, s.handed = s.local, nil
			t.looksAt(member, s)
		}
		return t
	}
	t.Run("everything as it should be", func(t *testing.T) {
		told := known().pass(long)
		for _, member := range []string{"a", "b", "c"} {
			told.looksAt(member, honest(member))
		}
		if r := told.blames(t, "AD-23"); r.Verdict != check.Pass {
			t.Errorf("%s %q", r.Verdict, r.Reasons)
		}
	})
	for name, tc := range map[string]struct {
		after  time.Duration
		change func(*historyBuilder)
		said   func(*said)
		want   []string
	}{
		"a peer's group-version is not there": {long, nil, func(s *said) { s.union = newer }, []string{"a does not list x.io/v1beta1"}},
		"too soon":                            {29 * time.Second, nil, func(s *said) { s.union = newer }, nil},
		"while another one is frozen":         {long, func(t *historyBuilder) { t.froze("b", history.ProcessPaused) }, func(s *said) { s.union = newer }, nil},
		"another one went on just now": {long, func(t *historyBuilder) {
			t.froze("b", history.ProcessPaused).froze("b", history.ProcessResumed).ready("b", 200, 30)
		}, func(s *said) { s.union = newer }, nil},
		"another one was late with an answer":  {long, func(t *historyBuilder) { t.ready("b", 0, 0) }, func(s *said) { s.union = newer }, []string{"a does not list x.io/v1beta1"}},
		"another one does not take part":       {long, func(t *historyBuilder) { t.leaves("c", 40) }, func(s *said) { s.union = newer }, nil},
		"another one joined anew just now":     {long, func(t *historyBuilder) { t.leaves("c", 40).joins("c", 41) }, func(s *said) { s.union = newer }, nil},
		"another one has not renewed for long": {long, func(t *historyBuilder) { t.renews("c", 40, 12, 0) }, func(s *said) { s.union = newer }, nil},
		"without its resources": {long, nil, func(s *said) { s.union = []string{"x.io/v1:ships", "x.io/v1beta1:", "y.io/v1:decks"} },
			[]string{"a lists x.io/v1beta1 otherwise than c does: ships is missing"}},
		"the local view tells of a peer": {long, nil, func(s *said) { s.local, s.denied = both, []string{"x.io/v1beta1"} },
			[]string{"a was asked for what it hosts itself and lists ships in x.io/v1beta1, which only c hosts"}},
		"the local view tells of a peer that it need not know yet": {time.Second, nil, func(s *said) { s.local, s.denied = both, []string{"x.io/v1beta1"} },
			[]string{"a was asked for what it hosts itself and lists ships in x.io/v1beta1, which only c hosts"}},
		"it is unknown whether it hosts what it lists": {long, nil, func(s *said) { s.local = both }, nil},
		"what its plain list leaves out it hosts all the same": {long, nil,
			func(s *said) { s.local, s.own, s.union, s.handed = both, both, both, nil }, nil},
		"nothing is handed on":      {long, nil, func(s *said) { s.handed = []string{"x.io/v1beta1/ships 404"} }, []string{"a was asked for ships in x.io/v1beta1, which c hosts, and answered 404"}},
		"handed on when asked anew": {long, nil, func(s *said) { s.handed = []string{"x.io/v1beta1/ships 503", "x.io/v1beta1/ships 200"} }, nil},
		"no answer says nothing":    {long, nil, func(s *said) { s.handed = []string{"x.io/v1beta1/ships 0"} }, nil},
		"a resource that no server hosts": {long, nil, func(s *said) { s.handed = append(s.handed, "z.io/v1/ghosts 404") },
			nil},
		"a resource that only a peer has in a group-version of both": {long, func(t *historyBuilder) {
			s := honest("c")
			s.local = []string{"x.io/v1beta1:ships", "y.io/v1:decks,masts"}
			s.own, s.union = s.local, []string{"x.io/v1:ships", "x.io/v1beta1:ships", "y.io/v1:decks,masts"}
			t.looksAt("c", s)
		}, nil, []string{"a lists y.io/v1 otherwise than c does: masts is missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			told := known().pass(tc.after)
			if tc.change != nil {
				tc.change(told)
			}
			s := honest("a")
			if tc.said != nil {
				tc.said(&s)
			}
			if r := told.looksAt("a", s).blames(t, "AD-23", tc.want...); r.Verdict == check.Pass {
				t.Error("a look at one member is enough to pass")
			}
		})
	}
	for name, c := range map[string]struct {
		topology history.Topology
		lacks    []history.Lack
		want     []string
	}{
		"servers that are not told of each other":     {history.Topology{Settings: map[string]string{}}, nil, nil},
		"servers that are told of each other":         {history.Topology{Settings: map[string]string{"peerDiscovery": "true"}}, nil, []string{"a does not list x.io/v1beta1"}},
		"servers of which the harness set no setting": {history.Topology{}, []history.Lack{{What: history.LackEarlier, Reason: "it ran before"}}, []string{"a does not list x.io/v1beta1"}},
	} {
		t.Run(name, func(t *testing.T) {
			told := known().pass(long)
			told.header.Topology, told.header.Lacks = &c.topology, c.lacks
			s := honest("a")
			s.union = newer
			told.looksAt("a", s).blames(t, "AD-23", c.want...)
		})
	}
	t.Run("nothing that only peers host", func(t *testing.T) {
		told := fleet().pass(long)
		for range 2 {
			for _, member := range []string{"a", "b", "c"} {
				told.looksAt(member, said{union: newer, local: newer, own: newer})
			}
			told.pass(long)
		}
		r := told.blames(t, "AD-23")
		reason(t, r, "saw 0 resources that only peers host")
	})
	t.Run("a custom resource belongs to no single server", func(t *testing.T) {
		told := known()
		told.add(history.Event{Kind: history.KindRequest, Member: "a", From: told.now, Request: &history.Request{
			Verb: "create", Resource: "customresourcedefinitions", Code: 201, Defines: &history.Definition{Group: "crd.io", Resource: "buoys", Versions: []string{"v1"}},
		}})
		s := honest("c")
		s.local = append(slices.Clone(s.local), "crd.io/v1:buoys")
		told.looksAt("c", s).pass(long).looksAt("a", honest("a")).blames(t, "AD-23")
	})
	t.Run("also if it is seen before its definition is told", func(t *testing.T) {
		s := honest("c")
		s.local = append(slices.Clone(s.local), "crd.io/v1:buoys")
		told := known().looksAt("c", s)
		told.add(history.Event{Kind: history.KindRequest, Member: "a", From: told.now, Request: &history.Request{
			Verb: "create", Resource: "customresourcedefinitions", Code: 201, Defines: &history.Definition{Group: "crd.io", Resource: "buoys", Versions: []string{"v1"}},
		}})
		told.pass(long).looksAt("a", honest("a")).blames(t, "AD-23")
		told = known().looksAt("c", s)
		told.add(history.Event{Kind: history.KindRequest, Member: "a", From: told.now, Request: &history.Request{
			Verb: "create", Resource: "customresourcedefinitions", Code: 201, Defines: &history.Definition{Group: "crd.io", Resource: "buoys", Versions: []string{"v1"}},
		}})
		told.stops("c", 1).leaves("c", 40).pass(time.Minute).polled("a", append(slices.Clone(newer), "crd.io/v1:buoys")...).blames(t, "AD-24")
	})
}

// A member that is started and does not host what one that has left had hosted keeps nothing of that.
func TestAD24_ANewProcessThatDoesNotHostItEndsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		hosts, stays []string
		want         []string
	}{
		"it does not, and all goes":     {newer, newer, nil},
		"it does not, and it stays":     {newer, both, []string{"a lists ships in x.io/v1beta1"}},
		"it hosts it":                   {both, both, nil},
		"it is not known what it hosts": {nil, both, nil},
	} {
		t.Run(name, func(t *testing.T) {
			told := fleet().pass(time.Minute)
			for _, m := range []string{"a", "b", "c"} {
				told.looksAt(m, honest(m))
			}
			told.stops("c", 1).leaves("c", 60).pass(20*time.Second).polled("a", both...).stops("b", 1).starts("b", 2).ready("b", 200, 70)
			told.every(20*time.Second, func() { told.polled("a", c.stays...) })
			if c.hosts != nil {
				told.looksAt("b", said{union: c.hosts, local: c.hosts, own: c.hosts})
			}
			r := told.judge(t, "AD-24")[0]
			found := len(c.want) == 0
			for _, v := range r.Violations {
				found = found || strings.Contains(v.Message, c.want[0])
			}
			if !found || (len(r.Violations) == 0) != (len(c.want) == 0) {
				t.Errorf("blames %+v %q", r.Violations, r.Reasons)
			}
		})
	}
}

// A fault at the member or at the only peer that hosts a resource may keep a request for it from
// being handed on; one at another member does not, and no fault is why it is not there.
func TestAD23_AFaultMayKeepARequestFromBeingHandedOn(t *testing.T) {
	for name, c := range map[string]struct {
		at   string
		code int
		want []string
	}{
		"at the peer":            {"c", 503, nil},
		"at the member":          {"a", 504, nil},
		"at another member":      {"b", 503, []string{"which c hosts, and answered 503"}},
		"at the peer, not there": {"c", 404, []string{"which c hosts, and answered 404"}},
	} {
		t.Run(name, func(t *testing.T) {
			told := fleet().pass(time.Minute)
			for _, m := range []string{"a", "b", "c"} {
				told.looksAt(m, honest(m))
			}
			for _, phase := range []history.Phase{history.PhaseInject, history.PhaseWitness} {
				told.add(history.Event{Kind: history.KindFault, Member: c.at, Fault: &history.Fault{ID: "apart", Type: "NetworkChaos", Action: "partition", Phase: phase, Proof: "cut off 3"}})
			}
			s := honest("a")
			s.handed = []string{fmt.Sprint("x.io/v1beta1/ships ", c.code)}
			told.pass(time.Second).looksAt("a", s).pass(time.Second).blames(t, "AD-23", c.want...)
		})
	}
}

// Who lacked something only while it came up need not show that peers make up for it.
func TestAD23WantsNothingOfWhoOnlyCameUp(t *testing.T) {
	whole := said{union: both, local: both, own: both}
	told := fleet().looksAt("b", whole).looksAt("a", said{union: elder, local: elder, own: elder}).pass(time.Minute)
	for range 2 { // the first time not all have been looked at yet
		told.looksAt("b", whole).looksAt("a", whole).looksAt("c", honest("c"))
	}
	if r := told.blames(t, "AD-23"); r.Verdict != check.Pass {
		t.Errorf("%s %q", r.Verdict, r.Reasons)
	}
}

func TestAD24(t *testing.T) {
	known := func() *historyBuilder {
		t := fleet()
		for _, member := range []string{"a", "b", "c"} {
			t.looksAt(member, honest(member))
		}
		return t
	}
	const long = 36 * time.Second
	t.Run("it goes", func(t *testing.T) {
		r := known().stops("c", 1).leaves("c", 40).polled("a", both...).pass(20*time.Second).polled("a", newer...).polled("b", newer...).pass(long).polled("a", newer...).polled("b", newer...).blames(t, "AD-24")
		if r.Verdict != check.Pass {
			t.Errorf("%s %q", r.Verdict, r.Reasons)
		}
	})
	// As Kubernetes has it.
	t.Run("its Lease goes before its process", func(t *testing.T) {
		r := known().leaves("c", 40).stops("c", 1).polled("a", newer...).polled("b", newer...).pass(long).polled("a", newer...).polled("b", newer...).blames(t, "AD-24")
		if r.Verdict != check.Pass {
			t.Errorf("%s %q", r.Verdict, r.Reasons)
		}
	})
	t.Run("one member is not looked at", func(t *testing.T) {
		r := known().stops("c", 1).leaves("c", 40).pass(long).polled("a", newer...).blames(t, "AD-24")
		reason(t, r, "saw 0 things")
	})
	t.Run("it stays", func(t *testing.T) {
		known().stops("c", 1).leaves("c", 40).pass(long).polled("a", newer...).polled("b", both...).
			blames(t, "AD-24", "36s after c had left, which was the last to host it, b lists ships in x.io/v1beta1")
	})
	t.Run("it may stay until the bound", func(t *testing.T) {
		known().stops("c", 1).leaves("c", 40).pass(29*time.Second).polled("b", both...).blames(t, "AD-24")
	})
	t.Run("it may stay while the Lease is there", func(t *testing.T) {
		known().stops("c", 1).pass(time.Hour).polled("b", both...).blames(t, "AD-24")
	})
	t.Run("it may stay while the server is there", func(t *testing.T) {
		known().leaves("c", 40).pass(long).polled("b", both...).blames(t, "AD-24")
	})
	t.Run("a Lease that expires is gone", func(t *testing.T) {
		// It lasts 10 s, and 2 s more by our clock.
		told := known().renews("c", 40, 12, 0).stops("c", 1).pass(46 * time.Second)
		told.polled("a", newer...).blames(t, "AD-24")
		told = known().renews("c", 40, 12, 0).stops("c", 1).pass(48 * time.Second)
		told.polled("a", both...).blames(t, "AD-24", "a lists ships in x.io/v1beta1")
	})
	t.Run("another one hosts it still", func(t *testing.T) {
		told := known()
		s := honest("b")
		s.local = both
		s.own = both
		told.looksAt("b", s).stops("c", 1).leaves("c", 40).pass(long).polled("a", both...).blames(t, "AD-24")
	})
	t.Run("it is unknown what another server hosts", func(t *testing.T) {
		known().starts("b", 2).ready("b", 200, 30).stops("c", 1).leaves("c", 40).pass(long).polled("a", both...).blames(t, "AD-24")
	})
	t.Run("it is back", func(t *testing.T) {
		known().stops("c", 1).leaves("c", 40).pass(long).starts("c", 2).joins("c", 50).polled("a", both...).blames(t, "AD-24")
	})
	t.Run("a restart forgets by itself", func(t *testing.T) {
		told := known().stops("c", 1).leaves("c", 40).starts("a", 2).ready("a", 200, 30).looksAt("a", said{union: newer, local: newer, own: newer})
		r := told.pass(long).polled("a", newer...).polled("b", newer...).blames(t, "AD-24")
		reason(t, r, "saw 0 things")
	})
	t.Run("a resource of a group-version that others have too", func(t *testing.T) {
		told := known()
		s := honest("c")
		s.local = []string{"x.io/v1beta1:ships", "y.io/v1:decks,masts"}
		s.own = s.local
		more := []string{"x.io/v1:ships", "y.io/v1:decks,masts"}
		told.looksAt("c", s).stops("c", 1).leaves("c", 40).pass(long).polled("a", more...).blames(t, "AD-24", "a lists masts in y.io/v1")
	})
}
