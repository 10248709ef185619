package timeline

import (
	"slices"
	"strings"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// nodeLeases is the namespace in which nodes, and not leaders, renew Leases. systemLeases is
// the namespace of the leaders' Leases, which the page leaves out of their names.
const (
	nodeLeases   = "kube-node-lease/"
	systemLeases = "kube-system/"
)

func (c *collector) takeStored(ev *history.Event) {
	s := ev.Stored
	switch {
	case s.Type == history.StoredDelete:
		c.takeDeleted(ev)
	case s.Lease != nil && !s.Lease.Identity && !strings.HasPrefix(s.Name, nodeLeases):
		c.takeLease(ev)
	case s.StorageVersion != nil:
		c.takeStorageVersion(ev)
	case s.Migration != nil:
		c.takeMigration(ev)
	}
}

func newTrack() *track { return &track{} }

func (c *collector) takeLease(ev *history.Event) {
	holder := ev.Stored.Lease.Holder
	t := c.leases.get(ev.Stored.Name, newTrack)
	if holder == "" {
		t.set(c.now, ev.Seq, styleNoLeader, 0, c.text("no leader"))
		return
	}
	member, number := c.memberOf(holder)
	if number < 0 {
		// A holder that is not a member has the color after those of all members.
		t.set(c.now, ev.Seq, styleLeader, len(c.header.Members), c.text("%s", holder))
		return
	}
	t.set(c.now, ev.Seq, styleLeader, number, c.text("%s (%s)", member, holder))
}

func (c *collector) takeStorageVersion(ev *history.Event) {
	sv := ev.Stored.StorageVersion
	t := c.agreed.get(ev.Stored.Name, newTrack)
	var who, encodings []string
	for _, e := range sv.Entries {
		name, number := c.memberOf(e.ServerID)
		if number < 0 {
			name = e.ServerID
		}
		who = append(who, name)
		if !slices.Contains(encodings, e.Encoding) {
			encodings = append(encodings, e.Encoding)
		}
	}
	slices.Sort(who)
	slices.Sort(encodings)
	entries := "no server has an entry"
	if len(who) > 0 {
		entries = "entries of " + strings.Join(who, ", ")
	}
	if sv.Common == nil {
		told := "none agreed"
		if len(encodings) > 0 {
			told += " (" + strings.Join(encodings, " or ") + ")"
		}
		t.set(c.now, ev.Seq, styleDisagreed, 0, c.text("%s; %s", told, entries))
		return
	}
	t.set(c.now, ev.Seq, styleAgreed, c.versions.number(*sv.Common), c.text("%s; %s", *sv.Common, entries))
}

func (c *collector) takeMigration(ev *history.Event) {
	m := ev.Stored.Migration
	what := m.Resource
	if m.Group != "" {
		what += "." + m.Group
	}
	style, told := stylePending, "waits"
	for _, cond := range m.Conditions {
		if cond.Status != "True" {
			continue
		}
		switch cond.Type {
		case history.MigrationSucceeded:
			style, told = styleSucceeded, "succeeded"
		case history.MigrationFailed:
			style, told = styleFailed, "failed: "+strings.TrimSpace(cond.Reason+" "+cond.Message)
		case history.MigrationRunning:
			if style == stylePending {
				style, told = styleRunning, "runs"
			}
		}
	}
	c.migrations.get(ev.Stored.Name, newTrack).set(c.now, ev.Seq, style, 0, c.text("%s of %s", told, what))
}

func (c *collector) takeDeleted(ev *history.Event) {
	name := ev.Stored.Name
	for prefix, among := range map[string]*ordered[*track]{
		"/registry/leases/":         &c.leases,
		"/storageversions/":         &c.agreed,
		"/storageversionmigrations": &c.migrations,
	} {
		if t, ok := among.of[name]; ok && strings.Contains(ev.Stored.Key, prefix) {
			t.set(c.now, ev.Seq, styleGone, 0, c.text("the object is gone"))
		}
	}
}

// lanesOf ends all tracks, and splits them into the interesting ones and the others.
func (c *collector) lanesOf(among *ordered[*track], interesting func(*track) bool) (shown, folded []lane) {
	for _, name := range slices.Sorted(slices.Values(among.keys)) {
		t := among.of[name]
		t.end(c.now)
		one := lane{Name: strings.TrimPrefix(name, systemLeases), Spans: t.spans}
		if interesting(t) {
			shown = append(shown, one)
		} else {
			folded = append(folded, one)
		}
	}
	return shown, folded
}
