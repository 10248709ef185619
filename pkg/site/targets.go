package site

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/conformance"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/report"
	"github.com/evenkeel/evenkeel/pkg/report/results"
)

func (m *Model) readResults() error {
	var files []string
	for file := range m.files {
		if path.Dir(file) == ResultsDir && path.Ext(file) == ".yaml" {
			files = append(files, file)
		}
	}
	slices.Sort(files)
	for _, file := range files {
		t, err := results.Load(m.on(file))
		if err != nil {
			return err
		}
		name := strings.TrimSuffix(path.Base(file), ".yaml")
		m.Targets = append(m.Targets, &Target{Name: m.unique(name), Title: cmp.Or(t.Target, name), Results: t, plane: planeOf(t)})
	}
	return nil
}

// planeOf is the control plane of results. Where the topology cannot be read, no bundle
// belongs to it.
func planeOf(t *results.Target) plane {
	topology, err := cluster.LoadTopology(t.Topology)
	if err != nil {
		return plane{}
	}
	of := plane{topology.Spec.Provider, cmp.Or(topology.Spec.Distribution, cluster.DefaultDistribution), cmp.Or(t.Release, topology.Spec.Release)}
	if of.distribution == cluster.DefaultDistribution && t.Release == "" {
		of.release = "" // the scenarios name releases of it
	}
	return of
}

func planeOfRun(rep *report.ConformanceReport) plane {
	p := plane{provider: rep.Target.Provider, distribution: rep.Target.Distribution}
	if len(rep.Target.Releases) > 0 {
		p.release = rep.Target.Releases[0]
	}
	return p
}

// assign gives each run to its target, and makes targets of those that have none.
func (m *Model) assign() {
	for _, run := range m.Runs {
		if t := m.targetOf(run); t != nil {
			t.Runs = append(t.Runs, run)
			run.Target = t
		}
	}
	for _, t := range m.Targets {
		if t.alone {
			t.fill()
		}
	}
	for _, t := range m.Targets {
		if t.Name == "" {
			t.Name = m.unique(t.nameless())
		}
	}
}

// nameless is a name for a campaign or for what is made of runs, which no file names.
func (t *Target) nameless() string {
	switch {
	case t.Campaign == nil:
		return strings.Join([]string{t.plane.provider, t.plane.distribution, t.plane.release}, "-")
	case t.CampaignDir == ".":
		return "campaign"
	}
	return t.CampaignDir
}

// targetOf is the target that a run belongs to: its campaign, the results of the same
// control plane, or a new one. A run with a planted defect says nothing of a control plane.
func (m *Model) targetOf(run *Run) *Target {
	for _, t := range m.Targets {
		if t.Campaign != nil && (t.CampaignDir == "." || strings.HasPrefix(run.Path, t.CampaignDir+"/")) {
			return t
		}
	}
	if run.Report.Defect != "" {
		return nil
	}
	of := planeOfRun(run.Report)
	var best *Target
	for _, t := range m.Targets {
		if t.Campaign == nil && t.plane.holds(of) && (best == nil || t.plane.release != "") {
			best = t
		}
	}
	if best == nil {
		best = &Target{Title: titleOf(run.Report.Implementation, run.Report.Target.Distribution, run.Report.Target.Releases[:min(1, len(run.Report.Target.Releases))], of.provider) + ", single runs", alone: true, plane: of}
		m.Targets = append(m.Targets, best)
	}
	return best
}

// fill makes results of the runs alone.
func (t *Target) fill() {
	t.Results = &results.Target{Target: t.Title, Release: t.plane.release}
	for _, run := range t.Runs {
		if named := run.Report.Target.Topology; named != nil {
			t.Results.Topology = named.Name
		}
		s := t.Results.Begin(run.Report.Scenario, "", false)
		for _, there := range t.Results.Scenarios {
			if there.Name == s.Name {
				s = &there
			}
		}
		s.Count(run.Report)
		t.Results.Replace(*s)
	}
}

func titleOfCampaign(rep *conformance.Report) string {
	title := titleOf(rep.Implementation, rep.Target.Distribution, rep.Target.Releases, rep.Target.Provider) + ", campaign"
	if rep.Asked.Defect != "" {
		title += " with the defect " + rep.Asked.Defect
	}
	return title
}

func titleOf(by *history.Implementation, distribution string, releases []string, provider string) string {
	name, path := distribution, strings.Join(releases, " → ")
	if by != nil && by.Project != "" {
		name = by.Project
		// A project that declares no version has that of the release.
		if by.Version != "" && !slices.Contains(releases, by.Version) {
			name += " " + by.Version
			if path != "" {
				path = "(" + path + ")"
			}
		}
	}
	if path != "" {
		name += " " + path
	}
	return name + ", " + provider
}

// unique makes a name that is safe in an address and in the name of a file, and that no
// target has.
func (m *Model) unique(from string) string {
	safe := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '-':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, from), ".-")
	safe = cmp.Or(safe, "target")
	name := safe
	for n := 2; slices.ContainsFunc(m.Targets, func(t *Target) bool { return t.Name == name }); n++ {
		name = fmt.Sprintf("%s-%d", safe, n)
	}
	return name
}
