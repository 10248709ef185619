package site

import (
	"fmt"
	"math"
	"slices"
	"time"

	"sigs.k8s.io/yaml"
)

// Skew are the recorded runs of hack/skew: members replaced one by one.
type Skew struct {
	Cells []SkewCell `json:"cells"`
}

// SkewCell is one way of electing and one direction.
type SkewCell struct {
	Coordinated bool `json:"coordinated"`
	// Back is a rollback.
	Back bool `json:"back"`
	// Runs of all, Ever those with a leader that was newer than an API server, Lasting those
	// in which it stayed so.
	Runs    int `json:"runs"`
	Ever    int `json:"ever"`
	Lasting int `json:"lasting"`
	// Milliseconds of skew, of each run with any.
	Milliseconds []int64 `json:"milliseconds,omitempty"`
}

func (m *Model) readSkew() error {
	if !m.files[SkewFile] {
		return nil
	}
	raw, err := m.readFile(SkewFile)
	if err != nil {
		return err
	}
	m.Skew = &Skew{}
	if err := yaml.UnmarshalStrict(raw, m.Skew); err != nil {
		return fmt.Errorf("%s has no runs of hack/skew: %w", m.on(SkewFile), err)
	}
	return nil
}

// shortestSkew is where the scale begins: what is shorter is drawn there.
const shortestSkew = 100 * time.Millisecond

// chart draws how long the skew of each run lasted.
func (s *Skew) chart() *Chart {
	longest := shortestSkew * 10
	for _, c := range s.Cells {
		for _, ms := range c.Milliseconds {
			longest = max(longest, time.Duration(ms)*time.Millisecond)
		}
	}
	decades := math.Ceil(math.Log10(longest.Seconds() / shortestSkew.Seconds()))
	chart := &Chart{
		Caption: "Time of version skew in each recorded run",
		Note: fmt.Sprintf("Each mark is a run. The scale is logarithmic, from %s to %s.", shortestSkew,
			time.Duration(float64(shortestSkew)*math.Pow(10, decades))),
	}
	for _, c := range s.Cells {
		bar := Bar{Value: fmt.Sprintf("%d of %d runs", len(c.Milliseconds), c.Runs)}
		if c.Coordinated {
			bar.Series = 1
		}
		sorted := slices.Sorted(slices.Values(c.Milliseconds))
		for _, ms := range sorted {
			at := max(time.Duration(ms)*time.Millisecond, shortestSkew).Seconds() / shortestSkew.Seconds()
			bar.Marks = append(bar.Marks, math.Log10(at)/decades*chartWidth)
		}
		if len(sorted) > 0 {
			bar.Value += fmt.Sprintf(", median %s, longest %s", milliseconds(sorted[(len(sorted)+1)/2-1]), milliseconds(sorted[len(sorted)-1]))
		}
		chart.Groups = append(chart.Groups, BarGroup{c.label(), []Bar{bar}})
	}
	return chart
}

func milliseconds(n int64) time.Duration {
	return (time.Duration(n) * time.Millisecond).Round(10 * time.Millisecond)
}

func (c SkewCell) label() string {
	way, election := "upgrade", "plain Leases"
	if c.Back {
		way = "rollback"
	}
	if c.Coordinated {
		election = "coordinated election"
	}
	return way + ", " + election
}
