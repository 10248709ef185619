package discovery

import (
	"fmt"
	"slices"
	"time"

	"github.com/evenkeel/evenkeel/pkg/fact"
	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/law"
)

// ad22: a misbehaving aggregated server can neither crash the server nor touch other
// groups. What each member listed before the misbehaviour began is compared with what it
// lists during it, but for the groups of misbehaving servers.
var ad22 = law.Together[*Facts]{
	Row: law.Row{ID: "AD-22", Sources: readiness, Needs: []law.Need{{Name: "kinds", Tag: "kind"}}},
	Parts: []law.Law[*Facts]{
		law.Written[*Facts]{Row: law.Row{ID: "AD-22"}, Judge: judgeCrashes},
		law.Written[*Facts]{Row: law.Row{ID: "AD-22"}, Judge: judgeDenials},
		law.Written[*Facts]{Row: law.Row{ID: "AD-22"}, Judge: judgeTrials},
	},
}

// judgeCrashes looks for API servers that ended by themselves beside a misbehaving server.
func judgeCrashes(f *Facts, l *law.Ledger, _ law.Bounds) {
	for _, m := range f.all() {
		for _, p := range f.Processes(m.name, history.ComponentAPIServer) {
			if !p.EndedItself() || f.Powerless(m.name).During(*p.Exited) != fact.No {
				continue
			}
			for _, o := range f.active(p.Exited.Latest, p.Exited.Latest) {
				l.Add(law.Entry{Ending: law.Broken, About: m.name, Member: m.name, Began: *p.Exited, Evidence: law.Evidence(o.seq, p.Exited.Seq), SelfEvident: true,
					Why: fmt.Sprintf("the API server of %s ended by itself (%s) while the server of %s was misbehaving (%s)", m.name, p.Exit, o.group, o.action)})
			}
		}
	}
}

// denial is a time in which a member is asked for the document again and again, and gives
// none.
type denial struct {
	first *look
	// last is its last answer that is no document, and done the first one that is; a member
	// that gives no answer at all is silent until then.
	last *look
	done *fact.Span
}

// denials of the member. Only single looks begin one, which are repeated at once: a
// thorough one asks for much else before it asks again.
func (m *member) denials() []denial {
	var out []denial
	until := int64(fact.Never)
	for _, k := range m.polls() {
		if !k.busy() || k.swept || k.process() == nil {
			continue
		}
		if n := len(out); k.at <= until {
			out[n-1].last = k
			continue
		}
		d := denial{first: k, last: k}
		until = fact.Forever
		if i := slices.IndexFunc(m.given, func(s fact.Span) bool { return s.End > k.at }); i >= 0 {
			d.done, until = &m.given[i], m.given[i].End
		}
		out = append(out, d)
	}
	return out
}

// judgeDenials judges for how long members that are ready gave no document beside a
// misbehaving server. The clock stands while the member has a fault of its own.
func judgeDenials(f *Facts, l *law.Ledger, b law.Bounds) {
	for _, m := range f.all() {
		running := fact.And(m.serving(), fact.Not(f.FaultAt(m.name)))
		for _, d := range m.denials() {
			i := slices.IndexFunc(f.outages, func(o *outage) bool {
				return o.bitten > 0 && o.since <= d.first.at && o.until >= d.first.at
			})
			if i >= 0 {
				l.Add(d.judge(m, f.outages[i], running, b.Of("givesWithin")))
			}
		}
	}
}

func (d denial) judge(m *member, o *outage, running fact.Signal, bound time.Duration) law.Entry {
	from := max(d.first.from, o.since)
	certain, possible := d.last.until, m.facts.Now
	if d.done != nil {
		possible = d.done.End
	}
	if d.last.code == 0 {
		// A recorder leaves out that a member goes on giving no answer.
		certain = possible
		if d.done != nil {
			certain = d.done.Begin
		}
	}
	ended := false
	if p := d.first.process(); p.Exited != nil && p.Exited.Latest < possible {
		certain, possible, ended = min(certain, p.Exited.Earliest), p.Exited.Latest, true
	}
	e := law.Entry{About: "the document", Member: m.name, Began: fact.Exactly(from, d.first.seq), Evidence: law.Evidence(o.seq, d.first.seq, d.last.lastSeq)}
	e.Least, e.Most = time.Duration(running.Lasts(from, certain, fact.Yes)), time.Duration(running.Lasts(from, possible, fact.Unknown))
	switch {
	case e.Least > bound:
		e.Ending = law.Late
		e.Why = fmt.Sprintf("%s is ready, and has given no discovery document for %s (%s), which began while the server of %s was misbehaving (%s)",
			m.name, e.Least.Round(100*time.Millisecond), d.last.says(), o.group, o.action)
	case ended:
		e.Ending, e.Why = law.Excused, "the process ended"
	case d.done == nil && e.Most <= bound:
		e.Ending, e.Why = law.Open, "the history ended before the member gave a document again"
	case e.Most > bound:
		e.Ending, e.Why = law.Unclear, fmt.Sprintf("%s gave no document for %s to %s", m.name, e.Least, e.Most)
	default:
		e.Ending = law.Met
	}
	return e
}

// trial is one outage at one member.
type trial struct {
	member *member
	outage *outage
	// before is what the member listed last before the misbehaviours began; nil if nothing.
	before *look
	// asked is whether it was asked for the document during the outage, and borne whether it
	// gave it unharmed. broken is the first harm.
	asked, borne bool
	broken       *law.Entry
}

func judgeTrials(f *Facts, l *law.Ledger, _ law.Bounds) {
	kinds, unproven := map[string]*outage{}, map[string]bool{}
	for _, o := range f.outages {
		compared, bore := 0, 0
		for _, m := range f.all() {
			t := &trial{member: m, outage: o, before: m.beforeOutages(o)}
			t.look()
			l.Add(t.entry())
			if t.before != nil {
				compared++
			}
			if t.borne {
				bore++
			}
			unproven[o.action] = unproven[o.action] || t.asked && !t.borne
		}
		if compared > 0 && bore >= compared {
			kinds[o.action] = o
		}
	}
	for _, action := range law.SortedKeys(kinds) {
		if !unproven[action] {
			l.Met(action, fact.Exactly(kinds[action].since, kinds[action].seq), "kind")
		}
	}
}

// beforeOutages is the last document of the member before an outage and all those that
// lasted when it began; nil if there is none.
func (m *member) beforeOutages(o *outage) *look {
	since := o.since
	for _, other := range slices.Backward(m.facts.outages) {
		if other.since <= since && since < other.until {
			since = other.since
		}
	}
	for _, k := range slices.Backward(m.polls()) {
		if k.at < since && k.told() != nil && k.ready() {
			return k
		}
	}
	return nil
}

func (t *trial) entry() law.Entry {
	o, m := t.outage, t.member
	e := law.Entry{About: fmt.Sprintf("%s of %s since event %d", o.action, o.group, o.seq), Member: m.name, Began: fact.Exactly(o.since, o.seq)}
	switch {
	case t.broken != nil:
		return *t.broken
	case t.borne:
		e.Ending = law.Met
	case t.asked:
		e.Ending, e.Evidence = law.Unclear, law.Evidence(o.seq)
		e.Why = fmt.Sprintf("%s gave no document that shows that the server of %s did no harm when it was misbehaving (%s)", m.name, o.group, o.action)
	default:
		e.Ending, e.Why = law.Excused, "the member was not asked for the document during the misbehaviour"
	}
	return e
}

// look looks at all that the member answered during the outage.
func (t *trial) look() {
	o, m, f := t.outage, t.member, t.member.facts
	fault := f.FaultAt(m.name)
	for _, k := range m.from(o.since) {
		if k.from >= o.until {
			break
		}
		if k.ready() {
			t.asked = t.asked || fault.At(k.last) == fact.No && t.asks(k)
			t.compare(k, f.active(k.at, k.at))
		}
	}
	alone := fact.And(m.serving(), fact.Not(fault))
	for _, d := range m.denials() {
		over := f.Now
		if d.done != nil {
			over = d.done.Begin
		}
		t.asked = t.asked || o.bitten > 0 && alone.Lasts(max(d.first.at, o.bitten), min(over, o.until), fact.Yes) > 0
	}
}

// compare compares what the member answered during the outages that lasted then with what
// it had listed before.
func (t *trial) compare(k *look, active []*outage) {
	o, m := t.outage, t.member
	group, version, harm := "", "", ""
	switch {
	case !slices.Contains(active, o):
		return
	case k.told() == nil && (k.code < 400 || k.busy()):
		return
	case k.told() == nil:
		harm = fmt.Sprintf("answers %d for the discovery document", k.code)
	case t.before == nil || t.before.process().Release != k.process().Release || slices.ContainsFunc(active, func(o *outage) bool { return o.bitten == 0 || k.until < o.bitten }):
		return
	default:
		group, version, harm = t.harm(k)
	}
	switch {
	case harm == "":
		t.borne = true
	case group != "" && (m.facts.changing(group, k.from, k.last) || m.isForeign(group, version, k.from)):
	case t.broken == nil && active[0] == o:
		t.broken = &law.Entry{Ending: law.Broken, About: o.action, Member: m.name, Began: k.moment(), Evidence: law.Evidence(o.seq, k.seq),
			Why: fmt.Sprintf("while the server of %s is misbehaving (%s), %s %s", o.group, o.action, m.name, harm)}
		if t.before != nil {
			t.broken.Evidence = law.Evidence(t.before.seq, o.seq, k.seq)
		}
	}
}

// asks is whether a look says something of the outage. An answer that was on its way when
// the outage began or ended says nothing of it, unless it took more than half of that time:
// a member that gives the document only when it is over did not bear it.
func (t *trial) asks(k *look) bool {
	o := t.outage
	switch {
	case o.bitten == 0 || k.last < o.bitten:
		return false
	case k.busy():
		return true
	case k.at < o.until:
		return k.until >= o.bitten
	}
	return 2*(o.until-max(k.from, o.bitten)) > o.until-o.bitten
}

// harm says how a document differs from the one before in what is none of the misbehaving
// servers' business, and in which group-version; empty if it does not.
func (t *trial) harm(k *look) (of, in, harm string) {
	f, before := t.member.facts, t.before
	since := t.member.readySince(k.from)
	before.listing.each(func(group string, v *history.ListedVersion) {
		concerned, fresh := t.concerns(group, k)
		restarted := since > before.at && k.from < since+int64(recoversWithin())
		if harm != "" || !concerned || t.member.isForeign(group, v.Version, k.from) || fresh && !f.wants(group, v.Version, k.at) || restarted && f.remote(group, v.Version, k.at) {
			return
		}
		found := k.listing.version(group, v.Version)
		switch name := named(group, v.Version); {
		case found == nil:
			of, in, harm = group, v.Version, "does not list "+name+" any more"
		case v.Freshness != history.FreshnessCurrent && found.Freshness == history.FreshnessCurrent:
			// It was on its way when the misbehaviour began, and has arrived.
		case found.Freshness != v.Freshness:
			of, in, harm = group, v.Version, "calls "+name+" "+quoted(found.Freshness)
		case found.Inventory != v.Inventory && !fresh:
			of, in, harm = group, v.Version, "lists other resources in "+name
		}
	})
	k.listing.each(func(group string, v *history.ListedVersion) {
		concerned, fresh := t.concerns(group, k)
		if harm == "" && concerned && !fresh && before.listing.version(group, v.Version) == nil && !t.member.isForeign(group, v.Version, k.from) {
			of, in, harm = group, v.Version, "lists "+named(group, v.Version)+", which was never defined"
		}
	})
	return of, in, harm
}

// wants is whether the harness wants the group-version at a time.
func (f *Facts) wants(group, version string, at int64) bool {
	return slices.ContainsFunc(f.definitionsOf(group), func(d *definition) bool {
		c := d.latest(at)
		return c != nil && slices.Contains(c.versions, version)
	})
}

// concerns is whether nothing but harm can change the group: its server behaves and it was
// not defined anew since. If it was so shortly before, it is fresh: not all of it may have
// been there yet, and something may have been on its way out.
func (t *trial) concerns(group string, k *look) (concerned, fresh bool) {
	f, before := t.member.facts, t.before
	if slices.ContainsFunc(f.outages, func(o *outage) bool { return o.group == group && o.since <= k.last }) {
		return false, false
	}
	for _, d := range f.definitionsOf(group) {
		for _, c := range d.changes {
			if c.from > k.last {
				break
			}
			if c.at > before.at || !c.known && d.uncertain(k.last) {
				return false, false
			}
			fresh = fresh || c.from > before.at-int64(showsWithin())
		}
	}
	return true, fresh
}

// readySince is since when the member was ready at a time.
func (m *member) readySince(at int64) int64 {
	for _, s := range m.serving().Spans(fact.Yes) {
		if s.Begin <= at && at < s.End {
			return s.Begin
		}
	}
	return at
}
