package check

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/history"
)

// migrations is what etcd has told of storage version migrations, and of the
// objects that they are about. Of those it knows the ones that live, and some that
// were deleted, so that its memory grows with what etcd holds and not with what
// happened.
type migrations struct {
	// live are those that have not ended, oldest first; byName all that are there.
	live   []*migrationSeen
	byName map[string]*migrationSeen
	// objects of the resources that the harness writes and of custom resources, and
	// those that were deleted, by key. lost counts those for which there was no room.
	objects map[string]*objectSeen
	buried  map[string]*objectSeen
	// lying counts the objects by resource and version.
	lying  map[groupResource]lying
	graves []*objectSeen
	lost   int64
	// contents is what became of what they hold.
	contents contents
	// custom are the definitions of custom resources.
	custom map[groupResource]*definitionSeen
	// undefined is when the definition of a resource went that has none any more.
	undefined map[groupResource]moment
	// leader is the member whose controller manager holds the Lease, as far as is
	// known, and led the one that did last.
	leader, led string
	// begun is the last migration of each resource that began.
	begun map[groupResource]*migrationSeen

	// What the event in hand did; nil where it did nothing of the kind.
	moved     *migrationMove
	touched   *objectTouch
	redefined *definitionMove
	// razed is the namespace that went; empty where none did.
	razed string
}

const (
	// keptMigrations is how many migrations that have not ended are remembered.
	keptMigrations = 1000
	// keptBuried is how many deleted objects are remembered.
	keptBuried = 20_000
	// maxFollowed bounds how many objects are followed.
	maxFollowed = 300_000
	// keptTags is how many of the writes to one object are remembered: more than users
	// make while a migration that has read it may still write what it read.
	keptTags = 800

	migrationInfix     = "/storageversionmigrations/"
	customPrefixSuffix = "/customresourcedefinitions/"
	namespacesPrefix   = "/registry/namespaces/"
)

// moment is an event, and etcd's revision there; the zero value is no moment.
type moment struct{ seq, at, revision int64 }

func (m moment) was() bool { return m.seq > 0 }

// migrationSeen is one StorageVersionMigration.
type migrationSeen struct {
	name string
	gr   groupResource
	now  *history.Migration
	// created, started (Running for the first time), ended (with the outcome) and
	// gone (deleted) are when that was.
	created, started, ended, gone moment
	outcome                       string
	// seen is whether its creation was, and found whether it had begun or ended before
	// anybody looked, so that nobody knows what it came upon, or when.
	seen, found bool
	// target is what the servers agreed on when it started; empty if on nothing.
	// told is whether anything tells of that.
	target string
	told   bool
	// untold is whether nothing told of storage versions when it started, though its
	// objects are known to be stored: there was no agreement that it could lose.
	untold bool
	// early is whether there was no agreement when it was created.
	early bool
	// lost is when the agreement that it started with was lost last, while it ran, and
	// back whether it has come back since, before the end.
	lost moment
	back bool
	// agreed is what the servers agree on now, disputed whether they are known not to
	// agree, and since when; free is when the last other migration ended that was there.
	agreed string
	// was is what they agreed on before that.
	was         string
	disputed    bool
	since, free moment
	// sign is the latest sign of it while it ran: an object that it rewrote, a change
	// of its status, or the end of its controller.
	sign moment
	// rewrote is when it rewrote an object last.
	rewrote moment
	// reports counts the changes of what its conditions said while it ran.
	reports int64
	// patient is for how long at a time it had to wait, at most, before it began because the
	// servers did not agree, while one controller had nothing else in its way.
	patient time.Duration
	// generation of the definition when it started, and which definition that was.
	generation, defined int64
	// crashed is when the controller manager that led ended while it ran, and felled
	// when that was for the first time; served counts for each member the API servers
	// that ended, and restarted is when the latest member had its first end of one.
	crashed, felled, restarted moment
	// upset is when the controller manager that led ended while it had not ended.
	upset  moment
	served map[string]int
	// handed is when another controller manager came to lead while it ran.
	handed moment
	// deletes counts the objects of before the start that users deleted while they
	// lay in another version: of those only it may have had a write under way.
	deletes int64
	// deletesIn has those that were in a namespace, by its name, and razed counts those
	// whose namespace has gone since.
	deletesIn map[string]int64
	razed     int64
	// vague counts such deletes where nothing tells in which version objects are to be.
	vague int64
}

// running is whether it has begun and not ended.
func (m *migrationSeen) running() bool {
	return m.started.was() && !m.ended.was() && !m.gone.was()
}

// wait notes how long migrations have been waiting for an agreement under a controller
// that could have begun. It comes before anything is made of an event that may change
// either.
func (ms *migrations) wait(w *World, ev *history.Event) {
	if ev.Process == nil && ev.Fault == nil && ev.Stored == nil || !w.managers.able {
		return
	}
	for _, m := range ms.live {
		if m.disputed && !m.started.was() {
			m.patient = max(m.patient, time.Duration(ev.At-max(m.since.at, w.managers.ableSince)))
		}
	}
}

// stuck is whether it runs, with the servers in agreement, and nothing came of it for
// so long that a controller which nothing hinders must have ended it. On a machine
// that has no time for the controller it may be slow, and leaders may change; that is
// nobody's fault.
func (m *migrationSeen) stuck(w *World) bool {
	return m.running() && m.held() && w.managers.hadTime(w.aways, w.Now, m.sign.at, int64(healthyEnds)+m.again(w))
}

// again is how long a controller may take that begins anew, which SVM-12 has as no more
// than a wish, to come to where it was: to write what lies in the target version changes
// nothing, so that etcd tells nothing of it.
func (m *migrationSeen) again(w *World) int64 {
	return w.migrations.lyingOf(m.gr)[cmp.Or(m.target, m.agreed)] * int64(againEach)
}

// held is whether the servers were in agreement from its start to its end, or to
// now.
func (m *migrationSeen) held() bool {
	return !m.lost.was() && (m.target != "" || m.untold && m.agreed == "" && !m.disputed)
}

// ahead is whether the migration has still to rewrite an object, as far as is known: one
// that began without an agreement goes by what the servers agree on since.
func (m *migrationSeen) ahead(o *objectSeen) bool {
	target := cmp.Or(m.target, m.agreed)
	return target != "" && o.version != target
}

// outlived is whether a migration that has ended had not by the time of something else:
// that is told at once, and what is told of the end at that time may be from before.
func (m *migrationSeen) outlived(w *World, what moment) bool {
	return what.was() && time.Duration(m.ended.at-what.at) > w.aways.lag(what.at, m.ended.at)
}

// spurned is whether it failed before it began, though the servers agree on how the
// objects, which are known to be stored, are to be.
func (m *migrationSeen) spurned(w *World) bool {
	return m.outcome == history.MigrationFailed && !m.started.was() && m.agreed != "" && w.resources.written[m.gr]
}

// migrationMove is a change of a migration.
type migrationMove struct {
	m *migrationSeen
	// before is nil at its creation.
	before                        *history.Migration
	created, started, ended, gone bool
	// stuck is whether it was when it was deleted.
	stuck bool
}

// objectSeen is an object as etcd has it; it is never changed, but replaced.
type objectSeen struct {
	key, name, version, metadata, content string
	managed                               map[string]string
	gr                                    groupResource
	seq, revision, created                int64
	// users is whether a user wrote it last.
	users bool
	// rewritten is the migration that wrote it last, in another version than it had.
	rewritten *migrationSeen
	// tags are the writes of the harness that were applied to it, oldest first, and
	// before them those that were applied to what had its key before: a migration may
	// have read that.
	tags []writeID
}

// objectTouch is a change of an object.
type objectTouch struct {
	gr groupResource
	// before is nil for a new object, and now for one that is deleted.
	before, now *objectSeen
	// by is the tagged write that made the change; zero if somebody else did.
	by writeID
	// buried is the object that had the key of a new one before.
	buried *objectSeen
	// during is the migration of the resource that runs.
	during *migrationSeen
	// content is what is wrong with what it holds, if only the migration wrote.
	content string
}

// byMigration is whether nobody but the migration is known to have written.
func (t *objectTouch) byMigration() bool {
	return t.during != nil && t.by == (writeID{}) && t.before != nil && t.now != nil
}

// late is whether an object was rewritten in another version by nobody known, after the
// last migration of its resource.
func (t *objectTouch) late(w *World) bool {
	m := w.migrations.begun[t.gr]
	if m == nil || t.during != nil || t.by != (writeID{}) || t.before == nil || t.now == nil || t.before.version == t.now.version {
		return false
	}
	over := m.gone.at
	if m.ended.was() {
		over = m.ended.at // whenever it was cleared away
	}
	return w.Now-over <= int64(deletionStops+w.aways.between(over, w.Now))
}

// ahead is the migration of the resource that waits when an object is rewritten in another
// version by nobody known; nil if none does.
func (t *objectTouch) ahead(w *World) *migrationSeen {
	if t.during != nil || t.by != (writeID{}) || t.before == nil || t.now == nil || t.before.version == t.now.version {
		return nil
	}
	for _, m := range w.migrations.live {
		if m.gr == t.gr {
			return m
		}
	}
	return nil
}

// again is whether it is a second write by the migration: nobody else writes to what the
// harness made without a tag, such as controllers do to what they have made.
func (t *objectTouch) again() bool {
	return t.byMigration() && t.before.rewritten == t.during && len(t.before.tags) > 0
}

// definitionSeen is the definition of a custom resource.
type definitionSeen struct {
	seq, revision int64
	// made is the event that told of it first: one that is made anew counts its
	// generations anew.
	made int64
	now  *history.CustomResource
}

// beganWith is whether a definition is the one, and as it was, that a migration began
// with.
func (m *migrationSeen) beganWith(d *definitionSeen) bool {
	return m.defined == d.made && m.generation == d.now.Generation
}

// says is whether the definition says that its resource is being migrated.
func (d *definitionSeen) says() bool {
	return d.now.Migrating == "True"
}

// definitionMove is a change of one; both sides are there.
type definitionMove struct {
	gr          groupResource
	before, now *definitionSeen
}

func newMigrations() *migrations {
	return &migrations{
		byName: map[string]*migrationSeen{}, objects: map[string]*objectSeen{}, buried: map[string]*objectSeen{},
		lying: map[groupResource]lying{}, contents: newContents(), custom: map[groupResource]*definitionSeen{}, undefined: map[groupResource]moment{}, begun: map[groupResource]*migrationSeen{},
	}
}

// take notes what an event tells of migrations.
func (ms *migrations) take(w *World, ev *history.Event) {
	ms.moved, ms.touched, ms.redefined, ms.razed = nil, nil, nil, ""
	switch {
	case ev.Process != nil:
		ms.takeProcess(w, ev)
	case ev.Stored == nil:
	case ev.Stored.Migration != nil, strings.Contains(ev.Stored.Key, migrationInfix):
		ms.takeMigration(w, ev)
	case ev.Stored.CustomResource != nil, strings.Contains(ev.Stored.Key, customPrefixSuffix):
		ms.takeDefinition(ev)
		ms.weigh(w, ev)
	case strings.HasPrefix(ev.Stored.Key, storageVersionPrefix):
		ms.weigh(w, ev)
	case ev.Stored.Key == leaderLease && ev.Stored.Lease != nil:
		ms.takeLeader(w.memberOfHost(ev.Stored.Lease.Holder), ev)
	case strings.HasPrefix(ev.Stored.Key, namespacesPrefix):
		ms.takeNamespace(ev)
	default:
		ms.takeObject(w, ev)
	}
}

// takeLeader notes who leads, and under which migrations that changed.
func (ms *migrations) takeLeader(member string, ev *history.Event) {
	ms.leader = member
	if member == "" || member == ms.led {
		return
	}
	for _, m := range ms.live {
		if ms.led != "" && m.running() {
			m.handed, m.sign = momentOf(ev), momentOf(ev)
		}
	}
	ms.led = member
}

// takeNamespace notes whose namespace has gone, which is after what was in it.
func (ms *migrations) takeNamespace(ev *history.Event) {
	name := strings.TrimPrefix(ev.Stored.Key, namespacesPrefix)
	if ev.Stored.Type != history.StoredDelete {
		return
	}
	ms.razed = name
	for _, m := range ms.live {
		m.razed += m.deletesIn[name]
		delete(m.deletesIn, name)
	}
}

// migrationKey gives the name of the migration that etcd keeps under a key.
func migrationKey(key string) (name string, ok bool) {
	_, name, ok = strings.Cut(key, migrationInfix)
	return name, ok && name != ""
}

func momentOf(ev *history.Event) moment {
	m := moment{seq: ev.Seq, at: ev.At}
	if ev.Stored != nil {
		m.revision = ev.Stored.Revision
	}
	return m
}

func (ms *migrations) takeMigration(w *World, ev *history.Event) {
	s := ev.Stored
	name := s.Key[strings.LastIndex(s.Key, "/")+1:]
	m := ms.byName[name]
	if s.Type == history.StoredDelete {
		if m != nil {
			delete(ms.byName, name)
			ms.moved = &migrationMove{m: m, before: m.now, gone: true, stuck: m.stuck(w)}
			m.gone = momentOf(ev)
			ms.settle(m, ev)
		}
		return
	}
	if s.Migration == nil {
		return
	}
	move := &migrationMove{}
	if m == nil || m.created.revision != s.Created {
		m = &migrationSeen{name: name, gr: groupResource{s.Migration.Group, s.Migration.Resource}, created: momentOf(ev), served: map[string]int{}, deletesIn: map[string]int64{}}
		m.created.revision = s.Created
		agreed, told := w.agreedOn(m.gr)
		m.early = told && agreed == ""
		m.agreed, m.disputed, m.since = agreed, m.early, momentOf(ev)
		ms.byName[name] = m
		move.created = s.Created == s.Revision
		m.seen = move.created
		if !m.seen && outcomeOf(s.Migration) != "" {
			m.found, m.now, m.ended, m.outcome = true, s.Migration, momentOf(ev), outcomeOf(s.Migration)
			move.m, ms.moved = m, move
			return
		}
		if len(ms.live) >= keptMigrations {
			ms.live = append(ms.live[:0], ms.live[1:]...)
		}
		ms.live = append(ms.live, m)
		if !m.seen && isTrue(s.Migration, history.MigrationRunning) {
			m.found, m.started, ms.begun[m.gr] = true, momentOf(ev), m
		}
	}
	move.m, move.before = m, m.now
	m.now = s.Migration
	m.sign = momentOf(ev)
	if m.running() && outcomeOf(m.now) == "" && statementOf(move.before) != statementOf(m.now) {
		m.reports++
	}
	// Who says that it has succeeded says that it has begun.
	if (isTrue(m.now, history.MigrationRunning) || isTrue(m.now, history.MigrationSucceeded)) && !m.started.was() && !m.ended.was() {
		m.started, move.started = momentOf(ev), true
		ms.begun[m.gr] = m
		m.target, m.told = w.agreedOn(m.gr)
		if m.target == "" && m.was != "" && ev.At-m.since.at <= int64(underWay+w.aways.between(m.since.at, ev.At)) {
			m.target, m.lost = m.was, m.since // while this was being written
		}
		m.untold = !m.told && w.resources.written[m.gr] && !ms.undefined[m.gr].was()
		if d := ms.custom[m.gr]; d != nil {
			m.generation, m.defined = d.now.Generation, d.made
		}
	}
	if outcome := outcomeOf(m.now); outcome != "" && !m.ended.was() {
		m.ended, m.outcome, move.ended = momentOf(ev), outcome, true
		ms.settle(m, ev)
	}
	ms.moved = move
}

// settle takes a migration that has ended from those that live.
func (ms *migrations) settle(m *migrationSeen, ev *history.Event) {
	ms.live = slices.DeleteFunc(ms.live, func(x *migrationSeen) bool { return x == m })
	for _, other := range ms.live {
		other.free = momentOf(ev)
	}
}

// outcomeOf is the type of the condition by which a migration has ended.
func outcomeOf(m *history.Migration) string {
	for _, kind := range []string{history.MigrationSucceeded, history.MigrationFailed} {
		if isTrue(m, kind) {
			return kind
		}
	}
	return ""
}

func conditionOf(m *history.Migration, kind string) *history.Condition {
	if m == nil {
		return nil
	}
	i := slices.IndexFunc(m.Conditions, func(c history.Condition) bool { return c.Type == kind })
	if i < 0 {
		return nil
	}
	return &m.Conditions[i]
}

// statementOf is what the conditions of a migration say.
func statementOf(m *history.Migration) string {
	if m == nil {
		return ""
	}
	var out strings.Builder
	for _, c := range m.Conditions {
		fmt.Fprintf(&out, "%q %q %q %q\n", c.Type, c.Status, c.Reason, c.Message)
	}
	return out.String()
}

func isTrue(m *history.Migration, kind string) bool {
	c := conditionOf(m, kind)
	return c != nil && c.Status == "True"
}

// checkpointOf is the revision that a migration's checkpoint names; 0 if none.
func checkpointOf(m *history.Migration) int64 {
	revision, err := strconv.ParseInt(m.Checkpoint, 10, 64)
	if err != nil {
		return 0
	}
	return revision
}

// agreedOn is the version in which all servers store a resource, by what they
// have announced and what a definition says; empty where they do not agree. told
// is whether either says anything.
func (w *World) agreedOn(gr groupResource) (version string, told bool) {
	v, d := w.versions[objectName(gr.group, gr.resource)], w.migrations.custom[gr]
	if d != nil {
		version, told = gr.group+"/"+d.now.Storage, true
	}
	if d == nil && w.migrations.undefined[gr].was() {
		// What servers have announced of it may be there for a while yet.
		return "", false
	}
	if v == nil || v.deleted {
		// Where the servers had announced it, that is gone now.
		return version, told || v != nil
	}
	// What a condition says in spite of the entries is no agreement.
	if announced, equal := allEqual(v.now.Entries); v.now.Common == nil || !equal || announced != *v.now.Common || d != nil && announced != version {
		return "", true
	}
	return *v.now.Common, true
}

// migratedTo is the version that objects are in after a migration that succeeds now; empty
// if nobody can say. Of what they are to be in since a moment ago it cannot have known.
func (w *World) migratedTo(m *migrationSeen) string {
	if w.atItsEnd(m) {
		return m.target
	}
	agreed, _ := w.agreedOn(m.gr)
	return cmp.Or(agreed, m.target)
}

// atItsEnd is whether what the servers agree on has changed so shortly before now that the
// success of a migration may have been written by then.
func (w *World) atItsEnd(m *migrationSeen) bool {
	return m.target != "" && m.was == m.target && w.Now-m.since.at <= int64(underWay+w.aways.between(m.since.at, w.Now))
}

// excused is whether it is not the doing of a migration that succeeds now in which version
// an object is: users have written it since the servers came to agree on that one, and the
// migration cannot have known of that.
func (w *World) excused(m *migrationSeen, o *objectSeen) bool {
	return w.atItsEnd(m) && o.users && o.revision > m.since.revision && m.agreed != "" && o.version == m.agreed
}

// lists is the revision up to which a migration has to know of objects: of its
// checkpoint, or of its creation if it has recorded none.
func (m *migrationSeen) lists() int64 { return cmp.Or(checkpointOf(m.now), m.created.revision) }

// weigh notes what the servers agree on, and which migrations have lost the agreement
// that they began with.
func (ms *migrations) weigh(w *World, ev *history.Event) {
	for _, m := range ms.live {
		agreed, told := w.agreedOn(m.gr)
		if agreed != m.agreed {
			m.was, m.agreed, m.since = m.agreed, agreed, momentOf(ev)
		}
		m.disputed = told && agreed == ""
		if !m.running() || m.target == "" {
			continue
		}
		if agreed != m.target && (!m.lost.was() || m.back) {
			m.lost = momentOf(ev)
		}
		m.back = m.lost.was() && agreed == m.target
	}
}

// runningOf is the migration of a resource that runs; the one that was created
// first, if there are several.
func (ms *migrations) runningOf(gr groupResource) *migrationSeen {
	for _, m := range ms.live {
		if m.gr == gr && m.running() {
			return m
		}
	}
	return nil
}

func (ms *migrations) takeDefinition(ev *history.Event) {
	s := ev.Stored
	if s.Type == history.StoredDelete {
		name := s.Key[strings.LastIndex(s.Key, "/")+1:]
		resource, group, _ := strings.Cut(name, ".")
		delete(ms.custom, groupResource{group, resource})
		ms.undefine(groupResource{group, resource}, momentOf(ev))
		return
	}
	if s.CustomResource == nil {
		return
	}
	gr := groupResource{s.CustomResource.Group, s.CustomResource.Resource}
	now := &definitionSeen{seq: ev.Seq, revision: s.Revision, made: ev.Seq, now: s.CustomResource}
	delete(ms.undefined, gr)
	if before := ms.custom[gr]; before != nil {
		now.made = before.made
		ms.redefined = &definitionMove{gr: gr, before: before, now: now}
	}
	ms.custom[gr] = now
}

// undefine remembers when the definition of a resource went, but not of too many: a churn
// would else pile up.
func (ms *migrations) undefine(gr groupResource, when moment) {
	ms.undefined[gr] = when
	if len(ms.undefined) <= keptDeleted {
		return
	}
	oldest := gr
	for other, went := range ms.undefined {
		if went.seq < ms.undefined[oldest].seq {
			oldest = other
		}
	}
	delete(ms.undefined, oldest)
}

func (ms *migrations) takeObject(w *World, ev *history.Event) {
	s := ev.Stored
	before := ms.objects[s.Key]
	if s.Type == history.StoredDelete {
		if before == nil {
			return
		}
		delete(ms.objects, s.Key)
		ms.count(before, nil)
		ms.bury(before)
		touch := &objectTouch{gr: before.gr, before: before, during: ms.runningOf(before.gr)}
		switch m := touch.during; {
		case m == nil || before.created >= m.started.revision:
		case m.ahead(before):
			m.deletes++
			if namespace, _, ok := strings.Cut(before.name, "/"); ok {
				m.deletesIn[namespace]++
			}
		case m.untold && before.rewritten != m:
			m.vague++
		}
		ms.touched = touch
		return
	}
	group, resource, ok := s.Hosted()
	gr := groupResource{group, resource}
	if before != nil {
		gr, ok = before.gr, true // whatever its bytes say now
	}
	if !ok || before == nil && !w.resources.written[gr] && ms.custom[gr] == nil {
		return
	}
	now := &objectSeen{key: s.Key, name: s.Name, version: s.APIVersion, metadata: s.Metadata, content: ms.contents.kept(s.Content), managed: s.Managed, gr: gr, seq: ev.Seq, revision: s.Revision, created: s.Created}
	touch := &objectTouch{gr: gr, before: before, now: now, during: ms.runningOf(gr)}
	switch {
	case before != nil:
		now.tags = before.tags
	case len(ms.objects) >= maxFollowed:
		ms.lost++
		return
	default:
		if touch.buried = ms.buried[s.Key]; touch.buried != nil {
			now.tags = touch.buried.tags
		}
	}
	if s.Writer != "" {
		touch.by, now.users = writeID{s.Writer, s.Write}, true
		if len(now.tags) >= keptTags {
			now.tags = now.tags[1:]
		}
		// Nobody else adds to what came before: a key has one successor at a time.
		now.tags = append(now.tags, touch.by)
	}
	ms.objects[s.Key] = now
	ms.count(before, now)
	ms.touched = touch
	if touch.byMigration() {
		touch.content = ms.contents.weigh(touch, sameForms[gr] || ms.custom[gr] != nil)
		if before.version != now.version {
			now.rewritten = touch.during
			touch.during.sign, touch.during.rewrote = momentOf(ev), momentOf(ev)
		}
	}
}

// bury remembers a deleted object, but not too many of them.
func (ms *migrations) bury(o *objectSeen) {
	ms.buried[o.key] = o
	ms.graves = append(ms.graves, o)
	if len(ms.graves) <= keptBuried {
		return
	}
	oldest := ms.graves[0]
	ms.graves = append(ms.graves[:0], ms.graves[1:]...)
	if ms.buried[oldest.key] == oldest {
		delete(ms.buried, oldest.key)
	}
}

// takeProcess notes what ends while migrations run.
func (ms *migrations) takeProcess(w *World, ev *history.Event) {
	p := ev.Process
	if p.Change != history.ProcessExited {
		return
	}
	for _, m := range ms.live {
		if p.Component == history.ComponentControllerManager && ev.Member == ms.leader {
			m.upset = momentOf(ev)
		}
		switch {
		case !m.running():
		case p.Component == history.ComponentControllerManager && ev.Member == ms.leader:
			m.crashed, m.sign = momentOf(ev), momentOf(ev)
			if !m.felled.was() {
				m.felled = m.crashed
			}
		case p.Component == history.ComponentAPIServer:
			if m.served[ev.Member]++; m.served[ev.Member] == 1 {
				m.restarted = momentOf(ev)
			}
		}
	}
}

// of are the objects of a resource that live, by key.
func (ms *migrations) of(gr groupResource) []*objectSeen {
	var out []*objectSeen
	for _, o := range ms.objects {
		if o.gr == gr {
			out = append(out, o)
		}
	}
	slices.SortFunc(out, func(a, b *objectSeen) int { return strings.Compare(a.key, b.key) })
	return out
}

// doubts are the reasons not to trust that each object was followed.
func (ms *migrations) doubts() []string {
	if ms.lost == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d objects were too many to be followed", ms.lost)}
}
