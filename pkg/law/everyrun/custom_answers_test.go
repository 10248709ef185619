package everyrun_test

import (
	"testing"

	"github.com/evenkeel/evenkeel/pkg/check"
	"github.com/evenkeel/evenkeel/pkg/check/judgetest"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law/everyrun/stories"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// A member that is ready may be too busy for a moment, and does not serve what it never answers
// for.
func TestCustom_ABusyAnswerIsExcusedForAMoment(t *testing.T) {
	for name, c := range map[string]struct {
		want check.Verdict
		do   func(b *stories.Builder, m *story.Member)
	}{
		"until it answers": {check.Pass, func(b *stories.Builder, m *story.Member) {
			b.Custom(m, 200, 503)
			b.Custom(m, 200, 200)
		}},
		"to the end": {check.Inconclusive, func(b *stories.Builder, m *story.Member) {
			for range 5 {
				b.Custom(m, 200, 503)
				b.Advance(1000)
			}
		}},
		"beside a fault": {check.Pass, func(b *stories.Builder, m *story.Member) {
			slow(b, m, func() { b.Custom(m, 200, 503) })
		}},
		"as it ends": {check.Pass, func(b *stories.Builder, m *story.Member) {
			b.Custom(m, 200, 0)
			b.Exit(m, "signal: killed", true)
			b.Serve(m, m.Release)
		}},
		"as it is not ready any more": {check.Pass, func(b *stories.Builder, m *story.Member) {
			b.Custom(m, 500, 429)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			judgetest.Expect(t, "RO-09", replaced("at rest", func(b *stories.Builder) {
				m := b.Members[2]
				b.Exit(m, "exit status 0", true)
				b.Start(m, m.Release)
				b.AnswerReady(m, 500, false)
				b.Advance(1000)
				b.AnswerReady(m, 200, true)
				c.do(b, m)
			}), c.want)
		})
	}
}

// A definition says in which versions a custom resource is served, and may be taken away: 404 is
// no answer for what it has named since the server started.
func TestCustom_OwesWhatTheDefinitionNames(t *testing.T) {
	gone := func(b *stories.Builder) { b.Delete(definitionKey, stories.CustomResource) }
	made := func(b *stories.Builder) { define(b, history.CustomResource{Established: true}) }
	other := func(b *stories.Builder) {
		define(b, history.CustomResource{Established: true})
		b.Events[len(b.Events)-1].Stored.CustomResource.Served = []string{"v2"}
	}
	for name, c := range map[string]struct {
		want          check.Verdict
		before, since []func(*stories.Builder)
	}{
		"all the time":                   {check.Fail, []func(*stories.Builder){made}, nil},
		"again before the server starts": {check.Fail, []func(*stories.Builder){made, gone, made}, nil},
		"not any more":                   {check.Pass, []func(*stories.Builder){made}, []func(*stories.Builder){gone}},
		"again since it started":         {check.Pass, []func(*stories.Builder){made}, []func(*stories.Builder){gone, made}},
		"in another version":             {check.Pass, []func(*stories.Builder){made}, []func(*stories.Builder){other}},
	} {
		t.Run(name, func(t *testing.T) {
			judgetest.Expect(t, "RO-09", replaced("at rest", func(b *stories.Builder) {
				m := b.Members[2]
				for _, do := range c.before {
					do(b)
				}
				b.Advance(2000)
				b.Exit(m, "exit status 0", true)
				b.Serve(m, m.Release)
				for _, do := range c.since {
					do(b)
				}
				b.Custom(m, 200, 404)
			}), c.want)
		})
	}
}
