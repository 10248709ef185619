package check

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// sv06: the agreed version is set if and only if all entries are equal, and
// the condition mirrors it with reason and message (KEP-2339, on
// AgreedEncodingVersion). "Set though they differ" is a breach in any revision;
// "not set though all are equal" only once every participant has reported and
// somebody has had time to notice.
type sv06 struct {
	findings
	agreed, disagreed, refusals int64
	overdue                     map[string]overdue
}

type overdue struct {
	since int64
	seq   int64
}

// conditionType is the condition that mirrors the agreement.
const conditionType = "AllEncodingVersionsEqual"

func newSV06() *sv06 { return &sv06{overdue: map[string]overdue{}} }

func (c *sv06) Observe(w *World, ev *history.Event) {
	c.judgeOverdue(w, ev.At)
	switch {
	case ev.Stored != nil && ev.Stored.StorageVersion != nil:
		c.judge(ev)
		c.watch(w, ev)
	case ev.Stored != nil && ev.Stored.Type == history.StoredDelete:
		delete(c.overdue, ev.Stored.Name)
	case ev.Request != nil && ev.Request.Class == history.ClassInvalid && ev.Request.Invalid == history.InvalidAgreement:
		if accepted(ev.Request) {
			c.violate(at(ev.Seq), "%s took a status of %s that calls a version agreed though the entries differ", ev.Member, ev.Request.Name)
		}
		if refused(ev.Request) {
			c.refusals++
		}
	}
}

func (c *sv06) judge(ev *history.Event) {
	sv, name, revision := ev.Stored.StorageVersion, ev.Stored.Name, ev.Stored.Revision
	if len(sv.Entries) == 0 && sv.Common == nil {
		return // just created: nobody has reported, and nothing is claimed
	}
	value, equal := allEqual(sv.Entries)
	if sv.Common != nil && (!equal || *sv.Common != value) {
		c.violate(at(ev.Seq), "%s calls %s agreed at revision %d, but the entries are %s", name, *sv.Common, revision, showEntries(sv.Entries))
	}
	if sv.Common != nil {
		c.agreed++
	} else if !equal {
		c.disagreed++
	}
	i := slices.IndexFunc(sv.Conditions, func(k history.Condition) bool { return k.Type == conditionType })
	if i < 0 {
		c.violate(at(ev.Seq), "%s has entries but no condition %s at revision %d", name, conditionType, revision)
		return
	}
	k := sv.Conditions[i]
	if (k.Status == "True") != (sv.Common != nil) {
		c.violate(at(ev.Seq), "in %s at revision %d the agreed version is %s and the condition %s", name, revision, showCommon(sv.Common), k.Status)
	}
	if k.Reason == "" || k.Message == "" {
		c.violate(at(ev.Seq), "in %s at revision %d the condition lacks its reason or message", name, revision)
	}
}

// watch starts or ends the time in which equal entries may stay unagreed.
func (c *sv06) watch(w *World, ev *history.Event) {
	sv, name := ev.Stored.StorageVersion, ev.Stored.Name
	_, equal := allEqual(sv.Entries)
	reported := true
	for _, id := range w.participants() {
		reported = reported && slices.ContainsFunc(sv.Entries, func(e history.Entry) bool { return e.ServerID == id })
	}
	if sv.Common != nil || !equal || !reported {
		delete(c.overdue, name)
		return
	}
	if _, ok := c.overdue[name]; !ok {
		c.overdue[name] = overdue{since: ev.At, seq: ev.Seq}
	}
}

func (c *sv06) judgeOverdue(w *World, now int64) {
	for name, o := range c.overdue {
		if time.Duration(now-o.since) > agreementSettles {
			c.violate(at(o.seq), "%s has had equal entries of all participants for %v and calls no version agreed", name, agreementSettles)
			delete(c.overdue, name)
		}
	}
}

func (c *sv06) Finish(*World) {}

func (c *sv06) Observations() []Observation {
	return []Observation{
		{"revisions with an agreed version", c.agreed, needAgreements},
		{"revisions with entries that differ", c.disagreed, needDisagreements},
		{"statuses with a false agreement refused", c.refusals, needRefusedProbes},
	}
}

// allEqual gives the one version that all entries encode to, if there is one.
func allEqual(entries []history.Entry) (string, bool) {
	if len(entries) == 0 {
		return "", false
	}
	for _, e := range entries {
		if e.Encoding != entries[0].Encoding {
			return "", false
		}
	}
	return entries[0].Encoding, true
}

func showEntries(entries []history.Entry) string {
	if len(entries) == 0 {
		return "none"
	}
	out := ""
	for i, e := range entries {
		if i > 0 {
			out += ", "
		}
		out += fmt.Sprintf("%s: %s", e.ServerID, e.Encoding)
	}
	return out
}
