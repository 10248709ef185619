package law_test

import (
	"testing"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

func (d *duty) judgeLooks(looks []law.Look, over int64) law.Entry {
	of := law.Deadline[*duty, law.Member[*duty]]{
		Row:     law.Row{ID: "CLE-20"},
		BoundOf: func(law.Member[*duty], fact.Moment) time.Duration { return bound },
		Over:    law.Members[*duty],
		Begin:   law.Once(func(m law.Member[*duty]) fact.Moment { return m.Facts.begin[0] }),
		Running: func(m law.Member[*duty]) fact.Signal { return m.Facts.running },
		Looks:   func(law.Member[*duty]) []law.Look { return looks },
		Void:    func(m law.Member[*duty]) []law.Void { return m.Facts.void },
		Lacking: func(m law.Member[*duty]) string { return m.Name + " did not show it" },
		Breaks: func(_ law.Member[*duty], e law.Entry) law.Entry {
			if d.breaks == "" {
				return e
			}
			return e.Broken("%s", d.breaks).Shown(1)
		},
	}
	h := fact.NewHistory(history.Header{})
	facts := law.New(func(*fact.History) *duty { return d }, []law.Law[*duty]{of}).Begin(h)
	h.Observe(&history.Event{Seq: 1, At: over, End: &history.End{Complete: true}})
	_, l := facts.Judge("CLE-20")
	return l.Entries[0]
}

func (*duty) Members() []string { return []string{"a"} }

// look is one that was sent and answered in the same second, until the last one like it.
func look(from, until int64, shows bool) law.Look {
	return law.Look{Asked: from * s, Answered: from * s, Until: until * s, Seq: from, Shows: shows}
}

func TestDeadline_LooksShowBetweenWhichTimesItCameAbout(t *testing.T) {
	missing, lasting := look(25, 25, false), look(11, 11, false)
	lasting.Lasting = true
	for name, tc := range map[string]struct {
		looks []law.Look
		void  []law.Void
		over  int64
		want  law.Ending
	}{
		"shown in time":                                      {[]law.Look{look(12, 12, false), look(19, 30, true)}, nil, 50, law.Met},
		"shown since before it began":                        {[]law.Look{look(5, 30, true)}, nil, 50, law.Met},
		"still missing when the bound was over":              {[]law.Look{missing, look(30, 30, true)}, nil, 50, law.Late},
		"missing to the end":                                 {[]law.Look{look(12, 40, false)}, nil, 50, law.Late},
		"missing in time, and shown after the bound":         {[]law.Look{look(19, 19, false), look(30, 30, true)}, nil, 50, law.Unclear},
		"never looked at":                                    {nil, nil, 50, law.Unclear},
		"looked at before only":                              {[]law.Look{look(2, 5, false)}, nil, 50, law.Unclear},
		"missing, and the history ends before the bound":     {[]law.Look{look(12, 12, false)}, nil, 15, law.Open},
		"missing until the next look, as nothing changed":    {[]law.Look{lasting, look(30, 30, true)}, nil, 50, law.Late},
		"missing until the end, as nothing changed":          {[]law.Look{lasting}, nil, 50, law.Late},
		"missing, and not owed any more before the bound":    {[]law.Look{look(12, 12, false)}, law.Voids("gone", at(15)...), 50, law.Excused},
		"missing after the bound, and not owed any more":     {[]law.Look{missing}, law.Voids("gone", at(27)...), 50, law.Late},
		"only seen to be missing after it was not owed":      {[]law.Look{look(12, 12, false), look(40, 40, false)}, law.Voids("gone", at(35)...), 50, law.Excused},
		"only seen after it was not owed any more, too late": {[]law.Look{look(40, 40, false)}, law.Voids("gone", at(15)...), 50, law.Excused},
	} {
		t.Run(name, func(t *testing.T) {
			d := &duty{begin: at(10), running: always(), void: tc.void}
			e := d.judgeLooks(tc.looks, tc.over*s)
			if e.Ending != tc.want {
				t.Errorf("it ended as %s (%s), want %s", e.Ending, e.Why, tc.want)
			}
			if e.Member != "a" || e.Ending == law.Late && e.Why[:17] != "a did not show it" {
				t.Errorf("the entry is %+v", e)
			}
		})
	}
}

func TestDeadline_IsBrokenByWhatShowsThatItIs(t *testing.T) {
	for name, tc := range map[string]struct {
		looks []law.Look
		why   string
		want  law.Ending
	}{
		"shown, and lost again":     {[]law.Look{look(12, 12, true)}, "it went", law.Broken},
		"shown, and kept":           {[]law.Look{look(12, 12, true)}, "", law.Met},
		"never shown, and lost too": {[]law.Look{look(12, 40, false)}, "it went", law.Late},
		"never looked at, and lost": {nil, "it went", law.Broken},
	} {
		t.Run(name, func(t *testing.T) {
			d := &duty{begin: at(10), running: always(), breaks: tc.why}
			if e := d.judgeLooks(tc.looks, 50*s); e.Ending != tc.want {
				t.Errorf("it ended as %s (%s), want %s", e.Ending, e.Why, tc.want)
			}
		})
	}
}

func TestEntry_EndsAsItsMethodsSay(t *testing.T) {
	of := law.Of("x", fact.Exactly(5, 7)).By("a")
	l := &law.Ledger{}
	l.Add(of, of.Met("t").For(3), of.Broken("%s", "why").Shown(9, 0, 7).Alone().Unless(12).As("k", "r"), of.Excused("e"), of.Unclear("u"), of.Open("o"))
	if len(l.Entries) != 5 {
		t.Fatalf("the ledger has %d entries, want those with an ending", len(l.Entries))
	}
	if c := l.Counts(); c.Met != 3 || c.Broken != 1 || c.Excused != 1 || c.Unclear != 1 || c.Open != 1 {
		t.Errorf("the counts are %+v", c)
	}
	b := l.Of(law.Broken)[0]
	if b.Why != "why" || len(b.Evidence) != 2 || b.Evidence[0] != 7 || !b.SelfEvident || b.Through != 12 || b.Kind != "k" || b.Release != "r" || b.Member != "a" {
		t.Errorf("the breach is %+v", b)
	}
}
