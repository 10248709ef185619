package check

import "github.com/evenkeel/evenkeel/pkg/history"

// sv15: no object is ever stored in a version that its writer had not
// announced (KEP-2339: the reason for the whole order). The stored bytes name
// the version, a tag names the member that the write went through, and the
// entry is the one in force at that very revision.
type sv15 struct {
	findings
	writes   int64
	versions map[groupResource]map[string]bool
}

func newSV15() *sv15 { return &sv15{versions: map[groupResource]map[string]bool{}} }

func (c *sv15) Observe(w *World, ev *history.Event) {
	s := ev.Stored
	if s == nil || s.Type != history.StoredPut || s.Writer == "" {
		return
	}
	gr, ok := w.resource(s)
	if !ok || w.custom[gr] {
		return // custom resources are SV-24's
	}
	id := w.serverOf[s.Writer]
	if id == "" {
		return
	}
	c.writes++
	if c.versions[gr] == nil {
		c.versions[gr] = map[string]bool{}
	}
	c.versions[gr][s.APIVersion] = true
	name := objectName(gr.group, gr.resource)
	change, ok := w.changeAt(name, id, s.Revision)
	switch {
	case !ok || !change.present:
		c.violate(at(ev.Seq, change.seq), "%s stored %s as %s at revision %d, when %s had no entry of it", s.Writer, s.Name, s.APIVersion, s.Revision, name)
	case change.entry.Encoding != s.APIVersion:
		c.violate(at(ev.Seq, change.seq), "%s stored %s as %s at revision %d, when it had announced %s in %s",
			s.Writer, s.Name, s.APIVersion, s.Revision, change.entry.Encoding, name)
	}
}

func (c *sv15) Finish(*World) {}

func (c *sv15) Observations() []Observation {
	most := 0
	for _, v := range c.versions {
		most = max(most, len(v))
	}
	return []Observation{
		{"stored objects whose writer is known", c.writes, needTaggedWrites},
		{"different versions of one resource in etcd", int64(most), needStoredVersions},
	}
}
