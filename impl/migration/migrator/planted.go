package migrator

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	apiserverinternalv1alpha1 "k8s.io/api/apiserverinternal/v1alpha1"
	storagemigrationv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/evenkeel/evenkeel/impl/defects"
	"github.com/evenkeel/evenkeel/impl/migration"
	"github.com/evenkeel/evenkeel/impl/release"
)

// hurry is the rate of the planted defect by which nothing is held back.
const hurry = 100_000

// plantRate is the rate of writes with the defects.
func plantRate(rate float64, d defects.Set) float64 {
	if d.Has(defects.SVM15Hurries) {
		rate = hurry // defect: SVM-15-hurries
	}
	if near, ok := defects.NearOf(defects.SVM15HurriesALittle); ok && d.Has(defects.SVM15HurriesALittle) {
		rate *= near.Factor // defect: SVM-15-hurries-a-little
	}
	return rate
}

// plant replaces decisions by those of the defects. Only this file
// and plantedobjects.go know both.
func (m *Migrator) plant() {
	if len(m.options.Defects) == 0 {
		return
	}
	m.plantTurns()
	m.plantWorkers()
	m.plantAssessment()
	m.plantBeginning()
	m.plantStops()
	m.plantDefinitions()
	m.plantOutcome()
	m.plantProgress()
}

// plantProgress has workers tell of their progress later, or never.
func (m *Migrator) plantProgress() {
	if m.options.Defects.Has(defects.SVM17Silent) {
		m.decide.progressEvery = 1<<63 - 1 // defect: SVM-17-silent
	}
	if late := m.options.Defects.Delay(defects.SVM17TellsLate); late > 0 {
		m.decide.progressEvery = late // defect: SVM-17-tells-late
	}
}

// plantTurns has migrations begin in another order, or later.
func (m *Migrator) plantTurns() {
	d, soundly := m.options.Defects, m.decide.heads
	m.decide.heads = func(all []*storagemigrationv1.StorageVersionMigration) []*storagemigrationv1.StorageVersionMigration {
		heads := soundly(all)
		if d.Has(defects.SVM14NewestFirst) {
			heads = newest(all, heads) // defect: SVM-14-newest-first
		}
		until := m.begins.Load() // defect: SVM-24-begins-late
		return slices.DeleteFunc(heads, func(svm *storagemigrationv1.StorageVersionMigration) bool {
			return until != nil && !migration.Started(svm) && m.options.Clock.Now().Before(*until)
		})
	}
}

// newest are the migrations that would have their turn if the last one were the
// first.
func newest(all, heads []*storagemigrationv1.StorageVersionMigration) []*storagemigrationv1.StorageVersionMigration {
	out := slices.Clone(heads)
	for i, head := range out {
		for _, svm := range all {
			if migration.ResourceOf(svm) == migration.ResourceOf(head) && !migration.Finished(svm) && !migration.Started(head) && out[i].CreationTimestamp.Before(&svm.CreationTimestamp) {
				out[i] = svm
			}
		}
	}
	return out
}

// plantWorkers has workers keep others waiting for too long, or not at all: each migration
// begins once beside the worker of another one.
func (m *Migrator) plantWorkers() {
	d := m.options.Defects
	givesWay := m.decide.givesWay
	var waits, stand defects.Waits
	m.decide.givesWay = func(stuck error) bool {
		if !givesWay(stuck) {
			stand.Done("worker")
			return false
		}
		// A worker is stuck when it has made no progress for GiveWay.
		longer := max(d.Delay(defects.SVM29HoldsUpLonger)-migration.GiveWay, 0)
		return !d.Has(defects.SVM29HoldsUp) && stand.Left("worker", m.options.Clock.Now(), longer) == 0 // defect: SVM-29-holds-up, SVM-29-holds-up-longer
	}
	m.decide.due = func(name string, trigger migration.Trigger) migration.Trigger {
		switch {
		case trigger != migration.Begin:
			waits.Done(name)
		case d.Has(defects.SVM30NeverBegins): // defect: SVM-30-never-begins
			return migration.Await
		case waits.Left(name, m.options.Clock.Now(), d.Delay(defects.SVM30BeginsLate)) > 0: // defect: SVM-30-begins-late
			return migration.Await
		}
		return trigger
	}
	if !m.options.Defects.Has(defects.SVM28SeveralAtATime) {
		return
	}
	begun := map[types.UID]bool{}
	m.decide.busy = func(svm, at types.UID) bool {
		busy := at != "" && begun[svm]
		begun[svm] = true
		return busy // defect: SVM-28-several-at-a-time
	}
}

func (m *Migrator) plantAssessment() {
	d, soundly := m.options.Defects, m.decide.assess
	m.decide.assess = func(svm *storagemigrationv1.StorageVersionMigration, facts migration.Facts, now time.Time) migration.Assessment {
		next := soundly(svm, facts, now)
		if next.Step == migration.Wait && next.Reason == migration.ReasonAwaitingAgreement && d.Has(defects.SVM20IgnoresDisagreement) {
			next.Step = migration.Run // defect: SVM-20-ignores-disagreement
		}
		if next.Step == migration.Wait && next.Reason == migration.ReasonAwaitingAgreement && d.Has(defects.EV07FollowsTheFirst) && ahead(facts.StorageVersion) != "" {
			next.Step = migration.Run // defect: EV-07-follows-the-first
		}
		if begun := svm.Status.ResourceVersion != ""; begun && !facts.Found && d.Has(defects.SVM32GivesUp) {
			return migration.Assessment{Step: migration.Fail, Reason: migration.ReasonNotFound, Message: "No server offers the resource any more."} // defect: SVM-32-gives-up
		}
		if migration.ResourceOf(svm).Group == release.AggregatedGroup && d.Has(defects.SVM32RefusesAggregated) {
			return migration.Assessment{Step: migration.Fail, Reason: migration.ReasonNotMigratable, Message: "The resource is one of an aggregated server."} // defect: SVM-32-refuses-aggregated
		}
		if next.Step == migration.Skip && d.Has(defects.SVM31Launches) {
			next.Step = migration.Run // defect: SVM-31-launches
		}
		delay := d.Delay(defects.SVM19FailsLate) // defect: SVM-19-fails-late
		if next.Reason == migration.ReasonNotFound {
			delay = d.Delay(defects.SVM18FailsLate) // defect: SVM-18-fails-late
		}
		if next.Step == migration.Fail && now.Before(svm.CreationTimestamp.Add(delay)) {
			next.Step = migration.Wait
		}
		return next
	}
}

// ahead is the version that a single server announces, where all others announce another one;
// empty where there is none.
func ahead(sv *apiserverinternalv1alpha1.StorageVersion) string {
	if sv == nil {
		return ""
	}
	servers := map[string]int{}
	for _, entry := range sv.Status.StorageVersions {
		servers[entry.EncodingVersion]++
	}
	for version, n := range servers {
		if n == 1 && len(servers) == 2 && len(sv.Status.StorageVersions) > 2 {
			return version
		}
	}
	return ""
}

func (m *Migrator) plantBeginning() {
	d := m.options.Defects
	begins := m.decide.begins
	m.decide.begins = func(sv *apiserverinternalv1alpha1.StorageVersion, definition *migration.Definition) (migration.Basis, bool) {
		basis, agreed := begins(sv, definition)
		if first := ahead(sv); !agreed && first != "" && d.Has(defects.EV07FollowsTheFirst) {
			return migration.Basis{UID: sv.UID, ResourceVersion: sv.ResourceVersion, Version: first}, true // defect: EV-07-follows-the-first
		}
		return basis, agreed || d.Has(defects.SVM20IgnoresDisagreement) // defect: SVM-20-ignores-disagreement
	}
	m.decide.resumes = func(c migration.Checkpoint) (migration.Checkpoint, migration.Verdict) {
		if c.Pass > 0 && d.Has(defects.SVM11GivesUp) {
			return c, migration.Verdict{Outcome: storagemigrationv1.MigrationFailed, Reason: migration.ReasonUnreadable,
				Message: "Another instance had begun the migration."} // defect: SVM-11-gives-up
		}
		if near, _ := defects.NearOf(defects.SVM12GoesBack); c.Pass > 0 && d.Has(defects.SVM12GoesBack) {
			c = m.goBack(c, near.Factor) // defect: SVM-12-goes-back
		}
		if d.Has(defects.SVM12StartsOver) {
			c.Continue, c.Done = "", migration.Tally{} // defect: SVM-12-starts-over
		}
		return c, migration.Verdict{}
	}
	m.decide.revision = func(first string, basis migration.Basis) string {
		if d.Has(defects.SVM03OldCheckpoint) {
			return basis.ResourceVersion // defect: SVM-03-old-checkpoint
		}
		return first
	}
	m.decide.begun = func(ctx context.Context, w *worker) error {
		if !d.Has(defects.SVM23TrimsEarly) {
			return nil
		}
		crd, err := m.clients.crd(ctx, w.target.Resource)
		if err != nil {
			return err
		}
		c := w.checkpoint
		if stored, trim := definitionOf(crd).Trim(c.Basis, c.DefinitionGeneration); trim {
			return m.trim(ctx, crd, stored) // defect: SVM-23-trims-early
		}
		return nil
	}
}

// mayRepeat is the share of all objects that a controller may write again (SVM-12, repeats).
const mayRepeat = 0.25

// goBack has a worker begin at the first object again, and leave out those that are done, but
// for the last ones: more of these by a factor than may be written again.
func (m *Migrator) goBack(c migration.Checkpoint, factor float64) migration.Checkpoint {
	objects, planted := m.clients.objects.(*plantedObjects)
	if total, known := c.Total(); planted && known {
		objects.leaveOut(int(c.Done.Total() - int64(mayRepeat*factor*float64(total))))
		c.Continue, c.Done = "", migration.Tally{}
	}
	return c
}

// plantStops has a worker go on although its reason is gone.
func (m *Migrator) plantStops() {
	d := m.options.Defects
	if d.Has(defects.SVM21StopsLate) {
		m.decide.standing = func(migration.Basis, *apiserverinternalv1alpha1.StorageVersion) migration.Standing {
			return migration.Holds
		}
	}
	m.decide.stops = func(cause error, stop func()) {
		switch {
		case errors.Is(cause, errAgreementLost):
			m.later(defects.SVM21StopsLate, stop) // defect: SVM-21-stops-late
		case errors.Is(cause, errDeleted) && !d.Has(defects.SVM24GoesOn): // defect: SVM-24-goes-on
			m.later(defects.SVM24StopsLate, stop) // defect: SVM-24-stops-late
			m.beginLater()                        // defect: SVM-24-begins-late
		case !errors.Is(cause, errDeleted):
			stop()
		}
	}
}

func (m *Migrator) plantDefinitions() {
	d := m.options.Defects
	m.decide.trims = func(w *worker, stored []string) bool {
		if d.Has(defects.SVM27TrimsLate) {
			go w.trimLate(stored) // defect: SVM-27-trims-late
		}
		return !d.Has(defects.SVM04LeavesSome) && !d.Has(defects.SVM27NeverTrims) && !d.Has(defects.SVM27TrimsLate) // defect: SVM-04-leaves-some, SVM-27-never-trims
	}
	var waits defects.Waits
	m.decide.marks = func(definition string, runs bool) bool {
		if !runs && d.Has(defects.SVM24LeavesMark) {
			return false // defect: SVM-24-leaves-mark
		}
		if !runs && waits.Left(definition, m.options.Clock.Now(), d.Delay(defects.SVM24UnmarksLate)) > 0 {
			return false // defect: SVM-24-unmarks-late
		}
		waits.Done(definition)
		return true
	}
}

func (m *Migrator) plantOutcome() {
	d := m.options.Defects
	succeeds := map[string]defects.ID{
		migration.ReasonNotFound:      defects.SVM18UnknownSucceeds,  // defect: SVM-18-unknown-succeeds
		migration.ReasonNotMigratable: defects.SVM19HopelessSucceeds, // defect: SVM-19-hopeless-succeeds
		migration.ReasonAgreementLost: defects.SVM21SucceedsAnyway,   // defect: SVM-21-succeeds-anyway
	}
	m.decide.outcome = func(ctx context.Context, v migration.Verdict) migration.Verdict {
		if v.Reason == migration.ReasonAgreementLost {
			m.sleep(ctx, d.Delay(defects.SVM21EndsLate)) // defect: SVM-21-ends-late
		}
		if id, ok := succeeds[v.Reason]; ok && d.Has(id) {
			v.Outcome = storagemigrationv1.MigrationSucceeded
		}
		return v
	}
}

// later does something when the delay of a planted defect is over; at once without one.
func (m *Migrator) later(id defects.ID, do func()) {
	delay := m.options.Defects.Delay(id)
	if delay == 0 {
		do()
		return
	}
	go func() {
		m.sleep(context.Background(), delay)
		do()
		m.wake()
	}()
}

// beginLater has the next migrations wait for a time.
func (m *Migrator) beginLater() {
	if delay := m.options.Defects.Delay(defects.SVM24BeginsLate); delay > 0 {
		until := m.options.Clock.Now().Add(delay)
		m.begins.Store(&until)
		m.later(defects.SVM24BeginsLate, func() {})
	}
}

// trimLate trims long after the success, when the worker's context has ended.
func (w *worker) trimLate(stored []string) {
	m, ctx := w.m, context.Background()
	if !m.sleep(ctx, m.options.Defects.Delay(defects.SVM27TrimsLate)) {
		return
	}
	m.persist(ctx, migration.OutagePatience, "trim storedVersions", func(ctx context.Context) error {
		crd, err := m.clients.crd(ctx, w.target.Resource)
		if err != nil || crd == nil {
			return err
		}
		return m.trim(ctx, crd, stored)
	})
}

// begins is until when migrations wait, which only a defect sets.
type begins = atomic.Pointer[time.Time]
