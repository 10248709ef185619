package law

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/requirement"
)

const (
	// maxViolations is how many breaches of one requirement are kept with their evidence,
	// and maxExamples how many examples of a deviation, or of what gave no pass; the rest
	// is counted.
	maxViolations = 20
	maxExamples   = 5
	// keptExamples is how many obligations that were met a result names, and keptEvents how many
	// events of each.
	keptExamples = 3
	keptEvents   = 3
)

// Weigh makes the result of a requirement of its ledger. Doubts are reasons not to trust
// any pass of the history.
func Weigh(req requirement.Requirement, row Row, ledger *Ledger, h *fact.History, doubts []string) Result {
	w := weighing{Result: Result{ID: req.ID, Level: req.Level, Promise: req.Promise, Bounds: req.Bounds, Tolerances: req.Tolerances}, history: h, unsure: h.Untrusted(), full: h.DiskFull()}
	if !h.Header.Strict {
		w.documented = requirement.DeviationsFrom(req.ID, h.Header.Distribution)
		w.kinds = row.Kinds
	}
	w.missed(row.Sources)
	for i := range ledger.Entries {
		w.entry(&ledger.Entries[i])
	}
	w.Kept = kept(ledger)
	counts := ledger.Counts()
	counts.Unclear += w.shaky
	w.Obligations = &counts
	for _, n := range row.Needs {
		w.need(req, n, ledger)
	}
	w.reasons(row, ledger, &counts)
	w.Reasons = append(w.Reasons, doubts...)
	switch {
	case w.ViolationCount > 0:
		w.Verdict = Fail
	case len(w.Reasons) > 0:
		w.Verdict = Inconclusive
	case len(w.Deviations) > 0:
		w.Verdict = Deviation
	default:
		w.Verdict = Pass
	}
	return w.Result
}

// kept has the first and the last obligations that were met.
func kept(ledger *Ledger) []Example {
	var met []*Entry
	for i := range ledger.Entries {
		switch e := &ledger.Entries[i]; {
		case e.Ending != Met || len(e.Evidence) == 0 && e.Began.Seq == 0:
		case len(met) < keptExamples:
			met = append(met, e)
		default:
			met[keptExamples-1] = e
		}
	}
	var out []Example
	for _, e := range met {
		events := e.Evidence
		if len(events) == 0 {
			events = evidence(e.Began.Seq)
		}
		out = append(out, Example{About: e.About, Events: slices.Clone(events[max(0, len(events)-keptEvents):])})
	}
	return out
}

type weighing struct {
	Result
	history    *fact.History
	documented []requirement.Deviation
	// kinds of breaches that the law lets deviations explain.
	kinds []string
	// unsure is the number of the first event from which on a source may have missed
	// something; 0 if none has.
	unsure int64
	// full is the number of the first event from which on a disk may have been full; 0 if none
	// was.
	full int64
	// shaky counts breaches that prove nothing because of that, and shakiest is the first.
	shaky    int64
	shakiest string
	unmet    []string
}

// missed looks for the first event from which on the sources may have missed something.
func (w *weighing) missed(sources []fact.Source) {
	silent := w.history.EtcdSilent().Lasts(0, w.history.Now, fact.Yes)
	if slices.Contains(sources, fact.Etcd) && silent > w.history.Now/2 {
		w.Reasons = append(w.Reasons, fmt.Sprintf("the %s recorder heard nothing for %s of %s, so that most changes have no certain time",
			fact.Etcd, time.Duration(silent).Round(time.Second), time.Duration(w.history.Now).Round(time.Second)))
	}
	for _, s := range sources {
		times, seq := w.history.Missed(s)
		if times == 0 {
			continue
		}
		w.Reasons = append(w.Reasons, fmt.Sprintf("the %s recorder may have missed something %d times", s, times))
		if w.unsure == 0 || seq < w.unsure {
			w.unsure = seq
		}
	}
}

func (w *weighing) entry(e *Entry) {
	switch e.Ending {
	case Late, Broken:
		w.breach(e)
	case Unclear, Open:
		if len(w.unmet) < maxExamples {
			w.unmet = append(w.unmet, strings.TrimPrefix(e.About+": "+e.Why, ": "))
		}
	case Met, Excused, Superseded:
	}
}

func (w *weighing) breach(e *Entry) {
	violation := Violation{Message: e.Why, Evidence: e.Evidence}
	if len(violation.Evidence) == 0 {
		violation.Evidence = evidence(e.Began.Seq)
	}
	last := slices.Max(append(slices.Clone(violation.Evidence), e.Began.Seq, e.Through))
	if !e.SelfEvident && w.unsure > 0 && last >= w.unsure || w.full > 0 && last >= w.full {
		w.shaky++
		if w.shaky == 1 {
			w.shakiest = e.Why
		}
		return
	}
	for _, d := range w.documented {
		if slices.Contains(w.kinds, e.Kind) && d.Explains(e.Kind, e.Release) {
			w.deviate(d, violation)
			return
		}
	}
	w.ViolationCount++
	if len(w.Violations) < maxViolations {
		w.Violations = append(w.Violations, violation)
	}
}

func (w *weighing) deviate(d requirement.Deviation, v Violation) {
	at := slices.IndexFunc(w.Deviations, func(seen DeviationSeen) bool { return seen.ID == d.ID })
	if at < 0 {
		at = len(w.Deviations)
		w.Deviations = append(w.Deviations, DeviationSeen{ID: d.ID, Differs: d.Differs, Source: d.Source})
	}
	seen := &w.Deviations[at]
	seen.Count++
	if len(seen.Examples) < maxExamples {
		seen.Examples = append(seen.Examples, v)
	}
}

// need counts what the catalog asks for.
func (w *weighing) need(req requirement.Requirement, n Need, ledger *Ledger) {
	asked := req.MustNeed(n.Name)
	seen := n.count(ledger, w.history.Members())
	what := asked.What
	if n.Each {
		what += WithFewest
	}
	w.Observations = append(w.Observations, Observation{What: what, Seen: seen, Need: asked.Least})
	if seen < asked.Least {
		w.Reasons = append(w.Reasons, fmt.Sprintf("saw %d %s, and needs at least %d", seen, what, asked.Least))
	}
}

func (n Need) count(ledger *Ledger, members []string) int64 {
	of, all, seen := map[string]int64{}, int64(0), map[string]bool{}
	for i := range ledger.Entries {
		e := &ledger.Entries[i]
		tested := e.Ending == Met || n.Breaches && (e.Ending == Late || e.Ending == Broken)
		key, times := e.Member+" "+e.About, e.times()
		if !tested || n.Tag != "" && !slices.Contains(e.Tags, n.Tag) || n.Distinct && seen[key] {
			continue
		}
		if n.Distinct {
			seen[key], times = true, 1
		}
		all += times
		of[e.Member] += times
	}
	switch {
	case !n.Each:
		return all
	case len(members) == 0:
		return 0
	}
	return slices.Min(fact.Each(members, func(m string) int64 { return of[m] }))
}

// reasons are those of the ledger not to pass.
func (w *weighing) reasons(row Row, ledger *Ledger, counts *Counts) {
	w.Reasons = append(w.Reasons, ledger.doubts...)
	if len(row.Needs) == 0 {
		w.Reasons = append(w.Reasons, "the law counts nothing")
	}
	if n := counts.Unclear + counts.Open - w.shaky; n > 0 {
		w.Reasons = append(w.Reasons, fmt.Sprintf("%d obligations stayed unclear and %d open: %s", counts.Unclear-w.shaky, counts.Open, strings.Join(w.unmet, "; ")))
	}
	if w.shaky > 0 {
		after := "something had been missed"
		if w.full > 0 {
			after = "a disk may have been full"
		}
		w.Reasons = append(w.Reasons, fmt.Sprintf("%d breaches seemed to show after %s, so they prove nothing; the first: %s", w.shaky, after, w.shakiest))
	}
	if counts.Excused > counts.Met {
		w.Reasons = append(w.Reasons, fmt.Sprintf("%d obligations were excused and only %d met: %s", counts.Excused, counts.Met, excuses(counts.Excuses)))
	}
}

func excuses(of map[string]int64) string {
	var out []string
	for _, why := range SortedKeys(of) {
		out = append(out, fmt.Sprintf("%s (%d)", why, of[why]))
	}
	return strings.Join(out, "; ")
}
