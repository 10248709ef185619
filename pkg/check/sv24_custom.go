package check

import (
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// sv24: the storage version of a custom resource is published before the
// resource is served with it (KEP-2339, custom resources: the extension server
// updates the storage version, and only then enables the handler). A handler that
// is enabled shows by what it stores, so this is SV-15 for custom resources: the
// bytes name the version, a tag names the member, and the entry that counts is
// the member's own at that very revision. Which resources are custom is what the
// harness has defined itself.
type sv24 struct {
	findings
	writes       int64
	each         perMember
	onward, back perMember
	course       map[memberResource]*course
	// complained has the announcements, or the lack of one, that were told of.
	complained once
	// made is the revision at which each custom resource was defined last; what was
	// announced before is another one's.
	made map[string]definition
	late lateWrites
}

// definition is the making of a custom resource, and when it was told.
type definition struct{ revision, at int64 }

type memberResource struct {
	member string
	groupResource
}

// course is what a member stored of one custom resource, in the order of time.
type course struct {
	now  string
	been map[string]bool
}

func newSV24() *sv24 {
	return &sv24{course: map[memberResource]*course{}, made: map[string]definition{}, late: lateWrites{}}
}

func (c *sv24) Observe(w *World, ev *history.Event) {
	c.late.answered(w, ev)
	if ev.Stored == nil {
		return
	}
	s := ev.Stored
	if s.ObjectKind == "CustomResourceDefinition" && s.Type == history.StoredPut && s.Created == s.Revision {
		if resource, group, ok := strings.Cut(s.Name, "."); ok {
			c.made[objectName(group, resource)] = definition{s.Revision, ev.At}
		}
	}
	gr, ok := w.tagged(s)
	id := w.serverOf[s.Writer]
	if !ok || id == "" || !w.custom[gr] || w.servers[s.Writer].current().silent() {
		return // who is without the API announces nothing, which is SV-25's
	}
	c.writes++
	c.each.add(w, s.Writer)
	c.follow(w, s, gr)
	c.judge(w, ev, gr, id)
}

// follow counts how often the member went over to another version.
func (c *sv24) follow(w *World, s *history.Stored, gr groupResource) {
	key := memberResource{s.Writer, gr}
	on := c.course[key]
	if on == nil {
		on = &course{now: s.APIVersion, been: map[string]bool{}}
		c.course[key] = on
	}
	switch {
	case s.APIVersion == on.now:
	case on.been[s.APIVersion]:
		c.back.add(w, s.Writer)
	default:
		c.onward.add(w, s.Writer)
	}
	on.now = s.APIVersion
	on.been[s.APIVersion] = true
}

func (c *sv24) judge(w *World, ev *history.Event, gr groupResource, id string) {
	s, name := ev.Stored, objectName(gr.group, gr.resource)
	change, known := w.changeAt(name, id, s.Revision)
	said := "nothing"
	switch {
	case known && change.present && change.entry.Encoding == s.APIVersion:
		return
	case known && change.present:
		said = change.entry.Encoding
	case known && change.revision > c.made[name].revision && taken(w, change, s, name, id):
		blame := func() {
			blame := func() { c.blame(w, ev, gr, change, name, "nothing") }
			if !change.withObject {
				w.unlessEdited(name, change.revision, change.at, blame)
				return
			}
			// That the definition before was taken away explains nothing of what became of
			// the announcement under this one.
			w.unlessAskedSince(name, change.at, w.aways.since(c.made[name].at)-int64(recorderLag), blame)
		}
		if !w.participates(id, s.Revision) {
			c.late.stored(w, s, change.at, blame)
		} else if change.withObject {
			blame()
		}
		return
	}
	c.blame(w, ev, gr, change, name, said)
}

func (c *sv24) blame(w *World, ev *history.Event, gr groupResource, change entryChange, name, said string) {
	s := ev.Stored
	if !c.complained.first(s.Writer + " " + name + " " + s.APIVersion + " " + said) {
		return
	}
	kind, release := "", ""
	if w.versions[name] == nil {
		kind = kindNoCustom
	}
	if in := w.servers[s.Writer].current(); in != nil {
		release = in.release
	}
	c.inferOf(w, kind, release, at(ev.Seq, change.seq), "%s stored %s of the custom resource %s as %s at revision %d, when it had announced %s in %s",
		s.Writer, s.Name, gr.resource, s.APIVersion, s.Revision, said, name)
}

func (c *sv24) Finish(*World) {}

func (c *sv24) Observations() []Observation {
	return []Observation{
		{What: "stored custom objects whose writer is known", Seen: c.writes, Need: needTaggedWrites},
		c.each.fewest("stored custom objects whose writer is known", needWritesEach),
		c.onward.fewest("changes to a storage version that was new to the member", needFlips),
		c.back.fewest("changes back to a storage version that the member had left", needFlips),
	}
}
