package check

import (
	"fmt"
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// What others list is not to suffer from a server that misbehaves, and may arrive
// meanwhile.
func TestAD22TakesAnArrivalForNoHarm(t *testing.T) {
	one := func(freshness, inventory string) *history.Listing {
		return &history.Listing{Groups: []history.ListedGroup{{Name: "steady.io", Versions: []history.ListedVersion{
			{Version: "v1", Freshness: freshness, Inventory: inventory},
		}}}}
	}
	for _, test := range []struct {
		before, during *history.Listing
		want           string
	}{
		{one(history.FreshnessStale, "none"), one(history.FreshnessCurrent, "some"), ""},
		{one(history.FreshnessCurrent, "some"), one(history.FreshnessCurrent, "some"), ""},
		{one(history.FreshnessCurrent, "some"), one(history.FreshnessStale, "some"), `calls steady.io/v1 "Stale"`},
		{one(history.FreshnessCurrent, "some"), one(history.FreshnessCurrent, "none"), "lists other resources in steady.io/v1"},
		{one(history.FreshnessStale, "some"), one(history.FreshnessStale, "none"), "lists other resources in steady.io/v1"},
		{one(history.FreshnessStale, "none"), &history.Listing{}, "does not list steady.io/v1 any more"},
	} {
		ev := &history.Event{Member: "a", Document: &history.Document{}}
		if _, _, got := newAD22().harm(newWorld(history.Header{}), ev, test.during, &sighting{listing: test.before}, 0); got != test.want {
			t.Errorf("%+v after %+v: %q, want %q", test.during, test.before, got, test.want)
		}
	}
}

// does has the server of tides misbehave in a way, and be met.
func (t *tale) does(number int, action string, phases ...history.Phase) *tale {
	for _, phase := range phases {
		f := &history.Fault{ID: fmt.Sprint("backend-", number), Type: history.FaultBackend, Action: action, Group: tides, Phase: phase}
		if phase == history.PhaseWitness {
			f.Proof = "asked"
		}
		t.add(history.Event{Kind: history.KindFault, Fault: f})
	}
	return t
}

// denies is a look at a that has no document to show.
func (t *tale) denies(code int, took time.Duration) *tale {
	d := &history.Document{Path: groupsPath, Accept: askedJSON, Code: code}
	if code == 0 {
		d.Error = "no answer"
	}
	from := t.now
	return t.pass(took).add(history.Event{Kind: history.KindDocument, Member: "a", From: from, Document: d})
}

// stays has a be ready for a time.
func (t *tale) stays(d time.Duration) *tale {
	for end := t.now + int64(d); t.now < end; t.pass(time.Second) {
		t.ready("a", 200, 5)
	}
	return t
}

const steady = "steady.io/v1:flows"

// struck is a control plane whose server of tides has just begun to misbehave.
func struck() *tale {
	return lone().hands(201).pass(time.Minute).polled("a", steady).does(1, history.BackendHang, history.PhaseInject, history.PhaseWitness)
}

// A server that answers that it is ready, and gives no document as long as another
// one misbehaves, was touched by that one.
func TestAD22HasTheDocumentBeServed(t *testing.T) {
	const wrong = "a is ready, and has given no discovery document for 2"
	heal := func(t *tale) *tale { return t.does(1, history.BackendHang, history.PhaseHeal) }
	fault := func(phase history.Phase) func(*tale) {
		return func(t *tale) {
			t.add(history.Event{Kind: history.KindFault, Member: "a", Fault: &history.Fault{ID: "cut", Type: "NetworkChaos", Action: "partition", Phase: phase, Proof: "cut"}})
		}
	}
	for name, tc := range map[string]struct {
		tell func(*tale)
		want []string
	}{
		"no answer":            {func(t *tale) { t.denies(0, 10*time.Second).stays(15 * time.Second) }, []string{wrong}},
		"503":                  {func(t *tale) { t.denies(503, 0).stays(12*time.Second).denies(503, 0).stays(12 * time.Second) }, []string{wrong}},
		"429 and no answer":    {func(t *tale) { t.denies(429, 0).stays(12*time.Second).denies(0, 0).stays(12 * time.Second) }, []string{wrong}},
		"also when it is over": {func(t *tale) { heal(t.denies(503, 0).stays(2 * time.Second)).stays(22 * time.Second) }, []string{wrong}},
		"for a short time": {func(t *tale) {
			t.denies(0, 10*time.Second).stays(8*time.Second).polled("a", steady).stays(30 * time.Second)
		}, nil},
		"not modified": {func(t *tale) {
			t.denies(503, 0).stays(15*time.Second).answered("a", history.Document{Path: groupsPath, Accept: askedJSON, IfNoneMatch: "tag", Code: 304})
			t.stays(15 * time.Second)
		}, nil},
		"in a thorough look": {func(t *tale) {
			t.answered("a", history.Document{Path: groupsPath, Accept: askedJSON, Code: 503, Sweep: 7})
			t.stays(25 * time.Second)
		}, nil},
		"only since it was over": {func(t *tale) { heal(t.polled("a", steady)).denies(503, 0).stays(30 * time.Second) }, nil},
		"and it is not ready": {func(t *tale) {
			for t.denies(503, 0); len(t.events) < 60; {
				t.stays(10*time.Second).ready("a", 0, 0)
			}
		}, nil},
		"and it was frozen": {func(t *tale) {
			t.denies(0, 10*time.Second).froze("a", history.ProcessPaused).pass(30*time.Second).froze("a", history.ProcessResumed).stays(19 * time.Second)
		}, nil},
		"and another process came": {func(t *tale) {
			t.denies(503, 0).exits("a", 1).events[len(t.events)-1].Process.Expected = true
			t.starts("a", 2).stays(30 * time.Second)
		}, nil},
		"and it is cut off": {func(t *tale) {
			fault(history.PhaseInject)(t)
			fault(history.PhaseWitness)(t)
			t.denies(0, 10*time.Second).stays(30 * time.Second)
			fault(history.PhaseHeal)(t)
			t.stays(19 * time.Second)
		}, nil},
		"and goes on when it is not cut off any more": {func(t *tale) {
			fault(history.PhaseInject)(t)
			t.denies(0, 10*time.Second).stays(30 * time.Second)
			fault(history.PhaseHeal)(t)
			t.stays(23 * time.Second)
		}, []string{wrong}},
	} {
		t.Run(name, func(t *testing.T) {
			told := struck()
			tc.tell(told)
			told.blames(t, "AD-22", tc.want...)
		})
	}
}

// Who was asked during a misbehaviour has to show that it bore it: that it bore
// others says nothing of that one.
func TestAD22HasEveryKindBorne(t *testing.T) {
	others := []string{history.BackendGarbage, history.BackendForeign, history.BackendUnchanged}
	four := func() *tale {
		told := struck().polled("a", steady).does(1, history.BackendHang, history.PhaseHeal)
		for i, action := range others {
			told.does(2+i, action, history.PhaseInject, history.PhaseWitness).polled("a", steady).does(2+i, action, history.PhaseHeal)
		}
		return told
	}
	fifth := func(action string, during func(*tale)) *tale {
		told := four().does(5, action, history.PhaseInject, history.PhaseWitness)
		during(told)
		return told.does(5, action, history.PhaseHeal).polled("a", steady)
	}
	if r := four().blames(t, "AD-22"); r.Verdict != Pass {
		t.Errorf("%s %q", r.Verdict, r.Reasons)
	}
	for name, tc := range map[string]struct {
		action string
		during func(*tale)
		want   Verdict
	}{
		"borne":                 {history.BackendHuge, func(t *tale) { t.polled("a", steady) }, Pass},
		"borne after a failure": {history.BackendHuge, func(t *tale) { t.denies(503, 0).polled("a", steady) }, Pass},
		"nobody was asked":      {history.BackendHuge, func(t *tale) { t.pass(time.Second) }, Pass},
		"503":                   {history.BackendHuge, func(t *tale) { t.denies(503, 0) }, Inconclusive},
		"no answer":             {history.BackendHuge, func(t *tale) { t.denies(0, 10*time.Second) }, Inconclusive},
		"the second time":       {history.BackendHang, func(t *tale) { t.denies(0, 10*time.Second) }, Inconclusive},
		"while not ready":       {history.BackendHuge, func(t *tale) { t.ready("a", 500, 0).denies(503, 0) }, Pass},
	} {
		t.Run(name, func(t *testing.T) {
			r := fifth(tc.action, tc.during).blames(t, "AD-22")
			if r.Verdict != tc.want {
				t.Errorf("%s %q", r.Verdict, r.Reasons)
			}
			if tc.want == Inconclusive {
				reason(t, r, "a gave no document that shows that the server of tides.io did no harm when it was misbehaving ("+tc.action+")")
			}
		})
	}
	for name, tc := range map[string]struct {
		asked time.Duration
		want  Verdict
	}{
		"an answer that came only when it was over": {time.Second, Inconclusive},
		"an answer that was on its way at the end":  {7 * time.Second, Pass},
	} {
		t.Run(name, func(t *testing.T) {
			told := four().does(5, history.BackendHuge, history.PhaseInject, history.PhaseWitness).pass(tc.asked)
			from := told.now
			told.pass(8*time.Second-tc.asked).does(5, history.BackendHuge, history.PhaseHeal).polled("a", steady)
			told.events[len(told.events)-1].From = from
			if r := told.blames(t, "AD-22"); r.Verdict != tc.want {
				t.Errorf("%s %q", r.Verdict, r.Reasons)
			}
		})
	}
	t.Run("no document since the one before", func(t *testing.T) {
		told := four().does(5, history.BackendHuge, history.PhaseInject, history.PhaseWitness).denies(0, 10*time.Second).does(5, history.BackendHuge, history.PhaseHeal)
		told.does(6, history.BackendReset, history.PhaseInject, history.PhaseWitness).stays(2*time.Second).does(6, history.BackendReset, history.PhaseHeal).polled("a", steady)
		reason(t, told.blames(t, "AD-22"), "misbehaving (reset)")
	})
}

// What was defined shortly before the misbehaviour has to stay all the same, as far as
// it was there.
func TestAD22LooksAtWhatIsNew(t *testing.T) {
	word := func(version, resources string) string { return lights + "/" + version + ":" + resources }
	for name, tc := range map[string]struct {
		tell           func(*tale)
		before, during []string
		want           []string
	}{
		"it is gone":            {nil, []string{word("v1", "lamps")}, nil, []string{"a does not list lights.io/v1 any more"}},
		"it was not there":      {nil, nil, []string{word("v1", "lamps")}, nil},
		"it has more":           {nil, []string{word("v1", "lamps")}, []string{word("v1", "lamps,torches")}, nil},
		"it was on its way out": {func(t *tale) { t.serves("lamps", 200, "v1beta1") }, []string{word("v1", "lamps")}, []string{word("v1beta1", "lamps")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			told := lone().hands(201).pass(time.Minute).serves("lamps", 201, "v1")
			if tc.tell != nil {
				tc.tell(told)
			}
			told.pass(3*time.Second).polled("a", append(tc.before, steady)...).does(1, history.BackendHang, history.PhaseInject, history.PhaseWitness)
			told.polled("a", append(tc.during, steady)...).blames(t, "AD-22", tc.want...)
		})
	}
}
