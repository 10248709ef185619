package planted

import (
	"testing"
	"time"

	"k8s.io/utils/ptr"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/election"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func candidate(name, version string) *election.Candidate {
	c := &election.Candidate{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}}
	c.Spec.BinaryVersion, c.Spec.EmulationVersion, c.Spec.Strategy = version, version, election.Oldest
	c.Spec.RenewTime = ptr.To(metav1.NewMicroTime(noon))
	return c
}

// outcome is what comes of the elections for a Lease, in words: the holder, or the holder and
// who is to come in its place. Each of the candidates answers each ping but the mute one.
func outcome(d defects.Set, v election.View, long time.Duration) string {
	decide, apply := Decide(d), Apply(d)
	now, until, round := noon, noon.Add(long), election.Round{}
	for now.Before(until) {
		decision := decide(v, round, now)
		round = decision.Round
		switch w := decision.Write; {
		case w != nil && w.Preferred != "":
			return "tells " + holder(v.Lease) + " to give way to " + w.Preferred
		case w != nil:
			after := apply(*w, election.Author{Namespace: "ns", Lease: "l", Coordinator: "c"}, now)
			return "gives it to " + holder(after)
		case len(decision.Ping) > 0:
			round.Asked = map[types.UID]metav1.MicroTime{}
			for _, c := range decision.Ping {
				ping := election.PingTime(c, now)
				c.Spec.PingTime, round.Asked[c.UID] = &ping, ping
				if c.Name != "mute" {
					c.Spec.RenewTime = ptr.To(election.RenewTime(c, now))
				}
			}
			if (d.Has(defects.CLE15Restless) || d.Has(defects.CLE15RestlessLate)) && v.Lease != nil {
				return "pings"
			}
		case decision.Recheck > 0:
			now = now.Add(decision.Recheck)
		default:
			return "nothing"
		}
	}
	return "waits"
}

func TestDecide_EachDefectChangesTheOutcomeThatItIsAbout(t *testing.T) {
	free := func() election.View {
		return election.View{Since: noon, Candidates: []*election.Candidate{candidate("new", "1.3.0"), candidate("old", "1.2.0"), candidate("mute", "1.1.0")}}
	}
	with := func(change func(*election.View)) func() election.View {
		return func() election.View {
			v := free()
			change(&v)
			return v
		}
	}
	held := func(by string) func() election.View {
		return with(func(v *election.View) {
			v.Candidates = v.Candidates[:2]
			v.Lease = election.Apply(election.Write{Holder: by, Strategy: election.Oldest}, election.Author{Namespace: "ns", Lease: "l", Coordinator: "c"}, noon)
			v.Lease.Spec.LeaseDurationSeconds = ptr.To[int32](15)
		})
	}
	legacy := func() election.View {
		v := held("new")()
		v.Lease.Annotations, v.Lease.Spec.Strategy = nil, nil
		return v
	}
	dead := with(func(v *election.View) {
		v.Candidates[2].Spec.RenewTime = ptr.To(metav1.NewMicroTime(noon.Add(-time.Hour)))
	})
	draft := with(func(v *election.View) {
		for _, c := range v.Candidates {
			c.Spec.Strategy = "example.com/draft"
		}
	})
	guised := with(func(v *election.View) { v.Candidates[0].Spec.EmulationVersion = "1.1.0" })
	quarrel := with(func(v *election.View) { v.Candidates[1].Spec.Strategy = election.Newest })
	expired := func() election.View {
		v := held("gone")()
		v.Since = noon.Add(-time.Minute)
		return v
	}
	twins := func() election.View {
		v := held("old")()
		v.Candidates[0] = candidate("twin", "1.2.0")
		return v
	}
	chosen := func() election.View {
		v := held("old")()
		v.Lease.Spec.Strategy = ptr.To(election.Newest)
		return v
	}
	uncoordinated := func() election.View {
		v := held("new")()
		v.Lease.Spec.Strategy = ptr.To(election.NoCoordination)
		return v
	}
	claimed := func() election.View {
		v := held("new")()
		delete(v.Lease.Annotations, election.ElectedBy)
		return v
	}
	tenure := func(v *election.View, long time.Duration) {
		v.Lease = v.Lease.DeepCopy()
		v.Lease.Spec.AcquireTime = &metav1.MicroTime{Time: noon.Add(-long)}
	}
	tenured := func(long time.Duration) func() election.View {
		return func() election.View { v := held("old")(); tenure(&v, long); return v }
	}
	ofThirdParty := func() election.View {
		v := draft()
		v.Lease = election.Apply(election.Write{Holder: "third", Strategy: "example.com/draft"}, election.Author{Namespace: "ns", Lease: "l", Coordinator: "c"}, noon)
		v.Lease.Spec.LeaseDurationSeconds = ptr.To[int32](3600)
		return v
	}
	const soon, later = 8 * time.Second, 2 * time.Minute
	for id, test := range map[defects.ID]struct {
		view          func() election.View
		long          time.Duration
		sound, broken string
	}{
		defects.CLE04LeavesVacant:      {free, soon, "gives it to old", "nothing"},
		defects.CLE04Hesitates:         {free, soon, "gives it to old", "waits"},
		defects.CLE05ElectsTheSilent:   {free, soon, "gives it to old", "gives it to mute"},
		defects.CLE06NewestFirst:       {free, soon, "gives it to old", "gives it to new"},
		defects.EV05BinaryFirst:        {guised, soon, "gives it to new", "gives it to old"},
		defects.CLE08NeverPreempts:     {held("new"), soon, "tells new to give way to old", "waits"},
		defects.CLE09TakesAtOnce:       {held("new"), soon, "tells new to give way to old", "gives it to old"},
		defects.CLE08PreemptsLate:      {held("new"), soon, "tells new to give way to old", "waits"},
		defects.CLE11NeverTakesExpired: {expired, soon, "gives it to old", "nothing"},
		defects.CLE11ReplacesLate:      {func() election.View { v := expired(); v.Since = noon.Add(-15 * time.Second); return v }, soon, "gives it to old", "waits"},
		defects.CLE15Restless:          {held("old"), soon, "waits", "pings"},
		defects.CLE15RestlessLate:      {tenured(48 * time.Second), soon, "waits", "pings"},
		defects.CLE16ElectsTheDead:     {dead, soon, "gives it to old", "gives it to mute"},
		defects.CLE17Flaps:             {twins, soon, "waits", "tells old to give way to twin"},
		defects.CLE17FlapsSlowly:       {func() election.View { v := twins(); tenure(&v, 53*time.Second); return v }, soon, "waits", "tells old to give way to twin"},
		defects.CLE18TakesFromLegacy:   {legacy, soon, "waits", "gives it to old"},
		defects.CLE19MarksLegacy:       {legacy, soon, "waits", "tells new to give way to old"},
		defects.CLE21Assigns:           {draft, soon, "gives it to ", "gives it to old"},
		defects.CLE21AssignsLate:       {ofThirdParty, soon, "nothing", "gives it to mute"},
		defects.CLE22Balks:             {quarrel, soon, "gives it to new", "nothing"},
		defects.CLE22Hesitates:         {quarrel, soon, "gives it to new", "waits"},
		defects.CLE27WaitsForAnother:   {chosen, soon, "tells old to give way to new", "waits"},
		defects.CLE27FollowsLate:       {chosen, soon, "tells old to give way to new", "waits"},
		defects.CLE29GoesByVersion:     {quarrel, soon, "gives it to new", "gives it to old"},
		defects.CLE30MarksAnyway:       {uncoordinated, soon, "nothing", "tells new to give way to old"},
		defects.CLE30MarksLate:         {uncoordinated, soon, "nothing", "tells new to give way to old"},
		defects.CLE32MarksLate:         {claimed, soon, "waits", "tells new to give way to old"},
		defects.CLE32MarksClaims:       {claimed, soon, "waits", "tells new to give way to old"},
		defects.RO04ElectsNoOther:      {expired, later, "gives it to old", "waits"},
		defects.RO04WaitsAMinute:       {func() election.View { v := expired(); v.Since = noon.Add(-15 * time.Second); return v }, soon, "gives it to old", "waits"},
	} {
		t.Run(string(id), func(t *testing.T) {
			if got := outcome(nil, test.view(), test.long); got != test.sound {
				t.Errorf("without the defect it %s, want %s", got, test.sound)
			}
			if got := outcome(defects.Of(id), test.view(), test.long); got != test.broken {
				t.Errorf("with the defect it %s, want %s", got, test.broken)
			}
		})
	}
}

// A defect that breaks a bound by little does nothing before.
func TestDecide_LateDefectsAreSoundAtFirst(t *testing.T) {
	for id, strategy := range map[defects.ID]election.Strategy{defects.CLE21AssignsLate: "example.com/draft", defects.CLE30MarksLate: election.NoCoordination, defects.CLE32MarksLate: election.Oldest} {
		v := election.View{Since: noon, Candidates: []*election.Candidate{candidate("new", "1.3.0"), candidate("old", "1.2.0")}}
		for _, c := range v.Candidates {
			c.Spec.Strategy = strategy
		}
		v.Lease = election.Apply(election.Write{Holder: "new", Strategy: strategy}, election.Author{Namespace: "ns", Lease: "l", Coordinator: "c"}, noon)
		v.Lease.Spec.LeaseDurationSeconds = ptr.To[int32](60)
		delete(v.Lease.Annotations, election.ElectedBy)
		for _, set := range []defects.Set{nil, defects.Of(id)} {
			if got := outcome(set, v, 5*time.Second); got == "tells new to give way to old" || got == "gives it to old" {
				t.Errorf("%s, with %q: it %s within the bound", id, set, got)
			}
		}
	}
}

func TestDecide_CLE31GoesByWhatWasDeclaredFirst(t *testing.T) {
	first, now := candidate("a", "1.3.0"), candidate("a", "1.1.0")
	leader := candidate("leader", "1.2.0")
	view := func(a *election.Candidate) election.View {
		v := election.View{Since: noon, Candidates: []*election.Candidate{a, leader}}
		v.Lease = election.Apply(election.Write{Holder: "leader", Strategy: election.Oldest}, election.Author{Namespace: "ns", Lease: "l"}, noon)
		v.Lease.Spec.LeaseDurationSeconds = ptr.To[int32](15)
		return v
	}
	decide := Decide(defects.Of(defects.CLE31KeepsOldVersions))
	decide(view(first), election.Round{}, noon)
	if d := decide(view(now), election.Round{}, noon); len(d.Ping) > 0 {
		t.Errorf("the defect goes by the new version: %+v", d)
	}
	late := Decide(defects.Of(defects.CLE31CountsLate))
	late(view(first), election.Round{}, noon)
	if d := late(view(now), election.Round{}, noon); len(d.Ping) > 0 || d.Recheck == 0 {
		t.Errorf("the new version counts at once: %+v", d)
	}
	after := view(now)
	after.Since = noon.Add(time.Minute)
	if d := late(after, election.Round{}, noon.Add(time.Minute)); len(d.Ping) != 1 {
		t.Errorf("the new version never counts: %+v", d)
	}
	if d := election.Decide(view(now), election.Round{}, noon); len(d.Ping) != 1 {
		t.Errorf("%+v", d)
	}
}

// A deleted candidate is declared again at once, late or not at all, and a first one at once.
func TestDue_AfterADeletion(t *testing.T) {
	for id, late := range map[defects.ID]time.Duration{
		"": 0, defects.CLE01ReturnsLate: defects.Set{defects.CLE01ReturnsLate: {}}.Delay(defects.CLE01ReturnsLate), defects.CLE01StaysUndeclared: forGood,
	} {
		due, c := Due(defects.Set{id: {}}), candidate("a", "1.2.0")
		if first := due(nil, c.Spec, noon); first != 0 {
			t.Errorf("%s: the first is due in %s", id, first)
		}
		for range 2 { // each deletion begins anew
			due(c, c.Spec, noon)
			if again := due(nil, c.Spec, noon); again != late {
				t.Errorf("%s: after a deletion it is due in %s, want %s", id, again, late)
			}
			if id == defects.CLE01ReturnsLate && due(nil, c.Spec, noon.Add(late)) != 0 {
				t.Errorf("%s: it is not due when the delay is over", id)
			}
		}
	}
}

// A leader that is elected for a Lease without a strategy stays without one.
func TestApply_LeavesTheStrategyOut(t *testing.T) {
	by, oldest := election.Author{Namespace: "ns", Lease: "l", Coordinator: "c"}, election.Write{Holder: "old", Strategy: election.Oldest}
	free := election.Apply(oldest, by, noon)
	free.Spec.HolderIdentity, free.Spec.Strategy = nil, nil
	for _, test := range []struct {
		set           defects.Set
		first, second bool
	}{
		{nil, true, true},
		{defects.Of(defects.CLE25OmitsTheStrategy), false, true},
	} {
		apply := Apply(test.set)
		write := oldest
		write.On = free
		elected := apply(write, by, noon)
		write.On = elected
		if again := apply(write, by, noon); (elected.Spec.Strategy != nil) != test.first || (again.Spec.Strategy != nil) != test.second {
			t.Errorf("%q: %v, then %v", test.set, elected.Spec.Strategy, again.Spec.Strategy)
		}
		write.On, write.Holder = election.Apply(oldest, by, noon), "new"
		if kept := apply(write, by, noon); kept.Spec.Strategy == nil {
			t.Errorf("%q: a Lease that had a strategy has none", test.set)
		}
	}
}
