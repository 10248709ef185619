package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/evenkeel/evenkeel/pkg/history"
	"github.com/evenkeel/evenkeel/pkg/observe"
)

const (
	migrationGroup    = "storagemigration.k8s.io"
	migrationResource = "storageversionmigrations"
	migrationKind     = "StorageVersionMigration"
)

// migrating is a migration that the harness asked for.
type migrating struct {
	// object is its name at the API server, and version that of its API.
	object, version string
	group, resource string
	// probed is whether it was tried to change its outcome.
	probed bool
	// target is the version that objects are migrated to, once that is known, and
	// begun how many were to be.
	target string
	begun  int
}

// storedMigration is what is read of a migration.
type storedMigration struct {
	Metadata struct {
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Status struct {
		ResourceVersion string           `json:"resourceVersion"`
		Conditions      []map[string]any `json:"conditions"`
	} `json:"status"`
}

// outcome is the type of the condition by which it has ended; empty before.
func (m *storedMigration) outcome() string {
	for _, condition := range m.Status.Conditions {
		kind, _ := condition["type"].(string)
		if (kind == history.MigrationSucceeded || kind == history.MigrationFailed) && condition["status"] == "True" {
			return kind
		}
	}
	return ""
}

// share reads a percentage.
func share(text string) (float64, error) {
	number, found := strings.CutSuffix(text, "%")
	percent, err := strconv.ParseFloat(number, 64)
	if !found || err != nil || !(percent > 0 && percent < 100) {
		return 0, fmt.Errorf("until is %q, and must be a percentage between 0%% and 100%%, such as 50%%", text)
	}
	return percent / 100, nil
}

// migrate asks for a migration through a member, and waits as the step says.
func (r *Runner) migrate(ctx context.Context, member string, step *Migrate) error {
	m := &migrating{object: r.Run + "-" + step.Name, group: step.Group, resource: step.Resource}
	if step.Population != "" {
		p, err := r.populated(step.Population)
		if err != nil {
			return err
		}
		m.group, m.resource = p.workload.Spec.Group, p.workload.Spec.Resource
	}
	client, err := r.client(member)
	if err != nil {
		return err
	}
	defer client.Close()
	if m.version, err = migrationVersion(ctx, client); err != nil {
		return err
	}
	if err := r.askFor(ctx, client, m); err != nil {
		return err
	}
	r.migrated[step.Name] = m
	switch {
	case step.Wait:
		return r.await(ctx, []string{step.Name}, MigrationTimeout)
	case step.Until != "":
		part, err := share(step.Until)
		if err != nil {
			return err
		}
		return r.awaitShare(ctx, m, part, MigrationTimeout)
	}
	return nil
}

// awaitEach waits as the step says.
func (r *Runner) awaitEach(ctx context.Context, step *AwaitMigrations) error {
	bound := MigrationTimeout
	if step.Timeout > 0 {
		bound = step.Timeout
	}
	if step.Until == "" {
		return r.await(ctx, step.Migrations, bound)
	}
	part, err := share(step.Until)
	if err != nil {
		return err
	}
	m := r.migrated[step.Migrations[0]]
	if m == nil {
		return fmt.Errorf("nothing was migrated under the name %s", step.Migrations[0])
	}
	return r.awaitShare(ctx, m, part, bound)
}

// migrationVersion is the version in which a member is asked to migrate.
func migrationVersion(ctx context.Context, client *observe.Client) (string, error) {
	versions, err := observe.MigrationVersions(ctx, client)
	if err != nil {
		return "", notThere(client.Member(), "%s does not serve %s: %v; switch storage version migration on", client.Member(), migrationGroup, err)
	}
	return versions[0], nil
}

// askFor tries what must be refused, and creates the migration with a status that
// must be passed over.
func (r *Runner) askFor(ctx context.Context, client *observe.Client, m *migrating) error {
	call := observe.Call{Class: history.ClassMigration, Group: migrationGroup, Version: m.version, Resource: migrationResource, Name: m.object}
	body := func(name, group, resource string) map[string]any {
		return map[string]any{
			"apiVersion": migrationGroup + "/" + m.version, "kind": migrationKind, "metadata": map[string]any{"name": name},
			"spec": map[string]any{"resource": map[string]any{"group": group, "resource": resource}},
		}
	}
	create := func(flaw, name, group, resource string) observe.Answer {
		wrong := call
		wrong.Verb, wrong.Name, wrong.Invalid, wrong.Body = "create", name, flaw, body(name, group, resource)
		wrong.Migrates = &history.Migration{Group: group, Resource: resource}
		return client.Do(ctx, wrong)
	}
	create(history.InvalidResource, m.object+"-no-resource", m.group, "not a/name")
	create(history.InvalidGroup, m.object+"-no-group", "not a group", m.resource)

	call.Verb, call.Body = "create", body(m.object, m.group, m.resource)
	call.Body.(map[string]any)["status"] = map[string]any{"resourceVersion": "1"}
	call.Migrates = &history.Migration{Group: m.group, Resource: m.resource, Checkpoint: "1"}
	for {
		answer := client.Do(ctx, call)
		if answer.OK() || answer.Code == http.StatusConflict {
			break
		}
		if answer.Code >= 400 && answer.Code < 500 && answer.Code != http.StatusTooManyRequests {
			return refused(call, client.Member(), answer)
		}
		if err := r.wait(ctx, observe.RetryInterval); err != nil {
			return errors.Join(err, refused(call, client.Member(), answer))
		}
	}
	r.change(ctx, client, m, history.InvalidChange, func(object map[string]any, _ *storedMigration) bool {
		object["spec"] = map[string]any{"resource": map[string]any{"group": m.group, "resource": m.resource + "s"}}
		return true
	})
	return nil
}

// change tries to write a migration, or its status, with something wrong in it.
// What the control plane does to the object meanwhile makes conflicts, which say
// nothing, so it is tried a few times. edit is false where there is nothing to try.
func (r *Runner) change(ctx context.Context, client *observe.Client, m *migrating, flaw string, edit func(object map[string]any, now *storedMigration) bool) {
	call := observe.Call{
		Class: history.ClassMigration, Verb: "update", Group: migrationGroup, Version: m.version, Resource: migrationResource, Name: m.object,
		Invalid: flaw, Migrates: &history.Migration{Group: m.group, Resource: m.resource},
	}
	if flaw != history.InvalidChange {
		call.Subresource = "status"
	}
	for range observe.InvalidAttempts {
		found := client.Get(ctx, m.path())
		object, now := map[string]any{}, storedMigration{}
		if !found.OK() || json.Unmarshal(found.Body, &object) != nil || json.Unmarshal(found.Body, &now) != nil || !edit(object, &now) {
			return
		}
		call.Body = object
		if answer := client.Do(ctx, call); answer.Code != http.StatusConflict {
			return
		}
	}
}

func (m *migrating) path() string {
	return observe.GroupVersionPath(migrationGroup, m.version) + "/" + migrationResource + "/" + m.object
}

// missing is whether an answer says that the migration is not there. That a member does
// not serve the version of its API says nothing about it.
func (m *migrating) missing(answer observe.Answer) bool {
	var status metav1.Status
	return answer.Code == http.StatusNotFound && json.Unmarshal(answer.Body, &status) == nil && status.Details != nil && status.Details.Name == m.object
}

// read asks the members in turn for a migration; gone is whether there is none
// any more.
func (r *Runner) read(ctx context.Context, m *migrating) (now storedMigration, client *observe.Client, gone, ok bool) {
	for _, member := range r.members() {
		client, err := r.client(member)
		if err != nil {
			continue
		}
		answer := client.Get(ctx, m.path())
		if m.missing(answer) {
			client.Close()
			return now, nil, true, true
		}
		if answer.OK() && json.Unmarshal(answer.Body, &now) == nil {
			return now, client, false, true
		}
		client.Close()
	}
	return now, nil, false, false
}

// await waits until the migrations have ended, and tries then to change what is
// final. One that does not end in time is left to the checks.
func (r *Runner) await(ctx context.Context, names []string, bound time.Duration) error {
	deadline, since := r.Clock.Now().Add(bound), r.History.Now()
	for _, name := range names {
		m := r.migrated[name]
		if m == nil {
			return fmt.Errorf("nothing was migrated under the name %s", name)
		}
		ended := false
		for !ended && r.Clock.Now().Before(deadline) {
			now, client, gone, ok := r.read(ctx, m)
			ended = ok && (gone || now.outcome() != "")
			if client != nil {
				if ended && !m.probed {
					m.probed = true
					r.tryOutcome(ctx, client, m)
				}
				client.Close()
			}
			if ended {
				break
			}
			if err := r.wait(ctx, MigrationLook); err != nil {
				return err
			}
		}
		if !ended {
			r.passOver(ctx, since, bound, history.AwaitedState, "", "the migration %s has not ended", name)
		}
	}
	return nil
}

// tryOutcome tries to change what is final of a migration that has ended.
func (r *Runner) tryOutcome(ctx context.Context, client *observe.Client, m *migrating) {
	status := func(object map[string]any) map[string]any {
		now, _ := object["status"].(map[string]any)
		return now
	}
	set := func(object map[string]any, kind, value string) bool {
		conditions, _ := status(object)["conditions"].([]any)
		at := slices.IndexFunc(conditions, func(c any) bool {
			condition, _ := c.(map[string]any)
			return condition["type"] == kind
		})
		if at < 0 {
			last, ok := conditions[len(conditions)-1].(map[string]any)
			if !ok {
				return false
			}
			added := map[string]any{"type": kind, "status": value, "reason": "Tampered", "message": "tampered", "lastTransitionTime": last["lastTransitionTime"]}
			status(object)["conditions"] = append(conditions, added)
			return true
		}
		condition, ok := conditions[at].(map[string]any)
		if ok {
			condition["status"] = value
		}
		return ok
	}
	other := map[string]string{history.MigrationSucceeded: history.MigrationFailed, history.MigrationFailed: history.MigrationSucceeded}
	r.change(ctx, client, m, history.InvalidOutcome, func(object map[string]any, now *storedMigration) bool {
		return now.outcome() != "" && set(object, now.outcome(), "False")
	})
	r.change(ctx, client, m, history.InvalidBoth, func(object map[string]any, now *storedMigration) bool {
		return now.outcome() != "" && set(object, other[now.outcome()], "True")
	})
	r.change(ctx, client, m, history.InvalidCheckpoint, func(object map[string]any, now *storedMigration) bool {
		if now.Status.ResourceVersion == "" {
			return false
		}
		status(object)["resourceVersion"] = "2"
		return true
	})
}

// awaitShare waits until a share of the objects that were not stored in the agreed
// version is, or the migration has ended.
func (r *Runner) awaitShare(ctx context.Context, m *migrating, part float64, bound time.Duration) error {
	deadline, since := r.Clock.Now().Add(bound), r.History.Now()
	for r.Clock.Now().Before(deadline) {
		there, ended := r.shared(ctx, m, part)
		if there || ended {
			return nil
		}
		if err := r.wait(ctx, MigrationLook); err != nil {
			return err
		}
	}
	r.passOver(ctx, since, bound, history.AwaitedState, "", "the migration %s has not come to %.0f%%", m.object, 100*part)
	return nil
}

// shared is whether a share of the objects is migrated that were not stored in the agreed
// version when it was called first, and whether the migration has ended or is gone.
func (r *Runner) shared(ctx context.Context, m *migrating, part float64) (there, ended bool) {
	if m.target == "" {
		m.target = r.migrationTarget(ctx, m)
	}
	if m.target != "" {
		left := r.recorders.etcd.NotIn(m.group, m.resource, m.target)
		m.begun = max(m.begun, left)
		if m.begun > 0 && float64(left) <= float64(m.begun)*(1-part) {
			return true, false
		}
	}
	now, client, gone, ok := r.read(ctx, m)
	if client != nil {
		client.Close()
	}
	return false, ok && (gone || now.outcome() != "")
}

// migrationTarget is the version that objects are migrated to: the one that the servers
// agree on, or else the one that a definition names; empty where neither is known.
func (r *Runner) migrationTarget(ctx context.Context, m *migrating) string {
	name := m.group
	if name == "" {
		name = "core"
	}
	for _, member := range r.members() {
		client, err := r.client(member)
		if err != nil {
			continue
		}
		agreed := client.Get(ctx, observe.GroupVersionPath(storageVersionGroup, storageVersionVersion)+"/"+storageVersionResource+"/"+name+"."+m.resource)
		defined := client.Get(ctx, observe.GroupVersionPath(crdGroup, "v1")+"/"+crdResource+"/"+m.resource+"."+m.group)
		client.Close()
		var version struct {
			Status struct {
				Common string `json:"commonEncodingVersion"`
			} `json:"status"`
		}
		if agreed.OK() && json.Unmarshal(agreed.Body, &version) == nil && version.Status.Common != "" {
			return version.Status.Common
		}
		var definition struct {
			Spec struct {
				Versions []struct {
					Name    string `json:"name"`
					Storage bool   `json:"storage"`
				} `json:"versions"`
			} `json:"spec"`
		}
		if agreed.Code == http.StatusNotFound && defined.OK() && json.Unmarshal(defined.Body, &definition) == nil {
			for _, v := range definition.Spec.Versions {
				if v.Storage {
					return m.group + "/" + v.Name
				}
			}
		}
	}
	return ""
}
