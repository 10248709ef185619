package check

import (
	"fmt"
	"maps"
	"slices"

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
	probes                      probes
	// waiting are the objects that could have an agreement and have none, with
	// the event since which; next is when the first of them is overdue.
	waiting map[string]unagreed
	next    int64
}

// unagreed is since when an object could have an agreement. Who wrote it then had it in
// hand; where it is somebody's coming or leaving that makes the difference, the collector
// has to see it.
type unagreed struct {
	since
	unwritten bool
}

type since struct{ at, seq int64 }

func newSV06() *sv06 { return &sv06{waiting: map[string]unagreed{}} }

func (c *sv06) Observe(w *World, ev *history.Event) {
	if ev.Stored != nil && len(c.waiting) > 0 && ev.At > c.next {
		c.expire(w, ev.At)
	}
	if name, now, ok := changedStorageVersion(ev); ok {
		if now != nil {
			c.judge(ev, name, now)
		}
		c.watch(w, ev, name)
	}
	if ev.Discovery != nil || joinedOrLeft(ev) {
		// Who has to agree may be another set now.
		for _, name := range w.names() {
			c.watch(w, ev, name)
		}
	}
	wrong, refused := c.probes.outcome(w, ev, history.InvalidAgreement)
	if wrong {
		c.violate(at(ev.Seq), "%s took a status of %s that calls a version agreed though the entries differ", ev.Member, ev.Request.Name)
	}
	if refused {
		c.refusals++
	}
}

func (c *sv06) judge(ev *history.Event, name string, sv *history.StorageVersion) {
	revision := ev.Stored.Revision
	if len(sv.Entries) == 0 && sv.Common == nil && len(sv.Conditions) == 0 {
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
	k, ok := agreementCondition(sv)
	if !ok {
		c.violate(at(ev.Seq), "%s has entries but no condition %s at revision %d", name, conditionType, revision)
		return
	}
	if (k.Status == "True") != (sv.Common != nil) {
		c.violate(at(ev.Seq), "in %s at revision %d the agreed version is %s and the condition %s", name, revision, showCommon(sv.Common), k.Status)
	}
	if k.Reason == "" || k.Message == "" {
		c.violate(at(ev.Seq), "in %s at revision %d the condition lacks its reason or message", name, revision)
	}
}

// watch starts or ends the time in which equal entries may stay unagreed.
func (c *sv06) watch(w *World, ev *history.Event, name string) {
	if !agreeable(w, name) {
		delete(c.waiting, name)
		return
	}
	if _, ok := c.waiting[name]; !ok {
		_, _, written := changedStorageVersion(ev)
		c.waiting[name] = unagreed{since{at: ev.At, seq: ev.Seq}, !written}
		if due := ev.At + int64(agreementSettles); len(c.waiting) == 1 || due < c.next {
			c.next = due
		}
	}
}

// agreeable is whether a StorageVersion has no agreed version although nothing
// stands against one: every participant has reported, or is known not to host
// the resource, and all reports are equal.
func agreeable(w *World, name string) bool {
	v := w.versions[name]
	if v == nil || v.deleted || v.now.Common != nil {
		return false
	}
	if _, equal := allEqual(v.now.Entries); !equal {
		return false
	}
	for id, l := range w.leases {
		if !l.there() || indexOf(v.now.Entries, id) >= 0 {
			continue
		}
		srv := w.servers[w.memberOf[id]]
		if !srv.knows() || hosts(srv.hosted, name) {
			return false
		}
	}
	return true
}

func (c *sv06) expire(w *World, now int64) {
	c.next = now + int64(agreementSettles)
	for _, name := range slices.Sorted(maps.Keys(c.waiting)) {
		s := c.waiting[name]
		if now-s.at <= int64(agreementSettles+w.aways.between(s.at, now)) {
			c.next = min(c.next, s.at+int64(agreementSettles))
			continue
		}
		if s.unwritten && w.managers.seen && !w.managers.hadTime(w.aways, now, s.at, int64(agreementSettles)) {
			c.next = min(c.next, now+int64(expiryLook))
			continue
		}
		c.infer(w, at(s.seq), "%s has had equal entries of all participants for %v and calls no version agreed", name, agreementSettles)
		delete(c.waiting, name)
	}
}

func (c *sv06) Finish(*World) {}

func (c *sv06) doubts() []string {
	out := c.probes.doubts()
	if len(c.waiting) > 0 {
		out = append(out, fmt.Sprintf("at the end %d StorageVersions had equal entries of all participants and no agreed version, not for long enough to say more", len(c.waiting)))
	}
	return out
}

func (c *sv06) Observations() []Observation {
	return []Observation{
		{What: "revisions with an agreed version", Seen: c.agreed, Need: needAgreements},
		{What: "revisions with entries that differ", Seen: c.disagreed, Need: needDisagreements},
		{What: "statuses with a false agreement refused", Seen: c.refusals, Need: needRefusedProbes},
		c.probes.least("statuses with a false agreement"),
	}
}
