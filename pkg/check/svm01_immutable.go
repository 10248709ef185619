package check

import "github.com/evenkeel/evenkeel/pkg/history"

// svm01: what is migrated never changes, names that are none are refused, and a
// status that comes with the creation is passed over.
type svm01 struct {
	findings
	resources, groups, changes, creations int64
}

func (c *svm01) Observe(w *World, ev *history.Event) {
	if move := w.migrations.moved; move != nil && !move.gone {
		m := move.m
		if move.created && (m.now.Checkpoint != "" || len(m.now.Conditions) > 0) {
			c.violate(at(ev.Seq), "migration %s was created with a status: checkpoint %q and %d conditions", m.name, m.now.Checkpoint, len(m.now.Conditions))
		}
		if move.before != nil && (move.before.Group != m.now.Group || move.before.Resource != m.now.Resource) {
			c.infer(w, at(m.created.seq, ev.Seq), "migration %s was of %s.%s and is of %s.%s", m.name, move.before.Resource, move.before.Group, m.now.Resource, m.now.Group)
		}
	}
	r := ev.Request
	if r == nil || r.Class != history.ClassMigration {
		return
	}
	switch r.Invalid {
	case "":
		if r.Verb == "create" && accepted(r) && r.Migrates != nil && r.Migrates.Checkpoint != "" {
			c.creations++
		}
	case history.InvalidResource:
		c.weigh(ev, &c.resources, "a migration of a resource that cannot be one")
	case history.InvalidGroup:
		c.weigh(ev, &c.groups, "a migration of a group that cannot be one")
	case history.InvalidChange:
		c.weigh(ev, &c.changes, "another resource in a migration than it was created with")
	}
}

func (c *svm01) weigh(ev *history.Event, refusals *int64, what string) {
	if accepted(ev.Request) {
		c.violate(at(ev.Seq), "%s took %s (%s)", ev.Member, what, ev.Request.Name)
	}
	if refusedFor(ev.Request) {
		*refusals++
	}
}

// refusedFor is whether a server refused what was sent for what it is, and not
// because something was in the way.
func refusedFor(r *history.Request) bool {
	return r.Code == 400 || r.Code == 403 || r.Code == 422
}

func (c *svm01) Finish(*World) {}

func (c *svm01) Observations() []Observation {
	return []Observation{
		{What: "names of resources refused", Seen: c.resources, Need: needRefusals},
		{What: "names of groups refused", Seen: c.groups, Need: needRefusals},
		{What: "changes of the resource refused", Seen: c.changes, Need: needRefusals},
		{What: "migrations created with a status in the request", Seen: c.creations, Need: needMigrations},
	}
}
