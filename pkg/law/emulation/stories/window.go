package stories

import (
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/story"
)

// Releases of the members of the story, whose binaries go from the old to the new one.
const (
	old   = "1.2"
	newer = "1.3"
)

// Builder is a control plane that is upgraded in two steps.
type Builder struct {
	*story.ControlPlane
	// at is what happens besides at the points of the story that have a name.
	at    map[string]func(*Builder)
	steps int
}

// point is a place in the story at which something else may happen.
func (b *Builder) point(name string) {
	if do := b.at[name]; do != nil {
		do(b)
	}
}

func windowStory() []history.Event { return Window(nil) }

// Window builds a run in which the binaries of three members are replaced one by one and
// emulate the release before, each with a rollback, in which the members then raise what they
// emulate, and one lowers it again. The map names what happens besides at its points:
// <member> emulates, rolled back, raised, lowered.
func Window(otherwise map[string]func(*Builder)) []history.Event {
	b := &Builder{ControlPlane: story.NewControlPlane(), at: otherwise}
	for _, m := range b.Members {
		b.serve(m, old)
	}
	for _, m := range b.Members {
		b.Replace("upgrade", m, story.Emulating)
		b.point(m.Name + " emulates")
		b.work(m)
		b.Replace("rollback", m, old)
		b.point(m.Name + " rolled back")
		b.work(m)
		b.Replace("upgrade", m, story.Emulating)
		b.work(m)
	}
	for _, m := range b.Members {
		b.Replace("emulate", m, newer)
		b.point(m.Name + " raised")
		b.work(m)
	}
	b.Replace("emulate", b.Members[0], story.Emulating)
	b.point("lowered")
	b.work(b.Members[0])
	b.Advance(1000)
	b.Emit(history.Event{Kind: history.KindEnd, End: &history.End{Complete: true}})
	return b.Events
}

// Replace stops a member and starts it at another release.
func (b *Builder) Replace(action string, m *story.Member, release string) {
	b.replaceBy(action, m, release, b.serve)
}

func (b *Builder) replaceBy(action string, m *story.Member, release string, serve func(*story.Member, string)) {
	b.steps++
	b.Advance(500)
	b.Step(b.steps, action, history.PhaseBegin, m, release)
	b.Exit(m, "exit status 0", true)
	serve(m, release)
	b.Step(b.steps, action, history.PhaseEnd, m, release)
}

// serve starts a member's API server, which registers and becomes ready.
func (b *Builder) serve(m *story.Member, release string) {
	b.Start(m, release)
	b.RenewIdentity(m)
	b.Advance(1000)
	for _, r := range story.Hosted {
		b.ReportResource(m, r)
	}
	b.Advance(30)
	b.AnswerReady(m, 200, true)
}

// work writes through a member, and has it asked for what etcd holds.
func (b *Builder) work(m *story.Member) {
	b.Advance(100)
	b.Write(m, "configmaps")
	b.Write(m, "ballasts")
	b.Write(m, "ballasts")
	b.Read(m, "", "configmaps")
	b.Read(m, story.BallastGroup, "ballasts")
}

// Refuse has a member answer a write with an error.
func (b *Builder) Refuse(m *story.Member, group, resource string) {
	m.Writes++
	b.Request(m, history.Request{
		Class: history.ClassGuarded, Verb: "update", Group: group, Version: "v1", Resource: resource, Name: "default/t0-" + m.Name,
		Write: m.Writes, Code: 500, Reason: "InternalError", Message: "internal error",
	})
}

// Read has a member asked for all objects of a resource.
func (b *Builder) Read(m *story.Member, group, resource string) {
	from := b.Now
	b.Advance(5)
	b.Emit(history.Event{Kind: history.KindRead, Member: m.Name, From: from, Read: &history.Read{
		How: history.ReadConsistent, Group: group, Version: "v1", Resource: resource, After: b.Revision, Code: 200, Items: 3, ResourceVersion: b.Revision, Compared: true, Stored: 3,
	}})
}
