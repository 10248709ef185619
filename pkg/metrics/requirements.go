package metrics

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/report"
)

// requirements tells how each of them stands, or was judged.
type requirements struct {
	whole      *prometheus.GaugeVec
	verdict    *prometheus.GaugeVec
	violations *prometheus.GaugeVec
	seen, need *prometheus.GaugeVec
	told       map[string]check.Verdict
}

func newRequirements(f *factory) *requirements {
	return &requirements{
		whole:      f.gauge("run_verdict", "1 for the verdict on all requirements together; absent while the scenario is played.", "verdict"),
		verdict:    f.gauge("requirement_verdict", "1 for the verdict on the requirement: the final one, or, while the scenario is played, how it stands, which is no verdict yet.", "requirement", "verdict"),
		violations: f.gauge("requirement_violations", "Breaches that were found.", "requirement"),
		seen:       f.gauge("requirement_observations", "How often the promise was put to the test, by what was seen.", "requirement", "observation"),
		need:       f.gauge("requirement_observations_needed", "How often that is needed at least for a pass.", "requirement", "observation"),
		told:       map[string]check.Verdict{},
	}
}

// Standing tells how the requirements stand while a scenario is played.
func (m *Metrics) Standing(progress []check.Progress) {
	for _, p := range progress {
		m.requirements.set(p)
	}
}

// Judged tells the verdicts of a run that has ended.
func (m *Metrics) Judged(rep *report.ConformanceReport) {
	for _, res := range rep.Results {
		m.requirements.set(check.Progress{ID: res.ID, Verdict: res.Verdict, Violations: res.ViolationCount, Observations: res.Observations})
	}
	for _, id := range rep.NotJudged {
		m.requirements.set(check.Progress{ID: id, Verdict: check.Skipped})
	}
	m.requirements.whole.Reset()
	m.requirements.whole.WithLabelValues(string(rep.Verdict)).Set(1)
}

func (r *requirements) set(p check.Progress) {
	id := string(p.ID)
	if before, ok := r.told[id]; !ok || before != p.Verdict {
		r.told[id] = p.Verdict
		r.verdict.DeletePartialMatch(prometheus.Labels{"requirement": id})
		r.verdict.WithLabelValues(id, string(p.Verdict)).Set(1)
	}
	r.violations.WithLabelValues(id).Set(float64(p.Violations))
	for _, o := range p.Observations {
		r.seen.WithLabelValues(id, o.What).Set(float64(o.Seen))
		r.need.WithLabelValues(id, o.What).Set(float64(o.Need))
	}
}
