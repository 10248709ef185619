package check

import (
	"slices"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// FeatureOff is a feature that processes were started without.
type FeatureOff struct {
	// Feature by the name that scenarios have for it.
	Feature string `json:"feature"`
	// Members whose processes they were, in the order in which they came.
	Members []string `json:"members"`
}

// keptRan bounds how many releases and features are told of: a history that names
// more is not one of a control plane.
const keptRan = 100

// ran is at which releases and without which features members were started, in the
// order in which they came.
type ran struct {
	releases []string
	off      []FeatureOff
}

func newRan(h history.Header) *ran {
	r := &ran{}
	for _, m := range h.Members {
		r.release(m.Release)
	}
	return r
}

func (r *ran) release(name string) {
	if name != "" && len(r.releases) < keptRan && !slices.Contains(r.releases, name) {
		r.releases = append(r.releases, name)
	}
}

func (r *ran) take(ev *history.Event) {
	if ev.Process == nil || ev.Process.Change != history.ProcessStarted {
		return
	}
	r.release(ev.Process.Release)
	for _, feature := range ev.Process.Off {
		r.without(feature, ev.Member)
	}
}

func (r *ran) without(feature, member string) {
	at := slices.IndexFunc(r.off, func(o FeatureOff) bool { return o.Feature == feature })
	if at < 0 {
		if len(r.off) >= keptRan {
			return
		}
		at = len(r.off)
		r.off = append(r.off, FeatureOff{Feature: feature})
	}
	if of := &r.off[at]; !slices.Contains(of.Members, member) && len(of.Members) < keptRan {
		of.Members = append(of.Members, member)
	}
}
