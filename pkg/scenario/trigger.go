package scenario

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/evenkeel/evenkeel/pkg/cluster"
	"github.com/evenkeel/evenkeel/pkg/history"
)

// Trigger has a step begin when the control plane is in a state, and not as soon as the step
// before has ended. Evenkeel evaluates it on what the recorders see, from the begin of the step
// before on. Give one of write, elected, exists, migrated and member.
type Trigger struct {
	// Write begins the step at a write of a key in etcd.
	Write *WriteTrigger `yaml:"write,omitempty"`
	// Elected is the name of a Lease in the namespace kube-system. The step begins when the
	// Lease has a new holder that has not renewed the Lease yet.
	Elected string `yaml:"elected,omitempty"`
	// Exists is a key in etcd, or the beginning of keys if it ends in a slash. The step begins
	// when there is such a key.
	Exists string `yaml:"exists,omitempty"`
	// Migrated begins the step when a share of the objects of a migration is migrated.
	Migrated *MigratedTrigger `yaml:"migrated,omitempty"`
	// Member begins the step when a component of a member is in a phase.
	Member *MemberTrigger `yaml:"member,omitempty"`
	// Within is how long Evenkeel waits for the state after the step before has ended; the
	// default is one minute. If the state does not come about, Evenkeel leaves the step out and
	// records that as not reached, so that no requirement passes.
	Within time.Duration `yaml:"within,omitempty"`
	// Optional has requirements pass even if Evenkeel leaves the step out.
	Optional bool `yaml:"optional,omitempty"`
}

// WriteTrigger is a write of a key in etcd.
type WriteTrigger struct {
	// Key is a key in etcd, or the beginning of keys if it ends in a slash.
	Key string `yaml:"key"`
	// By has only the writes count of the coordinator (it gives a Lease a holder or a preferred
	// holder, or pings a candidate), of the holder (it renews or releases a Lease), or of the
	// harness. Without it all writes count.
	By string `yaml:"by,omitempty"`
	// Deleted has only deletions count.
	Deleted bool `yaml:"deleted,omitempty"`
	// Count is which of the writes begins the step, counted from 1, the default.
	Count int `yaml:"count,omitempty"`
	// Revision has only writes count from this revision of etcd on.
	Revision int64 `yaml:"revision,omitempty"`
}

// MigratedTrigger is a share of a migration.
type MigratedTrigger struct {
	// Migration is the name that a migrate step has given.
	Migration string `yaml:"migration"`
	// Share is a percentage such as 50%, of the objects that were not in the target version
	// when Evenkeel looked at the migration first.
	Share string `yaml:"share"`
}

// MemberTrigger is a phase of a component of a member.
type MemberTrigger struct {
	// Name is the member, by its name or as @cp1.
	Name string `yaml:"name"`
	// Component is etcd, apiserver, controller-manager or scheduler; the default is apiserver.
	Component string `yaml:"component,omitempty"`
	// Phase is started (the process exists), stopping (it was sent SIGTERM and runs on), exited,
	// paused, or, of an API server only, ready or unready.
	Phase string `yaml:"phase"`
}

// Writers that a WriteTrigger tells apart.
const (
	byCoordinator = "coordinator"
	byHolder      = "holder"
	byHarness     = "harness"
)

// Phases of a MemberTrigger that are no history.Process…
const (
	phaseReady   = "ready"
	phaseUnready = "unready"
)

// keysPrefix begins every key that API servers write in etcd.
const keysPrefix = "/registry/"

// bound is how long the state is waited for.
func (t *Trigger) bound() time.Duration {
	if t.Within > 0 {
		return t.Within
	}
	return TriggerTimeout
}

func (t *Trigger) validate() error {
	var errs []error
	given := 0
	for _, one := range []struct {
		there bool
		check func() error
	}{
		{t.Write != nil, func() error { return t.Write.validate() }},
		{t.Elected != "", func() error { return nil }},
		{t.Exists != "", func() error { return keyProblem("exists", t.Exists) }},
		{t.Migrated != nil, func() error { return t.Migrated.validate() }},
		{t.Member != nil, func() error { return t.Member.validate() }},
	} {
		if one.there {
			given++
			errs = append(errs, one.check())
		}
	}
	if given != 1 {
		errs = append(errs, errors.New("needs one of write, elected, exists, migrated and member"))
	}
	if t.Within < 0 {
		errs = append(errs, errors.New("within must not be negative"))
	}
	return errors.Join(errs...)
}

func keyProblem(field, key string) error {
	if !strings.HasPrefix(key, keysPrefix) {
		return fmt.Errorf("%s is %q, and must begin with %s", field, key, keysPrefix)
	}
	return nil
}

func (t *WriteTrigger) validate() error {
	err := keyProblem("write.key", t.Key)
	switch t.By {
	case "", byCoordinator, byHolder, byHarness:
	default:
		err = errors.Join(err, fmt.Errorf("write.by is %q, and must be %s, %s or %s", t.By, byCoordinator, byHolder, byHarness))
	}
	if t.By != "" && t.Deleted {
		err = errors.Join(err, errors.New("write.deleted goes without write.by, because etcd does not keep who deleted a key"))
	}
	if t.Count < 0 || t.Revision < 0 {
		err = errors.Join(err, errors.New("write.count and write.revision must not be negative"))
	}
	return err
}

func (t *MigratedTrigger) validate() error {
	_, err := share(t.Share)
	return errors.Join(missing("migrated.migration", t.Migration), err)
}

func (t *MemberTrigger) validate() error {
	err := missing("member.name", t.Name)
	if t.Name == selectAll || t.Name == selectLeader || t.Name == selectFollowers || t.Name == selectCoordinator {
		err = errors.Join(err, fmt.Errorf("member.name is %q, and must be a single member that is known before the run, such as @cp1", t.Name))
	}
	target := Target{Member: t.Name, Component: t.Component}
	err = errors.Join(err, target.validate())
	switch t.Phase {
	case history.ProcessStarted, history.ProcessStopping, history.ProcessExited, history.ProcessPaused:
	case phaseReady, phaseUnready:
		if t.component() != history.ComponentAPIServer {
			err = errors.Join(err, fmt.Errorf("member.phase %s is one of an apiserver only", t.Phase))
		}
	default:
		err = errors.Join(err, fmt.Errorf("there is no member.phase %q", t.Phase))
	}
	return err
}

func (t *MemberTrigger) component() string {
	if t.Component == "" {
		return string(cluster.APIServer)
	}
	return t.Component
}

// sentence says what the trigger waits for.
func (t *Trigger) sentence() string {
	switch {
	case t.Write != nil:
		what := "write"
		if t.Write.Deleted {
			what = "deletion"
		}
		if t.Write.By != "" {
			what += " by the " + t.Write.By
		}
		return fmt.Sprintf("%s %d of %s", what, max(t.Write.Count, 1), t.Write.Key)
	case t.Elected != "":
		return fmt.Sprintf("a new holder of the Lease %s that has not renewed it yet", t.Elected)
	case t.Exists != "":
		return fmt.Sprintf("the key %s exists", t.Exists)
	case t.Migrated != nil:
		return fmt.Sprintf("%s of the migration %s", t.Migrated.Share, t.Migrated.Migration)
	}
	return fmt.Sprintf("the %s of %s is %s", t.Member.component(), t.Member.Name, t.Member.Phase)
}
